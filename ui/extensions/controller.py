"""Extensions in the window: their page, and the notice when one fails."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject

from explorer.extensions.answers import TITLES, HookRecord
from explorer.extensions.manager import Extensions, Listed, Project
from explorer.services.changes import ExtensionsActed
from ui.app_state import AppState
from ui.extensions.dialog import ExtensionsDialog

SHOWN_WITH_A_DRAFT = ("session_before_compact", "session.compacting", "session_request",
                      "session_summary")  # fmt: skip


class ExtensionsController(QObject):
    """Opens the page, and looks after every session that is opened."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._reported: set[str] = set()
        self.dialog: ExtensionsDialog | None = None
        """The page, while it is open."""
        state.opened.connect(self._ready)
        state.bus.on(ExtensionsActed, self._acted)

    def _ready(self) -> None:
        self._state.document_changed.connect(self._look)
        self._look()

    @property
    def _cwd(self) -> str:
        document = self._state.document
        return document.header.cwd if document is not None else ""

    def open(self) -> None:
        """Show the page; what is changed there holds at once."""
        bench = self._state.bench
        if self.dialog is not None:
            self.dialog.activateWindow()
        elif bench is not None and bench.extensions is not None:
            dialog = ExtensionsDialog(
                bench.extensions, self._cwd, self._state.tasks.start, self._state.window
            )
            dialog.finished.connect(self._closed)
            self.dialog = dialog
            dialog.open()

    def _closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    # what is not loaded -------------------------------------------------------------------------

    def _look(self) -> None:
        bench = self._state.bench
        if bench is not None and bench.extensions is not None:
            self._state.tasks.start(
                "Looking for extensions", self._tell_unloaded(bench.extensions, self._cwd)
            )

    async def _tell_unloaded(self, extensions: Extensions, cwd: str) -> None:
        """Say once what did not load, and that a project has extensions."""
        rows, project = await asyncio.to_thread(_found, extensions, cwd)
        failed = [f"{row.name}: {row.problem}" for row in rows if row.problem is not None]
        new = [line for line in failed if line not in self._reported]
        self._reported.update(new)
        if new:
            self._state.notice(
                "warning",
                f"An extension could not be loaded. {new[0]}"
                if len(new) == 1
                else f"{len(new)} extensions could not be loaded.",
                "The others are loaded.",
                details="\n".join(new),
                action="Extensions",
                on_action=self.open,
            )
        if (
            project is not None
            and not project.trusted
            and str(project.folder) not in self._reported
        ):
            self._reported.add(str(project.folder))
            self._state.notice(
                "info",
                f"The project of this session brings extensions: {project.folder}",
                "They are not loaded, since the project is not trusted.",
                action="Look at them",
                on_action=self.open,
            )

    # what failed --------------------------------------------------------------------------------

    def _acted(self, change: ExtensionsActed) -> None:
        if change.event not in SHOWN_WITH_A_DRAFT:
            failed = [record for record in change.records if record.failed]
            if failed:
                self._tell_failed(failed)

    def _tell_failed(self, failed: list[HookRecord]) -> None:
        first = failed[0]
        what = f"The extension {first.extension}, asked {TITLES[first.event]}, {first.sentence}"
        self._state.notice(
            "warning",
            what if what.endswith(".") else f"{what}.",
            "It was passed over; everything else went on.",
            details="\n".join(f"{r.extension}: {r.sentence}" for r in failed),
            action="Extensions",
            on_action=self.open,
        )


def _found(extensions: Extensions, cwd: str) -> tuple[list[Listed], Project | None]:
    return extensions.listing(cwd), extensions.project(cwd)
