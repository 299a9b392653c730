"""Audits of many stored sessions: made on a pool of processes, kept in the database, summed."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from explorer.compaction.profile import Profile
from explorer.models.client import ModelClient, ModelClientConfig
from explorer.services.document import Document
from explorer.services.process_pool import cluster_outcomes, outcomes
from explorer.services.publication import open_team
from explorer.services.session_audit import (
    AuditRow,
    SessionAudit,
    audit_from,
    audit_session,
    begun_row,
    position_of,
    rules_of,
    stamp_of,
)
from explorer.settings import paths
from explorer.settings.libraries import LibraryAddress
from explorer.store import SessionRow, Store, StoreError
from explorer.store.library import LibraryCopy
from explorer.store.postgres import Shared, TeamLibrary
from explorer.tokens.counters import DEFAULT_ENCODING
from explorer.workbench import Workbench


class Origin(Struct, frozen=True):
    """Where a process reads sessions, on whatever machine it runs."""

    database: Path
    """The person's own library; of a team's, the folder for what is read of it, where it is there:
    whoever made it removes what a killed process leaves."""
    library: str = ""
    """The name of the team's; empty of one's own."""
    address: LibraryAddress | None = None
    """Of the team's. The password is found there as it is here: it is in no job."""


class Way(Struct, frozen=True):
    """How sessions are audited."""

    profile: Profile | None = None
    """The rules to judge by; None: those of each one's own agent."""
    processes: int | None = None
    """None: one for each processor."""
    limit_s: float | None = None
    """Seconds for one session."""
    scheduler: str = ""
    """The address of a Dask cluster whose workers do it, instead of processes here."""


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


def begun_shared(library: str, shared: Iterable[Shared], profile: Profile | None) -> list[AuditRow]:
    """The same of a team's sessions, whose position is the digest of their entries."""
    rules = rules_of(profile)
    return [begun_row(one.row, one.digest, rules, library) for one in shared]


def content_of(store: Store, begun: AuditRow) -> str:
    """A hash of all that the audit of a stored session reads of it: its lines, its leaf, and
    whether a tokenizer has counted it. Empty where it cannot be read."""
    digest = hashlib.sha256()
    try:
        digest.update(store.header(begun.session).raw.encode("utf-8", "surrogatepass"))
        for _, line in store.lines(begun.session):
            digest.update(b"\n")
            digest.update(line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line)
        leaf = store.session(begun.session).leaf
    except StoreError:
        return ""
    counted = "/counted" if begun.position.endswith("/counted") else ""
    return f"{digest.hexdigest()}/{leaf}{counted}"


