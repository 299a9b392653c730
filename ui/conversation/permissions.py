"""What the agent may do without asking, and the questions to the person that are open."""

from __future__ import annotations

import asyncio

from msgspec import Struct
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QMessageBox

from explorer.agent.approval import ApprovalAnswer, ApprovalMode, ApprovalRequest
from explorer.models.client import Cancelled, CancelToken
from explorer.services.document import Document
from ui.app_state import AppState

CHOICE = "approval_mode"
"""Under which a session keeps that its agent only reads. That everything is allowed is not stored:
it holds until the session is closed."""
_MODES: tuple[ApprovalMode, ...] = ("ask", "read-only", "yes")


class _Open(Struct, eq=False):
    """A question that waits for its answer."""

    request: ApprovalRequest
    document: Document | None
    answer: asyncio.Future[ApprovalAnswer]


class PermissionController(QObject):
    """The ``Approver`` of the window's agent: shows one question after the other on the card."""

    mode_changed = Signal()

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._open: list[_Open] = []
        self._mode: ApprovalMode = "ask"
        self._confirmed = False
        """Whether the meaning of allowing everything was explained for the session shown."""
        self._shown: Document | None = None
        self.dialog: QMessageBox | None = None
        self._pane = pane = state.window.agent
        self._bar, self._card = pane.bar, pane.card
        self._bar.mode_chosen.connect(self.choose)
        self._card.answered.connect(self._answered)
        state.document_changed.connect(self._document_changed)

    # the mode ------------------------------------------------------------------------------------

    @property
    def mode(self) -> ApprovalMode:
        """What holds for the session shown, now."""
        return self._mode

    def _document_changed(self) -> None:
        document = self._state.document
        if document is self._shown:
            return
        self._shown, self._confirmed = document, False
        stored = document.choices.all().get(CHOICE) if document is not None else None
        self._set("read-only" if stored == "read-only" else "ask")

    def choose(self, mode: str) -> None:
        """The person chose a mode; to allow everything is asked back once per session."""
        wanted = next(known for known in _MODES if known == mode)
        if wanted == "yes" and not self._confirmed:
            self._confirm()
        else:
            self._take(wanted)

    def _take(self, mode: ApprovalMode) -> None:
        self._set(mode)
        if self._state.document is not None:
            self._state.document.choices.set(CHOICE, mode if mode == "read-only" else None)

        self._settle(mode)

    def _settle(self, mode: ApprovalMode) -> None:
        """Questions that are open are answered by a mode that leaves nothing to ask."""
        settled = {
            "yes": ApprovalAnswer("once"),
            "read-only": ApprovalAnswer("deny", note="only tools that look may be used now"),
        }
        for one in self._open:
            if mode == "yes" and one.request.protected:
                continue
            if mode in settled and not one.answer.done():
                one.answer.set_result(settled[mode])

    def _set(self, mode: ApprovalMode) -> None:
        self._mode = mode
        self._bar.set_mode(mode)
        self.mode_changed.emit()

    def _confirm(self) -> None:
        self._bar.set_mode(self._mode)
        self.dialog = box = QMessageBox(self._state.window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Allow all")
        box.setText("Let the agent change files and run commands without asking?")
        box.setInformativeText(
            "Its file tools stay in its folder, but commands are not held to it: they can do "
            "whatever you can do on this computer. Files that git, a shell, an editor or an agent "
            "obeys later are still asked about. This holds for this session until it is closed."
        )
        allow = box.addButton("&Allow all", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton("&Leave it as it is", QMessageBox.ButtonRole.RejectRole))

        def closed(_result: int) -> None:
            self.dialog = None
            if box.clickedButton() is allow:
                self._confirmed = True
                self._take("yes")

        box.finished.connect(closed)
        box.finished.connect(box.deleteLater)
        box.open()

    # questions -----------------------------------------------------------------------------------

    @property
    def waiting(self) -> tuple[ApprovalRequest, ...]:
        """The questions that are open, the one that is shown first."""
        return tuple(one.request for one in self._open)

    def focus(self) -> None:
        """Put the keyboard on the question that is shown."""
        if self._open:
            self._card.setFocus()

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """The person's answer. Raises Cancelled when the turn is stopped while it waits."""
        loop = asyncio.get_running_loop()
        one = _Open(request, self._state.document, loop.create_future())

        def give_up() -> None:
            if not one.answer.done():
                one.answer.set_exception(Cancelled())

        def cancelled() -> None:
            loop.call_soon_threadsafe(give_up)

        remove = cancel.add_callback(cancelled)
        conversation = self._pane.conversation
        self._open.append(one)
        conversation.set_waiting(request.call.id, True)
        self._show()
        try:
            return await one.answer
        finally:
            remove()
            self._open.remove(one)
            conversation.set_waiting(request.call.id, False)
            self._show()

    def _answered(self, request: ApprovalRequest, answer: ApprovalAnswer) -> None:
        for one in self._open:
            if one.request is request and not one.answer.done():
                one.answer.set_result(answer)
                return

    def _show(self) -> None:
        pane, card = self._pane, self._card
        is_new = bool(self._open) and self._open[0].request is not card.request
        focus = QApplication.focusWidget()
        had_keys = focus is not None and (focus is card or card.isAncestorOf(focus))
        first = self._open[0].request if self._open else None
        # There is room for it before it is there: a window that grew stays large.
        pane.show_room(first is not None)
        card.show_request(first, len(self._open))
        pane.set_waiting(first is not None)
        self._state.state_changed.emit()
        if is_new and (had_keys or self._box_is_empty()):
            card.setFocus()
        elif not self._open and had_keys:
            pane.focus_composer()

    def _box_is_empty(self) -> bool:
        """Whether the keyboard is in the message box, and nothing was written there."""
        composer = self._pane.composer
        return composer.hasFocus() and not composer.toPlainText()
