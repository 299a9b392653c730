"""A turn of the agent in an opened session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from explorer.agent.approval import Approvals
from explorer.agent.limits import TurnLimits
from explorer.agent.loop import AgentTurn, SessionPort, Steered, TurnEvent, TurnResult
from explorer.agent.prompt import MessageQueue, Prompt
from explorer.agent.tools.port import ToolBox
from explorer.agent.workspace import Workspace
from explorer.models.client import CancelToken, ChatMessage, ToolCall
from explorer.models.request import as_level
from explorer.models.retry import RetryPolicy
from explorer.session.describe import blocks_of
from explorer.session.kinds import Kind
from explorer.templates import load_prompt
from explorer.work.agent_words import system_prompt
from explorer.work.automatic import AutomaticCompaction
from explorer.work.chat import chat_messages
from explorer.work.document import Document
from explorer.work.model_changes import note_model
from explorer.work.session_tools import tools_of

__all__ = ["DocumentPort", "chat_messages", "open_calls", "resume_turn", "start_turn"]

NOTHING_LEFT = "There is nothing to go on with: the agent's last answer is complete."


class DocumentPort:
    """What a turn needs of a document."""

    def __init__(
        self, document: Document, automatic: AutomaticCompaction | None = None, model: str = ""
    ) -> None:
        """``model``: who is asked, see ``chat_messages``."""
        self._document = document
        self._automatic = automatic
        self._model = model

    async def append_message(self, message: Mapping[str, Any]) -> int:
        """See ``SessionPort``. Raises StoreError."""
        document = self._document
        return await document.writer.append("message", document.leaf, message=dict(message))

    def chat_messages(self) -> Sequence[ChatMessage]:
        """See ``SessionPort``."""
        rules = self._automatic.rules if self._automatic is not None else None
        profile = rules.profile if rules else None
        return chat_messages(self._document, profile, model=self._model)

    def open_calls(self) -> Sequence[ToolCall]:
        """See ``SessionPort``."""
        return open_calls(self._document)

    def now_ms(self) -> int:
        """See ``SessionPort``."""
        return self._document.writer.now_ms()


def open_calls(document: Document, at: int | None = None) -> list[ToolCall]:
    """Calls of the last reply on the way to an entry, by default the leaf, that have no result."""
    reply, answered = _last_reply(document, document.leaf if at is None else at)
    message = _message(document, reply)
    if message.get("stopReason") in ("error", "aborted"):
        return []
    return [
        ToolCall(str(block["id"]), str(block.get("name", "")))
        for block in blocks_of(message.get("content"))
        if block.get("type") == "toolCall" and block.get("id") not in (None, *answered)
    ]


def _last_reply(document: Document, at: int) -> tuple[int, set[str]]:
    """The reply that an entry follows, -1 for none, and the calls that have results there."""
    columns = document.tree.columns
    answered: set[str] = set()
    while at >= 0:
        kind = columns.kind[at]
        if kind == Kind.ASSISTANT:
            return at, answered
        if kind == Kind.TOOL_RESULT:
            answered.add(str(_message(document, at).get("toolCallId", "")))
        elif kind in (Kind.USER, Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            break
        at = columns.parent[at]
    return -1, answered


def _message(document: Document, at: int) -> Mapping[str, Any]:
    message = document.entry(at).get("message") if at >= 0 else None
    return message if isinstance(message, Mapping) else {}


@dataclass(frozen=True, slots=True)
class _Work:
    """Turns of one session with everything that they need."""

    document: Document
    model: str
    tools: ToolBox | None
    cancel: CancelToken
    on_event: Callable[[TurnEvent], None]
    automatic: AutomaticCompaction | None
    retry: RetryPolicy | None
    thinking: str | None
    queue: MessageQueue | None
    limits: TurnLimits | None
    port: SessionPort | None
    date: str

    def port_of(self) -> SessionPort:
        """Where the messages go."""
        return self.port or DocumentPort(self.document, self.automatic, self.model)

    def turn(self) -> AgentTurn:
        """A turn that has done nothing yet."""
        document = self.document
        system = system_prompt(document.agent_prompt, self.tools, self.date)
        return AgentTurn(
            self.port_of(), document.client, self.model, system, self.tools, self.automatic,
            self.retry, thinking=self.thinking, queue=self.queue, limits=self.limits,
        )  # fmt: skip

    async def say(self, prompt: Prompt | str) -> TurnResult:
        """Send a message of the person's, and do everything that follows from it."""
        return await self._follow(await self._said(prompt))

    async def resume(self) -> TurnResult:
        """Go on at the leaf, and do everything that follows from it."""
        if self.automatic is not None:
            await self.automatic.before_message(self.model, self.cancel)
        turn = self.turn()
        sent = await asyncio.to_thread(self.port_of().chat_messages)
        if sent and sent[-1].role != "assistant":
            await self._note_model()
            return await self._follow(await turn.resume(self.cancel, self.on_event))
        reply, _ = _last_reply(self.document, self.document.leaf)
        if not sent or _message(self.document, reply).get("stopReason") != "length":
            return TurnResult("done", NOTHING_LEFT)
        await self._note_model()
        return await self._follow(await self._continued())

    async def _said(self, prompt: Prompt | str, *, waited: bool = False) -> TurnResult:
        if self.automatic is not None:
            self.automatic.person_spoke()
            await self.automatic.before_message(self.model, self.cancel)
        await self._note_model()
        return await self.turn().run(prompt, self.cancel, self.on_event, waited=waited)

    async def _continued(self) -> TurnResult:
        said = load_prompt("continue")
        return await self.turn().run(said, self.cancel, self.on_event, synthetic=True)

    async def _note_model(self) -> None:
        if self.port is None:
            await note_model(self.document, self.model, as_level(self.thinking))

    async def _follow(self, result: TurnResult) -> TurnResult:
        """What comes after a turn: room is made and the agent prompted to go on; then the next
        message that waited for the end is sent."""
        entries = result.entries
        while True:
            if self.automatic is not None and await self.automatic.after_turn(
                self.model, _ended(result), result.finished, self.cancel
            ):
                result = await self._continued()
            elif (follow_up := self._next_follow_up(result)) is not None:
                result = await self._followed_up(follow_up)
            else:
                return replace(result, entries=entries)
            entries += result.entries

    def _next_follow_up(self, result: TurnResult) -> Prompt | None:
        if self.queue is None or self.cancel.cancelled or result.end not in ("done", "cut_short"):
            return None
        return next(iter(self.queue.take_follow_up()), None)

    async def _followed_up(self, prompt: Prompt) -> TurnResult:
        """Send what waited; it waits again where it could not be stored."""
        assert self.queue is not None
        stored = False

        def watch(event: TurnEvent) -> None:
            nonlocal stored
            stored = stored or isinstance(event, Steered)
            self.on_event(event)

        try:
            return await replace(self, on_event=watch)._said(prompt, waited=True)
        finally:
            if not stored:
                self.queue.put_back([prompt], "follow-up")


