"""A replay of a recorded session in a new session, through the agent's loop.

The model and the tools answer with what was recorded; compactions are decided anew.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from explorer.agent.loop import TurnLimits
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.turn_interface import Stored, TurnEvent, UserPrompt
from explorer.audit.simulation import Policy, past_of
from explorer.audit.simulation.policy import Measure
from explorer.audit.simulation.track import first_change
from explorer.compaction.context_size import counted_size
from explorer.models.client import (
    EXTRACTIVE,
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ImagePart,
    ModelError,
    ModelInfo,
    ModelRequest,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    ToolSpec,
    Usage,
    UsageReport,
)
from explorer.models.retry import RetryPolicy
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.recorded_session import EntryMap, RecordedSession, Scene, scenes
from explorer.session.edit_entries import CUSTOM_TYPES
from explorer.session.entries import (
    AssistantMessage,
    Content,
    CustomData,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
    images_of,
    text_of,
)
from explorer.session.text import well_formed
from explorer.tokens.estimate import estimate_message, estimate_text

PIECE = 24
"""UTF-16 units of one piece of text: about six tokens."""
_TICK_S = 0.02
_STOPS: Mapping[str, StopReason] = {"length": "length", "tool_calls": "tool_calls"}


class Pace:
    """How fast a replay goes, and whether it is paused. Used from any thread."""

    def __init__(self, tokens_per_s: float = 200.0) -> None:
        """``tokens_per_s``: 0 plays everything at once."""
        self.tokens_per_s = tokens_per_s
        self._goes = threading.Event()
        self._goes.set()

    @property
    def is_paused(self) -> bool:
        """Whether playing waits for ``go_on``."""
        return not self._goes.is_set()

    def pause(self) -> None:
        """Pause after the piece that is replayed now."""
        self._goes.clear()

    def go_on(self) -> None:
        """Go on."""
        self._goes.set()

    def wait(self, tokens: float, cancelled: Callable[[], bool]) -> None:
        """Wait as long as so many tokens take, and while the replay is paused. Blocks."""
        left = tokens / self.tokens_per_s if self.tokens_per_s > 0 else 0.0
        while left > 0 and not cancelled():
            step = min(left, _TICK_S)
            threading.Event().wait(step)
            left -= step
        while not cancelled() and not self._goes.wait(_TICK_S):
            continue


class RecordedModel:
    """Answers every request with the next reply that it was given.

    What was asked is not looked at: a recording cannot answer otherwise. It reports tokens as a
    provider does, since some profiles go by nothing else: ``prompt_of`` says what the provider of
    the recording would have counted.
    """

    def __init__(
        self,
        pace: Pace,
        window: int | None = None,
        prompt_of: PromptOf | None = None,
        refuses: Callable[[], bool] = lambda: True,
    ) -> None:
        """``window``: tokens that a request may take; a larger one is refused, as long as
        ``refuses`` says so. ``prompt_of``: without it the request is estimated."""
        self._pace = pace
        self._window = window
        self._prompt_of = prompt_of
        self._refuses = refuses
        self._is_stuck = False
        """The next reply was refused already: it is given all the same when it is asked again."""
        self.too_large = 0
        """Requests that were larger than the window, and were answered as in the recording."""
        self._replies: deque[AssistantMessage] = deque()
        self._lock = threading.Lock()

    def load(self, replies: Iterable[AssistantMessage]) -> None:
        """Load the messages that come next; what was left of others is dropped."""
        with self._lock:
            self._replies = deque(replies)

    @property
    def is_stuck(self) -> bool:
        """The last request was refused as too large."""
        return self._is_stuck

    @property
    def left(self) -> int:
        """Replies that were not asked for yet."""
        with self._lock:
            return len(self._replies)

    def answer(
        self, request: ModelRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
    ) -> None:
        """Play one reply. Raises ModelError: overflow for a request that is larger than the
        window, which leaves the reply for the next; unavailable where the recording has none."""
        with self._lock:
            next_one = self._replies[0] if self._replies else None
        if self._prompt_of is not None and next_one is not None:
            read = self._prompt_of(next_one)
        else:
            read = sum(map(_tokens, request.messages))
        if self._window is not None and read > self._window:
            self._is_stuck = self._refuses() and not self._is_stuck
            if self._is_stuck:
                reason = (
                    f"The request takes {read:,} tokens, and the window holds {self._window:,}."
                )
                raise ModelError("overflow", reason)
            self.too_large += 1
        self._is_stuck = False
        with self._lock:
            message = self._replies.popleft() if self._replies else None
        if message is None:
            raise ModelError("unavailable", "The recording holds no further reply here.")
        written = 0
        for event, tokens in _events(message):
            self._pace.wait(tokens, cancelled)
            if cancelled():
                return
            written += tokens
            emit(event)
        if self._prompt_of is not None:
            written = estimate_message(message)
        emit(UsageReport(Usage(read, written, total=read + written)))
        emit(Finished(_STOPS.get(message.stop_reason, "stop")))


PromptOf = Callable[[AssistantMessage], int]
"""Tokens of the prompt of a recorded reply in the context that it is given in now."""


def _tokens(message: ChatMessage) -> int:
    calls = "".join(f"{call.name}{call.arguments}" for call in message.tool_calls)
    return estimate_text(message.text + calls)


def _events(reply: AssistantMessage) -> Iterable[tuple[Event, int]]:
    """The events of a reply, each with its tokens by the estimate."""
    for block in reply.content:
        if isinstance(block, TextBlock | ThinkingBlock):
            make = TextDelta if isinstance(block, TextBlock) else ThinkingDelta
            for piece in _pieces(well_formed(block.text)):
                yield make(piece), estimate_text(piece)
    for called in reply.calls:
        call = ToolCall(called.id, called.name, dict(called.named_arguments))
        yield ToolCallReady(call), estimate_text(str(call.arguments))


def _pieces(text: str) -> Iterable[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


class RecordedTools:
    """Gives every call the result that was recorded for it; nothing is run."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._answers: dict[str, ToolResultMessage] = {}
        self._names: tuple[str, ...] = ()

    def load(
        self, replies: Iterable[AssistantMessage], answers: Mapping[str, ToolResultMessage]
    ) -> None:
        """Load the replies that come next, and the results of their calls by the id of the call."""
        self._answers = dict(answers)
        called = (call.name for reply in replies for call in reply.calls)
        self._names = tuple(dict.fromkeys(called))

    def specs(self) -> tuple[ToolSpec, ...]:
        """A specification for each tool that is called next, by its recorded name."""
        return tuple(ToolSpec(name, "Gives what was recorded.") for name in self._names)

    def is_exclusive(self, call: ToolCall) -> bool:
        """False: recorded results change nothing."""
        return False

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """The recorded result, or one that says that there is none."""
        message = self._answers.get(call.id)
        if message is None:
            return ToolOutcome("The recording holds no result of this call.", is_error=True)
        details = message.details
        return ToolOutcome(
            text_of(message.content),
            message.is_error,
            _pictures(message.content),
            dict(details) if isinstance(details, Mapping) else {},
        )


