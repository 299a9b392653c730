"""What a team's build may fail on: groups of findings, and kinds of losses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from explorer.audit.findings import LOSS_TITLES, Group, LossKind, Severity
from explorer.audit.report.model import Report
from explorer.audit.words import GROUP_TITLES, path_words
from explorer.compaction.reasons import count_text


class Failure(NamedTuple):
    """One reason to fail."""

    check: str
    """The name of the check."""
    text: str
    """What was found, in a sentence."""


def _checks() -> dict[str, str]:
    found = {
        "needed-again": "something was needed again after a compaction",
        "lost-entries": "entries that are neither kept nor summarized",
    }
    found |= {group.value: GROUP_TITLES[group] for group in Group}
    return found | {kind.value: LOSS_TITLES[kind] for kind in LossKind}


CHECKS = _checks()
"""What can be failed on, by name, in words."""


def failures(report: Report, on: Collection[str]) -> tuple[Failure, ...]:
    """Why a report fails: which of the checks ``on`` (names of ``CHECKS``) find something. Raises
    KeyError for another name."""
    return tuple(failure for name in on if (failure := _checked(report, name)) is not None)


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
    group = Group(name)
    found = [(one, len(one.fidelity.of(group))) for one in report.compactions]
    times = ", ".join(f"{number:,} at {one.name}" for one, number in found if number)
    return Failure(name, f"{title}: {times}") if times else None


def _names(entries: Sequence[int]) -> str:
    return ", ".join(f"#{entry}" for entry in dict.fromkeys(entries))
