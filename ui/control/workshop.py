"""The prompt workshop in the window: which text is shown, saved, previewed; what is not saved."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox

from explorer.compaction.preparation import Preparation
from explorer.template_catalogue import names_used_by
from explorer.template_files import TemplateError
from explorer.work.agent_words import InFolder
from explorer.work.changes import Change, PromptsChanged
from explorer.work.prompt_preview import Where, preview_prompt
from explorer.work.prompt_trials import can_be_tried
from explorer.work.prompt_versions import PromptVersions, TemplateState
from ui.control.desk import Desk
from ui.control.talking import AgentControl
from ui.control.talking.turns import today
from ui.control.trying import TrialControl
from ui.inspector.gather import Loader
from ui.widgets.notice import Notice
from ui.workshop.dialog import WorkshopDialog

REST_MS = 250
"""How long the text must not change before its request is built."""


class WorkshopControl(QObject):
    """Owns the dialog, and what is not saved in it."""

    followed = Signal()
    """Other words are in force."""

    def __init__(self, desk: Desk, agent: AgentControl) -> None:
        super().__init__(desk)
        self._desk = desk
        self._agent = agent
        self._dialog: WorkshopDialog | None = None
        self._trial: TrialControl | None = None
        self._unsaved: dict[str, str] = {}
        self._states: dict[str, TemplateState] = {}
        self._told: dict[str, str] = {}
        self._loader = Loader(self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._preview)
        desk.settings_changed.connect(self._profile_changed)
        desk.window.compaction.setup.following.prompts_asked.connect(
            lambda: self.open(self._first_used())
        )

    @property
    def running(self) -> bool:
        """Whether a trial is under way."""
        return self._trial is not None and self._trial.running

    @property
    def _prompts(self) -> PromptVersions:
        assert self._desk.bench is not None
        return self._desk.bench.prompts

    def ready(self) -> None:
        """The workbench is there: what is broken is said once."""
        assert self._desk.bench is not None
        self._desk.bench.subscribe(self._changed)
        self._unsaved = self._prompts.unsaved()
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._state_changed)
        self._follow()

    def _state_changed(self, state: Qt.ApplicationState) -> None:
        """The person is back at the window; files may have been changed meanwhile."""
        if state == Qt.ApplicationState.ApplicationActive and self._desk.bench is not None:
            self._prompts.refresh()

    # what is in force --------------------------------------------------------------------------

    def _changed(self, change: Change) -> None:
        if not isinstance(change, PromptsChanged):
            return
        self._follow()
        panel = self._desk.window.compaction
        panel.refresh()
        if self._dialog is not None and self._dialog.isVisible():
            name = self._dialog.name
            self._show_list()
            if name in change.names:
                self._show(name)
        self.followed.emit()

    def _follow(self) -> None:
        self._states = {state.info.name: state for state in self._prompts.states()}
        self._profile_changed()
        problems = {name: state.problem for name, state in self._states.items() if state.problem}
        if problems and problems != self._told:
            self._desk.notice(
                "warning", "A prompt of your own cannot be used.",
                "The text that came with the program is sent in its place.",
                "Put it right in the prompt workshop.", details="\n".join(problems.values()),
                action="Prompt workshop", on_action=lambda: self.open(next(iter(problems))),
            )  # fmt: skip
        self._told = problems

    def _used(self) -> tuple[str, ...]:
        return names_used_by(self._desk.profile)

    def _profile_changed(self) -> None:
        """The panel says whether its profile is summarized with other words than it came with."""
        used = self._used()
        changed = [
            state.info.title
            for name, state in self._states.items()
            if name in used and (state.changed or state.problem)
        ]
        self._desk.window.compaction.setup.following.show_prompts_changed(changed)
        if self._dialog is not None and self._dialog.isVisible():
            self._show_list()
            self._rest.start()

    def _first_used(self) -> str:
        """The text that the profile in force asks for a summary with."""
        used = self._used()
        shown = self._desk.window.compaction.partition
        prepared = shown.preparation if shown is not None else None
        updates = isinstance(prepared, Preparation) and prepared.previous_compaction >= 0
        asks = used[1] if updates else used[0]
        changed = [name for name in used if name in self._states and self._states[name].changed]
        return asks if asks in changed or not changed else changed[0]

    # the dialog --------------------------------------------------------------------------------

    def open(self, name: str = "") -> None:
        """Open the workshop, at a text."""
        if self._desk.bench is None:
            return
        self._prompts.refresh()
        if self._dialog is None:
            self._dialog = self._made()
        dialog = self._dialog
        self._states = {state.info.name: state for state in self._prompts.states()}
        self._show_list()
        wanted = name or dialog.name or self._first_used()
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        if dialog.list.name == wanted:
            self._show(wanted)
        dialog.list.select(wanted)
        dialog.list.setFocus()

    def _made(self) -> WorkshopDialog:
        dialog = WorkshopDialog(self._desk.window)
        dialog.chosen.connect(self._show)
        dialog.edited.connect(self._edited)
        dialog.save_asked.connect(self._save)
        dialog.reset_asked.connect(self._ask_reset)
        dialog.undone.connect(self._undo)
        dialog.tab_shown.connect(lambda _tab: self._fill_tab())
        dialog.closing.connect(self.keep_unsaved)
        self._loader.loaded.connect(dialog.preview.show_preview)
        self._loader.failed.connect(dialog.preview.show_problem)
        self._trial = TrialControl(self._desk, dialog)
        return dialog

    def _show_list(self) -> None:
        if self._dialog is not None:
            self._dialog.show_states(list(self._states.values()), self._unsaved, self._used())

    def _show(self, name: str) -> None:
        dialog = self._dialog
        if dialog is None:
            return
        saved = self._saved(name)
        text = self._unsaved.get(name, saved)
        dialog.show_template(self._states[name], saved, text, name in self._used())
        dialog.show_problems(self._prompts.check(name, text))
        self._fill_tab()

    def _saved(self, name: str) -> str:
        """The person's own text, a broken one too, so that it can be put right."""
        try:
            own = self._prompts.own(name)
        except TemplateError:
            own = None
        return self._prompts.shipped(name) if own is None else own

    def _fill_tab(self) -> None:
        dialog = self._dialog
        if dialog is None or not dialog.name:
            return
        if dialog.tab == "request":
            self._rest.start()
        elif dialog.tab == "versions":
            dialog.show_versions(self._prompts.history(dialog.name))
        elif dialog.tab == "try" and self._trial is not None:
            can = can_be_tried(dialog.name)
            self._trial.show(self._prompts.history(dialog.name), can)

    def _edited(self, name: str, text: str) -> None:
        dialog = self._dialog
        if dialog is None:
            return
        if dialog.is_edited:
            self._unsaved[name] = text
        else:
            self._unsaved.pop(name, None)
        dialog.show_problems(self._prompts.check(name, text))
        self._show_list()
        self._rest.start()

    def _preview(self) -> None:
        dialog, window = self._dialog, self._desk.window
        if dialog is None or not dialog.isVisible() or dialog.tab != "request":
            return
        name, text = dialog.name, dialog.text
        broken = [one.message for one in self._prompts.check(name, text) if one.breaks]
        if broken:
            self._loader.forget()
            dialog.preview.show_problem(f"There is no request with this text. {broken[0]}")
            return
        panel = window.compaction
        tools = self._agent.tools.box()
        where = Where(
            self._desk.document, panel.partition, panel.instructions(),
            panel.setup.chosen_model(), tools if isinstance(tools, InFolder) else None, today(),
        )  # fmt: skip
        self._loader.load(lambda: preview_prompt(name, text, where))

    # what is done ------------------------------------------------------------------------------

    def _save(self, name: str, text: str, note: str) -> None:
        self._unsaved.pop(name, None)
        self._do(name, lambda: self._saved_words(name, text, note), text)

    def _saved_words(self, name: str, text: str, note: str) -> str:
        version = self._prompts.save(name, text, note)
        return f"Version {version.number} is sent from now on."

    def _ask_reset(self, name: str) -> None:
        dialog = self._dialog
        if dialog is None:
            return
        box = QMessageBox(dialog)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Reset to shipped")
        box.setText("Send the text that came with the program again?")
        box.setInformativeText("Your versions are kept; any of them can be taken again.")
        yes = box.addButton("&Reset", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.finished.connect(lambda _code: self._reset_answered(box, yes, name))
        box.open()

    def _reset_answered(self, box: QMessageBox, yes: object, name: str) -> None:
        if box.clickedButton() is yes:
            self._unsaved.pop(name, None)
            self._do(name, lambda: self._reset_words(name))
        box.deleteLater()

    def _reset_words(self, name: str) -> str:
        self._prompts.reset(name)
        return "The text that came with the program is sent again."

    def _do(self, name: str, work: Callable[[], str], text: str | None = None) -> None:
        """Do something with the files, and say what came of it."""
        dialog = self._dialog
        try:
            words = work()
        except TemplateError as error:
            if text is not None:
                self._unsaved[name] = text
            if dialog is not None:
                dialog.tell(Notice("error", f"{error}", "What was sent before is sent still."))
            return
        if dialog is not None:
            dialog.tell(Notice("done", words))
            self._show_list()
            self._show(name)

    def _undo(self, name: str) -> None:
        self._unsaved.pop(name, None)
        self._show_list()
        self._show(name)

    def keep_unsaved(self) -> None:
        """What is not saved is there again when the window is opened again."""
        if self._desk.bench is not None:
            try:
                self._prompts.keep_unsaved(self._unsaved)
            except TemplateError as error:
                self._desk.notice("error", f"Changes of prompts are not kept: {error}")

    def stop(self) -> None:
        """The window is closed: a trial under way ends, what is not saved is kept."""
        if self._trial is not None:
            self._trial.stop()
        if self._unsaved or self._dialog is not None:
            self.keep_unsaved()
