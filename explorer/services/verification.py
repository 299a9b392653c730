"""A draft checked against what it summarizes, and corrected by a model where it lost something.

One more call, made only on the user's order. What comes back is another draft: the one that was
checked does not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.findings import Fidelity, Finding, Group
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.requests import (
    Lack,
    Lacking,
    VerifyRequest,
    build_verify_request,
    mended_text,
)
from explorer.facts.entry_texts import texts_of
from explorer.facts.fact import Fact, Span
from explorer.facts.fact_table import ScanCancelled
from explorer.models.client import Cancelled
from explorer.services.document import Document
from explorer.services.draft_records import Draft, SummaryOrder
from explorer.services.extension_review import review_of, with_review
from explorer.services.summary_audit import Auditor
from explorer.session.entries import Entry

_SIDE = 140
"""Characters of a line that are shown on either side of what was found in it."""
_MOST_NAMED = 60
"""Texts that are recorded of what was regained or lost."""


class Checked(Struct, frozen=True):
    """A draft's text and what became of what it took the place of."""

    shown: Partition
    text: str
    fidelity: Fidelity
    lacks: tuple[Lack, ...]
    """What can be mended, the most severe first."""


class Mended(Struct, frozen=True):
    """A mended summary beside the one that it was made from. Nothing of it is in the session."""

    draft: Draft
    """The mended text with its request, model, usage and time, recorded as another candidate."""
    before: Checked
    after: Checked
    regained: tuple[Fact, ...]
    """What the text lost or stated wrongly, and does not any more."""
    lost: tuple[Fact, ...]
    """What the text before had right, and this one has not."""


def check(
    document: Document,
    auditor: Auditor,
    shown: Partition,
    text: str,
    cancelled: Callable[[], bool] = lambda: False,
) -> Checked:
    """Check a draft's text against what it summarizes. Blocks, meant for a worker thread.

    Raises ScanCancelled, and ValueError when the preview refuses.
    """
    fidelity = auditor.draft(shown, text, cancelled=cancelled).fidelity
    return Checked(shown, text, fidelity, tuple(_lacks(document, fidelity.findings)))


def request_for(document: Document, checked: Checked, model: str) -> VerifyRequest:
    """The exact request that would go to a model. Raises ValueError when there is nothing to mend,
    or no room to."""
    prepared = checked.shown.preparation
    if not isinstance(prepared, Preparation):
        raise ValueError(prepared.reason)
    plan = document.compaction.plan(checked.shown)
    asked = build_verify_request(
        checked.text,
        checked.lacks,
        document.shared.templates,
        prepared.profile,
        prepared.settings,
        plan.replaced_tokens,
        model_limit=document.models.info(model).output_limit,
    )
    prompt = document.shared.privacy.sent(asked.request.prompt)
    return replace(asked, request=replace(asked.request, prompt=prompt))


async def mend(
    document: Document, auditor: Auditor, of: Draft, checked: Checked, order: SummaryOrder
) -> Mended:
    """Ask for the checked text to be mended, and check what comes back.

    Raises DraftFailed or Cancelled; the draft that was checked and the session are not changed.
    ValueError when there is nothing to mend.
    """
    asked = request_for(document, checked, order.model)
    plan = document.compaction.plan(checked.shown)
    order = with_review(order, await review_of(document, order.cancel))
    facts = {"of": of.id, "reported": len(asked.reported), "found": len(checked.lacks)}
    order = replace(order, facts={**order.facts, "verify": facts})
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
    draft_facts = {**draft.facts, "verify": {**facts, **facts_of(mended)}}
    noted = await document.drafts.note(replace(draft, facts=draft_facts))
    return replace(mended, draft=noted)


def difference(before: Fidelity, after: Fidelity) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """What is found of the first summary and not of the second, and the other way round."""
    found = {finding.key: finding.fact for finding in before.findings}
    now = {finding.key: finding.fact for finding in after.findings}
    regained = tuple(fact for key, fact in found.items() if key not in now)
    lost = tuple(fact for key, fact in now.items() if key not in found)
    return regained, lost


def facts_of(mended: Mended) -> Mapping[str, Any]:
    """What is recorded of a mended draft, as JSON values: kinds and texts of what changed."""
    return {
        "regained": [[one.kind.value, one.text] for one in mended.regained[:_MOST_NAMED]],
        "lost": [[one.kind.value, one.text] for one in mended.lost[:_MOST_NAMED]],
        "findings_before": len(mended.before.fidelity.findings),
        "findings_after": len(mended.after.fidelity.findings),
    }


def _lacks(document: Document, findings: Sequence[Finding]) -> list[Lack]:
    wanted = sorted({finding.fact.last for finding in findings if finding.fact.spans})
    entries = dict(zip(wanted, document.payloads.sent.entries(wanted), strict=True))
    found = []
    for finding in findings:
        fact = finding.fact
        line = _line_at(entries[fact.last], fact.spans[-1]) if fact.spans else ""
        true = fact.replaced_by if fact.stale else fact.text
        found.append(
            Lack(_lacking(finding), fact.kind.value, true, finding.stated, fact.last, line)
        )
    return found


def _lacking(finding: Finding) -> Lacking:
    if finding.group is not Group.WRONG:
        return "lost"
    return "overruled" if finding.fact.stale else "changed"


def _line_at(entry: Entry, span: Span) -> str:
    """The line of an entry that holds a span, shortened around it where it is long."""
    for stated in texts_of(entry):
        if stated.block != span.block or stated.argument != span.argument:
            continue
        raw = stated.text.encode("utf-16-le", "surrogatepass")
        start = len(raw[: 2 * span.start].decode("utf-16-le", "replace"))
        end = len(raw[: 2 * span.end].decode("utf-16-le", "replace"))
        if end > len(stated.text):
            continue
        first = stated.text.rfind("\n", 0, start) + 1
        last = stated.text.find("\n", end)
        last = len(stated.text) if last < 0 else last
        left, right = max(first, start - _SIDE), min(last, end + _SIDE)
        cut = stated.text[left:right].strip()
        return f"{'…' if left > first else ''}{cut}{'…' if right < last else ''}"
    return ""
