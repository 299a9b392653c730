"""Putting sessions into the archive and the trash and writing notes on them, each step undoable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from explorer.store.rows import SessionRow, StoreError
from explorer.store.sessions import Arranged, now_ms
from ui.app_state import AppState
from ui.widgets.figures import count

MOST_STEPS = 100
Value = float | str | None


@dataclass(frozen=True, slots=True)
class Step:
    """What was done, and what the sessions had before."""

    words: str
    """In the past, such as ``2 sessions moved to the trash``."""
    field: Arranged
    before: Mapping[Value, Sequence[int]]
    """Keys of sessions by the value that they had."""
    closed: int = 0
    """The session that was shown until then; 0 for none."""


def named(rows: Sequence[SessionRow]) -> str:
    """Sessions in words: the title of one, else how many."""
    if len(rows) == 1:
        return f"“{' '.join(rows[0].title.split()) or 'Untitled session'}”"
    return count(len(rows), "session")


class ArrangementController(QObject):
    """Arranges sessions, and takes the last steps back."""

    done = Signal(object)
    """A ``Step`` was done."""
    undone = Signal(object)
    """A ``Step`` was taken back."""

    def __init__(self, state: AppState, open_again: Callable[[int], Awaitable[None]]) -> None:
        """``open_again``: shows a session whose removal from the library was taken back."""
        super().__init__(state)
        self._state, self._open_again = state, open_again
        self._steps: list[Step] = []
        state.window.library.trash_requested.connect(self._move_one)

    @property
    def last(self) -> Step | None:
        """What ``undo`` takes back."""
        return self._steps[-1] if self._steps else None

    def move_to_trash(self, rows: Sequence[SessionRow]) -> None:
        """Out of the library and the archive; the files of agents stay."""
        self._start(rows, "trashed_ms", now_ms(), f"{named(rows)} moved to the trash")

    def _move_one(self, key: int) -> None:
        bench = self._state.bench
        if bench is not None:
            self.move_to_trash([row for row in bench.sessions() if row.key == key])

    def archive(self, rows: Sequence[SessionRow]) -> None:
        """Out of the list, for later."""
        self._start(rows, "archived_ms", now_ms(), f"{named(rows)} archived")

    def put_back(self, rows: Sequence[SessionRow]) -> None:
        """Out of the trash, or else out of the archive."""
        field: Arranged = "trashed_ms" if any(row.trashed_ms for row in rows) else "archived_ms"
        self._start(rows, field, None, f"{named(rows)} put back")

    def write_note(self, rows: Sequence[SessionRow], note: str) -> None:
        """The same note on each."""
        words = f"note on {named(rows)} " + ("changed" if note else "removed")
        self._start(rows, "note", note or None, words)

    def _start(self, rows: Sequence[SessionRow], field: Arranged, value: Value, words: str) -> None:
        if rows:
            work = self._arrange(list(rows), field, value, f"{words[:1].upper()}{words[1:]}")
            self._state.tasks.start("Arranging the sessions", work)

    async def _arrange(
        self, rows: Sequence[SessionRow], field: Arranged, value: Value, words: str
    ) -> None:
        bench, document = self._state.bench, self._state.document
        if bench is None:
            return
        before: dict[Value, list[int]] = {}
        for row in rows:
            before.setdefault(getattr(row, field) or None, []).append(row.key)
        keys = [row.key for row in rows]
        if not await self._try([(keys, value)], field):
            return
        closed = 0
        if field == "trashed_ms" and value and document is not None and document.key in keys:
            closed = document.key
            self._state.show(None)
            bench.close(closed)
        step = Step(words, field, before, closed)
        self._steps = [*self._steps[1 - MOST_STEPS :], step]
        self.done.emit(step)

    def undo(self) -> None:
        """Take the last step back."""
        if self._steps:
            self._state.tasks.start("Taking back", self._undo(self._steps.pop()))

    async def _undo(self, step: Step) -> None:
        parts = [(keys, value) for value, keys in step.before.items()]
        if not await self._try(parts, step.field):
            return
        if step.closed and self._state.document is None:
            await self._open_again(step.closed)
        self.undone.emit(step)

    async def _try(self, parts: Sequence[tuple[Sequence[int], Any]], field: Arranged) -> bool:
        assert self._state.bench is not None
        try:
            for keys, value in parts:
                await self._state.bench.arrange(keys, field, value)
        except StoreError as error:
            self._state.notice("error", str(error), "The sessions are as they were.")
            return False
        return True
