"""The line below the message box: who answers, how, where, and what can be done now; a menu holds
what there is no room for."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from explorer.agent.approval import ApprovalMode
from explorer.models.request import THINKING_LEVELS, ThinkingLevel
from ui import theme
from ui.widgets.choice import ChoiceBox, show_checked
from ui.widgets.flow import FlowLayout
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import row_in


class Folding(NamedTuple):
    """What gives way where there is little room, the first of them first."""

    ask: QCheckBox
    automatic: QCheckBox
    workspace: QPushButton
    thinking: ChoiceBox


class BarMenu(QToolButton):
    """A button with a menu, to which others add what they offer."""

    def __init__(
        self, folding: Folding, choose_level: Callable[[str], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._folding = folding
        theme.bind_icon(self, "plus", "ink")
        self.setAccessibleName("Add to the message, and more")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.items = QMenu(self)
        self.setMenu(self.items)
        self._folder = self.items.addAction("", folding.workspace.click)
        self._levels = self.items.addMenu("&Thinking")
        for level in THINKING_LEVELS:
            action = self._levels.addAction(level)
            action.setData(level)
            action.setCheckable(True)
            action.triggered.connect(partial(choose_level, level))
        self._automatic = self._checked("Auto-c&ompact", folding.automatic)
        self._ask = self._checked("Ask &before compacting", folding.ask)
        self.items.addSeparator()
        self.items.aboutToShow.connect(self._check)

    def _checked(self, text: str, switch: QCheckBox) -> QAction:
        action = self.items.addAction(text)
        action.setCheckable(True)
        action.triggered.connect(switch.click)
        return action

    def _check(self) -> None:
        folding = self._folding
        for action, switch in ((self._automatic, folding.automatic), (self._ask, folding.ask)):
            action.setChecked(switch.isChecked())
            action.setEnabled(switch.isEnabled())
        for action in self._levels.actions():
            action.setChecked(action.data() == folding.thinking.currentData())

    def name_folder(self, words: str) -> None:
        """What the folder's item says."""
        self._folder.setText(words.replace("&", "&&"))

    def show_folded(self, folded: Collection[QWidget]) -> None:
        """Offer what is not in the line."""
        folding = self._folding
        for action, part in (
            (self._ask, folding.ask),
            (self._automatic, folding.automatic),
            (self._folder, folding.workspace),
            (self._levels.menuAction(), folding.thinking),
        ):
            action.setVisible(part in folded)
        switches = [part.text() for part in (folding.automatic, folding.ask) if part in folded]
        self.setToolTip(" · ".join(("Add pictures and files, see the commands", *switches)))


def lines_of(widths: Collection[int], room: int, between: int) -> int:
    """Lines that parts of these widths take beside each other. All in pixels."""
    lines, at = 0, 0
    for width in widths:
        if not lines or at + width > room:
            lines, at = lines + 1, 0
        at += width + between
    return lines


NO_FOLDER = "Choose folder…"
MODES: tuple[tuple[ApprovalMode, str, str], ...] = (
    ("ask", "Ask first", "It asks before it changes a file or runs a command."),
    ("read-only", "Read only", "It can look, and neither change a file nor run a command."),
    ("yes", "Allow all", "It changes files in its folder and runs any command without asking."),
)
"""(mode, label, what it means)"""
WIDEST_MODEL = 192
"""Pixels of the drawing."""
LEAST_MODEL = 90
"""The same, of a name that is cut short."""
MODEL_SHARE = 0.36
"""Of the bar's width, at most."""
NARROW = 470
"""Pixels of the drawing; a bar of less keeps what is rarely chosen in its menu."""
CROWDED = 900
"""The same, for what is chosen least, where a thinking level is shown."""


