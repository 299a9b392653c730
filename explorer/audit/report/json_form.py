"""A report as JSON, for programs. ``resources/audit-report.schema.json`` documents it.

Tokens are counted by the estimate or the tokenizer that the report's session is counted by; shares
are from 0 to 1; entries are named by index (from 0 in the file) and id; places are UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.audit.needed_again import Expected
from explorer.audit.needed_words import MEANING
from explorer.audit.provenance import Known
from explorer.audit.report.model import (
    VERSION,
    CompactionPart,
    EntryRef,
    LossPart,
    NeedPart,
    Report,
    StripLane,
    iso,
)
from explorer.audit.words import headline
from explorer.session.text import well_formed
from explorer.session.usage_sums import UsageSum

Json = dict[str, Any]


def document(report: Report) -> Json:
    """The report as JSON values. Texts are well-formed: lone surrogates are replaced."""
    session, spending = report.session, report.spending
    found = {
        "version": VERSION,
        "program": report.program,
        "made": iso(report.made_ms),
        "session": {
            "title": session.title, "id": session.id, "format": session.format,
            "project": session.project, "leaf": session.leaf or None,
            "entries": session.entries, "path_entries": session.on_path, "turns": session.turns,
            "begun": iso(session.begun_ms), "ended": iso(session.ended_ms),
        },
        "rules": report.rules,
        "rules_known": report.rules_known,
        "counted_by": report.counted_by,
        "cost": {
            "usd": round(spending.total.cost, 6),
            "usd_by_list": round(spending.total.listed_cost, 6),
            "replies": _spent(spending.replies),
            "summaries": _spent(spending.summaries), **_known(report.cost),
        },
        "whole_path": report.is_whole,
        "needed_again": _needed(report),
        "compactions": [_compaction(compaction) for compaction in report.compactions],
        "losses": [_loss(loss) for loss in report.losses],
        "strip": [_lane(one) for one in report.strip],
    }  # fmt: skip
    clean: Json = _clean(found)
    return clean


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value


def _spent(spent: UsageSum) -> Json:
    return {
        "usd": round(spent.cost, 6), "calls": spent.calls, "unpriced": spent.unpriced,
        "by_list": spent.listed, "usd_by_list": round(spent.listed_cost, 6),
        "uncounted": spent.uncounted, "input": spent.input, "output": spent.output,
        "cache_read": spent.cache_read, "cache_write": spent.cache_write,
    }  # fmt: skip


def _known(known: Known) -> Json:
    return {"provenance": known.provenance.value, "basis": known.basis}


def _entry(ref: EntryRef) -> Json:
    return {"index": ref.index, "id": ref.id, "kind": ref.kind, "preview": ref.preview}


def _needed(report: Report) -> Json:
    found = report.needed_again
    return {
        "number": len(found.needs),
        "tokens": sum(one.tokens for one in found.after),
        "expected": _expected(found.expected),
        "is": MEANING,
        "after": [
            {
                "compaction": part.found.compaction,
                "expected": _expected(part.found.expected),
                "needs": [_need(one) for one in part.needs],
            }
            for part in report.needed
        ],
    }


def _expected(expected: Expected | None) -> Json | None:
    if expected is None:
        return None
    return {
        "number": round(expected.number, 4), "found": expected.found, "soon": expected.soon,
        "before": expected.before, "after": expected.after, "places": expected.places,
    }  # fmt: skip


def _need(part: NeedPart) -> Json:
    repeat, tail = part.need.repeat, part.need.tail
    return {
        "kind": repeat.kind.value, "text": repeat.text,
        "lines": [repeat.first, repeat.last] if repeat.first else None,
        "line_count": repeat.lines or None,
        "tokens": repeat.tokens, "before": _entry(part.before), "after": _entry(part.after),
        "taken_by": part.need.taken_by,
        "tail": None if tail is None else tail._asdict(),
    }  # fmt: skip


def _compaction(part: CompactionPart) -> Json:
    fidelity = part.fidelity
    return {
        "number": part.number,
        "entry": _entry(part.entry),
        "time": iso(part.time_ms),
        "tokens": {
            "recorded_before": part.recorded_before or None, **_known(part.recorded_known),
            "counted_before": part.counted_before, "counted_after": part.counted_after,
            "summarized": fidelity.tokens_before,
            "summary": fidelity.tokens_after if fidelity.is_readable else None,
            "ratio": round(fidelity.ratio, 4) if fidelity.is_readable else None,
        },
        "told": _known(part.known),
        "kept_from": _entry(part.kept_from) if part.kept_from is not None else None,
        "summary": part.summary,
        "readable": fidelity.is_readable,
        "headline": headline(fidelity),
        "instructions": fidelity.instructions,
        "findings": _findings(part),
        "not_carried": {kind.value: len(facts) for kind, facts in fidelity.not_carried.items()},
        "sections": [
            {"name": each.name, "count": each.count, "required": each.required}
            for each in fidelity.sections
        ],
        "losses": [_loss(loss) for loss in part.losses],
        **_ledger(part),
    }  # fmt: skip


def _ledger(part: CompactionPart) -> Json:
    return {
        "ledger": [
            {"verdict": _name(row.verdict.name), "entries": row.entries, "tokens": row.tokens}
            for row in part.ledger
        ],
        "runs": [
            {
                "first": run.first, "last": run.last, "entries": run.entries,
                "tokens": run.tokens, "verdict": _name(run.verdict.name), "rule": run.rule,
                **_known(run.known),
            }
            for run in part.runs
        ],
        "more_runs": part.more_runs,
    }  # fmt: skip


def _findings(part: CompactionPart) -> list[Json]:
    """The findings by their groups, each group the newest first."""
    return [
        {
            "id": one.id, "group": one.group.value, "kind": one.fact.kind.value,
            "text": one.fact.text, "stated": one.stated or None, "reason": one.reason,
            "sources": list(one.fact.sources), "stale": one.fact.stale,
            "in_summary": [{"start": place.start, "end": place.end} for place in one.places],
        }
        for group in part.groups
        for one in (quoted.finding for quoted in group.findings)
    ]  # fmt: skip


def _loss(part: LossPart) -> Json:
    loss = part.loss
    return {
        "kind": loss.kind.value, "title": loss.title, "gravity": loss.severity.name.lower(),
        "at": _entry(part.at), "entries": list(loss.entries), "tokens": loss.tokens,
        "cause": loss.cause, "prevention": loss.prevention,
        "provenance": loss.provenance.value, "basis": loss.basis,
    }  # fmt: skip


def _lane(lane: StripLane) -> Json:
    return {
        "moment": lane.name,
        "runs": [
            {"start": run.start, "stop": run.stop, "state": run.state} for run in lane.runs
        ],
    }  # fmt: skip


def _name(name: str) -> str:
    return name.lower().replace("_", "-")
