"""Profile, sizes and the reason of the cut: what a compaction follows from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from explorer.compaction.partition import Partition
from explorer.compaction.profile import Profile, Settings
from ui.compaction.words import plain_reason, reason_html
from ui.theme import S4, S8, S12, S16, on_theme_changed
from ui.widgets.choice import Choice
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import ClickLabel, LinkButton
from ui.widgets.number_slider import NumberSlider
from ui.widgets.panels import row


class RulesPart(QWidget):
    """Tells which settings the person wants; shows those in force."""

    settings_changed = Signal(object)
    profile_chosen = Signal(str)
    rules_asked = Signal()
    compare_asked = Signal()
    entry_requested = Signal(int)
    automatic_cut_asked = Signal()
    prompts_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.settings = Settings()
        self.profile = Choice(self)
        self.profile.setAccessibleName("Profile: the rules that compaction follows")
        self.profile.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.profile.activated.connect(
            lambda at: self.profile_chosen.emit(self.profile.itemData(at))
        )
        self._label = QLabel("Pro&file", self)
        self._label.setBuddy(self.profile)
        self.rules = LinkButton("Ru&les ▸", self)
        self.rules.setToolTip("What the profile stands for, and its rules, one sentence each")
        self.rules.clicked.connect(self.rules_asked)
        self.compare = LinkButton("Co&mpare profiles ▸", self)
        self.compare.setToolTip("What every profile would do here, side by side")
        self.compare.clicked.connect(self.compare_asked)
        self.prompts = LinkButton(parent=self)
        self.prompts.clicked.connect(self.prompts_asked)
        self.show_prompts_changed(())
        self.keep = NumberSlider("&Keep recent", 0, 2_000_000, self)
        self.rounds = NumberSlider("&Keep rounds", 1, 200, self)
        self.reserve = NumberSlider("&Reserve", 0, 500_000, self)
        self.window_size = NumberSlider("&Window", 8_000, 2_000_000, self)
        self.keep.setToolTip("Tokens at the end of the path that are kept word for word")
        self.rounds.setToolTip(
            "Rounds at the end of the path that are kept word for word; a round is a reply with "
            "its tool results"
        )
        self.reserve.setToolTip("Tokens of the window kept free for the reply and the summary")
        self.window_size.setToolTip("Tokens that the model can take in at once")
        self.why = ClickLabel(self)
        self.why.link.connect(self._follow)
        self._lay_out()
        on_theme_changed(self._align)
        self._align()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S12, S16, S12)
        column.setSpacing(S4)
        line = row(self._label, self.profile)
        line.setStretchFactor(self.profile, 1)
        links = FlowLayout(across=S12, down=0)
        links.addWidget(self.rules)
        links.addWidget(self.compare)
        links.addWidget(self.prompts)
        column.addLayout(line)
        column.addLayout(links)
        for slider in self._sliders():
            slider.changed.connect(self._size_changed)
            column.addWidget(slider)
        column.addSpacing(S4)
        column.addWidget(self.why)

    def _sliders(self) -> tuple[NumberSlider, ...]:
        return (self.keep, self.rounds, self.reserve, self.window_size)

    def _align(self) -> None:
        width = max(slider.label_width() for slider in self._sliders()) + S8
        for slider in self._sliders():
            slider.set_label_width(width)
        self._label.setFixedWidth(width)

    def changeEvent(self, event: QEvent, /) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._align()

    # what is shown -----------------------------------------------------------------------------

    def offer(self, profiles: Mapping[str, Profile], chosen: str) -> None:
        """The profiles that can be chosen, by name."""
        self.profile.blockSignals(True)
        self.profile.clear()
        for name, profile in profiles.items():
            self.profile.addItem(profile.title, name)
        self.profile.setCurrentIndex(self.profile.findData(chosen))
        self.profile.blockSignals(False)

    def show_settings(self, profile: Profile, settings: Settings, changed: bool) -> None:
        """Put the controls where these are, without a signal."""
        self.settings = settings
        self.profile.setCurrentIndex(self.profile.findData(profile.name))
        self.rules.setText("Ru&les (changed) ▸" if changed else "Ru&les ▸")
        by_rounds = profile.cut_unit == "rounds"
        self.keep.setVisible(not by_rounds)
        self.rounds.setVisible(by_rounds)
        self.keep.set_value(settings.keep_recent_tokens)
        self.rounds.set_value(settings.keep_rounds)
        self.reserve.set_maximum(settings.context_window)
        self.reserve.set_value(settings.reserve_tokens)
        self.window_size.set_value(settings.context_window)

    def show_prompts_changed(self, titles: Sequence[str]) -> None:
        """Say whether the profile's summaries are asked for in other words than it came with;
        ``titles``: of the texts that are the person's own."""
        self.prompts.setText("Prompt changed ▸" if titles else "Prompts ▸")
        self.prompts.setToolTip(
            f"Not as this profile came: {', '.join(titles)}"
            if titles
            else "The words that ask for the summary, to be read and changed"
        )

    def show_partition(self, shown: Partition, by_hand: bool) -> None:
        """Say why the cut falls where it falls."""
        self.why.set_words(reason_html(shown, by_hand), plain_reason(shown, by_hand))

    # what was done -----------------------------------------------------------------------------

    def _size_changed(self) -> None:
        window = self.window_size.value()
        reserve = min(self.reserve.value(), window)
        self.settings = Settings(window, reserve, self.keep.value(), self.rounds.value())
        if reserve != self.reserve.value() or self.sender() is self.window_size:
            self.reserve.set_maximum(window)
            self.reserve.set_value(reserve)
        self.settings_changed.emit(self.settings)

    def _follow(self, link: str) -> None:
        kind, _, value = link.partition(":")
        if kind == "entry":
            self.entry_requested.emit(int(value))
        else:
            self.automatic_cut_asked.emit()
