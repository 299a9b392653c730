"""What becomes of an entry in a compaction, and why, in a sentence."""

from __future__ import annotations

from enum import IntEnum

from explorer.compaction.path_view import PathView
from explorer.compaction.prepare import Preparation, Refusal
from explorer.compaction.reasons import tokens_text
from explorer.session.kinds import CONTEXT_KINDS, Kind


class Verdict(IntEnum):
    """What becomes of an entry."""

    SUMMARIZED_EARLIER = 0
    TO_SUMMARIZE = 1
    TURN_PREFIX = 2
    KEPT = 3
    NOT_SENT = 4
    PRUNED = 5
    LOST = 6
    PINNED = 7
    """Told again after the summary, word for word: pinned, or one of the user's own messages that
    a rule keeps."""
    OMITTED = 8
    """Left out of the context and of summaries, at a person's wish."""


def verdict_reason(
    preparation: Preparation | Refusal, verdict: Verdict, position: int, weight: int
) -> str:
    """Why the entry at a position of the path has its verdict."""
    view = preparation.cuts.view
    if view.kinds[position] == Kind.COMPACTION:
        return _compaction(view, preparation, verdict, position)
    if verdict is Verdict.OMITTED:
        return _omitted(view, position)
    if verdict is Verdict.PINNED:
        return _told_again(view, preparation, position)
    if verdict is Verdict.NOT_SENT:
        return _not_sent(view, position)
    if verdict is Verdict.SUMMARIZED_EARLIER:
        if view.compaction < 0:
            return "No longer in the context."
        said = _summarized_already(view, position)
        by = view.shape.omitted.get(view.path[position])
        return said if by is None else f"{said} #{by} omitted it since; that summary may tell it."
    if verdict is Verdict.LOST:
        by = view.path[view.compaction]
        return (
            f"Lost: compaction #{by} kept it, so no summary tells of it, and this compaction "
            "starts after that one."
        )
    if verdict is Verdict.PRUNED:
        return _pruned(view, preparation, position)
    if verdict is Verdict.KEPT or isinstance(preparation, Refusal):
        return _kept(view, preparation, position, weight)
    if verdict is Verdict.TURN_PREFIX:
        turn = view.turn(preparation.turn_start)
        return (
            f"{_why_cut(preparation)}, inside turn {turn}, which is split: "
            f"#{view.path[position]} is in its first part, which gets a summary of its own "
            f"({tokens_text(weight)} tokens)."
        )
    return (
        f"{_why_cut(preparation)}. #{view.path[position]} is older, so it goes into the summary "
        f"({tokens_text(weight)} tokens)."
    )


def _why_cut(preparation: Preparation) -> str:
    """The rule that puts the cut where it is, with its figure."""
    cut, settings = f"#{preparation.path[preparation.cut]}", preparation.settings
    if preparation.by_hand:
        return f"The cut was put at {cut} by hand"
    if preparation.profile.cut_unit == "rounds":
        return f"Keep rounds is {settings.keep_rounds:,}: the cut falls at {cut}"
    said = f"Keep recent is {settings.keep_recent_tokens:,} tokens"
    if preparation.keep.ratio > 1:
        said += f", {tokens_text(preparation.keep.tokens)} as entries are counted"
    return f"{said}: counted from the newest entry, the cut falls at {cut}"


def _summarized_already(view: PathView, position: int) -> str:
    by = f"compaction #{view.path[view.compaction]}"
    if not position < view.kept_from < view.compaction:
        return f"{by.capitalize()} summarized it already."
    return (
        f"{by.capitalize()} kept from #{view.path[view.kept_from]} on; #{view.path[position]} is "
        "older, so the summary tells of it already."
    )


def _compaction(
    view: PathView, preparation: Preparation | Refusal, verdict: Verdict, position: int
) -> str:
    if position != view.compaction:
        return "An older compaction: a later one, or a new start, took its place."
    if verdict is Verdict.LOST:
        return (
            "Lost: there is no history to summarize before the split turn, and the previous "
            "summary is dropped with it."
        )
    if isinstance(preparation, Refusal):
        return "The summary in force: the context starts with it."
    if not preparation.history and preparation.turn_prefix:
        return "The summary in force: carried over word for word into the new one."
    return "The summary in force: it goes to the summarizer and is updated."


def _omitted(view: PathView, position: int) -> str:
    entry, kind = view.path[position], view.kinds[position]
    by = view.shape.omitted[entry]
    what = "Omitted"
    if kind == Kind.USER:
        what = "A message of the user, omitted"
    elif kind == Kind.TOOL_RESULT:
        what = "Omitted with its call"
    return (
        f"{what} by #{by}: left out of the context and of summaries; the log keeps it, and it can "
        "be taken in again."
    )


def _told_again(view: PathView, preparation: Preparation | Refusal, position: int) -> str:
    entry = view.path[position]
    later = preparation.again if isinstance(preparation, Preparation) else view.again
    told = later[entry]
    tokens = tokens_text(max(0, view.weight_in_place(position) + told.extra))
    if told.why == "pin":
        said = (
            f"Pinned by #{told.by}: told again after the summary, word for word ({tokens} tokens)."
        )
    elif told.by >= 0:
        said = (
            f"One of the user's own messages, which #{told.by} keeps: told again after the summary,"
            f" word for word ({tokens} tokens)."
        )
    else:
        said = (
            "One of the user's own messages, which these rules keep: told again after the summary,"
            f" word for word ({tokens} tokens)."
        )
    if entry in view.again:
        return said
    return f"{said} The summarizer reads it too."


def _pruned(view: PathView, preparation: Preparation | Refusal, position: int) -> str:
    result = view.pruned[view.path[position]]
    told = "the model is sent the note"
    if isinstance(preparation, Preparation) and position < preparation.cut:
        told = "the summarizer is told the note"
    return (
        f"Pruned by #{result.by}: a note stands for its {tokens_text(result.tokens)} tokens and "
        f"saves {tokens_text(result.saved)}; {told} alone."
    )


def _not_sent(view: PathView, position: int) -> str:
    kind = Kind(view.kinds[position])
    if position <= view.reset:
        if kind is Kind.RESET_BOUNDARY:
            return "A new start: nothing before it is in the context."
        return f"Before the new start at #{view.path[view.reset]}: no longer in the context."
    if kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION):
        return "A command that was kept out of the context: never sent."
    if kind is Kind.BRANCH_SUMMARY:
        return "An empty branch summary: nothing to send."
    if kind in CONTEXT_KINDS:
        return "Not part of the context."
    return "Notes about the session, never sent to a model."


def _kept(view: PathView, preparation: Preparation | Refusal, position: int, weight: int) -> str:
    if isinstance(preparation, Refusal):
        return "Kept: nothing is compacted."
    held = tokens_text(view.weight(position, len(view)))
    pin = view.shape.pinned.get(view.path[position])
    if pin is not None:
        return (
            f"Kept as it is ({tokens_text(weight)} tokens), and pinned by #{pin.by}: once it is"
            " summarized it is told again, word for word."
        )
    rule = f"{_why_cut(preparation)}."
    if position == preparation.cut_point:
        return f"The first kept message: from here to the end are {held} tokens. {rule}"
    if view.kinds[position] == Kind.TOOL_RESULT:
        return f"Kept with its call; from here to the end are {held} tokens. {rule}"
    return (
        f"Kept as it is ({tokens_text(weight)} tokens); from here to the end are {held} tokens. "
        f"{rule}"
    )
