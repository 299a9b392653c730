"""Opening, importing and exporting sessions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from explorer.formats.adapter import FormatError, ReadCancelled
from explorer.formats.pi.export import ExportError, shape_note
from explorer.formats.registry import adapter_of
from explorer.services.counting_process import ProcessCounter
from explorer.services.document import Document
from explorer.services.lessons.lesson_file import is_bundle
from explorer.services.session_export import ExportForm, secrets_note
from explorer.store.rows import ImportCancelled, ImportReport, SessionRow, StoreError
from explorer.store.salvage import salvage
from ui.app_state import BREATH_S, AppState
from ui.shell.dialogs import ask_text, choose_files, file_dialog, open_once
from ui.widgets.figures import count
from ui.widgets.notice import Notice


class ImportNotes(Struct):
    """Files that could not be imported, and lines that were not as expected."""

    failed: list[str] = field(default_factory=list)
    """One sentence for each file; it names the file and the reason."""
    odd: list[tuple[str, str]] = field(default_factory=list)
    """A file's name, and where in it what was wrong, in a sentence."""

    def notice(self) -> Notice | None:
        """What to tell the person; None when all went well."""
        lines = [sentence for _, sentence in self.odd]
        everything = "\n".join([*self.failed, *lines])
        if self.failed:
            more = len(self.failed) - 1
            what = self.failed[0] + (f" (and {count(more, 'file')} more)" if more else "")
            return Notice(
                "error",
                what,
                "Nothing of it was kept; the sessions that are here are as they were.",
                "Look whether it is a session file of one of the agents that the guide names.",
                details=everything if more or lines else "",
            )
        if not lines:
            return None
        names = sorted({name for name, _ in self.odd})
        where = names[0] if len(names) == 1 else count(len(names), "file")
        what = lines[0]
        if len(lines) > 1:
            what = f"{where}: {len(lines):,} things were not as expected."
        return Notice(
            "warning",
            what,
            "Everything else was imported. What could not be understood is kept aside, byte for "
            "byte, and is in an export again.",
            details=everything if len(lines) > 1 else "",
        )


FILTER = "Agent sessions (*.jsonl *.json *.db *.md);;All files (*)"

RECENT = 500
"""Sessions in the list at the left; the window of all sessions has the others."""

AS_IT_WAS = "As it was imported (*.jsonl)"
AS_PI_3 = "pi session, version 3 (*.jsonl)"
AS_PAGE = "Transcript of the active path, HTML (*.html)"
AS_WHOLE_PAGE = "Transcript of all branches, HTML (*.html)"
AS_MARKDOWN = "Transcript of the active path, Markdown (*.md)"
AS_WHOLE_MARKDOWN = "Transcript of all branches, Markdown (*.md)"
TRY_PI_3 = "Export as pi version 3"


class Export(NamedTuple):
    """What a choice of the export dialog writes."""

    form: ExportForm
    suffix: str
    whole: bool = False
    """A transcript of all branches."""


EXPORTS = {
    AS_IT_WAS: Export("original", "jsonl"),
    AS_PI_3: Export("pi-v3", "jsonl"),
    AS_PAGE: Export("html", "html"),
    AS_WHOLE_PAGE: Export("html", "html", True),
    AS_MARKDOWN: Export("markdown", "md"),
    AS_WHOLE_MARKDOWN: Export("markdown", "md", True),
}

FIRST_PAINT_S = 0.02
"""How long the map has for its first rows before anything else is done with a session."""


def file_name(title: str) -> str:
    """A name for a session's file, without its suffix, that every system takes."""
    words = "-".join(re.findall(r"\w+", title.lower()))[:60].strip("-")
    return words or "session"


