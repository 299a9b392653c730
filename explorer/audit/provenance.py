"""How a figure or a fact of a session is known: recorded, worked out, or not to be known.

A session written by another agent holds some of what happened and not the rest. Whatever is drawn
from such a file is shown with how it is known, so that a guess is not taken for a record.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import UsageSum


class Provenance(StrEnum):
    """How something is known."""

    EXACT = "exact"
    """Recorded: in the file, or by this program when it happened."""
    INFERRED = "inferred"
    """Worked out from what is recorded, by rules that may have been others then."""
    UNREADABLE = "unreadable"
    """Neither recorded nor to be worked out."""


class Known(NamedTuple):
    """How one figure is known."""

    provenance: Provenance
    basis: str
    """Why, in a sentence for a person."""


NO_MODEL = Known(Provenance.UNREADABLE, "The file does not name the model.")
"""Of a reply without one."""


def tokens_before_known(recorded: int, counted: int = -1) -> Known:
    """A compaction's ``tokensBefore``: ``recorded`` by its agent, ``counted`` here (-1: not)."""
    here = f" The entries, counted here, take {counted:,}." if counted >= 0 else ""
    if recorded > 0:
        return Known(
            Provenance.EXACT,
            "Recorded with the compaction, as its agent counted the context then." + here,
        )
    return Known(
        Provenance.UNREADABLE if counted < 0 else Provenance.INFERRED,
        "The file does not say how large the context was." + here,
    )


def sizes_known(recorded: int, made_here: bool, difference: str = "") -> Known:
    """A compaction's sizes before and after, which are counted alike; ``recorded``: the
    ``tokensBefore`` that its agent wrote down. ``made_here``: by this program. ``difference``:
    what is known of how the two counts differ, in sentences."""
    if made_here:
        return Known(Provenance.EXACT, "Counted by this program when it compacted.")
    before = "The file does not say how large it was before."
    if recorded > 0:
        before = (
            f"Its agent recorded {recorded:,} tokens before, by a count of its own, as a rule with "
            f"its system prompt and the descriptions of its tools. {difference}"
        ).strip()
    return Known(
        Provenance.INFERRED,
        f"The entries of the context, counted here before and after alike. {before}",
    )


def window_known(made_here: bool) -> Known:
    """The window that a context is compared with; ``made_here``: the context was sent to a model
    by this program."""
    if made_here:
        return Known(Provenance.EXACT, "The window by which this program sends and compacts.")
    return Known(
        Provenance.INFERRED,
        "The window that is set; of Claude's models a million where the session outgrew the "
        "smaller one. The model of the session may have had another.",
    )


def elapsed_known(made_here: bool) -> Known:
    """How long a call took, by the times of its entry and its result's."""
    if made_here:
        return Known(Provenance.EXACT, "By the times that this program recorded.")
    return Known(
        Provenance.INFERRED,
        "The time from the entry of the call to that of its result, waiting for a person included.",
    )


def context_known(source: str) -> Known:
    """A context's size, by who counted it (``ContextSize.source``)."""
    if source == "provider":
        return Known(Provenance.EXACT, "Reported by the provider with the latest reply.")
    if source.startswith("provider"):
        newer = source.removeprefix("provider + ")
        return Known(Provenance.INFERRED, f"The provider's figure, and here the {newer} messages.")
    if source.startswith(("estimate", "tokenizer")):
        return Known(
            Provenance.INFERRED, f"Counted here, by the {source}: no provider reported it."
        )
    return Known(Provenance.UNREADABLE, "Nobody reported how large the context is.")


def weight_known(is_measured: bool) -> Known:
    """Tokens of an entry; no file records them. ``is_measured``: by a tokenizer."""
    how = "by a tokenizer that may not be the model's" if is_measured else "as characters / 4"
    return Known(Provenance.INFERRED, f"Counted here, {how}: no file tells an entry's own tokens.")


_ESTIMATED = "Counted here, by the estimate: an offline model has no provider."


def usage_known(usage: int, counted_here: bool = False) -> Known:
    """The context tokens that a reply reports; -1 for none, and 0 is what a session writes that
    did not get any (E7). ``counted_here``: of an offline model's."""
    if usage > 0 and counted_here:
        return Known(Provenance.INFERRED, _ESTIMATED)
    if usage > 0:
        return Known(Provenance.EXACT, "Reported by the provider with the reply.")
    return Known(Provenance.UNREADABLE, "The provider's count is not in the file.")


