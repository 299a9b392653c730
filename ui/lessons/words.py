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
_HEADING = re.compile(r"#{2,4}\s+(.+?)\s*$")
_STRONG_TERM = re.compile(r"(?:[-*]\s+)?\*\*(.+?)[.:]?\*\*\s*[:.\u2013\u2014-]?\s*(.*)")
_ROW = re.compile(r"\|\s*\**([^|*]+?)\**\s*\|\s*([^|]+?)\s*\|")


@cache
def glossary() -> Mapping[str, str]:
    """What each term means, by its name in small letters; empty where there is no glossary."""
    try:
        return terms_of(paths.resource("docs", "glossary.md").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}


def terms_of(text: str) -> dict[str, str]:
    """The terms of a glossary in Markdown: headings, strong words that begin a line, or rows of a
    table, each with the paragraph or cell that follows."""
    found: dict[str, list[str]] = {}
    term = ""
    for line in map(str.strip, text.splitlines()):
        if row := _ROW.match(line):
            found.setdefault(row[1].lower(), [row[2]])
            term = ""
        elif heading := _HEADING.match(line):
            term = heading[1].lower()
        elif strong := _STRONG_TERM.match(line):
            term = strong[1].lower()
            found.setdefault(term, [strong[2]])
        elif not line:
            # A heading is followed by an empty line; a paragraph ends with one.
            term = "" if term in found else term
        elif term:
            found.setdefault(term, []).append(line.removeprefix(": "))
    meanings = {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}
    return {name: meaning for name, meaning in meanings.items() if meaning}


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
