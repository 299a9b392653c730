"""The dialog of models in the window: opened, searched letter by letter, gone through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from tests.benchmarks.children.window import run_window, until
from ui.models.dialog import ModelsDialog
from ui.session import WindowSession

WORDS = ("claude sonnet 4-5", "gpt images", "reasoning deprecated", "no such model")


def searching(home: str, rounds: int) -> dict[str, Any]:
    """Times in ms: opening the dialog, a letter typed into the search, a step of the arrows."""
    return run_window(lambda running: _searching(running, rounds))


def _timed(change: Callable[[], object], painted: Callable[[], QWidget] | None = None) -> float:
    """Until it is painted. Events are not let through: a task would begin inside of another.
    ``painted``: what is new on the screen, and not yet asked to paint itself."""
    start = time.perf_counter()
    change()
    if painted is not None:
        painted().repaint()
    else:
        QCoreApplication.sendPostedEvents()
    return (time.perf_counter() - start) * 1000


async def _searching(running: WindowSession, rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {"open": [], "letter": [], "arrow": []}
    for _ in range(rounds):
        found["open"].append(_timed(running.models.open, lambda: _dialog(running)))
        dialog = _dialog(running)
        await _search(dialog, found)
        dialog.reject()
        await until(lambda: running.models.dialog is None)
        await asyncio.sleep(0.05)
    return found


def _dialog(running: WindowSession) -> ModelsDialog:
    dialog = running.models.dialog
    assert dialog is not None
    return dialog


async def _search(dialog: ModelsDialog, found: dict[str, Any]) -> None:
    page = dialog.models
    await until(lambda: page.table.models.known > 0)
    page.only.setChecked(False)
    found["models"] = page.table.models.known
    for words in WORDS:
        for at in range(1, len(words) + 1):
            typed = partial(page.search.setText, words[:at])
            found["letter"].append(_timed(typed))
            await asyncio.sleep(0)
    page.search.clear()
    for _ in range(50):
        found["arrow"].append(_timed(partial(page.table.step, 1)))
        await asyncio.sleep(0)
