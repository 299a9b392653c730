"""The state that all controllers share: the workbench, the open document, the effective rules and
models, the running tasks, and how the person is notified."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from explorer.compaction.profile import BASES, PROFILES, Profile, Settings
from explorer.models.catalogue import REMOTE, cannot_summarize, only_summarizes
from explorer.models.client import ModelInfo
from explorer.services.document import Document
from explorer.services.effective_rules import summarizer_of
from explorer.services.team_sessions import FIRST_KEY, TeamSession, TeamSessions
from explorer.settings.effective import (
    WINDOW_KEY,
    Chosen,
    Ground,
    Rules,
    chosen_from,
    rules_of,
    summary_models,
    with_profile,
    with_rules,
    with_sizes,
    with_window,
    without_key,
)
from explorer.settings.live import live_settings, project_of
from explorer.settings.preferences import Preferences, save_preferences
from explorer.settings.profile_files import (
    ProfileFiles,
)
from explorer.workbench import Workbench
from ui.bus import Bus
from ui.main_window import MainWindow
from ui.widgets.notice import Notice


class TaskOwner:
    """Starts coroutines, reports what they raise, and cancels what still runs on close."""

    def __init__(self, report: Callable[[str, BaseException, str], None]) -> None:
        self._report = report
        self._tasks: dict[asyncio.Task[Any], str] = {}

    def start(self, what: str, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run ``work``; ``what`` names it for the person should it fail ("Opening x")."""
        task = asyncio.ensure_future(work)
        self._tasks[task] = what
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        what = self._tasks.pop(task, "")
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._report(what, error, "".join(traceback.format_exception(error)))

    @property
    def running(self) -> list[str]:
        return list(self._tasks.values())

    async def close(self) -> None:
        """Cancel what runs and wait until it has ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)


SUMMARY_MODEL, AGENT_MODEL = "summary_model", "agent_model"
"""Names under which a session keeps the models chosen in it."""

MODEL_KEYS = {SUMMARY_MODEL: "compaction.model", AGENT_MODEL: "agent.model"}

REST_MS = 400
"""How long a size must not change before it is stored with the session."""

BREATH_S = 0.005
"""Seconds between two pieces of work that each take some ms: long enough for Qt to handle keys and
paints, which a pause of 0 s is not."""


class AppState(QObject):
    """State of one window. Views never ask each other; they are refreshed from here."""

    opened = Signal()
    """The workbench was set."""
    document_changed = Signal()
    """Another document is shown. Slow panes are filled later, by ``fillers``."""
    document_leaving = Signal()
    """The document that is shown is about to be left."""
    settings_changed = Signal()
    models_changed = Signal()
    """The models that can be chosen, or the chosen ones, may have changed."""
    state_changed = Signal()
    """Something changed that decides which actions are enabled."""

    def __init__(self, window: MainWindow, preferences: Preferences) -> None:
        super().__init__(window)
        self.window = window
        self.preferences = preferences
        self.tasks = TaskOwner(self.report)
        self.bench: Workbench | None = None
        self.team_sessions: TeamSessions | None = None
        """The sessions of teams that were looked at; made for the first of them."""
        self.document: Document | None = None
        self._notice: Notice | None = None
        """What was last said while a session was open."""
        self.bus = Bus(lambda: self.document.key if self.document is not None else 0)
        self.is_changing = False
        """Another document is being shown; ``state_changed`` follows at the end."""
        self.fillers: list[Callable[[], None]] = []
        """Fill slow panes with another document, once the map is painted."""
        self.agent_running = False
        self.profiles: Mapping[str, Profile] = BASES
        """All profiles there are."""
        self.read_profiles()
        self.live = live_settings(lambda: self.profiles)
        """The settings of the person and of projects."""
        self.project: Path | None = None
        """The folder that the session shown worked in, or the one above it that has settings."""
        self.chosen = Chosen()
        """What the session shown chose for itself."""
        self._recorded_window: int | None = None
        self._inferred_window = 0
        self._before_trial: Chosen | None = None
        self._models: dict[str, str] = {}
        self.profile: Profile = PROFILES["explorer"]
        self.settings = Settings.of(self.profile)
        self._rule(tells=False)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._keep)

    def open(self, bench: Workbench) -> None:
        """Use this workbench; its database is open."""
        self.bench = bench
        self.bus.connect(bench)
        self.opened.emit()

    def bench_of(self, key: int) -> Workbench:
        """The workbench that opens a session: that of the person's own library, or the one of the
        sessions of teams."""
        team, own = self.team_sessions, self.bench
        assert own is not None
        return team.bench if team is not None and key >= FIRST_KEY else own

    @property
    def team_session(self) -> TeamSession | None:
        """The session of a team that is shown; None for one of the person's own."""
        document, team = self.document, self.team_sessions
        if document is None or team is None or document.key < FIRST_KEY:
            return None
        return team.origin(document.key)

    @property
    def read_only(self) -> str:
        """Why the session that is shown cannot be changed; empty where it can be."""
        return self.document.read_only if self.document is not None else ""

    def refuses(self) -> bool:
        """Whether the session that is shown cannot be changed; says why."""
        if why := self.read_only:
            self.say(why)
        return bool(why)

    @property
    def selected(self) -> int:
        """The entry that is selected on the map, or -1."""
        return self.window.map.selected

    def select(self, entry: int) -> None:
        """Select an entry on the map; everything that follows the selection shows it."""
        self.window.map.select(entry)

    # the rules ------------------------------------------------------------------------------------

    @property
    def values(self) -> Mapping[str, Any]:
        """The settings that are set for the session shown, as they stand now."""
        return self.live.values(self.project)

    @property
    def ground(self) -> Ground:
        """The settings below the choices of a session, as they are now."""
        values = with_window(self.values, self._recorded_window or self._inferred_window)
        return Ground(values, self.preferences.profile, self.profiles)

    @property
    def is_led_here(self) -> bool:
        """Whether our own agent answered last, or one whose sizes are followed here."""
        return self._recorded_window is None

    @property
    def is_window_known(self) -> bool:
        """Whether the window that is shown was recorded, set by a person, or is that of an agent
        whose sizes are followed here."""
        is_set = WINDOW_KEY in self.values or "context_window" in self.chosen.sizes
        return is_set or self._recorded_window != 0

    def read_window(self) -> None:
        """Follow the window that the session shown records at its leaf. Raises StoreError."""
        before = self._recorded_window, self._inferred_window
        self._take_windows(self.document)
        if before != (self._recorded_window, self._inferred_window):
            self._rule()

    def _take_windows(self, document: Document | None) -> None:
        usage = document.usage if document is not None else None
        self._recorded_window = usage.recorded_window if usage is not None else None
        self._inferred_window = 0
        if usage is not None and self._recorded_window == 0:
            self._inferred_window = usage.inferred_window

    def read_profiles(self) -> None:
        """Take up the user's profiles, as their files are now."""
        self.profiles = ProfileFiles().shelf().profiles()

    @property
    def unchanged_profile(self) -> Profile:
        """The profile as it is without the rules that the session shown changed."""
        return self._profile_of(replace(self.chosen, rules={}))

    def set_profile(self, name: str) -> None:
        """Follow the rules of another system, with its own sizes."""
        chosen = name in self.profiles and self._choose(with_profile(self.chosen, name))
        if chosen and self._before_trial is None:
            self.preferences.profile = name

    def set_rules(self, profile: Profile) -> None:
        """Follow a profile of which a rule was changed; it lasts until another is chosen."""
        self._choose(with_rules(self.chosen, profile, self.ground))

    def set_settings(self, settings: Settings) -> None:
        chosen = with_sizes(self.chosen, settings, self.ground)
        # A slider passes through a hundred sizes; the one where it rests is stored.
        self._choose(chosen, rests=False)

    def choose_again(self, chosen: Chosen) -> None:
        """Follow what the session chose before, such as when a choice is taken back."""
        self._choose(chosen)

    def try_rules(self, profile: Profile, settings: Settings) -> None:
        """Follow rules for a while: nothing that is chosen is stored until ``end_trial``."""
        if self._before_trial is None:
            self._keep()
            self._before_trial = self.chosen
        chosen = self._before_trial
        if profile != self._profile_of(chosen):
            chosen = with_profile(chosen, profile.name)
        self._choose(with_sizes(chosen, settings, self.ground))

    def _profile_of(self, chosen: Chosen) -> Profile:
        """The profile that some choices give."""
        return rules_of(chosen, self.ground).profile

    @property
    def is_trying(self) -> bool:
        """Whether rules are followed for a while only."""
        return self._before_trial is not None

    def end_trial(self) -> None:
        """Restore the rules that were in force before ``try_rules``."""
        before, self._before_trial = self._before_trial, None
        if before is not None:
            self._rest.stop()
            self.chosen = before
            self._rule()

    def session_choices(self) -> dict[str, Any]:
        """What the session shown chose for itself, by the name of the setting."""
        found = self.chosen.by_key(Rules(self.profile, self.settings))
        for choice, name in MODEL_KEYS.items():
            if choice in self._models:
                model = self._models[choice]
                found[name] = [model] if choice == SUMMARY_MODEL else model
        return found

    def forget_choice(self, name: str) -> None:
        """Let the session follow a setting again."""
        for choice, key in MODEL_KEYS.items():
            if key == name and self._models.pop(choice, "") and self.document is not None:
                self.document.choices.set(choice, None)
                self.models_changed.emit()
        self._choose(without_key(self.chosen, name))

    def _choose(self, chosen: Chosen, rests: bool = True) -> bool:
        """Take a session's own choices; whether they are others than before."""
        if chosen == self.chosen:
            return False
        self.chosen = chosen
        if rests:
            self._keep()
        else:
            self._rest.start()
        self._rule()
        return True

    def _rule(self, tells: bool = True) -> tuple[str, ...]:
        """Work out the rules anew, and tell the views of them when they changed; what of the
        session's own choices cannot be used."""
        before = self.profile, self.settings
        rules = rules_of(self.chosen, self.ground)
        self.profile, self.settings = rules.profile, rules.settings
        if self.document is not None:
            self.document.tokens.profile = self.profile
        if tells and before != (self.profile, self.settings):
            self.settings_changed.emit()
        return rules.mistakes

    def settings_file_changed(self) -> None:
        """The person's settings, or a project's, are not what they were."""
        self.read_profiles()
        self._rule()
        self.models_changed.emit()

    def summary_models(self) -> tuple[str, ...]:
        """The models to ask for a summary, in order: the session's own choice, else what the
        settings say, else the one chosen last, else the conversation's own (A43, A54)."""
        if chosen := self._models.get(SUMMARY_MODEL):
            return (chosen,)
        agent = self.agent_model()
        chosen = self.preferences.summary_model or summarizer_of(agent)
        models = summary_models(self.values, chosen, agent)
        return (REMOTE, *models) if self.profile.remote_endpoint else models

    def after(self, model: str) -> tuple[str, ...]:
        """The models to ask where a model fails that was the first choice (A43)."""
        first, *others = self.summary_models()
        return tuple(others) if model == first else ()

    def models_for(self, model: str) -> tuple[str, ...]:
        """The models that summarize for a model whose prompts have a budget: those that
        the session or the settings name, else the model itself (A54)."""
        if chosen := self._models.get(SUMMARY_MODEL):
            return (chosen,)
        return summary_models(self.values, model, model)

    def next_summarizer(self) -> str:
        """The model that is asked first for the next automatic summary, by the profile's rule."""
        if self.profile.prompt_budget is None:
            return self.summary_models()[0]
        return summarizer_of(self.models_for(self.agent_model())[0])

    def agent_model(self) -> str:
        """The model that answers: the session's own choice, the settings', the one chosen last."""
        chosen = self._models.get(AGENT_MODEL)
        return chosen or str(self.values.get("agent.model") or self.preferences.agent_model)

    def choose_model(self, choice: str, model: str) -> None:
        """Store a chosen model with the session, and as the default for sessions without one."""
        if choice == SUMMARY_MODEL:
            self.preferences.summary_model = model
        else:
            self.preferences.agent_model = model
        self._models[choice] = model
        if self.document is not None:
            self.document.choices.set(choice, model)
        self.models_changed.emit()

    def forget_model(self, choice: str) -> None:
        """Let the session shown follow the settings again in who is asked."""
        if self._models.pop(choice, None) is not None:
            self.models_changed.emit()

    def _keep(self) -> None:
        """A session is opened again with the rules and sizes that were last chosen in it."""
        self._rest.stop()
        if self.document is not None and self._before_trial is None:
            safe = self.chosen.to_json() if self.chosen != Chosen() else None
            self.document.choices.set("rules", safe)

    def _load_choices(self, document: Document) -> None:
        """The rules stored with a session; one without follows the settings."""
        self.project = project_of(document.header.cwd)
        self.chosen = Chosen()
        self._take_windows(document)
        choices = document.choices.all()
        names = (SUMMARY_MODEL, AGENT_MODEL)
        self._models = {n: str(choices[n]) for n in names if isinstance(choices.get(n), str)}
        try:
            self.chosen = chosen_from(choices.get("rules", choices.get("compaction")))
        except ValueError as error:
            self.say(str(error))
        for mistake in self._rule(tells=False):
            self.say(f"A rule kept with this session cannot be used: {mistake}.")

    def show(self, document: Document | None) -> None:
        """Make a document the one that the window shows; its ``fillers`` are to follow."""
        if self.document is not None:
            self.document_leaving.emit()
        if self.document is not document:
            self._drop_notice()
        if self._rest.isActive():
            self._keep()
        self.document = document
        if document is not None:
            self._load_choices(document)
        self.is_changing = True
        try:
            self.document_changed.emit()
            # Only now: views that follow the rules look at what the map has selected.
            self.settings_changed.emit()
        finally:
            self.is_changing = False
        self.state_changed.emit()
        if document is None:
            for fill in self.fillers:
                fill()

    def show_anew(self) -> None:
        """Let every pane read the document that is shown again."""
        document = self.document
        if document is None:
            return
        self.show(None)
        self.show(document)
        for fill in self.fillers:
            fill()

    def models(self, purpose: str) -> list[tuple[str, str]]:
        """(id, label) of the models that can do a job: ``summary`` or ``agent``."""
        if self.bench is None:
            return []
        cannot = cannot_summarize if purpose == "summary" else only_summarizes
        return [(m.id, m.label) for m in self.model_infos() if not cannot(m.id)]

    def model_infos(self) -> list[ModelInfo]:
        """What is known of the models that can be asked: the listed ones, and those that the
        settings name or a person chose besides."""
        if self.bench is None:
            return []
        client = self.bench.client
        listed = client.models()
        # A model that was chosen stays offered, with its key or without.
        named = (
            *self.values.get("compaction.model", ()),
            self.values.get("agent.model"),
            *self._models.values(),
            self.preferences.agent_model,
            self.preferences.summary_model,
        )
        known = {model.id for model in listed}
        missing = dict.fromkeys(name for name in named if name and name not in known)
        return [*listed, *(client.info(name) for name in missing)]

    # messages to the user ------------------------------------------------------------------------

    def notice(self, level: str, what: str, safe: str = "", todo: str = "", **more: Any) -> None:
        """Tell the person; ``level`` is info, done, warning or error. It goes when another session
        is opened."""
        notice = Notice(level, what, safe, todo, **more)  # type: ignore[arg-type]
        self._notice = notice if self.document is not None else None
        self.window.notices.show_notice(notice)

    def _drop_notice(self) -> None:
        """What was said in another session is not of this one."""
        if self._notice is not None and self.window.notices.notice is self._notice:
            self.window.notices.dismiss()
        self._notice = None

    def say(self, text: str) -> None:
        """Show a passing message in the status bar."""
        self.window.statusBar().showMessage(text, 6000)

    def report(self, what: str, error: BaseException, details: str) -> None:
        """Report a task that failed unexpectedly."""
        self.notice(
            "error",
            f"{what} did not work: {error or type(error).__name__}",
            "What was stored stays as it is.",
            "Try again; if it happens again, copy the details into a report.",
            details=details,
        )


LOOK_EVERY_MS = 1_500


class PreferenceWriter(QObject):
    """Writes the preferences on a worker thread when they have changed since the last check."""

    def __init__(self, state: AppState, preferences: Preferences, path: Path) -> None:
        super().__init__(state)
        self._state = state
        self._preferences = preferences
        self._path = path
        self._stored = deepcopy(preferences)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def stop(self) -> None:
        """The end of the window writes them for the last time."""
        self._timer.stop()

    def _look(self) -> None:
        if self._preferences != self._stored:
            self._stored = deepcopy(self._preferences)
            self._state.tasks.start("Keeping what was chosen", self._keep(self._stored))

    async def _keep(self, values: Preferences) -> None:
        try:
            await asyncio.to_thread(save_preferences, self._path, values)
        except OSError as error:
            # The end of the window tries again, and tells what it could not keep.
            self._state.say(f"What was chosen in the window cannot be kept: {error}")
