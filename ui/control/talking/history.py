"""What stands in the message box when a session is opened, and what Up calls back into it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from explorer.agent.prompt import Prompt
from explorer.session.describe import text_of
from explorer.session.kinds import Kind, selector
from explorer.work.changes import Change, LeafMoved
from explorer.work.document import Document
from ui.control.desk import Desk

UNSENT = "unsent"
"""Under which a session keeps what was written and not sent."""
MOST_HISTORY = 50
_USER = selector(frozenset({Kind.USER}))


class HistoryControl(QObject):
    """Unsent words go with their session; history is the path's messages and what was sent."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self._shown: Document | None = None
        self._sent: dict[int, list[str]] = {}
        """What was sent from the box since the window was opened, by session: commands, and
        messages of other branches too."""

    def ready(self) -> None:
        """The workbench is there."""
        assert self._desk.bench is not None
        self._desk.bench.subscribe(self._changed)

    def remember(self, text: str) -> None:
        """A text was sent."""
        document = self._desk.document
        if document is None or not text:
            return
        sent = self._sent.setdefault(document.key, [])
        if text in sent:
            sent.remove(text)
        sent.append(text)
        del sent[:-MOST_HISTORY]

    def keep_unsent(self) -> None:
        """What stands in the box is kept with the session that it was written in."""
        if self._shown is not None:
            text = self._desk.window.agent.composer.toPlainText()
            self._shown.choose(UNSENT, text or None)

    def document_changed(self) -> bool:
        """Put what was not sent into the box; whether another session is shown."""
        document = self._desk.document
        if self._shown is document:
            return False
        self.keep_unsent()
        self._shown = document
        pane = self._desk.window.agent
        pane.chips.clear()
        unsent = document.choices().get(UNSENT) if document is not None else ""
        pane.composer.setPlainText(unsent if isinstance(unsent, str) else "")
        return True

    def put_back(self, document: Document, prompts: Sequence[Prompt]) -> None:
        """Texts that the agent did not get return to the box of their session."""
        text = "\n\n".join(prompt.text for prompt in prompts if prompt.text)
        if document is self._desk.document:
            self._desk.window.agent.composer.put_back(text)
        elif text:
            kept = document.choices().get(UNSENT)
            document.choose(UNSENT, f"{text}\n\n{kept}" if isinstance(kept, str) else text)

    def _changed(self, change: Change) -> None:
        document = self._desk.document
        if isinstance(change, LeafMoved) and document is not None and change.key == document.key:
            parents = document.tree.columns.parent
            parent_moved = change.new < 0 or parents[change.new] != change.old
            if parent_moved:
                self.fill()

    def fill(self) -> None:
        """What was asked on the path, and sent here, can be called back into the box."""
        document = self._desk.document
        if document is None:
            return
        columns = document.tree.columns
        asked = document.tree.path(document.leaf).select(columns.kind, _USER)[-MOST_HISTORY:]
        texts = [
            text_of(e.get("message", {}).get("content")) for e in document.payloads.entries(asked)
        ]
        sent = self._sent.get(document.key, [])
        path = [text for text in texts if text and text not in sent]
        self._desk.window.agent.composer.set_history([*path, *sent])
