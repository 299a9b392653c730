"""Items: the lines that a summary may hold, with their kinds, their exact facts, and whether a
person asked for them (A23, A36, A39); and passages: whole sentences of a text, each with the
sentence that it leans on.

A sentence that cannot stand alone ("Never exceed it without approval.") forms one passage with the
one before it, a line that ends in a colon one with the list below it. Headings, tables and what is
no prose are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from explorer.facts import FactKind, Mention, scan
from explorer.facts.commands import fences
from explorer.facts.entry_texts import Speaker
from explorer.facts.errors import is_failure
from explorer.facts.fact_table import EntryFacts
from explorer.facts.statements import kinds_of
from explorer.facts.text import Sentence, sentences, terms, word_set
from explorer.session.entries import (
    AssistantMessage,
    Body,
    Entry,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
    text_content,
)


class ItemKind(Enum):
    """What an item is to whoever goes on working; the order of need is in ``summary_layout``."""

    GOAL = "goal"
    REQUEST = "request"
    LATEST = "latest request"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    DONE = "done"
    DOING = "in progress"
    BLOCKED = "blocked"
    ERROR = "error"
    NEXT = "next"
    FACT = "fact"
    COMMAND = "command"
    FILE = "file"
    CHANGE = "changed file"


STATEMENTS: Mapping[FactKind, ItemKind] = {
    FactKind.CONSTRAINT: ItemKind.CONSTRAINT,
    FactKind.DECISION: ItemKind.DECISION,
    FactKind.TODO: ItemKind.NEXT,
    FactKind.REQUEST: ItemKind.REQUEST,
    FactKind.QUESTION: ItemKind.REQUEST,
}
"""The kind of a sentence by the statement it makes; of several the first counts."""


STANDING = (ItemKind.CONSTRAINT, ItemKind.DECISION)


class Item(Struct, eq=False):
    """A sentence, a line of output, a command or a path."""

    text: str
    kind: ItemKind
    speaker: Speaker
    order: int
    """Rises with time, over the earlier summary and the conversation."""
    age: float = 0.0
    """0 at the end of the conversation, 1 at its beginning and before."""
    facts: tuple[Mention, ...] = ()
    """The exact facts in the text; their offsets count in the text that it was taken from."""
    inherited: bool = False
    """It stands in the earlier summary."""
    outdated: bool = False
    """The work went on since the summary in which it stands."""
    solved: bool = False
    """A failure that a later run of the same command did not show."""
    minor: bool = False
    """It only accompanies the work, or stands in the middle of a paste."""
    newest: bool = False
    """It is of the last reply."""
    alive: bool = True
    """Whether it still holds and is stated nowhere later."""
    worth: float = 0.0

    @property
    def terms(self) -> frozenset[str]:
        """The stems of its telling words."""
        return terms(self.text)


_BODIES: Mapping[Speaker, Callable[[str], Body]] = {
    Speaker.USER: lambda text: UserMessage(text_content(text)),
    Speaker.ASSISTANT: lambda text: AssistantMessage(text_content(text)),
    Speaker.RESULT: lambda text: ToolResultMessage("", "", text_content(text)),
    Speaker.SUMMARY: lambda text: SummaryMessage(text, "compaction"),
}


def read_facts(speaker: Speaker, texts: Sequence[str]) -> list[EntryFacts]:
    """What each of some texts of one speaker states; offsets in UTF-16 units."""
    entries = [Entry.of(_BODIES[speaker](text)) for text in texts]
    table = scan(range(len(entries)), lambda wanted: [entries[index] for index in wanted])
    return [table.entry(index) for index in range(len(entries))]


_TORN = re.compile(r"[\\(\[{,]$")


def is_torn(line: str) -> bool:
    """Whether a line of code is only a part of something: a bracket or a quotation is left open."""
    pairs = (line.count(a) != line.count(b) for a, b in ("()", "[]", "{}"))
    return _TORN.search(line) is not None or any(pairs) or line.count('"') % 2 == 1


_CLAUSES = re.compile(r"[.;!?\n]+(?:\s|$)|,\s+|\s+(?:and|plus|but)\s+")
_QUOTED = re.compile(r"[`\"“]([^`\"“”\n]{2,120})[`\"”]")
_LEAVE_OUT = re.compile(
    r"^\W*(?:please\s+)?(?:ignore|skip|omit|drop|forget|leave\s+out|(?:do\s+not|don['’]?t)\s+"
    r"(?:mention|include|keep|list|repeat|bother))\b",
    re.IGNORECASE,
)
_ASKING = terms(
    """keep kept exact exactly precise word verbatim remember focus attention include mention
    important preserve note especially particularly special everything list detail full whole
    summary summarize write matter relevant record care every each name output ignore skip omit
    drop forget leave bother repeat"""
)
_SORTS: tuple[tuple[frozenset[str], frozenset[ItemKind | FactKind]], ...] = tuple(
    (terms(words), frozenset(kinds))
    for words, kinds in (
        ("error failure exception warning traceback", (ItemKind.ERROR, ItemKind.BLOCKED)),
        ("decision choice rationale", (ItemKind.DECISION,)),
        ("constraint rule requirement preference", (ItemKind.CONSTRAINT,)),
        ("todo plan", (ItemKind.NEXT, ItemKind.DOING)),
        ("request question", (ItemKind.REQUEST,)),
        ("command", (ItemKind.COMMAND, FactKind.COMMAND)),
        ("file path", (ItemKind.FILE, ItemKind.CHANGE, FactKind.PATH)),
        ("url link host port address", (FactKind.URL,)),
        ("version", (FactKind.VERSION,)),
        ("hash commit ticket issue", (FactKind.HASH,)),
        ("number figure measurement", (FactKind.NUMBER,)),
    )
)
_MOST_WISHES = 40
"""Wishes beyond these are a text that says something."""


_FORM = re.compile(
    r"\b(?:in|into) (?:Arabic|Chinese|Dutch|French|German|Hindi|Italian|Japanese|Korean|Latin"
    r"|Polish|Portuguese|Russian|Spanish|Turkish|verse|rhymes?|JSON|YAML|CSV)\b"
    r"|\bas (?:an? |the )?(?:\w+ )?(?:table|poem|haiku|song|story|diagram|JSON|YAML|CSV)\b"
    r"|\b(?:at most|no more than|less than|fewer than|under|within|in)"
    r" (?:\d+|one|two|three|five|ten) (?:words?|lines?|sentences?|paragraphs?|bullets?|characters?)"
    r"\b",
    re.IGNORECASE,
)
"""A language, a form or a length, which picking cannot give."""


class Wish(Struct, frozen=True):
    """One thing asked for."""

    sorts: frozenset[ItemKind | FactKind] = frozenset()
    """The kinds of items and facts that it names."""
    about: frozenset[str] = frozenset()
    """The stems of its other telling words."""
    phrase: str = ""
    """Words in quotation marks, in lower case, that are asked for as they stand."""
    clause: str = ""
    """The words in which it is asked for."""

    def meets(self, item: Item) -> bool:
        """Whether an item is what is asked for."""
        if self.phrase:
            return self.phrase in item.text.lower()
        if self.sorts and not self.sorts & {item.kind, *(fact.kind for fact in item.facts)}:
            return False
        # Of an item of the kind that is named, the other words need not all be there.
        return bool(self.sorts) or 2 * len(self.about & item.terms) > len(self.about)

    def holds_what_it_names(self, line: str) -> bool:
        """Whether a line has something of the exact kinds that it names, such as a path; True where
        it names none."""
        named = {sort for sort in self.sorts if isinstance(sort, FactKind)}
        found = read_facts(Speaker.ASSISTANT, [line])[0].items if named else ()
        return not named or any(fact.kind in named for fact in found)

    def is_near(self, item: Item) -> bool:
        """Whether an item is about anything that is asked for. Where a kind is named, any is:
        that there is nothing of a kind is no fault."""
        if self.phrase or _FORM.search(self.clause):
            return bool(self.phrase) and self.meets(item)
        return bool(self.sorts) or not self.about.isdisjoint(item.terms)


class Focus(Struct, frozen=True):
    """What a person asks to keep and to leave out."""

    wishes: tuple[Wish, ...] = ()
    unwanted: tuple[frozenset[str], ...] = ()

    def wants(self, item: Item) -> bool:
        """Whether an item is asked for."""
        return any(wish.meets(item) for wish in self.wishes)

    def refuses(self, item: Item) -> bool:
        """Whether an item is about what is to be left out."""
        return any(words <= item.terms for words in self.unwanted)

    def wants_line(self, line: str) -> bool:
        """Whether a line of output is asked for."""
        low, failing = line.lower(), bool(self.wishes) and is_failure(line)
        for wish in self.wishes:
            if ItemKind.ERROR in wish.sorts:
                mentioned = failing
            else:
                words = [wish.phrase] if wish.phrase else wish.about
                mentioned = bool(words) and all(word in low for word in words)
                mentioned = mentioned and wish.holds_what_it_names(line)
            if mentioned:
                return True
        return False

    def wants_row(self, row: str, lead: str) -> bool:
        """Whether a row of a table is asked for: it has some of the words, and with the line above
        the table all of them."""
        there, all_there = terms(row), terms(f"{lead} {row}")
        return any(
            wish.phrase in row.lower()
            if wish.phrase
            else not wish.about.isdisjoint(there) and wish.about <= all_there
            for wish in self.wishes
        )


def focus_of(text: str) -> Focus:
    """The wishes in a person's words; none in an empty text."""
    quoted = [phrase.strip() for phrase in _QUOTED.findall(text)]
    wishes = [Wish(phrase=phrase.lower(), clause=phrase) for phrase in quoted]
    unwanted: list[frozenset[str]] = []
    for clause in _CLAUSES.split(text):
        words = terms(clause) - _ASKING
        if words and _LEAVE_OUT.match(clause):
            unwanted.append(words)
        elif words:
            named = [(sort, kinds) for sort, kinds in _SORTS if sort & words]
            about = words.difference(*(sort for sort, _ in named))
            kinds = frozenset[ItemKind | FactKind]().union(*(kinds for _, kinds in named))
            wishes.append(Wish(kinds, about, clause=clause.strip()))
    return Focus(tuple(dict.fromkeys(wishes))[:_MOST_WISHES], tuple(unwanted))


