"""How a summary is asked for: full or simple, at once or ahead, and of which model (A50, A54)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from explorer.agent.keeping import Outgoing
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.profile.rules import PromptBudget
from explorer.compaction.quirks import with_quirks
from explorer.compaction.requests import output_cap
from explorer.compaction.serialization import escape_tags
from explorer.models.door import EXTRACTIVE, ModelRequest
from explorer.models.offline.names import cannot_summarize
from explorer.prompting.agent_prompt import message_budget
from explorer.prompting.elements import Element
from explorer.prompting.rendering import Rendering, render
from explorer.prompting.summary_requests import SimpleRecord, Told, full_request
from explorer.prompting.turns import PromptMessage
from explorer.work.forks import Asked, Way
from explorer.work.prompt import CopilotWords, PreparedPrompt, chat_message, window_for
from explorer.work.transcript import transcripts_of, with_breadcrumb

if TYPE_CHECKING:
    from explorer.work.document import Document


class SummaryRules(Protocol):
    """What of the rules concerns a summary."""

    @property
    def profile(self) -> Profile: ...

    @property
    def window(self) -> int: ...

    @property
    def summary_models(self) -> Callable[[str], Sequence[str]]: ...


def own_model(model: str) -> tuple[str, ...]:
    """Every model summarizes for itself."""
    return (model,)


def summary_model(rules: SummaryRules, model: str) -> str:
    """Who summarizes a conversation with a model: whom the rules name for it first, by default
    the model itself (A50, A54)."""
    chosen = next(iter(rules.summary_models(model)), model)
    return EXTRACTIVE if cannot_summarize(chosen) else chosen


def ahead(
    document: Document,
    rules: SummaryRules,
    prepared: PreparedPrompt,
    rendering: Rendering,
    outgoing: Outgoing,
    words: CopilotWords,
    facts: dict[str, Any],
) -> Asked:
    """A fork of a prompt that went out: the same messages, and the order after them."""
    model = summary_model(rules, outgoing.model)
    order = PromptMessage("user", f"{words.compact_now}\n\n{words.sections}")

    def request() -> ModelRequest:
        messages = (*prepared.outgoing(rendering), order)
        return _request(document, rules, prepared, messages, model, outgoing)

    way = Way("full", request, needs_tags=True)
    return _asked(document, rules, prepared, model, (way,), rendering.tokens, "", facts, words)


def at_once(
    document: Document,
    rules: SummaryRules,
    prepared: PreparedPrompt,
    told: Told,
    outgoing: Outgoing,
    words: CopilotWords,
    instructions: str,
    facts: dict[str, Any],
) -> Asked:
    """The full request and, where it fails, the simple one; or the one that is forced."""
    policy = rules.profile.prompt_budget or PromptBudget()
    model = summary_model(rules, outgoing.model)
    sections = document.templates.with_instructions(words.sections, instructions)
    window = window_for(document, rules.profile, model, rules.window)

    def full() -> ModelRequest:
        order = f"{words.compact_now}\n\n{sections}"
        elements = full_request(prepared.prompt, told.conversation, order)
        budget = message_budget(
            window, prepared.budget.tool_tokens, margin=policy.tools_margin
        ).messages
        messages = _rendered(elements, _beside_answer(budget, window, rules, document, model),
                             prepared)  # fmt: skip
        return _request(document, rules, prepared, messages, model, outgoing)

    def simple() -> ModelRequest:
        record = SimpleRecord(
            document.templates.system,
            words.record,
            sections,
            prepared.prompt.count,
            max(1, prepared.prompt.result_limit // 2),
            policy.argument_characters,
            escape_tags,
        )
        budget = _beside_answer(window, window, rules, document, model)
        messages = _rendered(record.elements(told.conversation), budget, prepared)
        bare = replace(outgoing, tools=())
        return _request(document, rules, prepared, messages, model, bare)

    ways = {"full": Way("full", full), "simple": Way("simple", simple)}
    wanted = ("full", "simple") if policy.mode == "auto" else (policy.mode,)
    replaced = sum(one.tokens for one in told.conversation.all_rounds()) + sum(
        spoken.tokens for turn in told.conversation.turns for spoken in turn.said
    )
    chosen = tuple(ways[name] for name in wanted)
    return _asked(document, rules, prepared, model, chosen, replaced, instructions, facts, words)


def _beside_answer(
    budget: int, window: int, rules: SummaryRules, document: Document, model: str
) -> int:
    """A budget that leaves room for the answer in the window."""
    return max(1, min(budget, window - _cap(document, rules, model)))


def _cap(document: Document, rules: SummaryRules, model: str) -> int:
    limit = document.door.info(model).output_limit
    window = window_for(document, rules.profile, model, rules.window)
    return max(1, min(output_cap("history", Settings.of(rules.profile), limit), window // 4))


def _rendered(
    elements: list[Element], budget: int, prepared: PreparedPrompt
) -> tuple[PromptMessage, ...]:
    return prepared.outgoing(render(elements, budget, prepared.prompt.count))


def _request(
    document: Document,
    rules: SummaryRules,
    prepared: PreparedPrompt,
    messages: tuple[PromptMessage, ...],
    model: str,
    outgoing: Outgoing,
) -> ModelRequest:
    sent, _ = with_quirks(messages, model, "request", prepared.facts)
    return ModelRequest(
        model,
        tuple(chat_message(message) for message in sent),
        max_output_tokens=_cap(document, rules, model),
        temperature=0.0,
        tools=outgoing.tools,
        tool_choice="none" if outgoing.tools else None,
    )


def _asked(
    document: Document,
    rules: SummaryRules,
    prepared: PreparedPrompt,
    model: str,
    ways: tuple[Way, ...],
    replaced: int,
    instructions: str,
    facts: dict[str, Any],
    words: CopilotWords,
) -> Asked:
    leaf = document.leaf

    def finish(summary: str) -> tuple[str, dict[str, Any]]:
        if not (rules.profile.prompt_budget or PromptBudget()).breadcrumb:
            return summary, {}
        try:
            written = transcripts_of(document).write(document.tree, document.payloads, leaf)
        except OSError as error:
            # A summary without a way back is better than none.
            return summary, {"transcript_problem": str(error)}
        told = {"transcript": str(written.path), "transcript_lines": written.lines}
        return with_breadcrumb(summary, written, words.breadcrumb), told

    settings = {"profile": asdict(rules.profile), **asdict(Settings.of(rules.profile))}
    return Asked(
        rules.profile,
        model,
        ways,
        tokens_before=document.counted_size(rules.profile),
        replaced=replaced,
        most=prepared.budget.messages,
        finish=finish,
        instructions=instructions,
        settings=settings,
        facts=facts,
    )
