"""Audits of many stored sessions: made on a pool of processes, kept in the database, summed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from explorer.compaction.profile import Profile
from explorer.models.client import ModelClient, ModelClientConfig
from explorer.services.process_pool import outcomes
from explorer.services.session_audit import (
    AuditRow,
    audit_session,
    begun_row,
    position_of,
    row_from,
    rules_of,
    stamp_of,
)
from explorer.settings import paths
from explorer.store import SessionRow, Store
from explorer.tokens.counters import DEFAULT_ENCODING
from explorer.workbench import Workbench


def begun_rows(
    store: Store, sessions: Iterable[SessionRow], profile: Profile | None
) -> list[AuditRow]:
    """What the rows of stored sessions begin with as they are now. Raises StoreError."""
    sources = {one.key: one for one in store.source_files()}
    counted = store.counted_sessions(DEFAULT_ENCODING)
    rules = rules_of(profile)
    return [
        begun_row(one, position_of(one, sources.get(one.key), one.key in counted), rules)
        for one in sessions
    ]


def audited_rows(
    jobs: Iterable[AuditRow],
    database: Path,
    profile: Profile | None,
    processes: int,
    limit_s: float | None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[AuditRow, None, None]:
    """Audit sessions, each a row as it is begun; their rows come as they are done. ``limit_s``:
    seconds for one of them; ``stopped``: whether to end early. Closing the iterator ends the
    processes. Raises PoolError."""
    prepare = partial(_auditor, database, profile)
    for one in outcomes(jobs, prepare, processes, limit_s, stopped):
        yield one.result or replace(one.job, status="failed", reason=one.failure)


def _auditor(database: Path, profile: Profile | None) -> Callable[[AuditRow], AuditRow]:
    """Called in each process."""
    # Others look after the database: many processes would do the same work at once.
    store = Store.open(database, maintained=False)
    bench = Workbench(store, ModelClient(ModelClientConfig(user_models=paths.models_path())))
    return partial(_audit, bench, profile)


def _audit(bench: Workbench, profile: Profile | None, begun: AuditRow) -> AuditRow:
    document = bench.open_blocking(begun.session)
    try:
        asyncio.run(document.usage.follow())
        document.tokens.take_stored_blocking()
        is_counted = document.tokens.weights is not None
        source = bench.store.source_file(document.key)
        position = position_of(document.row, source, is_counted)
        return audit_session(document, document.usage.branch(document.leaf), position, profile)
    finally:
        bench.close(document.key)


LIMIT_S = 300.0
"""How long the audit of one session may take."""


class StoredAudits(NamedTuple):
    """What is known of some sessions."""

    rows: dict[int, AuditRow]
    """By session key: those that are audited as they are now."""
    left: list[AuditRow]
    """What the rows of the others begin with."""


class AgentNeeds(Struct):
    """What was needed again after the compactions on the active paths of an agent's sessions."""

    agent: str
    sessions: int = 0
    compactions: int = 0
    said_again: int = 0
    read_again: int = 0
    others: int = 0
    """Commands, searches, failures and edits."""
    tokens: int = 0
    """What all of it took the second time."""
    compared: int = 0
    """Those that can be held against stretches without a compaction ..."""
    expected: float = 0.0
    """... in which so many would be expected."""

    @property
    def rates(self) -> tuple[float, float]:
        """How many were said again for each compaction, and how many of all kinds were needed."""
        every = self.said_again + self.read_again + self.others
        return self.said_again / self.compactions, every / self.compactions

    def add(self, row: AuditRow) -> None:
        """Add a session."""
        self.sessions += 1
        self.compactions += row.compactions
        self.said_again += row.said_again
        self.read_again += row.read_again
        self.others += row.needed_again - row.said_again - row.read_again
        self.tokens += row.needed_again_tokens
        self.compared += row.needed_compared
        self.expected += row.needed_expected


def needs_by_agent(rows: Iterable[AuditRow]) -> list[AgentNeeds]:
    """The sums over audited sessions: first the agents after whose compactions people said things
    again most often, then those after whose the most was needed again."""
    found: dict[str, AgentNeeds] = {}
    for row in rows:
        if row.compactions:
            found.setdefault(row.agent, AgentNeeds(row.agent)).add(row)
    by_name = sorted(found.values(), key=lambda one: one.agent.casefold())
    return sorted(by_name, key=lambda one: one.rates, reverse=True)


def stored_audits(store: Store, sessions: Sequence[SessionRow]) -> StoredAudits:
    """What is known already of sessions, judged by the rules of their own agents. Blocks. Raises
    StoreError."""
    kept, known = store.audits(), StoredAudits({}, [])
    for begun in begun_rows(store, sessions, None):
        stamp, figures = kept.get(begun.session, ("", None))
        row = row_from(figures) if stamp == stamp_of(begun) else None
        if row is not None:
            known.rows[row.session] = row
        else:
            known.left.append(begun)
    return known


def audit_left(
    store: Store, left: Sequence[AuditRow], stopped: Callable[[], bool]
) -> Generator[AuditRow, None, None]:
    """Audit sessions on half of the processors, each a row as it is begun, and keep what is found;
    the rows come as they are done. What fails is not kept. Blocks. Raises PoolError, StoreError."""
    processes = max(1, (os.cpu_count() or 1) // 2)
    for row in audited_rows(left, store.path, None, processes, LIMIT_S, stopped):
        if row.status == "audited":
            store.keep_audit(row.session, stamp_of(row), to_builtins(row)).result()
        yield row
