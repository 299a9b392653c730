"""Every profile's compaction of one place, below each other on one scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.profile_comparison import Cause, ProfileOutcome
from ui.inspector.gather import Loader
from ui.profiles.compare_card import CompareCard
from ui.profiles.strip import Scale
from ui.theme import S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.choice import Choice
from ui.widgets.dialogs import fit
from ui.widgets.figures import round_short
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, Hairline
from ui.widgets.panels import row
from ui.widgets.swatch import Legend, Share

TEXTURES = (
    (0, "summarized earlier"), (1, "to summarize"), (2, "turn prefix"), (3, "kept"), (6, "lost"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found out about one place."""

    at: int
    is_leaf: bool
    window: int
    """Tokens of the context window that all were given."""
    outcomes: Sequence[ProfileOutcome]
    scale: Scale


Compare = Callable[[], Compared]
"""Compares the profiles; for a worker thread."""
FindCauses = Callable[[Compared, str], Mapping[str, Sequence[Cause]]]
"""By profile, the rules that make it differ from a reference; for a worker thread."""


class CompareWindow(QDialog):
    """Does not block the window: a click in a strip selects the entry on the map."""

    entry_requested = Signal(int)
    use_asked = Signal(str)

    def __init__(self, find_causes: FindCauses, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Profiles compared")
        self.setModal(False)
        self._find_causes = find_causes
        self._compared: Compared | None = None
        self._in_force = ""
        self.cards: dict[str, CompareCard] = {}
        self._loader = Loader(self)
        self._loader.loaded.connect(self._show)
        self._loader.failed.connect(self._failed)
        self._reasons = Loader(self)
        self._reasons.loaded.connect(self._show_causes)
        self._reasons.failed.connect(self._failed)
        self._make_head()
        self._lay_out()
        fit(self, 980, 700)

    def _make_head(self) -> None:
        self.title = QLabel("Comparing…", self)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(1, bold=True))
        self.facts = QLabel(self)
        self.facts.setWordWrap(True)
        set_tone(self.facts, "dim")
        self.reference = Choice(self)
        self.reference.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.reference.setAccessibleName("Profile that the others are compared with")
        self.reference.activated.connect(lambda _at: self._ask_causes())
        label = QLabel("Compared &with", self)
        label.setBuddy(self.reference)
        self._with = row(label, self.reference, 1)
        self.legend = Legend(self)
        self.legend.set_shares(
            [Share(str(v), title, 0, v, filterable=False) for v, title in TEXTURES]
        )

    def _lay_out(self) -> None:
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        body = QWidget(self.area)
        self.area.setWidget(body)
        # All of it scrolls: with large text the head would leave the strips no room.
        inside = QVBoxLayout(body)
        inside.setContentsMargins(S16, S12, S16, S12)
        inside.setSpacing(S8)
        for part in (self.title, self.facts):
            inside.addWidget(part)
        inside.addLayout(self._with)
        inside.addWidget(self.legend)
        inside.addWidget(Hairline(parent=body))
        self._cards = QVBoxLayout()
        self._cards.setSpacing(S12)
        inside.addLayout(self._cards)
        inside.addStretch(1)
        close = QPushButton("&Close", self)
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        note = Caption("Click a strip to select its entry on the map.", self)
        foot = FlowLayout(across=S12, down=S8)
        foot.setContentsMargins(S16, S8, S16, S12)
        foot.addWidget(close)
        foot.addWidget(note)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area, 1)
        column.addWidget(Hairline(parent=self))
        column.addLayout(foot)

    # what is shown -----------------------------------------------------------------------------

    def compare(self, compare: Compare, in_force: str) -> None:
        """Find out and show; ``in_force`` is the profile that the session follows."""
        self._in_force = in_force
        self._loader.load(compare)

    def _show(self, found: Compared) -> None:
        self._compared = found
        where = f"#{found.at}, the leaf" if found.is_leaf else f"#{found.at}"
        self.title.setText(f"A compaction at {where}, as every profile would do it")
        self.facts.setText(
            "The path from its first entry to this place, each entry as wide as its tokens. The "
            f"window is {round_short(found.window)} tokens for all; other sizes are each profile's "
            "own. ≈ marks an estimate of four characters a token."
        )
        self._fill_reference(found)
        names = [outcome.profile.name for outcome in found.outcomes]
        for name in [name for name in self.cards if name not in names]:
            self.cards.pop(name).deleteLater()
        self._show_card(found, 0)

    def _show_card(self, found: Compared, at: int) -> None:
        """One card after the other: the window answers between two of them."""
        if found is not self._compared:
            return
        if at == len(found.outcomes):
            self._align()
            self._ask_causes()
            return
        outcome = found.outcomes[at]
        card = self.cards.get(outcome.profile.name)
        if card is None:
            card = CompareCard(self.area.widget())
            card.entry_requested.connect(self.entry_requested)
            card.use_asked.connect(self.use_asked)
            self._cards.insertWidget(at, card)
            self.cards[outcome.profile.name] = card
        card.show_outcome(outcome, found.scale, outcome.profile.name == self._in_force)
        QTimer.singleShot(0, self, lambda: self._show_card(found, at + 1))

    def _align(self) -> None:
        """The same figure stands at the same place in every card."""
        widths = [card.cell_widths() for card in self.cards.values()]
        for card in self.cards.values():
            card.set_cell_widths([max(column) for column in zip(*widths, strict=True)])

    def _fill_reference(self, found: Compared) -> None:
        wanted = self.reference.currentData() or self._in_force
        self.reference.clear()
        for outcome in found.outcomes:
            self.reference.addItem(outcome.profile.title, outcome.profile.name)
        self.reference.setCurrentIndex(max(0, self.reference.findData(wanted)))

    def show_in_force(self, name: str) -> None:
        """Another profile is the one that the session follows."""
        self._in_force = name
        for own, card in self.cards.items():
            card.show_in_force(own == name)

    # why ---------------------------------------------------------------------------------------

    def _reference(self) -> ProfileOutcome | None:
        name = self.reference.currentData()
        outcomes = self._compared.outcomes if self._compared is not None else ()
        return next((found for found in outcomes if found.profile.name == name), None)

    def _ask_causes(self) -> None:
        found, reference = self._compared, self._reference()
        if found is None or reference is None:
            return
        for card in self.cards.values():
            card.show_why(reference, None)
        name = reference.profile.name
        self._reasons.load(lambda: (found, name, self._find_causes(found, name)))

    def _show_causes(self, told: tuple[Compared, str, Mapping[str, Sequence[Cause]]]) -> None:
        found, name, causes = told
        reference = self._reference()
        if found is not self._compared or reference is None or reference.profile.name != name:
            return
        for own, card in self.cards.items():
            card.show_why(reference, causes.get(own, ()))

    def _failed(self, message: str) -> None:
        self.title.setText("The profiles could not be compared")
        self.facts.setText(f"{message} Nothing was changed.")

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)
