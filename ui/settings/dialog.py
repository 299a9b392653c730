"""The settings: searched, grouped, at the person's level or the project's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QLabel,
    QLineEdit,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from explorer.settings.files import SettingsError, SettingsLevel
from explorer.settings.keys import GROUPS, KEYS, SettingKey
from explorer.settings.live import LiveSettings, project_file
from ui.settings.fields import ALLOW, PatternsField, field_for
from ui.settings.key_status import (
    SOURCE_WORDS,
    Ask,
    KeyStatus,
    SettingsSurroundings,
    file_problem_text,
    key_status,
    matches,
)
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, set_tone, small_font, ui_font
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.labels import Caption, ElidedLabel, Hairline, LinkButton
from ui.widgets.panels import WholeArea, column_in, column_of, row


class SettingRow(QWidget):
    """Shows a status; says what the person does with it."""

    chosen = Signal(str, object)
    """Name of the setting, and its value at the level shown."""
    reset_asked = Signal(str)
    """Take it away at the level shown."""
    forget_asked = Signal(str)
    """The session shall follow the settings again."""

    def __init__(self, key: SettingKey, around: SettingsSurroundings, parent: QWidget) -> None:
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
        column = column_in(self, S4)
        head = row(self.title, self.name, self.badge, wide=self.name)
        line = row(self.field, self.forget, self.reset, wide=self.field)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addLayout(line)
        column.addWidget(self.note)
        column.addWidget(self.problem)
        column.addSpacing(S12)
        column.addWidget(Hairline(parent=self))
        column.addSpacing(S4)

    def show_status(self, now: KeyStatus, level: SettingsLevel) -> None:
        """Show how the setting stands, seen from a level."""
        self.badge.setText(now.badge)
        self.badge.setToolTip("Where the value that holds comes from")
        self.badge.setAccessibleName(f"{self.key.title} comes from: {now.badge}")
        self.field.show_status(now)
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


class SettingsDialog(Dialog):
    """Shows every setting as it stands; ``refresh`` when something else changed them."""

    def __init__(
        self, live: LiveSettings, ask: Ask, forget: Callable[[str], None], parent: QWidget
    ) -> None:
        super().__init__("Settings", parent)
        self._live, self._ask, self._forget = live, ask, forget
        self.rows: dict[str, SettingRow] = {}
        self._groups: dict[str, QWidget] = {}
        self._make_head()
        self._make_rows()
        self._make_foot()
        self._lay_out()
        fit(self, 660, 700)
        self.refresh()
        self.search.setFocus()

    # building ----------------------------------------------------------------------------------

    def _make_head(self) -> None:
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search the settings and what they do")
        self.search.setAccessibleName("Search the settings")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.everywhere = QRadioButton("&Global", self)
        self.everywhere.setToolTip("Your own settings, for all sessions")
        self.in_project = QRadioButton("&Project", self)
        self.everywhere.setChecked(True)
        self.no_project = ElidedLabel(parent=self)
        set_tone(self.no_project, "dim")
        levels = QButtonGroup(self)
        for button in (self.everywhere, self.in_project):
            levels.addButton(button)
        levels.buttonToggled.connect(lambda _button, on: self.refresh() if on else None)
        self.problems = QLabel(self)
        self.problems.setWordWrap(True)
        self.problems.setTextFormat(Qt.TextFormat.PlainText)
        self.problems.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_tone(self.problems, "lost")

    def _make_rows(self) -> None:
        area = self._area = WholeArea(self)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        body = QWidget(area)
        column = column_in(body, 0, (S16, S8, S16, S16))
        self.none = Caption(
            "No setting has these words. Colours and the size of text are in the menu View.",
            body, wraps=True,
        )  # fmt: skip
        self.none.hide()
        column.addWidget(self.none)
        around = self._ask()
        for group, words in GROUPS.items():
            part = self._groups[group] = QWidget(body)
            group_column = column_in(part, S8, (0, S8, 0, S8))
            title = QLabel(group, part)
            bind_font(title, lambda: ui_font(1.5, bold=True))
            caption = Caption(words, part, wraps=True)
            group_column.addWidget(title)
            group_column.addWidget(caption)
            for key in KEYS.values():
                if key.group == group:
                    group_column.addWidget(self._row(key.name, around, part))
            column.addWidget(part)
        column.addStretch(1)
        area.setWidget(body)

    def _row(self, name: str, around: SettingsSurroundings, parent: QWidget) -> SettingRow:
        made = SettingRow(KEYS[name], around, parent)
        made.chosen.connect(self._set)
        made.reset_asked.connect(self._reset)
        made.forget_asked.connect(self._forget_choice)
        self.rows[name] = made
        return made

    def _make_foot(self) -> None:
        self.path = ElidedLabel(parent=self, mode=Qt.TextElideMode.ElideMiddle)
        set_tone(self.path, "dim")
        self.copy = self.button("&Copy path")
        self.copy.clicked.connect(self._copy_path)
        self.close_button = self.button("Close")
        self.close_button.clicked.connect(self.accept)

    def _lay_out(self) -> None:
        parts = (self.everywhere, self.in_project, self.no_project)
        levels = row(*parts, wide=self.no_project, spacing=S16)
        head = column_of(self.search, levels, self.problems, margins=(S16, S12, S16, S8))
        foot = row(self.path, self.copy, self.close_button, wide=self.path)
        body = column_of(Hairline(parent=self), spacing=0)
        body.addWidget(self._area, 1)
        self.lay_out(head, body, foot)

    # what is shown -----------------------------------------------------------------------------

    @property
    def level(self) -> SettingsLevel:
        """Whose settings are changed."""
        return "project" if self.in_project.isChecked() else "global"

    @property
    def _project(self) -> Path | None:
        """The project that is changed; None at the person's level."""
        return self._ask().project if self.level == "project" else None

    def refresh(self) -> None:
        """Show everything as it stands now."""
        around = self._ask()
        self.in_project.setEnabled(around.project is not None)
        why_not = "" if around.project else around.no_project
        self.in_project.setToolTip(why_not or f"The settings of {around.project}")
        self.in_project.setAccessibleDescription(why_not)
        self.no_project.setText(why_not)
        if around.project is None and self.in_project.isChecked():
            self.everywhere.setChecked(True)
        for name, shown in self.rows.items():
            shown.show_status(key_status(self._live, KEYS[name], self.level, around), self.level)
        of_files = [p for p in self._live.problems(around.project) if p.key not in KEYS]
        self.problems.setText("\n".join(file_problem_text(problem) for problem in of_files))
        self.problems.setVisible(bool(of_files))
        self.path.setText(str(self._file()))

    def _file(self) -> Path:
        project = self._project
        return project_file(project) if project is not None else self._live.path

    def _filter(self, words: str) -> None:
        for name, shown in self.rows.items():
            shown.setVisible(matches(words, KEYS[name]))
        for group, part in self._groups.items():
            part.setVisible(
                any(
                    not self.rows[key.name].isHidden()
                    for key in KEYS.values()
                    if key.group == group
                )
            )
        self.none.setVisible(all(shown.isHidden() for shown in self.rows.values()))

    # what is done ------------------------------------------------------------------------------

    def _set(self, name: str, value: object) -> None:
        self._change(lambda: self._live.set(name, value, self._project))

    def _reset(self, name: str) -> None:
        self._change(lambda: self._live.reset(name, self._project))

    def _change(self, change: Callable[[], None]) -> None:
        """Write, and show what came of it; what could not be written is reported above the list."""
        try:
            change()
        except SettingsError as error:
            self.refresh()
            self.problems.setText(str(error))
            self.problems.setVisible(True)
        else:
            self.refresh()

    def _forget_choice(self, name: str) -> None:
        self._forget(name)
        self.refresh()

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(str(self._file()))
        self.copy.setText("Copied")

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        """Return takes a value; it does not press a button or close the dialog."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return
        if event.key() == Qt.Key.Key_Escape and self.search.hasFocus() and self.search.text():
            self.search.clear()
            event.accept()
            return
        super().keyPressEvent(event)
