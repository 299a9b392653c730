"""One setting in the dialog: what it is, where its value comes from, its control."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from explorer.settings.files import Level
from explorer.settings.keys import Key
from ui.settings.fields import field_for
from ui.settings.patterns_field import ALLOW, PatternsField
from ui.settings.standing import SOURCE_WORDS, Standing, Surroundings
from ui.theme import S4, S12, bind_font, mono_font, set_tone, small_font, ui_font
from ui.widgets.labels import Caption, ElidedLabel, Hairline, LinkButton
from ui.widgets.panels import row


class SettingRow(QWidget):
    """Shows a standing; says what the person does with it."""

    chosen = Signal(str, object)
    """Name of the setting, and its value at the level shown."""
    reset_asked = Signal(str)
    """Take it away at the level shown."""
    forget_asked = Signal(str)
    """The session shall follow the settings again."""

    def __init__(self, key: Key, around: Surroundings, parent: QWidget) -> None:
        super().__init__(parent)
        self.key = key
        self.title = QLabel(key.title, self)
        bind_font(self.title, lambda: ui_font(bold=True))
        self.name = ElidedLabel(key.name, self)
        bind_font(self.name, lambda: mono_font(-1))
        set_tone(self.name, "dim")
        self.badge = QLabel(self)
        self.badge.setProperty("keycap", True)
        bind_font(self.badge, small_font)
        self.badge.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.sentence = QLabel(key.sentence, self)
        self.sentence.setWordWrap(True)
        set_tone(self.sentence, "dim")
        self.field = PatternsField(key, self) if key.name == ALLOW else field_for(key, self, around)
        self.title.setBuddy(self.field)
        self.field.chosen.connect(lambda value: self.chosen.emit(key.name, value))
        self.field.emptied.connect(lambda: self.reset_asked.emit(key.name))
        self.field.mistaken.connect(self._show_mistake)
        self.reset = LinkButton("Reset", self)
        self.reset.setAccessibleName(f"Reset {key.title}")
        self.reset.clicked.connect(lambda: self.reset_asked.emit(key.name))
        self.forget = LinkButton("Follow the settings", self)
        self.forget.setToolTip("This session gives up what it chose for itself")
        self.forget.setAccessibleName(f"This session follows the settings: {key.title}")
        self.forget.clicked.connect(lambda: self.forget_asked.emit(key.name))
        self.note = Caption(parent=self)
        self.problem = QLabel(self)
        set_tone(self.problem, "lost")
        self._problem, self._mistake = "", ""
        for label in (self.note, self.problem):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S4)
        head = row(self.title, self.name, self.badge)
        head.setStretchFactor(self.name, 1)
        line = row(self.field, self.forget, self.reset)
        line.setStretchFactor(self.field, 1)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addLayout(line)
        column.addWidget(self.note)
        column.addWidget(self.problem)
        column.addSpacing(S12)
        column.addWidget(Hairline(parent=self))
        column.addSpacing(S4)

    def show_standing(self, now: Standing, level: Level) -> None:
        """Show how the setting stands, seen from a level."""
        self.badge.setText(now.badge)
        self.badge.setToolTip("Where the value that holds comes from")
        self.badge.setAccessibleName(f"{self.key.title} comes from: {now.badge}")
        self.field.show_standing(now)
        words = SOURCE_WORDS[level].lower()
        self.reset.setVisible(now.here and not now.blocked)
        self.reset.setToolTip(f"Take it out of the {words} settings")
        self.forget.setVisible(now.source == "session")
        note = " ".join(part for part in (now.note, now.blocked) if part)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self._problem = now.problem
        self._show_problem()

    def _show_mistake(self, words: str) -> None:
        self._mistake = words
        self._show_problem()

    def _show_problem(self) -> None:
        words = "\n".join(part for part in (self._mistake, self._problem) if part)
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self.field.setAccessibleDescription(f"{self.key.sentence} {words}".strip())
