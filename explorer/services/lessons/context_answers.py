"""Answers on what the model sees and when that is too much, and on the cut: where it falls, where
it may fall, and what a split turn is.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from msgspec.structs import replace

from explorer.compaction.context_size import ContextSize, context_size
from explorer.compaction.cut_point import walk_back
from explorer.compaction.reasons import count_text, not_a_cut, tokens_text
from explorer.compaction.triggers import fitted, limit_of, reserve_of, should_compact
from explorer.services.lessons.answer import (
    Answer,
    NoAnswer,
    Situation,
    situation_at,
    size_of,
    verdict_of,
)
from explorer.session.context import sent_tokens
from explorer.session.kinds import CONTEXT_KINDS, Kind


def size_at(now: Situation) -> ContextSize:
    """The context's size: the number that is shown, and that triggers."""
    profile = now.place.profile
    weights = now.document.tokens.weights_for(profile)
    return context_size(now.tree, now.context, profile, weights)


def path_entries(now: Situation) -> Answer:
    """How many entries the path to the leaf has."""
    path, tree = now.shown.path, now.tree
    ends = len(tree.branch_ends(now.document.leaf))
    leaves = f"{ends:,} branches" if ends > 1 else count_text(ends, "branch")
    return Answer(
        f"The session has {count_text(len(tree), 'entry')} on {leaves}. Followed from "
        f"#{now.place.at} from parent to parent, the path to the first entry has {len(path):,}.",
        number=len(path),
        unit="entries",
    )


def unseen_entries(now: Situation) -> Answer:
    """Messages of the session that the model is not sent; of other branches first."""
    seen, path = set(now.context.messages), now.shown.path
    kinds = now.tree.columns.kind
    messages = [entry for entry in range(len(now.tree)) if kinds[entry] in CONTEXT_KINDS]
    unseen = [entry for entry in messages if entry not in seen]
    if not unseen:
        raise NoAnswer("The model is sent every message of this session.")
    apart = [entry for entry in unseen if entry not in path]
    reason = (
        f"The model is not sent the {count_text(len(apart), 'message')} on other branches, and of "
        "its own path nothing that was summarized, left out or never meant for it."
    )
    ordered = (*reversed(apart), *(entry for entry in reversed(unseen) if entry in path))
    return Answer(
        reason,
        entries=ordered,
        explain=lambda entry: f"#{entry} is {'sent' if entry in seen else 'no message'}.",
    )


def sent_messages(now: Situation) -> Answer:
    """How many messages the model is sent."""
    context = now.context
    words = f"#{now.place.at} is sent {count_text(len(context.messages), 'message')}"
    if context.compaction >= 0:
        words += (
            f": first the summary of compaction #{context.compaction}, which stands for all that "
            "it summarized, then what was kept and said since"
        )
    return Answer(
        f"A path of {count_text(len(context.path), 'entry')}. A model that answers after {words}.",
        number=len(context.messages),
        unit="messages",
    )


def token_source(now: Situation) -> Answer:
    """The counter of the size that the gauge shows: provider, tokenizer or estimate."""
    size = size_at(now)
    is_reported = size.source.startswith("provider")
    chosen = {"provider"} if is_reported else set[str]()
    if not is_reported or size.trailing_tokens:
        measured = now.document.tokens.weights_for(now.place.profile) is not None
        chosen.add("tokenizer" if measured else "estimate")
    reason = f"{size.shown:,} tokens, counted by: {size.source}."
    if is_reported:
        reason += (
            f" The provider reported {size.usage_tokens:,} with its last reply, the system prompt "
            "and the tools among them; what came after that is counted here."
        )
    else:
        reason += " No provider has counted this context yet, so it is counted here."
        if size.beyond:
            reason += f" {size.beyond:,} are expected beyond the entries."
    return Answer(reason, chosen=frozenset(chosen))


def _entry_weights(now: Situation) -> dict[int, int]:
    """What each entry of the context takes, as the map shows it."""
    document, profile = now.document, now.place.profile
    return {
        entry: sent_tokens(now.context, entry, document.tokens.entry_tokens(entry, profile))
        for entry in now.context.messages
    }


