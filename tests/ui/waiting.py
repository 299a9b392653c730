"""Waiting for what a window does by itself, and finding what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QElapsedTimer, QThread
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget


def wait_for(condition: Callable[[], bool], what: str = "the condition", ms: int = 15_000) -> None:
    """Let the window work until a condition holds; fails when it does not in time."""
    clock = QElapsedTimer()
    clock.start()
    while not condition():
        if clock.elapsed() > ms:
            raise AssertionError(f"{what} did not come within {ms} ms")
        QApplication.processEvents()
        QThread.msleep(2)


def settle(times: int = 4) -> None:
    """Let posted events and layouts happen."""
    for _ in range(times):
        QApplication.processEvents()


def shown_texts(widget: QWidget) -> str:
    """All words of visible labels and buttons, one per line."""
    parts = [w.text() for w in widget.findChildren(QLabel) if w.isVisible()]
    parts += [w.text() for w in widget.findChildren(QAbstractButton) if w.isVisible()]
    return "\n".join(parts)


def button(widget: QWidget, text: str) -> QAbstractButton:
    """The visible button with these words, its mnemonic mark aside."""
    for found in widget.findChildren(QAbstractButton):
        if found.isVisible() and found.text().replace("&", "").startswith(text):
            return found
    raise AssertionError(f"no visible button says {text!r}")


class Heard:
    """What a signal said. Unlike Qt's spy it fails, and does not crash, when it said nothing."""

    def __init__(self, signal: Any) -> None:
        self.calls: list[list[Any]] = []
        signal.connect(self._hear)

    def _hear(self, *values: Any) -> None:
        self.calls.append(list(values))

    def count(self) -> int:
        return len(self.calls)

    def at(self, number: int) -> list[Any]:
        assert number < len(self.calls), f"heard only {len(self.calls)} times"
        return self.calls[number]
