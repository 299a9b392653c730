"""How many tokens the context takes, and the source of the number (A7, B9, E7)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from explorer.compaction.path_view import USER_IMAGE_TOKENS
from explorer.compaction.profile import Profile
from explorer.session.columns import SessionColumns
from explorer.session.context import PathContext
from explorer.session.edits import last_prune_change, last_shape_change
from explorer.session.kinds import Flag, Kind, selector
from explorer.session.tree import Path, SessionTree

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_COMPACTIONS = selector({Kind.COMPACTION})
_UNSENT = selector({Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION, Kind.OTHER_ROLE})
_BLOCK = 4096


class ContextSize(NamedTuple):
    """Tokens of a context: what a provider reported plus an estimate of what follows."""

    tokens: int
    usage_tokens: int
    """As the provider reported it with a reply; 0 without one."""
    trailing_tokens: int
    """Counted for the messages after that reply; all messages without one."""
    last_usage: int
    """Index into the context's messages of that reply, or -1."""
    source: str
    """Who counted, in words."""


def context_size(
    tree: SessionTree,
    context: PathContext,
    profile: Profile,
    measured: Sequence[int] | None = None,
) -> ContextSize:
    """The size of a context in tokens; the one number that is shown, triggers and is tested.

    ``measured``: a token column by entry index to use where no provider counted.
    """
    columns, messages = tree.columns, context.messages
    entry = last_report(tree, context.path, 0) if profile.usage == "last-reply" else -1
    # What was pruned or restored since then was sent in another form: it is counted anew.
    if profile.usage == "last-reply" and not _pruned_since(tree, context, entry):
        reported = columns.usage[entry] if entry >= 0 else 0
        at = bisect_left(messages, entry, _first_in_place(context))
        known = at if at < len(messages) and messages[at] == entry else -1
        return ContextSize(
            reported, reported, 0, known, "provider" if entry >= 0 else "nobody counted"
        )
    last = _last_usage(tree, context, profile)
    trailing = len(messages) - last - 1
    counted = 0
    if trailing:
        counted = _counted(tree, context, last + 1, profile, measured)
    if last < 0:
        source = "estimate" if measured is None else "tokenizer"
        return ContextSize(counted, 0, counted, -1, source)
    reported = columns.usage[messages[last]]
    source = "provider"
    if trailing:
        source += f" + {'estimate' if measured is None else 'tokenizer'} of {trailing} newer"
    return ContextSize(reported + counted, reported, counted, last, source)


def counted_size(
    tree: SessionTree,
    context: PathContext,
    profile: Profile,
    measured: Sequence[int] | None = None,
) -> int:
    """Tokens of a context's entries, whatever a provider reported.

    What is compared with a context for which no provider has reported yet, such as the one right
    after a compaction, is counted like this.
    """
    return _counted(tree, context, 0, profile, measured) if context.messages else 0


def _pruned_since(tree: SessionTree, context: PathContext, entry: int) -> bool:
    return _last_change(tree, context) > entry


def _last_change(tree: SessionTree, context: PathContext) -> int:
    """The last entry that changes how earlier entries are sent to the model, or -1."""
    prune = last_prune_change(tree, context.path) if tree.columns.prunes else -1
    if not tree.columns.shapes:
        return prune
    return max(prune, last_shape_change(tree, context.path, context.again))


def _first_in_place(context: PathContext) -> int:
    """Index of the first message behind the summary and what is repeated after it."""
    return len(context.again) + (context.compaction >= 0)


def _last_usage(tree: SessionTree, context: PathContext, profile: Profile) -> int:
    """The index into the messages of the last reply whose usage counts, or -1."""
    messages = context.messages
    # What is repeated needs no check: it is older than any reply that counts.
    first = _first_in_place(context)
    if profile.usage == "since-compaction":
        # What the compaction kept is older than it: that usage is of a context that is gone.
        first = bisect_right(messages, context.compaction, first)
    if tree.columns.prunes or tree.columns.shapes:
        first = bisect_right(messages, _last_change(tree, context), first)
    if first >= len(messages):
        return -1
    # A report of zero tokens means that the provider reported none (E7).
    least = 1 if profile.usage == "since-compaction" else 0
    entry = last_report(tree, context.path[context.path.position(messages[first]) :], least)
    return bisect_left(messages, entry, first) if entry >= 0 else -1


def last_report(tree: SessionTree, part: Path, least: int) -> int:
    """The last reply on a stretch of the path that reported at least so many tokens and did not
    fail, or -1."""
    columns = tree.columns
    usage, flags, kinds = columns.usage, columns.flags, columns.kind
    for entries in reversed(part.ranges):
        for upper in range(entries.stop, entries.start, -_BLOCK):
            lower = max(entries.start, upper - _BLOCK)
            # Sessions without any usage are long to search one by one.
            if max(usage[lower:upper]) < least:
                continue
            at = kinds.rfind(Kind.ASSISTANT, lower, upper)
            while at >= 0:
                if usage[at] >= least and not flags[at] & _FAILED:
                    return at
                at = kinds.rfind(Kind.ASSISTANT, lower, at)
    return -1


def _counted(
    tree: SessionTree,
    context: PathContext,
    first: int,
    profile: Profile,
    measured: Sequence[int] | None,
) -> int:
    """Tokens of the messages from index ``first`` on, summed by stretches."""
    columns, messages = tree.columns, context.messages
    column = columns.estimate if measured is None else measured
    total = 0
    if messages[first] == context.compaction:
        total = _tokens(columns, measured, context.compaction)
        first += 1
    while first < len(messages) and messages[first] in context.again:
        weight = _in_place(columns, measured, messages[first], profile)
        total += max(0, weight + context.again[messages[first]].extra)
        first += 1
    if first >= len(messages):
        return total
    part = context.path[context.path.position(messages[first]) :]
    for entries in part.ranges:
        values = column[entries.start : entries.stop]
        if measured is not None and min(values) < 0:
            total += sum(_tokens(columns, measured, entry) for entry in entries)
        else:
            total += sum(values)
    # Of a stretch everything is in the context, but for older compactions.
    for entry in part.select(columns.kind, _COMPACTIONS):
        total -= _tokens(columns, measured, entry)
    for entry, result in context.pruned.items():
        if entry in part:
            total += result.note_tokens - _tokens(columns, measured, entry)
    if profile.weights == "sent":
        for entry in part.select(columns.kind, _UNSENT):
            if columns.flags[entry] & Flag.EXCLUDED or columns.kind[entry] == Kind.OTHER_ROLE:
                total -= _tokens(columns, measured, entry)
        if measured is None:
            total += sum(
                USER_IMAGE_TOKENS * images
                for entry, images in columns.user_images.items()
                if entry in part
            )
    for entry in context.omitted:
        if entry in part:
            total -= _in_place(columns, measured, entry, profile)
    return total


def _in_place(
    columns: SessionColumns, measured: Sequence[int] | None, entry: int, profile: Profile
) -> int:
    """Tokens of an entry that can be sent, in its place."""
    images = columns.user_images.get(entry, 0)
    counts = images and measured is None and profile.weights == "sent"
    return _tokens(columns, measured, entry) + (USER_IMAGE_TOKENS * images if counts else 0)


def _tokens(columns: SessionColumns, measured: Sequence[int] | None, entry: int) -> int:
    if measured is not None and measured[entry] >= 0:
        return measured[entry]
    return columns.estimate[entry]
