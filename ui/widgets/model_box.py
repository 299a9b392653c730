"""The list of models: by provider, and where it is long, found by typing a part of the name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from explorer.models.catalogue import provider_of
from ui.theme import S16, scaled, small_font
from ui.widgets.choice import ChoiceBox

SEARCHED_FROM = 13
"""So many models are no longer looked through one by one."""

MOST_IN_SIGHT = 16

WIDEST = 420
"""Pixels of the drawing that the open list takes at most."""

MORE = "More models…"
"""The entry that leads to all there is to know of models."""


def short_name(model_id: str, label: str) -> str:
    """A model's name without the way to it, where it has no other label than its id."""
    return label if label != model_id else model_id.rpartition("/")[2] or model_id


class _SearchLine(QLineEdit):
    """A field that shows what fits of its text, from the beginning, while nobody types in it."""

    def paintEvent(self, event: QPaintEvent, /) -> None:
        if self.hasFocus():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        room = self.rect().adjusted(2, 0, -2, 0)
        box = self.parentWidget()
        text = box.face_text() if isinstance(box, ModelBox) else self.text()
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), shown)


class ModelBox(ChoiceBox):
    """A list box of models. ``currentData`` is the id of the chosen one.

    A long list has a heading per provider, and its field takes words to search for; what is no
    model's name when the field is left gives way to the model chosen before.

    With ``more`` the last entry leads to the dialog of models; the keys step over it as long as
    the list is shut.
    """

    more_asked = Signal()

    def __init__(self, parent: QWidget | None = None, *, more: bool = False) -> None:
        super().__init__(parent)
        self._more = more
        self._before = -1
        self.activated.connect(self._activated)
        self.setMaxVisibleItems(MOST_IN_SIGHT)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)

    def set_models(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """(id, label) of the models, grouped by provider already; ``chosen`` is an id."""
        is_long = len(models) >= SEARCHED_FROM
        self.blockSignals(True)
        self.clear()
        provider = ""
        for model_id, label in models:
            if is_long and provider_of(model_id) != provider:
                provider = provider_of(model_id)
                self._add_heading(provider)
            self.addItem(label, model_id)
            self.setItemData(self.count() - 1, model_id, Qt.ItemDataRole.ToolTipRole)
        if self._more:
            self.insertSeparator(self.count())
            self.addItem(MORE)
            self._allow_more(False)
        if not is_long:
            self.setEditable(False)
        elif not self.isEditable():
            self.setLineEdit(_SearchLine(self))
            self._set_up_search()
        at = self.findData(chosen)
        self._before = at if at >= 0 else self._first()
        self.setCurrentIndex(self._before)
        self.blockSignals(False)

    def face_text(self) -> str:
        """The chosen model, without the way to it."""
        chosen = self.currentData()
        return short_name(str(chosen), self.currentText()) if chosen else self.currentText()

    def showPopup(self) -> None:
        self._allow_more(True)
        # The list is as wide as its names, though the box is not.
        names = (self.itemText(at) for at in range(self.count()))
        widest = max(map(self.fontMetrics().horizontalAdvance, names), default=0)
        view = self.view()
        bar = view.verticalScrollBar().sizeHint().width()
        view.setMinimumWidth(min(widest + bar + 2 * S16, scaled(WIDEST)))
        super().showPopup()

    def hidePopup(self) -> None:
        super().hidePopup()
        self._allow_more(False)

    def _allow_more(self, on: bool) -> None:
        model, at = self.model(), self.count() - 1
        if self._more and at >= 0 and isinstance(model, QStandardItemModel):
            item = model.item(at)
            item.setEnabled(on)

    def _activated(self, at: int) -> None:
        if self.itemData(at):
            self._before = at
        elif self._more and self.itemText(at) == MORE:
            self.setCurrentIndex(self._before)
            self.more_asked.emit()

    def _add_heading(self, provider: str) -> None:
        item = QStandardItem(provider)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(small_font(bold=True))
        model = self.model()
        if isinstance(model, QStandardItemModel):
            model.appendRow(item)

    def _set_up_search(self) -> None:
        completer = QCompleter(self.model(), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setMaxVisibleItems(MOST_IN_SIGHT)
        self.setCompleter(completer)
        line = self.lineEdit()
        if line is not None:
            line.setPlaceholderText("Type to search")
            line.setAccessibleName(self.accessibleName())
            line.setFrame(False)
            line.setProperty("plain", True)
            line.editingFinished.connect(self._settle)

    def _first(self) -> int:
        """The first row that is a model."""
        return next((row for row in range(self.count()) if self.itemData(row)), -1)

    def _settle(self) -> None:
        """Words that are no model's name give way to the chosen model's."""
        found = self.findText(self.currentText().strip(), Qt.MatchFlag.MatchFixedString)
        line = self.lineEdit()
        if line is None:
            return
        if found >= 0 and self.itemData(found) and found != self.currentIndex():
            self.setCurrentIndex(found)
            self.activated.emit(found)
        line.setText(self.itemText(self.currentIndex()))
