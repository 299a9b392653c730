"""Tool tips with the meaning of a word, from the glossary."""

from __future__ import annotations

from textwrap import fill

from PySide6.QtWidgets import QWidget

from explorer.settings.glossary import glossary

LINE = 64
"""Characters in a line of a tool tip, which does not wrap by itself."""

PRUNED_NOTES = "pruned to notes"
"""Beside the tokens of the notes: what was pruned took more."""
OF_SHARES = {
    "summarized earlier": "summarized earlier",
    "to summarize": "to summarize",
    "turn prefix": "turn prefix",
    "kept": "kept tail",
    "pinned": "pin",
    PRUNED_NOTES: "pruning",
    "omitted": "omission",
    "not sent": "not sent",
    "never sent": "not sent",
    "lost": "lost",
}
"""The term of a legend's title, where it has one."""


def meaning(term: str, before: str = "") -> str:
    """What a term means, as a tool tip; ``before`` it a sentence on the thing itself. Raises
    KeyError for a term that the glossary does not have."""
    words = fill(f"{term[:1].upper()}{term[1:]}: {glossary()[term]}", LINE)
    return f"{fill(before, LINE)}\n{words}" if before else words


def explain(widget: QWidget, term: str, before: str = "") -> None:
    """Give a heading, label or control the meaning of its word as tool tip. Raises KeyError."""
    widget.setToolTip(meaning(term, before))
