"""The list of models: by provider, and where it is long, found by typing a part of the name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QComboBox, QLineEdit, QToolTip, QWidget

from explorer.models.catalogue import provider_of
from ui.theme import S16, scaled
from ui.widgets.choice import ChoiceBox
from ui.widgets.name_list import NameRow, is_name, name_column
from ui.widgets.popup import Popup, PopupTable

SEARCHED_FROM = 13
"""So many models are no longer looked through one by one."""

MOST_IN_SIGHT = 16

WIDEST = 420
"""Pixels of the drawing that the open list takes at most."""

MORE = "More models…"
"""The entry that leads to all there is to know of models."""

_LIST_KEYS = (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_LINE_KEYS = (Qt.Key.Key_Home, Qt.Key.Key_End)
"""These move in the list as long as nothing is typed."""


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
        shown = box.fitted_text(room.width()) if isinstance(box, ModelBox) else self.text()
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), shown)


class ModelBox(ChoiceBox):
    """A list box of models. ``currentData`` is the id of the chosen one.

    A long list has a heading per provider, and its field takes words to search for; what is no
    model's name when the field is left gives way to the model chosen before.

    With ``more`` the open list ends with an entry that leads to the dialog of models.
    """

    more_asked = Signal()

    def __init__(self, parent: QWidget | None = None, *, more: bool = False) -> None:
        super().__init__(parent)
        self._more = more
        self._popup: Popup | None = None
        self._typed = ""
        """What the open list is searched for."""
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)

    def set_models(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """(id, label) of the models, grouped by provider already; ``chosen`` is an id."""
        self.hidePopup()
        self.blockSignals(True)
        self.clear()
        for model_id, label in models:
            self.addItem(label, model_id)
        if len(models) < SEARCHED_FROM:
            self.setEditable(False)
        elif not self.isEditable():
            self._set_up_search(_SearchLine(self))
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(False)

    def face_text(self) -> str:
        """The chosen model, without the way to it."""
        chosen = self.currentData()
        return short_name(str(chosen), self.currentText()) if chosen else self.currentText()

    def fitted_text(self, room: int) -> str:
        """Without what stands in brackets, where that does not fit: the tip has the whole."""
        whole = super().fitted_text(room)
        short = self.face_text().partition(" (")[0]
        fits = self.fontMetrics().horizontalAdvance(short) <= room
        return short if fits and whole != self.face_text() else whole

    def event(self, event: QEvent, /) -> bool:
        if isinstance(event, QHelpEvent) and self.shown_text() != self.currentText():
            words = "\n".join(text for text in (self.currentText(), self.toolTip()) if text)
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    # the list ------------------------------------------------------------------------------------

    @property
    def popup(self) -> Popup:
        """The list of models; made when it is first needed."""
        if self._popup is None:
            table = PopupTable((name_column(),), self.accessibleName(), self, is_name)
            self._popup = Popup(table, self, MOST_IN_SIGHT)
            # The keyboard stays at the box.
            for part in (self._popup, table):
                part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            table.current_changed.connect(self._describe)
            self._popup.chosen.connect(self._choose)
        return self._popup

    def showPopup(self) -> None:
        if self.popup.isVisible():
            self.hidePopup()
        else:
            self._open()

    def hidePopup(self) -> None:
        super().hidePopup()
        if self._popup is not None:
            self._popup.hide()
            self.setAccessibleDescription("")

    def _open(self, typed: str = "") -> None:
        self._typed = typed.strip()
        rows = self._rows()
        names = [row for row in rows if is_name(row)]
        if not names:
            self.hidePopup()
            return
        chosen = next((row for row in names if row.name == self.currentData()), names[0])
        # The list is as wide as its names, though the box is not.
        widest = max(self.fontMetrics().horizontalAdvance(row.text) for row in rows) + 3 * S16
        self.popup.show_rows(rows, current=chosen)
        self.popup.open_at(self, max(self.width(), min(widest, scaled(WIDEST))))

    def _rows(self) -> list[NameRow]:
        """The models that have the typed words in their names; all are under headings."""
        rows, provider = [], ""
        for at in range(self.count()):
            model, label = str(self.itemData(at)), self.itemText(at)
            if self._typed.casefold() not in label.casefold():
                continue
            if self.isEditable() and not self._typed and provider_of(model) != provider:
                provider = provider_of(model)
                rows.append(NameRow("", provider))
            rows.append(NameRow(model, label, tip=model))
        if self._more and not self._typed:
            rows.append(NameRow(MORE, MORE))
        return rows

    def _describe(self, row: NameRow | None) -> None:
        """Say what is marked to who cannot see the list."""
        self.setAccessibleDescription(row.text if row is not None else "")

    def _choose(self, row: NameRow) -> None:
        self.hidePopup()
        at = self.findData(row.name)
        if at >= 0:
            self.setCurrentIndex(at)
            self.activated.emit(at)
        self.setEditText(self.currentText() if at < 0 else self.itemText(at))
        if row.name == MORE:
            self.more_asked.emit()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        """Keys of the open list; the others type, or step from model to model."""
        if self._popup is None or not self._popup.isVisible():
            super().keyPressEvent(event)
            return
        key, table = Qt.Key(event.key()), self._popup.table
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            table.step(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Escape:
            self.hidePopup()
        elif key in _LIST_KEYS or (key in _LINE_KEYS and not self._typed):
            table.keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    # searching -----------------------------------------------------------------------------------

    def _set_up_search(self, line: QLineEdit) -> None:
        self.setLineEdit(line)
        self.setCompleter(None)  # type: ignore[arg-type]
        line.setPlaceholderText("Type to search")
        line.setAccessibleName(self.accessibleName())
        line.setFrame(False)
        line.setProperty("plain", True)
        line.textEdited.connect(self._open)
        line.editingFinished.connect(self._settle)

    def _settle(self) -> None:
        """Words that are no model's name give way to the chosen model's."""
        found = self.findText(self.currentText().strip(), Qt.MatchFlag.MatchFixedString)
        if found >= 0 and found != self.currentIndex():
            self.setCurrentIndex(found)
            self.activated.emit(found)
        self.setEditText(self.itemText(self.currentIndex()))
