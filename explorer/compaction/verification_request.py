"""The request that has a finished summary mended: what it lost or changed, each with its source.

Pure: a summary, what was found and the words in, a request out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.messages import SourceSpan, escape_tags
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, output_cap
from explorer.compaction.summary import SECTION_SETS, Form, section_counts, strip_files
from explorer.compaction.templates import Templates, fill
from explorer.session.text import well_formed
from explorer.tokens.estimate import estimate_text

Lacking = Literal["lost", "changed", "overruled"]
MOST_FINDINGS = 120
"""The number of findings sent at most, the most severe first."""
MOST_LINE = 320
"""Characters of a source's line that are quoted."""
_FINDINGS = "{{findings}}"
_TAG = re.compile(r"<(?=\s*/?\s*findings\b)", re.IGNORECASE)
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
    return _TAG.sub("&lt;", escape_tags(cut))
