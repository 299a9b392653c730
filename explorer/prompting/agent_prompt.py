"""The requests of a conversation as elements: the agent's prompt, with how many tokens its messages
may take (A46, B19), and those that ask for the summary of the conversation (A49, A50, B19).

A summary's full request is the conversation itself, as the agent sends it, and the order to
summarize it at the end, so that a provider's cache holds all but the order. The simple one is the
conversation as one text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from explorer.prompting.elements import (
    CachePoint,
    Chunk,
    Element,
    Image,
    MessageElement,
    PrioritizedList,
    Sized,
    Sizing,
    TextElement,
)
from explorer.prompting.text import HEAD_SHARE, Count, shortened, truncate_middle
from explorer.prompting.turns import CallResult, ConversationTurns, Round, Spoken, ToolUse, Turn

LEAST_TOKENS = 100
"""A threshold below this is neither a share nor a sensible number of tokens."""
MARGIN = 0.9
"""Of what tools leave: counts of tools are less exact than counts of texts."""


class MessageBudget(NamedTuple):
    """The sizes of one request."""

    window: int
    base: int
    """What the context is measured against: the threshold, never above the window."""
    tool_tokens: int
    messages: int
    """What the messages may take."""

    def ratio(self, message_tokens: int) -> float:
        """How full the context is: messages and tools against the base."""
        return (message_tokens + self.tool_tokens) / self.base


def resolve_threshold(value: float | None, window: int) -> int | None:
    """A threshold in tokens; None (also for 0 and below) means the whole window.

    A share in (0, 1] is of the window. Raises ValueError between 1 and 100, where a person may
    have meant either.
    """
    if value is None or value <= 0 or not isfinite(value):
        return None
    if value <= 1:
        return max(1, int(window * value))
    if value < LEAST_TOKENS:
        raise ValueError(
            f"A threshold of {value:g} is neither a share of the window (above 0, up to 1) nor a "
            f"number of tokens (at least {LEAST_TOKENS})."
        )
    return int(value)


def message_budget(
    window: int, tool_tokens: int = 0, threshold: float | None = None, margin: float = MARGIN
) -> MessageBudget:
    """What messages may take beside tools of ``tool_tokens``.

    Something is reserved only where there are tools: messages then get the share ``margin`` of
    what the tools leave (B19). Raises ValueError for a threshold that means nothing.
    """
    wanted = resolve_threshold(threshold, window)
    base = max(1, window if wanted is None else min(wanted, window))
    if tool_tokens <= 0:
        return MessageBudget(window, base, 0, base)
    messages = max(1, int((base - tool_tokens) * margin))
    return MessageBudget(window, base, tool_tokens, messages)


HISTORY, TOOL_CALLS, USER = 700, 899, 900
PICTURE_TOKENS = 1200
RESULT_SHARE = 0.5
"""A tool result takes at most this share of the window (A49)."""


class AgentPrompt(Struct, frozen=True):
    """How the prompt of an agent is put together; sizes in tokens."""

    system: str
    count: Count
    """Counts what no entry's weight tells: calls by themselves, shortened results."""
    result_limit: int
    """The largest tool result; longer ones lose their middle."""
    result_head: float = HEAD_SHARE
    keep_cached: bool = True
    """Nothing of a prompt that was sent already is dropped for room: the prompt overflows and is
    summarized instead. Without it the oldest history goes first."""
    summary_reminder: str = ""
    """Words that follow a summary, for models that stop too early (A52)."""

    def elements(self, conversation: ConversationTurns) -> list[Element]:
        """The tree of the prompt, for a budget to be laid over it."""
        current = conversation.turns[-1] if conversation.turns else Turn()
        rows: list[Element] = [
            MessageElement("system", [TextElement(self.system)], name="instructions"),
            PrioritizedList(
                self._history(conversation), name="history", priority=HISTORY, flex_grow=1
            ),
            *self._current(current),
        ]
        if self.keep_cached and (
            current.rounds or len(conversation.turns) > 1 or conversation.summary
        ):
            rows.append(CachePoint(name="cached so far"))
        return rows

    def _history(self, conversation: ConversationTurns) -> list[Element]:
        rows: list[Element] = []
        if conversation.summary is not None:
            rows.append(self._summary(conversation.summary))
        for number, turn in enumerate(conversation.turns[:-1], 1):
            rows += [_message(spoken, f"message of turn {number}") for spoken in turn.messages]
            rows += self._rounds(turn.rounds, f"turn {number}, ")
        return rows

    def _summary(self, summary: Spoken) -> Element:
        texts: list[Element] = [
            TextElement(summary.text, tokens=summary.tokens, source=summary.entry)
        ]
        if self.summary_reminder:
            texts.append(TextElement(self.summary_reminder, name="reminder"))
        return MessageElement(
            "user", [Chunk(texts)], source=summary.entry, name="summary of what came before"
        )

    def _current(self, turn: Turn) -> list[Element]:
        messages = [
            _message(spoken, "current message", USER, flex_grow=2) for spoken in turn.messages
        ]
        rounds = PrioritizedList(
            self._rounds(turn.rounds, ""), name="tool calls", priority=TOOL_CALLS, flex_grow=2
        )
        return [*messages, rounds] if turn.rounds else list(messages)

    def _rounds(self, rounds: Sequence[Round], where: str) -> list[Element]:
        return [
            Chunk(self._round(one), name=f"{where}round {number}")
            for number, one in enumerate(rounds, 1)
        ]

    def _round(self, one: Round) -> list[Element]:
        return [_reply(one, self.count), *(self._whole_or_cut(result) for result in one.results)]

    def _whole_or_cut(self, result: CallResult) -> Element:
        if result.tokens <= self.result_limit:
            return _tool_message(result, result.text, result.tokens)
        return Sized(lambda sizing: [self._cut(result, sizing)], name="long tool result")

    def _cut(self, result: CallResult, sizing: Sizing) -> Element:
        text = truncate_middle(result.text, self.result_limit, sizing.count, self.result_head)
        return _tool_message(result, text, sizing.count(text))


