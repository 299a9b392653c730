"""Prose: what people and models write, read for all that it says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.audit.atoms.commands import command_lines, fences
from explorer.audit.atoms.entries import Text, Voice
from explorer.audit.atoms.errors import LONGEST, KnownLines, error_lines_among
from explorer.audit.atoms.figures import figures
from explorer.audit.atoms.items import Item, around, exact_things, item
from explorer.audit.atoms.keys import figure, statement_key
from explorer.audit.atoms.known import Known
from explorer.audit.atoms.message import Message
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.sentences import sentences_of
from explorer.audit.atoms.statements import statements, statements_of_summary
from explorer.audit.atoms.taken import Taken
from explorer.audit.atoms.tokens import value_key
from explorer.audit.atoms.versions import named_versions

_Blocks = list[tuple[int, int, str]]
_EXACT = frozenset({AtomKind.PATH, AtomKind.SYMBOL, AtomKind.VERSION, AtomKind.URL, AtomKind.HASH})


def read_prose(text: Text, message: Message, known: Known, mentions: set[str]) -> list[Item]:
    """The mentions of atoms in a text, in order, offsets in characters; ``message`` is of the
    same text. What it mentions otherwise is added to ``mentions``."""
    body = text.text
    held = known.words.holding(message.words)
    mentions |= known.words.mentions_of(held)
    blocks = fences(body)
    found: list[Item] = []
    taken = Taken((start, end) for start, end, _ in blocks)
    for start, end in command_lines(message, blocks):
        line = body[start:end]
        found.append(item(AtomKind.COMMAND, text, start, line, statement_key(line)))
        taken.add(start, end)
    if text.voice is not Voice.SUMMARY:
        for start, line in _failures(body, blocks, known.lines):
            found.append(item(AtomKind.ERROR, text, start, line, statement_key(line)))
            taken.add(start, start + len(line))
    exact = exact_things(text, held, _EXACT, taken)
    for one in exact:
        taken.add(one.start, one.end)
    found += exact
    if known.words.have_digits(message.words):
        found += _named_versions(text, message, taken, mentions)
        found += _figures(text, message, taken, mentions)
    found += _statements(text, message, blocks)
    found.sort(key=lambda one: one.start)
    return found


def _named_versions(
    text: Text, message: Message, taken: Taken, mentions: set[str]
) -> Iterator[Item]:
    body = text.text
    for start, end, name in named_versions(message, taken):
        version = body[start:end]
        taken.add(name, end)
        mentions.add(version)
        yield item(AtomKind.VERSION, text, start, version, version, body[name:end])


def _figures(text: Text, message: Message, taken: Taken, mentions: set[str]) -> Iterator[Item]:
    body = text.text
    for start, end in figures(message, taken, by_user=text.voice is Voice.USER):
        said = body[start:end]
        value = figure(said)
        if value is not None:
            mentions.add(value_key(said))
            context = around(body, start, end)
            yield item(AtomKind.NUMBER, text, start, said, value.key, context)


_QUOTED_FAILURE = re.compile(
    r"(?<![\w.])(?:(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)|Error|fatal|panic): [^\n]{4,160}?"
    r"(?=\n|$|[.!?]\s|[\"”`]|\s(?:from|in|on|when|while|at)\sthe\s)"
)

_PASTED = ("rror", "xception", "FAIL", "fatal", "panic", "Traceback", "] ", "ailed", "E/", "W/")
"""What a line that was pasted from an output has, apart from blocks of code."""
_QUOTING = ("Error: ", "Exception: ", "fatal: ", "panic: ")


def _failures(body: str, blocks: _Blocks, known: KnownLines) -> Iterator[tuple[int, str]]:
    """Failures that were pasted into a message: whole lines, and quotations inside of a line."""
    whole = Taken()
    if blocks or any(mark in body for mark in _PASTED):
        for start, line in error_lines_among(_pasted(body, blocks), known):
            whole.add(start, start + len(line))
            yield start, line
    if not any(word in body for word in _QUOTING):
        return
    for match in _QUOTED_FAILURE.finditer(body):
        if match.start() not in whole:
            yield match.start(), match.group()


def _pasted(body: str, blocks: _Blocks) -> list[tuple[int, str]]:
    """The lines that stand in blocks of code or look like those of a log, with their offsets."""
    found = []
    at = 0
    inside = Taken((start, end) for start, end, _ in blocks)
    for line in body.split("\n"):
        bare = line[:LONGEST].strip()
        if bare and (at + line.find(bare) in inside or _is_log(bare)):
            found.append((at, line))
        at += len(line) + 1
    return found


def _statements(text: Text, message: Message, blocks: _Blocks) -> list[Item]:
    found = sentences_of(message, [(start, end) for start, end, _ in blocks])
    if text.voice is Voice.SUMMARY:
        spoken = statements_of_summary(found)
    else:
        spoken = statements(found, by_user=text.voice is Voice.USER)
    return [
        item(kind, text, one.start, said, statement_key(said))
        for kind, one in spoken
        if not _is_log(said := text.text[one.start : one.end])
    ]


_LOG = (
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|"
    r"Dec) +\d+ \d\d:|\[\s*\d+[.:]\d+|[A-Z]/\w+\(|at\s+[\w.$]+\(|"
    r"\w+Error:|Error in \S+\(|\S+\(\d+,\d+\):\s(?:error|warning)\b)|^\s*File \""
)
_LOG_START = (
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d|\[\s*\d|[A-Z]/|(?:error|fatal|panic|ERROR|FAIL|FAILED|"
    r"E)\b[\[: ]|[A-Z]\w+ [Ee]rror: |\w+(?:Error|Exception)\b|"
    r"Traceback|Caused by)|^[a-z]\w+ \w+: .*|^\S+:\d+:"
)


_COPIED = re.compile(r"\w+(?:Error|Exception)\b|:\d+|\]\s|0x|\bE\d{3,}|\b[A-Z]{4,}\b")
_LOG_LINE = re.compile(rf"(?P<sure>{_LOG})|{_LOG_START}")


def _is_log(line: str) -> bool:
    """Whether a line among prose was pasted from an output."""
    match = _LOG_LINE.match(line)
    return match is not None and (match.lastgroup == "sure" or _COPIED.search(line) is not None)
