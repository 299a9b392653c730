"""Colouring of code and JSON by pygments, in the colours of the theme."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class, get_all_lexers, get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound
from PySide6.QtGui import QFont, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from ui.theme import Theme, theme
from ui.widgets.plain_text import LINE

LIMIT = 64 * 1024
"""Characters; longer code stays plain, colouring it would take the window's time."""

_TOKENS = (
    (Token.Comment, "dim"),
    (Token.Keyword, "think"),
    (Token.Name.Function, "user"),
    (Token.Name.Class, "user"),
    (Token.Name.Tag, "user"),
    (Token.Name.Decorator, "shell"),
    (Token.Name.Builtin, "branch"),
    (Token.Literal.String, "tool"),
    (Token.Literal.Number, "comp"),
    (Token.Generic.Deleted, "lost"),
    (Token.Generic.Inserted, "tool"),
    (Token.Generic.Heading, "user"),
    (Token.Generic.Subheading, "user"),
    (Token.Generic.Prompt, "shell"),
    (Token.Generic.Error, "lost"),
    (Token.Operator.Word, "think"),
)


@lru_cache(maxsize=64)
def _lexer(language: str, path: str) -> Lexer | None:
    try:
        if language:
            return get_lexer_by_name(language, stripnl=False, ensurenl=False)
        if path:
            made = lexer_class(path.rsplit("/", 1)[-1])
            return made(stripnl=False, ensurenl=False) if made is not None else None
    except ClassNotFound:
        return None
    return None


def lexer_class(name: str) -> type[Lexer] | None:
    """The lexer for files of this name, as pygments itself finds it: that compiles a thousand
    patterns first, and holds the window up for as long."""
    found = [
        (find_lexer_class(title), pattern)
        for title, _, patterns, _ in get_all_lexers(plugins=False)
        for pattern in patterns
        if _matches(name, pattern)
    ]
    rated = [(one.priority + ("*" not in pattern) / 2, one.__name__, one) for one, pattern in found]
    return max(rated, default=(0, "", None))[2]


def _matches(name: str, pattern: str) -> bool:
    end = pattern.removeprefix("*")
    if any(sign in end for sign in "*?["):
        return fnmatchcase(name, pattern)
    return name == end if end == pattern else name.endswith(end)


@lru_cache(maxsize=256)
def _colour_token(kind: object) -> str:
    for known, name in _TOKENS:
        if kind in known:
            return name
    return ""


def _format(now: Theme, name: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(getattr(now, name))
    if name == "think":
        made.setFontWeight(QFont.Weight.DemiBold)
    return made


def spans(text: str, language: str = "", path: str = "") -> list[tuple[int, int, str]]:
    """Coloured stretches of a text: start, length and the name of a colour token."""
    lexer = _lexer(language.lower(), path) if len(text) <= LIMIT else None
    if lexer is None:
        return []
    found: list[tuple[int, int, str]] = []
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        name = _colour_token(kind)
        if name and value.strip():
            found.append((at, len(value), name))
    return found


def colour(
    document: QTextDocument, first: QTextBlock, text: str, language: str = "", path: str = ""
) -> None:
    """Colour the blocks from ``first`` on, which hold the lines of ``text``.

    Positions are those of Python's text; characters beyond the basic plane take two places in Qt,
    so lines that hold any stay plain.
    """
    coloured = spans(text, language, path)
    if not coloured:
        return
    now = theme()
    formats = {name: _format(now, name) for name in {name for _, _, name in coloured}}
    starts, at = [], 0
    lines = text.split("\n")
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    ranges: list[list[QTextLayout.FormatRange]] = [[] for _ in lines]
    row = 0
    for start, length, name in coloured:
        while row + 1 < len(starts) and starts[row + 1] <= start:
            row += 1
        end, here = start + length, row
        while here < len(lines) and starts[here] < end:
            one = QTextLayout.FormatRange()
            one.start = max(start - starts[here], 0)
            one.length = min(end, starts[here] + len(lines[here])) - starts[here] - one.start
            one.format = formats[name]
            if one.length > 0:
                ranges[here].append(one)
            here += 1
    _apply(document, first, lines, ranges)


def _apply(
    document: QTextDocument,
    first: QTextBlock,
    lines: list[str],
    ranges: list[list[QTextLayout.FormatRange]],
) -> None:
    block = first
    for line, found in zip(lines, ranges, strict=True):
        # A line longer than ``LINE`` is displayed in several blocks.
        for start in range(0, max(len(line), 1), LINE):
            if not block.isValid():
                break
            part = line[start : start + LINE]
            if found and block.length() == len(part) + 1:
                block.layout().setFormats(_between(found, start, start + len(part)))
            block = block.next()
    end = block.position() if block.isValid() else document.characterCount()
    document.markContentsDirty(first.position(), end - first.position())


def _between(
    found: list[QTextLayout.FormatRange], start: int, stop: int
) -> list[QTextLayout.FormatRange]:
    """The ranges within a stretch of the line, counted from its start."""
    if start == 0 and all(one.start + one.length <= stop for one in found):
        return found
    out: list[QTextLayout.FormatRange] = []
    for one in found:
        low, high = max(one.start, start), min(one.start + one.length, stop)
        if low < high:
            part = QTextLayout.FormatRange()
            part.start, part.length, part.format = low - start, high - low, one.format
            out.append(part)
    return out
