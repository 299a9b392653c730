"""One entry read once: its atoms, and all else that it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from explorer.audit.atoms.commands import command_lines, fences
from explorer.audit.atoms.entries import Text, Voice, texts_of
from explorer.audit.atoms.errors import LONGEST, KnownLines, error_lines, error_lines_among
from explorer.audit.atoms.figures import figures
from explorer.audit.atoms.keys import figure, path_key, statement_key
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.sentences import sentences
from explorer.audit.atoms.statements import plain_letters, statements, statements_of_summary
from explorer.audit.atoms.tokens import Piece, Words, value_key

SHORT_RESULT = 8
"""Lines of an output that is short enough for all that it names to be worth keeping."""
_AROUND = 60
"""Characters before and after a figure that tell what it is of."""
_PROSE = frozenset({Voice.USER, Voice.ASSISTANT, Voice.SUMMARY})
_IN_PROSE = frozenset(
    {AtomKind.PATH, AtomKind.SYMBOL, AtomKind.VERSION, AtomKind.URL, AtomKind.HASH}
)
_IN_RESULTS = frozenset({AtomKind.VERSION, AtomKind.URL, AtomKind.HASH})
_NAMED_VERSION = re.compile(
    r"(?<![\w.])(?:Python|Node(?:\.js)?|Java|JDK|Go|Rust|Ruby|PHP|Perl|Elixir|Erlang|OTP|"
    r"Kotlin|Swift|Postgres(?:QL)?|"
    r"MySQL|MariaDB|SQLite|Redis|Kafka|Qt|GTK|Django|Rails|Spring(?: Boot)?|Angular|React|Vue|"
    r"Next\.js|Vite|Flask|"
    r"Ubuntu|Debian|Fedora|Alpine|macOS|iOS|Android|Windows|CUDA|GCC|gcc|clang|LLVM|CMake|"
    r"Gradle|Maven|npm|pnpm|"
    r"Kubernetes|k8s|Docker|Terraform|Unity|Unreal|Godot|Blender|OpenSSL|Linux|kernel|Firefox|"
    r"Chrome|\.NET|CLDR|"
    r"[A-Z][\w.+#-]* [Vv]ersion)\s+v?(\d+(?:\.\d+)*)(?![\w.]*[\w%])"
)


class Item(NamedTuple):
    """One mention of an atom; offsets in UTF-16 units of its text."""

    kind: AtomKind
    text: str
    key: str
    start: int
    end: int
    block: int = 0
    argument: str = ""
    voice: Voice = Voice.ASSISTANT
    context: str = ""
    """Of an exact thing in prose: what stands before it in its line, a line break, what follows."""


@dataclass(frozen=True, slots=True)
class EntryAtoms:
    """What one entry holds."""

    items: tuple[Item, ...] = ()
    mentions: frozenset[str] = frozenset()
    """Keys of every exact thing that stands anywhere in it; of figures the bare value,
    ``#1500``. What a summary says of these is not invented."""
    words: frozenset[str] = frozenset()
    """Of prose: its different words in lower case, marks and all."""
    speaks: Voice | None = None
    """Who wrote prose in it; None where nobody did."""


EMPTY = EntryAtoms()


class Known:
    """What the entries of one scan have in common, and is read once; made for that scan."""

    __slots__ = ("lines", "words")

    def __init__(self) -> None:
        self.words = Words()
        self.lines = KnownLines()


def scan_entry(entry: Mapping[str, Any], known: Known) -> EntryAtoms:
    """Reads an entry's JSON. ``known`` is shared by all entries of a scan."""
    items: list[Item] = []
    mentions: set[str] = set()
    said: set[str] = set()
    speaks: Voice | None = None
    for text in texts_of(entry):
        found: list[Item] = []
        if text.voice in _PROSE:
            speaks = text.voice
            said.update(text.text.lower().split())
            found = _from_prose(text, known, mentions)
        else:
            mentions |= known.words.mentions(text.text)
            if text.voice in (Voice.RESULT, Voice.ERROR):
                found = _from_result(text, known)
            elif text.voice is Voice.COMMAND:
                found = _from_command(text)
            elif text.voice is Voice.PATH:
                found = _from_path(text, known)
        if found:
            items += _in_units(text.text, found)
    if not (items or mentions or speaks):
        return EMPTY
    return EntryAtoms(tuple(items), frozenset(mentions), frozenset(said), speaks)


