"""What a conversation says: statements with their words, their exact things and their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Literal

from explorer.facts import FactKind
from explorer.facts.commands import command_lines, is_command
from explorer.facts.identifiers import pieces_of as exact_pieces
from explorer.facts.message import Message, Ranges
from explorer.facts.words import STOP as COMMON
from explorer.facts.words import stem, terms, word_set

__all__ = ["STOP", "WORD", "lower_words", "stem", "terms_of", "word_set"]

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_'’-]*|\d+(?:\.\d+)*")
STOP = COMMON | word_set("most least more less much many instead actually still got get back")
"""Words that are no subject of what is said."""


def terms_of(text: str) -> frozenset[str]:
    """The stems of the words of a text that carry meaning."""
    return terms(text) - STOP


@lru_cache(maxsize=32768)
def lower_words(text: str) -> frozenset[str]:
    """The plain words of a text in lower case, for a quick look before a slow pattern."""
    return frozenset(re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower().replace("’", "'")))


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
        if kind is None or kind in ("name", "symbol"):
            kind = "command" if is_command(inner) or inner.startswith("./") else "code"
        code.add(*match.span())
        yield Atom(kind, inner, *match.span())
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
    pieces = exact_pieces(core)
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


class Kind(Enum):
    """What a statement is for the one who goes on working."""

    GOAL = "goal"
    REQUEST = "request"
    LATEST = "latest request"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    DONE = "done"
    DOING = "in progress"
    BLOCKED = "blocked"
    ERROR = "error"
    NEXT = "next"
    FINDING = "finding"
    FACT = "fact"
    COMMAND = "command"
    FILE = "file"
    OUTPUT = "output"


class Speaker(Enum):
    """Whose words they are."""

    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    SUMMARY = "summary"


@dataclass(slots=True)
class Statement:
    """A sentence, line or list item. `order` rises with time over the whole session.

    `age` is 0 at the end of the conversation and 1 at its beginning, and before it for what comes
    from an earlier summary. `firm`: a rule that binds, a request that names a goal, a file that
    was changed, a command that did something. `solved`: a failure that a later run of the same
    did not show. `wanted`: the person asked to keep such things word for word. `fresh`: said in
    the last messages of the person. `worth` is set by the ranking. `dropped` says why it no
    longer counts, empty while it does.
    """

    text: str
    kind: Kind
    speaker: Speaker
    order: int
    age: float = 0.0
    atoms: tuple[Atom, ...] = ()
    terms: frozenset[str] = frozenset()
    firm: bool = False
    noted: bool = False
    inherited: bool = False
    solved: bool = False
    wanted: bool = False
    fresh: bool = False
    worth: float = 0.0
    dropped: str = ""
    keys: frozenset[str] = field(default_factory=frozenset)

    @property
    def alive(self) -> bool:
        """Whether it still holds."""
        return not self.dropped


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
