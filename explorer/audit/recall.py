"""Questions that show whether a model recalls what a compaction summarized, and their answers.

A string in a summary is not yet a memory of it. Cloze questions are sentences of the record in
which one exact fact is blank; a rule checks their answers. Open questions carry what the record
says, by which a judge model grades them. All are made from typed entries, without a model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Struct

from explorer.facts import FactKind, Facts, FactTable, Mention, ReadEntries, Span
from explorer.facts.commands import fences
from explorer.facts.entry_texts import EntryText, Speaker, texts_of
from explorer.facts.fact import Fact
from explorer.facts.fact_table import scan_text
from explorer.facts.figures import figure, value_key
from explorer.facts.identifiers import WordPiece, base_name, exact_things, path_key
from explorer.facts.text import sentences, statement_key, terms_of_message, units, wide_places
from explorer.session.secrets import DOT
from explorer.session.text import PROSE_LIMIT, as_prose

BLANK = "[____]"
ASKED_KINDS = {
    FactKind.PATH: "path",
    FactKind.NUMBER: "figure with its unit",
    FactKind.VERSION: "version",
    FactKind.SYMBOL: "name in code",
    FactKind.HASH: "identifier",
    FactKind.COMMAND: "command",
    FactKind.URL: "address",
}
"""The kinds of facts that are blanked, in the words of the question."""
HIGHEST_GRADE = 3
_SHORTEST, _LONGEST = 24, 400
"""Characters of a sentence that is asked about."""
_SHORT_OUTPUT = 40
"""Lines of an output that says something; a longer one lists, such as a file."""
_LEAST_TERMS = 3
"""Telling words that must be left around the blank."""
_MOST_POINTS = 12
"""What an open question is graded by at most."""
_OF_RESULTS = frozenset({Speaker.RESULT, Speaker.SHOWN, Speaker.ERROR})
_OF_LINES = frozenset(ASKED_KINDS) - {FactKind.NUMBER}
"""Asked for in outputs, whose figures are mostly how long something took."""
_IN_WORDS = frozenset({Speaker.USER, Speaker.ASSISTANT})


class Recall(StrEnum):
    """What an answer to a cloze question shows."""

    RIGHT = "right"
    MISSED = "missed"
    """No answer, or one that says that it is not known."""
    WRONG = "wrong"
    """Another value, or several of which one may be right."""


class ClozeQuestion(Struct, frozen=True):
    """A sentence of the record with one fact blank."""

    id: str
    kind: FactKind
    text: str
    """The sentence with ``BLANK``."""
    answer: str
    span: Span
    """Where the sentence stands, in UTF-16 units; its entry is the source."""
    by_user: bool
    """A person wrote it; otherwise a tool's result."""

    @property
    def entry(self) -> int:
        return self.span.entry


class Point(NamedTuple):
    """A thing that the record says, and its last entry that does."""

    text: str
    entry: int


class OpenQuestion(Struct, frozen=True):
    """A question that is answered in words."""

    id: str
    text: str
    points: tuple[Point, ...]
    """What the record says, by which an answer is graded; never empty."""


class Grade(NamedTuple):
    """A judge's grade of an answer to an open question, 0 to ``HIGHEST_GRADE``."""

    score: int
    reason: str


# cloze questions ----------------------------------------------------------------------------------


class _Candidate(NamedTuple):
    span: Span
    kind: FactKind
    key: str
    answer: str
    sentence: str
    text: str
    rank: int
    """What is asked about first: 0 what a person wrote, 1 a failure, 2 another line of an
    output."""


def cloze_questions(
    sources: Sequence[int],
    seen: Collection[int],
    read: ReadEntries,
    table: FactTable,
    number: int,
    seed: int,
) -> tuple[ClozeQuestion, ...]:
    """At most so many questions on the entries ``sources`` (ascending), in their order.

    ``seen``: entries that the model still sees word for word; what they state is not asked for.
    ``table`` has all of these. One fact of a sentence is asked for, each fact once, and no answer
    stands in any of the questions, since they are asked together. Only what a person wrote and
    what a tool reported counts; of outputs, failures and, in short ones, what was taken up in words
    later. What a person wrote comes before failures, and these before the rest. The same ``seed``
    gives the same questions, spread over the sources.
    """
    stated = {(one.kind, one.key) for index in seen for one in table.entry(index).items}
    printed = table.mentions(seen)
    stale = {(one.kind, one.key) for one in table.facts((*sources, *seen)) if one.stale}
    made = list(_candidates(sources, read, table))
    ambiguous = _ambiguous(made)
    # Of a sentence that is there twice the last.
    found = {
        one.text: one
        for one in made
        if _around(one) not in ambiguous
        and (one.kind, one.key) not in stated | stale
        and (one.rank == 0 or one.key not in printed)
    }
    chosen = _chosen([*found.values()], sources, number, seed)
    chosen.sort(key=lambda one: (one.span.entry, one.span.block, one.span.start))
    return tuple(
        ClozeQuestion(f"Q{at}", one.kind, one.text, one.answer, one.span, one.rank == 0)
        for at, one in enumerate(chosen, 1)
    )


