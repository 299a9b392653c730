"""Cuts the text of a message into the smallest pieces that still say something."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*(```|~~~)")
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,3}[.)])\s+")
_NESTED = re.compile(r"^(?:[-*+•–]\s+)+")
_ROW = re.compile(r"^\|.*\|$")
_BOX = re.compile(r"^\[([ xX~>-])\]\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_TABLE_RULE = re.compile(r"^[\s|:+=_-]*$")
_END = re.compile(
    r"(?<=[.!?])[\"'”’)\]*`]*\s+(?=[\"'“‘(\[`*_<]*[A-Z0-9`/~.$]|[a-z]\w*(?:\(|_\w|\.\w))"
    r"|(?<=[.!?])\s{2,}|(?<=\w`)\s+(?=[A-Z][a-z]+ [a-z])"
    # people who write without capitals still end their sentences
    r"|(?<=[a-z]{2}[!?])\s+(?=[a-z])|(?<=[a-z]{3}\.)\s+(?=[a-z]+\s)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|cf|dr|mr|mrs|fig|eq|resp|incl|esp|(?-i:[A-Z]))\.)$",
    re.IGNORECASE,
)
_LONG = 400
_HARD = re.compile(r"(?<=[;:])\s+|(?<!\s)\s++(?=(?:but|however|because|so that|which)\b)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, list item or line. `box` is the mark of a checklist item, `title` a heading."""

    text: str
    code: bool = False
    item: bool = False
    box: str = ""
    title: bool = False


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a prose message, in order; code blocks line by line."""
    pieces: list[Piece] = []
    paragraph: list[str] = []
    table: list[str] = []
    fenced = False

    def flush_table() -> None:
        pieces.extend(Piece(row, item=True) for row in rows_of(table))
        table.clear()

    def flush() -> None:
        if paragraph:
            pieces.extend(Piece(s) for s in sentences_of(" ".join(paragraph)))
            paragraph.clear()

    for line in text.split("\n"):
        if _FENCE.match(line):
            flush()
            flush_table()
            fenced = not fenced
            continue
        if fenced:
            if line.strip():
                pieces.append(Piece(line.strip(), code=True))
            continue
        stripped = line.strip()
        if _ROW.match(stripped):
            flush()
            table.append(stripped)
            continue
        flush_table()
        if not stripped.lstrip("> ") or _TABLE_RULE.match(stripped):
            flush()
            continue
        bullet = _BULLET.match(line)
        if bullet or _HEADING.match(line):
            flush()
            pieces.extend(_item(line, bullet))
            continue
        if paragraph and not _continues(paragraph[-1], stripped):
            flush()
        paragraph.append(stripped.lstrip("> "))
    flush()
    flush_table()
    return pieces


def rows_of(table: list[str]) -> list[str]:
    """The rows of a table as words, without the bars; figures with the heads of their columns."""
    rows = [[_BULLET.sub("", cell.strip()) for cell in row.strip("|").split("|")] for row in table]
    heads: list[str] = []
    if len(table) > 2 and _TABLE_RULE.match(table[1]):
        heads, rows = rows[0], rows[2:]
    return [words for row in rows if (words := _row_words(heads, row))]


def _row_words(heads: list[str], cells: list[str]) -> str:
    plain = [cell.strip("*_ ") for cell in cells]
    bare = all(len(cell.split()) < 4 for cell in plain[1:])
    if bare and len(heads) == len(cells):
        named = [f"{head} {cell}" for head, cell in zip(heads, plain, strict=True) if head and cell]
        return ", ".join(named) if len(named) > 1 else ""
    words = [cell.rstrip(".") for cell in cells if any(letter.isalnum() for letter in cell)]
    return "; ".join(words)


def is_torn(line: str) -> bool:
    """Whether a line of code or output is the half of something: a bracket or a quotation that
    it opens ends elsewhere, or the other way round."""
    if line.endswith(("\\", "(", "[", "{")) or line.count('"""') % 2:
        return True
    open_now = {"(": 0, "[": 0, "{": 0}
    for letter in line:
        if letter in open_now:
            open_now[letter] += 1
        elif letter in ")]}":
            partner = {")": "(", "]": "[", "}": "{"}[letter]
            open_now[partner] -= 1
            if open_now[partner] < 0:
                return True
    return any(open_now.values()) or line.count('"') % 2 == 1


def _item(line: str, bullet: re.Match[str] | None) -> list[Piece]:
    if bullet is None:
        return [Piece(_HEADING.sub("", line).strip(), item=True, title=True)]
    content = _NESTED.sub("", line[bullet.end() :].strip())
    box = _BOX.match(content)
    if box:
        content = content[box.end() :]
    mark = box.group(1).lower() if box else ""
    return [Piece(s, item=True, box=mark) for s in sentences_of(content)]


def _continues(before: str, line: str) -> bool:
    """Whether a line goes on from the one before, as in text wrapped at a column."""
    if before[-1] in ".!?:;" and len(before) < 60:
        return False
    return line[0].islower() or len(before) >= 60


def sentences_of(paragraph: str) -> list[str]:
    """The sentences of one paragraph; a very long one is cut at its inner joints."""
    if not paragraph:
        return []
    sentences: list[str] = []
    start = 0
    for match in _END.finditer(paragraph):
        head = paragraph[start : match.start()]
        if _ABBREVIATION.search(head[-8:]):
            continue
        # closing marks belong to the sentence before them
        closing = match.group().rstrip()
        sentences.append((head + closing).strip())
        start = match.end()
    sentences.append(paragraph[start:].strip())
    result: list[str] = []
    for sentence in sentences:
        result.extend([sentence] if len(sentence) <= _LONG else _broken(sentence))
    return [s for s in result if s]


def _broken(sentence: str) -> list[str]:
    parts: list[str] = []
    for part in _HARD.split(sentence):
        while len(part) > _LONG:
            space = part.rfind(" ", 100, _LONG)
            end = space if space > 0 else _LONG
            parts.append(part[:end].strip())
            part = part[end:].strip()
        parts.append(part.strip())
    return parts
