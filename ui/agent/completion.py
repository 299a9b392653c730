"""What can be put in the place of what is being typed: commands after ``/``, files after ``@``.

Files are found by some of the letters of their names, in order: ``rtry`` finds ``src/retry.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.agent.composer import Composer
from ui.widgets.labels import Caption

MOST_OFFERED = 12
_ASKED_EVERY = 512
"""Names between two looks at whether anybody still wants to know."""


def score(typed: str, name: str) -> int | None:
    """How badly a name fits what was typed, 0 at best; None where it does not at all."""
    folded, low = name.casefold(), typed.casefold()
    if not low:
        return len(name)
    base = folded.rsplit("/", 1)[-1]
    if base.startswith(low):
        return len(name)
    if low in base:
        return 1_000 + base.index(low) + len(name)
    if low in folded:
        return 2_000 + folded.index(low) + len(name)
    letters = _expression(low)
    for place, points in ((base, 3_000), (folded, 4_000)):
        if found := letters.search(place):
            return points + 4 * (found.end() - found.start() - len(low)) + len(name)
    return None


@lru_cache(maxsize=64)
def _expression(low: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(letter) for letter in low if not letter.isspace()))


def best(
    typed: str,
    names: Sequence[str],
    most: int = MOST_OFFERED,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str]:
    """The names that fit best, the best first; nothing when it is cancelled meanwhile."""
    rated: list[tuple[int, str]] = []
    for at, name in enumerate(names):
        if at % _ASKED_EVERY == 0 and cancelled():
            return []
        points = score(typed, name)
        if points is not None:
            rated.append((points, name))
    rated.sort()
    return [name for _, name in rated[:most]]


MOST_SHOWN = 8
_COMMAND = re.compile(r"/([A-Za-z][\w-]*)?")
_ARGUMENT = re.compile(r"/([A-Za-z][\w-]*)[ \t]+(\S*)")
_FILE = re.compile(r"(?:^|(?<=[\s(]))@(\"[^\"\n]*|[^\s\"]*)$")

Key = Qt.Key


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is being typed: a command's name, its argument, or a file's name."""

    kind: Literal["command", "argument", "file"]
    typed: str
    """The part that is to be replaced, without the ``/`` or ``@`` before it."""
    command: str = ""
    """The command whose argument it is."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One line of the list: what is put in, and a few words about it."""

    text: str
    note: str = ""
    shown: str = ""
    """What the line says, where that is not the text."""


def wanted_at(before: str) -> Wanted | None:
    """What a person may want completed, by what stands before the cursor."""
    if found := _COMMAND.fullmatch(before):
        return Wanted("command", found[1] or "")
    if found := _ARGUMENT.fullmatch(before):
        return Wanted("argument", found[2], found[1].lower())
    if found := _FILE.search(before):
        return Wanted("file", found[1].removeprefix('"'))
    return None


def mention(name: str) -> str:
    """A file as it is mentioned in a message; one with spaces in quotes."""
    return f'@"{name}"' if re.search(r"\s", name) else f"@{name}"


