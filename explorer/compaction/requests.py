"""The requests that go to the summarizer, with the entry behind every piece of them (A20, A22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from explorer.compaction.convert import entry_to_llm
from explorer.compaction.prepare import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.serialize import Serialized, Span, escape_tags, serialize
from explorer.compaction.summary import strip_files
from explorer.compaction.wording import Templates
from explorer.session.text import well_formed

Purpose = Literal["history", "turn_prefix", "branch"]
EntryReader = Callable[[Sequence[int]], Sequence[Mapping[str, Any]]]
"""Gives the JSON of entries by index, in the order asked for."""

BRANCH_OUTPUT_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One call to a summarizer. Both texts go out exactly as they are here."""

    purpose: Purpose
    system: str
    prompt: str
    max_output_tokens: int
    sources: list[Span] = field(default_factory=list)
    """Which entry each stretch of the prompt came from, ascending; offsets in characters."""


def output_cap(purpose: Purpose, settings: Settings, model_limit: int | None = None) -> int:
    """Tokens that an answer may take (B10), never above what the model can write (E19)."""
    caps = {
        "history": settings.reserve_tokens * 4 // 5,
        "turn_prefix": settings.reserve_tokens // 2,
        "branch": BRANCH_OUTPUT_TOKENS,
    }
    cap = caps[purpose]
    return max(1, cap if model_limit is None else min(cap, model_limit))


def build_requests(
    preparation: Preparation,
    entries: EntryReader,
    previous_summary: str | None,
    instructions: str,
    templates: Templates,
    *,
    additional_context: Sequence[str] = (),
    model_limit: int | None = None,
) -> list[SummaryRequest]:
    """The requests of a compaction: the history's, and for a split turn the prefix's (A20).

    They are independent and can run at the same time. Nothing is asked about nothing (E4), so the
    list may be empty in the corrected profile. ``previous_summary``: of the compaction in force.
    ``additional_context``: lines that extensions add (A39).
    """
    profile, settings = preparation.profile, preparation.settings
    history = read_conversation(preparation.history, entries, templates, profile)
    prefix = read_conversation(preparation.turn_prefix, entries, templates, profile)
    requests: list[SummaryRequest] = []
    asks_history = bool(preparation.history) or not preparation.turn_prefix
    if profile.empty_input == "refuse":
        asks_history = bool(history.text)
    if asks_history:
        words = templates.history_update if previous_summary else templates.history_first
        prompt = _Prompt(profile)
        prompt.conversation(history)
        if previous_summary:
            prompt.previous(previous_summary, preparation.previous_compaction)
        prompt.context(additional_context)
        prompt.words(templates.with_instructions(words, instructions))
        cap = output_cap("history", settings, model_limit)
        requests.append(prompt.request("history", templates.system, cap))
    if prefix.text or (preparation.turn_prefix and profile.empty_input == "prepare"):
        focus = instructions if profile.focus == "every-request" else ""
        prompt = _Prompt(profile)
        prompt.conversation(prefix)
        if profile.focus == "every-request":
            prompt.context(additional_context)
        prompt.words(templates.with_instructions(templates.turn_prefix, focus))
        cap = output_cap("turn_prefix", settings, model_limit)
        requests.append(prompt.request("turn_prefix", templates.system, cap))
    return requests


def read_conversation(
    wanted: Sequence[int], entries: EntryReader, templates: Templates, profile: Profile
) -> Serialized:
    """Entries, read and serialized; what is never sent says nothing."""
    if not wanted:
        return Serialized("", [])
    messages = (entry_to_llm(entry, templates) for entry in entries(wanted))
    return serialize(
        ((index, sent) for index, sent in zip(wanted, messages, strict=True) if sent is not None),
        profile,
    )


def conversation_request(
    purpose: Purpose, conversation: Serialized, words: str, system: str, cap: int, profile: Profile
) -> SummaryRequest:
    """A request of one conversation and the words that follow it."""
    prompt = _Prompt(profile)
    prompt.conversation(conversation)
    prompt.words(words)
    return prompt.request(purpose, system, cap)


class _Prompt:
    """A prompt under construction: its parts in the order of A22, and their sources."""

    def __init__(self, profile: Profile) -> None:
        self._corrected = profile.tags_in_text == "escaped"
        self._parts: list[str] = []
        self._length = 0
        self._sources: list[Span] = []

    def _add(self, text: str) -> int:
        """Append a part and return where it starts."""
        start = self._length + (2 if self._parts else 0)
        self._parts.append(text)
        self._length = start + len(text)
        return start

    def conversation(self, serialized: Serialized) -> None:
        opening = "<conversation>\n"
        start = self._add(f"{opening}{serialized.text}\n</conversation>") + len(opening)
        self._sources += [Span(start + a, start + b, at) for a, b, at in serialized.spans]

    def previous(self, summary: str, compaction: int) -> None:
        opening = "<previous-summary>\n"
        # The file lists are kept in the entry's details; a model that copies them doubles them.
        text = escape_tags(strip_files(summary)) if self._corrected else summary
        start = self._add(f"{opening}{text}\n</previous-summary>") + len(opening)
        if compaction >= 0:
            self._sources.append(Span(start, start + len(text), compaction))

    def context(self, lines: Sequence[str]) -> None:
        text = "\n".join(lines)
        if text:
            inner = escape_tags(text) if self._corrected else text
            self._add(f"<additional-context>\n{inner}\n</additional-context>")

    def words(self, text: str) -> None:
        self._add(text)

    def request(self, purpose: Purpose, system: str, cap: int) -> SummaryRequest:
        # One for one, so that the sources stay where they are.
        prompt = well_formed("\n\n".join(self._parts))
        return SummaryRequest(purpose, system, prompt, cap, self._sources)
