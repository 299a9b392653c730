"""A draft checked against what it summarizes, and corrected by a model where it lost something.

One more call, made only on the user's order. What comes back is another draft: the one that was
checked does not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.audit.findings import SURVIVED, Fate, Fidelity, Finding
from explorer.audit.severity import SeverityGrounds, severity
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.verification_request import (
    Lack,
    Lacking,
    VerifyRequest,
    build_verify_request,
    mended_text,
)
from explorer.facts.entry_texts import texts_of
from explorer.facts.fact import Fact, FactKind, Span
from explorer.facts.fact_table import ScanCancelled
from explorer.models.client import Cancelled
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.extension_review import review_of, with_review
from explorer.services.summary_audit import Auditor
from explorer.services.summary_request import SummaryOrder
from explorer.session.entries import AssistantMessage, Entry, ToolCallBlock, ToolResultMessage
from explorer.session.kinds import Kind, selector
from explorer.tokens.estimate import js_json

_LACKING: dict[Fate, Lacking] = {
    Fate.LOST: "lost",
    Fate.MUTATED: "changed",
    Fate.STALE: "overruled",
    Fate.INVENTED: "without a source",
}
_CALLS_AND_RESULTS = selector({Kind.ASSISTANT, Kind.TOOL_RESULT})
_SIDE = 140
"""Characters of a line that are shown on either side of what was found in it."""
_MOST_NAMED = 60
"""Texts that are recorded of what was regained or lost."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft's text and what became of what it took the place of."""

    shown: Partition
    text: str
    fidelity: Fidelity
    lacks: tuple[Lack, ...]
    """What can be mended, the most severe first."""

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
    weighed = SeverityGrounds.of(fidelity)
    wrong = [
        finding
        for finding in fidelity.findings
        if finding.fate in _LACKING and (finding.fate is not Fate.LOST or not finding.fact.stale)
    ]
    solved = _solved(document, shown, wrong)
    wrong = [one for one in wrong if not (_is_lost_error(one) and one.fact.key in solved)]
    wrong.sort(key=lambda one: (severity(one, weighed), -one.fact.last))
    return Checked(shown, text, fidelity, tuple(_lacks(document, wrong)))


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
        document.templates,
        prepared.profile,
        prepared.settings,
        plan.replaced_tokens,
        model_limit=document.client.info(model).output_limit,
    )
    prompt = document.privacy.sent(asked.request.prompt)
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
    """What a second summary regained of what the first lost or had wrong, and what it lost or has
    wrong of what the first had right."""
    had, has = _seen(before), _seen(after)
    wrong_before, wrong_after = _wrong(before), _wrong(after)
    facts = {_key(finding): finding.fact for finding in (*before.findings, *after.findings)}
    regained = [key for key in facts if (key in has and key not in had) or
                (key in wrong_before and key not in wrong_after)]  # fmt: skip
    lost = [key for key in facts if (key in had and key not in has) or
            (key in wrong_after and key not in wrong_before)]  # fmt: skip
    return tuple(facts[key] for key in regained), tuple(facts[key] for key in lost)


def facts_of(mended: Mended) -> Mapping[str, Any]:
    """What is recorded of a mended draft, as JSON values: kinds and texts of what changed."""
    return {
        "regained": [[one.kind.value, one.text] for one in mended.regained[:_MOST_NAMED]],
        "lost": [[one.kind.value, one.text] for one in mended.lost[:_MOST_NAMED]],
        "survival_before": round(mended.before.fidelity.survival, 4),
        "survival_after": round(mended.after.fidelity.survival, 4),
    }


def _key(finding: Finding) -> tuple[str, str, bool]:
    return finding.fact.kind.value, finding.fact.key, finding.fate in _WRONG


_WRONG = frozenset({Fate.MUTATED, Fate.INVENTED, Fate.STALE})


def _seen(fidelity: Fidelity) -> set[tuple[str, str, bool]]:
    return {
        _key(finding)
        for finding in fidelity.findings
        if finding.fate in SURVIVED and not finding.fact.stale
    }


def _wrong(fidelity: Fidelity) -> set[tuple[str, str, bool]]:
    return {_key(finding) for finding in fidelity.findings if finding.fate in _WRONG}


def _is_lost_error(finding: Finding) -> bool:
    return finding.fate is Fate.LOST and finding.fact.kind is FactKind.ERROR


def _solved(document: Document, shown: Partition, findings: Sequence[Finding]) -> frozenset[str]:
    """The keys of lost errors that nobody needs any more: the call that showed one was made again
    later, went well, and did not show it."""
    errors = [finding.fact for finding in findings if _is_lost_error(finding)]
    starts = [at for fact in errors if (at := shown.path.position(fact.last)) >= 0]
    if not starts:
        return frozenset()
    kinds, start = document.tree.columns.kind, min(starts)
    while start > 0 and kinds[shown.path[start]] != Kind.ASSISTANT:
        start -= 1  # to the reply that made the first of the calls
    operations: dict[str, tuple[str, str]] = {}
    results: list[tuple[int, tuple[str, str], str]] = []
    indices = shown.path[start:].select(kinds, _CALLS_AND_RESULTS)
    for index, entry in zip(indices, document.sent.entries(indices), strict=True):
        match entry.body:
            case AssistantMessage() as reply:
                operations |= {call.id: _operation(call) for call in reply.calls}
            case ToolResultMessage() as result if result.call_id in operations:
                shows = "" if result.is_error else "\n".join(one.text for one in texts_of(entry))
                results.append((index, operations[result.call_id], shows))
    made = {index: operation for index, operation, _ in results}
    return frozenset(
        fact.key
        for fact in errors
        if any(
            index > fact.last and operation == made.get(fact.last) and shows
            and fact.text not in shows
            for index, operation, shows in results
        )
    )  # fmt: skip


def _operation(call: ToolCallBlock) -> tuple[str, str]:
    """What a call does, alike for calls that differ in how their output is shown."""
    arguments = call.named_arguments
    named = (arguments.get(name) for name in ("command", "path", "file_path", "filePath"))
    what = next((value for value in named if isinstance(value, str) and value), None)
    if what is None:
        return call.name, js_json(dict(arguments))
    return call.name, " ".join(what.partition("|")[0].replace("2>&1", "").split())


def _lacks(document: Document, findings: Sequence[Finding]) -> list[Lack]:
    wanted = sorted({span.entry for finding in findings for span in _spans(finding)[-1:]})
    entries = dict(zip(wanted, document.sent.entries(wanted), strict=True))
    found = []
    for finding in findings:
        span = next(iter(_spans(finding)[-1:]), None)
        line = _line_at(entries[span.entry], span) if span is not None else ""
        found.append(_lack(finding, span.entry if span is not None else -1, line))
    return found


def _lack(finding: Finding, entry: int, line: str) -> Lack:
    fact, source = finding.fact, finding.source
    lacking, kind = _LACKING[finding.fate], fact.kind.value
    if finding.fate is Fate.LOST:
        return Lack(lacking, kind, fact.text, "", entry, line)
    if finding.fate is Fate.STALE:
        by = source.replaced_by if source is not None else ""
        return Lack(lacking, kind, by or (source.text if source else ""), fact.text, entry, line)
    if source is None:
        return Lack(lacking, kind, fact.text, "", entry, line)
    return Lack(lacking, kind, source.text, fact.text, entry, line)


def _spans(finding: Finding) -> Sequence[Span]:
    """Where the session states it; of what a summary states wrongly, where its source is."""
    if finding.fate is Fate.LOST or finding.source is None:
        return finding.fact.spans
    return finding.source.spans


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
