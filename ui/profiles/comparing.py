"""What a comparison says, in words. No Qt in here."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.compaction.profile import Profile
from explorer.compaction.profile_comparison import Cause, ProfileOutcome
from ui.widgets.figures import count, full, short

Cell = tuple[str, str, str]
"""A caption, a figure, and what it means in a sentence."""


def cells_of(found: ProfileOutcome) -> list[Cell]:
    """The figures of an outcome, in the same order for every profile."""
    before, after = found.context_tokens, found.tokens_after
    about = "≈" if found.shown.counted_by == "estimate" else ""
    due = "due now" if found.is_due else "not due"
    return [
        ("entries take", about + short(before), _counted(found)),
        (
            "afterwards",
            about + short(after) if found.compacts else "the same",
            f"about {full(after)} tokens; the size of the summary is a guess",
        ),
        (
            "told",
            count(found.messages, "message") if found.compacts else "nothing",
            "Messages that the summary tells",
        ),
        ("split turn", _split(found), "Whether the cut falls inside a turn, and what comes of it"),
        (
            "starts above",
            f"{short(found.limit)}, {due}",
            f"By itself above {full(found.limit)} tokens; its own count here is "
            f"{full(found.tokens_before)} ({found.tokens_source})",
        ),
        ("sections", found.profile.sections, "Whose headings the summary has"),
        (
            "lost",
            count(found.lost, "entry", "entries") if found.lost else "none",
            "Entries that are neither kept nor told by any summary",
        ),
    ]


def _counted(found: ProfileOutcome) -> str:
    return f"{full(found.context_tokens)} tokens, counted by the {found.shown.counted_by}"


def _split(found: ProfileOutcome) -> str:
    if not found.is_split_turn:
        return "no"
    if found.profile.split == "one-summary":
        return "yes, in one"
    return f"yes, {found.turn_prefix} apart"


def also(profile: Profile) -> str:
    """What else a profile does around a compaction; empty when nothing."""
    does = []
    if profile.pruning is not None:
        does.append("prunes old tool results first")
    if profile.background is not None:
        does.append("makes summaries ahead")
    if profile.prompt_budget is not None:
        does.append("renders prompts to a budget")
    if profile.short_summary:
        does.append("writes a short summary too")
    if profile.auto_continue:
        does.append("goes on by itself afterwards")
    if not does:
        return ""
    words = ", ".join(does)
    return words[:1].upper() + words[1:] + "."


def decides_alike(one: ProfileOutcome, other: ProfileOutcome) -> bool:
    """Whether two profiles do the same with every entry."""
    return bytes(one.shown.verdicts) == bytes(other.shown.verdicts)


def why(
    found: ProfileOutcome, reference: ProfileOutcome, causes: Sequence[Cause] | None
) -> list[str]:
    """Why a profile decides otherwise than the one it is compared with, in sentences.

    ``causes`` is None while they are looked for.
    """
    if found.profile.name == reference.profile.name:
        return [found.reason]
    name = reference.profile.title
    alike = decides_alike(found, reference)
    if causes is None:
        return ["Looking for the rules that make the difference…"]
    if not causes:
        if alike:
            return [f"Here it decides as {name} does."]
        return [f"No single rule makes the difference to {name}: several do together."]
    first = f"Each entry fares as under {name}, but figures differ:" if alike else ""
    lines = [f"{cause.title}: {cause.says}. ({name}: {cause.instead_of}.)" for cause in causes]
    return [first, *lines] if first else lines
