"""A summary is checked, mended by one more call when the person asks for it, and taken or not.

A draft, or what a compaction of the session stored: then what is taken is a new draft, to
be committed where that compaction was made.
"""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject

from explorer.audit.findings import Finding
from explorer.compaction.partition import Partition
from explorer.facts.fact_table import (
    ScanCancelled,
)
from explorer.models.client import Cancelled, CancelToken
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.services.summary_audit import Audited, Auditor
from explorer.services.verification import Checked, Mended, check, mend, request_for
from explorer.session.context import latest_on_path
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from explorer.tokens.estimate import estimate_text
from ui.app_state import AppState
from ui.compaction.request_window import RequestWindow
from ui.shell.dialogs import present
from ui.widgets.figures import full
from ui.widgets.notice import Notice
from ui.widgets.steps import StepRunner
from ui.workshop.mend_window import MendWindow


class SummaryCheckController(QObject):
    """Owns the window; one summary at a time."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._window: MendWindow | None = None
        self._requests: RequestWindow | None = None
        self._cancel: CancelToken | None = None
        self._turns = StepRunner(self)
        self._document: Document | None = None
        self._auditor: Auditor | None = None
        self._draft: Draft | None = None
        self._checked: Checked | None = None
        self._mended: Mended | None = None
        state.window.compaction.audit_asked.connect(self._asked_of_draft)
        state.window.compaction.discard_requested.connect(lambda _draft: state.state_changed.emit())
        state.document_changed.connect(self._other_document)

    @property
    def running(self) -> bool:
        return self._cancel is not None

    @property
    def can_check(self) -> bool:
        """Whether a draft or a compaction is there to be checked."""
        document = self._state.document
        if document is None:
            return False
        return self._draft_shown() is not None or bool(document.tree.columns.compactions)

    def _draft_shown(self) -> tuple[Draft, Partition, str] | None:
        """The draft that is shown, what it was made from, and its text as it is edited by now."""
        panel = self._state.window.compaction
        for draft, shown, text in panel.drafts():
            if draft is panel.current_draft and isinstance(draft, Draft):
                return draft, shown, text
        return None

    def stop(self) -> None:
        """Cancel what is under way; the draft and the session are not changed."""
        if self._cancel is not None:
            self._cancel.cancel()

    def _other_document(self) -> None:
        """What was checked is of a session that is not shown any more."""
        self.stop()
        if self._window is not None:
            self._window.close()
        if self._requests is not None:
            self._requests.close()
        self._document = self._auditor = self._draft = self._checked = self._mended = None

    def _asked_of_draft(self, what: str) -> None:
        if what == "mend":
            self.open()

    # checking ----------------------------------------------------------------------------------

    def open(self) -> None:
        """Check the draft that is shown, else the compaction that is selected, else the latest
        one of the active path."""
        document = self._state.document
        if document is None:
            return
        if (found := self._draft_shown()) is not None:
            draft, shown, text = found
            self._state.window.show_tab("compaction")
            self._open(document, draft, shown, text, f"the draft by {draft.model}")
            return
        selected = self._state.selected
        if 0 <= selected < len(document.tree) and document.tree.kind(selected) is Kind.COMPACTION:
            self.open_compaction(selected)
            return
        path = document.tree.path(document.leaf)
        at = latest_on_path(document.tree, path, Kind.COMPACTION)
        if at < 0:
            self._state.say("No compaction is on the active path: select one on the map.")
            return
        self.open_compaction(path[at])

    def act_on(self, act: str, _finding: Finding, audited: Audited) -> None:
        """Check the summary of a finding that is to be mended: a compaction, or the draft."""
        if act == "mend" and audited.entry >= 0:
            self.open_compaction(audited.entry)
        elif act == "mend":
            self.open()

    def open_compaction(self, entry: int) -> None:
        """Check what a compaction of the session stored; shows the reason where that cannot be."""
        document = self._state.document
        if document is not None and not self._is_busy():
            self._cancel = CancelToken()
            work = self._open_stored(document, entry, self._cancel)
            self._state.tasks.start("Reading the compaction", work)

    async def _open_stored(self, document: Document, entry: int, cancel: CancelToken) -> None:
        state = self._state
        try:
            found = await asyncio.to_thread(
                document.compaction.stored_summary, entry, state.profile, state.settings
            )
        except ValueError as error:
            state.notice("info", str(error), "Nothing was changed.")
            return
        except StoreError as error:
            state.notice("error", f"#{entry} cannot be read: {error}", "Nothing was changed.")
            return
        finally:
            self._cancel = None
        if not cancel.cancelled and state.document is document:
            draft = found.draft
            self._open(document, draft, found.shown, draft.summary, f"compaction #{entry}")

    def _open(
        self, document: Document, draft: Draft, shown: Partition, text: str, name: str
    ) -> None:
        if self._is_busy():
            return
        if document is not self._document:
            self._document, self._auditor = document, Auditor(document)
        self._draft, self._cancel = draft, CancelToken()
        if self._window is not None:
            self._begin(self._window, shown, text, name)
            return
        window = MendWindow(self._state.window)
        self._turns.start(window.building(), lambda: self._built(window, shown, text, name))

    def _is_busy(self) -> bool:
        if self.running:
            self._state.say("Another summary is being checked; wait for it, or stop it.")
        return self.running

    def _begin(self, window: MendWindow, shown: Partition, text: str, name: str) -> None:
        cancel = self._cancel
        if cancel is None or cancel.cancelled:
            self._cancel = None
            return
        window.checking(name)
        present(window)
        self._state.tasks.start("Checking the summary", self._check(shown, text, cancel))

    def _built(self, window: MendWindow, shown: Partition, text: str, name: str) -> None:
        self._window = window
        window.asked.connect(self._mend)
        window.request_asked.connect(self._show_request)
        window.model_chosen.connect(lambda _model: self._show_cost())
        window.cancel_asked.connect(self.stop)
        window.taken.connect(self._take)
        window.left.connect(window.close)
        window.entry_requested.connect(self._state.select)
        window.closing.connect(self._closed)
        self._begin(window, shown, text, name)

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
            window.show_found_again(Notice("error", f"It cannot be checked: {error}"))
            return
        finally:
            self._cancel = None
        if document is not self._document:
            return
        self._checked = checked
        panel = self._state.window.compaction
        window.show_checked(checked, self._state.models("summary"), panel.chosen_model())
        self._show_cost()

    def _show_cost(self) -> None:
        document, checked, window = self._document, self._checked, self._window
        if document is None or checked is None or window is None or not checked.lacks:
            return
        model = window.chosen_model()
        try:
            asked = request_for(document, checked, model)
        except (StoreError, ValueError) as error:
            window.show_cost(str(error), possible=False)
            return
        request = asked.request
        tokens = estimate_text(request.system) + estimate_text(request.prompt)
        info = document.models.info(model)
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
        except (StoreError, ValueError) as error:
            window.show_cost(str(error), possible=False)
            return
        if self._requests is None:
            self._requests = RequestWindow(window)
            self._requests.entry_requested.connect(self._state.select)
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
        self._state.tasks.start("Mending the summary", work)

    async def _ask(self, draft: Draft, checked: Checked, model: str, cancel: CancelToken) -> None:
        document, auditor, window = self._document, self._auditor, self._window
        assert document is not None and auditor is not None and window is not None
        order = SummaryOrder(
            draft.instructions, model, lambda _purpose, piece: window.stream.add(piece), cancel,
            on_progress=window.message.setText, on_restart=lambda _purpose: window.stream.begin(),
        )  # fmt: skip
        try:
            mended = await mend(document, auditor, draft, checked, order)
        except (Cancelled, asyncio.CancelledError):
            window.show_found_again(Notice("info", "Stopped.", window.stays))
            return
        except DraftFailed as error:
            written = "\n\n".join(part.text for part in error.parts)
            window.show_found_again(
                Notice("error", str(error), window.stays,
                       "Try again, or ask another model.", details=written)
            )  # fmt: skip
            return
        except (StoreError, ValueError) as error:
            window.show_found_again(Notice("error", str(error), window.stays))
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
        """Put the mended draft beside the one that it was made from; of a compaction, show it."""
        mended, window, document = self._mended, self._window, self._state.document
        self._mended = None
        if window is not None:
            window.close()
        if mended is None or document is None or document is not self._document:
            return
        self._state.window.show_tab("compaction")
        self._state.window.compaction.draft_finished(mended.draft, mended.before.shown)
        self._state.state_changed.emit()
        self._state.say("The mended draft is here; nothing is stored before you commit.")

    def _closed(self) -> None:
        self.stop()
        mended, document = self._mended, self._document
        self._mended = None
        if mended is not None and document is not None:
            self._state.tasks.start("Giving the draft up", self._give_up(document, mended))


def _facts(draft: Draft) -> str:
    words = [f"By {draft.model}", f"{draft.elapsed_ms / 1000:.1f} s"]
    if draft.output_tokens:
        words.append(f"{full(draft.output_tokens)} tokens written")
    return ", ".join(words)
