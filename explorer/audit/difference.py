"""Summaries beside each other: aligned by section, their words marked, their findings side by side;
and those of one session after each other: what each one added, dropped and changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from explorer.audit.findings import Fidelity, Finding, Group
from explorer.facts import Fact, FactKind, extract
from explorer.session.entries import CompactionSummary, Entry
from explorer.session.text_difference import DifferencePiece, word_differences

BEFORE = "Before the first heading"
"""What the text is called that stands before any heading."""

_MARKDOWN = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_BOLD = re.compile(r"^ {0,3}\*\*([^*\n]{2,80}?):?\*\*[ \t]*:?[ \t]*$")
_NUMBERED = re.compile(
    r"^ {0,3}(?:\*\*)?\d{1,2}[.)][ \t]*(?:\*\*)?([A-Z][^:*\n]{2,60}?)(?::\*\*|\*\*:?|:)[ \t]*$"
)
_OPEN = re.compile(r"^ {0,3}<([a-z][a-z-]*files)>[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_RULE = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
_NUMBER = re.compile(r"^\d{1,2}[.)][ \t]*")
_LETTERS = re.compile(r"[^\w]+", re.UNICODE)
_BOLD_LEVEL = 7


class SummarySection(Struct, frozen=True):
    """A stretch of a summary below one heading. Offsets are characters of the summary."""

    title: str
    """The heading without its marks, behind those that it stands under; ``BEFORE`` of what stands
    before any."""
    path: str
    """The headings that it stands under and its own, evened out: equal where two summaries mean
    the same section."""
    level: int
    """1 to 6 as Markdown counts, 7 for a bold line (1 below a rule), 0 before any heading."""
    start: int
    """Where its heading begins."""
    body: int
    """Where its text begins."""
    end: int
    text: str
    """The text below the heading, without blank lines and rules around it."""

    @property
    def key(self) -> str:
        """The heading alone, evened out."""
        return self.path.rpartition("/")[2]


def title_key(title: str) -> str:
    """A heading without case, numbers, marks and the word "and"."""
    words = _LETTERS.sub(" ", _NUMBER.sub("", title.replace("&amp;", " "))).lower().split()
    return " ".join(word for word in words if word != "and")


def sections_of(text: str) -> tuple[SummarySection, ...]:
    """The sections of a summary in order; one without a heading where it has none.

    A heading over other headings and without text is no section.
    """
    found: list[SummarySection] = []
    above: list[tuple[int, str, str]] = []
    title, path, level, start, body = BEFORE, "", 0, 0, 0
    for at, after, heading_level, heading_title in (
        *_headings(text),
        (len(text), len(text), -1, ""),
    ):
        section = SummarySection(title, path, level, start, body, at, _bare(text[body:at]))
        if section.text or (level and heading_level <= level):
            found.append(section)
        if heading_level < 0:
            break
        while above and above[-1][0] >= heading_level:
            above.pop()
        above.append((heading_level, title_key(heading_title), heading_title))
        title = " › ".join(words for _, _, words in above)
        path = "/".join(name for _, name, _ in above)
        level, start, body = heading_level, at, after
    return tuple(found)


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Where a heading begins and ends, its level and its words."""
    numbered = re.search(r"^ {0,3}#{1,6}[ \t]", text, re.MULTILINE) is None
    fence, at, below_rule = "", 0, False
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip("\r\n")
        if mark := _FENCE.match(bare):
            fence = "" if fence == mark.group(1) else fence or mark.group(1)
            continue
        if fence:
            continue
        if match := _MARKDOWN.match(bare):
            yield start, at, len(match.group(1)), _words(match.group(2))
        elif numbered and (match := _NUMBERED.match(bare)):
            yield start, at, 1, _words(match.group(1))
        elif match := _BOLD.match(bare):
            # Below a rule begins another part with separate headings: the split turn.
            yield start, at, 1 if below_rule else _BOLD_LEVEL, _words(match.group(1))
        elif match := _OPEN.match(bare):
            yield start, at, 1, match.group(1).replace("-", " ").capitalize()
        if bare.strip():
            below_rule = _RULE.match(bare) is not None


