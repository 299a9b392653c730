"""Pinning and omitting entries, keeping the user's messages, and taking all that back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QObject, Signal

from explorer.store.rows import StoreError
from explorer.work.document import Document, NothingToUndo
from explorer.work.shaping import CannotShape, Shaped
from ui.control.desk import Desk
from ui.widgets.figures import count, full


class ShapingControl(QObject):
    """What a person does to entries, from the map, the inspector, the ledger or the palette.

    Every method starts a task and tells in the status line what came of it.
    """

    changed = Signal()
    """Something was pinned, omitted, or is no more."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk

    def pin(self, entries: Sequence[int], reason: str = "") -> None:
        """Keep entries of the active path word for word through every compaction."""
        self._start("Pinning", lambda document: self._pin(document, list(entries), reason))

    def unpin(self, entries: Sequence[int]) -> None:
        """End their pins."""
        self._start("Unpinning", lambda document: self._unpin(document, list(entries)))

    def omit(self, entries: Sequence[int], reason: str = "") -> None:
        """Leave entries, with their whole rounds, out of the context and of summaries."""
        self._start("Omitting", lambda document: self._omit(document, list(entries), reason))

    def take_in(self, entries: Sequence[int]) -> None:
        """End their omission."""
        self._start("Taking in", lambda document: self._take_in(document, list(entries)))

    def toggle_pin(self, entry: int) -> None:
        """Pin an entry, or unpin it."""
        document = self._desk.document
        if document is not None:
            (self.unpin if entry in document.shape().pinned else self.pin)([entry])

    def toggle_omission(self, entry: int) -> None:
        """Omit an entry, or take it in again."""
        document = self._desk.document
        if document is not None:
            (self.take_in if entry in document.shape().omitted else self.omit)([entry])

    def keep_user_messages(self, tokens: int) -> None:
        """Keep the user's messages up to so many tokens; 0: none."""
        self._start("Keeping messages", lambda document: self._keep(document, tokens))

    def undo(self, entry: int | None = None) -> None:
        """Take back one of these entries, by default the latest."""
        self._start("Undoing", lambda document: self._undo(document, entry))

    # doing ---------------------------------------------------------------------------------------

    def _start(self, title: str, work: Callable[[Document], Awaitable[str]]) -> None:
        desk, document = self._desk, self._desk.document
        if document is None:
            return
        if desk.agent_running:
            desk.say("The agent is still answering; stop it first.")
            return
        desk.tasks.start(title, self._done(document, work))

    async def _done(self, document: Document, work: Callable[[Document], Awaitable[str]]) -> None:
        desk = self._desk
        try:
            said = await work(document)
        except (CannotShape, NothingToUndo) as error:
            desk.say(str(error))
            return
        except StoreError as error:
            desk.notice("error", str(error), "Nothing was changed.")
            return
        self.changed.emit()
        desk.say(said)

    async def _pin(self, document: Document, entries: list[int], reason: str) -> str:
        made = await document.pin(entries, reason)
        return (
            f"{_entries(made)} pinned, {full(made.tokens)} tokens: kept word for word through"
            " every compaction; undo takes it back."
        )

    async def _unpin(self, document: Document, entries: list[int]) -> str:
        made = await document.unpin(entries)
        return f"{_entries(made)} unpinned; undo takes it back."

    async def _omit(self, document: Document, entries: list[int], reason: str) -> str:
        made = await document.omit(entries, reason)
        more = ""
        if len(made.entries) > len(set(entries)):
            more = ", a call and its results together"
        return (
            f"{_entries(made)} omitted{more}, {full(made.tokens)} tokens: left out of the context"
            " and of summaries; undo takes it back."
        )

    async def _take_in(self, document: Document, entries: list[int]) -> str:
        made = await document.take_in(entries)
        return f"{_entries(made)} taken in again; undo takes it back."

    async def _keep(self, document: Document, tokens: int) -> str:
        await document.keep_user_messages(tokens)
        if not tokens:
            return "Your messages are summarized like all others; undo takes it back."
        return (
            f"Your own messages are kept word for word through compactions, the newest first, up"
            f" to {full(tokens)} tokens; undo takes it back."
        )

    async def _undo(self, document: Document, entry: int | None) -> str:
        undone = await document.undo_shaping(entry)
        return f"{TAKEN_BACK[undone.kind]}; its entry stays in the session."


TAKEN_BACK = {
    "pin": "What was said about pins was taken back",
    "omit": "What was said about omissions was taken back",
    "keep-user-messages": "The rule about your own messages was taken back",
}


def _entries(made: Shaped) -> str:
    return count(len(made.entries), "entry", "entries")