def _candidates(
    sources: Sequence[int], read: ReadEntries, table: FactTable
) -> Iterator[_Candidate]:
    taken_up: dict[str, int] = {}
    for index in sources:
        for one in table.entry(index).items:
            if one.speaker in _IN_WORDS:
                taken_up[one.key] = index
    for index, entry in zip(sources, read(sources), strict=True):
        items = table.entry(index).items
        for text in texts_of(entry):
            here = [
                one for one in items if (one.block, one.argument) == (text.block, text.argument)
            ]
            if text.speaker is Speaker.USER:
                yield from _of_prose(index, text, here)
            elif text.speaker in _OF_RESULTS:
                yield from _of_output(index, text, here, taken_up)


def _of_prose(index: int, text: EntryText, items: Sequence[Mention]) -> Iterator[_Candidate]:
    body = as_prose(text.text)
    wide = wide_places(body)
    blocks = [(start, end) for start, end, _ in fences(body)]
    asked = [one for one in items if one.kind in ASKED_KINDS]
    for sentence in sentences(body, blocks) if asked else ():
        start, end = units(sentence.start, wide), units(sentence.end, wide)
        for one in asked:
            if start <= one.start and one.end <= end:
                span = Span(index, start, end, text.block, text.argument)
                yield from _masked(span, one, sentence.text, 0)


def _of_output(
    index: int, text: EntryText, items: Sequence[Mention], taken_up: Mapping[str, int]
) -> Iterator[_Candidate]:
    """Questions on failures, and on lines with what was taken up in words later. ``taken_up``: by
    key the last entry that does."""
    wide = wide_places(text.text)
    for one in items:
        if one.kind is not FactKind.ERROR:
            continue
        span = Span(index, one.start, one.end, text.block, text.argument)
        for pieces in exact_things(set(one.text.split())).values():
            for piece in pieces:
                fact = Mention(piece.kind, piece.text, piece.key, one.start, one.end)
                if _is_telling(piece, one.text):
                    yield from _masked(span, fact, one.text, 1)
    if text.text.count("\n") > _SHORT_OUTPUT or len(text.text) > PROSE_LIMIT:
        return
    telling = {
        word: taken
        for word, found in exact_things(set(text.text.split())).items()
        if (taken := [one for one in found if taken_up.get(one.key, -1) > index])
    }
    for start, end, line in _lines(text.text, wide) if telling else ():
        is_asked = len(line) <= 2 * _LONGEST and not _LISTED.match(line)
        for word in dict.fromkeys(line.split()) if is_asked else ():
            for piece in telling.pop(word, ()):
                fact = Mention(piece.kind, piece.text, piece.key, start, end)
                span = Span(index, start, end, text.block, text.argument)
                if _is_telling(piece, line):
                    yield from _masked(span, fact, line, 2)


def _is_telling(piece: WordPiece, line: str) -> bool:
    """Whether a thing in an output is worth a question: whole, and no kind of failure."""
    if piece.kind not in _OF_LINES or _CUT.match(line, line.find(piece.text) + len(piece.text)):
        return False
    return not _ODD.search(piece.text)


_LISTED = re.compile(r"\s*\d+\s*[→|:\t]")
"""A numbered line of a file."""
_CUT = re.compile(r"\.\.\.|…")
_ODD = re.compile(r"[\[\]{}<>]|(?:Error|Exception)$")


def _lines(body: str, wide: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """The lines with their range in UTF-16 units."""
    at = 0
    for line in body.split("\n"):
        yield units(at, wide), units(at + len(line), wide), line
        at += len(line) + 1


def _masked(span: Span, fact: Mention, sentence: str, rank: int) -> Iterator[_Candidate]:
    """The question that a sentence gives with a fact blank; none where it tells too little, too
    much, or the answer."""
    bare = " ".join(sentence.split())
    answer = " ".join(fact.text.split())
    if not _SHORTEST <= len(bare) <= _LONGEST or DOT in answer or BLANK in bare:
        return
    text = re.sub(rf"(?<!\w){re.escape(answer)}(?!\w)", lambda _: BLANK, bare)
    if BLANK not in text or stands_in(fact.kind, answer, text):
        return
    if len(terms_of_message(text.replace(BLANK, " "))) < _LEAST_TERMS:
        return
    yield _Candidate(span, fact.kind, fact.key, answer, bare, text, rank)


def stands_in(kind: FactKind, answer: str, text: str) -> bool:
    """Whether a text gives an answer away: it holds it, or the part of it that tells."""
    telling = {answer}
    if kind in (FactKind.PATH, FactKind.URL):
        telling.add(base_name(answer.rstrip("/")))
    elif kind is FactKind.NUMBER:
        telling |= set(_DIGITS.findall(answer)[:1])
    elif kind is FactKind.SYMBOL:
        telling.add(answer.rstrip("()"))
    lower = text.lower()
    return any(
        re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text, re.IGNORECASE)
        for part in telling
        if part and part.lower() in lower  # a pattern is dear to make
    )


