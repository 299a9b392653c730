"""The settings in the window: followed while it is open, checked, and changed in a dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.compaction.profile import PROFILES
from explorer.models.client import ModelError
from explorer.settings.effective import pace_of
from explorer.settings.live import SettingsChanged
from ui.app_state import AppState
from ui.compaction.automatic import ASK, ASK_FIRST, CHOICE, AutomaticController
from ui.settings.dialog import SettingsDialog
from ui.settings.key_status import SettingsSurroundings

BY_SESSION = {"compaction.enabled": CHOICE, ASK_FIRST: ASK}
"""Settings that a session chooses for itself below the message box, and how it keeps that."""


class SettingsController(QObject):
    """Watches the settings files for as long as the window is open."""

    def __init__(
        self,
        state: AppState,
        automatic: AutomaticController,
        pick_model: Callable[[Callable[[str], None]], None],
    ) -> None:
        """``pick_model`` lets a person choose among all models, and passes on which."""
        super().__init__(state)
        self._state = state
        self._automatic = automatic
        self._pick_model = pick_model
        state.opened.connect(self._ready)
        self._reported: list[str] = []
        self._endpoint = ""
        self._ends: list[Callable[[], None]] = []
        self.dialog: SettingsDialog | None = None
        """The dialog, while it is open."""

    def _ready(self) -> None:
        """There is a loop: follow the files."""
        live, loop = self._state.live, asyncio.get_running_loop()
        self._ends = [
            live.subscribe(self._changed),
            live.watch(loop.call_soon_threadsafe),
        ]
        for changed in (self._state.document_changed, self._state.settings_changed):
            changed.connect(self._refresh)
        self._state.models_changed.connect(self._refresh)
        self._state.settings_changed.connect(self._use_addresses)
        self._use_addresses()
        self._use_privacy()
        self._state.document_changed.connect(self.tell_problems)
        self.tell_problems()

    def stop(self) -> None:
        """Follow them no more."""
        while self._ends:
            self._ends.pop()()

    def open(self) -> None:
        """Show the settings; what is changed there holds at once."""
        if self.dialog is not None:
            self.dialog.activateWindow()
            return
        state = self._state
        dialog = SettingsDialog(state.live, self._around, self._forget, state.window)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        state.live.refresh()
        dialog.open()

    def _closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _refresh(self) -> None:
        if self.dialog is not None:
            self.dialog.refresh()

    def _around(self) -> SettingsSurroundings:
        state = self._state
        unchanged = state.profiles.get(state.profile.name) or PROFILES["explorer"]
        names = [model.id for model in state.model_infos()]
        titles = {name: profile.title for name, profile in state.profiles.items()}
        chosen = state.session_choices()
        for name, choice in BY_SESSION.items():
            if (on := self._automatic.session_choice(choice)) is not None:
                chosen[name] = on
        return SettingsSurroundings(
            state.project, unchanged, chosen, names, titles, self._pick_model, self._no_project()
        )

    def _no_project(self) -> str:
        document = self._state.document
        if document is None:
            return "Open a session to change the settings of its folder."
        if not document.header.cwd:
            return "This session names no folder."
        return f"The session's folder is not on this computer: {document.header.cwd}"

    def _forget(self, name: str) -> None:
        if name in BY_SESSION:
            self._automatic.forget_choice(BY_SESSION[name])
        self._state.forget_choice(name)

    def _changed(self, change: SettingsChanged) -> None:
        self._state.settings_file_changed()
        self._use_addresses()
        self._use_privacy()
        self.tell_problems()
        self._refresh()

    def _use_addresses(self) -> None:
        """Let the models be asked where the settings say."""
        state = self._state
        if state.bench is None:
            return
        state.bench.client.use_api_base(state.live.get("models.apiBase") or "")
        state.bench.client.use_silence(state.live.get("models.silenceSeconds"))
        state.bench.client.use_pace(pace_of(state.live.get("models.scriptedPace")))
        endpoint = state.profile.remote_endpoint
        if endpoint == self._endpoint:
            return
        self._endpoint = endpoint
        try:
            state.bench.client.use_endpoint(endpoint)
        except ModelError as error:
            state.bench.client.use_endpoint("")
            state.notice("warning", f"The service for summaries cannot be used: {error.message}")
        state.models_changed.emit()

    def _use_privacy(self) -> None:
        """Mask secrets where the settings say; the session shown is shown anew."""
        state = self._state
        if state.bench is None:
            return
        privacy = state.bench.privacy
        before = privacy.mask_shown
        privacy.follow(state.live.get)
        # A running turn is not taken from under the agent; what is read from now on follows.
        if privacy.mask_shown != before and not state.agent_running:
            state.show_anew()

    def tell_problems(self) -> None:
        """Say once what of the files cannot be used; what is only unknown, the dialog says."""
        problems = self._state.live.problems(self._state.project)
        found_problems = [str(problem) for problem in problems if not problem.unknown]
        if found_problems and found_problems != self._reported and self.dialog is None:
            self._state.notice(
                "warning", "Some settings cannot be used.", "What was set before holds.",
                details="\n".join(found_problems), action="Settings", on_action=self.open,
            )  # fmt: skip
        self._reported = found_problems
