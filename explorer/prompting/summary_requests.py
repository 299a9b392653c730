"""The requests that ask for the summary of a conversation (A49, A50, B19).

Full: the conversation itself, as the agent sends it, and the order to summarize it at the end, so
that a provider's cache holds all but the order. Simple: the conversation as one text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.prompting.agent_prompt import AgentPrompt
from explorer.prompting.elements import Chunk, Element, MessageElement, PrioritizedList, TextElement
from explorer.prompting.text import Count, shortened, truncate_middle
from explorer.prompting.turns import ConversationTurns, Round, Spoken, ToolUse, Turn

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