_DIGITS = re.compile(r"\d[\d,_.]*(?<=\d)")


def _ambiguous(found: Iterable[_Candidate]) -> set[tuple[str, ...]]:
    """The words around a blank that have more than one answer in the record, as of a rule that was
    changed."""
    answers: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in found:
        answers[_around(one)].add(one.key)
    return {around for around, keys in answers.items() if len(keys) > 1}


def _around(one: _Candidate) -> tuple[str, ...]:
    """The two words before the first blank and the two after it."""
    before, _, after = one.text.partition(BLANK)
    return (*_WORD.findall(before.lower())[-2:], BLANK, *_WORD.findall(after.lower())[:2])


_WORD = re.compile(r"\w+")


def _chosen(
    found: Sequence[_Candidate], sources: Sequence[int], number: int, seed: int
) -> list[_Candidate]:
    """So many of them, the first from each of as many equal parts of the sources."""
    position = {entry: at for at, entry in enumerate(sources)}

    def part(one: _Candidate) -> int:
        return position[one.span.entry] * number // len(sources)

    drawn = sorted(found, key=lambda one: (one.rank, _draw(one, seed)))
    first: dict[int, _Candidate] = {}
    for one in drawn:
        first.setdefault(part(one), one)
    firsts = [first[at] for at in sorted(first)]
    chosen: list[_Candidate] = []
    for one in (*firsts, *drawn):
        if len(chosen) == number:
            break
        if all(_go_together(one, other) for other in chosen):
            chosen.append(one)
    return chosen


def _draw(one: _Candidate, seed: int) -> bytes:
    """A place in an order by chance that is the same for the same seed."""
    words = f"{seed} {one.span.entry} {one.span.block} {one.span.start} {one.kind} {one.key}"
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _go_together(one: _Candidate, other: _Candidate) -> bool:
    return not (
        one.sentence == other.sentence
        or one.span == other.span
        or (one.kind, one.key) == (other.kind, other.key)
        or stands_in(one.kind, one.answer, other.text)
        or stands_in(other.kind, other.answer, one.text)
    )


# answers ------------------------------------------------------------------------------------------

_DECLINED = re.compile(
    r"(?:i )?(?:do(?:n['’]t| not)|can(?:['’]t|not)|could(?:n['’]t| not)) "
    r"(?:know|recall|remember|tell|say|find|determine)\b|"
    r"^(?:unknown|unclear|none|nothing|n/?a|no idea|not sure|no answer|unsure|\?+|-+|…|"
    + re.escape(BLANK)
    + r")$|\b(?:not|never|nowhere|no longer) (?:\w+ )?(?:known|given|stated|mentioned|recorded|"
    r"available|specified|shown|there|visible|in (?:the|my))\b",
    re.IGNORECASE,
)
_WRAPPED = "`'\"“”‘’*_ \t\r\n"
_VERSION = re.compile(r"\d+(?:\.\w+)*(?:[-+][\w.]+)?")
_HASH_START = 7
"""Characters from which the beginning of a hash names it."""


def check_answer(kind: FactKind, answer: str, given: str) -> Recall:
    """Whether what was given is the answer. Case, quotes, ``./``, evened units, a shortened hash
    and a longer or shorter absolute path count as the same; the first line is taken."""
    line = next((one for one in given.strip().splitlines() if one.strip()), "")
    bare = line.strip(_WRAPPED).rstrip(".;,") if line.strip() not in ("", "/") else line.strip()
    bare = bare.strip(_WRAPPED)
    if not bare or _DECLINED.search(bare):
        return Recall.MISSED
    if is_same(kind, answer, bare):
        return Recall.RIGHT
    # Words around the value are no mistake; a second value beside it is.
    stated = {
        one.key: one.text
        for one in scan_text(line, Speaker.USER).items
        if one.kind is kind and kind is not FactKind.COMMAND
    }
    if len(stated) == 1 and is_same(kind, answer, *stated.values()):
        return Recall.RIGHT
    return Recall.WRONG


