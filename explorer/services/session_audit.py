"""The audit of one session as one row, for tables over thousands of sessions.

version           of these fields; it grows when one changes its meaning or goes away
session           number in the library
id                the session's id
agent, format     who wrote it, for people and for programs
title, project    its name, and the last part of its folder
file              where it came from; empty of a session that was made here
position          what it was like: entries, characters, leaf, and size and time of its file
program, rules    which version audited it, by which rules
status            audited, or failed
reason            why it failed; else empty
judged_by         the title of the rules
entries           on all branches
path_entries      on the path to the leaf; all that follows is of this path
turns, compactions
begun_ms          time of its first entry, milliseconds since 1970; 0 where none is known
ended_ms          time of its last entry
needed_again      what was needed again after its compactions: files read again and so on
said_again        of these: what the person asked for again
read_again        of these: files read again
needed_again_tokens
                  what that took the second time
needed_compared   of those: the ones that can be held against stretches without a compaction
needed_expected   how many of these would be expected in such stretches; 0 where none is comparable
instructions      standing instructions in what its compactions summarized
standing_instruction, open_state, stated_wrongly
                  findings of each group
entries_lost      entries neither kept nor summarized
losses            losses of all kinds
found             names of all checks that find something, as --fail-on has them
calls             of models, with a provider's report of their tokens
tokens            of those, cached ones among them
cost_usd          as recorded, in dollars
cost_usd_by_list  of calls without a recorded cost, by listed prices

Of a session that failed, everything from judged_by on is empty or 0. A row holds quotes of nothing
but the title.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.findings import Group
from explorer.audit.loss import Severity
from explorer.audit.needed_again import NeededAgain, NeedKind
from explorer.audit.report import CHECKS, Report, failures
from explorer.compaction.profile import Profile, profile_values
from explorer.formats import adapter_of
from explorer.installed import version
from explorer.services.audit_report import make_report
from explorer.services.library import project_name
from explorer.services.open_session import OpenedSession
from explorer.session.text import well_formed
from explorer.session.usage_sums import PartUsage
from explorer.store.rows import SessionRow, SourceFile

VERSION = 4


class AuditRow(Struct, frozen=True):
    """See the module's docstring. Texts are well-formed."""

    version: int
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
    judged_by: str = ""
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


def audit_session(
    opened: OpenedSession, spending: PartUsage, position: str, profile: Profile | None = None
) -> AuditRow:
    """Audit the path to a session's leaf. ``spending``: what that path took; ``position``: see
    ``position_of``; ``profile``: the rules to judge by, None for those of its own agent.

    Asks no clock and writes nothing: the same session gives the same row. Blocks. Raises what
    ``make_report`` raises.
    """
    return _row(make_report(opened, opened.leaf, spending, profile=profile),
                begun_row(opened.row, position, rules_of(profile)))  # fmt: skip


def begun_row(session: SessionRow, position: str, rules: str) -> AuditRow:
    """What is known of a session without its entries."""
    return AuditRow(
        VERSION, session.key, well_formed(session.session_id), adapter_of(session.format).title,
        session.format, well_formed(session.title), well_formed(project_name(session.cwd)),
        well_formed(session.path), position, _program(), rules, "audited",
    )  # fmt: skip


def row_from(values: Mapping[str, Any]) -> AuditRow | None:
    """The row that ``asdict`` made such values of; None for that of another version."""
    if values.get("version") != VERSION:
        return None
    return AuditRow(**{**values, "found": tuple(values["found"])})


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
        "judged_by": report.rules,
        "entries": session.entries, "path_entries": session.on_path, "turns": session.turns,
        "compactions": len(parts), "begun_ms": session.begun_ms, "ended_ms": session.ended_ms,
        "needed_again": len(needed.needs),
        "said_again": _of_kind(needed, NeedKind.REQUEST),
        "read_again": _of_kind(needed, NeedKind.READ),
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


def _of_kind(needed: NeededAgain, kind: NeedKind) -> int:
    return sum(need.kind is kind for need in needed.needs)


def _of_group(report: Report, group: Group) -> int:
    return sum(len(part.fidelity.of(group)) for part in report.compactions)