class SessionsController(QObject):
    """Everything that the library asks for."""

    lesson_found = Signal(str)
    """A file among those to be imported is a lesson with its session."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._imports = asyncio.Lock()
        self._exports = str(Path.home())
        self._counter: ProcessCounter | None = None
        library = state.window.library
        library.open_requested.connect(self.open)
        library.import_requested.connect(self.choose_files)
        library.export_requested.connect(self.choose_export)
        state.window.files_dropped.connect(self.import_files)

    def refresh(self) -> None:
        """Show the library as it is now."""
        if self._state.bench is None:
            return
        key = self._state.document.key if self._state.document else 0
        sessions = self._state.bench.sessions(RECENT)
        # What another session started stands one step away from it, on its map.
        own = [row for row in sessions if row.relation in ("", "fork") or row.key == key]
        self._state.window.library.show_sessions(own, key)

    # opening -------------------------------------------------------------------------------------

    def open(self, key: int, select: int = -1) -> None:
        """Open a stored session; ``select`` is an entry to show."""
        self._state.tasks.start("Opening the session", self.open_now(key, select))

    async def open_now(self, key: int, select: int = -1) -> None:
        if self._state.bench is None:
            return
        try:
            document = await self._state.bench_of(key).open(key)
        except StoreError as error:
            self._state.notice("error", str(error), "The database was not changed.")
            return
        if self._state.document is not document:
            if (left := self._state.document) is not None:
                self._state.bench_of(left.key).close(left.key)
            if not document.read_only:
                self._state.preferences.last_session = key
            self._state.show(document)
            await self._fill(document)
            # Only now: threads that are busy hold up the panes that fill.
            if self._state.document is document:
                self._state.tasks.start("Counting tokens", self._count(document))
        if select >= 0 and self._state.document is document:
            self._state.select(select)

    def close_shown(self) -> None:
        """Close the session that is shown; everything of it is stored."""
        document = self._state.document
        if document is not None:
            self._state.show(None)
            self._state.bench_of(document.key).close(document.key)
            self._state.preferences.last_session = 0

    async def _fill(self, document: Document) -> None:
        """Let the map paint, lay out and paint again before the other panes take their time."""
        await asyncio.sleep(FIRST_PAINT_S)
        await self._laid_out()
        for fill in self._state.fillers:
            await asyncio.sleep(BREATH_S)
            if self._state.document is document:
                fill()

    async def _count(self, document: Document) -> None:
        """Count with the tokenizer while the estimate is shown; closing the session ends it."""
        await self._laid_out()
        await asyncio.to_thread(document.tree.index_of, "")  # makes the table of ids
        if self._counter is None:
            self._counter = await asyncio.to_thread(ProcessCounter)
            if self._counter.note:
                self._state.notice("warning", self._counter.note)
        counter = self._counter
        if not counter.available or await document.tokens.take_stored(counter):
            return
        loop = asyncio.get_running_loop()
        task = self._state.window.progress.begin("Counting tokens")

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(task.update, done, total)

        try:
            await document.tokens.count(
                counter,
                progress,
                lambda: task.cancelled or self._state.document is not document,
            )
        finally:
            task.end()

    def close(self) -> None:
        """End the process that counts tokens."""
        if self._counter is not None:
            self._counter.close()

    async def _laid_out(self) -> None:
        """Wait until the map is whole: the work after it would take its time from it."""
        model = self._state.window.map.model
        if not model.is_complete:
            done = asyncio.Event()
            ends = (model.layout_changed, model.layout_failed, model.session_changed)
            for signal in ends:
                signal.connect(done.set)
            await done.wait()
            for signal in ends:
                signal.disconnect(done.set)

    # importing -----------------------------------------------------------------------------------

    def choose_files(self) -> None:
        """Ask for sessions, in the folder in which some were found last."""
        preferences = self._state.preferences

        def take(names: Sequence[str]) -> None:
            preferences.import_folder = str(Path(names[0]).parent)
            self.import_files(names)

        start = preferences.import_folder or str(Path.home())
        choose_files(self._state.window, "Import sessions", take, FILTER, start)

    def import_files(self, names: Sequence[str]) -> None:
        """Import files one after the other and open the last one."""
        self._state.tasks.start("Importing", self.import_now([Path(name) for name in names]))

    async def import_now(self, files: list[Path]) -> None:
        bench = self._state.bench
        if bench is None:
            return
        for lesson in filter(is_bundle, files):
            self.lesson_found.emit(str(lesson))
        files = [path for path in files if not is_bundle(path)]
        last: ImportReport | None = None
        notes = ImportNotes()
        async with self._imports:
            for path in files:
                report = await self._import_one(path, notes)
                if report is not None:
                    last = report
                    if bench.store.session(report.key).trashed_ms:
                        # Who imports a file again wants its session back.
                        await bench.arrange([report.key], "trashed_ms", None)
        if last is not None:
            await self.open_now(last.key)
        if (notice := notes.notice()) is not None:
            self._state.window.notices.show_notice(notice)

    async def import_again(self, files: Sequence[tuple[Path, str]]) -> Notice:
        """Bring sessions up to date with their files, each with the session's id; how it went."""
        notes, added, read = ImportNotes(), 0, 0
        async with self._imports:
            for path, session_id in files:
                report = await self._import_one(path, notes, session_id)
                if report is not None:
                    read, added = read + 1, added + report.added
        found = count(added, "new entry", "new entries") if added else "nothing new"
        done = f"{count(read, 'session')} imported again: {found}."
        return notes.notice() or Notice("done", done)

    async def _import_one(
        self, path: Path, notes: ImportNotes, session_id: str = ""
    ) -> ImportReport | None:
        loop = asyncio.get_running_loop()
        task = self._state.window.progress.begin(f"Importing {path.name}")

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(task.update, done, total)

        assert self._state.bench is not None
        try:
            report = await self._state.bench.import_file(
                path, progress, lambda: task.cancelled, session_id
            )
        except (ImportCancelled, ReadCancelled):
            self._state.say(f"Import of {path.name} cancelled; nothing of it was kept.")
            return None
        except (FormatError, StoreError) as error:
            notes.failed.append(str(error))
            return None
        except OSError as error:
            notes.failed.append(f"{path}: {error.strerror or error}")
            return None
        finally:
            task.end()
        faults = (one for one in report.problems if not one.is_remark)
        notes.odd += [(path.name, one.at(path.name)) for one in faults]
        word = "up to date" if report.unchanged else f"{report.added:,} entries added"
        self._state.say(f"{path.name}: {word}")
        return report

    async def salvage(self, path: Path) -> None:
        """Copy what a damaged database still gives into a new one beside it."""
        target = path.with_name(f"{path.stem}-salvaged{path.suffix}")
        try:
            report = await asyncio.to_thread(salvage, path, target)
        except (StoreError, OSError) as error:
            self._state.notice("error", str(error), "The damaged file was left as it is.")
            return
        entries = sum(session.entries for session in report.sessions)
        lost = sum(session.lost for session in report.sessions)
        self._state.notice(
            "info",
            f"{len(report.sessions):,} sessions with {entries:,} entries were copied to {target}.",
            f"{lost:,} entries could not be read. The damaged file was left as it is.",
            "Close the window and move the copy in its place to go on with it.",
            details="\n".join(report.notes),
        )

    def ask_rename(self) -> None:
        """Ask for the session's name."""
        document = self._state.document
        if document is None or self._state.refuses():
            return

        def rename(name: str) -> None:
            if name:
                self._state.tasks.start("Renaming", document.edits.rename(name))

        ask_text(self._state.window, "Rename", "Name of this session", document.title, rename)

    # exporting -----------------------------------------------------------------------------------

    def choose_export(self, key: int | None = None) -> None:
        """Ask for a file and a format."""
        document = self._state.document
        if key is None:
            key = document.key if document is not None else 0
        if self._state.bench is None or not key:
            return
        try:
            row = self._state.bench_of(key).store.session(key)
        except StoreError as error:
            self._state.notice("error", str(error), "Nothing was written.")
            return
        if adapter_of(row.format).writes:
            # A file of version 1 has no place for what was done since.
            self._ask_file(row, list(EXPORTS), AS_PI_3 if row.version == 1 else AS_IT_WAS)
        else:
            self._state.tasks.start("Exporting", self._choose_foreign(row))

    async def _choose_foreign(self, row: SessionRow) -> None:
        """Ask for the file of a session whose format is only read: it can be written as it was
        where its records are the lines of one file."""
        try:
            problem = await self._state.bench_of(row.key).original_problem(row.key)
        except StoreError as error:
            self._state.notice("error", str(error), "Nothing was written.")
            return
        filters = [one for one in EXPORTS if not problem or one != AS_IT_WAS]
        self._ask_file(row, filters, filters[0])

    def _ask_file(self, row: SessionRow, filters: Sequence[str], first: str) -> None:
        dialog = file_dialog(self._state.window, "Export session")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(filters)
        name = file_name(row.title)

        def follow(chosen: str) -> None:
            suffix = EXPORTS[chosen].suffix
            dialog.setDefaultSuffix(suffix)
            dialog.selectFile(f"{name}.{suffix}")

        dialog.filterSelected.connect(follow)
        dialog.selectNameFilter(first)
        dialog.setDirectory(self._exports)
        follow(first)

        def save(file: str) -> None:
            chosen = EXPORTS[dialog.selectedNameFilter()]
            self._exports = str(Path(file).parent)
            self._state.tasks.start(
                "Exporting", self.export_now(row.key, Path(file), chosen.form, whole=chosen.whole)
            )

        dialog.fileSelected.connect(save)
        open_once(dialog)

    async def export_now(
        self, key: int, path: Path, form: ExportForm, *, whole: bool = False
    ) -> None:
        if self._state.bench is None:
            return
        try:
            report = await self._state.bench_of(key).export(key, path, form, whole=whole)
        except ExportError as error:
            self._state.notice(
                "error", f"{error}.", f"{path} was not written.",
                action=TRY_PI_3,
                on_action=lambda: self._state.tasks.start(
                    "Exporting", self.export_now(key, path, "pi-v3")
                ),
            )  # fmt: skip
            return
        except StoreError as error:
            self._state.notice("error", str(error), f"{path} was not written.")
            return
        except OSError as error:
            self._state.notice(
                "error", f"{path}: {error.strerror or error}", "Nothing was written."
            )
            return
        shown = self._state.window.notices.notice
        if shown is not None and shown.action == TRY_PI_3:
            self._state.window.notices.dismiss()
        if report.read_over:
            self._state.notice(
                "info", f"{report.entries:,} entries written to {path}.",
                shape_note(report.read_over), secrets_note(report),
            )  # fmt: skip
            return
        self._state.say(f"{report.entries:,} entries written to {path}. {secrets_note(report)}")