class CompletionList(QFrame):
    """A list over the message box; it never takes the keyboard."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list = QTreeWidget(self)
        self._list.setAccessibleName("Suggestions")
        self._list.setColumnCount(2)
        self._list.setHeaderHidden(True)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self._list.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self._list.itemClicked.connect(lambda item: self.chosen.emit(self._row(item)))
        self.help = Caption("", self)
        self.help.setContentsMargins(theme.S8, 0, theme.S8, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S4, theme.S4, theme.S4, theme.S4)
        column.setSpacing(theme.S4)
        column.addWidget(self._list)
        column.addWidget(self.help)
        self.hide()

    def _row(self, item: QTreeWidgetItem) -> int:
        return self._list.indexOfTopLevelItem(item)

    @property
    def row(self) -> int:
        item = self._list.currentItem()
        return self._row(item) if item is not None else -1

    @property
    def lines(self) -> list[str]:
        """What is offered, for whoever looks on."""
        items = (self._list.topLevelItem(at) for at in range(self._list.topLevelItemCount()))
        return [item.text(0) for item in items if item is not None]

    def fill(self, suggestions: Sequence[Suggestion], words: str) -> None:
        """Offer these, the first one marked; ``words`` stand below."""
        self._list.clear()
        dim = QBrush(theme.theme().dim)
        for one in suggestions:
            item = QTreeWidgetItem([one.shown or one.text, one.note])
            item.setForeground(1, dim)
            item.setSizeHint(0, QSize(0, self.fontMetrics().height() + theme.S8))
            item.setToolTip(0, one.shown or one.text)
            item.setToolTip(1, one.note)
            self._list.addTopLevelItem(item)
        self.step(0, to=0)
        self.help.setText(words)

    def step(self, by: int, to: int | None = None) -> None:
        count = self._list.topLevelItemCount()
        row = (self.row + by) % max(1, count) if to is None else to
        item = self._list.topLevelItem(row)
        if item is not None:
            self._list.setCurrentItem(item)

    def place_over(self, box: QWidget) -> None:
        """Above a widget, as wide as that allows, inside the window."""
        window = box.window()
        row = self._list.sizeHintForRow(0) or self.fontMetrics().height()
        rows = min(MOST_SHOWN, self._list.topLevelItemCount())
        self._list.setFixedHeight(rows * row)
        width = min(box.width(), theme.scaled(560))
        self.resize(width, 1)
        height = self.sizeHint().height()
        at = box.mapTo(window, QPoint(0, 0))
        self.setGeometry(at.x(), max(0, at.y() - height - theme.S4), width, height)
        self.raise_()


class Completion(QObject):
    """Watches the message box, asks for suggestions, and puts in what is taken."""

    asked = Signal(object)
    """``Wanted``: answer with ``show``."""

    def __init__(self, composer: Composer) -> None:
        super().__init__(composer)
        self._composer = composer
        self._list: CompletionList | None = None
        self._wanted: Wanted | None = None
        self._dismissed: Wanted | None = None
        self._suggestions: tuple[Suggestion, ...] = ()
        self._is_putting = False
        composer.typed.connect(self._follow)
        composer.left.connect(self.close)
        composer.installEventFilter(self)

    @property
    def is_open(self) -> bool:
        return self._list is not None and self._list.isVisible()

    @property
    def wanted(self) -> Wanted | None:
        """What is being typed now."""
        return self._wanted

    @property
    def lines(self) -> list[str]:
        """What is offered now."""
        return self._list.lines if self._list is not None and self.is_open else []

    def _follow(self) -> None:
        if self._is_putting:
            return
        wanted = wanted_at(self._composer.before_cursor()) if self._composer.hasFocus() else None
        if wanted == self._wanted:
            return
        self._wanted = wanted
        if wanted is None or self._is_dismissed(wanted):
            self.close()
        else:
            self.asked.emit(wanted)

    def _is_dismissed(self, wanted: Wanted) -> bool:
        """Esc holds for the word that was being typed, however it goes on."""
        gone = self._dismissed
        same = gone is not None and (gone.kind, gone.command) == (wanted.kind, wanted.command)
        if gone is None or not same or not wanted.typed.startswith(gone.typed):
            self._dismissed = None
            return False
        return True

    def show(self, wanted: Wanted, suggestions: Sequence[Suggestion], words: str = "") -> None:
        """Offer suggestions, where they are still what is wanted."""
        if wanted != self._wanted:
            return
        self._suggestions = tuple(suggestions)
        if not suggestions:
            self.close()
            return
        if self._list is None:
            self._list = CompletionList(self._composer.window())
            self._list.chosen.connect(self._take)
        self._list.fill(suggestions, words)
        self._list.show()
        self._list.place_over(self._composer)
        self._describe()

    def close(self) -> None:
        """Offer nothing."""
        if self._list is not None and self._list.isVisible():
            self._list.hide()
            self._composer.setAccessibleDescription("")

    def _describe(self) -> None:
        """Say what is marked to who cannot see the list."""
        if self._list is not None and 0 <= self._list.row < len(self._suggestions):
            now = self._suggestions[self._list.row]
            self._composer.setAccessibleDescription(
                f"Suggestion {self._list.row + 1} of {len(self._suggestions)}: "
                f"{now.shown or now.text}. {now.note}"
            )

    # keys ----------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the message box come here first, Tab among them."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        if self._list is None or not self.is_open:
            return False
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers:
            return False
        key = Key(event.key())
        if key in (Key.Key_Up, Key.Key_Down):
            self._list.step(1 if key == Key.Key_Down else -1)
            self._describe()
        elif key == Key.Key_Escape:
            self._dismissed = self._wanted
            self.close()
        elif key == Key.Key_Tab:
            self._take(self._list.row)
        elif key in (Key.Key_Return, Key.Key_Enter):
            if self._is_whole():
                self.close()
                return False
            self._take(self._list.row)
        else:
            return False
        return True

    def _is_whole(self) -> bool:
        """What is typed is what is marked already, or a command that is chosen by its name."""
        assert self._list is not None and self._wanted is not None
        row, typed = self._list.row, self._wanted.typed
        if self._wanted.kind == "command" and any(typed == s.text for s in self._suggestions):
            return self._suggestions[row].text == typed
        return not 0 <= row < len(self._suggestions) or self._suggestions[row].text == typed

    def _take(self, row: int) -> None:
        wanted = self._wanted
        if wanted is None or not 0 <= row < len(self._suggestions):
            return
        text = self._suggestions[row].text
        length = len(wanted.typed)
        if wanted.kind == "file":
            before = self._composer.before_cursor()
            length += 2 if before[: len(before) - length].endswith('@"') else 1
            text = mention(text)
        self._is_putting = True
        self._composer.replace_before_cursor(length, f"{text} ")
        self._is_putting = False
        self.close()
        self._wanted = None
        self._follow()
