"""The requests that go to the summarizer, with the entry behind every piece of them (A20, A22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from explorer.compaction.conversation import EntryReader, read_conversation
from explorer.compaction.convert import with_notes
from explorer.compaction.prepare import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.serialize import Serialized, Span, escape_tags
from explorer.compaction.short_summary import recent_messages
from explorer.compaction.summary import strip_files
from explorer.compaction.validation import FREE, Form, asked_form, form_of
from explorer.compaction.wording import Templates
from explorer.session.text import well_formed

Purpose = Literal["history", "turn_prefix", "short", "branch", "verify"]
BRANCH_OUTPUT_TOKENS = 2048
SHORT_OUTPUT_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Material:
    """What a request is made of, kept apart so that a long one can be asked in windows (C6)."""

    conversation: Serialized
    words: str
    """What is asked for when no notes came before."""
    update_words: str
    """What is asked for when there are earlier notes to bring up to date."""
    profile: Profile
    previous: str = ""
    """The notes that are updated; empty for none."""
    previous_entry: int = -1
    """The compaction that they are from, or -1."""
    context: tuple[str, ...] = ()
    """Lines that extensions add (A39)."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One call to a summarizer. Both texts go out exactly as they are here."""

    purpose: Purpose
    system: str
    prompt: str
    max_output_tokens: int
    sources: list[Span] = field(default_factory=list)
    """Which entry each stretch of the prompt came from, ascending; offsets in characters."""
    form: Form = FREE
    """The sections that the answer must have."""
    material: Material | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Additions:
    """What extensions bring to a compaction's requests (A39)."""

    context: tuple[str, ...] = ()
    prompt: str | None = None
    """Takes the place of the words that ask for the history; its form is then its own."""


def output_cap(purpose: Purpose, settings: Settings, model_limit: int | None = None) -> int:
    """Tokens that an answer may take (B10), never above what the model can write (E19)."""
    caps = {
        "history": settings.reserve_tokens * 4 // 5,
        "turn_prefix": settings.reserve_tokens // 2,
        "short": min(SHORT_OUTPUT_TOKENS, settings.reserve_tokens // 5),
        "branch": BRANCH_OUTPUT_TOKENS,
        "verify": settings.reserve_tokens * 4 // 5,
    }
    cap = caps[purpose]
    return max(1, cap if model_limit is None else min(cap, model_limit))


def purposes_of(preparation: Preparation) -> list[Purpose]:
    """What a compaction's requests are for, in their order, as far as that is known before the
    entries are read."""
    two = preparation.profile.split == "two-summaries"
    prefix = bool(preparation.turn_prefix) and two
    purposes: list[Purpose] = ["history"] if preparation.history or not prefix else []
    purposes += ["turn_prefix"] if prefix else []
    return [*purposes, "short"] if preparation.profile.short_summary else purposes


def build_requests(
    preparation: Preparation,
    entries: EntryReader,
    previous_summary: str | None,
    instructions: str,
    templates: Templates,
    *,
    additions: Additions | None = None,
    model_limit: int | None = None,
) -> list[SummaryRequest]:
    """The requests of a compaction: the history's, for a split turn the prefix's (A20), and where
    the profile shows a few sentences the one that asks for them (A25).

    They are independent and can run at the same time. Nothing is asked about nothing (E4), so the
    list may be empty in the corrected profile. ``previous_summary``: of the compaction in force.
    """
    entries = with_notes(entries, preparation.cuts.view.pruned)
    settings = preparation.settings
    # Shares of the window are of the one that is set.
    profile = replace(preparation.profile, context_window=settings.context_window)
    added = additions or Additions()
    one = profile.split == "one-summary"
    told = [*preparation.history, *preparation.turn_prefix] if one else preparation.history
    wanted = [] if one else preparation.turn_prefix
    history = read_conversation(told, entries, templates, profile)
    prefix = read_conversation(wanted, entries, templates, profile)
    requests: list[SummaryRequest] = []
    asks_history = bool(told) or not wanted
    if profile.empty_input == "refuse":
        asks_history = bool(history.text)
    if asks_history:
        material = _history(
            preparation, history, previous_summary or "", instructions, templates, added
        )
        form = FREE
        if added.prompt is None:
            asks = material.update_words if material.previous else material.words
            form = asked_form(form_of(profile, "history"), asks)
        cap = output_cap("history", settings, model_limit)
        requests.append(request_of(material, "history", templates.system, cap, form))
    if prefix.text or (wanted and profile.empty_input == "prepare"):
        every = profile.focus == "every-request"
        material = material_of(
            templates, templates.turn_prefix, instructions if every else "", prefix, profile
        )
        material = replace(material, context=added.context if every else ())
        cap = output_cap("turn_prefix", settings, model_limit)
        form = asked_form(form_of(profile, "turn_prefix"), templates.turn_prefix)
        requests.append(request_of(material, "turn_prefix", templates.system, cap, form))
    if profile.short_summary and requests:
        recent = recent_messages(preparation, entries, templates) or history
        material = material_of(templates, templates.short, "", recent, profile)
        cap = output_cap("short", settings, model_limit)
        requests.append(request_of(material, "short", templates.system, cap))
    return requests


def _history(
    preparation: Preparation,
    conversation: Serialized,
    previous: str,
    instructions: str,
    templates: Templates,
    added: Additions,
) -> Material:
    profile = preparation.profile
    own = templates.sections[profile.sections]
    first, update = own.history_first, own.history_update
    if added.prompt is not None:
        first, update = added.prompt, templates.going_on(added.prompt)
        update = first if previous else update
    return Material(
        conversation,
        templates.with_instructions(first, instructions),
        templates.with_instructions(update, instructions),
        profile,
        previous,
        preparation.previous_compaction,
        added.context,
    )


def material_of(
    templates: Templates, words: str, instructions: str, conversation: Serialized, profile: Profile
) -> Material:
    """The material of a request whose words have no form of their own for updating."""
    return Material(
        conversation,
        templates.with_instructions(words, instructions),
        templates.with_instructions(templates.going_on(words), instructions),
        profile,
    )


def request_of(
    material: Material, purpose: Purpose, system: str, cap: int, form: Form = FREE
) -> SummaryRequest:
    """The request for a material, its parts in the order of A22."""
    prompt = _Prompt(material.profile)
    prompt.conversation(material.conversation)
    if material.previous:
        prompt.previous(material.previous, material.previous_entry)
    prompt.context(material.context)
    prompt.words(material.update_words if material.previous else material.words)
    return prompt.request(purpose, system, cap, form, material)


def window_request(
    request: SummaryRequest, part: Serialized, previous: str, previous_entry: int, cap: int
) -> SummaryRequest:
    """The request for one window of a long request's conversation (C6).

    ``previous``: the notes on everything before the window; ``cap``: tokens for the answer.
    Raises ValueError for a request that was made without its material.
    """
    if request.material is None:
        raise ValueError("this request cannot be asked in windows: its parts were not kept")
    material = replace(
        request.material, conversation=part, previous=previous, previous_entry=previous_entry
    )
    return request_of(material, request.purpose, request.system, cap, request.form)


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

    def request(
        self, purpose: Purpose, system: str, cap: int, form: Form, material: Material
    ) -> SummaryRequest:
        # One for one, so that the sources stay where they are.
        prompt = well_formed("\n\n".join(self._parts))
        return SummaryRequest(purpose, system, prompt, cap, self._sources, form, material)
