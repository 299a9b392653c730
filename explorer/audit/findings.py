"""What someone who goes on from a summary should know of it: three groups of findings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct, field

from explorer.facts import Fact, FactKind


class Group(StrEnum):
    """What a finding is about, the gravest group first."""

    INSTRUCTION = "standing-instruction"
    """A standing instruction of the user's is in nothing that the model sees."""
    STATE = "open-state"
    """Work under way is not named: the latest request, a failure, changed files, the next step."""
    WRONG = "stated-wrongly"
    """The summary states something otherwise than the record."""


class SummaryPlace(NamedTuple):
    """A stretch of a summary, in UTF-16 units of its text."""

    part: int
    """Which of the parts that the summary was given in."""
    start: int
    end: int


class Finding(Struct, frozen=True):
    """One thing that should have been in a summary, or that it states wrongly."""

    group: Group
    fact: Fact
    """What the record says, with its entries."""
    reason: str
    """Why it is reported, in a sentence."""
    stated: str = ""
    """What the summary says instead; empty where it says nothing."""
    places: tuple[SummaryPlace, ...] = ()
    """Where the summary says it; empty where it does not."""

    @property
    def text(self) -> str:
        """The sentence that is shown first: the summary's where it is wrong, else the record's."""
        return self.stated or self.fact.text

    @property
    def key(self) -> tuple[Group, FactKind, str]:
        """Equal for the same finding in two summaries."""
        return self.group, self.fact.kind, self.fact.key

    @property
    def id(self) -> str:
        """``key`` in a few letters, such as ``open-state:5f0c21d8``, by which a note names it."""
        digest = sha256(f"{self.fact.kind}\n{self.fact.key}".encode("utf-8", "replace"))
        return f"{self.group}:{digest.hexdigest()[:8]}"


class SectionCheck(Struct, frozen=True):
    """One heading that the summary's form asks for."""

    name: str
    count: int
    """How often it is there: 1 is right."""
    required: bool = True


class Fidelity(Struct, frozen=True):
    """How true a summary is to what it took the place of."""

    findings: tuple[Finding, ...] = ()
    """The groups in their order; within a group the newest first."""
    instructions: int = 0
    """Standing instructions of the user's that hold."""
    not_carried: Mapping[FactKind, tuple[Fact, ...]] = field(default_factory=dict)
    """What else is neither in the summary nor in the kept tail, by kind. Most of it need not be:
    it counts in no figure of the audit."""
    sections: tuple[SectionCheck, ...] = ()
    tokens_before: int = 0
    """Tokens of what was summarized, on the metric of the caller."""
    tokens_after: int = 0
    """Tokens of the summary."""
    is_readable: bool = True
    """False: the summary's text cannot be read, and nothing is known of it."""
    kept: int = 0
    """Where it cannot be read: the entries from before it that the context holds word for word."""
    standing: tuple[Fact, ...] = ()
    """The standing instructions that hold, whether they were carried or not."""

    @property
    def ratio(self) -> float:
        """The summary's size against what it took the place of; 0 where that is nothing."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    def of(self, group: Group) -> tuple[Finding, ...]:
        """The findings of a group."""
        return tuple(finding for finding in self.findings if finding.group is group)
