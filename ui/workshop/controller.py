"""The prompt workshop: which template is shown, saved, previewed, and tried on saved sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from explorer.compaction.preparation import Preparation
from explorer.models.client import Cancelled, CancelToken
from explorer.services.agent import InFolder
from explorer.services.changes import PromptsChanged
from explorer.services.document import Document
from explorer.services.draft_records import SummaryOrder
from explorer.services.template_trials import (
    NOT_USED,
    Trial,
    TrialCost,
    TrialPoint,
    TrialResult,
    Where,
    can_be_tried,
    changes,
    points_of,
    preview_prompt,
)
from explorer.settings.prompt_templates import (
    PromptTemplates,
    TemplateError,
    TemplateState,
    Version,
)
from explorer.settings.template_catalogue import names_used_by
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.conversation.controller import AgentController
from ui.conversation.turns import today
from ui.shell.dialogs import Role, confirm, present
from ui.widgets.figures import count
from ui.widgets.loader import Loader
from ui.widgets.notice import Notice
from ui.workshop.dialog import WorkshopDialog

FREE = "offline/extractive"


class TrialController(QObject):
    """One trial at a time; nothing is stored in any session."""

    def __init__(self, state: AppState, dialog: WorkshopDialog) -> None:
        super().__init__(dialog)
        self._state = state
        self._dialog = dialog
        self._page = dialog.trial
        self._cancel: CancelToken | None = None
        self._documents: dict[int, Document] = {}
        self._waiting: tuple[Trial, list[TrialPoint], str] | None = None
        page = self._page
        page.points_asked.connect(self._points_asked)
        page.try_asked.connect(lambda: state.tasks.start("The trial", self._prepare()))
        page.confirmed.connect(self._confirmed)
        page.cancel_asked.connect(self.stop)

    @property
    def running(self) -> bool:
        return self._cancel is not None

    def stop(self) -> None:
        """End the trial that is under way; what it found until then stays."""
        if self._cancel is not None:
            self._cancel.cancel()

    def show(self, versions: Sequence[Version], can: bool) -> None:
        """Show what can be chosen."""
        state, page = self._state, self._page
        if state.bench is None:
            return
        page.show_versions(versions, self._dialog.text, can and not self.running)
        models = state.models("summary")
        if not page.model.count():
            page.show_models(models, FREE)
        open_key = state.document.key if state.document is not None else -1
        rows = [(row.key, row.title or row.session_id) for row in state.bench.sessions()]
        rows.sort(key=lambda row: row[0] != open_key)
        page.show_sessions(rows, open_key)

    def _points_asked(self, key: int) -> None:
        self._state.tasks.start("Looking for compactions", self._find_points(key))

    async def _find_points(self, key: int) -> None:
        state = self._state
        try:
            document = await self._open(key)
        except StoreError as error:
            self._page.tell(f"The session cannot be opened: {error}", "lost")
            return
        profile, settings = state.profile, state.settings
        found = await asyncio.to_thread(points_of, document, profile, settings)
        self._page.show_points(key, found)

    async def _open(self, key: int) -> Document:
        if key not in self._documents:
            assert self._state.bench is not None
            self._documents[key] = await self._state.bench.open(key)
        return self._documents[key]

    async def _prepare(self) -> None:
        """Begin at once where it costs nothing; else show what it may cost."""
        page, state, dialog = self._page, self._state, self._dialog
        points, model = page.points(), str(page.model.currentData() or FREE)
        if self.running or state.bench is None:
            return
        if not points:
            page.tell("Tick a session, or places in one.", "lost")
            return
        first, second = page.texts()
        if first == second:
            page.tell("Both versions are the same text; choose two that differ.", "lost")
            return
        for text in (first, second):
            broken = [p.message for p in state.bench.prompts.check(dialog.name, text) if p.breaks]
            if broken:
                page.tell(f"A version cannot be used: {broken[0]}", "lost")
                return
        documents = self._documents
        trial = Trial(
            lambda key: documents[key], state.bench.client, dialog.name, (first, second),
            state.profile, state.settings,
        )  # fmt: skip
        page.start.setEnabled(False)
        page.tell("Reading what would be sent…")
        cost = await asyncio.to_thread(trial.cost, points, model)
        page.start.setEnabled(True)
        if not cost.calls:
            page.tell(
                "None of these places uses this text: a first summary needs a place without an "
                "earlier one, an update one with it.", "lost",
            )  # fmt: skip
            return
        self._waiting = trial, points, model
        if cost.dollars == 0.0 and model.startswith("offline/"):
            self._confirmed()
            return
        page.ask(_cost_words(cost, model), f"&Send {count(cost.calls, 'call')}")

    def _confirmed(self) -> None:
        if self._waiting is None or self.running:
            return
        trial, points, model = self._waiting
        self._waiting = None
        self._cancel = CancelToken()
        self._state.tasks.start("The trial", self._run(trial, points, model, self._cancel))

    async def _run(
        self, trial: Trial, points: list[TrialPoint], model: str, cancel: CancelToken
    ) -> None:
        page = self._page
        results: list[TrialResult] = []
        page.begin(2 * len(points))

        def reported(result: TrialResult) -> None:
            results.append(result)
            self._show(results)

        order = SummaryOrder("", model, lambda _purpose, _text: None, cancel)
        stopped = False
        try:
            await trial.run(points, order, reported, lambda done, _all: page.advance(done))
        except (Cancelled, asyncio.CancelledError):
            stopped = True
        finally:
            self._cancel = None
            page.end()
        page.tell(_end_words(results, stopped), "lost" if _failed(results) else "")

    def _show(self, results: Sequence[TrialResult]) -> None:
        places = {one.point for one in results if one.which == 1 and one.fidelity is not None}
        self._page.show_changes(changes(results), len(places))


def _cost_words(cost: TrialCost, model: str) -> str:
    price = (
        f"at most ${cost.dollars:.4f}"
        if cost.dollars is not None
        else "a price that is not known here"
    )
    return (
        f"{model} would be sent {count(cost.calls, 'call')}: about {cost.input_tokens:,} tokens, "
        f"and {cost.output_tokens:,} at most in answers, for {price}. Nothing was sent yet."
    )


def _failed(results: Sequence[TrialResult]) -> list[TrialResult]:
    return [one for one in results if one.problem and one.problem != NOT_USED]


def _end_words(results: Sequence[TrialResult], stopped: bool) -> str:
    made = sum(one.fidelity is not None for one in results)
    skipped = len({one.point for one in results if one.problem == NOT_USED})
    words = [f"{'Stopped. ' if stopped else ''}{count(made, 'summary', 'summaries')} compared."]
    if skipped:
        words.append(f"{count(skipped, 'place')} without a part for this text.")
    for one in _failed(results)[:3]:
        which = "second" if one.which else "first"
        words.append(f"{one.point.title}, {which} version: {one.problem}")
    return " ".join(words)


REST_MS = 250
"""How long the text must not change before its request is built."""


class WorkshopController(QObject):
    """Owns the dialog, and what is not saved in it."""

    followed = Signal()
    """Other words are in force."""

    def __init__(self, state: AppState, agent: AgentController) -> None:
        super().__init__(state)
        self._state = state
        self._agent = agent
        self._dialog: WorkshopDialog | None = None
        self._trial: TrialController | None = None
        self._unsaved: dict[str, str] = {}
        self._states: dict[str, TemplateState] = {}
        self._reported: dict[str, str] = {}
        self._loader = Loader(self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._preview)
        state.settings_changed.connect(self._profile_changed)
        state.opened.connect(self._ready)
        state.bus.on(PromptsChanged, self._prompts_changed)
        state.window.compaction.prompts_requested.connect(lambda: self.open(self._first_used()))

    @property
    def running(self) -> bool:
        """Whether a trial is under way."""
        return self._trial is not None and self._trial.running

    @property
    def _prompts(self) -> PromptTemplates:
        assert self._state.bench is not None
        return self._state.bench.prompts

    def _ready(self) -> None:
        self._unsaved = self._prompts.unsaved()
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._state_changed)
        self._follow()

    def _state_changed(self, state: Qt.ApplicationState) -> None:
        """The person is back at the window; files may have been changed meanwhile."""
        if state == Qt.ApplicationState.ApplicationActive and self._state.bench is not None:
            self._prompts.refresh()

    # what is in force --------------------------------------------------------------------------

    def _prompts_changed(self, change: PromptsChanged) -> None:
        self._follow()
        panel = self._state.window.compaction
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
        if problems and problems != self._reported:
            self._state.notice(
                "warning", "A prompt of your own cannot be used.",
                "The text that came with the program is sent in its place.",
                "Put it right in the prompt workshop.", details="\n".join(problems.values()),
                action="Prompt workshop", on_action=lambda: self.open(next(iter(problems))),
            )  # fmt: skip
        self._reported = problems

    def _used(self) -> tuple[str, ...]:
        return names_used_by(self._state.profile)

    def _profile_changed(self) -> None:
        """The panel says whether its profile is summarized with other words than it came with."""
        used = self._used()
        changed = [
            state.info.title
            for name, state in self._states.items()
            if name in used and (state.changed or state.problem)
        ]
        self._state.window.compaction.show_prompts_changed(changed)
        if self._dialog is not None and self._dialog.isVisible():
            self._show_list()
            self._rest.start()

    def _first_used(self) -> str:
        """The text that the profile in force asks for a summary with."""
        used = self._used()
        shown = self._state.window.compaction.partition
        prepared = shown.preparation if shown is not None else None
        updates = isinstance(prepared, Preparation) and prepared.previous_compaction >= 0
        asks = used[1] if updates else used[0]
        changed = [name for name in used if name in self._states and self._states[name].changed]
        return asks if asks in changed or not changed else changed[0]

    # the dialog --------------------------------------------------------------------------------

    def open(self, name: str = "") -> None:
        """Open the workshop, at a text."""
        if self._state.bench is None:
            return
        self._prompts.refresh()
        if self._dialog is None:
            self._dialog = self._made()
        dialog = self._dialog
        self._states = {state.info.name: state for state in self._prompts.states()}
        self._show_list()
        wanted = name or dialog.name or self._first_used()
        present(dialog)
        if dialog.list.name == wanted:
            self._show(wanted)
        dialog.list.select(wanted)
        dialog.list.setFocus()

    def _made(self) -> WorkshopDialog:
        dialog = WorkshopDialog(self._state.window)
        dialog.list.chosen.connect(self._show)
        dialog.edited.connect(self._edited)
        dialog.save_asked.connect(self._save)
        dialog.reset_asked.connect(self._ask_reset)
        dialog.undone.connect(self._undo)
        dialog.tab_shown.connect(lambda _tab: self._fill_tab())
        dialog.closing.connect(self.keep_unsaved)
        self._loader.loaded.connect(dialog.preview.show_preview)
        self._loader.failed.connect(dialog.preview.show_problem)
        self._trial = TrialController(self._state, dialog)
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
        """The user's text, a broken one too, so that it can be put right."""
        try:
            user_text = self._prompts.user_text(name)
        except TemplateError:
            user_text = None
        return self._prompts.shipped(name) if user_text is None else user_text

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
        dialog, window = self._dialog, self._state.window
        if dialog is None or not dialog.isVisible() or dialog.tab != "request":
            return
        name, text = dialog.name, dialog.text
        broken = [one.message for one in self._prompts.check(name, text) if one.breaks]
        if broken:
            self._loader.forget()
            dialog.preview.show_problem(f"There is no request with this text. {broken[0]}")
            return
        panel = window.compaction
        tools = self._agent.tools.tool_set()
        where = Where(
            self._state.document, panel.partition, panel.instructions(),
            panel.chosen_model(), tools if isinstance(tools, InFolder) else None, today(),
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
        confirm(
            dialog,
            "Reset to shipped",
            "Send the text that came with the program again?",
            "Your versions are kept; any of them can be taken again.",
            "&Reset",
            lambda: self._reset(name),
            Role.AcceptRole,
        )

    def _reset(self, name: str) -> None:
        self._unsaved.pop(name, None)
        self._do(name, lambda: self._reset_words(name))

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
        if self._state.bench is not None:
            try:
                self._prompts.store_unsaved(self._unsaved)
            except TemplateError as error:
                self._state.notice("error", f"Changes of prompts are not kept: {error}")

    def stop(self) -> None:
        """The window is closed: a trial under way ends, what is not saved stays in the dialog."""
        if self._trial is not None:
            self._trial.stop()
        if self._unsaved or self._dialog is not None:
            self.keep_unsaved()
