"""One line to try another summary beside those that there are: nothing is spent before a click."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from explorer.compaction.profile import Profile
from ui.compaction.ports import ModelChoice
from ui.compaction.words import price_text
from ui.theme import S4, S8, scaled
from ui.widgets.choice import Choice
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption
from ui.widgets.model_box import ModelBox

SHORT = 15
"""Letters of a list box: the strip is to take one line, or two with large text."""


class Wish(NamedTuple):
    """What is to be tried."""

    model: str
    profile: str
    """Empty: the rules and the cut that the tab Compaction shows."""
    instructions: str


Sizes = Callable[[Wish], tuple[int, int]]
"""Tokens that a wish sends, and that its answer may take; -1 where it cannot be done."""


class TryStrip(QWidget):
    """Profile, model, instructions, and a button that names the price."""

    try_asked = Signal(object)
    """The ``Wish``."""
    stop_asked = Signal()

    def __init__(self, sizes: Sizes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sizes = sizes
        self._models: dict[str, ModelChoice] = {}
        self.is_running = False
        self.profile = Choice(self)
        self.profile.setAccessibleName("Profile of the next draft")
        short = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.profile.setSizeAdjustPolicy(short)
        self.profile.setMinimumContentsLength(SHORT)
        self.profile.activated.connect(lambda _at: self.follow())
        self.model = ModelBox(self)
        self.model.setAccessibleName("Model of the next draft")
        self.model.setSizeAdjustPolicy(short)
        self.model.setMinimumContentsLength(SHORT)
        self.model.currentIndexChanged.connect(lambda _at: self.follow())
        self.instructions = QLineEdit(self)
        self.instructions.setAccessibleName("Instructions of the next draft")
        self.instructions.setPlaceholderText("Other instructions: what must not be lost")
        self.instructions.setMinimumWidth(scaled(220))
        self.instructions.returnPressed.connect(self._press)
        self.button = QPushButton(self)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self._press)
        self.told = Caption("", self)
        flow = FlowLayout(self, across=S8, down=S4)
        for part in (self.profile, self.model, self.instructions, self.button, self.told):
            flow.addWidget(part)

    def offer(
        self, models: Sequence[ModelChoice], chosen: str, profiles: Mapping[str, Profile]
    ) -> None:
        """Offer models and profiles; what was chosen stays, a free model is chosen at first."""
        self._models = {model.id: model for model in models}
        before = str(self.model.currentData() or chosen)
        self.model.set_models([(model.id, model.label) for model in models], before)
        now = self.profile.currentData()
        self.profile.clear()
        self.profile.addItem("Rules as on the tab Compaction", "")
        for name, profile in profiles.items():
            self.profile.addItem(f"Rules of {profile.title}", name)
        self.profile.setCurrentIndex(max(0, self.profile.findData(now)))
        self.follow()

    def wish(self) -> Wish:
        """What is chosen."""
        return Wish(
            str(self.model.currentData() or ""),
            str(self.profile.currentData() or ""),
            self.instructions.text().strip(),
        )

    def follow(self) -> None:
        """Name the price of what is chosen now."""
        if self.is_running:
            self.button.setText("Stop")
            self.button.setEnabled(True)
            return
        wish = self.wish()
        sent, answer = self._sizes(wish)
        self.button.setEnabled(sent >= 0 and bool(wish.model))
        if sent < 0:
            self.button.setText("Try another")
            self.told.setText("Nothing would be summarized under these rules.")
            return
        model = self._models.get(wish.model)
        price = "" if model is None else price_text(
            sent, answer, model.input_price, model.output_price
        )  # fmt: skip
        if wish.model.startswith("offline/") or price == "$0":
            self.button.setText("&Try another, free")
            self.button.setToolTip("The summary is made on this computer; nothing is sent")
        else:
            self.button.setText(f"&Try another, {price or 'price unknown'}")
            self.button.setToolTip("One call to the model, by its listed prices")
        if not self.told.text().startswith("The "):
            self.told.setText("")

    def show_running(self, is_running: bool, words: str = "") -> None:
        """A draft is on its way, or is no more; ``words`` say how it ended."""
        self.is_running = is_running
        self.told.setText(words)
        self.follow()
        if words and not is_running:
            self.told.setText(words)

    def _press(self) -> None:
        if self.is_running:
            self.stop_asked.emit()
        elif self.button.isEnabled():
            self.try_asked.emit(self.wish())
