"""The requests that go to a summarizer: of a conversation, in windows that each fit where it is too
long for one (C6), and to have a finished summary mended: what it lost or changed, each with its
source.

Windows end at message boundaries. One message that is larger than a window is cut between
characters, and its later pieces say that they go on. Sizes in tokens, by the estimate.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.compaction.messages import (
    Reader,
    Serialized,
    SourceSpan,
    escape_tags,
    read_conversation,
    with_notes,
)
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.summary import (
    FREE,
    SECTION_SETS,
    Form,
    asked_form,
    form_of,
    section_counts,
    strip_files,
)
from explorer.compaction.templates import Templates, fill
from explorer.session.partly_compared import PartlyCompared
from explorer.session.text import well_formed
from explorer.tokens.estimate import estimate_text, utf16_prefix, utf16_units

GOES_ON = "[The message before goes on:]\n"
"""Stands before a piece whose beginning was in the window before."""
SMALLEST_WINDOW = 64
"""Tokens of a conversation below which a window is not worth a request."""
_UNITS_PER_TOKEN = 4
_LINE_SEARCH = 0.75
"""A giant message is cut at the last line end behind this share of the window, if there is one."""


def take_window(conversation: Serialized, start: int, limit: int) -> tuple[Serialized, int]:
    """The window that begins at a character and takes at most ``limit`` tokens, and where the
    next one begins: at the end of the text when this is the last.

    At least a character of a message is taken, so that going on always ends. Of the text nothing
    is lost and nothing is twice; every stretch keeps the entry that it came from.
    """
    text, spans = conversation
    number = bisect_right(spans, start, key=lambda span: span.end)
    if number == len(spans):
        return Serialized(text[start:], []), len(text)
    start = max(start, spans[number].start)
    opening = GOES_ON if start > spans[number].start else ""
    room = limit * _UNITS_PER_TOKEN - len(opening)
    taken, at, last = 0, start, number
    while last < len(spans):
        units = utf16_units(text[at : spans[last].end])
        if taken + units > room:
            break
        taken, at, last = taken + units, spans[last].end, last + 1
    if last == number:
        end = _within(text[start : spans[number].end], room) + start
        last = number + (end == spans[number].end)
    else:
        end = at
    pieces = [SourceSpan(max(a, start), min(b, end), who) for a, b, who in spans[number : last + 1]]
    shift = len(opening) - start
    window = Serialized(
        opening + text[start:end],
        [SourceSpan(a + shift, b + shift, who) for a, b, who in pieces if a < b],
    )
    return window, spans[last].start if last < len(spans) and end <= spans[last].start else end


def _within(message: str, room: int) -> int:
    """Characters of a message that take at most ``room`` UTF-16 units; at the end of a line where
    one is near, and at least one."""
    piece = utf16_prefix(message, max(room, 1), keep_pairs=True)
    line = piece.rfind("\n", int(len(piece) * _LINE_SEARCH)) + 1
    return max(1, line or len(piece))


def newest_within(conversation: Serialized, limit: int) -> Serialized:
    """The last messages that take at most ``limit`` tokens; of one that is larger its end."""
    text, spans = conversation
    room = limit * _UNITS_PER_TOKEN
    if utf16_units(text) <= room or not spans:
        return conversation
    at, number, units = len(text), len(spans), 0
    while number:
        units += utf16_units(text[spans[number - 1].start : at])
        if units > room:
            break
        number -= 1
        at = spans[number].start
    if number == len(spans):
        span = spans[-1]
        piece = text[max(span.start, span.end - max(1, room // 2)) : span.end]
        return Serialized(piece, [SourceSpan(0, len(piece), span.entry)])
    return Serialized(text[at:], [SourceSpan(a - at, b - at, who) for a, b, who in spans[number:]])


Purpose = Literal["history", "turn_prefix", "short", "branch", "verify"]
BRANCH_OUTPUT_TOKENS = 2048
SHORT_OUTPUT_TOKENS = 512


class RequestMaterial(Struct, frozen=True):
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


class SummaryRequest(PartlyCompared, frozen=True):
    """One call to a summarizer. Both texts go out exactly as they are here."""

    UNCOMPARED = frozenset({"material"})

    purpose: Purpose
    system: str
    prompt: str
    max_output_tokens: int
    sources: list[SourceSpan] = field(default_factory=list)
    """Which entry each stretch of the prompt came from, ascending; offsets in characters."""
    form: Form = FREE
    """The sections that the answer must have."""
    material: RequestMaterial | None = None


class Additions(Struct, frozen=True):
    """What extensions bring to a compaction's requests (A39)."""

    context: tuple[str, ...] = ()
    prompt: str | None = None
    """Replaces the words that ask for the history; no form is required then."""


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
    entries: Reader,
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
    view = preparation.cuts.view
    recorded = {at: copy for at, copy in view.again.items() if copy.why == "recorded"}
    entries = with_notes(entries, view.pruned, recorded)
    settings = preparation.settings
    # Shares of the window are of the one that is set.
    profile = replace(preparation.profile, context_window=settings.context_window)
    added = additions or Additions()
    one_summary = profile.split == "one-summary"
    summarized = (
        [*preparation.history, *preparation.turn_prefix] if one_summary else preparation.history
    )
    wanted = [] if one_summary else preparation.turn_prefix
    history = read_conversation(summarized, entries, templates, profile)
    prefix = read_conversation(wanted, entries, templates, profile)
    requests: list[SummaryRequest] = []
    asks_history = bool(summarized) or not wanted
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
        cap = output_cap("turn_prefix", settings, model_limit)
        requests.append(_prefix_request(prefix, instructions, templates, profile, added, cap))
    if profile.short_summary and requests:
        recent = recent_messages(preparation, entries, templates) or history
        material = material_of(templates, templates.short, "", recent, profile)
        cap = output_cap("short", settings, model_limit)
        requests.append(request_of(material, "short", templates.system, cap))
    return requests


