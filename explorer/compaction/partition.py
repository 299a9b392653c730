"""One verdict for every entry of the active path, with its weight and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

from explorer.compaction.path_view import PathView, marked
from explorer.compaction.prepare import Preparation, Refusal
from explorer.compaction.triggers import shrinks
from explorer.compaction.verdict import Verdict, verdict_reason
from explorer.session.kinds import Kind, selector
from explorer.session.tree import Path

__all__ = ["Partition", "Verdict", "is_possible", "partition", "summary_guess"]

SUMMARY_SHARE = 10
"""A summary is guessed to take a tenth of what it tells; see ``tokens_after_estimate``."""

_COMPACTIONS = selector({Kind.COMPACTION})
_NOT = bytes([1]) + bytes(255)


@dataclass(frozen=True, slots=True)
class Partition:
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
    """In place, and told again after the summary."""
    tokens_dropped: int
    """Of messages of the user that are told again now and would be no longer, since newer ones
    fill what the rule allows."""
    tokens_after_estimate: int
    """What is kept plus a guess of the summary's size, counted like ``context_estimate``;
    ``tokens_before`` of a refusal, which changes nothing."""
    preparation: Preparation | Refusal

    @property
    def context_estimate(self) -> int:
        """Tokens of the context's entries now, counted as ``tokens_after_estimate`` is.

        ``tokens_before`` may be a provider's figure, which no count of entries can be compared
        with: what a compaction frees is this less what is left.
        """
        told = (
            Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.KEPT, Verdict.LOST, Verdict.PRUNED,
            Verdict.PINNED,
        )  # fmt: skip
        return sum(self.tokens[verdict] for verdict in told) + self.tokens_dropped

    @property
    def tokens_told(self) -> int:
        """What a summary takes the place of (E16): all that is told to the summarizer, the summary
        that it updates and the notes of pruned results among it."""
        return self.context_estimate - self.tokens_kept - self.tokens[Verdict.LOST]

    @property
    def tokens_beyond(self) -> int:
        """What the provider counted beyond the entries: system prompt, tools, its own tokens."""
        return max(0, self.tokens_before - self.context_estimate)

    @property
    def counted_by(self) -> str:
        """Who counted the entries, in words."""
        return "tokenizer" if self.preparation.cuts.view.is_measured else "estimate"

    def after(self, summary_tokens: int) -> int:
        """Tokens of the context's entries with a summary of that size."""
        return self.tokens_kept + summary_tokens

    def weight(self, position: int) -> int:
        """Tokens of the entry at a position: of its summary for the compaction in force."""
        view = self.preparation.cuts.view
        if position == view.compaction:
            return view.summary_weight
        if self.verdicts[position] == Verdict.OMITTED:
            return view.weight_in_place(position)
        return view.weights[position]

    def turn(self, position: int) -> int:
        """The number of the turn that a position is in, from 1; 0 before the first turn."""
        return self.preparation.cuts.view.turn(position)

    def reason(self, position: int) -> str:
        """Why the entry at a position has its verdict, in a sentence."""
        verdict = Verdict(self.verdicts[position])
        return verdict_reason(self.preparation, verdict, position, self.weight(position))


def partition(preparation: Preparation | Refusal) -> Partition:
    """The verdicts of a preparation; a refusal leaves all that the context holds kept."""
    view = preparation.cuts.view
    verdicts = bytearray()
    tokens = [0] * len(Verdict)
    for start, stop, verdict in _stretches(view, preparation):
        table = bytes([Verdict.NOT_SENT, verdict]) + bytes(254)
        verdicts += view.sent[start:stop].translate(table)
        unsent = _unsent_weight(view, start, stop)
        tokens[verdict] += view.weight(start, stop) - unsent
        tokens[Verdict.NOT_SENT] += unsent
    _judge_compactions(view, preparation, verdicts, tokens)
    _judge_omitted(view, verdicts, tokens)
    pinned, dropped = _judge_again(view, preparation, verdicts, tokens)
    guess = 0
    if isinstance(preparation, Preparation):
        previous = view.summary_weight
        told = tokens[Verdict.TO_SUMMARIZE] - previous
        prefix, reserve = tokens[Verdict.TURN_PREFIX], preparation.settings.reserve_tokens
        guess = summary_guess(previous, told, prefix, reserve)
    kept = _judge_pruned(view, verdicts, tokens) + pinned
    cut, after = -1, preparation.tokens_before
    if isinstance(preparation, Preparation):
        cut, after = preparation.cut, kept + guess
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
        tokens_after_estimate=after,
        preparation=preparation,
    )


