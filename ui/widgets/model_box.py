"""The list of models: by provider, and where it is long, found by typing a part of the name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from explorer.models.listing import provider_of
from ui.theme import small_font
from ui.widgets.choice import Choice

SEARCHED_FROM = 13
"""So many models are no longer looked through one by one."""

MOST_IN_SIGHT = 16


class _SearchLine(QLineEdit):
    """A field that shows what fits of its text, from the beginning, while nobody types in it."""

    def paintEvent(self, event: QPaintEvent, /) -> None:
        if self.hasFocus():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        room = self.rect().adjusted(2, 0, -2, 0)
        shown = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), shown)


class ModelBox(Choice):
    """A list box of models. ``currentData`` is the id of the chosen one.

    A long list has a heading per provider, and its field takes words to search for; what is no
    model's name when the field is left gives way to the model chosen before.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        if not is_long:
            self.setEditable(False)
        elif not self.isEditable():
            self.setLineEdit(_SearchLine(self))
            self._set_up_search()
        at = self.findData(chosen)
        self.setCurrentIndex(at if at >= 0 else self._first())
        self.blockSignals(False)

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