def _prefix_request(
    prefix: Serialized,
    instructions: str,
    templates: Templates,
    profile: Profile,
    added: Additions,
    cap: int,
) -> SummaryRequest:
    """The request for the first part of a split turn; ``cap``: tokens of its answer at most."""
    every = profile.focus == "every-request"
    material = material_of(
        templates, templates.turn_prefix, instructions if every else "", prefix, profile
    )
    material = replace(material, context=added.context if every else ())
    form = asked_form(form_of(profile, "turn_prefix"), templates.turn_prefix)
    return request_of(material, "turn_prefix", templates.system, cap, form)


def _history(
    preparation: Preparation,
    conversation: Serialized,
    previous: str,
    instructions: str,
    templates: Templates,
    added: Additions,
) -> RequestMaterial:
    profile = preparation.profile
    words = templates.sections[profile.sections]
    first, update = words.history_first, words.history_update
    if added.prompt is not None:
        first, update = added.prompt, templates.going_on(added.prompt)
        update = first if previous else update
    return RequestMaterial(
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
) -> RequestMaterial:
    """The material of a request whose words have no separate form for updating."""
    return RequestMaterial(
        conversation,
        templates.with_instructions(words, instructions),
        templates.with_instructions(templates.going_on(words), instructions),
        profile,
    )


