"""What became of the facts of a summarized range, and what a summary adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from explorer.facts import Fact, FactKind


class Fate(StrEnum):
    """What became of a fact; the last three are of what the summary states."""

    KEPT = "kept"
    """Verbatim in the kept tail."""
    EXACT = "exact"
    """In the summary, letter for letter."""
    NORMALIZED = "normalized"
    """In the summary, spelled otherwise: case, spaces, ``1.5k`` for ``1,500``, a unique file
    name for its path; a statement in other words."""
    RECOVERABLE = "recoverable"
    """Not in the summary, which names a transcript that the model can read it from."""
    LOST = "lost"
    """Nowhere in what the model sees next. The log still has it."""
    INVENTED = "invented"
    """The summary states it, and none of its sources does."""
    MUTATED = "mutated"
    """The summary states it with another value than its source."""
    STALE = "stale"
    """The summary states it as current; the user changed it later."""


SURVIVED = frozenset({Fate.KEPT, Fate.EXACT, Fate.NORMALIZED})
"""Fates of facts that the model still sees. An upper bound of what it will recall."""
STATED_WRONGLY = frozenset({Fate.INVENTED, Fate.MUTATED, Fate.STALE})


class SummaryPlace(NamedTuple):
    """A stretch of a summary, in UTF-16 units of its text."""

    part: int
    """Which of the parts that the summary was given in."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact and its fate.

    Of ``INVENTED``, ``MUTATED`` and ``STALE`` the fact is what the summary says, and its
    ``sources`` and ``spans`` are those of ``source``, empty where there is none.
    """

    fact: Fact
    fate: Fate
    places: tuple[SummaryPlace, ...] = ()
    """Where the summary says it; empty when it does not."""
    source: Fact | None = None
    """Of ``MUTATED`` and ``STALE``: what the sources say."""
    note: str = ""
    """A sentence that tells why, in plain words."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """One kind of facts in the survival table. Stale facts are not counted: they may go."""

    kind: FactKind
    counts: Mapping[Fate, int]

    @property
    def total(self) -> int:
        """Facts of the kind that were summarized."""
        return sum(n for fate, n in self.counts.items() if fate not in STATED_WRONGLY)

    @property
    def survived(self) -> int:
        """Those that the model still sees."""
        return sum(n for fate, n in self.counts.items() if fate in SURVIVED)

    @property
    def rate(self) -> float:
        """The share that survived, 0 to 1; 1 where there was nothing."""
        return self.survived / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class SectionCheck:
    """One heading that the summary's form asks for."""

    name: str
    count: int
    """How often it is there: 1 is right."""
    required: bool = True


@dataclass(frozen=True, slots=True)
class FileNamed:
    """A file that tool calls changed, or that the summary says was changed."""

    path: str
    called: tuple[int, ...]
    """Entries whose calls changed it; empty when no call of the range did."""
    places: tuple[SummaryPlace, ...]
    """Where the summary names it; empty when it does not."""
    stated: bool = False
    """Whether the compaction's list of changed files has it."""

    @property
    def right(self) -> bool:
        """Whether summary and calls agree."""
        return bool(self.called) == (self.stated or bool(self.places))


@dataclass(frozen=True, slots=True)
class RecencyBand:
    """A stretch of the summarized range, the oldest first, and what survived of it."""

    first: int
    """Index of its first entry."""
    last: int
    total: int
    survived: int

    @property
    def rate(self) -> float:
        """The share that survived, 0 to 1; 1 where there was nothing."""
        return self.survived / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class RequestCheck:
    """Whether the latest request is still seen."""

    fact: Fact
    fate: Fate
    overlap: float
    """Share of its telling words that the summary or the kept tail has, 0 to 1."""
    places: tuple[SummaryPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How true a summary is to what it took the place of."""

    findings: tuple[Finding, ...] = ()
    """Every fact of the summarized range, then what the summary states wrongly."""
    kinds: tuple[KindRow, ...] = ()
    """One row per kind of which there is anything."""
    sections: tuple[SectionCheck, ...] = ()
    request: RequestCheck | None = None
    """None where the range and the tail hold no request."""
    files: tuple[FileNamed, ...] = ()
    recency: tuple[RecencyBand, ...] = ()
    tokens_before: int = 0
    """Tokens of what was summarized, on the metric of the caller."""
    tokens_after: int = 0
    """Tokens of the summary."""
    counts: Mapping[Fate, int] = field(default_factory=dict)
    is_readable: bool = True
    """False: the summary's text cannot be read, and nothing is counted."""

    @property
    def ratio(self) -> float:
        """The summary's size against what it took the place of; 0 where that is nothing."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    @property
    def survival(self) -> float:
        """The share of all facts that the model still sees, 0 to 1: an upper bound of what it
        will recall."""
        total = sum(row.total for row in self.kinds)
        return sum(row.survived for row in self.kinds) / total if total else 1.0

    def of(self, *fates: Fate) -> tuple[Finding, ...]:
        """The findings with one of these fates."""
        return tuple(finding for finding in self.findings if finding.fate in fates)

    def row(self, kind: FactKind) -> KindRow:
        """The row of a kind; an empty one where there is none."""
        return next((row for row in self.kinds if row.kind is kind), KindRow(kind, {}))
