"""What the messages of a context count towards, and what each of them takes.

A context may hold a hundred thousand messages and is shown while a person waits: what can be
asked of a whole column at once is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from explorer.session.context import Context, sent_tokens
from explorer.session.kinds import Flag, Kind, selector
from explorer.session.tree import SessionTree
from ui.inspector.ports import InspectedDocument
from ui.widgets.swatch import Share


class Category(NamedTuple):
    """A part of the bar: which messages it gathers, and its colour."""

    key: str
    title: str
    token: str


CATEGORIES = (
    Category("summary", "summaries", "comp"),
    Category("user", "user", "user"),
    Category("assistant", "assistant", "asst"),
    Category("thinking", "thinking", "think"),
    Category("calls", "tool calls", "shell"),
    Category("results", "tool results", "tool"),
    Category("notes", "notes", "branch"),
)
_NUMBER = {category.key: number for number, category in enumerate(CATEGORIES)}
_BY_KIND = {
    Kind.COMPACTION: "summary",
    Kind.BRANCH_SUMMARY: "summary",
    Kind.COMPACTION_SUMMARY_ROLE: "summary",
    Kind.BRANCH_SUMMARY_ROLE: "summary",
    Kind.USER: "user",
    Kind.BASH_EXECUTION: "user",
    Kind.PYTHON_EXECUTION: "user",
    Kind.TOOL_RESULT: "results",
}
_TABLE = bytes(
    _NUMBER[_BY_KIND.get(Kind(value), "notes")] if value in set(Kind) else 0 for value in range(256)
)
_REPLIES = selector({Kind.ASSISTANT})
_WITH_TEXT, _WITH_CALL = int(Flag.HAS_TEXT), int(Flag.HAS_TOOL_CALL)


def categories_of(tree: SessionTree, entries: Sequence[int]) -> bytes:
    """The number of each entry's category in ``CATEGORIES``."""
    columns = tree.columns
    kinds = bytes(map(columns.kind.__getitem__, entries))
    found = bytearray(kinds.translate(_TABLE))
    text, calls, thinking = _NUMBER["assistant"], _NUMBER["calls"], _NUMBER["thinking"]
    flags = columns.flags
    for row in compress(range(len(kinds)), kinds.translate(_REPLIES)):
        flag = flags[entries[row]]
        found[row] = text if flag & _WITH_TEXT else calls if flag & _WITH_CALL else thinking
    return bytes(found)


def number_of(key: str) -> int:
    """A category's number. Raises KeyError for a key that none has."""
    return _NUMBER[key]


def only(number: int) -> bytes:
    """A table for ``bytes.translate``: 1 for one category, 0 for the others."""
    return bytes(value == number for value in range(256))


def shares_of(categories: bytes, tokens: Sequence[int]) -> list[Share]:
    """Tokens by category; those without any are left out."""
    sums = [
        sum(compress(tokens, categories.translate(only(number))))
        for number in range(len(CATEGORIES))
    ]
    return [
        Share(each.key, each.title, sums[number], token=each.token)
        for number, each in enumerate(CATEGORIES)
        if sums[number]
    ]


def tokens_sent(document: InspectedDocument, context: Context) -> list[int]:
    """Tokens of each message as it is sent: of the note where it is pruned, with the words before
    it where it is told again. By the tokenizer where it counted, else estimated."""
    entries, weights = context.messages, document.weights
    counted = list(map(document.tree.columns.estimate.__getitem__, entries))
    if weights is not None:
        known = len(weights)
        measured = [weights[at] if at < known else -1 for at in entries]
        counted = [
            exact if exact >= 0 else estimate
            for exact, estimate in zip(measured, counted, strict=True)
        ]
    if context.pruned or context.again:
        counted = [
            sent_tokens(context, at, tokens)
            if at in context.pruned or at in context.again
            else tokens
            for at, tokens in zip(entries, counted, strict=True)
        ]
    return counted