def tokens_known(spent: UsageSum) -> Known:
    """A sum of tokens over calls."""
    calls, silent = spent.calls + spent.uncounted, spent.uncounted
    if not silent or not spent.tokens:
        if spent.estimated:
            basis = f"Counted here for {spent.estimated:,} of {calls:,} calls, of offline models."
            return Known(Provenance.INFERRED, basis)
        return _sum_known(calls, silent, "tokens")
    basis = (
        f"At least so many: {silent:,} of {calls:,} calls tell no tokens, or only those that were"
        " counted before the answer was written."
    )
    return Known(Provenance.INFERRED, basis)


def cost_known(calls: int, unpriced: int, by_price_list: int = 0) -> Known:
    """A sum of money over calls: ``unpriced`` of them have no recorded cost, and of those the cost
    of ``by_price_list`` is worked out."""
    if not by_price_list:
        return _sum_known(calls, unpriced, "cost")
    parts = ["Worked out from the tokens and the model's listed prices"]
    if calls > by_price_list:
        parts[0] += f" for {by_price_list:,} of {calls:,} calls"
    if calls > unpriced:
        parts.append(f"recorded for {calls - unpriced:,}")
    if unpriced > by_price_list:
        neither = unpriced - by_price_list
        parts.append(f"without {neither:,} that {'has' if neither == 1 else 'have'} neither")
    return Known(Provenance.INFERRED, f"{', '.join(parts)}.")


def spending_known(spent: UsageSum) -> Known:
    """What a sum of calls cost, what is worked out by listed prices with it."""
    calls, unpriced = spent.calls + spent.uncounted, spent.unpriced + spent.uncounted
    known = cost_known(calls, unpriced, spent.listed)
    if not spent.cost_is_least or not spent.listed:
        return known
    why = []
    if spent.uncounted:
        were = "call was" if spent.uncounted == 1 else "calls were"
        silent = f"{spent.uncounted:,} {were} counted before the answer was written"
        why.append(f"{silent}, or not at all.")
    if spent.low_priced:
        why.append(
            f"No price is listed for a cache of an hour, into which {spent.low_priced:,} tokens"
            " went: that of minutes is taken."
        )
    return Known(known.provenance, f"At least so much: {' '.join(why)} {known.basis}")


def _sum_known(calls: int, silent: int, what: str) -> Known:
    """A sum over calls: ``silent`` of them do not tell theirs."""
    if not calls or silent >= calls:
        return Known(Provenance.UNREADABLE, f"No reply tells its {what}.")
    if silent:
        basis = f"As recorded, without {silent:,} of {calls:,} calls that tell no {what}."
        return Known(Provenance.INFERRED, basis)
    return Known(Provenance.EXACT, f"The sum of what each reply recorded as its {what}.")


def model_known(tree: SessionTree, entry: int) -> Known:
    """The model of a reply, or of what follows it."""
    if tree.columns.model[entry]:
        return Known(Provenance.EXACT, "Recorded with the entry.")
    return NO_MODEL


def time_known(time_ms: float) -> Known:
    """An entry's time; 0 is none."""
    if time_ms > 0:
        return Known(Provenance.EXACT, "Recorded with the entry.")
    return Known(Provenance.UNREADABLE, "The entry has no time that can be read.")


_PRUNING, _RECORDED = int(Flag.PRUNING), int(Flag.RECORDED)


def content_known(tree: SessionTree, entry: int) -> Known:
    """What an entry says: whole in the file, or replaced there by its own agent."""
    flags = tree.columns.flags[entry]
    if flags & _PRUNING and tree.columns.kind[entry] == Kind.TOOL_RESULT:
        if flags & _RECORDED:
            return Known(
                Provenance.EXACT,
                "Its own agent sends a note in the place of the result: the text is in its record.",
            )
        return Known(
            Provenance.UNREADABLE,
            "Its own agent put a note in the place of the result: the text is not in the file.",
        )
    return Known(Provenance.EXACT, "As it is in the file.")