class AgentBar(QWidget):
    """Choices on the left, what is spent and what to press on the right."""

    thinking_chosen = Signal(str)
    mode_chosen = Signal(str)
    automatic_chosen = Signal(bool)
    """Whether the session is compacted automatically."""
    ask_chosen = Signal(bool)
    """Whether an automatic compaction asks first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thinks, self._is_low, self._activity = False, False, ""
        self._make_choices()
        self._make_switches()
        self._make_buttons()
        self._folding = Folding(
            self.ask_switch, self.automatic_switch, self.workspace, self.thinking
        )
        self.more = BarMenu(self._folding, self.thinking_chosen.emit, self)
        self.menu = self.more.items
        self.set_folder("")
        self.set_mode("ask")
        self._lay_out()
        theme.on_theme_changed(self._restyle)
        self._restyle()

    def _make_choices(self) -> None:
        self.models = ModelBox(self, more=True)
        self.models.setAccessibleName("Model of the agent")
        self.models.setToolTip("The model that answers")
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.models.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.thinking = ChoiceBox(self)
        self.thinking.setAccessibleName("Thinking level")
        self.thinking.setToolTip("How long the model may think before it answers")
        for level in THINKING_LEVELS:
            self.thinking.addItem(f"Thinking: {level}", level)
        self.thinking.activated.connect(
            lambda _row: self.thinking_chosen.emit(str(self.thinking.currentData()))
        )
        self.workspace = QPushButton(self)
        self.workspace.setAutoDefault(False)
        self.mode = ChoiceBox(self)
        self.mode.setAccessibleName("What the agent may do without asking")
        for mode, label, tip in MODES:
            self.mode.addItem(label, mode)
            self.mode.setItemData(self.mode.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.mode.activated.connect(
            lambda _row: self.mode_chosen.emit(str(self.mode.currentData()))
        )

    def _make_switches(self) -> None:
        self.automatic_switch = QCheckBox("Auto-compact", self)
        self.automatic_switch.toggled.connect(self.automatic_chosen)
        self.automatic_switch.setAccessibleName("Automatic compaction")
        self.automatic_switch.setToolTip(
            "Compact this session by itself when its context is too full"
        )
        self.ask_switch = QCheckBox("Ask before compacting", self)
        self.ask_switch.toggled.connect(self.ask_chosen)
        self.ask_switch.setAccessibleName("Ask before each automatic compaction")
        self.ask_switch.setToolTip(
            "Wait for your word before each compaction that would happen by itself"
        )

    def _make_buttons(self) -> None:
        self.send_after = QAction("Send &after this turn (Alt+Enter)", self)
        self.send_after.setEnabled(False)
        self.state = QLabel(self)
        theme.set_tone(self.state, "dim")
        self.go_on = QPushButton("Conti&nue", self)
        self.go_on.hide()
        self.stop = QPushButton("Stop", self)
        self.stop.setToolTip("Stop the answer (Esc)")
        self.stop.hide()
        self.send = QPushButton("Send", self)

    def set_low(self, is_low: bool) -> None:
        """In a low window the choices have one line, and the map the rest."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._fold()

    def _fold(self) -> None:
        """Put what is rarely chosen into the menu where there is no room for it."""
        folded: list[QWidget] = [] if self._thinks else [self.thinking]
        if self.width() < theme.scaled(NARROW):
            folded = list(self._folding)
        elif self._thinks and self.width() < theme.scaled(CROWDED):
            # With the thinking level beside it there is room for all only in a wide bar.
            folded = [self.ask_switch]
        for part in self._folding:
            if self._fits(folded):
                break
            if part not in folded:
                folded.append(part)
        for part in self._folding:
            part.setVisible(part not in folded)
        self._share_width()
        self.more.show_folded([part for part in folded if self._thinks or part != self.thinking])

    def _fits(self, folded: Collection[QWidget]) -> bool:
        return self._lines(folded) <= (1 if self._is_low else 2)

    def _lines(self, folded: Collection[QWidget]) -> int:
        """Lines of the choices that are not folded, with the name of the model cut short."""
        widths = [
            theme.scaled(LEAST_MODEL) if part is self.models else part.sizeHint().width()
            for part in (*self._line, *([] if self._activity else [self.state]))
            if part not in folded
        ]
        return lines_of(widths, self._room(), theme.S8)

    def _room(self) -> int:
        """Pixels for the choices beside what is pressed."""
        right = sum(
            part.sizeHint().width() + theme.S8 for part in self._right if not part.isHidden()
        )
        return max(self.width() - right, 1)

    def _lay_out(self) -> None:
        # What a narrow window has no room for beside each other goes into a second line.
        self._choices = choices = FlowLayout(across=theme.S8, down=theme.S4)
        self._line = (
            self.more, self.models, self.thinking, self.workspace, self.mode,
            self.automatic_switch, self.ask_switch,
        )  # fmt: skip
        for part in (*self._line, self.state):
            choices.addWidget(part)
        row = row_in(self, theme.S8)
        row.addLayout(choices, 1)
        self._right = (self.go_on, self.send, self.stop)
        for part in self._right:
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)

    def _restyle(self) -> None:
        self.models.setMinimumWidth(theme.scaled(LEAST_MODEL))
        self._fold()
        line = self.workspace.sizeHint().height()
        for part in (self.automatic_switch, self.ask_switch, self.state, self.more):
            part.setMinimumHeight(line)

    def _share_width(self) -> None:
        """A long name of a model gives way where the bar is narrow, and where all choices have
        one line by that."""
        most = min(theme.scaled(WIDEST_MODEL), round(self.width() * MODEL_SHARE))
        hidden = [part for part in self._line if part.isHidden()]
        if self._is_low or self._lines(hidden) == 1:
            beside = [one for one in self._line if one is not self.models]
            taken = sum(one.sizeHint().width() + theme.S8 for one in beside if not one.isHidden())
            if not self._activity:
                # An empty state takes its space too; its words have a separate line.
                taken += self.state.sizeHint().width() + theme.S8
            most = min(most, self._room() - taken)
        self.models.setMaximumWidth(max(theme.scaled(LEAST_MODEL), most))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def lines_needed(self) -> int:
        """Pixels that the choices take at this width beyond one line."""
        high = self._choices.heightForWidth(self._room())
        return max(0, high - self._choices.minimumSize().height())

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint() + QSize(0, self.lines_needed())

    # what is shown -------------------------------------------------------------------------------

    def set_activity(self, words: str) -> None:
        """Set what the agent is doing; empty for nothing."""
        self._activity = words
        self.state.setText(words)

    def set_folder(self, folder: str) -> None:
        """Set the folder that the agent works in; empty for none."""
        words = f"Folder: {Path(folder).name or folder}" if folder else NO_FOLDER
        self.workspace.setText(words)
        self.more.name_folder(f"{words.rstrip('…')}…")
        self.workspace.setToolTip(
            f"The agent works in {folder}.\nIts file tools stay inside; commands start there."
            if folder
            else "The folder that the agent may work in; without one it has no tools"
        )

    def show_switches(self, has_document: bool, automatic: bool, asks: bool) -> None:
        """Show whether the session is compacted automatically, and whether that asks first."""
        self.automatic_switch.setEnabled(has_document)
        show_checked(self.automatic_switch, automatic)
        self.ask_switch.setEnabled(automatic)
        show_checked(self.ask_switch, asks)

    def set_mode(self, mode: ApprovalMode) -> None:
        self.mode.setCurrentIndex(self.mode.findData(mode))
        self.mode.setToolTip(next(tip for name, _, tip in MODES if name == mode))

    def set_thinking(self, level: ThinkingLevel, useful: bool) -> None:
        """Set the level; ``useful``: whether the chosen model thinks at all."""
        self.thinking.setCurrentIndex(self.thinking.findData(level))
        self._thinks = useful
        self._fold()

    def set_running(self, running: bool, has_message: bool, may_send: bool) -> None:
        """While a turn runs there is a Stop button; what is written goes into it, or after it."""
        self.stop.setVisible(running)
        self.send_after.setEnabled(running and has_message)
        self.send.setVisible(has_message or not running)
        if not may_send:
            words = "Open a session or begin a new one first."
        elif running:
            words = "Put the message into the turn that runs (Enter)"
        else:
            words = "Send the message at the leaf (Enter)"
        self.send.setToolTip(words)
        self.send.setEnabled(may_send)
        self._fold()

    def offer_going_on(self, why: str) -> None:
        """Offer to go on without a message; ``why`` is empty where there is nothing to go on."""
        self.go_on.setToolTip(why)
        self.go_on.setVisible(bool(why))
        self._fold()

    @staticmethod
    def pop_up(menu: QMenu, over: QWidget) -> None:
        """Show a menu above a button, since the bar is at the bottom of the window."""
        menu.popup(over.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