LONGEST = 600
"""Characters of a passage."""
_LONGEST_LEANING = 350
"""Characters of a passage of sentences that lean on each other."""
_FEW_TERMS = 2
"""Telling words below which a sentence with a pronoun leans on the one before."""
_WORD = re.compile(r"\w")
_NO_LETTER = re.compile(r"[\W\d_]+")
_SENTENCE = 3
"""Words from which a list item that ends in a point is a sentence of its own."""
_LONG_LINE = 8
"""Words from which a line without a point is a sentence all the same."""
_JOINTS = word_set("but however and also btw so oh") | {"", "and also", "oh and also"}
_LONGEST_JOINT = 20
"""Characters between two parts of one sentence."""
_LEANS = re.compile(
    r"^\W*+(?:(?:and|but|so|also|or|then|otherwise|plus)\b\W*+)*(?:it|its|it's|they|them|their|"
    r"this|that|"
    r"that's|these|those|he|she|his|her|both|neither|either|the (?:former|latter|same|rest|"
    r"others?)|"
    r"otherwise|instead|therefore|same|such|which|because|except|unless|until then|that way)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:it|them|they|this|that|these|those|one|there)\b", re.IGNORECASE)
# Quotes are in both classes: without possessive repeats, a line of them takes for ever.
_POINTS_EARLY = re.compile(r"^\W*+(?:[\w'’]++\W++){0,3}(?:it|them|they|he|she)\b", re.IGNORECASE)
_MARKUP = re.compile(r"^\W*(?:\*\*|__)|(?:\*\*|__)(?=\s|[:.,;!?)]|$)|\*\*")
_LABEL = re.compile(r"\s*(?:\*\*[^*]+\*\*|__[^_]+__):?\s*")
"""A line in bold type; above a list it names it as one that ends in a colon does."""
_NO_PROSE = re.compile(
    r"^\S+\.\w+:\d+:|^={3,}|^\s*\d+→|^\s*[|+<>{}$➜/@=#]|^\s*\[\w+\]\s|^\s*\d+[→|]|[{};|]\s*$|\\n|✗"
)


