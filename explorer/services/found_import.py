"""Importing many found sessions, one by one: it can be paused, cancelled and begun again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from explorer.formats import FormatError, ReadCancelled
from explorer.formats.registry import LIST_STARTED
from explorer.services.discovery import ListedSession
from explorer.store import ImportCancelled, StoreError
from explorer.store.rows import ImportReport
from explorer.workbench import Workbench


class ImportState(Struct, frozen=True):
    """How far an import is."""

    sessions_done: int
    sessions: int
    bytes_done: int
    size: int
    """Bytes in all."""
    name: str
    """Path of the file that is read; empty at the end."""


class ImportOutcome(Struct):
    """What became of the sessions."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    entries: int = 0
    """Added in all."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Path of a file that was skipped, and why."""
    left: int = 0
    """Sessions that were not reached, because it was cancelled."""


class FoundImport:
    """Imports sessions in the order given. ``run`` blocks and is meant for a worker thread; the
    other methods may be called from any thread."""

    def __init__(
        self,
        bench: Workbench,
        sessions: Sequence[ListedSession],
        progress: Callable[[ImportState], object] | None = None,
        imported: Callable[[ImportReport], object] | None = None,
    ) -> None:
        """``progress`` and ``imported`` (after each session that gave something) are called from
        the thread that imports."""
        self._bench = bench
        self._sessions = sessions
        self._progress = progress
        self._imported = imported
        self._size = sum(one.size for one in sessions)
        self._bytes_done = 0
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._cancelled = threading.Event()

    def pause(self) -> None:
        """Wait before the next session; the one that is being read is finished."""
        self._goes_on.clear()

    def resume(self) -> None:
        """Go on."""
        self._goes_on.set()

    def cancel(self) -> None:
        """End. What is imported stays; of the session that is being read nothing does."""
        self._cancelled.set()
        self._goes_on.set()

    def run(self) -> ImportOutcome:
        """Import all, skipping those that are stored and unchanged. A file that cannot be imported
        is named in the outcome. Raises StoreError when the database takes no more."""
        outcome = ImportOutcome()
        for at, one in enumerate(self._sessions):
            self._goes_on.wait()
            if self._cancelled.is_set():
                outcome.left = len(self._sessions) - at
                break
            if one.state == "stored":
                outcome.unchanged += 1
            else:
                self._report(at, 0, one)
                if not self._import(at, one, outcome):
                    outcome.left = len(self._sessions) - at
                    break
            self._bytes_done += one.size
        else:
            self._report(len(self._sessions), 0, None)
        return outcome

    def _import(self, at: int, one: ListedSession, outcome: ImportOutcome) -> bool:
        """Import one session; False when that was cancelled."""

        def progress(done: int, total: int) -> None:
            self._report(at, one.size * done // total if total else 0, one)

        found = one.found
        try:
            report = self._bench.import_blocking(
                found.path, progress, self._cancelled.is_set, found.session_id,
                alone=found.format in LIST_STARTED,
            )  # fmt: skip
        except (ImportCancelled, ReadCancelled):
            return False
        except (StoreError, MemoryError):
            raise
        except (FormatError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            outcome.failed.append((str(found.path), reason or str(error)))
        except Exception as error:  # noqa: BLE001 -- one file in thousands does not end the import
            outcome.failed.append((str(found.path), f"{type(error).__name__}: {error}"))
        else:
            outcome.new += report.created
            outcome.updated += not report.created and not report.unchanged
            outcome.unchanged += report.unchanged
            outcome.entries += report.added
            if self._imported is not None and not report.unchanged:
                self._imported(report)
        return True

    def _report(self, done: int, of_this: int, one: ListedSession | None) -> None:
        if self._progress is not None:
            name = str(one.found.path) if one is not None else ""
            sizes = self._bytes_done + of_this, self._size
            self._progress(ImportState(done, len(self._sessions), *sizes, name))
