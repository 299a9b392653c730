"""The page of all sessions in the window: opened, and filtered letter by letter."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from explorer.services.library import LibraryFilter, read_library
from explorer.session.records import FormatName, SessionHeader
from explorer.session.usage_sums import UsageSum
from explorer.store import Store
from explorer.store.sessions import create_session
from explorer.store.totals import add_totals
from tests.benchmarks.children.storing import database_of
from tests.benchmarks.children.window import Paints, run_window, until
from ui.library.page import LibraryPage
from ui.library.page_controller import FIRST_ROWS
from ui.library.table import LibraryTable
from ui.session import WindowSession

WORDS = ("quay length", "harbour 17", "no such words")
_FORMATS: Sequence[tuple[FormatName, str]] = (
    ("claude-code", "anthropic/claude-sonnet-4-5"),
    ("codex", "openai/gpt-5.1"),
    ("pi", "anthropic/claude-opus-4-5"),
)
_NOUNS = ("quay", "harbour", "length", "queue", "parser", "session", "index", "token", "crane")
_DAY, _DAY_MS = 20_500, 86_400_000


def fill(home: str, sessions: int) -> dict[str, int]:
    """A database of so many sessions as the library lists them, summed up, without entries."""
    path = database_of(home)
    path.parent.mkdir(parents=True)
    Store.open(path).close()
    random = Random(1)
    with sqlite3.connect(path) as db:
        for number in range(sessions):
            _add(db, number, random)
    db.close()
    return {"sessions": sessions}


def _add(db: sqlite3.Connection, number: int, random: Random) -> None:
    form, model = _FORMATS[number % len(_FORMATS)]
    folder = f"/home/ada/{random.choice(_NOUNS)}-{number % 40}"
    title = f"Make the {' '.join(random.choices(_NOUNS, k=6))} {number} agree with the others"
    header = SessionHeader(f"session-{number}", form, 3, folder, 1.0, "", "", title)
    key = create_session(db, header)
    last_ms = (_DAY - number % 400) * _DAY_MS + number
    db.execute(
        "UPDATE sessions SET entries = 0, compactions = ?, started_ms = ?, last_ms = ?,"
        " changed_ms = ?, branches = 1, summed = 0 WHERE key = ?",
        (number % 3, last_ms - 60_000, last_ms, last_ms, key),
    )
    db.execute(
        "INSERT INTO sources (session, path, size, mtime_ns, digest, lines, last, problems)"
        " VALUES (?, ?, 1, 1, '', 1, 0, '[]')",
        (key, f"{folder}/{number}.jsonl"),
    )
    spent = UsageSum(40_000, 9_000, 300_000, 20_000, 0.0, 30, 30)
    add_totals(db, key, {(_DAY - number % 400, model, 0): spent})


def read(home: str, rounds: int) -> dict[str, list[float]]:
    """Times of the processor, ms: the first rows, all rows, a filter over them, their sums."""
    with Store.open(database_of(home), maintained=False) as store:
        whole = read_library(store)
        rows = whole.filtered(LibraryFilter(words="harbour quay"))
        works: dict[str, Callable[[], object]] = {
            "first": lambda: read_library(store, FIRST_ROWS),
            "whole": lambda: read_library(store),
            "filter": lambda: whole.filtered(LibraryFilter(words="harbour quay")),
            "sums": lambda: whole.sums(rows),
        }
        return {name: [_cpu_ms(work) for _ in range(rounds)] for name, work in works.items()}


def _cpu_ms(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def browse(home: str) -> dict[str, Any]:
    """Times in ms: to the first rows, to all rows, from a letter to its rows."""
    return run_window(_browse)


class TablePaints(Paints):
    """Notes the paints of a library's table that has rows."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        table = watched.parent() if event.type() == QEvent.Type.Paint else None
        if isinstance(table, LibraryTable) and table.rows.rowCount():
            return super().eventFilter(watched, event)
        return False


async def _browse(running: WindowSession) -> dict[str, Any]:
    controller = running.library_page
    found: dict[str, Any] = {}
    application = QApplication.instance()
    assert application is not None
    painted: Paints = TablePaints(application)
    begun, start = time.process_time(), time.perf_counter()
    controller.open()
    await until(lambda: bool(painted.times))
    application.removeEventFilter(painted)
    page = controller.page
    assert page is not None
    found["first_ms"] = (painted.times[0] - start) * 1000
    known = page.table.rows.rowCount()
    await until(lambda: page.table.rows.rowCount() > known)
    # Rows below those in sight are not painted.
    found["whole_ms"] = (time.perf_counter() - start) * 1000
    found["cpu_ms"] = (time.process_time() - begun) * 1000
    found["rows"] = page.table.rows.rowCount()
    await asyncio.sleep(0.5)
    found["letter"] = await typed(page, WORDS)
    return found


async def typed(page: LibraryPage, queries: Sequence[str]) -> list[float]:
    """Milliseconds from each letter of some words to the rows that it lets through."""
    found = []
    for words in queries:
        for at in range(1, len(words) + 1):
            found.append(await _typed(page, words[:at]))
    page.filters.line.clear()
    return found


async def _typed(page: LibraryPage, words: str) -> float:
    shown: list[float] = []
    connection = page.table.choice_changed.connect(lambda: shown.append(time.perf_counter()))
    start = time.perf_counter()
    page.filters.line.setText(words)
    await until(lambda: bool(shown))
    page.table.disconnect(connection)
    return (shown[0] - start) * 1000