def _tool_message(result: CallResult, text: str, tokens: int) -> Element:
    return MessageElement(
        "tool", [TextElement(text, tokens=tokens, source=result.entry)],
        call_id=result.call_id, keep=result.call_id, source=result.entry,
    )  # fmt: skip


def result_limit(window: int, share: float = RESULT_SHARE) -> int:
    """Tokens of the largest tool result."""
    return max(1, int(window * share))


def _reply(one: Round, count: Count) -> Element:
    calls = [count(call.text) for call in one.calls]
    # The entry's weight is of the whole reply; the calls go separately from its text.
    rest = max(0, one.tokens - sum(calls))
    texts = [TextElement(one.text, tokens=rest, source=one.entry)] if one.text else []
    overhead = 0 if texts else rest
    return MessageElement(
        "assistant", texts, one.calls, calls,
        thinking=one.thinking, source=one.entry, overhead=overhead,
    )  # fmt: skip


def _message(
    spoken: Spoken, name: str, priority: int | None = None, flex_grow: int | None = None
) -> Element:
    pictures = [Image(picture, PICTURE_TOKENS, source=spoken.entry) for picture in spoken.pictures]
    rest = max(0, spoken.tokens - PICTURE_TOKENS * len(pictures))
    return MessageElement(
        "user",
        [TextElement(spoken.text, tokens=rest, source=spoken.entry), *pictures],
        source=spoken.entry, name=name, priority=priority, flex_grow=flex_grow,
    )  # fmt: skip


ORDER = "order to summarize"
_SIMPLE = 5000
"""Rank of the newest part of the simple request's record."""


class SummaryPart(Struct, frozen=True):
    """The part of a conversation to summarize, and where it ends."""

    conversation: ConversationTurns
    last_entry: int
    """The last entry that it covers; what comes after stays."""


