"""A session file that is imported again whenever it grows."""

from __future__ import annotations

from pathlib import Path

from explorer.formats.jsonl import GrowingSource
from explorer.formats.registry import adapter_for
from explorer.store import Store
from explorer.store.rows import FileStamp, ImportReport


class FollowedFile:
    """Remembers where the last reading stopped, so that only what was added is read. Where the file
    was changed otherwise, or another program imported it meanwhile, all of it is read."""

    def __init__(self) -> None:
        self._last: tuple[GrowingSource, FileStamp] | None = None

    def read(self, store: Store, path: Path, session_id: str = "") -> ImportReport:
        """Import the file, or what was added to it. Raises FormatError, StoreError, OSError."""
        # Whatever happens on the way: a source can be read on once.
        last, self._last = self._last, None
        if last is not None:
            source, since = last
            if FileStamp.of(source.files) == since:
                self._last = last
            elif (grown := source.grown()) is not None:
                grown.follow()
                report = store.import_growth(grown, since)
                if report is not None:
                    self._remember(grown, report)
                    return report
        opened = adapter_for(path).open(path, session_id=session_id)
        if isinstance(opened, GrowingSource):
            opened.follow()
        report = store.import_session(opened)
        if isinstance(opened, GrowingSource) and not report.unchanged:
            self._remember(opened, report)
        return report

    def _remember(self, source: GrowingSource, report: ImportReport) -> None:
        source.report.asides.clear()  # They are stored, and may be half of the file.
        if report.stamp is not None:
            self._last = source, report.stamp
