"""The notes and labels of a team at one place, each with its author, and a line to write one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QToolButton, QWidget

from explorer.store.postgres import Note
from ui.library.pane import when
from ui.theme import S4, S8, S12, S16, bind_font, bind_icon, scaled, set_tone, small_font
from ui.widgets.figures import count, moment
from ui.widgets.labels import Caption, Hairline, LinkButton
from ui.widgets.panels import column_in, row, scroll_area

MOST_SHOWN = 50
"""Notes at a place that are shown, the newest."""
HIGHEST = 132
"""Pixels at a text scale of 100 % that the notes take at most; more of them scroll."""


class NoteLine(QWidget):
    """One note or label: what it says, by whom and when, and a cross at the person's own."""

    remove_asked = Signal(int)

    def __init__(self, note: Note, is_own: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = QLabel(note.text, self)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        is_label = note.kind == "label"
        if is_label:
            self.words.setProperty("keycap", True)
        else:
            self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            self.words.setWordWrap(True)
        written = when(note.made_ms, datetime.now().astimezone())
        self.who = QLabel(f"{note.author}, {written}", self)
        self.who.setTextFormat(Qt.TextFormat.PlainText)
        self.who.setToolTip(moment(note.made_ms))
        bind_font(self.who, small_font)
        set_tone(self.who, "dim")
        self.setAccessibleName(f"{note.kind} of {note.author}: {note.text}")
        parts: list[QWidget | int] = [self.words, self.who]
        if is_label:
            parts.append(1)
        if is_own:
            cross = QToolButton(self)
            bind_icon(cross, "close", "dim")
            cross.setToolTip(f"Take your {note.kind} away")
            cross.setAccessibleName(f"Take away: {note.text}")
            cross.clicked.connect(lambda: self.remove_asked.emit(note.id))
            parts.append(cross)
        self.setLayout(row(*parts, spacing=S8, wide=None if is_label else self.words))


class TeamNotes(QWidget):
    """Stands below what it is about; hidden where no session of a team is shown."""

    write_asked = Signal(str, str)
    """(the words, ``note`` or ``label``)"""
    remove_asked = Signal(int)
    """The number of a note."""

    def __init__(self, name: str, parent: QWidget) -> None:
        """``name``: what the notes are on, for screen readers."""
        super().__init__(parent)
        self._shown: tuple[object, ...] = ()
        self.title = Caption("", self)
        self.area = scroll_area(self, has_frame=False)
        self.area.setAccessibleName(f"Notes of the team on {name}")
        self.lines: list[NoteLine] = []
        self.box = QLineEdit(self)
        self.box.setAccessibleName(f"Note on {name}")
        self.box.returnPressed.connect(lambda: self._write("note"))
        self.as_label = LinkButton("As label", self)
        self.as_label.setToolTip("Put the words on it as a label")
        self.as_label.clicked.connect(lambda: self._write("label"))
        bind_font(self.as_label, small_font)
        self.box.textChanged.connect(lambda _text: self._follow())
        column = column_in(self, S4)
        column.addWidget(Hairline(parent=self))
        inner = column_in(QWidget(self), S4, (S16, S4, S12, S8))
        for part in (self.title, self.area):
            inner.addWidget(part)
        inner.addLayout(row(self.box, self.as_label, spacing=S8, wide=self.box))
        holder = inner.parentWidget()
        assert holder is not None
        column.addWidget(holder)
        self._follow()
        self.hide()

    def show_notes(self, library: str, notes: Sequence[Note], person: str, place: object) -> None:
        """Show what was written at a place. ``person``: who may take theirs away; ``place``: tells
        it from others, at which what is being written ends."""
        if self._shown[:1] != (place,):
            self.box.clear()
        self.setVisible(True)
        shown = (place, library, tuple(notes), person)
        if shown == self._shown:
            return
        self._shown = shown
        kinds = [count(sum(one.kind == kind for one in notes), kind) for kind in ("note", "label")
                 if any(one.kind == kind for one in notes)]  # fmt: skip
        self.title.setText(f"{' and '.join(kinds)} in {library}")
        self.title.setVisible(bool(notes))
        self.box.setPlaceholderText(f"Write a note for {library}")
        content = QWidget(self)
        column = column_in(content, S4)
        last = notes[-MOST_SHOWN:]
        self.lines = [NoteLine(one, one.author == person, content) for one in last]
        for line in self.lines:
            line.remove_asked.connect(self.remove_asked)
            column.addWidget(line)
        self.area.setWidget(content)
        self.area.setVisible(bool(notes))
        self._fit()

    def _fit(self) -> None:
        content = self.area.widget()
        if content is None or not self.lines:
            return
        wide = max(1, self.area.viewport().width())
        layout = content.layout()
        assert layout is not None
        high = layout.totalHeightForWidth(wide) if layout.hasHeightForWidth() else 0
        high = max(high, layout.totalMinimumSize().height())
        self.area.setFixedHeight(min(high, scaled(HIGHEST)))

    def resizeEvent(self, event: object, /) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _follow(self) -> None:
        self.as_label.setVisible(bool(self.box.text().strip()))

    def _write(self, kind: str) -> None:
        if words := " ".join(self.box.text().split()):
            self.write_asked.emit(words, kind)

    def written(self) -> None:
        """Empty the line: what stood in it is there."""
        self.box.clear()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape and self.box.text():
            self.box.clear()
            return
        super().keyPressEvent(event)