def _pictures(content: Content) -> tuple[ImagePart, ...]:
    return tuple(ImagePart(image.mime, image.data) for image in images_of(content))


PREFIX = "replay/"
LONGEST_NAME = 40
"""Characters of a title in the name of the model that plays it."""
_UNNAMED = re.compile(r"[\W_]+")
_ONCE = RetryPolicy(tries=1)


def model_of(document: Document) -> str:
    """The name under which a recorded session answers: its title, as a name is written."""
    name = _UNNAMED.sub("-", document.title.casefold())[:LONGEST_NAME].strip("-")
    return f"{PREFIX}{name or document.key}"


def rules_of_play(rules: EffectiveRules) -> EffectiveRules:
    """The rules as a replay follows them: no confirmation, summaries made on this machine, and
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


def in_proportion(rules: EffectiveRules, window: int) -> EffectiveRules:
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


class Played(Struct, frozen=True):
    """How a play ended, and how far it came, in steps of the recording."""

    end: Literal["done", "stopped", "failed"]
    steps: int
    error: str = ""


class Player:
    """Plays one recording into one session. Lives on the thread of the session's loop."""

    def __init__(
        self,
        play: RecordedSession,
        target: Document,
        rules: Callable[[], EffectiveRules],
        pace: Pace | None = None,
        window: int | None = None,
        on_pause: Callable[[], None] = lambda: None,
    ) -> None:
        """``rules``: asked at every decision, so that a change of profile counts at once.
        ``window``: tokens of the context window in the replay; None: as in the rules.
        ``on_pause``: called when it pauses after a step."""
        self.play = play
        self.target = target
        self.pace = pace or Pace()
        self.model = model_of(play.document)
        self.automatic = AutomaticCompaction(
            target, lambda: rules_of_play(rules()), lambda: self._measure.beyond
        )
        self.position = 0
        """Steps that were played, or left out since they cannot be."""
        self._on_pause = on_pause
        self._window = window
        self._changed = first_change(play.document.tree, play.leaf)
        """From there on the recording's reports are of other contexts than are played."""
        self._playing: Scene | None = None
        self._entry_map = EntryMap(play.document.tree, target.tree)
        self._answers = RecordedModel(self.pace, window, self._prompt_tokens, self._recovers)
        self._measure = Measure()
        """From the entries of a context to what the recording's provider counts."""
        self._tools = RecordedTools(self.pace)
        self._step_only = False

    @property
    def too_large(self) -> int:
        """Requests larger than the window that were answered as in the recording, since no
        compaction helped, or the profile makes none."""
        return self._answers.too_large

    @property
    def measure(self) -> Measure:
        """From the entries of a context to what the recording's provider counts."""
        return self._measure

    def _recovers(self) -> bool:
        return self.automatic.rules.profile.overflow_recovery

    def _prompt_tokens(self, reply: AssistantMessage) -> int:
        """As a walk without a model counts it (``what-if``): what was reported, while the context
        is the recorded one; then by the line through all reports of the session."""
        context, prompts = self.target.context(), self.automatic.prompts
        is_recorded = context.compaction < 0 and not (
            context.pruned or context.again or context.omitted
        )
        if is_recorded and reply.usage is not None and self._next_reply < self._changed:
            reported = reply.usage.context - estimate_message(reply)
            if reported > 0:
                return reported
        if prompts.is_active and prompts.rendering is not None:
            return self._measure.prompt(prompts.rendering.tokens)
        counted = counted_size(self.target.tree, context, self.automatic.rules.profile)
        return self._measure.prompt(counted)

    @property
    def _next_reply(self) -> int:
        """The recorded reply that is played next."""
        replies = self._playing.replies if self._playing is not None else ()
        left = self._answers.left
        return replies[len(replies) - left].entry if 0 < left <= len(replies) else -1

    def step(self) -> None:
        """Replay to the next message that is not a reply, and pause there."""
        self._step_only = True
        self.pace.go_on()

    async def run(self, cancel: CancelToken, on_event: Callable[[TurnEvent], None]) -> Played:
        """Replay from the present position to the end. Raises StoreError."""
        info = ModelInfo(self.model, f"Replay of {self.play.document.title}", self._window, None,
                         True, 0.0, 0.0)  # fmt: skip
        self._measure = await asyncio.to_thread(self._measured)
        forget = self.target.shared.client.serve(info, self._answers.answer)
        try:
            for scene in scenes(self.play, self.position):
                await self._wait_while_paused(cancel)
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

    def _measured(self) -> Measure:
        """How the recording's provider counts what the estimate counts here."""
        document, rules = self.play.document, self.automatic.rules
        policy = Policy(rules.profile, rules.settings)
        return past_of(document.tree, self.play.leaf, policy=policy).recorded.measure

    async def _wait_while_paused(self, cancel: CancelToken) -> None:
        if self._step_only and self.position:
            self._step_only = False
            self.pace.pause()
            self._on_pause()
        # The pace is set from any thread, so there is no event of this loop's to wait for.
        while self.pace.is_paused and not cancel.cancelled:  # noqa: ASYNC110
            await asyncio.sleep(_TICK_S)

    async def _scene(
        self, scene: Scene, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> str:
        """Play one scene; what went wrong, as a sentence, empty for nothing."""
        self._playing = scene
        replies = self.play.replies(scene.replies)
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
        # A message in the middle of a turn begins a scene: the one before ends with its tools.
        limits = TurnLimits(rounds=len(replies), tokens=None, same_calls=None)
        result = (
            await SessionTurns(
                self.target, self.model, self._tools, cancel, watch,
                self.automatic, _ONCE, limits=limits,
            ).say(self._prompt(opening.entry))
            if opening is not None and opening.kind == "prompt"
            else await SessionTurns(
                self.target, self.model, self._tools, cancel, watch, self.automatic, _ONCE,
                limits=limits,
            ).resume()
        )  # fmt: skip
        while result.end == "failed" and self._answers.is_stuck and not cancel.cancelled:
            # Nothing made enough room: the recording goes on all the same, and that is counted.
            result = await SessionTurns(
                self.target, self.model, self._tools, cancel, watch, self.automatic, _ONCE,
                limits=replace(limits, rounds=self._answers.left),
            ).resume()  # fmt: skip
        if result.end == "failed":
            return result.error
        if not cancel.cancelled:
            await self._take_over(scene, on_event)
        self._pair(scene, before)
        return ""

    async def _copy(self, entry: int, on_event: Callable[[TurnEvent], None]) -> None:
        """Copy an entry; a pin or an omission names the copies of its entries."""
        body = self.play.copied(entry)
        shape = self.play.document.tree.columns.shapes.get(entry)
        if shape is not None:
            data = self._entry_map.shape(shape)
            if data is None:
                return
            body = CustomData(CUSTOM_TYPES[shape.kind], data)
        stored = await self.target.writer.append(body, self.target.leaf)
        self._entry_map.copied(entry, stored)
        on_event(Stored(stored))

    def _pair(self, scene: Scene, before: int) -> None:
        """Remember which entries the messages of a scene became."""
        played = [scene.opening.entry] if scene.opening is not None else []
        for step in scene.replies:
            played += [step.entry, *self.play.results.get(step.entry, ())]
        path = self.target.tree.path(self.target.leaf)
        self._entry_map.played(played, path[path.position(before) + 1 :].indices())

    async def _take_over(self, scene: Scene, on_event: Callable[[TurnEvent], None]) -> None:
        """Replies without a request, since the one before was an end, are taken over as they
        are, with their results."""
        unasked = scene.replies[len(scene.replies) - self._answers.left :]
        self._answers.load(())
        for step in unasked:
            for entry in (step.entry, *self.play.results.get(step.entry, ())):
                body = self.play.copied(entry)
                stored = await self.target.writer.append(body, self.target.leaf)
                on_event(Stored(stored))

    def _prompt(self, entry: int) -> UserPrompt:
        content = self.play.document.payloads.stored.entry(entry).content
        return UserPrompt(well_formed(text_of(content)), _pictures(content))


def _length(scene: Scene) -> int:
    return len(scene.replies) + (scene.opening is not None)
