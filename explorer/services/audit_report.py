"""The report of an opened session's audit: gathered, and written to a file.

Reads payloads and takes its time: all of it is meant for a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import orjson

from explorer import private_files
from explorer.audit.generations import compactions_on_path
from explorer.audit.ledger import ledger_at
from explorer.audit.needed_again import needed_again
from explorer.audit.overview import Overview, overview
from explorer.audit.provenance import spending_known
from explorer.audit.report import Report, document, html, markdown
from explorer.audit.report.model import CompactionPart, Gathering, SessionFacts
from explorer.compaction.profile import Profile
from explorer.facts.fact_table import ScanCancelled
from explorer.formats.registry import adapter_of
from explorer.installed import version
from explorer.services.draft_records import recorded_inputs
from explorer.services.effective_rules import recorded_rules
from explorer.services.library import project_name
from explorer.services.open_session import OpenedSession
from explorer.services.summary_audit import Auditor, IsCancelled, OnProgress
from explorer.session.secrets import mask
from explorer.session.usage_sums import PartUsage
from explorer.settings import paths

ReportForm = Literal["html", "md", "json"]
SUFFIXES: dict[str, ReportForm] = {
    ".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json",
}  # fmt: skip
_STEPS = 1000
"""Steps of progress per compaction."""


def _never() -> bool:
    return False


def _say_nothing(_done: int, _total: int) -> None:
    """A progress callback that does nothing."""


def form_of_file(path: Path) -> ReportForm | None:
    """The form that a file's suffix names; None for another suffix."""
    return SUFFIXES.get(path.suffix.lower())


def make_report(
    opened: OpenedSession,
    leaf: int,
    spending: PartUsage,
    *,
    compaction: int | None = None,
    profile: Profile | None = None,
    progress: OnProgress = _say_nothing,
    cancelled: IsCancelled = _never,
) -> Report:
    """The report of the path to ``leaf``, or of one compaction on it.

    ``spending``: what that path took. ``profile``: the rules to judge by; None takes those of the
    agent that recorded the session. ``progress`` gets steps done and in all.

    Raises ValueError when the compaction is not on the path, ScanCancelled, and what reading
    payloads raises.
    """
    tree, recorded = opened.tree, recorded_rules(opened)
    rules = profile or recorded.profile
    on_path = compactions_on_path(tree, leaf) if leaf >= 0 else ()
    if compaction is not None and compaction not in on_path:
        raise ValueError(f"entry #{compaction} is no compaction on the path to #{leaf}")
    chosen = on_path if compaction is None else (compaction,)
    read = opened.payloads.shown.entries
    weights = opened.tokens.weights_for(opened.tokens.profile)
    inputs = recorded_inputs(tree, opened.shared.store.drafts(opened.key))
    overview_of_path = overview(tree, leaf, rules, read=read, recorded=inputs, weights=weights)
    gathering = Gathering(tree, overview_of_path, read, opened.payloads.shown.previews)
    auditor = Auditor(opened)

    def part(entry: int, report_progress: OnProgress) -> CompactionPart:
        audited = auditor.compaction(entry, cancelled, report_progress)
        ledger = ledger_at(tree, leaf, entry, rules, read=read, recorded=inputs, weights=weights)
        return gathering.compaction(entry, audited.summary, audited.fidelity, ledger)

    return Report(
        program=f"Session Explorer {version()}",
        made_ms=opened.writer.now_ms(),
        counted_by=opened.tokens.counted_by,
        session=_facts(opened, leaf, overview_of_path),
        rules=rules.title,
        rules_known=recorded.known.basis
        if rules == recorded.profile
        else "They were chosen for this report.",
        spending=spending,
        cost=spending_known(spending.total),
        compactions=_each_compaction(chosen, part, progress, cancelled),
        is_whole=compaction is None,
        losses=gathering.losses(overview_of_path.losses_at(compaction)),
        strip=gathering.strip(),
        needed=gathering.needed(
            one for one in needed_again(tree, leaf, read, weights, cancelled).after
            if one.compaction in chosen
        ),
    )  # fmt: skip


def _each_compaction(
    chosen: Sequence[int],
    part: Callable[[int, OnProgress], CompactionPart],
    progress: OnProgress,
    cancelled: IsCancelled,
) -> tuple[CompactionPart, ...]:
    """The parts of the report, one after the other. Raises ScanCancelled."""
    parts: list[CompactionPart] = []
    total = len(chosen) * _STEPS
    for at, entry in enumerate(chosen):
        parts.append(part(entry, _step(progress, at * _STEPS, total)))
        if cancelled():
            raise ScanCancelled
        progress((at + 1) * _STEPS, total)
    return tuple(parts)


def _step(progress: OnProgress, done_before: int, total: int) -> OnProgress:
    """The progress of one compaction as part of all."""

    def step(done: int, whole: int) -> None:
        progress(done_before + (done * _STEPS // whole if whole else 0), total)

    return step


def _facts(opened: OpenedSession, leaf: int, found: Overview) -> SessionFacts:
    tree, view = opened.tree, found.generations.view
    times = [
        time for time in (tree.columns.time[entry] for entry in view.path.indices()) if time > 0
    ]
    return SessionFacts(
        title=opened.title,
        id=opened.header.session_id,
        format=f"{adapter_of(opened.header.format).title} session",
        project=project_name(opened.header.cwd) or "no folder",
        entries=len(tree),
        on_path=len(view),
        turns=view.turn(len(view) - 1) if len(view) else 0,
        leaf=tree.columns.ids[leaf] if leaf >= 0 else "",
        begun_ms=min(times, default=0.0),
        ended_ms=max(times, default=0.0),
    )


@cache
def report_templates() -> dict[str, str]:
    """The texts of ``resources/report`` by file name."""
    return {file.name: file.read_text("utf-8") for file in paths.resource("report").iterdir()}


def written(report: Report, form: ReportForm, exported: Callable[[str], str] = mask) -> str:
    """A report in one of its forms; ``exported``: a text as it is written for others."""
    return exported(_in_form(report, form))


def _in_form(report: Report, form: ReportForm) -> str:
    if form == "html":
        return html(report, report_templates())
    if form == "md":
        return markdown(report, report_templates())
    return orjson.dumps(document(report), option=orjson.OPT_INDENT_2).decode() + "\n"


def save_report(
    report: Report, form: ReportForm, path: Path, exported: Callable[[str], str] = mask
) -> None:
    """Write a report to a file, whole or not at all. An existing file keeps its permissions, a
    new one is readable by its owner alone. Raises OSError."""
    private_files.write(path, written(report, form, exported).encode(), keeps_mode=True)