def is_possible(shown: Partition) -> bool:
    """Whether anything would be summarized, and less be left than there is (E4)."""
    possible = isinstance(shown.preparation, Preparation)
    return possible and shrinks(shown.context_estimate, shown.tokens_kept)


def _stretches(
    view: PathView, preparation: Preparation | Refusal
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
    if isinstance(preparation, Refusal):
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


def _unsent_weight(view: PathView, start: int, stop: int) -> int:
    """Tokens counted in the walk for entries that are never sent (a quirk of pi, B6)."""
    unsent = view.sent[start:stop].translate(_NOT)
    if not unsent.count(1):
        return 0
    return sum(compress(view.weights[start:stop], unsent))


def _judge_compactions(
    view: PathView,
    preparation: Preparation | Refusal,
    verdicts: bytearray,
    tokens: list[int],
) -> None:
    """Compactions on the path: only the last one still speaks, and it is told anew."""
    for position in marked(view.kinds, _COMPACTIONS):
        if position != view.compaction:
            verdicts[position] = Verdict.SUMMARIZED_EARLIER
            continue
        verdict = Verdict.KEPT
        if isinstance(preparation, Preparation):
            dropped = preparation.profile.prefix_only == "drop"
            prefix_only = bool(preparation.turn_prefix) and not preparation.history
            verdict = Verdict.LOST if dropped and prefix_only else Verdict.TO_SUMMARIZE
        verdicts[position] = verdict
        tokens[verdict] += view.summary_weight


def _judge_omitted(view: PathView, verdicts: bytearray, tokens: list[int]) -> None:
    """What a person left out, but for what a summary told before that."""
    in_force = view.path[view.compaction] if view.compaction >= 0 else -1
    first = view.kept_from if view.kept_from >= 0 else view.compaction + 1
    for entry, by in view.shape.omitted.items():
        position = view.path.position(entry)
        if position <= view.reset:
            continue
        if position < first and by > in_force:
            verdicts[position] = Verdict.SUMMARIZED_EARLIER
            continue
        verdicts[position] = Verdict.OMITTED
        tokens[Verdict.OMITTED] += view.weight_in_place(position)


def _judge_again(
    view: PathView, preparation: Preparation | Refusal, verdicts: bytearray, tokens: list[int]
) -> tuple[int, int]:
    """What is told again after the summary: tokens that it takes then, and those of what is told
    again now and not then."""
    later = preparation.again if isinstance(preparation, Preparation) else view.again
    kept = dropped = now = 0
    place, weights, sent = view.path.position, view.weights, view.sent
    for entry, told in later.items():
        position = place(entry)
        weight, verdict = weights[position], verdicts[position]
        if sent[position]:
            tokens[verdict] -= weight
        if verdict in _TOLD_NOW or entry in view.again:
            now += weight
        verdicts[position] = _PINNED
        kept += max(0, view.plain.get(entry, weight) + told.extra)
    tokens[_PINNED] += now
    for entry in view.again:
        if entry not in later:
            dropped += view.weights[view.path.position(entry)]
    return kept, dropped


# Plain numbers: a rule may keep a thousand messages, and this runs while the cut is dragged.
_TOLD_NOW = tuple(map(int, (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.LOST)))
_PINNED = int(Verdict.PINNED)


def _judge_pruned(view: PathView, verdicts: bytearray, tokens: list[int]) -> int:
    """Results that a note stands for, where they are still told; returns the tokens that are
    kept, the notes among them."""
    kept = tokens[Verdict.KEPT]
    for entry in view.pruned:
        position = view.path.position(entry)
        verdict = verdicts[position]
        if verdict in (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.KEPT):
            verdicts[position] = Verdict.PRUNED
            tokens[verdict] -= view.weights[position]
            tokens[Verdict.PRUNED] += view.weights[position]
    return kept


def summary_guess(
    previous: int, told: int, prefix: int, reserve: int, share: float = 1 / SUMMARY_SHARE
) -> int:
    """Tokens that a summary may take: a share of what it tells, within the output caps (B10).

    ``previous`` is the summary that it updates, than which it is not shorter; ``told`` is what it
    tells besides, ``prefix`` the split turn's first part.
    """
    history = max(previous, int(told * share))
    return min(history, reserve * 4 // 5) + min(int(prefix * share), reserve // 2)
