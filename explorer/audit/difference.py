"""Summaries of one place: aligned by section, their words marked, facts won and lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer.audit.findings import STATED_WRONGLY, SURVIVED, Fate, Fidelity, Finding
from explorer.audit.sections import SummarySection, sections_of
from explorer.audit.severity import severity
from explorer.facts import Fact, FactKind
from explorer.session.text_difference import DifferencePiece, word_differences


@dataclass(frozen=True, slots=True)
class Candidate:
    """A summary that is compared, with what is known of how it came to be."""

    name: str
    summary: str
    tokens: int = -1
    """Of the summary; -1 when it was not counted."""
    tokens_after: int = -1
    """Of the context with it; -1 when that is not known."""
    cost: float | None = None
    """Dollars; None when no price is known."""
    elapsed_ms: float = 0.0
    """How long it took; 0 when that was not recorded."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What it was made with, by name, in words."""
    fidelity: Fidelity | None = None
    """None where it was not audited."""
    kept: frozenset[int] = frozenset()
    """The entries that the compaction keeps verbatim."""


@dataclass(frozen=True, slots=True)
class SectionCell:
    """What one summary has in a section."""

    pieces: tuple[DifferencePiece, ...]
    """Its text; ``differs`` where the reference does not state it. Of the reference: where nobody
    else has."""
    times: int
    """How often the summary has this heading: 1 is right."""

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class SectionRow:
    """One section across all summaries."""

    title: str
    cells: tuple[SectionCell | None, ...]
    """One per candidate; None where it has no such section."""

    @property
    def is_equal(self) -> bool:
        """Whether all say the same."""
        texts = {None if cell is None else " ".join(cell.text.split()) for cell in self.cells}
        return len(texts) == 1

    @property
    def missing(self) -> tuple[int, ...]:
        """Candidates that lack it."""
        return tuple(at for at, cell in enumerate(self.cells) if cell is None)

    @property
    def repeated(self) -> tuple[int, ...]:
        """Candidates that have its heading more than once."""
        return tuple(at for at, cell in enumerate(self.cells) if cell and cell.times > 1)


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact that does not fare alike in all summaries."""

    fact: Fact
    fates: tuple[Fate | None, ...]
    """One per candidate. None where it is not compared with the others: it was summarized before,
    or did not exist yet. Of what a summary states wrongly: None where another one does not."""
    findings: tuple[Finding | None, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether it is what a summary states wrongly, and not what was summarized."""
        return any(fate in STATED_WRONGLY for fate in self.fates)

    def survives(self, at: int) -> bool | None:
        """Whether the model still sees it rightly with a candidate; None where that was not asked
        of it: its compaction was made at another place."""
        fate = self.fates[at]
        if fate is None:
            return True if self.is_wrong else None
        return fate in SURVIVED

    def won(self, at: int, reference: int = 0) -> bool:
        """Whether a candidate has it where the reference has not."""
        return self.survives(at) is True and self.survives(reference) is False

    def lost(self, at: int, reference: int = 0) -> bool:
        """Whether a candidate has lost it where the reference has it."""
        return self.won(reference, at)


