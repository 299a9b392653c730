"""The text of a summary, in one part or several: finding facts and sentences in it, and what is
wrong with it as it stands, without looking at what it was made from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

from msgspec import Struct

from explorer.audit.findings import LossKind, Severity, SummaryPlace
from explorer.audit.provenance import Known, Provenance
from explorer.compaction.profile import Profile
from explorer.compaction.summary import Form, check_answer, form_of, strip_files
from explorer.facts import FactKind, Mention
from explorer.facts.entry_texts import Speaker
from explorer.facts.fact_table import scan_text
from explorer.facts.figures import Figure, figures_in
from explorer.facts.statements import denies_or_forbids
from explorer.facts.summary_notes import without_notes
from explorer.facts.text import sentences, terms, units, wide_places
from explorer.session.entries import CompactionSummary, Entry
from explorer.session.text import as_prose

_RUN = re.compile(r"\s+|[^\s`*_\"“”'‘’]+")
"""Blanks, or a run of other characters between marks of emphasis and quotes."""


_LOOKS = 10_000
"""Occurrences of a text in one part that are examined; within longer words they do not count."""
_PLACES = 100
"""Occurrences of a text in one part that are returned."""


class SummaryLine(Struct, frozen=True):
    """A sentence or item of a summary; offsets in characters of its part."""

    part: int
    text: str
    start: int
    end: int
    terms: frozenset[str]
    figures: tuple[Figure, ...]
    under: str
    """The heading above it, as written."""

    @property
    def denies(self) -> bool:
        """Whether it has a negation."""
        return denies_or_forbids(self.text)


class SummaryText:
    """One summary, in one part or several; places are in UTF-16 units."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = tuple(map(without_notes, parts))
        self.items: list[tuple[int, Mention]] = []
        """The facts in it, each with the number of its part."""
        self.lines: list[SummaryLine] = []
        self.mentions: set[str] = set()
        self._wide = tuple(map(wide_places, self.parts))
        self._flat: list[tuple[str, list[int]]] = []
        self._line_places: list[SummaryPlace] = []
        self._by_term: dict[str, list[int]] = defaultdict(list)
        for number, part in enumerate(self.parts):
            scanned = scan_text(part, Speaker.SUMMARY)
            self.items += [(number, item) for item in scanned.items]
            self.mentions.update(scanned.mentions)
            self.lines += _lines(as_prose(part), number)
            self._flat.append(_flattened(part))
        for at, line in enumerate(self.lines):
            for term in line.terms:
                self._by_term[term].append(at)

    def exact(self, text: str) -> tuple[SummaryPlace, ...]:
        """Where a text occurs exactly, not within a longer word."""
        return tuple(
            self._place(number, start, start + len(text))
            for number, part in enumerate(self.parts)
            for start in islice(_alone(part, text), _PLACES)
        )

    def flat(self, key: str) -> tuple[SummaryPlace, ...]:
        """Where a text stands, whatever its case, quotes and blanks. ``key``: ``statement_key``."""
        found = []
        if len(key) < 3:
            return ()
        for number, (text, offsets) in enumerate(self._flat):
            found += [
                self._place(number, offsets[at], offsets[at + len(key) - 1] + 1)
                for at in islice(_alone(text, key), _PLACES)
            ]
        return tuple(found)

    def of(self, kind: FactKind) -> Iterator[tuple[Mention, SummaryPlace]]:
        """Its facts of one kind, with their places."""
        for number, item in self.items:
            if item.kind is kind:
                yield item, SummaryPlace(number, item.start, item.end)

    def nearest(
        self, wanted: frozenset[str], least: float = 0.5
    ) -> list[tuple[float, SummaryLine]]:
        """The lines with at least this share of the terms, best first, each with its share."""
        if not wanted:
            return []
        counts: Counter[int] = Counter()
        for term in wanted:
            counts.update(self._by_term.get(term, ()))
        close = [
            (shared / len(wanted), self.lines[at])
            for at, shared in counts.items()
            if shared / len(wanted) >= least
        ]
        return sorted(close, key=lambda one: (-one[0], one[1].part, one[1].start))

    def place(self, line: SummaryLine) -> SummaryPlace:
        """The place of a line."""
        return self._place(line.part, line.start, line.end)

    def is_one_item(self, line: SummaryLine, after: SummaryLine) -> bool:
        """Whether a line and the next stand in one item or paragraph."""
        return line.part == after.part and "\n" not in self.parts[line.part][line.end : after.start]

    def line_at(self, place: SummaryPlace) -> SummaryLine | None:
        """The line that contains a place; None outside all lines."""
        if not self._line_places:
            self._line_places = [self.place(line) for line in self.lines]
        before = bisect_right(self._line_places, (place.part, place.start, inf)) - 1
        if before < 0:
            return None
        at = self._line_places[before]
        same_line = at.part == place.part and at.start <= place.start < at.end
        return self.lines[before] if same_line else None

    def _place(self, number: int, start: int, end: int) -> SummaryPlace:
        wide = self._wide[number]
        return SummaryPlace(number, units(start, wide), units(end, wide))


_HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|\*\*)(.+?)\**:?[ \t]*$", re.MULTILINE)


def _lines(part: str, number: int) -> list[SummaryLine]:
    headings = [(found.start(), found.group(1)) for found in _HEADING.finditer(part)]
    out = []
    at, under = 0, ""
    for sentence in sentences(part, []):
        while at < len(headings) and headings[at][0] <= sentence.start:
            under = headings[at][1]
            at += 1
        out.append(
            SummaryLine(
                number,
                sentence.text,
                sentence.start,
                sentence.end,
                terms(sentence.text),
                figures_in(sentence.text),
                under,
            )
        )
    return out


