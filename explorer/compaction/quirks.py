"""What single models need that the others do not (A52): a table, and a pure function each.

A quirk is about a stage: the request for a summary, the conversation after one, or the hook before
a compaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from explorer.prompting.turns import PromptMessage, Thinking

Stage = Literal["request", "conversation", "hook"]
TOOL_SEARCH = "tool_search"

_ANTHROPIC = r"claude|anthropic"


class QuirkFacts(Struct, frozen=True):
    """What the functions put in: words, and what was there before the summary."""

    no_tools: str = ""
    """Tells a model that it must only write."""
    keep_going: str = ""
    """Tells a model that the work is not over."""
    summary_entry: int | None = None
    """The entry of the summary in the conversation; None without one."""
    thinking: Thinking | None = None
    """The last thinking of what the summary tells."""


QuirkRule = Callable[[Sequence[PromptMessage], QuirkFacts], list[PromptMessage]]


class Quirk(Struct, frozen=True):
    """One peculiarity of a family of models."""

    name: str
    models: str
    """Whom it is about, for people."""
    pattern: str
    """Found in the model's name, without regard to case."""
    stage: Stage
    sentence: str
    """What is done about it, for people."""
    rule: QuirkRule

    def concerns(self, model: str) -> bool:
        """Whether a model is of the family."""
        return re.search(self.pattern, model, re.IGNORECASE) is not None


def no_tools_reminder(messages: Sequence[PromptMessage], facts: QuirkFacts) -> list[PromptMessage]:
    """The last message says, once more, that no tool is to be called."""
    return _with_words(messages, len(messages) - 1, facts.no_tools)


def continue_reminder(messages: Sequence[PromptMessage], facts: QuirkFacts) -> list[PromptMessage]:
    """After the summary stands a reminder to go on with the work."""
    for at, message in enumerate(messages):
        if facts.summary_entry in message.sources:
            return _with_words(messages, at, facts.keep_going)
    return list(messages)


def thinking_reattached(
    messages: Sequence[PromptMessage], facts: QuirkFacts
) -> list[PromptMessage]:
    """The first reply after the summary bears the last thinking from before it, where it has
    none and the conversation goes on within a turn."""
    changed = list(messages)
    for at, message in enumerate(changed):
        if message.role == "assistant":
            if message.thinking is None:
                changed[at] = replace(message, thinking=facts.thinking)
            break
    return changed


def tool_search_stripped(
    messages: Sequence[PromptMessage], facts: QuirkFacts
) -> list[PromptMessage]:
    """Without searches for tools, and without what they found."""
    searches = {
        call.id for message in messages for call in message.calls if call.name == TOOL_SEARCH
    }
    return _without_calls(messages, searches)


def orphans_stripped(messages: Sequence[PromptMessage], facts: QuirkFacts) -> list[PromptMessage]:
    """Without calls that no result answers, and without results that no call asked for."""
    answered = {message.call_id for message in messages if message.role == "tool"}
    called = {call.id for message in messages for call in message.calls}
    orphans = called - answered
    kept = _without_calls(messages, orphans)
    return [m for m in kept if m.role != "tool" or m.call_id in called]


def unchanged(messages: Sequence[PromptMessage], facts: QuirkFacts) -> list[PromptMessage]:
    """What a hook makes of a failure changes nothing about the messages."""
    return list(messages)


QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        "opus-only-writes",
        "Claude Opus",
        r"claude-opus|claude-\d[\w.-]*-opus",
        "request",
        "It is reminded, after everything else, that it must not call tools but only write.",
        no_tools_reminder,
    ),
    Quirk(
        "thinking-goes-on",
        "Anthropic's models that think",
        _ANTHROPIC,
        "conversation",
        "The last thinking from before the summary is given to the first reply after it, since "
        "the provider expects thinking where a turn goes on.",
        thinking_reattached,
    ),
    Quirk(
        "no-tool-search",
        "Anthropic's models that search for tools",
        _ANTHROPIC,
        "request",
        "Searches for tools and their results are taken out of what is summarized: the provider "
        "refuses them where the search is not offered.",
        tool_search_stripped,
    ),
    Quirk(
        "gemini-no-orphans",
        "Gemini",
        r"gemini",
        "request",
        "Calls whose result is not there any more are taken out: the provider refuses them.",
        orphans_stripped,
    ),
    Quirk(
        "gpt-4.1-keeps-going",
        "GPT-4.1",
        r"gpt-4\.1(?!\d)",
        "conversation",
        "After the summary it is reminded to go on until the work is done: it tends to stop.",
        continue_reminder,
    ),
    Quirk(
        "hooks-never-block",
        "every model",
        r"",
        "hook",
        "A hook that fails before a compaction is reported, and the compaction goes on.",
        unchanged,
    ),
)


def quirks_of(model: str, stage: Stage | None = None) -> tuple[Quirk, ...]:
    """The quirks of a model, those of one stage if it is named."""
    return tuple(
        quirk for quirk in QUIRKS if quirk.concerns(model) and stage in (None, quirk.stage)
    )


def with_quirks(
    messages: Sequence[PromptMessage], model: str, stage: Stage, facts: QuirkFacts
) -> tuple[tuple[PromptMessage, ...], tuple[str, ...]]:
    """The messages as a model needs them at a stage, and the names of the quirks that changed
    something."""
    result = tuple(messages)
    changed: list[str] = []
    for quirk in quirks_of(model, stage):
        after = tuple(quirk.rule(result, facts))
        if after != result:
            changed.append(quirk.name)
            result = after
    return result, tuple(changed)


def _with_words(messages: Sequence[PromptMessage], at: int, words: str) -> list[PromptMessage]:
    changed = list(messages)
    if words and changed:
        changed[at] = replace(changed[at], text=f"{changed[at].text}\n\n{words}")
    return changed


def _without_calls(messages: Sequence[PromptMessage], ids: set[str]) -> list[PromptMessage]:
    """The messages without some calls and their results; those without other content are
    dropped."""
    if not ids:
        return list(messages)
    kept: list[PromptMessage] = []
    for message in messages:
        if message.role == "tool" and message.call_id in ids:
            continue
        calls = tuple(call for call in message.calls if call.id not in ids)
        if len(calls) != len(message.calls):
            if not calls and not message.text:
                continue
            message = replace(message, calls=calls)
        kept.append(message)
    return kept
