"""A draft checked against what it tells of, and mended by a model where it lost something.

One more call, made only when a person asks for it. What comes back is a draft of its own: the one
that was checked stays as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.audit.atoms import Atom, ScanCancelled, Span
from explorer.audit.atoms.entries import texts_of
from explorer.audit.findings import SURVIVED, Fate, Fidelity, Finding
from explorer.audit.gravity import Weighed, gravity
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.verification_request import (
    Lack,
    Lacking,
    VerifyRequest,
    build_verify_request,
    mended_text,
)
from explorer.models.door import Cancelled
from explorer.work.auditing import Auditor
from explorer.work.document import Document
from explorer.work.drafting import Draft, Order
from explorer.work.extending import review_of, with_review

_LACKING: dict[Fate, Lacking] = {
    Fate.LOST: "lost",
    Fate.MUTATED: "changed",
    Fate.STALE: "overruled",
    Fate.INVENTED: "without a source",
}
_SIDE = 140
"""Characters of a line that are told on either side of what was found in it."""
_MOST_NAMED = 60
"""Texts that are recorded of what was regained or lost."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft's text and what became of what it took the place of."""

    shown: Partition
    text: str
    fidelity: Fidelity
    lacks: tuple[Lack, ...]
    """What can be mended, the gravest first."""

    @property
    def wrong(self) -> int:
        """How many of them the text states otherwise than its sources, or without one."""
        return sum(lack.lacking != "lost" for lack in self.lacks)


@dataclass(frozen=True, slots=True)
class Mended:
    """A mended summary beside the one that it was made from. Nothing of it is in the session."""

    draft: Draft
    """The mended text with its request, model, usage and time, recorded as another candidate."""
    before: Checked
    after: Checked
    regained: tuple[Atom, ...]
    """What the text lost or stated wrongly, and does not any more."""
    lost: tuple[Atom, ...]
    """What it said, and does not any more."""


def check(
    document: Document,
    auditor: Auditor,
    shown: Partition,
    text: str,
    cancelled: Callable[[], bool] = lambda: False,
) -> Checked:
    """Check a draft's text against what it tells of. Blocks, meant for a worker thread.

    Raises ScanCancelled, and ValueError when the preview refuses.
    """
    found = auditor.draft(shown, text, cancelled=cancelled).fidelity
    weighed = Weighed.of(found)
    wrong = [
        one
        for one in found.findings
        if one.fate in _LACKING and (one.fate is not Fate.LOST or not one.atom.stale)
    ]
    wrong.sort(key=lambda one: (gravity(one, weighed), -one.atom.last))
    return Checked(shown, text, found, tuple(_lacks(document, wrong)))


def request_for(document: Document, checked: Checked, model: str) -> VerifyRequest:
    """The exact request that would go to a model. Raises ValueError when there is nothing to mend,
    or no room to."""
    prepared = checked.shown.preparation
    if not isinstance(prepared, Preparation):
        raise ValueError(prepared.reason)
    plan = document.compaction_plan(checked.shown)
    return build_verify_request(
        checked.text,
        checked.lacks,
        document.templates,
        prepared.profile,
        prepared.settings,
        plan.replaced_tokens,
        model_limit=document.door.info(model).output_limit,
    )


async def mend(
    document: Document, auditor: Auditor, of: Draft, checked: Checked, order: Order
) -> Mended:
    """Ask for the checked text to be mended, and check what comes back.

    Raises DraftFailed or Cancelled; the draft that was checked and the session are not changed.
    ValueError when there is nothing to mend.
    """
    asked = request_for(document, checked, order.model)
    plan = document.compaction_plan(checked.shown)
    order = with_review(order, await review_of(document, order.cancel))
    told = {"of": of.id, "told": len(asked.told), "found": len(checked.lacks)}
    order = replace(order, facts={**order.facts, "verify": told})
    draft = await document.drafts.mended(
        plan, of, asked, order, lambda answer: mended_text(answer, asked.footer)
    )
    try:
        after = await asyncio.to_thread(
            check, document, auditor, checked.shown, draft.summary,
            lambda: order.cancel.cancelled,
        )  # fmt: skip
    except (ScanCancelled, asyncio.CancelledError):
        await asyncio.shield(document.drafts.mark(draft, "discarded", draft.summary))
        if order.cancel.cancelled:
            raise Cancelled from None
        raise
    regained, lost = difference(checked.fidelity, after.fidelity)
    mended = Mended(draft, checked, after, regained, lost)
    facts = {**draft.facts, "verify": {**told, **facts_of(mended)}}
    return replace(mended, draft=await document.drafts.noted(replace(draft, facts=facts)))


