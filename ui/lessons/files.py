"""Lessons in files: one opened with its session, one written with the session that is open."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from explorer.formats.pi.export import ExportError
from explorer.services.document import Document
from explorer.services.lessons.lesson import Lesson
from explorer.services.lessons.lesson_file import SUFFIX, BundleError, read_bundle, write_bundle
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.lessons.controller import LessonsController
from ui.library.controller import SessionsController
from ui.shell.dialogs import choose_files, file_dialog, open_once

FILTER = f"Lessons (*{SUFFIX})"


class LessonFilesController(QObject):
    """Opens and writes ``.lesson`` files."""

    def __init__(
        self, state: AppState, sessions: SessionsController, lessons: LessonsController
    ) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._lessons = lessons
        pane = state.window.lessons
        pane.open_asked.connect(self.choose)
        pane.export_asked.connect(self.choose_export)
        sessions.lesson_found.connect(self.open_file)

    def choose(self) -> None:
        """Ask for a lesson file and open it."""
        choose_files(
            self._state.window, "Open a lesson", lambda names: self.open_file(names[0]), FILTER
        )

    def open_file(self, name: str) -> None:
        """Open a lesson file: its session is imported and shown, and its lesson begun."""
        self._state.tasks.start("Opening the lesson", self._open(Path(name)))

    async def _open(self, path: Path) -> None:
        try:
            bundle = await asyncio.to_thread(read_bundle, path)
        except BundleError as error:
            self._state.notice("error", str(error), "Nothing was imported.")
            return
        except OSError as error:
            self._state.notice("error", f"{path}: {error.strerror or error}", "Nothing was kept.")
            return
        await self._sessions.import_now([bundle.session])
        self._lessons.opened_file(bundle.lesson)
        self._lessons.open()
        await self._lessons.begin_now(bundle.lesson)

    def choose_export(self, name: str) -> None:
        """Ask where a lesson and the open session are to be written."""
        lesson, document = self._lessons.lesson(name), self._state.document
        if lesson is None:
            return
        if document is None:
            self._state.say("Open the session first that is to go with the lesson.")
            return
        dialog = file_dialog(self._state.window, "Export the lesson with the open session")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(FILTER)
        dialog.setDefaultSuffix(SUFFIX[1:])
        dialog.selectFile(f"{lesson.id}{SUFFIX}")

        def save(file: str) -> None:
            work = self.export(lesson, document, Path(file))
            self._state.tasks.start("Exporting the lesson", work)

        dialog.fileSelected.connect(save)
        open_once(dialog)

    async def export(self, lesson: Lesson, document: Document, path: Path) -> None:
        """Write a lesson and a session to one file; failures are reported."""
        state = self._state
        with TemporaryDirectory(prefix="session-explorer-") as folder:
            session = Path(folder) / "session.jsonl"
            try:
                await state.bench_of(document.key).export(document.key, session, "pi-v3")
                await asyncio.to_thread(write_bundle, path, lesson, session)
            except (ExportError, StoreError) as error:
                state.notice("error", str(error), f"{path} was not written.")
                return
            except OSError as error:
                state.notice("error", f"{path}: {error.strerror or error}", "Nothing was written.")
                return
        state.say(f"“{lesson.title}” and the session were written to {path}")
