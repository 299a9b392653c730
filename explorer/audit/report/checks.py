"""What a team's build may fail on: a share that survives, and kinds of losses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from explorer.audit.findings import Fate, Finding
from explorer.audit.loss import TITLES, LossKind, Severity
from explorer.audit.needed_words import path_words
from explorer.audit.report.model import CompactionPart, Report
from explorer.audit.words import FATE_TITLES, ONE_KIND, percent
from explorer.compaction.reasons import count_text
from explorer.facts import FactKind


class Failure(NamedTuple):
    """One reason to fail."""

    check: str
    """The name of the check, or ``survival``."""
    text: str
    """What was found, in a sentence."""


_FATES = {
    "lost": Fate.LOST,
    "mutated": Fate.MUTATED,
    "invented": Fate.INVENTED,
    "stale": Fate.STALE,
}


def _checks() -> dict[str, str]:
    found = {
        "needed-again": "something was needed again after a compaction",
        "lost-entries": "entries that are neither kept nor summarized",
        "lost-latest-request": "the latest request is not seen any more",
    }
    for name, fate in _FATES.items():
        found[name] = f"anything {FATE_TITLES[fate]}"
        found |= {
            f"{name}-{kind.value}": f"a {ONE_KIND[kind]} {FATE_TITLES[fate]}" for kind in FactKind
        }
    return found | {kind.value: TITLES[kind] for kind in LossKind}


CHECKS = _checks()
"""What can be failed on, by name, in words."""


def failures(
    report: Report, under: float | None = None, on: Collection[str] = ()
) -> tuple[Failure, ...]:
    """Why a report fails: of one of its compactions less than ``under`` per cent survives, or one
    of the checks ``on`` (names of ``CHECKS``) finds something. Raises KeyError for another name.
    """
    found = []
    if under is not None and report.survival * 100 < under and report.worst is not None:
        worst = report.worst
        found.append(
            Failure(
                "survival",
                f"{percent(worst.fidelity.survival)} of {count_text(worst.things, 'thing')} "
                f"survive {worst.name}, and at least {under:g} % is asked for",
            )
        )
    return (*found, *(failure for name in on if (failure := _checked(report, name)) is not None))


def _checked(report: Report, name: str) -> Failure | None:
    title = CHECKS[name]
    if name == "needed-again":
        needed = report.needed_again
        return Failure(name, f"{title}: {path_words(needed)}") if needed.needs else None
    if name == "lost-entries":
        gone = [one.loss for one in report.losses if one.loss.severity is Severity.LOST]
        entries = {entry for loss in gone for entry in loss.entries}
        text = f"{title}: {count_text(len(entries), 'entry')}"
        return Failure(name, text) if gone else None
    if name in set(LossKind):
        these = [one.loss.at for one in report.losses if one.loss.kind == name]
        return Failure(name, f"{title}: at {_names(these)}") if these else None
    at = [(compaction, _count(compaction, name)) for compaction in report.compactions]
    bad = [(one, number) for one, number in at if number]
    if not bad:
        return None
    times = ", ".join(f"{number:,} at {one.name}" for one, number in bad)
    return Failure(name, f"{title}: {times}")


def _count(part: CompactionPart, name: str) -> int:
    """How often a check finds something at one compaction."""
    if name == "lost-latest-request":
        request = part.fidelity.request
        return int(request is not None and request.fate is Fate.LOST)
    word, _, kind = name.partition("-")
    return sum(1 for finding in part.fidelity.findings if _fits(_FATES[word], kind)(finding))


def _fits(fate: Fate, kind: str) -> Callable[[Finding], bool]:
    def fits(finding: Finding) -> bool:
        # What the user took back may go: it is lost rightly.
        is_due = fate is not Fate.LOST or not finding.fact.stale
        return finding.fate is fate and is_due and (not kind or finding.fact.kind == kind)

    return fits


def _names(entries: Sequence[int]) -> str:
    return ", ".join(f"#{entry}" for entry in dict.fromkeys(entries))
