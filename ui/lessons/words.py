"""A step's words as rich text: terms with their meaning, strong words, code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape

from explorer.settings import paths

_TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_WEAK = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
_CODE = re.compile(r"`([^`]+)`")
_ENTRY = re.compile(r"^(?:#{2,4}\s+|\*\*)([^*\n:]+?)(?:\*\*)?\s*(?:[:.—–-]\s*(.*))?$")


@cache
def glossary() -> Mapping[str, str]:
    """What each term means, by its name in small letters; empty where there is no glossary."""
    try:
        text = paths.resource("docs", "glossary.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, str] = {}
    for block in re.split(r"\n\s*\n|(?=\n#{2,4} )|(?=\n\*\*)|(?=\n- \*\*)|(?=\n\|)", text):
        _take(block.strip().removeprefix("- "), found)
    return found


def _take(block: str, found: dict[str, str]) -> None:
    """One entry of the glossary: a heading, strong words or a row of a table, then its meaning."""
    if block.startswith("|"):
        cells = [cell.strip(" *`") for cell in block.strip("|").split("|")]
        if len(cells) >= 2:
            found.setdefault(cells[0].lower(), cells[1])
        return
    head, _, rest = block.partition("\n")
    match = _ENTRY.match(head)
    meaning = " ".join(f"{match[2] or ''} {rest}".split()) if match else ""
    if match and meaning:
        found.setdefault(match[1].strip().lower(), meaning)


def meaning_of(term: str) -> str:
    """What a term means, or nothing."""
    return glossary().get(term.lower(), "")


def rich(text: str) -> str:
    """The words of a lesson as HTML; everything else in them is escaped."""
    html = escape(text, quote=False)
    html = _CODE.sub(r"<code>\1</code>", html)
    html = _STRONG.sub(r"<b>\1</b>", html)
    html = _WEAK.sub(r"<i>\1</i>", html)
    return _TERM.sub(lambda found: _term(found[1], found[2] or found[1]), html)


def _term(name: str, shown: str) -> str:
    if not meaning_of(name):
        return shown
    return f'<a href="term:{escape(name)}">{shown}</a>'


def plain(text: str) -> str:
    """The same without marks, for screen readers."""
    text = _TERM.sub(lambda found: found[2] or found[1], text)
    return _CODE.sub(r"\1", _WEAK.sub(r"\1", _STRONG.sub(r"\1", text)))
