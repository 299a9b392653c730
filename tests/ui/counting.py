"""One counting process for all windows of a test run: loading a tokenizer takes half a second."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from explorer.services import counting_process as counting
from explorer.services.counting_process import CountingLost
from explorer.session.records import FormatName

_Process = counting._Process


class SharedProcess:
    """Stands for a process of its own: whoever closes it only stops using it."""

    _running: dict[str, counting._Process] = {}
    _lock = threading.Lock()

    def __init__(self, encoding: str) -> None:
        self._is_closed = False
        with self._lock:
            if encoding not in self._running:
                self._running[encoding] = _Process(encoding)
            self._process = self._running[encoding]
        self.name, self.note = self._process.name, self._process.note

    @property
    def pid(self) -> int:
        return self._process.pid

    def count(self, format_name: FormatName, records: list[bytes]) -> list[int]:
        with self._lock:
            if self._is_closed:
                raise CountingLost("the counting process has ended")
            try:
                return self._process.count(format_name, records)
            except CountingLost:
                self._running.pop(self.name, None)
                raise

    def close(self) -> None:
        self._is_closed = True

    @classmethod
    def end(cls) -> None:
        """End what runs."""
        with cls._lock:
            for process in cls._running.values():
                process.close()
            cls._running.clear()


@pytest.fixture(scope="session")
def counting_process() -> Iterator[type[SharedProcess]]:
    """Ends with the test run."""
    yield SharedProcess
    SharedProcess.end()


@pytest.fixture
def shared_counting(counting_process: type[SharedProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ``ProcessCounter`` of this test counts in the process that all of them share."""
    monkeypatch.setattr(counting, "_Process", counting_process)
