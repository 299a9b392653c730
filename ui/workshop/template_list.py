"""All texts, by what they are for, with what is changed, edited or broken said in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QWidget

from explorer.template_catalogue import GROUPS
from explorer.templates import TemplateState
from ui.theme import S4, S8, S16, on_theme_changed, small_font

NAME = Qt.ItemDataRole.UserRole
SIGNS = {"broken": "✕", "yours": "●", "not saved": "✎"}
"""What stands before a text in the list; in words it is in the tip, and for a screen reader."""
_BACK = (
    QTreeWidget.CursorAction.MoveUp,
    QTreeWidget.CursorAction.MovePageUp,
    QTreeWidget.CursorAction.MovePrevious,
    QTreeWidget.CursorAction.MoveLeft,
)


class TemplateList(QTreeWidget):
    """Groups and their texts; one is chosen."""

    chosen = Signal(str)
    """The name of a text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Texts sent to models")
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(12)
        self.setItemsExpandable(False)
        self.setProperty("surface", "panel")
        self.setFrameShape(QTreeWidget.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._items: dict[str, QTreeWidgetItem] = {}
        self._states: Sequence[TemplateState] = ()
        self.currentItemChanged.connect(lambda now, _old: self._changed(now))
        on_theme_changed(self._restyle)

    @property
    def name(self) -> str:
        """The text that is chosen; empty for none."""
        item = self.currentItem()
        return str(item.data(0, NAME) or "") if item is not None else ""

    def show_states(
        self, states: Sequence[TemplateState], edited: Collection[str], used: Collection[str]
    ) -> None:
        """Show how the texts stand. ``edited``: changed here and not saved; ``used``: those that
        the profile in force is summarized with."""
        if [state.info.name for state in states] != list(self._items):
            self._build(states)
        self._states = states
        for state in states:
            item = self._items[state.info.name]
            marks = [
                word
                for word, on in (
                    ("broken", bool(state.problem)),
                    ("yours", state.changed),
                    ("not saved", state.info.name in edited),
                )
                if on
            ]
            sign = "".join(SIGNS[word] for word in marks)
            told = f"{state.info.title} — {', '.join(marks)}" if marks else state.info.title
            item.setText(0, f"{sign} {state.info.title}" if sign else state.info.title)
            use = " The profile in force uses it." if state.info.name in used else ""
            item.setToolTip(0, f"{told}. {state.info.about}{use}")
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, told)
            font = self.font()
            font.setBold(bool(marks))
            item.setFont(0, font)

    def _build(self, states: Sequence[TemplateState]) -> None:
        self.blockSignals(True)
        self.clear()
        self._items = {}
        for group, title in GROUPS.items():
            top = QTreeWidgetItem(self, [title])
            top.setFlags(Qt.ItemFlag.ItemIsEnabled)  # disabled, its texts would be too
            for state in states:
                if state.info.group == group:
                    item = QTreeWidgetItem(top, [state.info.title])
                    item.setData(0, NAME, state.info.name)
                    self._items[state.info.name] = item
        self._items = {state.info.name: self._items[state.info.name] for state in states}
        self.expandAll()
        self.blockSignals(False)
        self._restyle()

    def select(self, name: str) -> None:
        """Choose a text."""
        if name in self._items:
            self.setCurrentItem(self._items[name])
            self.scrollToItem(self._items[name])

    def _changed(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and item.data(0, NAME):
            self.chosen.emit(self.name)

    def moveCursor(
        self, action: QTreeWidget.CursorAction, modifiers: Qt.KeyboardModifier, /
    ) -> QModelIndex:
        """The titles of groups are stepped over."""
        found = super().moveCursor(action, modifiers)
        back = action in _BACK
        while found.isValid() and not found.data(NAME):
            found = self.indexAbove(found) if back else self.indexBelow(found)
        return found if found.isValid() else self.currentIndex()

    def _restyle(self) -> None:
        for row in range(self.topLevelItemCount()):
            item = self.topLevelItem(row)
            if item is not None:
                font = small_font(bold=True)
                item.setFont(0, font)
                high = QFontMetrics(font).height() + (S16 if row else S8)
                item.setSizeHint(0, QSize(0, high))
                item.setTextAlignment(0, Qt.AlignmentFlag.AlignBottom)
        bold = self.font()
        bold.setBold(True)
        for item in self._items.values():
            # A sign or bold letters make no row higher.
            item.setSizeHint(0, QSize(0, QFontMetrics(bold).height() + S4))
