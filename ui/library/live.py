"""A session that its own agent is writing grows in the window as it is written."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from PySide6.QtCore import QObject

from explorer.formats.adapter import FormatError, ReadCancelled
from explorer.formats.registry import adapter_of
from explorer.services.changes import EntriesAppended
from explorer.services.document import Document
from explorer.services.follower import follow
from explorer.session.kinds import Kind
from explorer.store.rows import ImportCancelled, StoreError
from ui.app_state import AppState
from ui.widgets.figures import count, short


class LiveController(QObject):
    """Follows the files of the session that is shown, from when it is opened until another is."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._task: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        """Cancelled, and not yet done with letting their files go."""
        state.fillers.append(self._follow)
        state.document_changed.connect(self.stop)
        state.bus.on_shown(EntriesAppended, self._appended)

    def follows(self, path: Path, session_id: str) -> bool:
        """Whether this is the session that is followed. ``session_id``: which one, of a file that
        holds several; else empty."""
        document = self._state.document
        if self._task is None or document is None or document.row.path != str(path):
            return False
        return session_id in ("", document.header.session_id)

    def stop(self) -> None:
        """Follow no session."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
            task.cancel()

    async def close(self) -> None:
        """Follow no session, and wait until the files are let go."""
        self.stop()
        if self._ending:
            await asyncio.wait(set(self._ending))

    def _follow(self) -> None:
        self.stop()
        document = self._state.document
        if document is not None and document.row.path:
            self._task = asyncio.ensure_future(self._followed(document))

    async def _followed(self, document: Document) -> None:
        bench = self._state.bench
        assert bench is not None
        path = Path(document.row.path)
        if not await asyncio.to_thread(path.is_file):
            return
        reports = follow(bench, path, document.header.session_id)
        try:
            async with contextlib.aclosing(reports):
                async for _report in reports:
                    pass  # the bus has told every view
        except (FormatError, StoreError, OSError, ImportCancelled, ReadCancelled) as error:
            self._state.say(f"The session's file is not followed: {error}")

    def _appended(self, change: EntriesAppended) -> None:
        """Say at once that the session's own agent has compacted."""
        document = self._state.document
        assert document is not None
        new = range(change.first, change.first + change.count)
        columns = document.tree.columns
        made = [at for at in new if columns.kind[at] == Kind.COMPACTION]
        if not made or document.writer.made_here(made[-1]):
            return
        at = made[-1]
        sent = set(document.context(at).messages)
        before = document.context(columns.parent[at]).messages
        dropped = [entry for entry in before if entry not in sent]
        recorded = columns.compactions[at].tokens_before
        sizes = f"It recorded {short(recorded)} tokens before. " if recorded > 0 else ""
        self._state.notice(
            "info",
            f"{adapter_of(document.header.format).title} has compacted this session: "
            f"{count(len(dropped), 'entry', 'entries')} left its context "
            f"(≈ {short(sum(map(document.tokens.entry_tokens, dropped)))} tokens).",
            f"{sizes}What it wrote in their place is #{at}.",
            action="See what was lost",
            on_action=lambda: self._show(at),
        )

    def _show(self, entry: int) -> None:
        self._state.select(entry)
        self._state.window.show_tab("audit")
