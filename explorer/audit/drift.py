"""The summaries of one session after each other: what each one added, dropped and changed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from explorer.audit.difference import Candidate, SectionRow, align
from explorer.facts import Fact, FactKind, extract
from explorer.session.entries import CompactionSummary, Entry


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
