"""One run of the real window, and hands to work it with."""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from explorer.compaction.partition import Partition
from explorer.services.document import Document
from explorer.settings.paths import resource_path
from ui.app import prepare
from ui.event_loop import live
from ui.main_window import TABS, MainWindow
from ui.session import SAMPLE, WindowSession

Found = TypeVar("Found", bound=QWidget)
PATIENCE_S = float(os.environ.get("TEST_PATIENCE_S", "60"))
"""How long something may take on a busy machine before it counts as not happening."""

NO_ARGUMENTS = argparse.Namespace(session=None, sample=False, smoke=False)


def sample_path() -> Path:
    """The bundled session."""
    return resource_path(*SAMPLE)


class NotReached(AssertionError):
    """Something that was waited for did not come."""


class RunningWindow:
    """The window from its first paint on. Everything is done by events, as a person does it."""

    def __init__(self, window: MainWindow, app: QApplication) -> None:
        self.app = app
        self.window = window
        self.is_closed = False
        self.session: WindowSession
        self.task: asyncio.Task[int]

    @classmethod
    async def start(
        cls,
        app: QApplication,
        session: str | Path | None = None,
        size: tuple[int, int] | None = (1440, 900),
        watch: Callable[[WindowSession], object] | None = None,
    ) -> RunningWindow:
        """Start as ``session-explorer open`` does; returns when the window can be worked with.

        ``watch`` sees the controllers before the database is opened. Without a ``size`` the
        window is as large as it was when it was last closed.
        """
        loaded = prepare(app)
        opens_session = session is not None or bool(loaded.values.last_session)
        self = cls(MainWindow(loaded.values, opens_session), app)
        if size is not None:
            self.window.resize(*size)
        arguments = argparse.Namespace(**vars(NO_ARGUMENTS))
        arguments.session = str(session) if session is not None else None

        def started(running: WindowSession) -> None:
            self.session = running
            if watch is not None:
                watch(running)

        self.task = asyncio.ensure_future(live(self.window, loaded, arguments, started))
        await self.until(lambda: hasattr(self, "session"), "the controllers")
        await self.until(
            lambda: self.bench_is_open or self.window.notices.isVisible(), "the database"
        )
        if self.bench_is_open:
            await self.until(lambda: self.window.is_ready, "what is opened first")
        self.window.activateWindow()
        await self.until(self.window.isActiveWindow, "the window's activation")
        await self.idle()
        return self

    async def close(self) -> int:
        """Close the window as its frame's cross does; returns the exit status."""
        if not self.is_closed:
            if not self.task.done():
                self.window.close()
            await asyncio.wait_for(self.task, PATIENCE_S)
            self.is_closed = True
            self.window.deleteLater()
        return self.task.result()

    # what there is -----------------------------------------------------------------------------

    @property
    def bench_is_open(self) -> bool:
        return self.session.state.bench is not None

    @property
    def has_document(self) -> bool:
        return self.session.state.document is not None

    @property
    def document(self) -> Document:
        document = self.session.state.document
        assert document is not None, "no session is open"
        return document

    @property
    def partition(self) -> Partition:
        shown = self.window.compaction.partition
        assert shown is not None, "nothing is previewed"
        return shown

    @property
    def tab(self) -> str:
        return TABS[self.window.inspector.currentIndex()]

    @property
    def notice(self) -> str:
        """What the strip over the window says, or nothing."""
        notice = self.window.notices.notice
        return notice.what if notice is not None and self.window.notices.isVisible() else ""

    @property
    def said(self) -> str:
        """The passing word in the status bar."""
        return self.window.statusBar().currentMessage()

    def busy(self) -> list[str]:
        """What the window is doing at the moment."""
        return self.session.state.tasks.running

    # waiting -----------------------------------------------------------------------------------

    async def until(
        self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_S
    ) -> None:
        """Let the window work until something holds. Raises NotReached."""
        end = time.monotonic() + seconds
        while not condition():
            if hasattr(self, "task") and self.task.done() and (error := self.task.exception()):
                raise error
            if time.monotonic() > end:
                raise NotReached(f"{what} did not come within {seconds:.0f} s")
            await asyncio.sleep(0.005)

    async def settle(self, turns: int = 4) -> None:
        """Let posted events, layouts and paints happen."""
        for _ in range(turns):
            await asyncio.sleep(0.005)

    async def idle(self) -> None:
        """Wait until no work of the window is under way."""
        await self.until(lambda: not self.busy(), f"the end of {self.busy()}")
        await self.settle()

    # the keyboard ------------------------------------------------------------------------------

    def receiver(self) -> QWidget:
        """Who gets the keys: the focus of the active window, as the system would have it."""
        popup = QApplication.activePopupWidget()
        if popup is not None:
            return popup
        focus = QApplication.focusWidget()
        active = QApplication.activeWindow()
        return focus or active or self.window

    def keys(self, *sequences: str, to: QWidget | None = None) -> None:
        """Press keys named as on the page of keys: ``"Ctrl+K"``, ``"Return"``, ``"/"``."""
        for name in sequences:
            stroke = QKeySequence(name)[0]
            QTest.keyClick(to or self.receiver(), stroke.key(), stroke.keyboardModifiers())

    def type(self, text: str, to: QWidget | None = None) -> None:
        """Type words; a line break is Return."""
        for at, line in enumerate(text.split("\n")):
            if at:
                QTest.keyClick(to or self.receiver(), Qt.Key.Key_Return)
            for letter in line:
                self._letter(letter, to or self.receiver())

    @staticmethod
    def _letter(letter: str, to: QWidget) -> None:
        if letter.isascii():
            QTest.keyClick(to, letter)
            return
        # QTest has keys for plain letters only, and ends the process at others.
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.sendEvent(to, event)

    async def tab_to(self, wanted: QWidget, most: int = 60, key: str = "Tab") -> None:
        """Press Tab until a widget has the keyboard. Raises NotReached."""
        for _ in range(most):
            if wanted.hasFocus():
                return
            self.keys(key)
            await self.settle(1)
        raise NotReached(f"{key} does not lead to {wanted.accessibleName() or wanted}")

    def mnemonic(self, text: str, inside: QWidget | None = None) -> None:
        """Press Alt with the underlined letter of the visible button that says this."""
        stroke = QKeySequence.mnemonic(self.button(text, inside).text())
        assert not stroke.isEmpty(), f"{text!r} has no underlined letter"
        self.keys(stroke.toString())

    # the mouse ---------------------------------------------------------------------------------

    def click(
        self,
        widget: QWidget,
        at: QPoint | None = None,
        button: Qt.MouseButton = Qt.MouseButton.LeftButton,
    ) -> None:
        QTest.mouseClick(widget, button, pos=at or widget.rect().center())

    def press_button(self, text: str, inside: QWidget | None = None) -> None:
        """Click the button with these words."""
        self.click(self.button(text, inside))

    def drop(self, *files: Path) -> None:
        """Drop files on the window, as a file manager does."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
        at, copy = self.window.rect().center(), Qt.DropAction.CopyAction
        left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(at, copy, data, left, none)
        QApplication.sendEvent(self.window, enter)
        assert enter.isAccepted(), "the window does not take the files"
        QApplication.sendEvent(self.window, QDropEvent(QPointF(at), copy, data, left, none))

    # the map -----------------------------------------------------------------------------------

    def map_point(self, entry: int) -> QPoint:
        """Where on the map's surface an entry's words begin. It must be on screen."""
        view = self.window.map.view
        rect = view.row_rect(entry)
        assert not rect.isNull(), f"#{entry} is not on the map"
        geometry = view.geometry_now()
        point = QPointF(geometry.text_left + 6, rect.center().y()).toPoint()
        assert view.viewport().rect().contains(point), f"#{entry} is not on screen"
        return point

    def click_entry(self, entry: int) -> None:
        self.window.map.view.reveal(entry, centre=True)
        self.click(self.window.map.view.viewport(), self.map_point(entry))

    def double_click_entry(self, entry: int) -> None:
        self.window.map.view.reveal(entry, centre=True)
        surface = self.window.map.view.viewport()
        point = self.map_point(entry)
        QTest.mouseClick(surface, Qt.MouseButton.LeftButton, pos=point)
        QTest.mouseDClick(surface, Qt.MouseButton.LeftButton, pos=point)

    def cut_point(self) -> QPoint:
        """The middle of the cut's handle on the map's surface."""
        return self.window.map.view.pill_rect().center().toPoint()

    # finding -----------------------------------------------------------------------------------

    def button(self, text: str, inside: QWidget | None = None) -> QAbstractButton:
        """The visible button that says this, its mnemonic mark aside."""
        for found in visible(inside or self.active, QAbstractButton):
            if found.text().replace("&", "").startswith(text):
                return found
        raise NotReached(f"no visible button says {text!r}")

    def words(self, inside: QWidget | None = None) -> str:
        """All words of visible labels and texts, one per line."""
        place = inside or self.active
        found = [label.text() for label in visible(place, QLabel)]
        found += [text.toPlainText() for text in visible(place, QTextEdit)]
        found += [text.toPlainText() for text in visible(place, QPlainTextEdit)]
        return "\n".join(found)

    @property
    def active(self) -> QWidget:
        """The window or dialog that takes the input now."""
        return QApplication.activeModalWidget() or self.window

    async def dialog(self, kind: type[Found] | type[QDialog] = QDialog) -> Found:
        """The dialog of a kind, as soon as it is there."""

        def found() -> QWidget | None:
            for widget in QApplication.topLevelWidgets():
                if isinstance(widget, kind) and widget.isVisible():
                    return widget
            return None

        await self.until(lambda: found() is not None, f"a {kind.__name__}")
        dialog = found()
        assert dialog is not None
        dialog.activateWindow()
        await self.until(dialog.isActiveWindow, "the dialog's activation")
        return dialog  # type: ignore[return-value]

    async def back(self) -> None:
        """The window is in front again after a dialog, as a window manager has it."""
        await self.until(lambda: QApplication.activeModalWidget() is None, "the dialog's end")
        self.window.activateWindow()
        await self.until(self.window.isActiveWindow, "the window's activation")
        await self.idle()

    def choose(self, box: QComboBox, data: object) -> None:
        """Choose from a list box by its keys, as without a mouse."""
        wanted = box.findData(data)
        assert wanted >= 0, f"{data!r} is not offered"
        box.setFocus()
        step = "Down" if wanted > box.currentIndex() else "Up"
        while box.currentIndex() != wanted:
            before = box.currentIndex()
            self.keys(step, to=box)
            assert box.currentIndex() != before, f"{step} does not move the choice"


def visible(inside: QWidget, kind: type[Found]) -> Iterable[Found]:
    """Widgets of a kind that can be seen."""
    return [widget for widget in inside.findChildren(kind) if widget.isVisible()]


def on_screen(widget: QWidget) -> QRect:
    """Where a widget is in its window."""
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())