def heaviest_entry(now: Situation) -> Answer:
    """The message of the context that takes the most tokens."""
    weights = _entry_weights(now)
    if not weights:
        raise NoAnswer("The model is sent nothing here.")
    most = max(weights.values())
    heaviest = tuple(entry for entry, tokens in weights.items() if tokens == most)
    return Answer(
        f"#{heaviest[0]} takes {most:,} tokens.",
        entries=heaviest,
        explain=lambda entry: (
            f"#{entry} takes {size_of(now, entry)}."
            if entry in weights
            else f"#{entry} is not sent here."
        ),
    )


def entries_tokens(now: Situation) -> Answer:
    """What the entries of the context take together, as the map shows them."""
    entries, shown = sum(_entry_weights(now).values()), size_at(now).shown
    reason = f"The entries of the context of #{now.place.at} take {entries:,} tokens. "
    if shown > entries:
        reason += (
            f"{entries:,} + {shown - entries:,} beyond them, such as the system prompt and the "
            f"tools, = {shown:,}, which the gauge shows."
        )
    elif shown < entries:
        reason += (
            f"{entries:,} − {entries - shown:,} that the provider counts less = {shown:,}, which "
            "the gauge shows."
        )
    else:
        reason += "The gauge shows the same."
    return Answer(reason, number=entries)


def threshold(now: Situation) -> Answer:
    """The size above which a compaction is due."""
    profile, settings = now.place.profile, fitted(now.place.profile, now.place.settings)
    limit = max(0, limit_of(profile, settings))
    reserve = reserve_of(profile, settings)
    reason = f"Compaction is due above {limit:,} tokens"
    if profile.threshold_tokens > 0 or profile.threshold_percent > 0:
        reason += f", as the profile {profile.title} sets it for a window of "
        reason += f"{settings.context_window:,}."
    else:
        reason += f": the window of {settings.context_window:,} less the reserve of {reserve:,}."
    return Answer(reason, number=limit)


