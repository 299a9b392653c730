"""One turn of the agent: the reply, the tools it asks for, and the replies after them.

Every message is appended as soon as it is complete, so that a crash leaves a session that can be
continued. A reply that was stopped or failed is stored with what had arrived, marked as such. A
call that fails before its first word may be tried again; a context that is too large is compacted
by the turn's context port and the reply requested again.

The calls of one reply run side by side where they only look, one by one where they change. Every
call gets a result, whatever happens to it. Results are stored in the order of the calls, each as
soon as it and all before it are there. An agent that repeats itself, the same calls with the same
results, is warned and then ended.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from explorer.agent.reply import PartialReply, ReplyClient, ReplyResult
from explorer.agent.tools.port import ToolOutcome, ToolSet
from explorer.agent.turn_interface import (
    ContextPort,
    MessageQueue,
    NoContextPort,
    Outgoing,
    RoundStarted,
    Steered,
    Stored,
    TooLarge,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnd,
    TurnEvent,
    TurnResult,
    UserPrompt,
    image_blocks,
)
from explorer.models.client import Cancelled, CancelToken, ChatMessage, Models, ToolCall
from explorer.models.events import done_or_cancelled
from explorer.models.retry import Retry, RetryPolicy, pause, wait_before_next
from explorer.session.entries import AssistantMessage, Message, ToolResultMessage, text_content

STOP_WAIT_S = 10.0
"""How long a stopped tool may take to end what it started."""

STOPPED_BEFORE = ToolOutcome("stopped by the person before it ran", True, details={"notRun": True})
NOT_RUN = ToolOutcome(
    "no result: the work was broken off before this call gave one; whether it ran is not known",
    True,
    details={"noResult": True},
)
"""Of a call that is found without a result, after a crash or in what another program wrote."""


def result_message(call: ToolCall, outcome: ToolOutcome, note: str = "") -> ToolResultMessage:
    """A call's result as it is stored; ``note`` goes beside it."""
    text = text_content(outcome.text) if outcome.text or not outcome.images else ()
    noted = text_content(note) if note else ()
    return ToolResultMessage(
        call.id,
        call.name,
        (*text, *image_blocks(outcome.images), *noted),
        outcome.is_error,
        details=dict(outcome.details) if outcome.details else None,
    )


def groups(
    calls: Sequence[ToolCall], is_exclusive: Callable[[ToolCall], bool]
) -> list[tuple[ToolCall, ...]]:
    """The calls in their order, those that may run beside each other together."""
    found: list[tuple[ToolCall, ...]] = []
    together: list[ToolCall] = []
    for call in calls:
        if not is_exclusive(call):
            together.append(call)
            continue
        if together:
            found.append(tuple(together))
            together = []
        found.append((call,))
    return [*found, tuple(together)] if together else found


def unusable(call: ToolCall, tools: ToolSet | None) -> ToolOutcome | None:
    """Why a call cannot be run at all; None when it can."""
    if tools is None:
        return ToolOutcome("no workspace was chosen, so no tool can run", True)
    names = [spec.name for spec in tools.specs()]
    if call.name not in names:
        known = ", ".join(names)
        return ToolOutcome(f"there is no tool named {call.name!r}; there are: {known}", True)
    if call.problem:
        again = "Nothing was run; call again with one whole JSON object."
        return ToolOutcome(f"{call.problem}\n{again}", True)
    return None


