"""The exact things in a statement, which must not be paraphrased: those that ``explorer.facts``
recognises, and quotations, code, names of people and days besides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from explorer.facts import FactKind
from explorer.facts.commands import command_lines, is_command
from explorer.facts.identifiers import pieces_of
from explorer.facts.message import Message, Ranges
from explorer.facts.words import word_set

AtomKind = Literal[
    "url", "path", "hash", "version", "host", "number", "command", "env", "symbol", "code",
    "ticket", "quote", "date", "name",
]  # fmt: skip
WEIGHTS: dict[AtomKind, float] = {
    "url": 3.6, "path": 2.6, "hash": 3.0, "version": 2.4, "host": 2.6, "number": 2.0,
    "command": 3.0, "env": 2.2, "symbol": 1.3, "code": 1.8, "ticket": 2.4, "quote": 1.4,
    "date": 1.8, "name": 1.1,
}  # fmt: skip
"""What a statement gains by an exact thing of a kind."""
_KINDS: dict[FactKind, AtomKind] = {
    FactKind.PATH: "path",
    FactKind.URL: "url",
    FactKind.HASH: "hash",
    FactKind.VERSION: "version",
    FactKind.NUMBER: "number",
    FactKind.SYMBOL: "symbol",
}


@dataclass(frozen=True, slots=True)
class Atom:
    """One exact thing. ``start`` and ``end``: offsets in the text, in characters."""

    kind: AtomKind
    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """Equal for two mentions of the same thing."""
        return self.text.lower().rstrip("/").removeprefix("./")


_TOKEN = re.compile(r"\S+")
_BACKTICK = re.compile(r"(`+)([^`\n]{1,240}?)\1")
_QUOTED = re.compile(r"(?<!\w)[\"“]([^\"“”\n]{2,100})[\"”](?!\w)")
_LEAD = "([{<\"'“‘*_~≈"
_TRAIL = ".,;:!?)]}>\"'”’*_…"
_DATE_WORDS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december tomorrow tonight midnight noon q1
    q2 q3 q4 eod eow
    """
)
_TIME = re.compile(
    r"^\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m|Z)?$|^\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+Z?)?$"
)
_RANGE = re.compile(r"^[-+±<>≤≥=~≈$€£]*\d[\d.,]*(?:[-–x×:/]\d[\d.,]*)+(?:[%°+]|[A-Za-zµμ]{1,9})?$")
_BRANCH = re.compile(r"^(?:feature|features|fix|bugfix|hotfix|release|origin|refs)/[\w./-]+$")
_ASSIGNED = re.compile(r"^\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+=\S+$")
_NUMBER_WORDS = word_set(
    """
    two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty
    fifty sixty hundred thousand million dozen
    """
)
_NO_UNITS = word_set(
    """
    and or to is are was were in on at of for with by from the a an but so as if when then
    that which because instead should must will would can could has have not now per after
    before
    """
)
_NO_NAMES = word_set(
    """
    i i'm i'll i've i'd ok yes no the this that these those it a an and but or so if when
    while also please note next then now done todo json yaml html css http https api url sql
    cli ui ux id ids cpu gpu ram os ci cd pr prs db io tcp udp dns tls ssl ssh csv pdf utc
    eof let's we you he she they there here what why how who which can could should would
    will do does did is are was were let make sure use add fix keep don't never always must
    just not only first second finally however currently today yesterday
    """
)
_ACTS = word_set(
    """
    wrote owns said says knows set maintains asked approved approves reviews reviewed runs built
    added prefers wants found reported confirmed insists decides decided handles swears told
    """
)
"""After a capitalised word at the start of a sentence: it is the name of a person."""


def atoms_of(text: str) -> tuple[Atom, ...]:
    """Every exact thing in a text in order, none inside another."""
    found = list(_marked(text))
    taken = Ranges((atom.start, atom.end) for atom in found)
    for start, end in command_lines(Message(text), []):
        if start not in taken:
            found.append(Atom("command", text[start:end], start, end))
            taken.add(start, end)
    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        if token.start() in taken:
            continue
        atom = _token_atom(text, tokens, index)
        if atom is not None:
            found.append(atom)
    found.sort(key=lambda atom: atom.start)
    return tuple(found)


