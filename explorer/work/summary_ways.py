"""How a summary is asked for: full or simple, at once or ahead, and of which model (A50, A54)."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from explorer.agent.keeping import Outgoing
from explorer.compaction.policies import PromptBudget
from explorer.compaction.profile import Settings
from explorer.compaction.quirks import with_quirks
from explorer.compaction.requests import output_cap
from explorer.compaction.serialize import escape_tags
from explorer.models.door import ModelRequest
from explorer.prompting.budget import message_budget
from explorer.prompting.elements import Element
from explorer.prompting.messages import PromptMessage
from explorer.prompting.rendering import Rendering, render
from explorer.prompting.summarizing import SimpleRecord, Told, full_request
from explorer.work.effective_rules import EffectiveRules
from explorer.work.forks import Asked, Way
from explorer.work.prompt import CopilotWords, PreparedPrompt, chat_message, window_for
from explorer.work.transcript import transcripts_of, with_breadcrumb

if TYPE_CHECKING:
    from explorer.work.document import Document


def ahead(
    document: Document,
    rules: EffectiveRules,
    prepared: PreparedPrompt,
    rendering: Rendering,
    outgoing: Outgoing,
    words: CopilotWords,
    facts: dict[str, Any],
) -> Asked:
    """A fork of a prompt that went out: the same messages, and the order after them."""
    model = rules.prompt_summary_model(outgoing.model)
    order = PromptMessage("user", f"{words.compact_now}\n\n{words.sections}")

    def request() -> ModelRequest:
        messages = (*prepared.outgoing(rendering), order)
        return _request(document, rules, prepared, messages, model, outgoing)

    way = Way("full", request, needs_tags=True)
    return _asked(document, rules, prepared, model, (way,), rendering.tokens, "", facts, words)


def at_once(
    document: Document,
    rules: EffectiveRules,
    prepared: PreparedPrompt,
    told: Told,
    outgoing: Outgoing,
    words: CopilotWords,
    instructions: str,
    facts: dict[str, Any],
) -> Asked:
    """The full request and, where it fails, the simple one; or the one that is forced."""
    policy = rules.profile.prompt_budget or PromptBudget()
    model = rules.prompt_summary_model(outgoing.model)
    sections = document.templates.with_instructions(words.sections, instructions)
    window = window_for(document, rules.profile, model, rules.settings.context_window)

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
    budget: int, window: int, rules: EffectiveRules, document: Document, model: str
) -> int:
    """A budget that leaves room for the answer in the window."""
    return max(1, min(budget, window - _cap(document, rules, model)))


def _cap(document: Document, rules: EffectiveRules, model: str) -> int:
    limit = document.door.info(model).output_limit
    window = window_for(document, rules.profile, model, rules.settings.context_window)
    return max(1, min(output_cap("history", Settings.of(rules.profile), limit), window // 4))


def _rendered(
    elements: list[Element], budget: int, prepared: PreparedPrompt
) -> tuple[PromptMessage, ...]:
    return prepared.outgoing(render(elements, budget, prepared.prompt.count))


def _request(
    document: Document,
    rules: EffectiveRules,
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
    rules: EffectiveRules,
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
