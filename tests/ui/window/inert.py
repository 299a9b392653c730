"""Whether hostile texts stay texts in whatever the window shows at a moment."""

from __future__ import annotations

import socket
import threading
from html.parser import HTMLParser
from pathlib import Path

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLabel,
    QPlainTextEdit,
    QTextEdit,
    QToolTip,
    QWidget,
)

from tests.attacks.hostile_texts import MARK

PAINT = QColor(255, 0, 254)
"""Of the picture in a file that no text may bring into the window; in no theme."""
SIDE = 400
"""Pixels of that picture."""
_STEP = 12
_TAGS = frozenset({"b", "br", "a", "span", "u"})
_LINKS = ("entry:", "cut:auto", "ledger:")


class Listener:
    """Counts who connects to a port of this machine, and answers nobody."""

    def __init__(self) -> None:
        self.callers = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}/x.png"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.callers += 1
            caller.close()

    def close(self) -> None:
        """Stop listening."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def paint(file: Path) -> str:
    """Write the picture; returns its address."""
    picture = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
    picture.fill(PAINT)
    assert picture.save(str(file))
    return file.as_uri()


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            self.faults.append(tag)
        for name, value in attrs:
            fits = (value or "").startswith(_LINKS) if name == "href" else name == "style"
            if not fits or "url(" in (value or ""):
                self.faults.append(f"{name}={value}")


def has_image(document: QTextDocument) -> bool:
    """Whether a document has a picture, shown or only named: its letters are escaped there."""
    return "<img" in document.toHtml()


class Watch:
    """Looks at all that is shown, whenever it is asked to."""

    def __init__(self, app: QApplication, listener: Listener) -> None:
        self.app = app
        self.listener = listener
        self.seen: set[str] = set()
        """Where hostile words were shown by labels, texts or tips."""

    def look(self, where: str, *windows: QWidget, tips: bool = True) -> None:
        """Fails when something that is shown, in all windows or in these, is more than text, or a
        tip that could be shown."""
        tops = windows or tuple(one for one in self.app.topLevelWidgets() if one.isVisible())
        shown = [one for top in tops for one in (top, *top.findChildren(QWidget))]
        shown = [one for one in shown if one.isVisible()]
        for widget in shown:
            if isinstance(widget, QLabel):
                self._label(widget, where)
            elif isinstance(widget, QTextEdit):
                assert not has_image(widget.document()), where
                self._note(widget.toPlainText(), where)
            elif isinstance(widget, QPlainTextEdit):
                self._note(widget.toPlainText(), where)
        for widget in shown if tips else ():
            self._tips(widget, where)
        for top in tops:
            assert not self._has_paint(top), f"{where}: the picture in {top}"
        assert self.listener.callers == 0, where

    def _note(self, text: str, where: str) -> None:
        if MARK in text:
            self.seen.add(where)

    def _label(self, label: QLabel, where: str) -> None:
        self._note(label.text(), where)
        if label.textFormat() == Qt.TextFormat.RichText:
            assert not (faults := _Tags(label.text()).faults), f"{where}: {faults}, {label.text()}"
        else:
            assert label.textFormat() == Qt.TextFormat.PlainText, f"{where}: {label.text()}"

    def _tips(self, widget: QWidget, where: str) -> None:
        if MARK in widget.toolTip():
            self._tip(widget, widget.rect().center(), f"{where}, tip")
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model, is_list = widget.model(), isinstance(widget.model(), QAbstractListModel)
            columns = 1 if is_list else model.columnCount(QModelIndex())
            for row in range(min(model.rowCount(QModelIndex()), 40)):
                for column in range(columns):
                    index = model.index(row, column)
                    place = widget.visualRect(index).center()
                    tip = str(index.data(Qt.ItemDataRole.ToolTipRole) or "")
                    if MARK in tip and widget.viewport().rect().contains(place):
                        self._tip(widget.viewport(), place, f"{where}, tip of a row")
                        return

    def _tip(self, widget: QWidget, at: QPoint, where: str) -> None:
        QToolTip.hideText()
        event = QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at))
        QApplication.sendEvent(widget, event)
        self.tip(where)

    def tip(self, where: str) -> None:
        """The tip that is shown, if there is one, is text."""
        for one in self.app.topLevelWidgets():
            if isinstance(one, QLabel) and one.isVisible():
                self._label(one, where)
                assert not self._has_paint(one), where
        QToolTip.hideText()

    @staticmethod
    def _has_paint(widget: QWidget) -> bool:
        shot = widget.grab().toImage()
        return any(
            shot.pixelColor(x, y) == PAINT
            for x in range(0, shot.width(), _STEP)
            for y in range(0, shot.height(), _STEP)
        )
