"""Two versions of the text tried on saved sessions: which places, which model, what survived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from explorer.compaction.reasons import share_text
from explorer.services.template_trials import KindChange, TrialPoint
from explorer.settings.prompt_templates import Version
from ui.theme import S4, S8, S12, S16, on_theme_changed, scaled, set_tone
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import count
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import column_in, push_button, scroll_area
from ui.widgets.table import LEFT, RIGHT, Column, Table, TableModel
from ui.workshop.pages import EDITOR, version_words

KEY = Qt.ItemDataRole.UserRole
POINT = Qt.ItemDataRole.UserRole + 1
BOUND = (
    "What survives as text is the most that a model can recall, not what it will. The offline "
    "summarizer reads a text for its headings and its length only; a model reads its words."
)
NAMES = {"todo": "to-dos", "hash": "identifiers", "all of them": "all of them"}


class OutcomeRow(NamedTuple):
    """A row of the table of what survived, in words."""

    name: str
    there: str
    first: str
    second: str
    change: str
    sums_up: bool = False
    """Whether it is the row of all kinds together."""


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
        self.sessions = QTreeWidget(self)
        self.sessions.setAccessibleName("Sessions and places to try on")
        self.sessions.setHeaderHidden(True)
        self.sessions.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.sessions.itemChanged.connect(self._ticked)
        self._make_buttons()
        self._make_outcome()
        self._lay_out()
        on_theme_changed(self._restyle)
        self._restyle()

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
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName("Summaries made")
        self.progress.hide()
        columns: list[Column[OutcomeRow]] = [
            Column(title, itemgetter(at), RIGHT if at else LEFT, fits=at < 4, stretch=at == 4,
                   bold=lambda row: row.sums_up)
            for at, title in enumerate(("Kind", "Of", "1st", "2nd", "Change"))
        ]  # fmt: skip
        name = "What survived of each kind with either version"
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
        buttons = FlowLayout(across=S8, down=S4)
        for button in (self.start, self.confirm, self.stop):
            buttons.addWidget(button)
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
        # Where there is little height, the page scrolls, and the buttons below it stay in sight.
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
        if [key for key, _ in sessions] == self._keys():
            return
        self.sessions.blockSignals(True)
        self.sessions.clear()
        for key, title in sessions:
            item = QTreeWidgetItem(self.sessions, [title])
            item.setData(0, KEY, key)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(0, Qt.CheckState.Unchecked)
        self.sessions.blockSignals(False)
        for item in self._tops():
            if item.data(0, KEY) == open_key:
                item.setCheckState(0, Qt.CheckState.Checked)

    def show_points(self, key: int, points: Sequence[TrialPoint]) -> None:
        """The places of a session, all of them ticked."""
        for item in self._tops():
            if item.data(0, KEY) != key or item.childCount():
                continue
            self.sessions.blockSignals(True)
            for point in points:
                child = QTreeWidgetItem(item, [point.title])
                child.setData(0, POINT, point)
                child.setFlags(child.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                child.setCheckState(0, Qt.CheckState.Checked)
            if not points:
                item.setText(0, f"{item.text(0)} — nothing to compact")
                item.setCheckState(0, Qt.CheckState.Unchecked)
                item.setDisabled(True)
            item.setExpanded(True)
            self.sessions.blockSignals(False)

    def show_models(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """The models that can summarize."""
        self.model.set_models(models, chosen)

    def _tops(self) -> list[QTreeWidgetItem]:
        found = (self.sessions.topLevelItem(at) for at in range(self.sessions.topLevelItemCount()))
        return [item for item in found if item is not None]

    def _keys(self) -> list[int]:
        return [int(item.data(0, KEY)) for item in self._tops()]

    def _ticked(self, item: QTreeWidgetItem) -> None:
        key, on = item.data(0, KEY), item.checkState(0)
        if key is None:
            return
        self.sessions.blockSignals(True)
        for child in _children(item):
            child.setCheckState(0, on)
        self.sessions.blockSignals(False)
        if on == Qt.CheckState.Checked and not item.childCount():
            self.points_asked.emit(int(key))

    def points(self) -> list[TrialPoint]:
        """The places that are ticked."""
        found = []
        for item in self._tops():
            for child in _children(item):
                if child.checkState(0) == Qt.CheckState.Checked:
                    found.append(child.data(0, POINT))
        return found

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
        """A trial is under way."""
        self.confirm.hide()
        self.start.setEnabled(False)
        self.stop.show()
        self.progress.setRange(0, total)
        self.progress.setValue(0)
        self.progress.show()
        self.table.rows.show(())
        self.tell("")

    def advance(self, done: int) -> None:
        """So many summaries were made, or failed."""
        self.progress.setValue(done)

    def end(self) -> None:
        """It is over."""
        self.start.setEnabled(True)
        self.stop.hide()
        self.progress.hide()
        self.confirm.hide()

    def tell(self, words: str, tone: str = "") -> None:
        """Say how it stands, or what went wrong."""
        self.message.setText(words)
        self.message.setVisible(bool(words))
        set_tone(self.message, tone)

    def show_changes(
        self, rows: Sequence[KindChange], sums: Mapping[str, tuple[int, int]], places: int
    ) -> None:
        """Show what survived, over the places where both versions gave a summary."""
        shown = []
        for row in rows:
            points = round(100 * row.change)
            change = f"{points:+d} points" if points else "same"
            there = f"{row.totals[0]:,}" if row.totals[0] == row.totals[1] else (
                f"{row.totals[0]:,} / {row.totals[1]:,}"
            )  # fmt: skip
            name, rates = NAMES.get(row.name, row.name), (row.rate(0), row.rate(1))
            first, second = (share_text(rate) for rate in rates)
            shown.append(OutcomeRow(name, there, first, second, change, row.kind is None))
        for name, (one, other) in sums.items():
            change = f"{other - one:+,}" if other != one else "same"
            shown.append(OutcomeRow(name, "", f"{one:,}", f"{other:,}", change))
        self.table.rows.show(shown)
        if places:
            self.bound.setText(f"At {count(places, 'place')}. {BOUND}")


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = (item.child(at) for at in range(item.childCount()))
    return [child for child in found if child is not None]