def request_of(
    material: RequestMaterial, purpose: Purpose, system: str, cap: int, form: Form = FREE
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
        self._sources: list[SourceSpan] = []

    def _add(self, text: str) -> int:
        """Append a part and return where it starts."""
        start = self._length + (2 if self._parts else 0)
        self._parts.append(text)
        self._length = start + len(text)
        return start

    def conversation(self, serialized: Serialized) -> None:
        opening = "<conversation>\n"
        start = self._add(f"{opening}{serialized.text}\n</conversation>") + len(opening)
        self._sources += [SourceSpan(start + a, start + b, at) for a, b, at in serialized.spans]

    def previous(self, summary: str, compaction: int) -> None:
        opening = "<previous-summary>\n"
        # The file lists are kept in the entry's details; a model that copies them doubles them.
        text = escape_tags(strip_files(summary)) if self._corrected else summary
        start = self._add(f"{opening}{text}\n</previous-summary>") + len(opening)
        if compaction >= 0:
            self._sources.append(SourceSpan(start, start + len(text), compaction))

    def context(self, lines: Sequence[str]) -> None:
        text = "\n".join(lines)
        if text:
            inner = escape_tags(text) if self._corrected else text
            self._add(f"<additional-context>\n{inner}\n</additional-context>")

    def words(self, text: str) -> None:
        self._add(text)

    def request(
        self, purpose: Purpose, system: str, cap: int, form: Form, material: RequestMaterial
    ) -> SummaryRequest:
        # One for one, so that the sources stay where they are.
        prompt = well_formed("\n\n".join(self._parts))
        return SummaryRequest(purpose, system, prompt, cap, self._sources, form, material)


MOST_SENTENCES = 3
MOST_CHARACTERS = 600
_MARKUP = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+.*|[-*+][ \t]+|\d{1,2}[.)][ \t]+|>[ \t]*)", re.MULTILINE
)
_TAG = re.compile(r"</?[a-z][a-z-]*>", re.IGNORECASE)
_SENTENCE = re.compile(r".+?(?:[.!?][\"')\]]*(?=\s|\Z)|\Z)", re.DOTALL)


def recent_messages(
    preparation: Preparation, entries: Reader, templates: Templates
) -> Serialized | None:
    """The messages that the compaction keeps, the newest of them up to the tokens that count as
    recent; None when it keeps nothing that can be summarized."""
    view = preparation.cuts.view
    kept = view.entries(preparation.cut, len(view), view.sent)
    read = read_conversation(kept, entries, templates, preparation.profile)
    if not read.text:
        return None
    return newest_within(read, max(1, preparation.settings.keep_recent_tokens))


