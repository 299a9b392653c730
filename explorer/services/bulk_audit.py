"""Auditing many stored sessions, on a pool of processes: each gives one row, as a result or as a
failure with its reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from explorer.compaction.profile import Profile
from explorer.models.client import ModelClient, ModelClientConfig
from explorer.services.process_pool import outcomes
from explorer.services.session_audit import (
    AuditRow,
    audit_session,
    begun_row,
    position_of,
    rules_of,
)
from explorer.settings import paths
from explorer.store import Store
from explorer.store.rows import SessionRow
from explorer.workbench import Workbench


def begun_rows(
    store: Store, sessions: Iterable[SessionRow], profile: Profile | None
) -> list[AuditRow]:
    """What the rows of stored sessions begin with as they are now. Raises StoreError."""
    sources = {one.key: one for one in store.source_files()}
    rules = rules_of(profile)
    return [begun_row(one, position_of(one, sources.get(one.key)), rules) for one in sessions]


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
        position = position_of(document.row, bench.store.source_file(document.key))
        return audit_session(document, document.usage.branch(document.leaf), position, profile)
    finally:
        bench.close(document.key)