def part_before_request(conversation: ConversationTurns) -> SummaryPart | None:
    """The part to summarize when the prompt is too large: all but the last round, which is what
    was too much (A49); None when there is nothing before.

    With one round or none in the current turn, everything before the turn is summarized.
    """
    if not conversation.turns:
        return None
    current, earlier = conversation.turns[-1], conversation.turns[:-1]
    if len(current.rounds) > 1:
        kept = Turn(current.messages, current.rounds[:-1])
        return SummaryPart(
            replace(conversation, turns=(*earlier, kept)), current.rounds[-2].last_entry
        )
    if not earlier:
        return None
    last = _last_entry(earlier[-1])
    return SummaryPart(replace(conversation, turns=earlier), last) if last >= 0 else None


def part_ahead(conversation: ConversationTurns) -> SummaryPart | None:
    """The part of a summary that is made ahead: everything up to the last complete round, which it
    is attached to; None before there is any."""
    for number in range(len(conversation.turns), 0, -1):
        turn = conversation.turns[number - 1]
        if turn.rounds:
            return SummaryPart(conversation, turn.rounds[-1].last_entry)
    return None


def _last_entry(turn: Turn) -> int:
    if turn.rounds:
        return turn.rounds[-1].last_entry
    return turn.messages[-1].entry if turn.messages else -1


def full_request(prompt: AgentPrompt, conversation: ConversationTurns, order: str) -> list[Element]:
    """The agent's prompt of the part to summarize, and the order after it. What does not fit is
    dropped, the oldest first."""
    rows = replace(prompt, keep_cached=False).elements(conversation)
    return [*rows, MessageElement("user", [TextElement(order)], name=ORDER)]


class SimpleRecord(Struct, frozen=True):
    """How the simple request tells a conversation; sizes in tokens."""

    system: str
    opening: str
    """Says what the record is."""
    order: str
    count: Count
    result_limit: int
    """Half of what the agent's prompt allows a tool result."""
    argument_characters: int = 200
    escape: Callable[[str], str] = str
    """Makes harmless what looks like a tag of the request."""

    def elements(self, conversation: ConversationTurns) -> list[Element]:
        """One message with as much of the record as fits: its first entry always, then the
        newest."""
        rows = self._rows(conversation)
        first, rest = rows[:1], rows[1:]
        return [
            MessageElement("system", [TextElement(self.system)], name="instructions"),
            MessageElement(
                "user",
                [
                    TextElement(f"{self.opening}\n\n<conversation>"),
                    *first,
                    PrioritizedList(rest, priority=_SIMPLE, name="record"),
                    TextElement("</conversation>\n"),
                    TextElement(self.order, name=ORDER),
                ],
                name="record and order",
            ),
        ]

    def _rows(self, conversation: ConversationTurns) -> list[Chunk]:
        rows: list[Chunk] = []
        if conversation.summary is not None:
            rows.append(self._spoken(conversation.summary, "summary of what came before"))
        for turn in conversation.turns:
            rows += [self._spoken(spoken, "message") for spoken in turn.messages]
            for one in turn.rounds:
                rows += self._round(one)
        return rows

    def _spoken(self, spoken: Spoken, name: str) -> Chunk:
        text = f"[User]: {self.escape(spoken.text)}\n"
        return Chunk([TextElement(text, source=spoken.entry)], name=name)

    def _round(self, one: Round) -> Sequence[Chunk]:
        rows = []
        if one.text:
            text = f"[Assistant]: {self.escape(one.text)}\n"
            rows.append(Chunk([TextElement(text, source=one.entry)], name="reply"))
        for call in one.calls:
            result = next(found for found in one.results if found.call_id == call.id)
            text = f"[Assistant tool calls]: {self._call(call)}\n"
            given = truncate_middle(result.text, self.result_limit, self.count)
            rows.append(
                Chunk(
                    [
                        TextElement(text, source=one.entry),
                        TextElement(f"[Tool result]: {self.escape(given)}\n", source=result.entry),
                    ],
                    name=f"{call.name} and its result",
                )
            )
        return rows

    def _call(self, call: ToolUse) -> str:
        arguments = call.text[len(call.name) :]
        return self.escape(f"{call.name}({shortened(arguments, self.argument_characters)})")
