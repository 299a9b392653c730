"""A draft is checked, mended by one more call when the person asks for it, and taken or not."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject

from explorer.audit.atoms import ScanCancelled
from explorer.compaction.partition import Partition
from explorer.models.door import Cancelled, CancelToken
from explorer.store.rows import StoreError
from explorer.tokens.estimate import estimate_text
from explorer.work.auditing import Auditor
from explorer.work.document import Document
from explorer.work.drafting import Draft, DraftFailed, Order
from explorer.work.verifying import Checked, Mended, check, mend, request_for
from ui.compaction.request_window import RequestWindow
from ui.control.desk import Desk
from ui.main_window import TABS
from ui.widgets.figures import full
from ui.widgets.notice import Notice
from ui.workshop.mend_window import MendWindow


class CheckControl(QObject):
    """Owns the window; one draft at a time."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self._window: MendWindow | None = None
        self._requests: RequestWindow | None = None
        self._cancel: CancelToken | None = None
        self._document: Document | None = None
        self._auditor: Auditor | None = None
        self._draft: Draft | None = None
        self._checked: Checked | None = None
        self._mended: Mended | None = None
        desk.window.compaction.audit_asked.connect(self._asked_of_draft)
        desk.window.compaction.discard_requested.connect(lambda _draft: desk.state_changed.emit())
        desk.document_changed.connect(self._close)

    @property
    def running(self) -> bool:
        return self._cancel is not None

    @property
    def can_check(self) -> bool:
        """Whether a draft is there to be checked."""
        panel = self._desk.window.compaction
        return panel.has_drafts and isinstance(panel.draft.current, Draft)

    def stop(self) -> None:
        """Cancel what is under way; the draft and the session are not changed."""
        if self._cancel is not None:
            self._cancel.cancel()

    def _close(self) -> None:
        self.stop()
        if self._window is not None:
            self._window.close()

    def _asked_of_draft(self, what: str) -> None:
        if what == "mend":
            self.open()

    # checking ----------------------------------------------------------------------------------

    def open(self) -> None:
        """Check the draft that is shown, as it is edited by now."""
        panel, document = self._desk.window.compaction, self._desk.document
        current = panel.draft.current if panel.has_drafts else None
        found = [one for one in panel.draft.held() if one[0] is current] if current else []
        if document is None or not found or not isinstance(current, Draft) or self.running:
            return
        _, shown, text = found[0]
        self._desk.window.inspector.setCurrentIndex(TABS.index("compaction"))
        if document is not self._document:
            self._document, self._auditor = document, Auditor(document)
        self._draft = current
        window = self._window = self._window or self._made()
        window.checking(current.model)
        window.show()
        window.raise_()
        window.activateWindow()
        self._cancel = CancelToken()
        self._desk.tasks.start("Checking the draft", self._check(shown, text, self._cancel))

    def _made(self) -> MendWindow:
        window = MendWindow(self._desk.window)
        window.asked.connect(self._mend)
        window.request_asked.connect(self._show_request)
        window.model_chosen.connect(lambda _model: self._show_cost())
        window.cancel_asked.connect(self.stop)
        window.taken.connect(self._take)
        window.left.connect(window.close)
        window.entry_requested.connect(self._desk.window.map.select)
        window.closing.connect(self._closed)
        return window

    async def _check(self, shown: Partition, text: str, cancel: CancelToken) -> None:
        document, auditor, window = self._document, self._auditor, self._window
        assert document is not None and auditor is not None and window is not None
        try:
            checked = await asyncio.to_thread(
                check, document, auditor, shown, text, lambda: cancel.cancelled
            )
        except ScanCancelled:
            window.close()
            return
        except (StoreError, ValueError) as error:
            window.show_found_again(Notice("error", f"The draft cannot be checked: {error}"))
            return
        finally:
            self._cancel = None
        self._checked = checked
        panel = self._desk.window.compaction
        window.show_checked(checked, self._desk.models("summary"), panel.setup.chosen_model())
        self._show_cost()

    def _show_cost(self) -> None:
        document, checked, window = self._document, self._checked, self._window
        if document is None or checked is None or window is None or not checked.lacks:
            return
        model = window.chosen_model()
        try:
            asked = request_for(document, checked, model)
        except ValueError as error:
            window.show_cost(str(error), possible=False)
            return
        request = asked.request
        tokens = estimate_text(request.system) + estimate_text(request.prompt)
        info = document.door.info(model)
        words = f"{full(tokens)} tokens, and up to {full(request.max_output_tokens)} in the answer"
        if model.startswith("offline/"):
            words += ": nothing leaves this computer, and nothing is charged"
        elif info.input_price is not None and info.output_price is not None:
            most = tokens * info.input_price + request.max_output_tokens * info.output_price
            words += f": at most ${most:.4f}"
        else:
            words += ": its price is not known here"
        window.show_cost(f"{words}.", possible=True)

    def _show_request(self, model: str) -> None:
        document, checked, window = self._document, self._checked, self._window
        if document is None or checked is None or window is None:
            return
        try:
            asked = request_for(document, checked, model)
        except ValueError as error:
            window.show_cost(str(error), possible=False)
            return
        if self._requests is None:
            self._requests = RequestWindow(window)
            self._requests.entry_requested.connect(self._desk.window.map.select)
        self._requests.show_requests([asked.request])
        self._requests.show()
        self._requests.raise_()

    # mending -----------------------------------------------------------------------------------

    def _mend(self, model: str) -> None:
        if self.running or self._checked is None or self._window is None or self._draft is None:
            return
        self._cancel = CancelToken()
        self._window.asking(model)
        work = self._ask(self._draft, self._checked, model, self._cancel)
        self._desk.tasks.start("Mending the draft", work)

    async def _ask(self, draft: Draft, checked: Checked, model: str, cancel: CancelToken) -> None:
        document, auditor, window = self._document, self._auditor, self._window
        assert document is not None and auditor is not None and window is not None
        order = Order(
            draft.instructions, model, lambda _purpose, piece: window.stream.add(piece), cancel,
            on_progress=window.told.setText, on_restart=lambda _purpose: window.stream.begin(),
        )  # fmt: skip
        try:
            mended = await mend(document, auditor, draft, checked, order)
        except (Cancelled, asyncio.CancelledError):
            window.show_found_again(Notice("info", "Stopped.", "The draft stays as it is."))
            return
        except DraftFailed as error:
            written = "\n\n".join(part.text for part in error.parts)
            window.show_found_again(
                Notice("error", str(error), "The draft stays as it is.",
                       "Try again, or ask another model.", details=written)
            )  # fmt: skip
            return
        except (StoreError, ValueError) as error:
            window.show_found_again(Notice("error", str(error), "The draft stays as it is."))
            return
        finally:
            self._cancel = None
        if not window.isVisible():
            await self._give_up(document, mended)
            return
        self._mended = mended
        window.show_mended(mended, _facts(mended.draft))

    async def _give_up(self, document: Document, mended: Mended) -> None:
        await document.drafts.mark(mended.draft, "discarded", mended.draft.summary)

    def _take(self) -> None:
        """Put the mended draft beside the one that it was made from."""
        mended, window, document = self._mended, self._window, self._desk.document
        self._mended = None
        if window is not None:
            window.close()
        if mended is None or document is None or document is not self._document:
            return
        panel = self._desk.window.compaction
        panel.draft.finish(document, mended.draft, mended.before.shown)
        self._desk.state_changed.emit()
        self._desk.say("The mended draft is beside the other; nothing is stored before you commit.")

    def _closed(self) -> None:
        self.stop()
        mended, document = self._mended, self._document
        self._mended = None
        if mended is not None and document is not None:
            self._desk.tasks.start("Giving the draft up", self._give_up(document, mended))


def _facts(draft: Draft) -> str:
    words = [f"By {draft.model}", f"{draft.elapsed_ms / 1000:.1f} s"]
    if draft.output_tokens:
        words.append(f"{full(draft.output_tokens)} tokens written")
    return ", ".join(words)
