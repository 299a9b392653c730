"""The text of an entry that search looks at, and how a query is understood."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

TEXT_VERSION = 1
"""Raised when ``entry_text`` or ``indexed`` changes: the index is then made anew."""
TEXT_LIMIT = 1_000_000
"""Characters of one entry that are searched; what a tool printed beyond that is not."""

_NOT_TEXT = frozenset(
    {
        "id", "parentId", "parent_id", "timestamp", "type", "role", "api", "provider",
        "toolCallId", "signature", "thinkingSignature", "textSignature", "thoughtSignature",
        "data", "mimeType", "usage", "stopReason", "responseId", "encrypted_content",
        "firstKeptEntryId", "fromId", "targetId", "url",
    }
)  # fmt: skip
"""Fields that hold names of the machinery, pictures or signatures."""

_TOKEN = re.compile(r"[^\W_]+")
_QUERY_PART = re.compile(r'"([^"]*)"?|(\S+)')
# Scripts without spaces between words: every character is a word of its own.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])"
)
_BEFORE, _AFTER = 50, 110
"""Characters of a snippet before the match, and from its start on."""


class Term(NamedTuple):
    """One part of a query: all its words must be in the entry."""

    text: str
    words: tuple[str, ...]
    quoted: bool

    @property
    def literal(self) -> bool:
        """Whether the text itself must stand in the entry, not only its words: for what is
        quoted and for what looks like code (paths, dots, dashes, underscores)."""
        return self.quoted or len(self.words) != 1 or len(self.words[0]) != len(self.text)


def entry_text(entry: Mapping[str, Any]) -> str:
    """The texts of an entry that a person may look for, one per line."""
    parts: list[str] = []
    left = TEXT_LIMIT
    for text in _texts(entry):
        parts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return "\n".join(parts)


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value, in order, without recursion: hostile files nest deeply."""
    stack = [iter((value,))]
    while stack:
        for one in stack[-1]:
            if isinstance(one, str):
                if one:
                    yield one
            elif isinstance(one, Mapping):
                stack.append(iter([v for k, v in one.items() if k not in _NOT_TEXT]))
                break
            elif isinstance(one, list):
                stack.append(iter(one))
                break
        else:
            stack.pop()


def indexed(text: str) -> str:
    """The text as it goes into the index."""
    if text.isascii():
        return text
    plain = text.encode("utf-8", "replace").decode()
    return _UNSPACED.sub(r" \1 ", plain)


def parse_query(query: str) -> list[Term]:
    """The terms of what a person typed. Quotes hold words together; nothing is an error."""
    terms: list[Term] = []
    for part in _QUERY_PART.finditer(query):
        quoted = part[1] is not None
        text = (part[1] if quoted else part[2]).strip()
        if text:
            words = tuple(_TOKEN.findall(indexed(text).replace("\0", " ")))
            terms.append(Term(text, words, quoted))
    return terms


def match_expression(terms: list[Term]) -> str:
    """The index's expression for all words of the terms; the last word of a term that is not
    quoted may go on. Empty when there is no word."""
    parts: list[str] = []
    for term in terms:
        for at, word in enumerate(term.words):
            open_end = not term.quoted and at == len(term.words) - 1 and term.text.endswith(word)
            parts.append(f'"{word}"{"*" if open_end else ""}')
    return " AND ".join(dict.fromkeys(parts))


def folded(text: str) -> str:
    """The text without case and accents, to compare literally."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFD", text)
    return "".join(one for one in bare if not unicodedata.combining(one)).casefold()


def holds(text: str, terms: list[Term]) -> bool:
    """Whether a text found by its words holds the literal terms as they were typed."""
    wanted = [folded(term.text) for term in terms if term.literal]
    if not wanted:
        return True
    plain = folded(text)
    return all(one in plain for one in wanted)


def snippet(text: str, terms: list[Term]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A stretch of one line around the first match, and where in it the terms are."""
    patterns = [re.escape(one) for one in _shown_forms(terms)]
    pattern = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None
    first = pattern.search(text) if pattern else None
    at = first.start() if first else 0
    start, end = max(0, at - _BEFORE), min(len(text), at + _AFTER)
    cut = " ".join(text[start:end].split())
    out = ("…" if start else "") + cut + ("…" if end < len(text) else "")
    marks = tuple(found.span() for found in pattern.finditer(out)) if pattern else ()
    return out, marks


def _shown_forms(terms: list[Term]) -> list[str]:
    forms = [" ".join(term.text.split()) for term in terms]
    return sorted(forms, key=len, reverse=True)