class ToolRound:
    """The calls of one reply."""

    def __init__(
        self,
        tools: ToolSet | None,
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
        store: Callable[[ToolCall, ToolOutcome], Awaitable[None]],
    ) -> None:
        """``store`` appends one result."""
        self._tools = tools
        self._cancel = cancel
        self._on_event = on_event
        self._store = store

    async def run(self, calls: Sequence[ToolCall]) -> list[ToolOutcome]:
        """What each call gave, all of them stored. After a stop, the remaining calls get a result
        that says so."""
        outcomes: list[ToolOutcome] = []
        for group in groups(calls, self._is_exclusive):
            outcomes += await self._run_group(group)
        return outcomes

    def _is_exclusive(self, call: ToolCall) -> bool:
        tools = self._tools
        return tools is not None and unusable(call, tools) is None and tools.is_exclusive(call)

    async def _run_group(self, group: Sequence[ToolCall]) -> list[ToolOutcome]:
        # A separate token, so that tools end too when the task that waits for the turn is
        # cancelled.
        inner = CancelToken()
        forget = self._cancel.add_callback(inner.cancel)
        tasks = [asyncio.create_task(self._run_one(call, inner)) for call in group]
        outcomes: list[ToolOutcome] = []
        try:
            for call, task in zip(group, tasks, strict=True):
                outcome = await task
                outcomes.append(outcome)
                await self._store(call, outcome)
        finally:
            forget()
            if len(outcomes) < len(group):
                inner.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return outcomes

    async def _run_one(self, call: ToolCall, cancel: CancelToken) -> ToolOutcome:
        outcome = unusable(call, self._tools)
        if outcome is None and cancel.cancelled:
            outcome = STOPPED_BEFORE
        if outcome is None:
            self._on_event(ToolStarted(call))
            outcome = await self._called(call, cancel)
        self._on_event(ToolEnded(call, outcome))
        return outcome

    async def _called(self, call: ToolCall, cancel: CancelToken) -> ToolOutcome:
        """Run the call; an unexpected failure of a tool becomes an error result."""
        assert self._tools is not None

        def on_output(text: str) -> None:
            self._on_event(ToolOutput(call.id, text))

        running = asyncio.ensure_future(self._tools.run(call, cancel, on_output))
        try:
            await done_or_cancelled(running, cancel)
            if not running.done():
                await asyncio.wait([running], timeout=STOP_WAIT_S)
            if not running.done():
                return ToolOutcome(f"stopped; it did not end within {STOP_WAIT_S:g} s", True)
            if running.cancelled():
                return ToolOutcome("stopped while it ran", True)
            return running.result()
        except Cancelled:
            return ToolOutcome("stopped by the person while it ran", True)
        except Exception as error:  # noqa: BLE001 -- any failure becomes an error result
            return ToolOutcome(f"the tool failed: {type(error).__name__}: {error}", True)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


LONGEST_CYCLE = 3
PATIENCE = 2
"""Repetitions that are allowed after the model was warned."""

Step = Literal["go", "tell", "end"]


def fingerprint(calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]) -> str:
    """A round's calls and what they gave, in few characters; the ids of calls do not count."""
    digest = hashlib.sha256()
    for call, outcome in zip(calls, outcomes, strict=True):
        arguments = call.raw or json.dumps(call.arguments, sort_keys=True)
        for part in (call.name, arguments, outcome.text, str(outcome.is_error)):
            digest.update(part.encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
        for image in outcome.images:
            digest.update(image.data_base64.encode())
    return digest.hexdigest()


class Cycle(Struct, frozen=True):
    """What has come again: ``length`` rounds, ``times`` times in a row. ``whole``: the last of
    them is at its end."""

    length: int
    times: int
    whole: bool = True


def detect_cycle(rounds: Sequence[str]) -> Cycle:
    """The cycle of up to three rounds that the last rounds repeat most often; 1 time for none."""
    best = Cycle(1, 1)
    for length in range(1, LONGEST_CYCLE + 1):
        same = 0
        for at in range(len(rounds) - 1, length - 1, -1):
            if rounds[at] != rounds[at - length]:
                break
            same += 1
        times = same // length + 1
        if times > best.times:
            best = Cycle(length, times, same % length == 0)
    return best


class CycleGuard:
    """Watches the rounds of one turn."""

    def __init__(self, same_calls: int | None) -> None:
        """See ``TurnLimits.same_calls``."""
        self._most = max(2, same_calls) if same_calls is not None else None
        self._rounds: list[str] = []
        self.found = Cycle(1, 1)

    def observe(self, calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]) -> Step:
        """Take one round in; whether to go on, to tell the model, or to end the turn."""
        if self._most is None:
            return "go"
        self._rounds.append(fingerprint(calls, outcomes))
        del self._rounds[: -LONGEST_CYCLE * (self._most + PATIENCE)]
        self.found = detect_cycle(self._rounds)
        if self.found.times >= self._most + PATIENCE:
            return "end"
        return "tell" if self.found.times >= self._most and self.found.whole else "go"

    @property
    def note(self) -> str:
        """The warning to the model, appended to the repeated result."""
        return (
            f"[Note: {self._what} {self.found.times} times in a row, with the same arguments and"
            " the same results. Doing it again will not change that. Take another way, or say what"
            " you need.]"
        )

    @property
    def end_reason(self) -> str:
        """Why the turn was ended, for a person."""
        return (
            f"The turn was ended: the agent repeated itself. {self._what.capitalize()}"
            f" {self.found.times} times in a row with the same results, and it was warned before."
        )

    @property
    def _what(self) -> str:
        if self.found.length == 1:
            return "the same calls were made"
        return f"the same {self.found.length} rounds of calls were made"


MOST_ROUNDS = 100
SAME_CALLS = 3


