"""The audit of one session as rows of four tables: the session, its compactions, the findings of
their summaries, and what was needed again. Thousands of sessions fill the same tables.

The columns are described in ``resources/docs/audit-tables.md``, which a test holds against the
structs below.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import orjson
from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from explorer.audit.findings import Finding, Group, Severity
from explorer.audit.needed_again import Need
from explorer.audit.repeats import READS, NeedKind
from explorer.audit.report import CHECKS, Report, failures
from explorer.audit.report.model import CompactionPart, NeededPart, NeedPart
from explorer.audit.words import need_text
from explorer.compaction.profile import Profile, profile_values
from explorer.formats.registry import adapter_of
from explorer.installed import version
from explorer.models.catalogue import Prices, listed_model
from explorer.services.audit_report import make_report
from explorer.services.draft_records import entry_of
from explorer.services.effective_rules import recorded_rules
from explorer.services.library import project_name
from explorer.services.open_session import OpenedSession
from explorer.session.context import context_at
from explorer.session.secrets import mask
from explorer.session.text import well_formed
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import PartUsage
from explorer.store.rows import SessionRow, SourceFile

VERSION = 10
"""Of the tables and of the audit's rules; it grows when a figure changes its meaning."""
_LONGEST = 400
"""Characters of a quote."""


class AuditRow(Struct, frozen=True):
    """A session. Texts are well-formed; of its contents there is nothing but the title."""

    version: int
    library: str
    session: int
    id: str
    agent: str
    format: str
    title: str
    project: str
    file: str
    position: str
    program: str
    rules: str
    status: str
    reason: str = ""
    content: str = ""
    judged_by: str = ""
    counted_by: str = ""
    entries: int = 0
    path_entries: int = 0
    turns: int = 0
    compactions: int = 0
    begun_ms: float = 0.0
    ended_ms: float = 0.0
    needed_again: int = 0
    said_again: int = 0
    read_again: int = 0
    needed_again_tokens: int = 0
    needed_compared: int = 0
    needed_expected: float = 0.0
    instructions: int = 0
    standing_instruction: int = 0
    open_state: int = 0
    stated_wrongly: int = 0
    entries_lost: int = 0
    losses: int = 0
    found: tuple[str, ...] = ()
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    cost_usd_by_list: float = 0.0


class CompactionRow(Struct, frozen=True):
    """A compaction on the path of a session."""

    library: str
    session: int
    compaction: int
    entry_id: str
    number: int
    time_ms: float
    agent: str
    project: str
    model: str
    judged_by: str
    profile: str
    keep_recent_tokens: int | None
    recorded_before: int | None
    tokens_before: int
    tokens_after: int | None
    tokens_kept: int | None
    tokens_summarized: int
    tokens_summary: int | None
    readable: bool
    instructions: int
    standing_instruction: int
    open_state: int
    stated_wrongly: int
    losses: int
    needed_again: int
    said_again: int
    read_again: int
    needed_again_tokens: int
    needed_again_usd: float | None
    needed_compared: int
    needed_expected: float


class FindingRow(Struct, frozen=True):
    """A finding of a summary. Quotes the session, secrets masked."""

    library: str
    session: int
    compaction: int
    finding: str
    kind: str
    text: str
    stated: str
    reason: str
    sources: tuple[int, ...]


class NeededRow(Struct, frozen=True):
    """Something that was needed again. Quotes the session, secrets masked."""

    library: str
    session: int
    compaction: int
    kind: str
    before: int
    after: int
    before_id: str
    after_id: str
    tokens: int
    tail_needed: int | None
    tail_kept: int | None
    text: str


