"""What the window shows without a session: what it is, and the ways to begin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QSpacerItem, QWidget

from explorer.store import SessionRow
from ui import theme
from ui.library.pane import detail, project
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.panels import column_in, push_button, row, scroll_area
from ui.widgets.popup import PopupTable
from ui.widgets.table import RIGHT, Column

ABOUT = (
    "Coding agents run out of context, so they compact: a summary takes the place of older "
    "messages. Here you see a session as a tree, what each compaction kept and lost, and you can "
    "try a better one."
)
EXAMPLE = "Look at an example"
MINE = "Open my sessions"
LEARN = "Learn how compaction works"
AGENT = "Start an agent"
CONSENT = (
    "Looks for the session files of coding agents in their usual places, now and at each start. "
    "Nothing leaves the computer, and the files are never changed."
)
OPENING = "Your library is being opened."
WIDTH = 600
"""Of the page's column, in pixels at a text scale of 100 %."""
HEIGHT = 560
"""Of the column with all sessions that it lists, likewise."""
NARROW = 460
"""Width of the column below which a sentence stands under its button."""
RECENT = 5
"""Sessions that are listed."""


class WelcomePage(QWidget):
    """One column: two sentences, the actions with a sentence each, the sessions opened last."""

    example_asked = Signal()
    mine_asked = Signal()
    lessons_asked = Signal()
    agent_asked = Signal()
    import_asked = Signal()
    all_asked = Signal()
    session_asked = Signal(int)
    """The key of a stored session."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Welcome")
        area = scroll_area(self, has_frame=False)
        column_in(self, 0).addWidget(area)
        body = QWidget(area)
        area.setWidget(body)
        self._inner = inner = QWidget(body)
        line = row(1, inner, 1)
        line.setStretch(1, 100)
        outer = column_in(body, 0, (theme.S24, theme.S24, theme.S24, theme.S24))
        # By the window alone: what comes below a button does not move it.
        self._above = QSpacerItem(0, 0)
        outer.addItem(self._above)
        outer.addLayout(line)
        outer.addStretch(1)
        self._title, self._about = QLabel("Session Explorer", inner), QLabel(ABOUT, inner)
        theme.bind_font(self._title, lambda: theme.ui_font(6, bold=True))
        self._about.setWordWrap(True)
        self._make_actions(inner)
        self._make_recent(inner)
        self._lay_out(inner)
        theme.on_theme_changed(self._restyle)
        self._restyle()
        self.set_usable(False)

    def _make_actions(self, inner: QWidget) -> None:
        self.example = push_button(EXAMPLE, inner, primary=True)
        self.mine = push_button(MINE, inner)
        self.learn = push_button(LEARN, inner)
        self.agent = push_button(AGENT, inner)
        sentences = (
            "A session with branches and two compactions, and three notes to begin with.",
            CONSENT,
            "Short lessons on a session, with predictions to make.",
            "Begins a session in a folder of yours. You are asked before anything is changed.",
        )
        self._sentences: dict[QPushButton, QLabel] = {}
        signals = (self.example_asked, self.mine_asked, self.lessons_asked, self.agent_asked)
        buttons = (self.example, self.mine, self.learn, self.agent)
        for button, sentence, signal in zip(buttons, sentences, signals, strict=True):
            button.setAutoDefault(True)  # the Return key presses it, as in a dialog
            button.clicked.connect(signal)
            label = QLabel(sentence, inner)
            label.setWordWrap(True)
            theme.set_tone(label, "dim")
            button.setAccessibleDescription(sentence)
            self._sentences[button] = label

    def _make_recent(self, inner: QWidget) -> None:
        columns: list[Column[SessionRow]] = [
            Column("Session", lambda one: " ".join(one.title.split()) or "Untitled session",
                   stretch=True, detail=lambda one: f"{one.title}\n{one.cwd}".strip()),
            Column("Folder", project, fits=True, colour=lambda _one: theme.theme().dim),
            Column("Changed", lambda one: detail(one, datetime.now().astimezone()), RIGHT,
                   fits=True, colour=lambda _one: theme.theme().dim, shown_from=420),
        ]  # fmt: skip
        self._heading = QLabel("Recent sessions", inner)
        theme.bind_font(self._heading, lambda: theme.small_font(bold=True))
        theme.set_tone(self._heading, "dim")
        self.import_file = LinkButton("Import a file…", inner)
        self.import_file.clicked.connect(self.import_asked)
        self.drop = Caption("or drop one anywhere on this window", inner)
        self.all_sessions = LinkButton("All sessions…", inner)
        self.all_sessions.clicked.connect(self.all_asked)
        self.recent = PopupTable(columns, "Recent sessions", inner)
        self.recent.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.recent.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.recent.row_activated.connect(lambda one: self.session_asked.emit(one.key))

    def _lay_out(self, inner: QWidget) -> None:
        column = column_in(inner, 0)
        column.addWidget(self._title)
        column.addSpacing(theme.S8)
        column.addWidget(self._about)
        column.addSpacing(theme.S24)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.S16)
        self._grid.setVerticalSpacing(theme.S12)
        self._grid.setColumnStretch(1, 1)
        column.addLayout(self._grid)
        column.addSpacing(theme.S16)
        column.addLayout(row(self.import_file, self.drop, 1, spacing=theme.S4))
        column.addSpacing(theme.S16)
        column.addLayout(row(self._heading, 1, self.all_sessions))
        column.addSpacing(theme.S4)
        column.addWidget(self.recent)
        self._is_narrow: bool | None = None
        self.show_recent(())

    def _restyle(self) -> None:
        self._inner.setMaximumWidth(theme.scaled(WIDTH))
        self._arrange()
        self._fit_recent()

    def _arrange(self) -> None:
        """Buttons of one width with their sentences beside them, or below where it is narrow."""
        spare = max(0, self.window().height() - theme.scaled(HEIGHT)) * 2 // 5
        self._above.changeSize(0, spare)
        # What is found takes the place of the longest of its sentences.
        mine = self._sentences[self.mine]
        mine.setMinimumHeight(mine.fontMetrics().size(0, "\n\n").height())
        is_narrow = self.width() - 2 * theme.S24 < theme.scaled(NARROW)
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            for at, (button, label) in enumerate(self._sentences.items()):
                self._grid.addWidget(button, 2 * at, 0)
                below = (2 * at + 1, 0, 1, 2) if is_narrow else (2 * at, 1, 1, 1)
                self._grid.addWidget(label, *below)

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return super().event(event)

    def minimumSizeHint(self) -> QSize:
        """It scrolls."""
        return QSize(theme.scaled(280), theme.scaled(200))

    # what is shown -------------------------------------------------------------------------------

    def set_usable(self, on: bool) -> None:
        """Set whether the library is open."""
        for control in (*self._sentences, self.recent, self.all_sessions, self.import_file):
            control.setEnabled(on)
            control.setToolTip("" if on else OPENING)
        for button, label in self._sentences.items():
            button.setAccessibleDescription(label.text() if on else OPENING)

    def focus_first(self) -> None:
        """Put the keyboard on the first action."""
        self.example.setFocus()

    def show_found(self, sentence: str) -> None:
        """Show what is known of the sessions on this computer, or what looking for them does."""
        self._sentences[self.mine].setText(sentence)
        self.mine.setAccessibleDescription(sentence)

    def show_recent(self, sessions: Sequence[SessionRow]) -> None:
        """Show the sessions that changed last, the first of them."""
        self.recent.show_rows(sessions[:RECENT])
        for part in (self._heading, self.recent, self.all_sessions):
            part.setVisible(bool(sessions))
        self._fit_recent()

    def _fit_recent(self) -> None:
        height = self.recent.rows.rowCount() * self.recent.row_height() + 2
        self.recent.setFixedHeight(max(height, 1))

    def show_failure(self, title: str, sentence: str) -> None:
        """Nothing can be done here: say why, and nothing else."""
        self._title.setText(title)
        self._about.setText(sentence)
        parts = (*self._sentences, *self._sentences.values(), self.import_file, self.drop)
        for part in parts:
            part.hide()
        self.show_recent(())