@dataclass(frozen=True, slots=True)
class Difference:
    """Summaries side by side; the reference is the one that the others are compared with."""

    candidates: tuple[Candidate, ...]
    reference: int
    sections: tuple[SectionRow, ...]
    facts: tuple[FactRow, ...]
    """Those that fare otherwise in one than in another, the most severe first."""
    settings: tuple[tuple[str, tuple[str, ...]], ...]
    """What they were made with, name by name, one value per candidate; empty for unknown."""
    asked_alike: int = 0
    """How many facts are asked of two of them or more."""

    @property
    def not_audited(self) -> tuple[Candidate, ...]:
        """Those whose requests are not known: then no facts are compared."""
        return tuple(candidate for candidate in self.candidates if candidate.fidelity is None)

    def won(self, at: int) -> tuple[FactRow, ...]:
        """What a candidate has and the reference lacks."""
        return tuple(row for row in self.facts if row.won(at, self.reference))

    def lost(self, at: int) -> tuple[FactRow, ...]:
        """What a candidate lacks and the reference has."""
        return tuple(row for row in self.facts if row.lost(at, self.reference))

    @property
    def settings_apart(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Those settings that are not the same for all."""
        return tuple((name, values) for name, values in self.settings if len(set(values)) > 1)


def difference(candidates: Sequence[Candidate], reference: int = 0) -> Difference:
    """Compare summaries. Raises ValueError for fewer than two, and for a reference that is none."""
    if len(candidates) < 2:
        raise ValueError("Two summaries at least are needed for a comparison.")
    if not 0 <= reference < len(candidates):
        raise ValueError(f"There is no candidate {reference}.")
    asked = _asked(candidates)
    return Difference(
        tuple(candidates),
        reference,
        align([candidate.summary for candidate in candidates], reference),
        _facts(asked, candidates),
        _settings(candidates),
        sum(1 for found in asked.values() if sum(one is not None for one in found) > 1),
    )


# sections -----------------------------------------------------------------------------------------


def align(summaries: Sequence[str], reference: int = 0) -> tuple[SectionRow, ...]:
    """The sections of summaries, matched by their headings: in the reference's order, what only
    others have behind what it follows there."""
    all_of = [_merged(sections_of(summary)) for summary in summaries]
    rows: list[dict[int, tuple[SummarySection, int]]] = []
    order = [reference, *(at for at in range(len(summaries)) if at != reference)]
    for at in order:
        last = -1
        for section, times in all_of[at]:
            found = _matching(rows, at, section)
            if found < 0:
                found = last + 1
                rows.insert(found, {})
            rows[found][at] = (section, times)
            last = found
    return tuple(_row(row, len(summaries), reference) for row in rows)


def _merged(sections: Sequence[SummarySection]) -> list[tuple[SummarySection, int]]:
    """Sections under the same headings put together, with how often the heading is there."""
    found: dict[str, tuple[SummarySection, int]] = {}
    for section in sections:
        if section.path not in found:
            found[section.path] = section, 1
            continue
        first, times = found[section.path]
        text = f"{first.text}\n\n{section.text}".strip()
        merged = SummarySection(
            first.title, first.path, first.level, first.start, first.body, section.end, text
        )
        found[section.path] = merged, times + 1
    return list(found.values())


def _matching(
    rows: Sequence[Mapping[int, tuple[SummarySection, int]]], at: int, wanted: SummarySection
) -> int:
    """The row whose sections stand under the same headings, else under one of the same name."""
    free = [number for number, row in enumerate(rows) if at not in row]
    for number in free:
        if any(section.path == wanted.path for section, _ in rows[number].values()):
            return number
    for number in free:
        if wanted.key and any(one.key == wanted.key for one, _ in rows[number].values()):
            return number
    return -1


def _row(row: Mapping[int, tuple[SummarySection, int]], count: int, reference: int) -> SectionRow:
    title = next(iter(row.values()))[0].title
    texts = {at: section.text for at, (section, _) in row.items()}
    marked = marks([texts.get(at) for at in range(count)], reference)
    return SectionRow(
        title,
        tuple(
            None if pieces is None else SectionCell(pieces, row[at][1])
            for at, pieces in enumerate(marked)
        ),
    )


def marks(texts: Sequence[str | None], reference: int) -> list[tuple[DifferencePiece, ...] | None]:
    """Texts in pieces, marked where the reference does not say it; the reference, where nobody
    else does. None stays None, and is nothing that others could say. Marks of a list and other
    signs alone are no difference."""
    base = texts[reference]
    found: list[tuple[DifferencePiece, ...] | None] = []
    alone: list[bool] | None = None
    for at, text in enumerate(texts):
        if text is None or at == reference:
            found.append(None)
            continue
        mine, theirs = word_differences(base or "", text)
        found.append(_worded(theirs))
        if base is not None:
            differs = [piece.differs for piece in mine for _ in piece.text]
            alone = (
                differs if alone is None else [a and b for a, b in zip(alone, differs, strict=True)]
            )
    if base is not None:
        flags = alone if alone is not None else [True] * len(base)
        found[reference] = _worded(_by_flags(base, flags))
    return found


def _worded(pieces: Sequence[DifferencePiece]) -> tuple[DifferencePiece, ...]:
    """Pieces of which only those with words in them differ."""
    out: list[DifferencePiece] = []
    for piece in pieces:
        differs = piece.differs and any(letter.isalnum() for letter in piece.text)
        if out and out[-1].differs == differs:
            out[-1] = DifferencePiece(out[-1].text + piece.text, differs)
        else:
            out.append(DifferencePiece(piece.text, differs))
    return tuple(out)


def _by_flags(text: str, flags: Sequence[bool]) -> tuple[DifferencePiece, ...]:
    pieces: list[DifferencePiece] = []
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or flags[at] != flags[start]:
            pieces.append(DifferencePiece(text[start:at], flags[start]))
            start = at
    return tuple(pieces)


# facts --------------------------------------------------------------------------------------------

_Key = tuple[FactKind, str, bool]


def _asked(candidates: Sequence[Candidate]) -> dict[_Key, list[Finding | None]]:
    """What was found of each fact in each candidate. Nothing where one of them was not audited:
    what is not known is not compared."""
    by_key: dict[_Key, list[Finding | None]] = {}
    if any(one.fidelity is None for one in candidates):
        return by_key
    for at, candidate in enumerate(candidates):
        for finding in candidate.fidelity.findings if candidate.fidelity else ():
            if finding.fact.stale and finding.fate not in STATED_WRONGLY:
                continue
            key = finding.fact.kind, finding.fact.key, finding.fate in STATED_WRONGLY
            row = by_key.setdefault(key, [None] * len(candidates))
            if row[at] is None:
                row[at] = finding
    return by_key


def _facts(
    by_key: Mapping[_Key, Sequence[Finding | None]], candidates: Sequence[Candidate]
) -> tuple[FactRow, ...]:
    rows = [_fact_row(found, candidates) for found in by_key.values()]
    apart = [
        row for row in rows if {True, False} <= {row.survives(at) for at in range(len(candidates))}
    ]
    return tuple(sorted(apart, key=_grave))


def _fact_row(found: Sequence[Finding | None], candidates: Sequence[Candidate]) -> FactRow:
    first = next(finding for finding in found if finding is not None)
    is_wrong = first.fate in STATED_WRONGLY

    def fate(at: int) -> Fate | None:
        finding = found[at]
        if finding is not None:
            return finding.fate
        is_kept = not is_wrong and not candidates[at].kept.isdisjoint(first.fact.sources)
        return Fate.KEPT if is_kept else None

    return FactRow(first.fact, tuple(fate(at) for at in range(len(found))), tuple(found))


def _grave(row: FactRow) -> tuple[int, int]:
    worst = min(severity(finding) for finding in row.findings if finding is not None)
    return worst, -row.fact.last


def _settings(candidates: Sequence[Candidate]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    names = dict.fromkeys(name for candidate in candidates for name in candidate.settings)
    return tuple(
        (name, tuple(candidate.settings.get(name, "") for candidate in candidates))
        for name in names
    )