def difference(before: Fidelity, after: Fidelity) -> tuple[tuple[Atom, ...], tuple[Atom, ...]]:
    """What a second summary regained of what the first lost or had wrong, and what it lost or has
    wrong of what the first had right."""
    had, has = _seen(before), _seen(after)
    wrong_before, wrong_after = _wrong(before), _wrong(after)
    atoms = {_key(one): one.atom for one in (*before.findings, *after.findings)}
    regained = [key for key in atoms if (key in has and key not in had) or
                (key in wrong_before and key not in wrong_after)]  # fmt: skip
    lost = [key for key in atoms if (key in had and key not in has) or
            (key in wrong_after and key not in wrong_before)]  # fmt: skip
    return tuple(atoms[key] for key in regained), tuple(atoms[key] for key in lost)


def facts_of(mended: Mended) -> Mapping[str, Any]:
    """What is told of a mended draft, as JSON values: kinds and texts of what changed."""
    return {
        "regained": [[one.kind.value, one.text] for one in mended.regained[:_MOST_NAMED]],
        "lost": [[one.kind.value, one.text] for one in mended.lost[:_MOST_NAMED]],
        "survival_before": round(mended.before.fidelity.survival, 4),
        "survival_after": round(mended.after.fidelity.survival, 4),
    }


def _key(finding: Finding) -> tuple[str, str, bool]:
    return finding.atom.kind.value, finding.atom.key, finding.fate in _WRONG


_WRONG = frozenset({Fate.MUTATED, Fate.INVENTED, Fate.STALE})


def _seen(told: Fidelity) -> set[tuple[str, str, bool]]:
    return {_key(one) for one in told.findings if one.fate in SURVIVED and not one.atom.stale}


def _wrong(told: Fidelity) -> set[tuple[str, str, bool]]:
    return {_key(one) for one in told.findings if one.fate in _WRONG}


def _lacks(document: Document, findings: Sequence[Finding]) -> list[Lack]:
    wanted = sorted({span.entry for one in findings for span in _spans(one)[-1:]})
    entries = dict(zip(wanted, document.payloads.entries(wanted), strict=True))
    found = []
    for one in findings:
        span = next(iter(_spans(one)[-1:]), None)
        line = _line_at(entries[span.entry], span) if span is not None else ""
        found.append(_lack(one, span.entry if span is not None else -1, line))
    return found


def _lack(finding: Finding, entry: int, line: str) -> Lack:
    atom, source = finding.atom, finding.source
    lacking, kind = _LACKING[finding.fate], atom.kind.value
    if finding.fate is Fate.LOST:
        return Lack(lacking, kind, atom.text, "", entry, line)
    if finding.fate is Fate.STALE:
        said = source.replaced_by if source is not None else ""
        return Lack(lacking, kind, said or (source.text if source else ""), atom.text, entry, line)
    if source is None:
        return Lack(lacking, kind, atom.text, "", entry, line)
    return Lack(lacking, kind, source.text, atom.text, entry, line)


def _spans(finding: Finding) -> Sequence[Span]:
    """Where the record says it; of what a summary states wrongly, where its source stands."""
    if finding.fate is Fate.LOST or finding.source is None:
        return finding.atom.spans
    return finding.source.spans


def _line_at(entry: Mapping[str, Any], span: Span) -> str:
    """The line of an entry in which a stretch stands, what is around it cut where it is long."""
    for said in texts_of(entry):
        if said.block != span.block or said.argument != span.argument:
            continue
        raw = said.text.encode("utf-16-le", "surrogatepass")
        start = len(raw[: 2 * span.start].decode("utf-16-le", "replace"))
        end = len(raw[: 2 * span.end].decode("utf-16-le", "replace"))
        if end > len(said.text):
            continue
        first = said.text.rfind("\n", 0, start) + 1
        last = said.text.find("\n", end)
        last = len(said.text) if last < 0 else last
        left, right = max(first, start - _SIDE), min(last, end + _SIDE)
        cut = said.text[left:right].strip()
        return f"{'…' if left > first else ''}{cut}{'…' if right < last else ''}"
    return ""
