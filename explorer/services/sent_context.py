"""The context at an entry as the agent's model is sent it: the same functions make the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from explorer.agent.reply import LEFT_OUT, SHOWN_BELOW, sendable
from explorer.agent.turn_interface import Outgoing
from explorer.compaction.profile import Profile
from explorer.models.client import ChatMessage, ImagePart
from explorer.services.agent import chat_of
from explorer.services.auto_compaction.prompt import CopilotWords, chat_message, prepare_prompt
from explorer.services.document import Document
from explorer.session.context import PathContext, sent_tokens
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Entry,
    ImageBlock,
    ModelMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    images_of,
    text_content,
)
from explorer.session.kinds import CONTEXT_KINDS, Flag, Kind
from explorer.tokens.counters import count_entry

OVER_BUDGET = "It does not fit the prompt's budget."


class SentContext(Struct, frozen=True):
    """The messages of a request, the system's words apart, and what is left out of it."""

    messages: tuple[ChatMessage, ...]
    """In the order in which they are sent; each names the entry that it came from."""
    tokens: tuple[int, ...]
    """Of each message the tokens of its entry, as they are shown everywhere; 0 for a second message
    of the same entry."""
    sent_tokens: int
    """Of all messages, as they are sent."""
    unsent: Mapping[int, str]
    """Why an entry of the context is not sent, in a sentence."""
    changed: Mapping[int, str]
    """What is sent otherwise than it is recorded, in a sentence, and what that takes."""


def sent_context(
    document: Document,
    profile: Profile,
    outgoing: Outgoing,
    at: int | None = None,
    window: int | None = None,
) -> SentContext:
    """What a request at an entry, by default the leaf, is made of under a profile.

    Blocks: reads the payloads. ``window``: tokens, for profiles that render prompts to a budget,
    which they do at the leaf. Raises BudgetExceededError where that is not possible, and what
    reading a payload raises.
    """
    context = document.context(at)
    read = document.agent.read(profile, at)
    if profile.prompt_budget is not None and context.leaf == document.leaf:
        prepared = prepare_prompt(
            document, profile, outgoing, window or profile.context_window, CopilotWords.load()
        )
        chat = [chat_message(one) for one in prepared.outgoing(prepared.rendered())]
        chat = [one for one in chat if one.role != "system"]
    else:
        chat = chat_of(read, outgoing.model)
    messages = tuple(sendable(chat, pictures=outgoing.pictures))
    sources = {message.source for message in messages}
    recorded = dict(read)
    changed = {
        message.source: words
        for message in messages
        if (words := _changes(message, recorded.get(message.source)))
    }
    tokens: list[int] = []
    taken: dict[int, int] = {}
    for message in messages:
        entry = message.source
        size = 0 if entry in taken and entry >= 0 else _size(document, profile, context, message)
        tokens.append(size)
        if entry < 0 or entry in changed:
            size = _measured(document, profile, message)
        taken[entry] = taken.get(entry, 0) + size
    return SentContext(
        messages,
        tuple(tokens),
        sum(taken.values()),
        {at: why_unsent(document, at, profile) for at in context.messages if at not in sources},
        {at: f"{words} It is sent with {taken[at]:,} tokens." for at, words in changed.items()},
    )


def why_unsent(document: Document, entry: int, profile: Profile) -> str:
    """Why an entry of the context does not reach the model, in a sentence."""
    columns = document.tree.columns
    kind, flags = Kind(columns.kind[entry]), columns.flags[entry]
    if kind is Kind.ASSISTANT:
        if flags & Flag.ABORTED:
            return "A reply that was stopped: it is not sent."
        if flags & Flag.ERROR:
            return "A reply that failed: it is not sent."
        if not flags & (Flag.HAS_TEXT | Flag.HAS_TOOL_CALL):
            return "A reply without text or call: it is not sent."
    elif kind is Kind.OTHER_ROLE:
        return "No model takes a message of this role."
    elif flags & Flag.EXCLUDED:
        return "A command that was kept out of the context: it is not sent."
    if profile.prompt_budget is not None:
        return OVER_BUDGET
    if kind is Kind.ASSISTANT:
        return "None of its calls has a result here: it is not sent."
    if kind is Kind.TOOL_RESULT:
        return "Its call is not sent, and no provider takes a result alone."
    return "There is nothing in it to send." if kind in CONTEXT_KINDS else "It is not sent."


def _changes(message: ChatMessage, recorded: ModelMessage | None) -> str:
    """What a message holds otherwise than its entry."""
    if recorded is None:
        return ""
    found: list[str] = []
    if isinstance(recorded, AssistantMessage):
        parts = 0 if message.thinking is None else 1 + len(message.more_thinking)
        thought = sum(isinstance(each, ThinkingBlock) for each in recorded.content)
        if parts < thought:
            found.append("Its thinking is not sent: no provider takes it back unsigned, or from "
                         "another model.")  # fmt: skip
        if len(message.tool_calls) < len(recorded.calls):
            found.append("Calls without a result are not sent.")
    elif (count := len(images_of(recorded.content))) and message.text:
        if LEFT_OUT in message.text:
            found.append("This model takes no pictures: words stand for them.")
        elif SHOWN_BELOW in message.text:
            noun = "Its picture follows" if count == 1 else f"Its {count:,} pictures follow"
            found.append(f"{noun} in a message of the user.")
    return " ".join(found)


def _size(document: Document, profile: Profile, context: PathContext, message: ChatMessage) -> int:
    """Tokens of a message's entry as they are shown; of the message where it comes from none."""
    entry = message.source
    if entry < 0:
        return _measured(document, profile, message)
    return sent_tokens(context, entry, document.tokens.entry_tokens(entry, profile))


def _measured(document: Document, profile: Profile, message: ChatMessage) -> int:
    """Tokens of what a message holds."""
    return count_entry(document.tokens.counter_for(profile), _entry_of(message))


def _entry_of(message: ChatMessage) -> Entry:
    """An entry that holds what a message does, to be counted."""
    if message.role == "assistant":
        thinking = (message.thinking, *message.more_thinking) if message.thinking else ()
        blocks: Sequence[Block] = (
            *(ThinkingBlock(part.text) for part in thinking if not part.redacted),
            TextBlock(message.text),
            *(ToolCallBlock(call.id, call.name, call.arguments) for call in message.tool_calls),
        )
        return Entry.of(AssistantMessage(tuple(blocks)))
    images = (
        ImageBlock(part.mime, part.data_base64)
        for part in message.content
        if isinstance(part, ImagePart)
    )
    content = (*text_content(message.text), *images)
    if message.role == "tool":
        return Entry.of(ToolResultMessage("", "", content))
    return Entry.of(UserMessage(content))