class TurnLimits(Struct, frozen=True):
    """Limits of one turn, from a person's message to the next."""

    rounds: int | None = MOST_ROUNDS
    """Replies with tool calls; None for no limit."""
    tokens: int | None = None
    """Tokens read and written by all calls of the turn together, as the provider counts them and
    by the estimate where it does not; None for no limit."""
    same_calls: int | None = SAME_CALLS
    """How often the same calls give the same results, one after the other or in a cycle of two or
    three, until the model is warned; two more and the turn ends. None: never."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TurnLimits:
        """The limits that settings ask for; what is not set is as it is here."""
        return cls(
            values.get("agent.mostRounds", MOST_ROUNDS),
            values.get("agent.mostTurnTokens"),
            values.get("agent.sameCalls", SAME_CALLS) or None,
        )


CUT_SHORT = "The answer was cut short at its length limit."
STOPPED = "Stopped by the person"


class SessionPort(Protocol):
    """What a turn needs of the session that it works in."""

    async def append(self, body: Message) -> int:
        """Append a message entry at the leaf; returns its index after the commit."""

    def chat_messages(self) -> Sequence[ChatMessage]:
        """What the model sees at the leaf now. Called in a thread, while nothing is appended."""

    def open_calls(self) -> Sequence[ToolCall]:
        """Calls of the last reply on the way to the leaf that have no result, in their order; none
        where the reply was stopped or failed, or the person spoke after it."""


class AgentTurn:
    """Runs turns for one session with one model and one set of tools."""

    def __init__(
        self,
        port: SessionPort,
        client: Models,
        model: str,
        system: str,
        tools: ToolSet | None,
        context_port: ContextPort | None = None,
        retry: RetryPolicy | None = None,
        *,
        thinking: str | None = None,
        queue: MessageQueue | None = None,
        limits: TurnLimits | None = None,
    ) -> None:
        """``thinking``: a level's name. ``queue``: what the person sends meanwhile; its follow-ups
        are left to the caller."""
        self._port = port
        self._client = client
        self._model = model
        self._system = system
        self._tools = tools
        self._context_port: ContextPort = context_port or NoContextPort()
        self._retry = retry or RetryPolicy()
        self._thinking = thinking
        self._queue = queue or MessageQueue()
        self._limits = limits or TurnLimits()
        self._reply_client = ReplyClient(client, self._context_port, self._retry)
        self._guard = CycleGuard(self._limits.same_calls)
        self._entries: list[int] = []
        self._on_event: Callable[[TurnEvent], None] = lambda _event: None
        self._used = 0
        self._broken = 0
        """Replies in a row that broke off after something of them had arrived."""

    async def run(
        self,
        prompt: UserPrompt | str,
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
        *,
        synthetic: bool = False,
        waited: bool = False,
    ) -> TurnResult:
        """Append the person's message and work until the model has nothing more to call.

        ``synthetic``: the message is generated, and is marked so. ``waited``: it comes from the
        queue, which is reported as ``Steered``. Raises what the port raises.
        """
        self._on_event = on_event
        await self._close_open_calls()
        prompt = UserPrompt.of(prompt)
        entry = await self._append(prompt.message(synthetic=synthetic))
        if waited:
            on_event(Steered(entry, prompt))
        return await self._work(cancel)

    async def resume(
        self, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> TurnResult:
        """Go on at the leaf without a new message: after a stop, an error, a limit or a crash.

        Calls that were left without a result get one that says so.
        """
        self._on_event = on_event
        await self._close_open_calls()
        return await self._work(cancel)

    async def _close_open_calls(self) -> None:
        for call in self._port.open_calls():
            await self._append(result_message(call, NOT_RUN))

    async def _work(self, cancel: CancelToken) -> TurnResult:
        number = 0
        while True:
            number += 1
            self._on_event(RoundStarted(number))
            result = await self._round(cancel) or self._limited(number)
            if result is not None:
                return result

    def _limited(self, rounds: int) -> TurnResult | None:
        """The result where a limit is reached."""
        limits = self._limits
        if limits.rounds is not None and rounds >= limits.rounds:
            sentence = f"The turn ended after {rounds:,} replies, the most that a turn may have."
            return self._result("limit", sentence)
        if limits.tokens is not None and self._used >= limits.tokens:
            return self._result(
                "limit",
                f"The turn ended after {self._used:,} tokens; it may use {limits.tokens:,}.",
            )
        return None

    async def _round(self, cancel: CancelToken) -> TurnResult | None:
        """One reply and its tools; the result when the turn ends with it."""
        result = await self._reply_client.ask(
            self._outgoing(), self._thinking, self._port.chat_messages, cancel, self._on_event
        )
        if self._limits.tokens is not None:
            self._used += await asyncio.to_thread(lambda: result.used_tokens)
        reply = result.reply
        if not result.whole:
            return await self._broken_off(result, cancel)
        self._broken = 0
        if reply.says_nothing:
            return await self._on_empty_reply(reply)
        entry = await self._append(self._message(reply, reply.stop_reason))
        if reply.calls:
            return await self._call_tools(reply, entry, cancel)
        if await self._is_blind(reply, entry, cancel) or await self._steered(cancel):
            return None
        if reply.stop_reason == "length":
            return self._result("cut_short", CUT_SHORT)
        return self._result("done")

    def _outgoing(self) -> Outgoing:
        specs = self._tools.specs() if self._tools is not None else ()
        pictures = self._client.info(self._model).images is not False
        return Outgoing(self._model, self._system, specs, pictures)

    async def _is_blind(self, reply: PartialReply, entry: int, cancel: CancelToken) -> bool:
        """Whether the reply was made without having seen everything, and is made again."""
        if not reply.read_tokens:
            return False
        blind = TooLarge(entry, "answered", reply.read_tokens)
        return (await self._context_port.make_room(self._model, blind, cancel)).made

    async def _call_tools(
        self, reply: PartialReply, entry: int, cancel: CancelToken
    ) -> TurnResult | None:
        if await self._is_blind(reply, entry, cancel):
            return None
        if await self._run_tools(reply.calls, cancel) == "end":
            return self._result("looping", self._guard.end_reason)
        if cancel.cancelled:
            return self._result("stopped")
        await self._steered(cancel)
        return None

    def _result(self, end: TurnEnd, error: str = "") -> TurnResult:
        return TurnResult(end, error, tuple(self._entries))

    def _message(self, reply: PartialReply, stop_reason: str) -> AssistantMessage:
        return reply.message(self._model, stop_reason, self._client.info(self._model))

    async def _append(self, message: Message) -> int:
        entry = await self._port.append(message)
        self._entries.append(entry)
        self._on_event(Stored(entry))
        return entry

    async def _steered(self, cancel: CancelToken) -> bool:
        """Append what the person sent meanwhile; whether there was anything. Stopped, it waits."""
        if cancel.cancelled:
            return False
        waiting = self._queue.take_steering()
        for at, prompt in enumerate(waiting):
            try:
                entry = await self._append(prompt.message())
            except BaseException:
                self._queue.put_back(waiting[at:], "steering")
                raise
            self._on_event(Steered(entry, prompt))
        return bool(waiting)

    async def _broken_off(self, result: ReplyResult, cancel: CancelToken) -> TurnResult | None:
        """Keep what had arrived; None when the turn goes on all the same, with more room or with
        another try."""
        reply, error = result.reply, result.error
        if error is None and reply.empty:
            return self._result("stopped")
        arrived = not reply.empty
        reply.calls.clear()
        message = self._message(reply, "error" if error else "aborted")
        reason, kind = (error.sentence, error.kind) if error is not None else (STOPPED, "")
        entry = await self._append(replace(message, error=reason, error_kind=kind))
        if error is None:
            return self._result("stopped")
        sentence = error.sentence
        if error.kind == "overflow":
            room = await self._context_port.make_room(
                self._model, TooLarge(entry, "overflow"), cancel
            )
            if room.made:
                return None
            sentence = room.sentence or sentence
        elif arrived:
            self._broken += 1
            wait = wait_before_next(self._retry, self._broken, error, random.random)
            if wait is not None:
                return await self._wait(Retry(self._broken, self._retry.tries, wait, error), cancel)
        return self._result("failed", sentence)

    async def _wait(self, retry: Retry, cancel: CancelToken) -> TurnResult | None:
        """Wait until an answer that broke off is asked for once more."""
        self._on_event(retry)
        try:
            await pause(retry.wait_s, asyncio.sleep, cancel)
        except Cancelled:
            return self._result("stopped")
        return None

    async def _on_empty_reply(self, reply: PartialReply) -> TurnResult:
        """An answer of nothing is no answer: it is kept and marked, and not sent again."""
        short = reply.stop_reason == "length"
        sentence = CUT_SHORT if short else "The model's answer is empty."
        await self._append(replace(self._message(reply, "error"), error=sentence))
        return self._result("cut_short" if short else "failed", sentence)

    async def _run_tools(self, calls: Sequence[ToolCall], cancel: CancelToken) -> Step:
        """Run the calls and append their results; a repetition is reported to the model."""
        outcomes: list[ToolOutcome] = []
        step: Step = "go"

        async def store(call: ToolCall, outcome: ToolOutcome) -> None:
            nonlocal step
            outcomes.append(outcome)
            if len(outcomes) == len(calls) and not cancel.cancelled:
                step = self._guard.observe(calls, outcomes)
            note = self._guard.note if step != "go" else ""
            await self._append(result_message(call, outcome, note))

        await ToolRound(self._tools, cancel, self._on_event, store).run(calls)
        return step
