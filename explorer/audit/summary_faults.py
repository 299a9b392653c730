"""What is wrong with a stored summary as it stands, without looking at what it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from explorer.audit.loss import LossKind, Severity
from explorer.audit.provenance import Known, Provenance
from explorer.compaction.profile import Profile
from explorer.compaction.summary import strip_files
from explorer.compaction.validation import Form, check_answer, form_of
from explorer.session.entries import CompactionSummary, Entry

_HEADING = re.compile(
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
    headings = [(len(marks), name.lower()) for marks, name in _HEADING.findall(text)]
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