def is_due_in_half(now: Situation) -> Answer:
    """Whether a compaction would be due in a window of half the size: yes or no."""
    profile, place = now.place.profile, now.place
    half = replace(place.settings, context_window=place.settings.context_window // 2)
    settings = fitted(profile, half)
    tokens, limit = size_at(now).tokens, max(0, limit_of(profile, settings))
    compared = "more than" if tokens > limit else "not more than"
    reason = (
        f"In a window of {settings.context_window:,} tokens the threshold lies at {limit:,}. The "
        f"context has {tokens:,}, {compared} that."
    )
    if not profile.enabled:
        reason += f" And {profile.title} never compacts without being asked."
    due = should_compact(tokens, profile, settings)
    return Answer(reason, chosen=frozenset({"yes" if due else "no"}))


def room_left(now: Situation) -> Answer:
    """How many tokens are left below the threshold."""
    settings = fitted(now.place.profile, now.place.settings)
    limit = max(0, limit_of(now.place.profile, settings))
    tokens = size_at(now).tokens
    return Answer(
        f"Up to the threshold of {limit:,} tokens there are {max(0, limit - tokens):,} left: the "
        f"context has {tokens:,}. That is {tokens_text(limit)} less {tokens_text(tokens)}.",
        number=max(0, limit - tokens),
    )


def cut_entry(now: Situation) -> Answer:
    """The entry before which the cut falls: the first one that is kept."""
    made = now.made
    cut, point = made.path[made.cut], made.path[made.cut_point] if made.cut_point >= 0 else -1
    entries = tuple(dict.fromkeys(entry for entry in (point, cut) if entry >= 0))
    return Answer(
        made.reason,
        entries=entries,
        cuts=(made.cut, made.cut_point),
        explain=lambda entry: _why_not(now, entry),
    )


def walk_reached(now: Situation) -> Answer:
    """The entry at which the walk back from the newest one has kept enough."""
    made = now.made
    view = made.cuts.view
    if made.profile.cut_unit == "rounds":
        raise NoAnswer(f"{made.profile.title} counts rounds, not tokens. {made.reason}")
    reached = walk_back(view, made.boundary, len(view), made.keep.tokens)
    if reached < 0:
        raise NoAnswer("All of it is less than what is to be kept, so the walk reaches the end.")
    entry, tokens = made.path[reached], view.weight(reached, len(view))
    return Answer(
        f"From the newest entry back to #{entry} there are {tokens:,} tokens, for the first time "
        f"no fewer than the {made.keep.tokens:,} to keep.",
        entries=(entry,),
        explain=lambda found: _weight_from(now, found),
    )


def running_sums(now: Situation) -> dict[int, tuple[int, int]]:
    """What the walk back adds up: the tokens of each entry that it can come to, and the sum from
    the newest one up to it."""
    view, boundary = now.shown.preparation.cuts.view, now.shown.boundary
    weights = view.weights[boundary:][::-1]
    entries = (view.path[at] for at in range(len(view) - 1, boundary - 1, -1))
    return dict(zip(entries, zip(weights, accumulate(weights), strict=True), strict=True))


class WalkLine(NamedTuple):
    """An entry of the walk back: its tokens, the sum from the newest entry up to it, and what
    happens there."""

    entry: int
    tokens: int
    total: int
    note: str


_AROUND = 2
"""Entries of the walk that are named on each side of where it ends."""


def walk_lines(now: Situation) -> list[WalkLine]:
    """The walk back in short, upwards: the newest entry, those where as much as is kept is reached
    and where the cut falls, and those beside them. Raises NoAnswer where nothing is walked."""
    reached, made = walk_reached(now).entries[0], now.made
    sums, notes = running_sums(now), {reached: "enough"}
    cut = made.path[made.cut]
    notes[cut] = "enough, the cut is above it" if cut == reached else "the cut is above it"
    entries = list(sums)
    marked = [entries.index(entry) for entry in notes if entry in sums]
    near = range(max(0, min(marked) - _AROUND), min(len(entries), max(marked) + _AROUND))
    shown = sorted({0, *near}, reverse=True)
    return [
        WalkLine(entry, *sums[entry], notes.get(entry, ""))
        for entry in (entries[at] for at in shown)
    ]


def cut_of_half(now: Situation) -> Answer:
    """The entry before which the cut would fall if half as much were to be kept."""
    made, place = now.made, now.place
    if made.profile.cut_unit == "rounds":
        raise NoAnswer(f"{made.profile.title} counts rounds, not tokens. {made.reason}")
    sizes = replace(place.settings, keep_recent_tokens=made.settings.keep_recent_tokens // 2)
    answer = cut_entry(situation_at(now.document, replace(place, settings=sizes)))
    return replace(answer, settings=sizes)


def _weight_from(now: Situation, entry: int) -> str:
    view = now.made.cuts.view
    position = view.path.position(entry)
    if position < 0:
        return f"#{entry} is not on this path."
    tokens = view.weight(position, len(view))
    return f"From #{entry} to the newest entry there are {tokens:,} tokens."


def tokens_summarized(now: Situation) -> Answer:
    """How many tokens a summary would take the place of."""
    shown, made = now.shown, now.made
    return Answer(
        f"{shown.tokens_summarized:,} tokens before #{made.first_kept} are summarized; the "
        "summarizer gets long tool results shortened. How long its summary will be is not known "
        "before: a fiftieth of what is new is expected, beside what stays of the summary that it "
        "takes the place of. With the "
        f"{shown.tokens_after_estimate - shown.tokens_kept:,} tokens expected here the context"
        f"{', with what lies beyond its entries,' if shown.tokens_beyond else ''} falls from "
        f"{shown.whole_before:,} to about {shown.whole_after:,}.",
        number=shown.tokens_summarized,
    )


def valid_cuts(now: Situation) -> Answer:
    """Entries before which the path may be cut."""
    path, cuts = now.shown.path, now.shown.valid_cuts
    if not cuts:
        raise NoAnswer("There is no valid cut on this path.")
    entries = tuple(path[position] for position in reversed(cuts))
    return Answer(
        f"From #{path[now.shown.boundary]} on the path may be cut before a message of the user, a "
        "reply or another entry that stands alone, never between a call and its result.",
        entries=entries,
        cuts=tuple(cuts),
        explain=lambda entry: _why_not(now, entry),
    )


def forbidden_cuts(now: Situation) -> Answer:
    """Tool results in reach, before which the path may not be cut."""
    shown = now.shown
    kinds, valid = now.tree.columns.kind, set(shown.valid_cuts)
    found = [
        shown.path[position]
        for position in range(len(shown.path) - 1, shown.boundary - 1, -1)
        if position not in valid and kinds[shown.path[position]] == Kind.TOOL_RESULT
    ]
    if not found:
        raise NoAnswer("There is no tool result here from which a cut could part its call.")
    return Answer(
        f"{not_a_cut(now.made.cuts.view, shown.path.position(found[0]))} There are "
        f"{len(found):,} such results on this stretch. A provider refuses a request in which a "
        "result has no call.",
        entries=tuple(found),
        explain=lambda entry: _why_not(now, entry),
    )


def _why_not(now: Situation, entry: int) -> str:
    shown = now.shown
    position = shown.path.position(entry)
    if position < 0:
        return f"#{entry} is on another branch, not on the path to #{now.place.at}."
    if position in shown.valid_cuts:
        return f"Before #{entry} a cut is valid."
    return not_a_cut(shown.preparation.cuts.view, position)


def valid_cut_count(now: Situation) -> Answer:
    """How many places there are at which the path may be cut."""
    cuts, length = now.shown.valid_cuts, len(now.shown.path) - now.shown.boundary
    return Answer(
        f"The stretch that the next compaction looks at has {count_text(length, 'entry')}, and "
        f"{len(cuts):,} of them are places for a cut; the others stay with the one before them.",
        number=len(cuts),
        unit="places",
    )


def split_turn(now: Situation) -> Answer:
    """Whether the cut splits a turn: split or whole."""
    made = now.made
    if not made.is_split_turn:
        reason = f"#{made.first_kept} is where a turn starts, so none is split."
        return Answer(reason, chosen=frozenset({"whole"}))
    view = made.cuts.view
    return Answer(
        f"The cut falls at #{made.first_kept}, which is not where turn "
        f"{view.turn(made.turn_start)} starts: that turn is split.",
        chosen=frozenset({"split"}),
        show=made.first_kept,
    )


def turn_start(now: Situation) -> Answer:
    """The entry with which the split turn starts."""
    made = now.made
    if not made.is_split_turn:
        raise NoAnswer(f"The cut at #{made.first_kept} falls between two turns.")
    entry = made.path[made.turn_start]
    number = made.cuts.view.turn(made.turn_start)
    return Answer(
        f"Turn {number} starts at #{entry}: a turn begins with what the user says and goes on to "
        f"the next such entry. From there to the cut lie "
        f"{count_text(len(made.turn_prefix), 'entry')} that are sent to the "
        "summarizer apart, as the turn prefix.",
        entries=(entry,),
        explain=lambda found: verdict_of(now, found),
    )


def prefix_tokens(now: Situation) -> Answer:
    """How many tokens the first part of the split turn has."""
    made = now.made
    if not made.turn_prefix:
        raise NoAnswer("No part of a turn is summarized apart here.")
    view = made.cuts.view
    tokens = view.weight(made.turn_start, made.cut)
    return Answer(
        f"From #{made.path[made.turn_start]} to the cut at #{made.first_kept} there are "
        f"{tokens:,} tokens in {count_text(len(made.turn_prefix), 'entry')}: the turn prefix, with "
        "a summary of its own.",
        number=tokens,
    )


def unsplit_cuts(now: Situation) -> Answer:
    """Valid cuts at which no turn is split."""
    made, shown = now.made, now.shown
    first = now.whole_cuts
    if not first:
        raise NoAnswer("At every valid cut of this path a turn is split.")
    nearest = min(first, key=lambda at: (abs(at - made.cut), at))
    view = made.cuts.view
    kept = tokens_text(view.weight(nearest, len(view)))
    ordered = (nearest, *(at for at in first if at != nearest))
    entries = tuple(shown.path[at] for at in ordered)
    return Answer(
        f"The nearest one is #{entries[0]}, where a turn starts: {kept} tokens are kept there, "
        f"where the rules keep {tokens_text(view.weight(made.cut, len(view)))}.",
        entries=entries,
        # Notes before a cut join its kept side: the handle stands before them then.
        cuts=(*ordered, *(made.cuts.at(made.boundary, at).first_kept for at in ordered)),
        explain=lambda entry: _splits(now, entry),
    )


def _splits(now: Situation, entry: int) -> str:
    made, shown = now.made, now.shown
    position = shown.path.position(entry)
    if position < 0:
        return f"#{entry} is not on this path."
    chosen = made.cuts.chosen(made.boundary, position)
    if chosen is None:
        return not_a_cut(made.cuts.view, position)
    if not chosen.is_split_turn:
        return f"At #{entry} a turn starts: none is split."
    return (
        f"At #{entry} turn {made.cuts.view.turn(chosen.turn_start)} is split: it starts at "
        f"#{shown.path[chosen.turn_start]}."
    )
