"""A play of a recorded session in a session of its own, through the agent's own loop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from explorer.agent.limits import TurnLimits
from explorer.agent.loop import Stored, TurnEvent
from explorer.agent.prompt import Prompt
from explorer.models.door import EXTRACTIVE, CancelToken, ImagePart, ModelInfo
from explorer.models.retry import RetryPolicy
from explorer.session.edit_entries import CUSTOM_TYPES
from explorer.session.text import blocks_of, well_formed
from explorer.work.automatic import AutomaticCompaction
from explorer.work.document import Document
from explorer.work.replay.answering import Pace, RecordedModel, RecordedTools
from explorer.work.replay.recorded import Recorded, Scene, scenes
from explorer.work.replay.twins import Twins
from explorer.work.rules import AutomaticRules
from explorer.work.talk import resume_turn, start_turn

PREFIX = "replay/"
LONGEST_NAME = 40
"""Characters of a title in the name of the model that plays it."""
_UNNAMED = re.compile(r"[\W_]+")
_TICK_S = 0.02
_ONCE = RetryPolicy(tries=1)


def model_of(document: Document) -> str:
    """The name under which a recorded session answers: its title, as a name is written."""
    name = _UNNAMED.sub("-", document.title.casefold())[:LONGEST_NAME].strip("-")
    return f"{PREFIX}{name or document.key}"


def rules_of_play(rules: AutomaticRules) -> AutomaticRules:
    """The rules as a play follows them: nobody is asked, summaries are made on this machine, and
    nothing but the recording prompts the agent."""
    return replace(
        rules,
        profile=replace(rules.profile, remote_endpoint=""),
        summary_model=EXTRACTIVE,
        fallbacks=(),
        summary_models=lambda _model: (EXTRACTIVE,),
        auto_continue=False,
        ask_first=False,
        enabled=True,
    )


def in_proportion(rules: AutomaticRules, window: int) -> AutomaticRules:
    """The rules for a smaller context window: what is kept and what is reserved, in tokens, shrink
    with it. A larger window changes nothing."""
    sizes = rules.settings
    part = window / sizes.context_window
    if part >= 1:
        return rules
    smaller = replace(
        sizes,
        keep_recent_tokens=max(1, round(sizes.keep_recent_tokens * part)),
        reserve_tokens=max(1, round(sizes.reserve_tokens * part)),
    )
    return replace(rules, settings=smaller)


@dataclass(frozen=True, slots=True)
class Played:
    """How a play ended, and how far it came, in steps of the recording."""

    end: Literal["done", "stopped", "failed"]
    steps: int
    error: str = ""


class Player:
    """Plays one recording into one session. Lives on the thread of the session's loop."""

    def __init__(
        self,
        play: Recorded,
        target: Document,
        rules: Callable[[], AutomaticRules],
        pace: Pace | None = None,
        window: int | None = None,
    ) -> None:
        """``rules``: asked at every decision, so that a change of profile counts at once.
        ``window``: tokens of the context window that is played with; None: as the rules say."""
        self.play = play
        self.target = target
        self.pace = pace or Pace()
        self.model = model_of(play.document)
        self.automatic = AutomaticCompaction(target, lambda: rules_of_play(rules()))
        self.position = 0
        """Steps that were played, or left out since they cannot be."""
        self.stood_still: Callable[[], None] = lambda: None
        """Called when it stands still by itself, after a step."""
        self._window = window
        self._twins = Twins(play.document.tree, target.tree)
        self._answers = RecordedModel(self.pace, window)
        self._tools = RecordedTools(self.pace)
        self._step_only = False

    def step(self) -> None:
        """Play to the next message that is not a reply, and stand still there."""
        self._step_only = True
        self.pace.go_on()

    async def run(self, cancel: CancelToken, on_event: Callable[[TurnEvent], None]) -> Played:
        """Play from where it stands to the end. Raises StoreError."""
        info = ModelInfo(self.model, f"Replay of {self.play.document.title}", self._window, None,
                         True, 0.0, 0.0)  # fmt: skip
        forget = self.target.door.serve(info, self._answers.answer)
        try:
            for scene in scenes(self.play, self.position):
                await self._stand_still(cancel)
                if cancel.cancelled:
                    return Played("stopped", self.position)
                error = await self._scene(scene, cancel, on_event)
                if error:
                    return Played("failed", self.position, error)
                if not cancel.cancelled:
                    self.position = scene.first + _length(scene)
            return Played("stopped" if cancel.cancelled else "done", self.position)
        finally:
            forget()
            self.automatic.close()

    async def _stand_still(self, cancel: CancelToken) -> None:
        if self._step_only and self.position:
            self._step_only = False
            self.pace.pause()
            self.stood_still()
        # The pace is told from any thread, so there is no event of this loop's to wait for.
        while self.pace.is_paused and not cancel.cancelled:  # noqa: ASYNC110
            await asyncio.sleep(_TICK_S)

    async def _scene(
        self, scene: Scene, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> str:
        """Play one scene; what went wrong, as a sentence, empty for nothing."""
        replies = [self.play.message(step.entry) for step in scene.replies]
        self._answers.load(replies)
        answers = [self.play.answers(step.entry) for step in scene.replies]
        self._tools.load(replies, dict(pair for each in answers for pair in each.items()))

        def watch(event: TurnEvent) -> None:
            if isinstance(event, Stored):
                self.position = scene.first + _length(scene) - self._answers.left
            on_event(event)

        opening = scene.opening
        before = self.target.leaf
        if opening is not None and (opening.kind == "copy" or not replies):
            await self._copy(opening.entry, on_event)
        if not replies:
            return ""
        # What was said in the middle of a turn begins a scene: the one before ends with its tools.
        limits = TurnLimits(rounds=len(replies), tokens=None, same_calls=None)
        result = (
            await start_turn(
                self.target, self.model, self._tools, self._prompt(opening.entry), cancel, watch,
                self.automatic, _ONCE, limits=limits,
            )
            if opening is not None and opening.kind == "prompt"
            else await resume_turn(
                self.target, self.model, self._tools, cancel, watch, self.automatic, _ONCE,
                limits=limits,
            )
        )  # fmt: skip
        if result.end == "failed":
            return result.error
        if not cancel.cancelled:
            await self._take_over(scene, on_event)
        self._pair(scene, before)
        return ""

    async def _copy(self, entry: int, on_event: Callable[[TurnEvent], None]) -> None:
        """Take an entry over as it is; what a person said of entries is said of their twins."""
        kind, fields = self.play.copied(entry)
        shape = self.play.document.tree.columns.shapes.get(entry)
        if shape is not None:
            data = self._twins.shape(shape)
            if data is None:
                return
            kind, fields = "custom", {"custom_type": CUSTOM_TYPES[shape.kind], "data": data}
        stored = await self.target.writer.append(kind, self.target.leaf, **fields)
        self._twins.copied(entry, stored)
        on_event(Stored(stored))

    def _pair(self, scene: Scene, before: int) -> None:
        """Remember which entries the messages of a scene became."""
        played = [scene.opening.entry] if scene.opening is not None else []
        for step in scene.replies:
            played += [step.entry, *self.play.results.get(step.entry, ())]
        path = self.target.tree.path(self.target.leaf)
        self._twins.played(played, path[path.position(before) + 1 :].indices())

    async def _take_over(self, scene: Scene, on_event: Callable[[TurnEvent], None]) -> None:
        """Replies that nobody asked for, since the one before was an end, are taken over as they
        are, with their results."""
        unasked = scene.replies[len(scene.replies) - self._answers.left :]
        self._answers.load(())
        for step in unasked:
            for entry in (step.entry, *self.play.results.get(step.entry, ())):
                kind, fields = self.play.copied(entry)
                stored = await self.target.writer.append(kind, self.target.leaf, **fields)
                on_event(Stored(stored))

    def _prompt(self, entry: int) -> Prompt:
        message = self.play.message(entry)
        blocks = blocks_of(message.get("content"))
        texts = [str(b.get("text", "")) for b in blocks if b.get("type") == "text"]
        images = tuple(
            ImagePart(str(b.get("mimeType", "")), str(b.get("data", "")))
            for b in blocks
            if b.get("type") == "image"
        )
        return Prompt(well_formed("\n".join(texts)), images)


def _length(scene: Scene) -> int:
    return len(scene.replies) + (scene.opening is not None)
