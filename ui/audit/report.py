"""The audit as a file: asked for, gathered and written in a thread, then announced."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu

from explorer.facts import ScanCancelled
from explorer.services.audit_report import ReportForm, form_of_file, make_report, save_report
from explorer.services.document import Document
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.audit.controller import AuditController
from ui.audit.moments import Moments
from ui.library.controller import file_name
from ui.shell.dialogs import file_dialog, open_once

FILTERS: dict[str, ReportForm] = {
    "Web page (*.html)": "html",
    "Markdown (*.md)": "md",
    "JSON (*.json)": "json",
}
SHOW = "Show in &folder"
STEP = 0.01
"""Share of the whole that must be done before the next progress report."""


def show_folder(path: Path) -> None:
    """Show the folder that a file is in, by the system's own program."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))


class ReportController(QObject):
    """Saves reports of the session that is shown."""

    def __init__(self, state: AppState, auditing: AuditController, moments: Moments) -> None:
        super().__init__(state)
        self._state = state
        self._auditing = auditing
        self._folder = str(Path.home())
        self.show_folder: Callable[[Path], None] = show_folder
        state.window.audit.report_requested.connect(lambda: self.choose(moments.compaction))

    def fill_menu(self, menu: QMenu, entry: int) -> None:
        """Fill in what the menu of a compaction on the map offers."""
        document = self._state.document
        if document is not None and document.tree.kind(entry) is Kind.COMPACTION:
            action = menu.addAction("Save a report on this compaction…")
            action.triggered.connect(lambda: self.choose(entry))

    def choose(self, compaction: int | None = None) -> None:
        """Ask for a file: for the report of the path that the audit is on, or of one
        compaction."""
        document = self._state.document
        if document is None:
            return
        what = "the whole path" if compaction is None else f"compaction #{compaction}"
        dialog = file_dialog(self._state.window, f"Save a report on {what}")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(FILTERS))
        dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(FILTERS[name]))
        dialog.setDefaultSuffix("html")
        dialog.setDirectory(self._folder)
        dialog.selectFile(f"{file_name(document.title)}-audit.html")

        def save(name: str) -> None:
            path = Path(name)
            form = form_of_file(path) or FILTERS[dialog.selectedNameFilter()]
            self._folder = str(path.parent)
            self._state.tasks.start("Saving the report", self.save_now(path, form, compaction))

        dialog.fileSelected.connect(save)
        open_once(dialog)

    async def save_now(self, path: Path, form: ReportForm, compaction: int | None = None) -> None:
        """Gather the report and write it; cancelled, the file stays as it was."""
        document = self._state.document
        if document is None:
            return
        work = self._state.window.progress.begin("Saving the report")
        ended = threading.Event()

        def cancelled() -> bool:
            return work.cancelled or ended.is_set() or self._state.document is not document

        try:
            await self._save(document, path, form, compaction, cancelled, work.update)
        except ScanCancelled:
            self._state.say(f"The report was cancelled; {path.name} was not written.")
        except (StoreError, ValueError) as error:
            self._state.notice("error", f"{error}.".replace("..", "."), f"{path} was not written.")
        except OSError as error:
            self._state.notice(
                "error", f"{path}: {error.strerror or error}.", "Nothing was written.",
                "Save it into another folder.",
            )  # fmt: skip
        else:
            self._state.notice(
                "done", f"The report was written to {path}.",
                "It quotes the session: look at it before you pass it on.",
                action=SHOW, on_action=lambda: self.show_folder(path), passes=True,
            )  # fmt: skip
        finally:
            ended.set()
            work.end()

    async def _save(
        self,
        document: Document,
        path: Path,
        form: ReportForm,
        compaction: int | None,
        cancelled: Callable[[], bool],
        tell: Callable[[int, int], None],
    ) -> None:
        await document.usage.follow()
        leaf = self._auditing.leaf if self._auditing.leaf >= 0 else document.leaf
        if compaction is not None and not document.tree.is_ancestor(compaction, leaf):
            leaf = document.tree.deepest_leaf(compaction)
        spending, profile = document.usage.branch(leaf), self._auditing.profile(document)
        loop, reported = asyncio.get_running_loop(), -1.0

        def progress(done: int, total: int) -> None:
            nonlocal reported
            if total and done / total - reported >= STEP and not cancelled():
                reported = done / total
                loop.call_soon_threadsafe(tell, done, total)

        def work() -> None:
            report = make_report(
                document, leaf, spending, compaction=compaction, profile=profile,
                progress=progress, cancelled=cancelled,
            )  # fmt: skip
            if cancelled():
                raise ScanCancelled
            save_report(report, form, path, document.shared.privacy.exported)

        await asyncio.to_thread(work)
