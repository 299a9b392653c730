"""The head of an entry: what it is, its figures, and the choice of how it is shown."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from explorer.audit.provenance import weight_known
from explorer.session.kinds import Kind
from ui.audit.known import NOT_RECORDED, marked, spoken
from ui.inspector.ports import InspectedDocument, entry_tokens
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    bind_font,
    bind_icon,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    role_icon,
    role_name,
    role_token,
    scaled,
    set_tone,
    ui_font,
)
from ui.widgets.figures import full, moment
from ui.widgets.labels import Caption
from ui.widgets.panels import row


class EntryHeader(QWidget):
    """What the entry is, in two lines, with the choice of view."""

    raw_chosen = Signal(bool)
    copy_asked = Signal()
    edit_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = self._flags = 0
        self.sign = QLabel(self)
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        bind_font(self.title, lambda: ui_font(0.5, bold=True))
        self.number = QLabel(self)
        bind_font(self.number, mono_font)
        set_tone(self.number, "dim")
        self.facts = Caption(parent=self)
        self.facts.setWordWrap(True)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label = QLabel(self)
        self.label.setProperty("keycap", True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.rendered = self._choice("&Rendered", "The entry as text, code and pictures")
        self.raw = self._choice("Ra&w", "The JSON of the entry, as it was read")
        self.rendered.setChecked(True)
        group = QButtonGroup(self)
        group.addButton(self.rendered)
        group.addButton(self.raw)
        self.raw.toggled.connect(self.raw_chosen)
        self.copy = QToolButton(self)
        bind_icon(self.copy, "copy", "dim")
        self.copy.setToolTip("Copy what is shown")
        self.copy.setAccessibleName("Copy what is shown")
        self.copy.clicked.connect(self.copy_asked)
        self.edit = QToolButton(self)
        bind_icon(self.edit, "edit", "dim")
        self.edit.setToolTip("Edit and send again, as a branch of its own (Ctrl+E)")
        self.edit.setAccessibleName("Edit and send again")
        self.edit.clicked.connect(self.edit_asked)
        self.edit.hide()
        self._lay_out()
        on_theme_changed(self._restyle)

    def _choice(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        return button

    def _lay_out(self) -> None:
        self._views = QWidget(self)
        choice = row(self.rendered, self.raw, self.edit, self.copy)
        self._views.setLayout(choice)
        name = row(self.sign, self.title, self.number, 1)
        # What the entry is must be read whole: the choice of view goes below it instead.
        self._lines = QGridLayout()
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setHorizontalSpacing(S8)
        self._lines.setVerticalSpacing(S4)
        self._lines.setColumnStretch(0, 1)
        self._lines.addLayout(name, 0, 0)
        self._lines.addWidget(self._views, 0, 1)
        self._is_roomy = True
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S12, S12, S8)
        column.setSpacing(S4)
        column.addLayout(self._lines)
        column.addLayout(row(self.label, 1))
        column.addWidget(self.facts)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._make_room()

    def minimumSizeHint(self) -> QSize:
        """As narrow as one line of the two below each other."""
        named = self.sign.sizeHint().width() + self.number.sizeHint().width() + 3 * S8
        named += self.title.minimumSizeHint().width()
        wide = max(named, self._views.minimumSizeHint().width()) + S16 + S12
        return QSize(wide, super().minimumSizeHint().height())

    def _make_room(self) -> None:
        """Name and choice of view side by side where both fit, else one below the other."""
        named = self.sign.sizeHint().width() + self.number.sizeHint().width()
        wanted = named + self.title.sizeHint().width() + self._views.sizeHint().width() + 4 * S8
        roomy = self.width() - S16 - S12 >= wanted
        if roomy != self._is_roomy:
            self._is_roomy = roomy
            left = Qt.AlignmentFlag.AlignLeft
            self._lines.removeWidget(self._views)
            if roomy:
                self._lines.addWidget(self._views, 0, 1)
            else:
                self._lines.addWidget(self._views, 1, 0, 1, 2, left)

    def show_entry(self, document: InspectedDocument, index: int, label: str) -> None:
        """Show what the columns know; needs no payload."""
        columns = document.tree.columns
        self._kind, self._flags = columns.kind[index], columns.flags[index]
        self.title.setText(role_name(self._kind, self._flags).capitalize())
        self.number.setText(f"#{index}")
        self.edit.setVisible(self._kind == Kind.USER)
        self.label.setText(label)
        self.label.setVisible(bool(label))
        self.label.setAccessibleName(f"label {label}")
        self.facts.setText(" · ".join(self._facts(document, index)))
        self.setAccessibleName(f"Entry {index}, {self.title.text()}, {spoken(self.facts.text())}")
        self._restyle()

    @staticmethod
    def _facts(document: InspectedDocument, index: int) -> list[str]:
        columns, own = document.tree.columns, document.made_here(index)
        tokens, source = entry_tokens(document, index)
        counted = weight_known(source == "tokenizer")
        figure = full(tokens) if own else marked(full(tokens), counted)
        parts = [
            moment(columns.time[index]) or f"time {NOT_RECORDED}", f"{figure} tokens ({source})"
        ]  # fmt: skip
        if columns.usage[index] > 0:
            parts.append(f"context {full(columns.usage[index])} (provider)")
        if columns.model[index]:
            parts.append(columns.models[columns.model[index]])
        elif columns.kind[index] == Kind.ASSISTANT and not own:
            parts.append(f"model {NOT_RECORDED}")
        return [*parts, f"id {columns.ids[index]}"]

    def _restyle(self) -> None:
        token = role_token(self._kind, self._flags)
        name = role_icon(self._kind, self._flags)
        self.sign.setPixmap(icon_pixmap(name, token, scaled(16), self.devicePixelRatioF()))
        self._make_room()