def scan_text(text: str, voice: Voice) -> EntryAtoms:
    """Reads a text that is no entry, such as a candidate for a summary."""
    mentions: set[str] = set()
    found = _from_prose(Text(voice, text), Known(), mentions)
    said = frozenset(text.lower().split())
    return EntryAtoms(tuple(_in_units(text, found)), frozenset(mentions), said, voice)


def _item(kind: AtomKind, text: Text, start: int, found: str, key: str, context: str = "") -> Item:
    end = start + len(found)
    return Item(kind, found, key, start, end, text.block, text.argument, text.voice, context)


def _from_prose(text: Text, known: Known, mentions: set[str]) -> list[Item]:
    body = text.text
    held = known.words.holding(body)
    mentions |= known.words.mentions_of(held)
    blocks = fences(body)
    found: list[Item] = []
    taken: list[tuple[int, int]] = [(start, end) for start, end, _ in blocks]
    for start, end in command_lines(body, blocks):
        line = body[start:end]
        found.append(_item(AtomKind.COMMAND, text, start, line, statement_key(line)))
        taken.append((start, end))
    if text.voice is not Voice.SUMMARY:
        for start, line in _failures(body, blocks, known.lines):
            found.append(_item(AtomKind.ERROR, text, start, line, statement_key(line)))
            taken.append((start, start + len(line)))
    exact = _pieces(text, held, _IN_PROSE, taken)
    taken += [(one.start, one.end) for one in exact]
    found += exact
    for match in _NAMED_VERSION.finditer(body):
        if not _inside(match.start(1), taken):
            version = match.group(1)
            found.append(
                _item(AtomKind.VERSION, text, match.start(1), version, version, match.group())
            )
            taken.append(match.span())
            mentions.add(version)
    for start, end in figures(body, taken, by_user=text.voice is Voice.USER):
        value = figure(body[start:end])
        if value is not None:
            mentions.add(value_key(body[start:end]))
            found.append(
                _item(
                    AtomKind.NUMBER,
                    text,
                    start,
                    body[start:end],
                    value.key,
                    _around(body, start, end),
                )
            )
    found += _statements(text, blocks)
    found.sort(key=lambda one: one.start)
    return found


_QUOTED_FAILURE = re.compile(
    r"(?<![\w.])(?:(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)|Error|fatal|panic): [^\n]{4,160}?"
    r"(?=\n|$|[.!?]\s|[\"”`]|\s(?:from|in|on|when|while|at)\sthe\s)"
)

_PASTED = ("rror", "xception", "FAIL", "fatal", "panic", "Traceback", "] ", "ailed", "E/", "W/")
"""What a line that was pasted from an output has, apart from blocks of code."""
_QUOTING = ("Error: ", "Exception: ", "fatal: ", "panic: ")


def _failures(
    body: str, blocks: list[tuple[int, int, str]], known: KnownLines
) -> Iterator[tuple[int, str]]:
    """Failures that were pasted into a message: whole lines, and quotations inside of a line."""
    whole: list[tuple[int, int]] = []
    if blocks or any(mark in body for mark in _PASTED):
        for start, line in error_lines_among(_pasted(body, blocks), known):
            whole.append((start, start + len(line)))
            yield start, line
    if not any(word in body for word in _QUOTING):
        return
    for match in _QUOTED_FAILURE.finditer(body):
        if not _inside(match.start(), whole):
            yield match.start(), match.group()


def _pasted(body: str, blocks: list[tuple[int, int, str]]) -> list[tuple[int, str]]:
    """The lines that stand in blocks of code or look like those of a log, with their offsets."""
    found = []
    at = 0
    for line in body.split("\n"):
        start = at + len(line) - len(line.lstrip())
        if any(a <= start < b for a, b, _ in blocks) or _is_log(line[:LONGEST].strip()):
            found.append((at, line))
        at += len(line) + 1
    return found


def _statements(text: Text, blocks: list[tuple[int, int, str]]) -> list[Item]:
    body = text.text
    found = sentences(body, [(start, end) for start, end, _ in blocks])
    plain = plain_letters(body)
    if text.voice is Voice.SUMMARY:
        spoken = statements_of_summary(found, plain)
    else:
        spoken = statements(found, plain, by_user=text.voice is Voice.USER)
    return [
        _item(kind, text, one.start, one.text, statement_key(one.text))
        for kind, one in spoken
        if not _is_log(one.text)
    ]