def is_same(kind: FactKind, answer: str, given: str) -> bool:
    """Whether two texts state the same fact of a kind."""
    match kind:
        case FactKind.NUMBER:
            return _is_same_figure(answer, given)
        case FactKind.PATH:
            one, other = path_key(answer), path_key(given)
            return one == other or _is_end_of(one, other) or _is_end_of(other, one)
        case FactKind.VERSION:
            found = [_VERSION.findall(text) for text in (answer, given)]
            return bool(found[0]) and found[0] == found[1]
        case FactKind.HASH:
            one, other = answer.lower(), given.lower()
            shorter = min(len(one), len(other))
            return one == other or (
                shorter >= _HASH_START and one[:shorter] == other[:shorter] and "-" not in one
            )
        case FactKind.URL:
            return answer.rstrip("/").lower() == given.rstrip("/").lower()
        case FactKind.SYMBOL:
            return _symbol(answer) == _symbol(given)
    return statement_key(answer.removeprefix("$ ")) == statement_key(given.removeprefix("$ "))


def _is_same_figure(answer: str, given: str) -> bool:
    one, other = figure(answer), figure(given)
    if one is None or other is None:
        return False
    if one.key == other.key:
        return len(_DIGITS.findall(given)) == len(_DIGITS.findall(answer))
    # Without its unit a count is the same; a time or a size may be another.
    is_bare = _DIGITS.fullmatch(given) is not None
    return is_bare and one.family not in ("time", "size") and value_key(answer) == value_key(given)


def _is_end_of(end: str, whole: str) -> bool:
    """Whether an absolute path ends with a relative one of two parts or more."""
    return "/" in end.strip("/") and whole.endswith(f"/{end}") and not end.startswith("/")


def _symbol(text: str) -> str:
    return text.strip("`").removesuffix("()").lower()


_ANSWER = re.compile(r"^[\s>*_#`-]*(?P<id>[A-Za-z]\w*?)[*_`]*\s*[:.)][*_`]*[ \t]*", re.MULTILINE)


def answers_in(text: str, ids: Collection[str]) -> dict[str, str]:
    """The answers in a reply whose lines begin with ``ID:``, by id; those that are there. An
    answer goes to the next id; of two under one id the first counts."""
    by_name = {one.lower(): one for one in ids}
    starts = [found for found in _ANSWER.finditer(text) if found["id"].lower() in by_name]
    answers: dict[str, str] = {}
    for at, found in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        answers.setdefault(by_name[found["id"].lower()], text[found.end() : end].strip())
    return answers


def question_lines(questions: Iterable[ClozeQuestion]) -> str:
    """Cloze questions as they are sent, one a line."""
    return "\n".join(f"{one.id} ({ASKED_KINDS[one.kind]}): {one.text}" for one in questions)


# open questions -----------------------------------------------------------------------------------

OPEN_QUESTIONS = {
    "recall": "What did the person ask for, and which rules and limits did they set?",
    "files": "Which files were changed in this work so far?",
    "next": "What is to be done next?",
    "why": "Which decisions were made, and for what reasons?",
}
"""By id: recall, files, next step, why."""


def open_questions(facts: Facts, changed: Iterable[tuple[str, int]]) -> tuple[OpenQuestion, ...]:
    """The open questions on what was summarized; without those of which the record says nothing
    that an answer could be graded by. ``changed``: files with the last entry that changed each."""
    request = (facts.request,) if facts.request is not None else ()
    points = {
        "recall": _points((*facts.of(FactKind.REQUEST), *facts.of(FactKind.CONSTRAINT))),
        "files": tuple(Point(path, entry) for path, entry in changed)[-_MOST_POINTS:],
        "next": _points((*facts.of(FactKind.TODO), *request)),
        "why": _points(facts.of(FactKind.DECISION)),
    }
    return tuple(
        OpenQuestion(name, text, points[name])
        for name, text in OPEN_QUESTIONS.items()
        if points[name]
    )


def _points(facts: Sequence[Fact]) -> tuple[Point, ...]:
    """What holds still, the newest last."""
    holding = {fact.key: Point(fact.text, fact.last) for fact in facts if not fact.stale}
    return tuple(sorted(holding.values(), key=lambda one: one.entry)[-_MOST_POINTS:])


_GRADE = re.compile(r"\s*(?P<score>\d)\b(?:\s*(?:/|of)\s*\d+)?[\s.,:;*–—-]*")


def grades_in(text: str, ids: Collection[str]) -> dict[str, Grade]:
    """The grades in a judge's reply of lines ``ID: GRADE reason``; those that can be read."""
    grades = {}
    for name, line in answers_in(text, ids).items():
        found = _GRADE.match(line)
        if found and int(found["score"]) <= HIGHEST_GRADE:
            grades[name] = Grade(int(found["score"]), " ".join(line[found.end() :].split()))
    return grades
