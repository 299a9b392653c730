"""The tab for a prompt within a budget, for profiles that do so."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from explorer.compaction.background import Machine
from explorer.compaction.profile.rules import Background
from explorer.compaction.triggers import limits_of
from explorer.services.agent import outgoing_of
from explorer.services.auto_compaction.prompt import (
    CopilotWords,
    PreparedPrompt,
    prepare_prompt,
)
from explorer.services.auto_compaction.prompt_gate import PromptGate
from explorer.services.changes import (
    BackgroundChanged,
    CountsChanged,
    EntriesAppended,
    LeafMoved,
)
from ui.app_state import AppState
from ui.conversation.controller import AgentController
from ui.conversation.turns import today
from ui.main_window import TABS

REST_MS = 120
"""How long nothing must change before the prompt is read again."""


class PromptTabController(QObject):
    """Shows the prompt at the leaf as the agent would be sent it now."""

    def __init__(self, state: AppState, agent: AgentController) -> None:
        super().__init__(state)
        self._state = state
        self._agent = agent
        self._tab = TABS.index("prompt")
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._fill)
        window = state.window
        window.prompt.entry_requested.connect(window.map.select)
        window.prompt.stop_requested.connect(self._stop)
        window.prompt.compact_requested.connect(lambda: agent.compact_now())
        window.inspector.currentChanged.connect(lambda _tab: self._rest.start())
        state.settings_changed.connect(self._rules_changed)
        state.models_changed.connect(self._rest.start)
        state.fillers.append(self._rules_changed)
        state.opened.connect(self._rules_changed)
        state.bus.on_shown(BackgroundChanged, lambda _change: self._show_machine())
        for kind in (EntriesAppended, LeafMoved, CountsChanged):
            state.bus.on_shown(kind, lambda _change: self._rest.start())

    def _rules_changed(self) -> None:
        wanted = self._state.profile.prompt_budget is not None
        inspector = self._state.window.inspector
        inspector.setTabVisible(self._tab, wanted)
        if not wanted and inspector.currentIndex() == self._tab:
            # It was left there, and this session has no such tab.
            inspector.setCurrentIndex(0)
        self._state.state_changed.emit()
        self._rest.start()

    def _gate(self) -> PromptGate | None:
        document = self._state.document
        if document is None:
            return None
        return self._agent.automatic.of(document).prompts

    def _show_machine(self) -> None:
        gate = self._gate()
        policy = self._state.profile.background or Background()
        machine = gate.machine if gate is not None else Machine()
        self._state.window.prompt.show_machine(machine, policy)

    def _fill(self) -> None:
        """Show the prompt, where the tab is visible; otherwise it waits until it is."""
        window = self._state.window
        if window.inspector.currentIndex() != self._tab:
            return
        self._show_machine()
        window.prompt.show_prompt(self._prepare(), self._state.agent_model())

    def _prepare(self) -> Callable[[], PreparedPrompt] | None:
        state, document = self._state, self._state.document
        if document is None or state.profile.prompt_budget is None:
            return None
        words = CopilotWords.load()
        profile, model = state.profile, state.agent_model()
        window = limits_of(profile, state.settings, document.models.info(model).window).window
        outgoing = outgoing_of(
            document.shared.agent_prompt, model, self._agent.tools.tool_set(), today()
        )
        return lambda: prepare_prompt(document, profile, outgoing, window, words)

    def _stop(self) -> None:
        gate = self._gate()
        if gate is not None:
            self._state.tasks.start("Stopping the summary", gate.stop())
