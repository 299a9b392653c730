"""The prompt of the agent at the leaf, rendered to a token budget (A44 to A46, A53)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.agent.turn_interface import Outgoing
from explorer.compaction.messages import entry_to_llm, with_notes
from explorer.compaction.profile import Profile
from explorer.compaction.profile.rules import PromptBudget
from explorer.compaction.quirks import QuirkFacts, continue_reminder, quirks_of, with_quirks
from explorer.models.client import (
    ChatMessage,
    ContentPart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolSpec,
)
from explorer.prompting.agent_prompt import AgentPrompt, MessageBudget, message_budget, result_limit
from explorer.prompting.elements import Element
from explorer.prompting.rendered_prompt import RenderedPrompt, render
from explorer.prompting.turns import ConversationTurns, PromptMessage, SourceMessage, Thinking
from explorer.prompting.turns import conversation as as_conversation
from explorer.services.document import Document
from explorer.session.context import sent_tokens
from explorer.session.entries import ThinkingBlock
from explorer.session.kinds import Flag, Kind
from explorer.session.text import well_formed
from explorer.settings.prompt_templates import load_prompt
from explorer.tokens.estimate import js_json


class CopilotWords(Struct, frozen=True):
    """The templates of prompts that are rendered to a budget and of their summaries, one file of
    ``prompts`` each."""

    compact_now: str
    record: str
    no_tools: str
    keep_going: str
    breadcrumb: str
    sections: str
    """Asks for the eight sections (A26)."""

    @classmethod
    def load(cls) -> CopilotWords:
        """All of them; raises FileNotFoundError naming one that is missing."""
        return cls(
            load_prompt("copilot-compact-now"),
            load_prompt("copilot-record"),
            load_prompt("copilot-no-tools"),
            load_prompt("copilot-keep-going"),
            load_prompt("copilot-breadcrumb"),
            load_prompt("copilot-history-first"),
        )


class PreparedPrompt(Struct, frozen=True, eq=False):
    """What a prompt is rendered from, read at one moment; rendering reads nothing more."""

    conversation: ConversationTurns
    prompt: AgentPrompt
    budget: MessageBudget
    facts: QuirkFacts
    model: str

    def elements(self, *, keep_cached: bool = True) -> list[Element]:
        """The tree of the prompt."""
        return replace(self.prompt, keep_cached=keep_cached).elements(self.conversation)

    def rendered(self, *, keep_cached: bool = True) -> RenderedPrompt:
        """The messages within the budget. Raises BudgetExceededError."""
        elements = self.elements(keep_cached=keep_cached)
        return render(elements, self.budget.messages, self.prompt.count)

    def outgoing(self, rendering: RenderedPrompt) -> tuple[PromptMessage, ...]:
        """The messages as the model needs them after a summary (A52)."""
        return with_quirks(rendering.messages, self.model, "conversation", self.facts)[0]


def tool_tokens(document: Document, tools: Sequence[ToolSpec], profile: Profile) -> int:
    """Tokens that the descriptions of tools take."""
    return sum(
        document.tokens.count_text(
            f"{tool.name}{tool.description}{js_json(tool.parameters)}", profile
        )
        for tool in tools
    )


def prepare_prompt(
    document: Document,
    profile: Profile,
    outgoing: Outgoing,
    window: int,
    words: CopilotWords,
    beside: int | None = None,
) -> PreparedPrompt:
    """Read what the prompt at the leaf is made of. Blocks: payloads are read and texts counted.

    ``beside``: tokens of what goes out beside the conversation, system prompt and tools, where
    these are not at hand; None: those of ``outgoing``. Raises ValueError for an invalid threshold
    (A46).
    """
    policy = profile.prompt_budget or PromptBudget()

    def count(text: str) -> int:
        return document.tokens.count_text(text, profile)

    system, taken = "", beside
    if taken is None:
        system, taken = outgoing.system, tool_tokens(document, outgoing.tools, profile)
    conversation = read_conversation(document, profile)
    concerned = {quirk.rule for quirk in quirks_of(outgoing.model, "conversation")}
    reminder = words.keep_going if continue_reminder in concerned else ""
    prompt = AgentPrompt(
        system,
        count,
        result_limit(window, policy.result_share),
        policy.result_head,
        summary_reminder=reminder,
    )
    facts = QuirkFacts(no_tools=words.no_tools, thinking=_last_thinking(document, conversation))
    budget = message_budget(window, taken, policy.threshold, policy.tools_margin)
    return PreparedPrompt(conversation, prompt, budget, facts, outgoing.model)


def read_conversation(document: Document, profile: Profile) -> ConversationTurns:
    """The context at the leaf as turns and rounds, each entry with its weight."""
    context = document.context()
    tree = document.tree
    weights = document.tokens.weights_for(profile)
    estimates = tree.columns.estimate
    templates = document.shared.templates.worded(profile)
    found: list[SourceMessage] = []
    for at, entry in zip(
        context.messages,
        with_notes(document.payloads.sent_to_agent.entries, context.pruned, context.again)(
            context.messages
        ),
        strict=True,
    ):
        is_summary = tree.columns.kind[at] == Kind.COMPACTION
        message = entry_to_llm(entry, templates)
        if message is None:
            continue
        tokens = estimates[at] if weights is None or weights[at] < 0 else weights[at]
        found.append(SourceMessage(at, message, sent_tokens(context, at, tokens), is_summary))
    return as_conversation(found)


def _last_thinking(document: Document, conversation: ConversationTurns) -> Thinking | None:
    """The last thinking of what the summary in force replaces, where there is a summary."""
    if conversation.summary is None:
        return None
    context, columns = document.context(), document.tree.columns
    kept = context.kept_from
    end = kept if kept >= 0 else context.path.position(context.compaction)
    for position in range(end - 1, -1, -1):
        at = context.path[position]
        if columns.kind[at] == Kind.ASSISTANT and columns.flags[at] & Flag.HAS_THINKING:
            for block in reversed(document.payloads.stored.entry(at).content):
                if isinstance(block, ThinkingBlock):
                    return Thinking(well_formed(block.text), block.signature)
    return None


def chat_message(message: PromptMessage) -> ChatMessage:
    """A rendered message as it goes to a model."""
    calls = tuple(ToolCall(call.id, call.name, dict(call.arguments)) for call in message.calls)
    thinking = message.thinking
    part = None
    if thinking is not None and thinking.signature:
        part = ThinkingPart(thinking.text, thinking.signature)
    content: str | tuple[ContentPart, ...] = message.text
    if message.pictures:
        pictures = [ImagePart(picture.mime, picture.data) for picture in message.pictures]
        texts = [TextPart(message.text)] if message.text else []
        content = (*texts, *pictures)
    source = message.sources[0] if message.sources else -1
    return ChatMessage(message.role, content, calls, message.call_id, part, source=source)
