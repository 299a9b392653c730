"""Putting sessions into the archive and the trash and writing notes on them, each step undoable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from explorer.services.related_sessions import started_by
from explorer.store.rows import SessionRow, StoreError
from explorer.store.sessions import Arranged, now_ms
from explorer.workbench import Workbench
from ui.app_state import AppState
from ui.widgets.figures import count

MOST_STEPS = 100
Value = float | str | None


class Step(Struct, frozen=True):
    """What was done, and what the sessions had before."""

    words: str
    """In the past, such as ``2 sessions moved to the trash``."""
    field: Arranged
    before: Mapping[Value, Sequence[int]]
    """Keys of sessions by the value that they had."""
    closed: int = 0
    """The session that was shown until then; 0 for none."""


def named(rows: Sequence[SessionRow], with_agents: Sequence[SessionRow] = ()) -> str:
    """Sessions in words: the title of one, else how many. ``with_agents``: the same with the
    sub-agents that they started."""
    agents = len(with_agents) - len(rows)
    if agents > 0:
        whose = "its" if len(rows) == 1 else "their"
        return f"{count(len(rows), 'session')} and {whose} {count(agents, 'sub-agent')}"
    if len(rows) == 1:
        return f"“{' '.join(rows[0].title.split()) or 'Untitled session'}”"
    return count(len(rows), "session")


def _value(row: SessionRow, field: Arranged) -> Value:
    """What is stored of a session; None for nothing."""
    if field == "labels":
        return "\n".join(row.labels) or None
    value: Value = getattr(row, field)
    return value or None


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
        """Out of the library and the archive, with the sub-agents that they started; the files of
        agents stay."""
        now = now_ms()
        self._start(rows, "trashed_ms", lambda _row: now, "{} moved to the trash")

    def _move_one(self, key: int) -> None:
        bench = self._state.bench
        if bench is not None:
            self.move_to_trash([row for row in bench.sessions() if row.key == key])

    def archive(self, rows: Sequence[SessionRow]) -> None:
        """Out of the list, for later."""
        now = now_ms()
        self._start(rows, "archived_ms", lambda _row: now, "{} archived")

    def put_back(self, rows: Sequence[SessionRow]) -> None:
        """Out of the trash, with the sub-agents that are there, or else out of the archive."""
        field: Arranged = "trashed_ms" if any(row.trashed_ms for row in rows) else "archived_ms"
        self._start(rows, field, lambda _row: None, "{} put back")

    def write_note(self, rows: Sequence[SessionRow], note: str) -> None:
        """Write the same note on each session."""
        self._start(rows, "note", lambda _row: note or None,
                    "Note on {} " + ("changed" if note else "removed"))  # fmt: skip

    def label(self, rows: Sequence[SessionRow], label: str, on: bool) -> None:
        """Put a label on each, or take it away."""
        one = {" ".join(label.split())} - {""}

        def labels(row: SessionRow) -> str | None:
            kept = {*row.labels} | one if on else {*row.labels} - one
            return "\n".join(sorted(kept, key=str.casefold)) or None

        changed = [row for row in rows if one and (label in row.labels) != on]
        words = "Label “" + "".join(one).replace("{", "{{").replace("}", "}}") + "” "
        self._start(changed, "labels", labels, words + ("put on {}" if on else "taken from {}"))

    def _start(
        self,
        rows: Sequence[SessionRow],
        field: Arranged,
        value: Callable[[SessionRow], Value],
        words: str,
    ) -> None:
        """``words``: with a place for the names of the sessions."""
        if rows:
            work = self._arrange(list(rows), field, value, words)
            self._state.tasks.start("Arranging the sessions", work)

    async def _arrange(
        self,
        chosen: Sequence[SessionRow],
        field: Arranged,
        value: Callable[[SessionRow], Value],
        words: str,
    ) -> None:
        bench, document = self._state.bench, self._state.document
        if bench is None:
            return
        rows = chosen
        if field == "trashed_ms":
            rows = await self._with_agents(bench, chosen)
        before: dict[Value, list[int]] = {}
        after: dict[Value, list[int]] = {}
        for row in rows:
            before.setdefault(_value(row, field), []).append(row.key)
            after.setdefault(value(row), []).append(row.key)
        if not await self._try(after, field):
            return
        closed = 0
        keys = {row.key for row in rows}
        if field == "trashed_ms" and None not in after and document and document.key in keys:
            closed = document.key
            self._state.show(None)
            bench.close(closed)
        step = Step(words.format(named(chosen, rows)), field, before, closed)
        self._steps = [*self._steps[1 - MOST_STEPS :], step]
        self.done.emit(step)

    async def _with_agents(
        self, bench: Workbench, chosen: Sequence[SessionRow]
    ) -> list[SessionRow]:
        """With the sub-agents that they started and that are where they are, in the trash or out
        of it."""
        listed = await asyncio.to_thread(bench.store.sessions, all_places=True)
        agents = started_by(listed, {row.key for row in chosen})
        in_trash = any(row.trashed_ms for row in chosen)
        return [*chosen, *(row for row in agents if bool(row.trashed_ms) == in_trash)]

    def undo(self) -> None:
        """Take the last step back."""
        if self._steps:
            self._state.tasks.start("Taking back", self._undo(self._steps.pop()))

    async def _undo(self, step: Step) -> None:
        if not await self._try(step.before, step.field):
            return
        if step.closed and self._state.document is None:
            await self._open_again(step.closed)
        self.undone.emit(step)

    async def _try(self, parts: Mapping[Value, Sequence[int]], field: Arranged) -> bool:
        """``parts``: keys of sessions by what they get."""
        assert self._state.bench is not None
        try:
            for value, keys in parts.items():
                await self._state.bench.arrange(keys, field, value)
        except StoreError as error:
            self._state.notice("error", str(error), "The sessions are as they were.")
            return False
        return True