_LOG = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|"
    r"Dec) +\d+ \d\d:|\[\s*\d+[.:]\d+|[A-Z]/\w+\(|at\s+[\w.$]+\(|"
    r"\w+Error:)|^\s*File \""
)
_LOG_START = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d|\[\s*\d|[A-Z]/|(?:error|fatal|panic|ERROR|FAIL|FAILED|"
    r"E)\b[\[: ]|\w+(?:Error|Exception)\b|"
    r"Traceback|Caused by)|^[a-z]\w+ \w+: .*|^\S+:\d+:"
)


def _is_log(line: str) -> bool:
    """Whether a line among prose was pasted from an output."""
    return _LOG.match(line) is not None or (
        _LOG_START.match(line) is not None and _looks_copied(line)
    )


def _looks_copied(line: str) -> bool:
    return (
        re.search(r"\w+(?:Error|Exception)\b|:\d+|\]\s|0x|\bE\d{3,}|\b[A-Z]{4,}\b", line)
        is not None
    )


def _from_command(text: Text) -> list[Item]:
    # Of a script the line that runs it.
    body = text.text.strip().partition("\n")[0]
    if not body:
        return []
    return [_item(AtomKind.COMMAND, text, text.text.find(body), body, statement_key(body))]


def _from_result(text: Text, known: Known) -> list[Item]:
    body = text.text
    found = [
        _item(AtomKind.ERROR, text, start, line, statement_key(line))
        for start, line in error_lines(body, known.lines, is_error=text.voice is Voice.ERROR)
    ]
    if len(body) < 4000 and body.count("\n") <= SHORT_RESULT:
        taken = [(one.start, one.end) for one in found]
        found += _pieces(text, known.words.holding(body), _IN_RESULTS, taken)
    return found


def _from_path(text: Text, known: Known) -> list[Item]:
    body = text.text.strip()
    if not body or len(body) > 1000 or "\n" in body:
        return []
    if "://" in body:
        return _pieces(text, known.words.holding(text.text), frozenset({AtomKind.URL}), [])
    return [_item(AtomKind.PATH, text, text.text.find(body), body, path_key(body))]


def _pieces(
    text: Text,
    held: Mapping[str, tuple[Piece, ...]],
    kinds: frozenset[AtomKind],
    taken: list[tuple[int, int]],
) -> list[Item]:
    """Where the exact things stand: each once, where it is said first outside of ``taken``."""
    body = text.text
    found = []
    for word, pieces in held.items():
        if not any(piece.kind in kinds for piece in pieces):
            continue
        at = _word_at(body, word, taken)
        if at < 0:
            continue
        for piece in pieces:
            if piece.kind in kinds and not _inside(at + piece.at, taken):
                start = at + piece.at
                context = _around(body, start, start + len(piece.text))
                found.append(_item(piece.kind, text, start, piece.text, piece.key, context))
    found.sort(key=lambda one: one.start)
    return found


def _word_at(body: str, word: str, taken: list[tuple[int, int]]) -> int:
    """The first place where a word stands by itself, outside of ``taken``; -1 for none."""
    at = body.find(word)
    while at >= 0:
        end = at + len(word)
        alone = (at == 0 or body[at - 1].isspace()) and (end == len(body) or body[end].isspace())
        if alone and not _inside(at, taken):
            return at
        at = body.find(word, at + 1)
    return -1


def _around(body: str, start: int, end: int) -> str:
    before = body[max(0, start - _AROUND) : start].rpartition("\n")[2]
    after = body[end : end + _AROUND].partition("\n")[0]
    return f"{before}\n{after}"


def _inside(at: int, taken: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in taken)


def _in_units(body: str, found: list[Item]) -> list[Item]:
    """Offsets in UTF-16 units, which differ from characters only beyond the basic plane."""
    if not found or body.isascii() or max(body) <= "\uffff":
        return found
    return [one._replace(start=_units(body, one.start), end=_units(body, one.end)) for one in found]


def _units(body: str, at: int) -> int:
    head = body[:at]
    return at + sum(letter > "\uffff" for letter in head)
