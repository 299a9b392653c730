"""The bar at the top: what is open, search, profile, how full the context is, help."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from explorer.services.effective_rules import NextCompaction
from ui import theme
from ui.shell.search import SearchBar
from ui.widgets.choice import ChoiceBox
from ui.widgets.gauge import ContextGauge
from ui.widgets.labels import ElidedLabel
from ui.widgets.terms import explain

WIDE = 1600
"""Width from which on the folder and the number of entries stand beside the name."""
ROOMY = 1200
"""Width at a text scale of 100 % from which everything is shown with its words."""


TIGHT = 860
"""Width below which what other menus offer makes room for name, search and gauge."""
SIGNS = 600
"""Width below which signs stand for words."""


class Header(QWidget):
    """Shows; the window fills it and listens."""

    profile_chosen = Signal(str)
    help_requested = Signal()
    palette_requested = Signal()
    profile_shown = Signal(bool)
    """Whether the box with the profiles is here; where it finds no room, the tab Compaction has
    it."""
    sessions_requested = Signal()
    """Where the list of sessions is out of sight, it is asked for here."""

    def __init__(self, profiles: list[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("surface", "panel")
        self.title = ElidedLabel("", self)
        theme.bind_font(self.title, lambda: theme.ui_font(0, bold=True))
        self.facts = ElidedLabel("", self)
        theme.set_tone(self.facts, "dim")
        self.search = SearchBar(self)
        self.profile = ChoiceBox(self)
        self.profile.setAccessibleName("Profile: the rules that compaction follows")
        explain(self.profile, "profile")
        self.offer(profiles)
        self._bound_profile(True)
        self.profile.activated.connect(lambda _row: self.profile_chosen.emit(self.profile_name))
        self.gauge = ContextGauge(self)
        self.gauge.needs_changed.connect(self._make_room)
        self.commands = self._button("command", "Commands (Ctrl+Shift+P)", self.palette_requested)
        self.help = self._button("keyboard", "Keys (?)", self.help_requested)
        self.sessions = self._button("session", "Sessions (F8)", self.sessions_requested)
        self.sessions.hide()
        self._lay_out()
        theme.on_theme_changed(self._make_room)

    def _button(self, icon: str, tip: str, signal: object) -> QToolButton:
        button = QToolButton(self)
        theme.bind_icon(button, icon, "dim")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.clicked.connect(lambda: signal.emit())  # type: ignore[attr-defined]
        return button

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.S16, theme.S8, theme.S12, theme.S8)
        layout.setSpacing(theme.S12)
        self.title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        layout.addWidget(self.sessions)
        layout.addWidget(self.title, 3)
        layout.addWidget(self.facts, 2)
        layout.addWidget(self.search, 4)
        self.profile_label = QLabel("Profile", self)
        layout.addWidget(self.profile_label)
        layout.addWidget(self.profile)
        layout.addWidget(self.gauge)
        layout.addWidget(self.commands)
        layout.addWidget(self.help)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def show_narrow(self, narrow: bool) -> None:
        """A narrow window has no list of sessions beside the map, but a way to it."""
        self.sessions.setVisible(narrow)

    def _make_room(self) -> None:
        """In a narrow window the name and the search come first."""
        self.search.setMaximumWidth(theme.scaled(620))
        roomy = self.width() >= theme.scaled(ROOMY)
        # The list of sessions and the status bar have them too.
        self.facts.setVisible(self.width() >= theme.scaled(WIDE))
        self.profile_label.setVisible(roomy)
        # The profile goes to the tab Compaction, commands and keys are in the menu Help.
        tight = self.width() < theme.scaled(TIGHT)
        self.search.set_room(roomy, self.width() < theme.scaled(SIGNS))
        for control in (self.profile, self.commands, self.help):
            control.setVisible(not tight)
        self._bound_profile(roomy)
        self.profile_shown.emit(not tight)
        least = self.gauge.minimumSizeHint().width() + theme.scaled(40)
        self.gauge.setMaximumWidth(16_777_215 if roomy else least)

    def _bound_profile(self, roomy: bool) -> None:
        """The titles are long; the list that opens has all of each."""
        self.profile.setMinimumWidth(theme.scaled(80))
        self.profile.setMaximumWidth(theme.scaled(170 if roomy else 130))

    def offer(self, profiles: list[tuple[str, str]]) -> None:
        """(name, title) of the profiles that can be chosen."""
        self.profile.blockSignals(True)
        self.profile.clear()
        for name, title in profiles:
            self.profile.addItem(title, name)
            self.profile.setItemData(self.profile.count() - 1, name, Qt.ItemDataRole.ToolTipRole)
        self.profile.blockSignals(False)

    @property
    def profile_name(self) -> str:
        return str(self.profile.currentData())

    def set_profile(self, name: str) -> None:
        self.profile.setCurrentIndex(max(0, self.profile.findData(name)))

    def show_automatic(self, on: bool) -> None:
        """Show whether the context is compacted automatically at its mark."""
        self.gauge.set_automatic(on)

    def show_context(
        self, tokens: int, window: int, mark: NextCompaction, source: str, is_window_known: bool
    ) -> None:
        """The context's size and its window, in tokens; ``source`` of the size, and the size at
        which something is done about it."""
        self.gauge.set_context(tokens, window, mark.tokens, source, mark.about, is_window_known)

    def show_session(self, title: str, facts: str) -> None:
        """Name and facts of the open session; empty texts when there is none."""
        self.title.setText(title or "Session Explorer")
        self.facts.setText(facts)
