"""A message that is rewritten: the line above the box that says so, and the way back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence

from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.models.client import ImagePart
from explorer.services.changes import Change, LeafMoved
from explorer.services.document import Document
from explorer.services.navigation import NavigationPlan
from explorer.session.kinds import METADATA_KINDS
from ui import theme
from ui.app_state import AppState
from ui.conversation.attachments import (
    Attachment,
    AttachmentRefused,
    from_bytes,
)
from ui.conversation.pane import AgentPane
from ui.widgets.labels import ElidedLabel, LinkButton


class UnsentMessage(Struct, frozen=True):
    """Words and pictures of a message that was not sent."""

    text: str = ""
    pictures: tuple[Attachment, ...] = ()


def unsent_message(pane: AgentPane) -> UnsentMessage:
    """What stands in the box now."""
    return UnsentMessage(pane.composer.toPlainText(), pane.chips.attachments)


def restore_unsent(pane: AgentPane, what: UnsentMessage) -> None:
    """Put a message into the box in place of what is there."""
    pane.chips.clear()
    pane.composer.setPlainText(what.text)
    pane.composer.moveCursor(pane.composer.textCursor().MoveOperation.End)
    for picture in what.pictures:
        pane.chips.add(picture)


def decoded(pictures: Sequence[ImagePart]) -> tuple[tuple[Attachment, ...], list[str]]:
    """Pictures of a stored message as the box takes them, and why others cannot be; for a worker
    thread."""
    found: list[Attachment] = []
    refused: list[str] = []
    for number, picture in enumerate(pictures, 1):
        try:
            raw = base64.b64decode(picture.data_base64)
            found.append(from_bytes(raw, f"picture {number}"))
        except (binascii.Error, ValueError, AttachmentRefused) as error:
            refused.append(str(error) or f"picture {number} cannot be decoded")
    return tuple(found), refused


STORED_AS = "new_version"
"""The choice under which a session keeps that a message of it is being rewritten."""


class NewVersionStrip(QFrame):
    """One line above the message box."""

    cancelled = Signal()
    shown_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setAccessibleName("A message is written anew")
        self._sign = QLabel(self)
        self.words = ElidedLabel("", self)
        self.show_button = LinkButton("Show it", self)
        self.show_button.setToolTip("Select the message as it was on the map")
        self.show_button.clicked.connect(self.shown_asked)
        self.cancel_button = LinkButton("Cancel", self)
        self.cancel_button.setToolTip("Go back to where the leaf was; the message stays as it is")
        self.cancel_button.clicked.connect(self.cancelled)
        line = QHBoxLayout(self)
        line.setContentsMargins(theme.S16, 0, theme.S16, 0)
        line.setSpacing(theme.S8)
        line.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(self.words, 1)
        line.addWidget(self.show_button)
        line.addWidget(self.cancel_button)
        theme.on_theme_changed(self._restyle)
        self._restyle()
        self.hide()

    def _restyle(self) -> None:
        # In a low window with large text every pixel counts.
        for button in (self.show_button, self.cancel_button):
            button.setFixedHeight(button.fontMetrics().height())
        ratio = self.devicePixelRatioF()
        self._sign.setPixmap(theme.icon_pixmap("branch", "accent", theme.scaled(14), ratio))


class _Version(Struct):
    """A message that is being rewritten."""

    entry: int
    back: int
    """The leaf to go back to."""
    parent: int
    """The leaf meanwhile."""
    before: UnsentMessage
    """What stood in the box."""


class NewVersionController(QObject):
    """Keeps what is rewritten, until it is sent, cancelled, or left."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._now: _Version | None = None
        self._shown: Document | None = None
        self.strip = NewVersionStrip(state.window.agent)
        layout = state.window.agent.layout()
        assert isinstance(layout, QVBoxLayout)
        # Directly above the message box and what belongs to it.
        layout.insertWidget(layout.count() - 1, self.strip)
        self.strip.cancelled.connect(self.cancel)
        self.strip.shown_asked.connect(self._show)
        state.fillers.append(self._document_changed)

    def ready(self) -> None:
        """Begin to follow the workbench."""
        assert self._state.bench is not None
        self._state.bench.subscribe(self._changed)

    @property
    def entry(self) -> int:
        """The message that is rewritten, or -1."""
        return self._now.entry if self._now is not None else -1

    def begin(
        self, document: Document, plan: NavigationPlan, pictures: Sequence[Attachment], back: int
    ) -> None:
        """The leaf has gone to the parent of a message: put what it says into the box."""
        agent = self._state.window.agent
        before, again = unsent_message(agent), self._now
        if again is not None:
            # One new version after the other: what stood in the box before both comes back.
            before, back = again.before, again.back
        restore_unsent(agent, UnsentMessage(plan.composer_text, tuple(pictures)))
        agent.focus_composer()
        self._take(document, _Version(plan.target, back, document.leaf, before))
        ids = document.tree.columns.ids
        document.choices.set(
            STORED_AS,
            {"entry": ids[plan.target], "back": ids[back] if back >= 0 else "",
             "parent": ids[document.leaf] if document.leaf >= 0 else ""},
        )  # fmt: skip

    def _take(self, document: Document, version: _Version) -> None:
        self._now = version
        first = document.payloads.shown.previews([version.entry])[0]
        self.strip.words.setText(f"Rewriting #{version.entry} as a new version: {first}")
        self.strip.show()

    def cancel(self) -> None:
        """The leaf goes back, and the composer holds the text of before."""
        self._state.tasks.start("Going back", self._cancel())

    async def _cancel(self) -> None:
        document, now = self._state.document, self._now
        if document is None or now is None or self._state.agent_running:
            return
        self._end()
        restore_unsent(self._state.window.agent, now.before)
        await document.writer.move_leaf(now.back)
        self._state.window.map.select(now.entry)
        self._state.say("The message stays as it is; the leaf is back.")

    def _show(self) -> None:
        if self._now is not None:
            self._state.window.map.select(self._now.entry)
            self._state.window.map.setFocus()

    # when it is over -----------------------------------------------------------------------------

    def _end(self) -> None:
        if self._now is not None:
            self._now = None
            if self._shown is not None:
                self._shown.choices.set(STORED_AS, None)
        self.strip.hide()

    def _changed(self, change: Change) -> None:
        document, now = self._state.document, self._now
        if now is None or document is None or not isinstance(change, LeafMoved):
            return
        if change.key != document.key or change.new == now.parent:
            return
        tree = document.tree
        beside = change.new >= 0 and tree.kind(change.new) in METADATA_KINDS
        if beside and tree.columns.parent[change.new] == now.parent:
            now.parent = change.new  # a name or a label: the message is still to be sent here
        else:
            self._end()

    def _document_changed(self) -> None:
        """Another session is shown; one that was left in the middle of this goes on with it."""
        document = self._state.document
        if document is self._shown:
            return
        self._shown, self._now = document, None
        self.strip.hide()
        stored = document.choices.all().get(STORED_AS) if document is not None else None
        if document is None or not isinstance(stored, Mapping):
            return
        entry, back, parent = (
            document.tree.index_of(str(stored.get(name, "")))
            for name in ("entry", "back", "parent")
        )
        if entry >= 0 and parent == document.leaf:
            self._take(document, _Version(entry, back, parent, UnsentMessage()))