def tidy_short(answer: str) -> str:
    """An answer as it is shown: one paragraph of at most three sentences, without markup; empty
    when nothing is left of it."""
    plain = " ".join(_MARKUP.sub("", _TAG.sub("", answer)).replace("**", "").split())
    sentences = [found.strip() for found in _SENTENCE.findall(plain) if found.strip()]
    text = " ".join(sentences[:MOST_SENTENCES]).strip("\"'")
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[: MOST_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"


Lacking = Literal["lost", "changed", "overruled"]
MOST_FINDINGS = 120
"""The number of findings sent at most, the most severe first."""
MOST_LINE = 320
"""Characters of a source's line that are quoted."""
_FINDINGS = "{{findings}}"
_FINDINGS_TAG = re.compile(r"<(?=\s*/?\s*findings\b)", re.IGNORECASE)
_WRAPPED = re.compile(r"\A\s*<summary>\s*(.*?)\s*</summary>\s*\Z", re.DOTALL | re.IGNORECASE)


class Lack(Struct, frozen=True):
    """One fact that a summary lost or states differently from its source."""

    lacking: Lacking
    kind: str
    """What it is: ``path``, ``constraint``."""
    text: str
    """What the record says."""
    stated: str = ""
    """What the summary says instead; empty for what is lost."""
    entry: int = -1
    """The entry that says it, or -1."""
    line: str = ""
    """The line of that entry."""


class VerifyRequest(Struct, frozen=True):
    """The request, and the limits of its answer."""

    request: SummaryRequest
    footer: str
    """The file lists that the summary ended with; they are not shown and not mended."""
    most_tokens: int
    """Tokens that the answer must stay below (E16)."""
    reported: tuple[Lack, ...]
    """The findings in the request; limited to the most severe ones."""


def profile_checked(profile: Profile) -> Profile:
    """The profile as a mended summary is checked: never taken as it comes, whichever system it
    is of."""
    return replace(profile, answers="checked")


def build_verify_request(
    summary: str,
    lacks: Sequence[Lack],
    templates: Templates,
    profile: Profile,
    settings: Settings,
    replaced_tokens: int,
    *,
    model_limit: int | None = None,
) -> VerifyRequest:
    """The request to mend ``summary``. ``lacks``: the most severe first; ``replaced_tokens``: what
    the summary takes the place of (E16).

    Raises ValueError where there is nothing to mend, or no room for an answer.
    """
    if not lacks:
        raise ValueError("Nothing was found lost or changed: there is nothing to mend.")
    body, footer = split_footer(summary)
    if not body.strip():
        raise ValueError("The summary is empty: make a draft first.")
    most = replaced_tokens - estimate_text(footer)
    room = output_cap("verify", settings) + output_cap("turn_prefix", settings)
    budget = min(most - 1, room if model_limit is None else min(room, model_limit))
    size = estimate_text(body)
    if budget < size:
        raise ValueError(
            f"The summary takes {size:,} tokens and may take {max(0, budget):,}: there is no room "
            "to put anything back. Shorten it, or raise the reserve."
        )
    reported = tuple(lacks[:MOST_FINDINGS])
    values = {"summary": body, "budget": f"{budget:,}", "size": f"{size:,}"}
    prompt, sources = _prompt(templates.verify, values, reported)
    request = SummaryRequest(
        "verify", templates.verify_system, prompt, budget, sources, form_of_text(body, profile)
    )
    return VerifyRequest(request, footer, most, reported)


def split_footer(summary: str) -> tuple[str, str]:
    """A summary without its file lists, and the lists that end it."""
    body = strip_files(summary).rstrip()
    rest = summary[len(body) :] if summary.startswith(body) else ""
    return body, rest.rstrip()


def mended_text(answer: str, footer: str) -> str:
    """The summary that an answer becomes: without tags around it, with the file lists."""
    wrapped = _WRAPPED.match(answer)
    text = wrapped.group(1) if wrapped else answer.strip()
    return strip_files(text).rstrip() + footer


def form_of_text(body: str, profile: Profile) -> Form:
    """The headings that a summary has now, of those that its profile knows: the mended one must
    have them too, each once."""
    forms = SECTION_SETS[profile.sections]
    history, prefix = forms["history"], forms["turn_prefix"]
    names = (*history.required, *prefix.required)
    asked = Form(names, history.allowed, history.numbered)
    counts = section_counts(body, asked)
    return replace(
        asked,
        required=tuple(name for name in names if counts[name] == 1),
        allowed=tuple(name for name in history.allowed if counts[name] == 1),
    )


def _prompt(
    template: str, values: dict[str, str], lacks: Sequence[Lack]
) -> tuple[str, list[SourceSpan]]:
    """The filled template, and which entry each line of a source came from."""
    before, _, after = template.partition(_FINDINGS)
    start = len(fill(before, values))
    lines: list[str] = []
    sources: list[SourceSpan] = []
    for number, lack in enumerate(lacks, 1):
        if lines:
            start += 1
        text = _lack_text(number, lack)
        lines.append(text)
        if lack.entry >= 0:
            sources.append(SourceSpan(start, start + len(text), lack.entry))
        start += len(text)
    findings = "\n".join(lines)
    whole = fill(before, values) + findings + fill(after, {**values, "findings": findings})
    return well_formed(whole), sources


def _lack_text(number: int, lack: Lack) -> str:
    what = f"{number}. [{lack.kind}] {lack.lacking}: {_one_line(lack.text)}"
    if lack.stated and lack.stated != lack.text:
        what += f"\n   summary: {_one_line(lack.stated)}"
    if lack.line:
        what += f"\n   record #{lack.entry}: {_one_line(lack.line)}"
    return what


def _one_line(text: str) -> str:
    """A text on one line, with nothing in it that ends the list that it stands in."""
    flat = " ".join(text.split())
    cut = flat if len(flat) <= MOST_LINE else f"{flat[: MOST_LINE - 1]}…"
    return _FINDINGS_TAG.sub("&lt;", escape_tags(cut))
