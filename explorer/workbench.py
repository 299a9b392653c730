"""The one entry point of the window and the commands: open, import, search, export, watch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from pathlib import Path
from random import Random, SystemRandom

from msgspec.structs import replace

from explorer.extensions.manager import Extensions
from explorer.facts.errors import has_failed
from explorer.formats.adapter import FormatError
from explorer.formats.pi.entry_writer import new_id
from explorer.formats.pi.export import ExportReport, LeafMark, new_header
from explorer.formats.registry import adapter_for
from explorer.models.client import ModelClient
from explorer.services.changes import Change, ChangeHub, Listener, PromptsChanged, SessionsChanged
from explorer.services.document import Document
from explorer.services.followed_file import FollowedFile
from explorer.services.open_session import Shared
from explorer.services.privacy import Privacy
from explorer.services.related_sessions import RelatedSessions, related_sessions
from explorer.services.session_export import ExportForm, original_problem, write_session
from explorer.services.session_files import Transcripts, remove_outputs
from explorer.services.session_forks import (
    Forked,
    ForkSource,
    plan_fork,
    store_fork,
)
from explorer.session.records import Problem
from explorer.settings.prompt_templates import PromptTemplates, load_prompt, load_templates
from explorer.store import SearchStep, Store
from explorer.store.rows import ImportReport, IsCancelled, LoadedSession, OnProgress, SessionRow
from explorer.store.sessions import Arranged


def now_ms() -> int:
    """Milliseconds since 1970, by the clock of the system."""
    return time.time_ns() // 1_000_000


class Workbench:
    """Opens sessions of one database. Lives on the thread of the event loop that it is used from.

    Long work runs on worker threads; ``progress`` and ``cancelled`` are called there.
    """

    def __init__(
        self,
        store: Store,
        client: ModelClient,
        clock_ms: Callable[[], int] = now_ms,
        random: Random | None = None,
        extensions: Extensions | None = None,
        beside: Workbench | None = None,
    ) -> None:
        """``extensions``: called for compactions and navigations; None: none are. ``beside``: the
        workbench of the person's own library, whose changes and privacy are those of this one too;
        the sessions of this one are only read."""
        self.store = store
        self.extensions = extensions
        self.client = client
        self.hub: ChangeHub = beside.hub if beside is not None else ChangeHub()
        hub = self.hub
        templates, agent_prompt = load_templates(), load_prompt("agent")
        self._shared = Shared(store, client, hub, templates, agent_prompt, extensions)
        if beside is not None:
            self._shared.privacy, self._shared.is_read_only = beside.privacy, True
        self.privacy: Privacy = self._shared.privacy
        """What the person wants of secrets and imported sessions; for all opened ones."""
        self.prompts = PromptTemplates(clock_ms, lambda names: hub.publish(PromptsChanged(names)))
        """The words sent to models, to be seen and changed."""
        self.hub.subscribe(self._changed)
        self._clock_ms = clock_ms
        self._random = random or SystemRandom()
        self._open: dict[int, Document] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every change; the returned function ends that."""
        return self.hub.subscribe(listener)

    def _changed(self, change: Change) -> None:
        """Other templates are in force: every opened session sends them from now on."""
        if not isinstance(change, PromptsChanged):
            return
        self._shared.templates, self._shared.agent_prompt = load_templates(), load_prompt("agent")

    # the library ---------------------------------------------------------------------------------

    def sessions(self, most: int | None = None) -> list[SessionRow]:
        """All complete sessions but those put away, the latest changed first; ``most``: how many
        at most."""
        return self.store.sessions(most=most)

    async def import_file(
        self,
        path: Path,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
        followed: FollowedFile | None = None,
    ) -> ImportReport:
        """Import a session and those that come with it, or update what came from the file.
        ``session_id``: which session of a file that holds several; see ``Adapter.open``.
        ``followed``: of a file that is imported whenever it grows, without those that come with it.

        Raises FormatError, StoreError, OSError, or asyncio.CancelledError when cancelled.
        """
        if followed is None:
            report = await asyncio.to_thread(
                self.import_blocking, path, progress, cancelled, session_id
            )
        else:
            report = await asyncio.to_thread(followed.read, self.store, path, session_id)
        self.take_import(report)
        if not (followed is not None and report.unchanged):
            self.hub.publish(SessionsChanged())
        return report

    def take_import(self, report: ImportReport) -> None:
        """Bring an opened session up to date with what was imported of it. Raises StoreError."""
        if document := self._open.get(report.key):
            leaf = self.store.session(report.key).leaf  # first: what is pulled then reaches to it
            document.take_changed(report.replaced)
            document.writer.pull()
            document.writer.follow_leaf(leaf)

    def import_blocking(
        self,
        path: Path,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
        alone: bool = False,
    ) -> ImportReport:
        """``import_file`` for callers without an event loop, and without changes published.
        ``alone``: without the sessions that come with it."""
        adapter = adapter_for(path)
        source = adapter.open(path, cancelled=cancelled, session_id=session_id)
        report = self.store.import_session(source, progress=progress, cancelled=cancelled)
        if not alone:
            report.problems.extend(self._import_related(path, session_id, cancelled))
        return report

    async def import_related(self, path: Path, session_id: str, cancelled: IsCancelled) -> None:
        """Import the sessions that come with one, as far as they can be read. Raises FormatError,
        OSError, StoreError, ImportCancelled."""
        await asyncio.to_thread(self._import_related, path, session_id, cancelled)
        self.hub.publish(SessionsChanged())

    def _import_related(
        self, path: Path, session_id: str, cancelled: IsCancelled | None
    ) -> list[Problem]:
        """What could not be imported of it: the session itself is here whatever comes with it."""
        adapter, problems = adapter_for(path), list[Problem]()
        for one in adapter.related(path, session_id):
            try:
                other = adapter.open(one.path, cancelled=cancelled, session_id=one.session_id)
                self.store.import_session(other, cancelled=cancelled)
            except (FormatError, OSError) as error:
                reason = str(error) if isinstance(error, FormatError) else error.strerror or error
                problems.append(Problem(0, f"{one.path} was not imported with it: {reason}"))
        return problems

    async def create(self, cwd: str | Path, name: str = "") -> Document:
        """Begin a session without entries in the folder ``cwd``, and open it.

        ``name``: what the person calls it. Raises StoreError, ValueError for a clock out of bounds.
        """
        header = new_header(str(cwd), self._clock_ms(), self._random)
        key = await asyncio.wrap_future(self.store.create_session(header))
        document = await self.open(key)
        if name.strip():
            await document.edits.rename(name.strip())
        self.hub.publish(SessionsChanged())
        return document

    async def remove(self, key: int) -> None:
        """Take a session out of the database, and its transcripts and the whole outputs of its
        commands with it; the file that it came from stays. Raises StoreError, OSError."""
        self._open.pop(key, None)
        session_id = self.store.session(key).session_id
        await asyncio.wrap_future(self.store.delete(key))
        await asyncio.to_thread(Transcripts(self.store.path, session_id).remove)
        await asyncio.to_thread(remove_outputs, self.store.path, session_id)
        self.hub.publish(SessionsChanged())

    async def arrange(
        self, keys: Sequence[int], field: Arranged, value: float | str | None
    ) -> None:
        """Put sessions into the archive or the trash (milliseconds since 1970, None takes them out
        again), or write a note on them, or their labels, one a line. Raises StoreError."""
        await asyncio.wrap_future(self.store.arrange(keys, field, value))
        self.hub.publish(SessionsChanged())

    async def search(
        self,
        query: str,
        keys: Collection[int] | None,
        limit: int,
        is_wanted: Callable[[], bool],
        only_failures: bool = False,
    ) -> AsyncGenerator[SearchStep, None]:
        """Entries that hold all words of the query, of which secrets may be some; their lines as
        they are shown, as they are found. See ``Store.search_steps``; it ends soon after
        ``is_wanted``, called on any thread, is false. ``only_failures``: see ``has_failed``."""
        rule = has_failed if only_failures else None
        steps = self.store.search_steps(query, keys, limit, lambda: not is_wanted(), rule)
        while (step := await asyncio.to_thread(next, steps, None)) is not None:
            shown = [replace(hit, snippet=self.privacy.shown(hit.snippet)) for hit in step.hits]
            yield replace(step, hits=shown)

    # one session ---------------------------------------------------------------------------------

    async def open(self, key: int) -> Document:
        """Open a session; the same key gives the same document. Raises StoreError."""
        if key not in self._open:
            loaded = await asyncio.to_thread(self.store.load, key)
            self._open.setdefault(key, self._document(loaded))
        return self._open[key]

    def open_blocking(self, key: int) -> Document:
        """``open`` for callers without an event loop."""
        return self._open.setdefault(key, self._document(self.store.load(key)))

    def _document(self, loaded: LoadedSession) -> Document:
        return Document(self._shared, loaded, self._clock_ms, self._random)

    def close(self, key: int) -> None:
        """Forget an opened session; everything of it is in the database already."""
        self._open.pop(key, None)

    async def export(
        self,
        key: int,
        path: Path,
        form: ExportForm = "original",
        progress: Callable[[int], None] | None = None,
        leaf: int | None = None,
        *,
        whole: bool = False,
    ) -> ExportReport:
        """Write a session to a file, whole or not at all; see ``write_session``. ``leaf``: where an
        agent that reads it shall go on, by default at the session's leaf; a transcript is that of
        the path to it, or with ``whole`` of all branches. Raises ExportError, OSError."""
        document = await self.open(key)
        at = document.leaf if leaf is None else leaf
        leaf_id = document.tree.columns.ids[at] if at >= 0 else ""
        mark = LeafMark(leaf_id, new_id(document.tree, self._random), self._clock_ms())
        return await asyncio.to_thread(
            write_session, document, path, form, mark, progress, whole=whole
        )

    async def original_problem(self, key: int) -> str:
        """Why a session cannot be written as it was imported; empty where it can be. Raises
        StoreError."""
        return await asyncio.to_thread(original_problem, await self.open(key))

    # forks ---------------------------------------------------------------------------------------

    async def fork(
        self,
        key: int,
        at: int | None = None,
        whole: bool = False,
        name: str = "",
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Forked:
        """Store the path to ``at`` (by default the leaf), or all branches with ``at`` as the leaf,
        as a separate session; ``progress`` gets entries done and in all.

        Raises ValueError where there is no such entry, StoreError, ImportCancelled; nothing is
        stored then.
        """
        document = await self.open(key)
        at = document.leaf if at is None else at

        def work() -> Forked:
            plan = plan_fork(document.tree, at, whole)
            source = ForkSource(document, plan, name, self._clock_ms(), self._random)
            return store_fork(document, source, progress, cancelled)

        forked = await asyncio.to_thread(work)
        self.hub.publish(SessionsChanged())
        return forked

    def related(self, key: int) -> RelatedSessions:
        """The stored sessions that one was forked from or started by, and those that it started.
        Raises StoreError."""
        return related_sessions(self.store, key)

    # what others do ------------------------------------------------------------------------------

    def pull(self) -> None:
        """Take in what another window or command appended to the opened sessions."""
        for document in self._open.values():
            if document.writer.pull():
                self.hub.publish(SessionsChanged())

    def watch(self, call_soon: Callable[[Callable[[], None]], object]) -> Callable[[], None]:
        """Call ``pull`` through ``call_soon`` within a second of a foreign change; returns stop."""
        return self.store.watch(lambda: call_soon(self.pull))
