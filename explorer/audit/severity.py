"""Which findings matter most: the order in which a person should look at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from explorer.audit.findings import Fate, Fidelity, Finding
from explorer.facts import FactKind
from explorer.facts.paths import path_key


class SeverityGrounds(NamedTuple):
    """What decides how grave a finding is besides the finding itself."""

    request: str = ""
    """The key of the latest request; empty where it is not known which one that is."""
    changed: frozenset[str] = frozenset()
    """The keys of the files that calls of the range changed."""

    @classmethod
    def of(cls, fidelity: Fidelity) -> SeverityGrounds:
        """What an audit knows."""
        return cls(
            fidelity.request.fact.key if fidelity.request is not None else "",
            frozenset(path_key(each.path) for each in fidelity.files if each.called),
        )


class _Rule(NamedTuple):
    title: str
    why: str
    fits: Callable[[Finding, SeverityGrounds], bool]


def _is(fate: Fate, *kinds: FactKind) -> Callable[[Finding, SeverityGrounds], bool]:
    def fits(finding: Finding, _weighed: SeverityGrounds) -> bool:
        return (
            finding.fate is fate
            and (not kinds or finding.fact.kind in kinds)
            and (fate is not Fate.LOST or not finding.fact.stale)
        )

    return fits


_lost_request = _is(Fate.LOST, FactKind.REQUEST)
_lost_path = _is(Fate.LOST, FactKind.PATH)


_RULES = (
    _Rule(
        "Constraints that the summary turned round",
        "What comes next will be done against what the user said.",
        _is(Fate.MUTATED, FactKind.CONSTRAINT),
    ),
    _Rule(
        "Changed later, stated as if it held",
        "The user said otherwise since; the summary tells the old state.",
        _is(Fate.STALE),
    ),
    _Rule(
        "Constraints lost",
        "Nothing that the model sees next tells of them.",
        _is(Fate.LOST, FactKind.CONSTRAINT),
    ),
    _Rule(
        "The latest request lost",
        "The model does not see what it was asked for last.",
        lambda finding, weighed: (
            _lost_request(finding, weighed) and finding.fact.key == weighed.request
        ),
    ),
    _Rule(
        "Files that were changed, and are not named",
        "Calls changed them; whoever goes on does not know.",
        lambda finding, weighed: (
            _lost_path(finding, weighed) and finding.fact.key in weighed.changed
        ),
    ),
    _Rule(
        "Stated with another value",
        "The summary names a figure, a path or a name that its sources have otherwise.",
        _is(Fate.MUTATED),
    ),
    _Rule(
        "Stated without a source",
        "The summary says so, and nothing that was summarized does.",
        _is(Fate.INVENTED),
    ),
    _Rule(
        "Decisions, questions and to-dos lost",
        "What was settled, and what is still to be done.",
        _is(Fate.LOST, FactKind.DECISION, FactKind.QUESTION, FactKind.TODO),
    ),
    _Rule(
        "Earlier requests lost",
        "What the user asked for before the latest request.",
        _lost_request,
    ),
    _Rule(
        "Files lost",
        "Their names can be found again only where they are in the folder.",
        _lost_path,
    ),
    _Rule(
        "Commands, errors and identifiers lost",
        "Worth nothing when they are put in other words.",
        _is(
            Fate.LOST,
            FactKind.COMMAND,
            FactKind.ERROR,
            FactKind.HASH,
            FactKind.URL,
            FactKind.VERSION,
        ),
    ),
    _Rule("Figures and names lost", "Numbers with what they measure, and symbols.", _is(Fate.LOST)),
    _Rule(
        "Recoverable only",
        "Not in the summary, which names a transcript that they can be read from.",
        _is(Fate.RECOVERABLE),
    ),
    _Rule(
        "In the summary, in another form",
        "Another spelling, a file's name for its path, or a statement in other words.",
        _is(Fate.NORMALIZED),
    ),
    _Rule("In the summary, letter for letter", "", _is(Fate.EXACT)),
    _Rule("Kept verbatim", "The entry that says so is still sent.", _is(Fate.KEPT)),
    _Rule(
        "Changed later, and rightly gone",
        "They hold no more: nothing is lost with them.",
        lambda finding, _weighed: finding.fact.stale,
    ),
)
GRAVE = 12
"""Groups before this one are losses; those from it on are not."""


@dataclass(frozen=True, slots=True)
class SeverityGroup:
    """Findings of one severity."""

    title: str
    why: str
    """What it means, in a sentence; may be empty."""
    findings: tuple[Finding, ...]
    is_grave: bool
    """Whether something is lost or wrong."""


def severity(finding: Finding, weighed: SeverityGrounds = SeverityGrounds()) -> int:  # noqa: B008 - never changes
    """How grave a finding is: 0 is the worst."""
    return next(at for at, rule in enumerate(_RULES) if rule.fits(finding, weighed))


def grouped(fidelity: Fidelity) -> tuple[SeverityGroup, ...]:
    """The findings of an audit by severity, the worst first; within a group, the latest first."""
    weighed = SeverityGrounds.of(fidelity)
    found: dict[int, list[Finding]] = {}
    for finding in fidelity.findings:
        found.setdefault(severity(finding, weighed), []).append(finding)
    return tuple(
        SeverityGroup(
            _RULES[at].title,
            _RULES[at].why,
            tuple(sorted(found[at], key=lambda one: -one.fact.last)),
            at < GRAVE,
        )
        for at in sorted(found)
    )
