"""Two versions of the text tried on saved sessions: which places, which model, what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from explorer.services.template_trials import TrialPoint
from explorer.settings.prompt_templates import Version
from ui.theme import S4, S8, S12, S16, on_theme_changed, scaled, set_tone, ui_font
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import count
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import column_in, push_button, scroll_area
from ui.widgets.progress import ProgressBar
from ui.widgets.table import LEFT, RIGHT, Column, Table, TableModel
from ui.workshop.pages import EDITOR, version_words

BOUND = (
    "Fewer findings are better. The offline summarizer reads a text for its headings and its "
    "length only; a model reads its words."
)


class OutcomeRow(NamedTuple):
    """A row of the table of what was found, in words."""

    name: str
    first: str
    second: str
    change: str


class TrialSession(NamedTuple):
    """A stored session, the row above its places."""

    key: int
    title: str


Place = TrialSession | TrialPoint
"""A row of the table of what can be ticked."""


class TrialPage(QWidget):
    """Asks for a trial and shows what comes of it; the window does the work."""

    points_asked = Signal(int)
    """The places of the session with this key are wanted."""
    try_asked = Signal()
    confirmed = Signal()
    """What it may cost was shown, and is all right."""
    cancel_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._versions: dict[int, Version] = {}
        self.why_not = Caption(parent=self, wraps=True)
        self.first, self.second = ChoiceBox(self), ChoiceBox(self)
        self.first.setAccessibleName("First version")
        self.second.setAccessibleName("Second version")
        self.model = ModelBox(self)
        self.model.setAccessibleName("Model that summarizes")
        self._sessions: Sequence[TrialSession] = ()
        self._points: dict[int, Sequence[TrialPoint]] = {}
        """By session, as far as they were asked for."""
        self.sessions = self._make_sessions()
        self._make_buttons()
        self._make_outcome()
        self._lay_out()
        on_theme_changed(self._restyle)
        self._restyle()

    def _make_sessions(self) -> Table:
        columns: list[Column[Place]] = [
            Column("", self._title, stretch=True,
                   font=lambda row: ui_font(bold=True) if isinstance(row, TrialSession) else None)
        ]  # fmt: skip
        model = TableModel(
            columns, is_choosable=lambda row: not self._is_empty(row), has_ticks=True
        )
        model.row_ticked.connect(self._ticked)
        made = Table(model, "Sessions and places to try on", self)
        made.horizontalHeader().hide()
        made.restyle()
        return made

    def _is_empty(self, row: Place) -> bool:
        return self._points.get(row.key) == ()

    def _title(self, row: Place) -> str:
        return f"{row.title} — nothing to compact" if self._is_empty(row) else row.title

    def _make_buttons(self) -> None:
        self.start = push_button(
            "T&ry", self, "Summarize at the chosen places with both versions", primary=True
        )
        self.start.clicked.connect(self.try_asked)
        self.stop = push_button("&Cancel", self)
        self.stop.clicked.connect(self.cancel_asked)
        self.stop.hide()
        self.confirm = QPushButton(self)
        self.confirm.setAutoDefault(False)
        self.confirm.clicked.connect(self.confirmed)
        self.confirm.hide()

    def _make_outcome(self) -> None:
        self.message = QLabel(self)
        self.message.setWordWrap(True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = ProgressBar(self)
        self.progress.setAccessibleName("Summaries made")
        self.progress.hide()
        columns: list[Column[OutcomeRow]] = [
            Column(title, itemgetter(at), RIGHT if at else LEFT, fits=at < 3, stretch=at == 3)
            for at, title in enumerate(("Findings", "1st", "2nd", "Change"))
        ]
        name = "What was found with either version"
        self.table = Table(TableModel(columns), name, self)
        self.table.restyle()
        self.bound = Caption(BOUND, self, wraps=True)

    def _lay_out(self) -> None:
        choices = QGridLayout()
        choices.setSpacing(S4)
        boxes = (("First", self.first), ("Second", self.second), ("Model", self.model))
        for at, (words, box) in enumerate(boxes):
            label = QLabel(words, self)
            label.setBuddy(box)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            choices.addWidget(label, at, 0)
            choices.addWidget(box, at, 1)
        choices.setColumnStretch(1, 1)
        buttons = wrapping_row(self.start, self.confirm, self.stop)
        body = QWidget(self)
        column = column_in(body, S8, (S16, S8, S16, S12))
        column.addWidget(self.why_not)
        column.addLayout(choices)
        column.addWidget(self.sessions, 2)
        column.addLayout(buttons)
        column.addWidget(self.progress)
        column.addWidget(self.message)
        column.addWidget(self.table, 3)
        column.addWidget(self.bound)
        # Where there is little height, the page scrolls, and the buttons below it stay visible.
        area = scroll_area(self, has_frame=False)
        area.setWidget(body)
        outer = column_in(self)
        outer.addWidget(area)

    def _restyle(self) -> None:
        self.sessions.setMinimumHeight(scaled(90))
        self.table.setMinimumHeight(scaled(110))

    # what can be tried -------------------------------------------------------------------------

    def show_versions(self, versions: Sequence[Version], text: str, can: bool) -> None:
        """``can``: whether this text has a part in what a summary says."""
        editor = Version(EDITOR, 0, "", text)
        chosen = self.first.currentData(), self.second.currentData()
        self._versions = {one.number: one for one in (*versions, editor)}
        for box, before, default in zip(
            (self.first, self.second), chosen, (0, EDITOR), strict=True
        ):
            box.clear()
            for one in (*versions, editor):
                box.addItem(version_words(one), one.number)
            box.setCurrentIndex(box.findData(before if before in self._versions else default))
        self.why_not.setText(
            "Both versions summarize at the same places; nothing is stored in any session."
            if can
            else "Only texts that a compaction's summary is made with can be tried."
        )
        for part in (self.first, self.second, self.model, self.sessions, self.start):
            part.setEnabled(can)

    def show_sessions(self, sessions: Sequence[tuple[int, str]], open_key: int) -> None:
        """(key, title) of the stored sessions; the one that is open is ticked."""
        before, self._sessions = self._sessions, [TrialSession(*one) for one in sessions]
        if [one.key for one in before] == [one.key for one in self._sessions]:
            return
        rows = self.sessions.rows
        rows.ticked = {one for one in self._sessions if one.key == open_key}
        self._points = {}
        self._show_places()
        for one in rows.ticked:
            self.points_asked.emit(one.key)

    def show_points(self, key: int, points: Sequence[TrialPoint]) -> None:
        """Show the places of a session, all of them ticked."""
        if key in self._points:
            return
        self._points[key] = tuple(points)
        rows = self.sessions.rows
        rows.tick(points)
        if not points:
            rows.tick([one for one in self._sessions if one.key == key], on=False)
        self._show_places()

    def _show_places(self) -> None:
        """Each session, and below it its places."""
        rows: list[Place] = []
        for one in self._sessions:
            rows += [one, *self._points.get(one.key, ())]
        self.sessions.show_rows(rows, self.sessions.current)

    def show_models(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """Show the models that can summarize."""
        self.model.set_models(models, chosen)

    def _ticked(self, row: Place) -> None:
        if isinstance(row, TrialSession):
            is_on = row in self.sessions.rows.ticked
            self.sessions.rows.tick(self._points.get(row.key, ()), is_on)
            if is_on and row.key not in self._points:
                self.points_asked.emit(row.key)

    def points(self) -> list[TrialPoint]:
        """The places that are ticked."""
        ticked = self.sessions.rows.ticked
        return [point for points in self._points.values() for point in points if point in ticked]

    def texts(self) -> tuple[str, str]:
        """The texts of both versions."""
        first, second = self.first.currentData(), self.second.currentData()
        return self._versions[first].text, self._versions[second].text

    # what came of it ---------------------------------------------------------------------------

    def ask(self, words: str, button: str) -> None:
        """Show what it may cost, and wait for a yes."""
        self.tell(words)
        self.confirm.setText(button)
        self.confirm.show()
        self.confirm.setFocus()

    def begin(self, total: int) -> None:
        """Show that a trial runs."""
        self.confirm.hide()
        self.start.setEnabled(False)
        self.stop.show()
        self.progress.setRange(0, total)
        self.progress.setValue(0)
        self.progress.show()
        self.table.rows.show(())
        self.tell("")

    def advance(self, done: int) -> None:
        """Show how many summaries were made, or failed."""
        self.progress.setValue(done)

    def end(self) -> None:
        """Show that the trial has ended."""
        self.start.setEnabled(True)
        self.stop.hide()
        self.progress.hide()
        self.confirm.hide()

    def tell(self, words: str, tone: str = "") -> None:
        """Say how it stands, or what went wrong."""
        self.message.setText(words)
        self.message.setVisible(bool(words))
        set_tone(self.message, tone)

    def show_changes(self, sums: Mapping[str, tuple[int, int]], places: int) -> None:
        """Show what was found, over the places where both versions gave a summary."""
        shown = [
            OutcomeRow(
                name, f"{one:,}", f"{other:,}", f"{other - one:+,}" if other != one else "same"
            )
            for name, (one, other) in sums.items()
        ]
        self.table.rows.show(shown)
        if places:
            self.bound.setText(f"At {count(places, 'place')}. {BOUND}")