async def start_turn(
    document: Document,
    model: str,
    tools: ToolBox | Workspace | None,
    prompt: Prompt | str,
    cancel: CancelToken,
    on_event: Callable[[TurnEvent], None],
    automatic: AutomaticCompaction | None = None,
    retry: RetryPolicy | None = None,
    *,
    thinking: str | None = None,
    queue: MessageQueue | None = None,
    limits: TurnLimits | None = None,
    port: SessionPort | None = None,
    date: str = "",
) -> TurnResult:
    """Send ``prompt`` at the leaf and work until the agent is done. Raises StoreError.

    A workspace alone stands for the tools that only look at it.
    ``automatic`` makes room in the context before, during and after the turn; without it nothing
    is compacted by itself. ``retry``: how often a call that fails for the moment is made again.
    ``thinking``: a level's name. ``queue``: what the person sends meanwhile. ``port``: where the
    messages go, by default the document's leaf. ``date``: today's, as the agent is told it.
    """
    work = _Work(
        document, model, _box(document, tools), cancel, on_event, automatic, retry, thinking,
        queue, limits, port, date,
    )  # fmt: skip
    return await work.say(prompt)


async def resume_turn(
    document: Document,
    model: str,
    tools: ToolBox | Workspace | None,
    cancel: CancelToken,
    on_event: Callable[[TurnEvent], None],
    automatic: AutomaticCompaction | None = None,
    retry: RetryPolicy | None = None,
    *,
    thinking: str | None = None,
    queue: MessageQueue | None = None,
    limits: TurnLimits | None = None,
    port: SessionPort | None = None,
    date: str = "",
) -> TurnResult:
    """Go on at the leaf without a new message: after a stop, an error, a limit or a crash; see
    ``start_turn``. An answer that was cut short at its length is asked to be gone on with; where
    nothing is left to do, the result says so. Raises StoreError."""
    work = _Work(
        document, model, _box(document, tools), cancel, on_event, automatic, retry, thinking,
        queue, limits, port, date,
    )  # fmt: skip
    return await work.resume()


def _box(document: Document, tools: ToolBox | Workspace | None) -> ToolBox | None:
    if not isinstance(tools, Workspace):
        return tools
    return tools_of(document, tools, Approvals("read-only"))


def _ended(result: TurnResult) -> Literal["went-well", "failed", "stopped"]:
    if result.end in ("failed", "stopped"):
        return result.end
    return "went-well"
