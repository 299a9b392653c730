"""Which findings matter most: the order in which a person should look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from explorer.audit.atoms.model import AtomKind
from explorer.audit.findings import Fate, Finding


class _Rule(NamedTuple):
    title: str
    why: str
    fits: Callable[[Finding], bool]


def _is(fate: Fate, *kinds: AtomKind) -> Callable[[Finding], bool]:
    def fits(finding: Finding) -> bool:
        return (
            finding.fate is fate
            and (not kinds or finding.atom.kind in kinds)
            and (fate is not Fate.LOST or not finding.atom.stale)
        )

    return fits


_RULES = (
    _Rule(
        "Constraints that the summary turned round",
        "What comes next will be done against what the user said.",
        _is(Fate.MUTATED, AtomKind.CONSTRAINT),
    ),
    _Rule(
        "Changed later, stated as if it held",
        "The user said otherwise since; the summary tells the old state.",
        _is(Fate.STALE),
    ),
    _Rule(
        "Constraints lost",
        "Nothing that the model sees next tells of them.",
        _is(Fate.LOST, AtomKind.CONSTRAINT),
    ),
    _Rule(
        "The latest request lost",
        "The model does not see what it was asked for last.",
        _is(Fate.LOST, AtomKind.REQUEST),
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
        _is(Fate.LOST, AtomKind.DECISION, AtomKind.QUESTION, AtomKind.TODO),
    ),
    _Rule(
        "Files lost",
        "Their names can be found again only where they are in the folder.",
        _is(Fate.LOST, AtomKind.PATH),
    ),
    _Rule(
        "Commands, errors and identifiers lost",
        "Worth nothing when they are told in other words.",
        _is(
            Fate.LOST,
            AtomKind.COMMAND,
            AtomKind.ERROR,
            AtomKind.HASH,
            AtomKind.URL,
            AtomKind.VERSION,
        ),
    ),
    _Rule("Figures and names lost", "Numbers with what they measure, and symbols.", _is(Fate.LOST)),
    _Rule(
        "Recoverable only",
        "Not in the summary, which names a transcript that they can be read from.",
        _is(Fate.RECOVERABLE),
    ),
    _Rule(
        "In the summary, spelled otherwise",
        "Case, spaces, or a file's name for its path.",
        _is(Fate.NORMALIZED),
    ),
    _Rule("In the summary, letter for letter", "", _is(Fate.EXACT)),
    _Rule("Kept verbatim", "The entry that says so is still sent.", _is(Fate.KEPT)),
    _Rule(
        "Changed later, and rightly gone",
        "They hold no more: nothing is lost with them.",
        lambda finding: finding.atom.stale,
    ),
)
GRAVE = 10
"""Groups before this one are losses; those from it on are not."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one gravity."""

    title: str
    why: str
    """What it means, in a sentence; may be empty."""
    findings: tuple[Finding, ...]
    is_grave: bool
    """Whether something is lost or wrong."""


def gravity(finding: Finding) -> int:
    """How grave a finding is: 0 is the worst."""
    return next(at for at, rule in enumerate(_RULES) if rule.fits(finding))


def grouped(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Findings by gravity, the worst first; within a group, the last said first."""
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        found.setdefault(gravity(finding), []).append(finding)
    return tuple(
        Group(
            _RULES[at].title,
            _RULES[at].why,
            tuple(sorted(found[at], key=lambda one: -one.atom.last)),
            at < GRAVE,
        )
        for at in sorted(found)
    )
