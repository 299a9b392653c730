"""Playing a recorded session again, in a new session that is shown while it grows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.agent.turn_interface import TurnEvent
from explorer.models.client import CancelToken
from explorer.services.changes import CompactionEnded, PruneMade
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.recorded_session import recorded_session
from explorer.services.session_replay import Pace, Played, Player, in_proportion
from explorer.store.rows import StoreError
from ui.app_state import AGENT_MODEL, AppState
from ui.conversation.controller import AgentController
from ui.library.controller import SessionsController
from ui.replay.dialog import PlayableSession, ReplayDialog
from ui.replay.strip import ReplayStrip
from ui.shell.dialogs import open_once
from ui.widgets.figures import count

DEFAULT_WINDOW = 16_000
"""Small enough for a session of an hour to be compacted more than once."""


class ReplayController(QObject):
    """One replay at a time; it counts as work of the agent, and Esc ends it like that."""

    def __init__(
        self, state: AppState, sessions: SessionsController, agent: AgentController
    ) -> None:
        super().__init__(state)
        self._state = state
        self._sessions = sessions
        self._agent = agent
        self._player: Player | None = None
        self._happened = [0, 0]
        self.dialog: ReplayDialog | None = None
        self.strip = ReplayStrip(state.window.agent)
        state.window.agent.add_strip(self.strip)
        self.strip.paused.connect(self._pause)
        self.strip.stepped.connect(self._step)
        self.strip.stopped.connect(agent.stop)
        self.strip.speed_chosen.connect(self._set_speed)
        state.bus.on(CompactionEnded, self._count_compaction)
        state.bus.on(PruneMade, self._count_prune)

    def ask(self) -> None:
        """Ask what is to be played, and how."""
        state = self._state
        if state.bench is None:
            return
        if self._agent.running:
            state.say("The agent is still at work; stop it first.")
            return
        found = [
            PlayableSession(row.key, row.title or "Untitled session")
            for row in state.bench.sessions()
        ]
        if not found:
            state.say("There is no session to replay yet: import one, or look at the example.")
            return
        key = state.document.key if state.document is not None else found[0].key
        self.dialog = dialog = ReplayDialog(
            found, key, DEFAULT_WINDOW, state.profile.title, state.window
        )
        dialog.chosen.connect(self.play)
        open_once(dialog)

    def play(self, key: int, window: int, shrinks: bool, speed: float) -> None:
        """Play a stored session in a context window of so many tokens."""
        work = self._prepare(key, window, shrinks, speed)
        self._state.tasks.start("Preparing the replay", work)

    async def _prepare(self, key: int, window: int, shrinks: bool, speed: float) -> None:
        state, bench = self._state, self._state.bench
        assert bench is not None
        try:
            source = await bench.open(key)
            stage = await bench.create(source.header.cwd, f"Replay of {source.title}")
        except (StoreError, ValueError) as error:
            state.notice("error", str(error), "The recorded session was not changed.")
            return

        def rules() -> EffectiveRules:
            now = self._agent.automatic.rules(stage)
            return in_proportion(now, window) if shrinks else now

        player = Player(
            recorded_session(source), stage, rules, Pace(speed), window,
            on_pause=lambda: self.strip.show_paused(True),
        )  # fmt: skip
        stage.choices.set(AGENT_MODEL, player.model)
        await self._sessions.open_now(stage.key)
        if state.document is stage:
            self._agent.turns.start("The replay", lambda cancel: self._play(player, cancel))

    async def _play(self, player: Player, cancel: CancelToken) -> None:
        state, stage, pane = self._state, player.target, self._state.window.agent
        self._player, self._happened = player, [0, 0]
        release = self._agent.automatic.adopt(stage, player.automatic)
        self.strip.begin(player.play.document.title, player.pace.tokens_per_s)
        self.strip.show_progress(0, len(player.play))
        pane.set_running(True, "replaying…")

        def on_event(event: TurnEvent) -> None:
            self.strip.show_progress(player.position, len(player.play))
            self.strip.show_paused(player.pace.is_paused)
            pane.turn_event(event)

        try:
            self._tell(player, await player.run(cancel, on_event))
        except StoreError as error:
            state.notice("error", str(error), "What was played so far is kept.")
        finally:
            self._player = None
            self.strip.hide()
            release()
            self._forget_model(stage)

    def _forget_model(self, stage: Document) -> None:
        """Drop the replay's model, so that a continued session uses the person's choice."""
        stage.choices.set(AGENT_MODEL, None)
        if self._state.document is stage:
            self._state.forget_model(AGENT_MODEL)

    def _count_compaction(self, change: CompactionEnded) -> None:
        if self._is_played(change.key) and change.entry >= 0:
            self._happened[0] += 1

    def _count_prune(self, change: PruneMade) -> None:
        if self._is_played(change.key):
            self._happened[1] += 1

    def _is_played(self, key: int) -> bool:
        return self._player is not None and self._player.target.key == key

    def _tell(self, player: Player, played: Played) -> None:
        compacted = count(self._happened[0], "compaction")
        what = f"{compacted}, {count(self._happened[1], 'prune')}"
        far = f"{played.steps:,} of {len(player.play):,} messages"
        if played.end == "failed":
            self._state.notice(
                "warning", f"The replay ended after {far}: {played.error}",
                f"{what}. What was played is kept as a session.",
                "A real agent would be stuck here too, under these rules.",
            )  # fmt: skip
        else:
            ended = "to its end" if played.end == "done" else f"until {far}"
            self._state.say(f"Replayed {ended} under {self._state.profile.title}: {what}.")

    # steering ------------------------------------------------------------------------------------

    def _with(self, do: Callable[[Player], None]) -> None:
        if self._player is not None:
            do(self._player)
            self.strip.show_paused(self._player.pace.is_paused)

    def _pause(self, on: bool) -> None:
        self._with(lambda player: player.pace.pause() if on else player.pace.go_on())

    def _step(self) -> None:
        self._with(lambda player: player.step())

    def _set_speed(self, tokens: float) -> None:
        self._with(lambda player: setattr(player.pace, "tokens_per_s", tokens))
