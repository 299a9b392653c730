"""What becomes of an entry in a compaction, and why, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from msgspec import Struct

from explorer.compaction.path_view import PathView, marked
from explorer.compaction.preparation import Preparation, PreparationRefusal
from explorer.compaction.reasons import kept_words, summarized_words, tokens_text
from explorer.compaction.triggers import shrinks
from explorer.session.kinds import CONTEXT_KINDS, Kind, selector
from explorer.session.tree import Path

__all__ = [
    "Partition",
    "Verdict",
    "is_possible",
    "partition",
    "summary_guess",
]


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
    """Repeated after the summary, word for word: pinned, or one of the user messages that
    a rule keeps."""
    OMITTED = 8
    """Left out of the context and of summaries, at a person's wish."""


def verdict_reason(
    preparation: Preparation | PreparationRefusal, verdict: Verdict, position: int, weight: int
) -> str:
    """Why the entry at a position of the path has its verdict."""
    view = preparation.cuts.view
    if view.kinds[position] == Kind.COMPACTION:
        return _compaction(view, preparation, verdict, position)
    if verdict is Verdict.OMITTED:
        return _omitted(view, position)
    if verdict is Verdict.PINNED:
        return _reinserted_reason(view, preparation, position)
    if verdict is Verdict.NOT_SENT:
        return _not_sent(view, position)
    if verdict is Verdict.SUMMARIZED_EARLIER:
        if view.compaction < 0:
            return "No longer in the context."
        sentence = _summarized_already(view, position)
        by = view.shape.omitted.get(view.path[position])
        return (
            sentence
            if by is None
            else f"{sentence} #{by} omitted it since; that summary may tell it."
        )
    if verdict is Verdict.LOST:
        by = view.path[view.compaction]
        return (
            f"Lost: compaction #{by} kept it, so no summary tells of it, and this compaction "
            "starts after that one."
        )
    if verdict is Verdict.PRUNED:
        return _pruned(view, preparation, position)
    if verdict is Verdict.KEPT or isinstance(preparation, PreparationRefusal):
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
    sentence = f"Keep recent is {settings.keep_recent_tokens:,} tokens"
    if preparation.keep.ratio > 1:
        sentence += f", {tokens_text(preparation.keep.tokens)} as entries are counted"
    return f"{sentence}: counted from the newest entry, the cut falls at {cut}"


def _summarized_already(view: PathView, position: int) -> str:
    later = [at for at in view.kept if position < at and view.reset < at <= view.compaction]
    first = next((number for number, at in enumerate(later) if position < view.kept[at]), None)
    if position <= view.reset or first is None:
        return "Before the new start: no longer in the context."
    by = later[first]
    newer = [view.path[at] for at in later[first + 1 :]]
    kept = kept_words(view, by, view.kept[by])
    is_readable = view.facts[later[-1]].certainty != "unreadable"
    return summarized_words(view.path[position], kept, "", newer, is_readable=is_readable)


def _compaction(
    view: PathView, preparation: Preparation | PreparationRefusal, verdict: Verdict, position: int
) -> str:
    if position != view.compaction:
        return "An older compaction: a later one, or a new start, took its place."
    if verdict is Verdict.LOST:
        return (
            "Lost: there is no history to summarize before the split turn, and the previous "
            "summary is dropped with it."
        )
    if isinstance(preparation, PreparationRefusal):
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


def _reinserted_reason(
    view: PathView, preparation: Preparation | PreparationRefusal, position: int
) -> str:
    entry = view.path[position]
    later = preparation.again if isinstance(preparation, Preparation) else view.again
    copy = later[entry]
    tokens = tokens_text(max(0, view.size_in_place(position) + copy.extra))
    if copy.why == "pin":
        sentence = (
            f"Pinned by #{copy.by}: repeated after the summary, word for word ({tokens} tokens)."
        )
    elif copy.by >= 0:
        sentence = (
            f"One of the user's own messages, which #{copy.by} keeps: repeated after the summary,"
            f" word for word ({tokens} tokens)."
        )
    else:
        sentence = (
            "One of the user's own messages, which these rules keep: repeated after the summary,"
            f" word for word ({tokens} tokens)."
        )
    if entry in view.again:
        return sentence
    return f"{sentence} The summarizer reads it too."