def _alone(text: str, wanted: str) -> Iterator[int]:
    if not wanted:
        return
    at = text.find(wanted)
    for _ in range(_LOOKS):
        if at < 0:
            return
        end = at + len(wanted)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        joined = (_is_word(before) and _is_word(wanted[0])) or (
            _is_word(after) and _is_word(wanted[-1])
        )
        longer = wanted[-1].isdigit() and after in (".", ",") and text[end + 1 : end + 2].isdigit()
        longer = longer or (
            wanted[0].isdigit()
            and before in (".", ",")
            and at > 1
            and text[at - 2 : at - 1].isdigit()
        )
        if not joined and not longer:
            yield at
        at = text.find(wanted, at + 1)


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _flattened(part: str) -> tuple[str, list[int]]:
    """The text as ``statement_key`` normalises it, and each character's original offset."""
    pieces: list[str] = []
    offsets: list[int] = []
    last = " "
    for run in _RUN.finditer(part):
        start, letters = run.start(), run.group()
        if letters[0].isspace():
            if last != " ":
                pieces.append(" ")
                offsets.append(start)
                last = " "
            continue
        low = letters.lower()
        if len(low) == len(letters) and "Σ" not in letters:
            offsets += range(start, run.end())
        else:
            # Letter by letter: some become two, and one depends on what follows.
            low = "".join(map(str.lower, letters))
            for at, letter in enumerate(letters, start):
                offsets += [at] * len(letter.lower())
        pieces.append(low)
        last = low[-1]
    return "".join(pieces), offsets


_MARKED_HEADING = re.compile(
    r"^ {0,3}(#{1,6})[ \t]+(?:\d{1,2}[.)][ \t]*)?\**(.+?)\**:?[ \t]*#*$", re.MULTILINE
)
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_RECORDED = Known(Provenance.EXACT, "The summary is recorded as it is.")


class SummaryFault(NamedTuple):
    """One fault of a summary."""

    kind: LossKind
    severity: Severity
    cause: str
    prevention: str
    known: Known


def summary_faults(entry: Entry, at: int, profile: Profile) -> Iterator[SummaryFault]:
    """What is wrong with the compaction entry of index ``at`` by what it records: it is empty, says
    that it failed, looks cut short, or repeats itself (E4, E5, E14, E20)."""
    text = entry.summary
    if isinstance(entry.body, CompactionSummary) and (failure := entry.body.failure):
        yield SummaryFault(
            LossKind.FAILED_APPLIED, Severity.LOST if not text.strip() else Severity.RISK,
            f"Compaction #{at} records a failure ({failure}), and its summary is in force all the "
            "same: what it took the place of is no longer sent.",
            "A compaction that failed leaves the session as it was.", _RECORDED,
        )  # fmt: skip
    if not text.strip():
        yield SummaryFault(
            LossKind.EMPTY_SUMMARY, Severity.LOST,
            f"The summary of compaction #{at} is empty: all that it took the place of is in "
            "nothing that the model sees.",
            "A check of the answer before it is stored.", _RECORDED,
        )  # fmt: skip
        return
    text = strip_files(text).strip()
    if (missing := _cut_short(text, form_of(profile, "history"))) is not None:
        yield SummaryFault(
            LossKind.CUT_SHORT, Severity.RISK,
            f"The summary of compaction #{at} ends before its form does: {missing}. The model may "
            "have reached its length limit.",
            "A check that an answer has all its sections and did not stop for its length.",
            Known(Provenance.INFERRED, "Why the model stopped is not recorded."),
        )  # fmt: skip
    repeated = [
        one.message
        for one in check_answer(text, "stop", form=form_of(profile, "history"))
        if one.code == "repeated"
    ]
    if repeated:
        yield SummaryFault(
            LossKind.REPEATED_SECTIONS, Severity.RISK,
            f"In the summary of compaction #{at} headings stand twice. {repeated[0]} What holds "
            "now and what held before cannot be distinguished.",
            "A check of the headings before a summary is stored.", _RECORDED,
        )  # fmt: skip


def _has_other_sections(text: str, form: Form) -> bool:
    """Whether a heading beside the form's sections, or above them, is none of the form's: releases
    of an agent word their headings otherwise, and what they ask for last cannot be known."""
    known = {name.lower() for name in (*form.required, *form.allowed)}
    headings = [(len(marks), name.lower()) for marks, name in _MARKED_HEADING.findall(text)]
    level = max((depth for depth, name in headings if name in known), default=0)
    return any(depth <= level and name not in known for depth, name in headings)


def _cut_short(text: str, form: Form) -> str | None:
    """What is missing at the end of a summary that has its form's first sections; None when it
    is whole, or of another form altogether."""
    if len(_FENCE.findall(text)) % 2:
        return "a block of code is not closed"
    there = [not check_answer(text, "stop", form=Form((name,))) for name in form.required]
    if not any(there) or all(there) or _has_other_sections(text, form):
        return None
    last = max(at for at, is_there in enumerate(there) if is_there)
    missing = form.required[last + 1 :]
    if not missing or (not all(there[: last + 1]) and last < 1):
        return None
    names = ", ".join(missing)
    return f"{names} {'is' if len(missing) == 1 else 'are'} missing"