def passages(text: str, *, by_user: bool = True) -> list[str]:
    """The passages of a text in order, each on one line. A list is one passage with the line above
    it; items of the user's that are sentences stand alone."""
    found: list[str] = []
    before: Sentence | None = None
    every = list(_whole(text))
    for number, sentence in enumerate(every):
        line = _clean(sentence.text)
        if _LABEL.fullmatch(sentence.text) and any(one.item for one in every[number + 1 :][:1]):
            line = f"{line.rstrip(':')}:"
        if not _WORD.search(line) or sentence.text.startswith("|"):
            before = None
            continue
        if sentence.item and not (by_user and _is_sentence(line)):
            _add_item(found, line, sentence, before)
        elif found and before is not None and _follows(found[-1], line, before, sentence):
            found[-1] = f"{found[-1]} {line}"
        else:
            found.append(line)
        before = sentence
    return [one for one in found if one[-1] != ":" and is_prose(one)]


def _is_sentence(line: str) -> bool:
    return line[-1] in ".!?" and len(line.split()) >= _SENTENCE


def _add_item(found: list[str], line: str, item: Sentence, before: Sentence | None) -> None:
    """Adds an item to its list; one that has no room there is left out."""
    same = before is not None and before.section == item.section
    listed = before is not None and before.item and ": " in found[-1] if found else False
    if found and same and (found[-1][-1] == ":" or listed):
        joint = " " if found[-1][-1] == ":" else "; "
        if len(found[-1]) + len(line) < LONGEST:
            found[-1] = f"{found[-1].rstrip('.;')}{joint}{line.rstrip('.')}"
    elif item.section and not same:
        found.append(f"{_clean(item.section).rstrip(':')}: {line}")
    else:
        found.append(line)


