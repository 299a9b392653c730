"""What stories of the window of all sessions have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.library.page import LibraryPage

Kind = TypeVar("Kind", bound=QWidget)
SAMPLE = "Fix the flaky retry test"


async def started(house: House, folder: Path) -> tuple[RunningWindow, LibraryPage]:
    """A window with three sessions, and all of them in their own window, added up."""
    live = await house.start()
    live.drop(
        write_session(folder / "other.jsonl", 80, branches=False),
        write_session(folder / "queue.jsonl", 60, seed=4, branches=False),
        sample_path(),
    )
    await live.until(lambda: live.has_document, "the sessions")
    await live.idle()
    bench = live.session.state.bench
    assert bench is not None
    await live.until(lambda: bench.store.sessions()[0].branches, "what is added up")
    return live, await opened(live)


async def opened(live: RunningWindow) -> LibraryPage:
    live.keys("Ctrl+Shift+O")
    page = await live.dialog(LibraryPage)
    await live.until(lambda: page.totals.bars.bars or page.nothing.isVisible(), "the sums")
    return page


def titles(page: LibraryPage) -> list[str]:
    return [cells[2] for cells in page.table.cells()]


async def shows(live: RunningWindow, page: LibraryPage, count: int) -> None:
    await live.until(lambda: page.table.rows.rowCount() == count, f"{count} rows")
    wanted = f"{count} session" + ("s" if count != 1 else "")
    await live.until(lambda: page.totals.sessions.text() == wanted, "their sums")


async def at_title(live: RunningWindow, page: LibraryPage, title: str) -> None:
    """Move to a row by its keys."""
    page.table.setFocus()
    live.keys("Home", to=page.table)
    for _ in titles(page):
        if page.table.current.session.title == title:
            return
        live.keys("Down", to=page.table)
    raise AssertionError(f"no row {title!r}")


async def popup(live: RunningWindow, kind: type[Kind]) -> Kind:
    """The list or menu that a key or a press opens."""
    await live.until(lambda: isinstance(QApplication.activePopupWidget(), kind), "what it opens")
    found = QApplication.activePopupWidget()
    assert isinstance(found, kind)
    return found


async def choose(live: RunningWindow, words: str) -> None:
    """Choose from the menu that is opened."""
    here = await popup(live, QMenu)
    wanted = next(one for one in here.actions() if one.text().replace("&", "").startswith(words))
    QTest.mouseClick(here, Qt.MouseButton.LeftButton, pos=here.actionGeometry(wanted).center())