def _words(heading: str) -> str:
    return heading.strip().strip("*_ ").removesuffix(":").strip()


def _bare(text: str) -> str:
    lines = [
        line for line in text.splitlines() if not re.match(r"^ {0,3}</[a-z-]*files>[ \t]*$", line)
    ]
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    while lines and (not lines[0].strip() or _RULE.match(lines[0])):
        lines.pop(0)
    return "\n".join(lines)


class Candidate(Struct, frozen=True):
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


class SectionCell(Struct, frozen=True):
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


class SectionRow(Struct, frozen=True):
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


class FindingRow(Struct, frozen=True):
    """A finding that not all summaries have."""

    findings: tuple[Finding | None, ...]
    """One per candidate; None where it has none."""

    @property
    def first(self) -> Finding:
        """The finding, of the first candidate that has it."""
        return next(finding for finding in self.findings if finding is not None)

    def has(self, at: int) -> bool:
        """Whether it is found of a candidate."""
        return self.findings[at] is not None


class Difference(Struct, frozen=True):
    """Summaries side by side; the reference is the one that the others are compared with."""

    candidates: tuple[Candidate, ...]
    reference: int
    sections: tuple[SectionRow, ...]
    findings: tuple[FindingRow, ...]
    """Those of some candidates and not of all, by their groups."""
    settings: tuple[tuple[str, tuple[str, ...]], ...]
    """What they were made with, name by name, one value per candidate; empty for unknown."""
    shared: int = 0
    """How many findings all of them have."""

    @property
    def is_unmarked(self) -> bool:
        """Whether they have no heading in common, and hardly a word."""
        return [row.title for row in self.sections] == [WHOLE]

    @property
    def not_audited(self) -> tuple[Candidate, ...]:
        """The candidates whose requests are not known: no findings are compared then."""
        return tuple(candidate for candidate in self.candidates if candidate.fidelity is None)

    @property
    def settings_apart(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The settings that differ between candidates."""
        return tuple((name, values) for name, values in self.settings if len(set(values)) > 1)


def difference(candidates: Sequence[Candidate], reference: int = 0) -> Difference:
    """Compare summaries. Raises ValueError for fewer than two, and for a reference that is none."""
    if len(candidates) < 2:
        raise ValueError("Two summaries at least are needed for a comparison.")
    if not 0 <= reference < len(candidates):
        raise ValueError(f"There is no candidate {reference}.")
    found = _findings(candidates)
    apart = tuple(row for row in found if None in row.findings)
    return Difference(
        tuple(candidates),
        reference,
        align([candidate.summary for candidate in candidates], reference),
        apart,
        _settings(candidates),
        len(found) - len(apart),
    )


def shown_alone(candidate: Candidate) -> Difference:
    """A summary with nothing beside it: its sections, unmarked."""
    return Difference((candidate,), 0, align([candidate.summary]), (), ())


# sections -----------------------------------------------------------------------------------------


APART = "The whole text: they have no heading in common"
WHOLE = "The whole text"
"""The same, unmarked."""
_MOSTLY = 0.75
"""The share of a whole text beyond which marks of what differs tell nothing."""


def align(summaries: Sequence[str], reference: int = 0) -> tuple[SectionRow, ...]:
    """The sections of summaries, matched by their headings: in the reference's order, what only
    others have behind what it follows there. Without a heading in common they are one row."""
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
    if len(rows) > 1 and len(summaries) > 1 and all(len(row) == 1 for row in rows):
        whole = [SummarySection(APART, "", 0, 0, 0, len(text), text.strip()) for text in summaries]
        row = _row({at: (one, 1) for at, one in enumerate(whole)}, len(whole), reference)
        return (_unmarked(row) if _is_mostly_marked(row) else row,)
    return tuple(_row(row, len(summaries), reference) for row in rows)


def _is_mostly_marked(row: SectionRow) -> bool:
    pieces = [piece for cell in row.cells if cell is not None for piece in cell.pieces]
    marked = sum(len(piece.text) for piece in pieces if piece.differs)
    return marked > _MOSTLY * sum(len(piece.text) for piece in pieces)


def _unmarked(row: SectionRow) -> SectionRow:
    cells = tuple(
        cell and SectionCell((DifferencePiece(cell.text, differs=False),), cell.times)
        for cell in row.cells
    )
    return SectionRow(WHOLE, cells)


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
        # A text beside none differs from none.
        flags = alone if alone is not None else [len(texts) > 1] * len(base)
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


# findings -----------------------------------------------------------------------------------------


def _findings(candidates: Sequence[Candidate]) -> list[FindingRow]:
    """What was found of any candidate. Nothing where one of them was not audited: what is not
    known is not compared."""
    rows: dict[tuple[Group, FactKind, str], list[Finding | None]] = {}
    if any(one.fidelity is None for one in candidates):
        return []
    for at, candidate in enumerate(candidates):
        for finding in candidate.fidelity.findings if candidate.fidelity else ():
            row = rows.setdefault(finding.key, [None] * len(candidates))
            row[at] = row[at] or finding
    order = list(Group)
    found = [FindingRow(tuple(row)) for row in rows.values()]
    return sorted(found, key=lambda row: order.index(row.first.group))


def _settings(candidates: Sequence[Candidate]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    names = dict.fromkeys(name for candidate in candidates for name in candidate.settings)
    return tuple(
        (name, tuple(candidate.settings.get(name, "") for candidate in candidates))
        for name in names
    )


class SectionDrift(Struct, frozen=True):
    """A section from one summary to the next."""

    row: SectionRow
    """The earlier one's cell first, the later one's second."""

    @property
    def change(self) -> str:
        """``added``, ``dropped``, ``changed`` or ``same``."""
        before, after = self.row.cells
        if before is None:
            return "added"
        if after is None:
            return "dropped"
        return "same" if self.row.is_equal else "changed"


class DriftStep(Struct, frozen=True):
    """From one summary to the next."""

    earlier: Candidate
    later: Candidate
    sections: tuple[SectionDrift, ...]
    added: tuple[Fact, ...]
    """Facts that only the later summary has."""
    dropped: tuple[Fact, ...]
    """Facts that only the earlier summary has."""
    kept: int
    """Facts that both have."""

    def count(self, kind: FactKind) -> tuple[int, int]:
        """How many facts of a kind were added and dropped."""
        return (
            sum(fact.kind is kind for fact in self.added),
            sum(fact.kind is kind for fact in self.dropped),
        )


class Drift(Struct, frozen=True):
    """Summaries in the order in which they were made, and the way from each to the next."""

    summaries: tuple[Candidate, ...]
    steps: tuple[DriftStep, ...]
    """One fewer than the summaries."""


def drift(summaries: Sequence[Candidate]) -> Drift:
    """How summaries of one session drift; of fewer than two there are no steps."""
    facts = [_facts_of(summary.summary) for summary in summaries]
    steps = tuple(
        _step(summaries[at], summaries[at + 1], facts[at], facts[at + 1])
        for at in range(len(summaries) - 1)
    )
    return Drift(tuple(summaries), steps)


_Keyed = dict[tuple[FactKind, str], Fact]


def _facts_of(summary: str) -> _Keyed:
    facts = extract([Entry.of(CompactionSummary(summary))])
    return {(fact.kind, fact.key): fact for fact in facts}


def _step(earlier: Candidate, later: Candidate, before: _Keyed, after: _Keyed) -> DriftStep:
    return DriftStep(
        earlier,
        later,
        tuple(SectionDrift(row) for row in align([earlier.summary, later.summary])),
        tuple(fact for key, fact in after.items() if key not in before),
        tuple(fact for key, fact in before.items() if key not in after),
        len(before.keys() & after.keys()),
    )