def audited(
    jobs: Iterable[AuditRow],
    origin: Origin,
    way: Way,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[SessionAudit, None, None]:
    """Audit sessions, each a row as it is begun; what is found comes as they are done, of each
    exactly once: of one that fails, its row with the reason. ``stopped``: whether to end early.
    Closing the iterator ends the processes. Raises PoolError."""
    prepare = partial(_auditor, origin, way.profile)
    if way.scheduler:
        found = cluster_outcomes(jobs, prepare, way.scheduler, way.limit_s, stopped)
    else:
        processes = way.processes or os.cpu_count() or 1
        found = outcomes(jobs, prepare, processes, way.limit_s, stopped)
    for one in found:
        failed = replace(one.job, status="failed", reason=one.failure)
        yield one.result or SessionAudit(failed)


def _auditor(origin: Origin, profile: Profile | None) -> Callable[[AuditRow], SessionAudit]:
    """Called in each process."""
    client = ModelClient(ModelClientConfig(user_models=paths.models_path()))
    if origin.address is not None:
        team = open_team(origin.library, origin.address)
        place = origin.database if origin.database.is_dir() else None
        return partial(_TeamReader(team, client, place).audit, profile)
    # Others look after the database: many processes would do the same work at once.
    bench = Workbench(Store.open(origin.database, maintained=False), client)
    return partial(_audit_stored, bench, profile)


def _audit_stored(bench: Workbench, profile: Profile | None, begun: AuditRow) -> SessionAudit:
    document = _opened(bench, begun.session)
    try:
        is_counted = document.tokens.weights is not None
        source = bench.store.source_file(document.key)
        position = position_of(document.row, source, is_counted)
        now = begun_row(document.row, position, rules_of(profile))
        now = replace(now, content=content_of(bench.store, now))
        return audit_session(document, document.usage.branch(document.leaf), now, profile)
    finally:
        bench.close(document.key)


class _TeamReader:
    """Reads sessions of a team, one at a time, into a database that ends with its process."""

    def __init__(self, team: TeamLibrary, client: ModelClient, place: Path | None) -> None:
        """``place``: for the database; None: the system's for temporary files."""
        self._team, self._client, self._place = team, client, place
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bench = self._anew()

    def _anew(self) -> Workbench:
        if self._folder is not None:
            self._bench.store.close()
            self._folder.cleanup()
        self._folder = tempfile.TemporaryDirectory(prefix="session-explorer-", dir=self._place)
        store = Store.open(Path(self._folder.name) / "one.db", maintained=False)
        return Workbench(store, self._client)

    def audit(self, profile: Profile | None, begun: AuditRow) -> SessionAudit:
        """Audit one. Raises StoreError and what ``audit_session`` raises."""
        shared = self._team.shared_session(begun.session)
        now = begun_row(shared.row, shared.digest, rules_of(profile), self._team.name)
        now = replace(now, content=shared.digest)
        store = self._bench.store
        key = store.take_copy(LibraryCopy(self._team, begun.session, masks=False)).key
        try:
            document = _opened(self._bench, key)
            return audit_session(document, document.usage.branch(document.leaf), now, profile)
        finally:
            self._bench.close(key)
            store.delete(key).result()
            # Nobody looks after this database, so that what is deleted keeps its room.
            if store.path.stat().st_size > _LARGEST:
                self._bench = self._anew()


_LARGEST = 100_000_000
"""Bytes of a database into which sessions of a team are read, before another one is begun."""


def _opened(bench: Workbench, key: int) -> Document:
    document = bench.open_blocking(key)
    asyncio.run(document.usage.follow())
    document.tokens.take_stored_blocking()
    return document


LIMIT_S = 300.0
"""How long the audit of one session may take."""


class StoredAudits(NamedTuple):
    """What is known of some sessions."""

    audits: dict[int, SessionAudit]
    """By session key: of those that are audited as they are now, the row and its compactions."""
    left: list[AuditRow]
    """What the rows of the others begin with."""


def stored_audits(store: Store, sessions: Sequence[SessionRow]) -> StoredAudits:
    """What is known already of sessions, judged by the rules of their own agents. Blocks. Raises
    StoreError."""
    kept, known = store.audits(), StoredAudits({}, [])
    for begun in begun_rows(store, sessions, None):
        stamp, figures = kept.get(begun.session, ("", None))
        audit = audit_from(figures) if stamp == stamp_of(begun) else None
        if audit is not None:
            known.audits[begun.session] = audit
        else:
            known.left.append(begun)
    return known


def audit_left(
    store: Store,
    left: Sequence[AuditRow],
    stopped: Callable[[], bool],
    origin: Origin | None = None,
) -> Generator[SessionAudit, None, None]:
    """Audit sessions on half of the processors, each a row as it is begun; the rows of sessions and
    compactions come as they are done. ``origin``: of sessions of a team; those of the store keep
    what is found. What fails is not kept. Blocks. Raises PoolError, StoreError."""
    processes = max(1, (os.cpu_count() or 1) // 2)
    way = Way(processes=processes, limit_s=LIMIT_S)
    for found in audited(left, origin or Origin(store.path), way, stopped):
        one = replace(found, findings=(), needed=())
        if one.row.status == "audited" and origin is None:
            store.keep_audit(one.row.session, stamp_of(one.row), to_builtins(one)).result()
        yield one
