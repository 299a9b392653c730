"""The menu of the line below the message box: what it has no room for can be chosen there."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QMenu, QPushButton, QToolButton, QWidget

from explorer.models.request import THINKING_LEVELS
from ui import theme
from ui.widgets.choice import Choice


class Folding(NamedTuple):
    """What gives way where there is little room, the first of them first."""

    ask: QCheckBox
    automatic: QCheckBox
    workspace: QPushButton
    thinking: Choice


class BarMenu(QToolButton):
    """A button with a menu, to which others add what they offer."""

    def __init__(
        self, folding: Folding, choose_level: Callable[[str], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._folding = folding
        theme.bind_icon(self, "plus", "ink")
        self.setAccessibleName("Add to the message, and more")
        self.setToolTip("Add pictures and files, see the commands, and more")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.items = QMenu(self)
        self.setMenu(self.items)
        self._folder = self.items.addAction("", folding.workspace.click)
        self._levels = self.items.addMenu("&Thinking")
        for level in THINKING_LEVELS:
            action = self._levels.addAction(level)
            action.setCheckable(True)
            action.triggered.connect(partial(choose_level, level))
        self._automatic = self._checked("Automatic c&ompaction", folding.automatic)
        self._ask = self._checked("Ask &before each automatic compaction", folding.ask)
        self.items.addSeparator()
        self.items.aboutToShow.connect(self._check)

    def _checked(self, text: str, switch: QCheckBox) -> QAction:
        action = self.items.addAction(text)
        action.setCheckable(True)
        action.triggered.connect(switch.click)
        return action

    def _check(self) -> None:
        folding = self._folding
        for action, switch in ((self._automatic, folding.automatic), (self._ask, folding.ask)):
            action.setChecked(switch.isChecked())
            action.setEnabled(switch.isEnabled())
        for action in self._levels.actions():
            action.setChecked(action.text() == folding.thinking.currentData())

    def name_folder(self, words: str) -> None:
        """What the folder's item says."""
        self._folder.setText(words.replace("&", "&&"))

    def show_folded(self, folded: Collection[QWidget]) -> None:
        """Offer what is not in the line."""
        folding = self._folding
        for action, part in (
            (self._ask, folding.ask),
            (self._automatic, folding.automatic),
            (self._folder, folding.workspace),
            (self._levels.menuAction(), folding.thinking),
        ):
            action.setVisible(part in folded)


def lines_of(widths: Collection[int], room: int, between: int) -> int:
    """Lines that parts of these widths take beside each other. All in pixels."""
    lines, at = 0, 0
    for width in widths:
        if not lines or at + width > room:
            lines, at = lines + 1, 0
        at += width + between
    return lines