_CELL = re.compile(r"(?<!\\)\|")
_RULED = re.compile(r"^[\s|:-]*-[\s|:-]*$")


def table_rows(text: str) -> list[tuple[str, str]]:
    """The rows of the tables in a text, each on one line with the names of its columns, and the
    line above the table."""
    rows: list[tuple[str, str]] = []
    lead, names = "", list[str]()
    lines = [line.strip() for line in text.split("\n")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("|"):
            lead, names = (_clean(line) if line else lead), []
        elif _RULED.match(line):
            continue
        elif _RULED.match(following) and following:
            names = _cells(line)
        elif names:
            cells = _cells(line)
            told = cells[1:2] if len(names) == 2 else _named(names[1:], cells[1:])
            rows.append((f"{cells[0]}: {'; '.join(told)}" if told else cells[0], lead))
    return rows


def _cells(row: str) -> list[str]:
    return [_clean(cell) for cell in _CELL.split(row.strip().strip("|"))]


def _named(names: Sequence[str], cells: Sequence[str]) -> list[str]:
    return [f"{name} {cell}" for name, cell in zip(names, cells, strict=False) if cell]


def is_whole(passage: str) -> bool:
    """Whether a passage ends as a sentence does, or is a list with the line above it."""
    return passage[-1] in '.!?…)"”' or ": " in passage or len(passage.split()) >= _LONG_LINE


def shortened(passage: str, limit: int) -> str:
    """A passage with as many items of its list as fit into a number of characters."""
    parts = passage.split("; ")
    while len(parts) > 1 and len("; ".join(parts)) > limit:
        parts.pop()
    return "; ".join(parts)


def is_prose(line: str) -> bool:
    """Whether a line is somebody's words, and neither a log nor code."""
    if _NO_PROSE.search(line):
        return False
    if line[-1] not in ".!?" and len(line) < _LONGEST_LEANING and is_failure(line):
        return bool(kinds_of(line, by_user=True))
    letters = len(_NO_LETTER.sub("", line))
    return 3 * (letters + line.count(" ")) > len(line) and letters > 0


def leans(line: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    if _LEANS.match(line) or _POINTS_EARLY.match(line):
        return True
    return len(terms(line)) <= _FEW_TERMS and _POINTS.search(line) is not None


def _follows(so_far: str, line: str, before: Sentence, now: Sentence) -> bool:
    """Whether a sentence belongs to the passage before it."""
    if now.item or before.item or now.section != before.section:
        return False
    if so_far[-1] == ":":
        return line[-1] != ":" and len(so_far) + len(line) < LONGEST
    return leans(line) and len(so_far) + len(line) < _LONGEST_LEANING


def _clean(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split())


def _whole(text: str) -> Iterator[Sentence]:
    """The sentences outside of code; those that were split at a semicolon, a dash or a comma are
    put together again."""
    pending: Sentence | None = None
    for sentence in sentences(text, [(start, end) for start, end, _ in fences(text)]):
        if pending is not None:
            between = text[pending.end : sentence.start]
            if (
                pending.text[-1] not in ".!?…:"
                and "\n" not in between
                and between.strip(" ,;-–—\t") in _JOINTS
                and len(between) < _LONGEST_JOINT
            ):
                whole = text[pending.start : sentence.end]
                pending = pending._replace(text=whole, end=sentence.end)
                continue
            yield _ended(text, pending)
        pending = sentence
    if pending is not None:
        yield _ended(text, pending)


def _ended(text: str, sentence: Sentence) -> Sentence:
    """The sentence with the mark that closes it."""
    mark = text[sentence.end : sentence.end + 1]
    return sentence._replace(text=sentence.text + mark) if mark in (".", "!", "?") else sentence


def up_to(parts: Sequence[str], limit: int) -> list[str]:
    """As many passages from the first on as fit into a number of characters; at least one."""
    size, taken = 0, 0
    for part in parts:
        size += len(part) + 1
        if taken and size > limit:
            break
        taken += 1
    return list(parts[:taken])