class SessionAudit(Struct, frozen=True):
    """All that the audit of one session found."""

    row: AuditRow
    compactions: tuple[CompactionRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    needed: tuple[NeededRow, ...] = ()


def audit_session(
    opened: OpenedSession, spending: PartUsage, begun: AuditRow, profile: Profile | None = None
) -> SessionAudit:
    """Audit the path to a session's leaf. ``spending``: what that path took; ``begun``: what its
    row begins with; ``profile``: the rules to judge by, None for those of its own agent.

    Asks no clock and writes nothing: the same session gives the same rows. Blocks. Raises what
    ``make_report`` raises.
    """
    report = make_report(opened, opened.leaf, spending, profile=profile)
    row = _row(report, begun)
    settings = _Settings.of(opened)
    prices = opened.shared.client.info
    return SessionAudit(
        row,
        tuple(
            _compaction(part, needed, row, opened.tree, settings, prices)
            for part, needed in zip(report.compactions, report.needed, strict=True)
        ),
        tuple(
            _finding(finding, part.entry.index, row)
            for part in report.compactions
            for finding in part.fidelity.findings
        ),
        tuple(_need(one, row) for part in report.needed for one in part.needs),
    )


def begun_row(session: SessionRow, position: str, rules: str, library: str = "") -> AuditRow:
    """What is known of a session without its entries. ``library``: the name of the team's; empty
    of the person's own."""
    return AuditRow(
        VERSION, library, session.key, well_formed(session.session_id),
        adapter_of(session.format).title, session.format, well_formed(session.title),
        well_formed(project_name(session.cwd)), well_formed(session.path), position, _program(),
        rules, "audited",
    )  # fmt: skip


def row_from(values: Mapping[str, Any]) -> AuditRow | None:
    """The row that ``asdict`` made such values of; None for that of another version."""
    if values.get("version") != VERSION:
        return None
    return AuditRow(**{**values, "found": tuple(values["found"])})


def audit_from(values: Any) -> SessionAudit | None:
    """The audit that ``to_builtins`` made such values of; None for that of another version."""
    try:
        found = convert(values, SessionAudit)
    except ValidationError:
        return None
    return found if found.row.version == VERSION else None


def stamp_of(row: AuditRow) -> str:
    """What was audited, by which program and rules: where that is the same, the row would be."""
    return " ".join((row.position, str(row.version), row.program, row.rules))


def position_of(session: SessionRow, source: SourceFile | None, is_counted: bool) -> str:
    """What changes whenever the session does, or the sizes that are shown of it: what was appended,
    where the leaf is, of a session that came from a file how that was when it was last read, and
    whether a tokenizer has counted it."""
    file = f"/{source.size}/{source.mtime_ns}" if source is not None else ""
    counted = "/counted" if is_counted else ""
    return f"{session.entries}/{session.size}/{session.leaf}{file}{counted}"


def rules_of(profile: Profile | None) -> str:
    """A name for rules that changes with every value of theirs."""
    if profile is None:
        return "recorded"
    values = orjson.dumps(profile_values(profile), option=orjson.OPT_SORT_KEYS)
    return f"{profile.name} {hashlib.sha256(values).hexdigest()[:12]}"


@cache
def _program() -> str:
    return f"Session Explorer {version()}"


def _row(report: Report, begun: AuditRow) -> AuditRow:
    session, spent, parts = report.session, report.spending.total, report.compactions
    gone = (one.loss for one in report.losses if one.loss.severity is Severity.LOST)
    needed = report.needed_again
    expected = needed.expected
    figures: dict[str, Any] = {
        "judged_by": report.rules, "counted_by": report.counted_by,
        "entries": session.entries, "path_entries": session.on_path, "turns": session.turns,
        "compactions": len(parts), "begun_ms": session.begun_ms, "ended_ms": session.ended_ms,
        "needed_again": len(needed.needs),
        "said_again": _of_kinds(needed.needs, NeedKind.REQUEST),
        "read_again": _of_kinds(needed.needs, *READS),
        "needed_again_tokens": sum(one.tokens for one in needed.after),
        "needed_compared": expected.found if expected is not None else 0,
        "needed_expected": round(expected.number, 4) if expected is not None else 0.0,
        "instructions": sum(part.fidelity.instructions for part in parts),
        "standing_instruction": _of_group(report, Group.INSTRUCTION),
        "open_state": _of_group(report, Group.STATE),
        "stated_wrongly": _of_group(report, Group.WRONG),
        "entries_lost": len({entry for loss in gone for entry in loss.entries}),
        "losses": len(report.losses),
        "found": tuple(one.check for one in failures(report, CHECKS)),
        "calls": spent.calls, "tokens": spent.tokens, "cost_usd": round(spent.cost, 6),
        "cost_usd_by_list": round(spent.listed_cost, 6),
    }  # fmt: skip
    return replace(begun, **figures)


class _Settings(Struct, frozen=True):
    """By what a session was compacted."""

    profile: str
    """That of its agent's rules; empty where no profile has them."""
    made_here: Mapping[int, tuple[str, int | None]]
    """By compaction that was made here: its profile, and how many tokens that was to keep."""

    @classmethod
    def of(cls, opened: OpenedSession) -> _Settings:
        found: dict[int, tuple[str, int | None]] = {}
        for draft in opened.shared.store.drafts(opened.key, with_requests=False):
            settings = draft.settings if isinstance(draft.settings, dict) else {}
            profile = settings.get("profile")
            if draft.status == "committed" and isinstance(profile, dict):
                keep = settings.get("keep_recent_tokens")
                name = well_formed(str(profile.get("title", "")))
                found[entry_of(opened.tree, draft)] = name, keep if isinstance(keep, int) else None
        rules = recorded_rules(opened)
        return cls(rules.profile.title if rules.is_own else "", found)


def _compaction(
    part: CompactionPart,
    needed: NeededPart,
    session: AuditRow,
    tree: SessionTree,
    settings: _Settings,
    prices: Prices,
) -> CompactionRow:
    entry, found, again = part.entry.index, part.fidelity, needed.found
    expected = again.expected
    model = context_at(tree, entry).model
    info = listed_model(model, prices)
    price = info.input_price if info is not None else None
    summary = found.tokens_after if found.is_readable else None
    kept = None
    if summary is not None and part.counted_after is not None:
        kept = max(0, part.counted_after - summary)
    profile, keep_recent = settings.made_here.get(entry, (settings.profile, None))
    return CompactionRow(
        session.library, session.session, entry, well_formed(part.entry.id), part.number,
        part.time_ms, session.agent, session.project, well_formed(model), session.judged_by,
        profile, keep_recent, part.recorded_before or None, part.counted_before,
        part.counted_after, kept, found.tokens_before, summary, found.is_readable,
        found.instructions, len(found.of(Group.INSTRUCTION)), len(found.of(Group.STATE)),
        len(found.of(Group.WRONG)), len(part.losses), len(again.needs),
        _of_kinds(again.needs, NeedKind.REQUEST), _of_kinds(again.needs, *READS), again.tokens,
        round(again.tokens * price, 6) if price is not None else None,
        expected.found if expected is not None else 0,
        round(expected.number, 4) if expected is not None else 0.0,
    )  # fmt: skip


def _finding(finding: Finding, compaction: int, session: AuditRow) -> FindingRow:
    return FindingRow(
        session.library, session.session, compaction, finding.group.value,
        finding.fact.kind.value, _quote(finding.fact.text), _quote(finding.stated),
        _quote(finding.reason), tuple(finding.fact.sources),
    )  # fmt: skip


def _need(part: NeedPart, session: AuditRow) -> NeededRow:
    repeat, tail = part.need.repeat, part.need.tail
    return NeededRow(
        session.library, session.session, part.need.taken_by, repeat.kind.value, repeat.before,
        repeat.after, well_formed(part.before.id), well_formed(part.after.id), repeat.tokens,
        tail.needed if tail is not None else None, tail.kept if tail is not None else None,
        _quote(need_text(repeat, _LONGEST)),
    )  # fmt: skip


def _quote(text: str) -> str:
    return well_formed(mask(text))[:_LONGEST]


def _of_kinds(needs: Iterable[Need], *kinds: NeedKind) -> int:
    return sum(need.kind in kinds for need in needs)


def _of_group(report: Report, group: Group) -> int:
    return sum(len(part.fidelity.of(group)) for part in report.compactions)
