"""The line below the message box: who answers, how, where, and what can be done now."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from explorer.agent.approval import ApprovalMode
from explorer.models.thinking import THINKING_LEVELS, ThinkingLevel
from ui import theme
from ui.widgets.choice import Choice
from ui.widgets.flow import FlowLayout
from ui.widgets.model_box import ModelBox

NO_FOLDER = "Choose folder…"
MODES: tuple[tuple[ApprovalMode, str, str], ...] = (
    ("ask", "Ask first", "It asks before it changes a file or runs a command."),
    ("read-only", "Read only", "It can look, and neither change a file nor run a command."),
    ("yes", "Allow all", "It changes files in its folder and runs any command without asking."),
)
"""(mode, label, what it means)"""


class AgentBar(QWidget):
    """Choices on the left, what is spent and what to press on the right."""

    thinking_chosen = Signal(str)
    mode_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.models = ModelBox(self)
        self.models.setAccessibleName("Model of the agent")
        self.models.setToolTip("The model that answers")
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.models.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.thinking = Choice(self)
        self.thinking.setAccessibleName("Thinking level")
        self.thinking.setToolTip("How long the model may think before it answers")
        for level in THINKING_LEVELS:
            self.thinking.addItem(f"Thinking: {level}", level)
        self.workspace = QPushButton(self)
        self.workspace.setAutoDefault(False)
        self.mode = Choice(self)
        self.mode.setAccessibleName("What the agent may do without asking")
        for mode, label, tip in MODES:
            self.mode.addItem(label, mode)
            self.mode.setItemData(self.mode.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.more = QToolButton(self)
        theme.bind_icon(self.more, "plus", "ink")
        self.more.setAccessibleName("Add to the message, and more")
        self.more.setToolTip("Add pictures and files, see the commands, and more")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.more)
        self.more.setMenu(self.menu)
        self.automatic_switch = QCheckBox("Automatic compaction", self)
        self.automatic_switch.setToolTip(
            "Compact this session by itself when its context is too full (by hand works always)"
        )
        self.state = QLabel(self)
        theme.set_tone(self.state, "dim")
        self.spent = QLabel(self)
        theme.bind_font(self.spent, theme.small_font)
        theme.set_tone(self.spent, "dim")
        self.go_on = QPushButton("Conti&nue", self)
        self.go_on.hide()
        self.stop = QPushButton("Stop", self)
        self.stop.setToolTip("Stop the answer (Esc)")
        self.stop.hide()
        self.after = QPushButton("&After this turn", self)
        self.after.setToolTip("Let the message wait until the agent is done (Alt+Enter)")
        self.after.hide()
        self.send = QPushButton("Send", self)
        self.set_folder("")
        self.set_mode("ask")
        self._lay_out()
        self.thinking.activated.connect(
            lambda _row: self.thinking_chosen.emit(str(self.thinking.currentData()))
        )
        self.mode.activated.connect(
            lambda _row: self.mode_chosen.emit(str(self.mode.currentData()))
        )
        theme.on_theme_changed(self._restyle)

    def _lay_out(self) -> None:
        # What a narrow window has no room for beside each other goes into a second line.
        self._choices = choices = FlowLayout(across=theme.S8, down=theme.S4)
        for part in (
            self.more, self.models, self.thinking, self.workspace, self.mode,
            self.automatic_switch, self.state,
        ):  # fmt: skip
            choices.addWidget(part)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.S8)
        row.addLayout(choices, 1)
        for part in (self.spent, self.go_on, self.after, self.send, self.stop):
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)

    def _restyle(self) -> None:
        self.models.setMinimumWidth(theme.scaled(90))
        self.models.setMaximumWidth(theme.scaled(280))
        line = self.workspace.sizeHint().height()
        for part in (self.automatic_switch, self.state, self.spent, self.more):
            part.setMinimumHeight(line)

    def lines_needed(self) -> int:
        """Pixels that the choices take at this width beyond one line."""
        right = sum(
            part.sizeHint().width() + theme.S8
            for part in (self.spent, self.go_on, self.after, self.send, self.stop)
            if not part.isHidden()
        )
        room = max(self.width() - right, 1)
        return max(0, self._choices.heightForWidth(room) - self._choices.minimumSize().height())

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint() + QSize(0, self.lines_needed())

    # what is shown -------------------------------------------------------------------------------

    def set_folder(self, folder: str) -> None:
        """The folder that the agent works in; empty for none."""
        self.workspace.setText(f"Folder: {Path(folder).name or folder}" if folder else NO_FOLDER)
        self.workspace.setToolTip(
            f"The agent works in {folder}, and nowhere else."
            if folder
            else "The folder that the agent may work in; without one it has no tools"
        )

    def set_mode(self, mode: ApprovalMode) -> None:
        self.mode.setCurrentIndex(self.mode.findData(mode))
        self.mode.setToolTip(next(tip for name, _, tip in MODES if name == mode))

    def set_thinking(self, level: ThinkingLevel, useful: bool) -> None:
        """The level; ``useful``: whether the chosen model thinks at all."""
        self.thinking.setCurrentIndex(self.thinking.findData(level))
        self.thinking.setVisible(useful)

    def set_spent(self, words: str, tip: str) -> None:
        """What the session took so far; empty where nobody counted anything."""
        self.spent.setText(words)
        self.spent.setToolTip(tip)
        self.spent.setAccessibleName(tip)
        self.spent.setVisible(bool(words))

    def set_running(self, running: bool, has_message: bool, may_send: bool) -> None:
        """While a turn runs there is a Stop button; what is written goes into it, or after it."""
        self.stop.setVisible(running)
        self.after.setVisible(running and has_message)
        self.send.setVisible(has_message or not running)
        self.send.setText("Send now" if running else "Send")
        self.send.setToolTip(
            "Put the message into the turn that runs (Enter)"
            if running
            else "Send the message at the leaf (Enter)"
        )
        self.send.setEnabled(may_send)

    def offer_going_on(self, why: str) -> None:
        """Offer to go on without a message; ``why`` is empty where there is nothing to go on."""
        self.go_on.setToolTip(why)
        self.go_on.setVisible(bool(why))

    @staticmethod
    def pop_up(menu: QMenu, over: QWidget) -> None:
        """Show a menu above a button, since the bar is at the bottom of the window."""
        menu.popup(over.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