def _marked(text: str) -> Iterator[Atom]:
    """What stands in backticks or quotation marks."""
    code = Ranges()
    for match in _BACKTICK.finditer(text):
        inner = match[2].strip()
        kind = None if " " in inner else _kind_of(inner)
        if kind in (None, "name", "symbol"):
            kind = "command" if is_command(inner) or inner.startswith("./") else "code"
        code.add(*match.span())
        yield Atom(kind or "code", inner, *match.span())
    for match in _QUOTED.finditer(text):
        if match.start() not in code:
            yield Atom("quote", match[1], *match.span())


def _token_atom(text: str, tokens: list[re.Match[str]], index: int) -> Atom | None:
    token = tokens[index]
    start, end = token.span()
    while start < end and text[start] in _LEAD:
        start += 1
    while end > start and text[end - 1] in _TRAIL:
        if text[end - 1] == ")" and "(" in text[start:end]:
            break
        end -= 1
    core = text[start:end]
    kind = _kind_of(core) if core else None
    if kind is None:
        return None
    if kind == "number":
        return _with_unit(text, tokens, index, start, end)
    if kind == "name":
        starts_sentence = index == 0 or tokens[index - 1].group()[-1] in ".!?:"
        acts = any(one.group() in _ACTS for one in tokens[index + 1 : index + 3])
        if core.lower() in _NO_NAMES or (starts_sentence and not acts):
            return None
    return Atom(kind, core, start, end)


@lru_cache(maxsize=65536)
def _kind_of(core: str) -> AtomKind | None:
    low = core.lower()
    if core.isalpha():
        if low in _DATE_WORDS and (core[0].isupper() or low == core):
            return "date"
        if low == core:
            return "number" if low in _NUMBER_WORDS else None
        if core[0].isupper() and core[1:].islower():
            return "name"
    elif _TIME.match(core):
        return "date"
    elif _RANGE.match(core) and not core.count(".") > 1:
        return "number"
    if _BRANCH.match(core):
        return "path"
    if _ASSIGNED.match(core):
        return "env"
    pieces = pieces_of(core)
    if len(pieces) != 1 or len(pieces[0].text) < len(core) // 2:
        return _other_kind(core)
    kind = _KINDS[pieces[0].kind]
    if kind == "url" and "://" not in core and not core.startswith("www."):
        return "host"
    if kind == "hash" and (core[0] == "#" or core[0].isupper()) and "-" in core + core[:1]:
        return "ticket"
    if kind == "symbol" and core.startswith("-"):
        return "code"
    return "env" if kind == "symbol" and core.isupper() else kind


def _other_kind(core: str) -> AtomKind | None:
    """The kind of a word that is nothing exact in a session at large and is in a sentence: a name
    in mixed case, in capitals or with a number."""
    if core.isalpha():
        if core.isupper():
            return "name" if len(core) > 2 and core.lower() not in _NO_NAMES else None
        return "symbol" if any(one.isupper() for one in core[1:]) else None
    is_numbered = any(one.isdigit() for one in core) and any(one.isalpha() for one in core)
    return "symbol" if is_numbered else None


def _with_unit(
    text: str, tokens: list[re.Match[str]], index: int, start: int, end: int
) -> Atom | None:
    """A number with the word after it, where only a blank is between; a number that is written as
    a word needs one."""
    if end == tokens[index].end() and index + 1 < len(tokens):
        unit = tokens[index + 1].group().rstrip(".,;:!?)]")
        if unit == "%" or (unit.isalpha() and unit.lower() not in _NO_UNITS and len(unit) < 16):
            end = tokens[index + 1].start() + len(unit)
    return Atom("number", text[start:end], start, end)