def _pruned(view: PathView, preparation: Preparation | PreparationRefusal, position: int) -> str:
    result = view.pruned[view.path[position]]
    reader = "the model is sent the note"
    if isinstance(preparation, Preparation) and position < preparation.cut:
        reader = "the summarizer gets the note"
    return (
        f"Pruned by #{result.by}, which recorded {tokens_text(result.saved)} tokens saved: "
        f"{reader} alone."
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
    if kind is Kind.ASSISTANT:
        return "A reply that failed, was stopped or says nothing: no request holds it again."
    if kind in CONTEXT_KINDS:
        return "Not part of the context."
    return "Notes about the session, never sent to a model."


def _kept(
    view: PathView, preparation: Preparation | PreparationRefusal, position: int, weight: int
) -> str:
    if isinstance(preparation, PreparationRefusal):
        return "Kept: nothing is compacted."
    newest = tokens_text(view.size(position, len(view)))
    pin = view.shape.pinned.get(view.path[position])
    if pin is not None:
        return (
            f"Kept as it is ({tokens_text(weight)} tokens), and pinned by #{pin.by}: once it is"
            " summarized it is repeated, word for word."
        )
    rule = f"{_why_cut(preparation)}."
    if position == preparation.cut_point:
        return f"The first kept message: from here to the end are {newest} tokens. {rule}"
    if view.kinds[position] == Kind.TOOL_RESULT:
        return f"Kept with its call; from here to the end are {newest} tokens. {rule}"
    return (
        f"Kept as it is ({tokens_text(weight)} tokens); from here to the end are {newest} tokens. "
        f"{rule}"
    )


SUMMARY_SHARE = 50
"""A summary is guessed to add a fiftieth of what is new to the one that it updates. Over recorded
sessions offline ones add a sixtieth in the middle, those that agents had written a twenty-fifth."""
_PUT_BACK_KEPT = 0.5
"""What offline summaries have in the middle of one that they update where its agent's program puts
files back beside it: those are long, with a draft, code, and the state of the work then. Of others,
their own among them, they keep all."""

_COMPACTIONS = selector({Kind.COMPACTION})


class Partition(Struct, frozen=True):
    """A path divided. Positions count on ``path``; sizes in tokens."""

    path: Path
    verdicts: bytes
    """One ``Verdict`` per position."""
    tokens: list[int]
    """Tokens per verdict."""
    cut: int
    """Position of the first kept entry; -1 when nothing is compacted."""
    boundary: int
    valid_cuts: list[int]
    """Positions to which the cut can be dragged, ascending."""
    tokens_before: int
    tokens_kept: int
    """In place, and repeated after the summary."""
    tokens_dropped: int
    """Of messages of the user that are repeated now and would no longer be, since newer ones
    fill what the rule allows."""
    tokens_after_estimate: int
    """What is kept plus a guess of the summary's size, counted like ``context_estimate``."""
    preparation: Preparation | PreparationRefusal

    @property
    def context_estimate(self) -> int:
        """Tokens of the context's entries now, counted as ``tokens_after_estimate`` is.

        ``tokens_before`` may be a provider's figure, which no count of entries can be compared
        with: what a compaction frees is this less what is left.
        """
        verdicts = (
            Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.KEPT, Verdict.LOST, Verdict.PRUNED,
            Verdict.PINNED,
        )  # fmt: skip
        return sum(self.tokens[verdict] for verdict in verdicts) + self.tokens_dropped

    @property
    def tokens_summarized(self) -> int:
        """What a summary takes the place of (E16): all that is sent to the summarizer, the summary
        that it updates and the notes of pruned results among it."""
        return self.context_estimate - self.tokens_kept - self.tokens[Verdict.LOST]

    @property
    def tokens_updated(self) -> int:
        """Of what is summarized, those of the summary that is updated."""
        return _updated(self.preparation.cuts.view, self.verdicts)

    @property
    def tokens_beyond(self) -> int:
        """What the provider counted beyond the entries now: system prompt, tools, and what its
        tokenizer makes of the entries more than ours does."""
        return self.preparation.size.beyond_of(self.context_estimate)

    @property
    def whole_before(self) -> int:
        """Tokens of the context now, with what lies beyond its entries."""
        return self.context_estimate + self.tokens_beyond

    @property
    def whole_after(self) -> int:
        """``whole_before`` after the compaction, with a guess of the summary's size."""
        return self.whole_with(self.tokens_after_estimate - self.tokens_kept)

    @property
    def counted_by(self) -> str:
        """The counter of the entries, in words."""
        return "tokenizer" if self.preparation.cuts.view.is_measured else "estimate"

    def after(self, summary_tokens: int) -> int:
        """Tokens of the context's entries with a summary of that size."""
        return self.tokens_kept + summary_tokens

    def whole_with(self, summary_tokens: int) -> int:
        """``whole_before`` with a summary of that size in place of what it tells: each token of the
        entries that goes frees what the provider counts for it."""
        size = self.preparation.size
        return size.changed(self.context_estimate, self.after(summary_tokens))

    def beyond_with(self, summary_tokens: int) -> int:
        """``tokens_beyond`` after it, so that what is kept, the summary and this are
        ``whole_with``: less than now where the provider counts more for each token than we do."""
        return self.whole_with(summary_tokens) - self.after(summary_tokens)

    def weight(self, position: int) -> int:
        """Tokens of the entry at a position, as they are shown everywhere."""
        return self.preparation.cuts.view.shown(position)

    def reason(self, position: int) -> str:
        """Why the entry at a position has its verdict, in a sentence."""
        verdict = Verdict(self.verdicts[position])
        return verdict_reason(self.preparation, verdict, position, self.weight(position))


def partition(preparation: Preparation | PreparationRefusal) -> Partition:
    """The verdicts of a preparation; a refusal leaves all that the context holds kept."""
    view = preparation.cuts.view
    verdicts = bytearray()
    tokens = [0] * len(Verdict)
    for start, stop, verdict in _stretches(view, preparation):
        table = bytes([Verdict.NOT_SENT, verdict]) + bytes(254)
        verdicts += view.sent[start:stop].translate(table)
        tokens[verdict] += view.size(start, stop)
    _judge_compactions(view, preparation, verdicts, tokens)
    _judge_unsent(view, verdicts)
    _judge_omitted(view, verdicts, tokens)
    pinned, dropped = _judge_again(view, preparation, verdicts, tokens)
    guess = 0
    if isinstance(preparation, Preparation):
        previous = _updated(view, verdicts)
        history = tokens[Verdict.TO_SUMMARIZE] - previous
        prefix, reserve = tokens[Verdict.TURN_PREFIX], preparation.settings.reserve_tokens
        guess = summary_guess(_taken_over(view, previous), history, prefix, reserve)
    kept = _judge_pruned(view, verdicts, tokens) + pinned
    cut = preparation.cut if isinstance(preparation, Preparation) else -1
    return Partition(
        path=view.path,
        verdicts=bytes(verdicts),
        tokens=tokens,
        cut=cut,
        boundary=view.boundary,
        valid_cuts=preparation.cuts.between(view.boundary, len(view)),
        tokens_before=preparation.tokens_before,
        tokens_kept=kept,
        tokens_dropped=dropped,
        tokens_after_estimate=kept + guess,
        preparation=preparation,
    )


def is_possible(shown: Partition) -> bool:
    """Whether anything would be summarized, and less be left than there is (E4)."""
    possible = isinstance(shown.preparation, Preparation)
    return possible and shrinks(shown.context_estimate, shown.tokens_kept)


def _stretches(
    view: PathView, preparation: Preparation | PreparationRefusal
) -> list[tuple[int, int, Verdict]]:
    """The path in stretches of one verdict each, entries that are not sent aside."""
    out: list[tuple[int, int, Verdict]] = []
    at = 0

    def until(stop: int, verdict: Verdict) -> None:
        nonlocal at
        if stop > at:
            out.append((at, stop, verdict))
            at = stop

    # What came before a new start is gone, not summarized.
    until(view.reset + 1, Verdict.NOT_SENT)
    if isinstance(preparation, PreparationRefusal):
        # Nothing happens: what the context holds stays, from where the last compaction kept.
        first = view.kept_from if view.kept_from >= 0 else view.boundary
        until(first, Verdict.SUMMARIZED_EARLIER)
        until(len(view), Verdict.KEPT)
        return out
    if 0 <= view.kept_from < view.boundary:
        until(view.kept_from, Verdict.SUMMARIZED_EARLIER)
        until(view.compaction, Verdict.LOST)
    until(view.boundary, Verdict.SUMMARIZED_EARLIER)
    if preparation.is_split_turn and preparation.profile.split == "two-summaries":
        until(preparation.turn_start, Verdict.TO_SUMMARIZE)
        until(preparation.cut, Verdict.TURN_PREFIX)
    until(preparation.cut, Verdict.TO_SUMMARIZE)
    until(len(view), Verdict.KEPT)
    return out


def _judge_compactions(
    view: PathView,
    preparation: Preparation | PreparationRefusal,
    verdicts: bytearray,
    tokens: list[int],
) -> None:
    """Compactions on the path: only the last one is still in force, and it is summarized anew."""
    for position in marked(view.kinds, _COMPACTIONS):
        if position != view.compaction:
            verdicts[position] = Verdict.SUMMARIZED_EARLIER
            tokens[Verdict.SUMMARIZED_EARLIER] += view.summaries[position]
            continue
        verdict = Verdict.KEPT
        if isinstance(preparation, Preparation):
            dropped = preparation.profile.prefix_only == "drop"
            prefix_only = bool(preparation.turn_prefix) and not preparation.history
            verdict = Verdict.LOST if dropped and prefix_only else Verdict.TO_SUMMARIZE
        verdicts[position] = verdict
        tokens[verdict] += view.summary_size


def _judge_unsent(view: PathView, verdicts: bytearray) -> None:
    """Replies that no request holds again are not kept: a summarizer alone reads them."""
    for position in view.unsent:
        if verdicts[position] == Verdict.KEPT:
            verdicts[position] = Verdict.NOT_SENT


def _judge_omitted(view: PathView, verdicts: bytearray, tokens: list[int]) -> None:
    """Entries that the user omitted, except those that a summary covered before."""
    in_force = view.path[view.compaction] if view.compaction >= 0 else -1
    first = view.kept_from if view.kept_from >= 0 else view.compaction + 1
    for entry, by in view.shape.omitted.items():
        position = view.path.position(entry)
        if position <= view.reset:
            continue
        summarized = position < first and by > in_force
        verdict = Verdict.SUMMARIZED_EARLIER if summarized else Verdict.OMITTED
        verdicts[position] = verdict
        tokens[verdict] += view.size_in_place(position)


def _judge_again(
    view: PathView,
    preparation: Preparation | PreparationRefusal,
    verdicts: bytearray,
    tokens: list[int],
) -> tuple[int, int]:
    """Judge what is repeated after the summary. Returns its tokens then, and the tokens of what is
    repeated now and not then."""
    later = preparation.again if isinstance(preparation, Preparation) else view.again
    kept = dropped = now = 0
    place, sizes, sent = view.path.position, view.sizes, view.sent
    recorded = int(Verdict.KEPT if later is view.again else Verdict.TO_SUMMARIZE)
    for entry, copy in view.again.items():
        if copy.why != "recorded":
            continue
        # It is in the context as what was said since is: kept with it, or summarized.
        position = place(entry)
        if sent[position]:
            tokens[verdicts[position]] -= sizes[position]
        verdicts[position] = recorded
        tokens[recorded] += sizes[position]
    for entry, copy in later.items():
        if copy.why == "recorded":
            continue
        position = place(entry)
        size, verdict = sizes[position], verdicts[position]
        if sent[position]:
            tokens[verdict] -= size
        if verdict in _SUMMARIZED_NOW or entry in view.again:
            now += size
        verdicts[position] = _PINNED
        kept += max(0, view.plain.get(entry, size) + copy.extra)
    tokens[_PINNED] += now
    for entry in view.again:
        if entry not in later and view.again[entry].why != "recorded":
            dropped += view.sizes[view.path.position(entry)]
    return kept, dropped


# Plain numbers: a rule may keep a thousand messages, and this runs while the cut is dragged.
_SUMMARIZED_NOW = tuple(map(int, (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.LOST)))
_PINNED = int(Verdict.PINNED)


def _judge_pruned(view: PathView, verdicts: bytearray, tokens: list[int]) -> int:
    """Results that a note stands for, where they are still sent; returns the tokens that are
    kept, the notes among them."""
    kept = tokens[Verdict.KEPT]
    for entry in view.pruned:
        position = view.path.position(entry)
        verdict = verdicts[position]
        if verdict in (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.KEPT):
            verdicts[position] = Verdict.PRUNED
            tokens[verdict] -= view.sizes[position]
            tokens[Verdict.PRUNED] += view.sizes[position]
    return kept


def _updated(view: PathView, verdicts: Sequence[int]) -> int:
    is_told = view.summary_size and verdicts[view.compaction] == Verdict.TO_SUMMARIZE
    return view.summary_size if is_told else 0


def _taken_over(view: PathView, updated: int) -> int:
    """How many of the tokens of the summary that is updated a new one may keep."""
    if updated and view.facts[view.compaction].put_back is not None:
        return int(updated * _PUT_BACK_KEPT)
    return updated


def summary_guess(
    previous: int, history_tokens: int, prefix: int, reserve: int, share: float | None = None
) -> int:
    """Tokens that a summary may take, within the output caps (B10).

    ``previous`` is what it keeps of the summary that it updates; ``history_tokens`` is what it
    tells besides, ``prefix`` the split turn's first part. ``share``: what summaries have of what
    they tell, where that is known; they are not shorter than what they update.
    """
    if share is None:
        share = 1 / SUMMARY_SHARE
        history = previous + int(history_tokens * share)
    else:
        history = max(previous, int(history_tokens * share))
    return min(history, reserve * 4 // 5) + min(int(prefix * share), reserve // 2)
