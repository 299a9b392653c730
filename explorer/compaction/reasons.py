"""The rules in sentences: why the cut falls where it does, why an entry got its verdict."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.compaction.cut_point import Cut, Cuts, Keep
from explorer.compaction.path_view import PathView
from explorer.compaction.profile import Settings
from explorer.session.kinds import Kind

EMPTY = "There is nothing here yet: the path to this place holds no entries."
JUST_COMPACTED = (
    "The newest entry is a compaction: nothing was said since, so there is nothing to compact."
)
NO_CUT = (
    "There is no valid cut here: a path can be cut before a message of the user, a reply, a "
    "command or a note, never before a tool result."
)
ALL_PINNED = (
    "All that would be summarized is pinned: it stays word for word, so a summary would save "
    "nothing."
)
NOTHING_BEFORE = "Before this cut there is nothing that was not summarized already."


def share_text(share: float, places: int = 0) -> str:
    """``42 %`` of 0.42."""
    return f"{share * 100:.{places}f} %"


def tokens_text(tokens: int) -> str:
    """Tokens for sentences, bars and gauges: 870, 6.2k, 41k, 121.4k, 1.05M, 3.34B."""
    size = abs(tokens)
    if size < 1000:
        return str(tokens)
    if size < 999_950:
        return f"{tokens / 1000:.1f}".removesuffix(".0") + "k"
    if size < 999_995_000:
        return f"{tokens / 1_000_000:.2f}".removesuffix(".00") + "M"
    return f"{tokens / 1_000_000_000:.2f}".removesuffix(".00") + "B"


RATIO_REASON = "another tokenizer, and what is sent with them and not recorded"
"""Why a provider counts more for entries than is counted here."""


def ratio_text(ratio: float) -> str:
    """What a provider counts for each token here: 1.67."""
    return f"{ratio:.2f}"


def count_text(count: int, noun: str) -> str:
    """A count with its noun: 1 entry, 3,000 entries."""
    if count == 1:
        return f"1 {noun}"
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeou" else noun + "s"
    return f"{count:,} {plural}"


def kept_words(view: PathView, compaction: int, kept_from: int) -> str:
    """What a compaction kept, without an end; both are positions, the same where it kept none."""
    name = f"Compaction #{view.path[compaction]}"
    if kept_from >= compaction and (repeated := len(view.facts[compaction].repeated_entries)):
        held = count_text(repeated, "entry")
        return f"{name} kept {held} of what was before it word for word, as its record lists"
    if kept_from >= compaction:
        return f"{name} kept nothing of what was before it"
    kept = tokens_text(view.size(kept_from, compaction))
    return f"{name} kept the newest {kept} tokens, from #{view.path[kept_from]} on"


def summarized_words(
    entry: int, kept: str, part: str, newer: Sequence[int], *, is_readable: bool = True
) -> str:
    """Which compaction summarized an entry, and what became of that summary. ``kept``: what it
    kept; ``part``: what else is known of its cut; ``newer``: the compactions (entries) that went
    on with its summary. ``is_readable``: whether the text of the last of these summaries is
    known."""
    is_older = " is none of them" if "word for word" in kept else " is older"
    sentence = f"{kept}. #{entry}{is_older}: it went to the summarizer{part}"
    if not is_readable:
        last = f"the summary of #{newer[-1]}, which went on from it," if newer else "that summary"
        return (
            f"{sentence}. What {last} says is encrypted or not recorded: #{entry} may or may not "
            "be in it."
        )
    if not newer:
        return f"{sentence}, and the model sees only what that summary says of it."
    if len(newer) == 1:
        return (
            f"{sentence}. Compaction #{newer[0]} then wrote that summary anew: it is a summary of "
            "a summary."
        )
    return (
        f"{sentence}. That summary was rewritten {len(newer)} times since, the last time by "
        f"compaction #{newer[-1]}."
    )


def not_a_cut(view: PathView, position: int) -> str:
    """Why a position cannot be chosen."""
    if not 0 <= position < len(view):
        return f"There is no position {position} on a path of {count_text(len(view), 'entry')}."
    name = f"#{view.path[position]}"
    if position < view.boundary:
        return f"{name} was summarized by an earlier compaction; a cut falls after that."
    if view.kinds[position] == Kind.TOOL_RESULT:
        return f"{name} is a tool result: it must stay with its call, so no cut falls before it."
    return f"No valid cut falls at {name}: it would part a tool result from its call."


def everything_fits(cuts: Cuts, settings: Settings, keep: Keep) -> str:
    """Why there would be nothing to ask a summarizer about (B3, E4)."""
    view = cuts.view
    what = "what was said so far"
    if view.compaction >= 0:
        what = "what was kept and said since the last compaction"
    if cuts.profile.cut_unit == "rounds":
        rounds = count_text(settings.keep_rounds, "round")
        return f"Nothing to summarize: {what} is no more than the {rounds} to keep."
    kept_tokens = tokens_text(view.weight(view.boundary, len(view)))
    return (
        f"Nothing to summarize: {what} takes {kept_tokens} tokens, and the newest "
        f"{tokens_text(keep.tokens)} are kept as they are."
    )


def cut_reason(
    cuts: Cuts, cut: Cut, settings: Settings, keep: Keep, prefix: int, *, by_hand: bool
) -> str:
    """Why the cut falls here and where the next one up is."""
    view = cuts.view
    if by_hand:
        sentences = [_chosen(view, cut)]
    elif cuts.profile.cut_unit == "rounds":
        sentences = [_rounds(cuts, cut, settings)]
    else:
        sentences = [_walked(cuts, cut, keep)]
        if keep.ratio > 1:
            sentences.append(
                f"The provider counted {ratio_text(keep.ratio)} tokens for each of the estimate, "
                "what no entry holds included: the "
                f"{tokens_text(settings.keep_recent_tokens)} to keep are {tokens_text(keep.tokens)}"
                " here."
            )
        counted = view.weight(cut.first_kept, len(view))
        if counted != view.size(cut.first_kept, len(view)):
            sentences.append(
                f"By their own count, which decides, these rules keep {tokens_text(counted)}."
            )
    if cut.first_kept < cut.point:
        moved = cut.point - cut.first_kept
        what = "The entry just before it joins" if moved == 1 else f"{moved} entries before it join"
        sentences.append(f"{what} the kept side.")
    if cut.is_split_turn and prefix:
        turn = view.turn(cut.turn_start)
        first = "first entry gets a summary of its own"
        if prefix > 1:
            first = f"first {prefix} entries get a summary of their own"
        sentences.append(f"The cut falls inside turn {turn}, so the turn is split: its {first}.")
    elif cut.is_split_turn and cuts.profile.split == "one-summary":
        turn = view.turn(cut.turn_start)
        sentences.append(
            f"The cut falls inside turn {turn}: the one summary tells its first part too."
        )
    if cut.point >= 0:
        above = cuts.before(cut.first_kept, view.boundary)
        if above >= 0:
            more = view.size(above, cut.first_kept)
            keeps = f", which keeps {tokens_text(more)} more" if more else ""
            sentences.append(f"The next valid cut up is #{view.path[above]}{keeps}.")
    return " ".join(sentences)


def _chosen(view: PathView, cut: Cut) -> str:
    kept = tokens_text(view.size(cut.first_kept, len(view)))
    return f"The cut at #{view.path[cut.point]} was chosen by hand: {kept} tokens are kept."


def _rounds(cuts: Cuts, cut: Cut, settings: Settings) -> str:
    if cut.point < 0:
        return "There is no valid cut, so everything is kept."
    newest = "the newest round is"
    if settings.keep_rounds > 1:
        newest = f"the newest {settings.keep_rounds} rounds are"
    sentence = f"Counted in rounds, a reply with its tool results each: {newest} kept, from "
    point = f"#{cuts.view.path[cut.point]}"
    if cut.is_split_turn:
        return f"{sentence}the reply {point} on."
    return f"{sentence}{point} on, where its turn starts."


def _walked(cuts: Cuts, cut: Cut, keeping: Keep) -> str:
    view = cuts.view
    keep = tokens_text(keeping.tokens)
    if cut.point < 0:
        return "There is no valid cut, so everything is kept."
    point = f"#{view.path[cut.point]}"
    if cut.reached < 0:
        return (
            f"All of it is less than the {keep} tokens to keep, so the cut is the first, {point}."
        )
    reached = f"#{view.path[cut.reached]}"
    start = (
        f"Counted back from the newest entry, the {keep} tokens to keep are reached at {reached}"
    )
    if cut.reached == cut.point:
        return f"{start}, where a cut is valid."
    if cut.point > cut.reached:
        why = "a tool result, and no cut comes between a call and its result"
        if view.kinds[cut.reached] != Kind.TOOL_RESULT:
            why = "which is no valid cut"
        return f"{start}, {why}; the next valid cut down is {point}."
    start += ", and no valid cut follows: the newest tool results fill all that is kept"
    if cuts.profile.oversized_tail == "last-cut":
        return f"{start}. The cut falls at {point}, so that they stay with their call."
    return f"{start}. These rules then take the first cut point, {point}: nothing is gained."
