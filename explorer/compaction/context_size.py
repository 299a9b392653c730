"""How many tokens the context takes, and who says so (A7, B9, E7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from explorer.compaction.path_view import USER_IMAGE_TOKENS
from explorer.compaction.profile import Profile
from explorer.session.context import Context
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_FAILED = Flag.ERROR | Flag.ABORTED


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
    context: Context,
    profile: Profile,
    measured: Sequence[int] | None = None,
) -> ContextSize:
    """The size of a context in tokens; the one number that is shown, triggers and is tested.

    ``measured``: a token column by entry index to use where no provider counted.
    """
    columns, messages = tree.columns, context.messages
    last = _last_usage(tree, context, profile)
    trailing = messages[last + 1 :] if last >= 0 else messages
    column = columns.estimate if measured is None else measured
    counted = sum(map(column.__getitem__, trailing))
    if profile.weights == "sent":
        counted += _correction(tree, trailing, column, with_images=measured is None)
    if last < 0:
        source = "estimate" if measured is None else "tokenizer"
        return ContextSize(counted, 0, counted, -1, source)
    reported = columns.usage[messages[last]]
    source = "provider"
    if trailing:
        source += f" + {'estimate' if measured is None else 'tokenizer'} of {len(trailing)} newer"
    return ContextSize(reported + counted, reported, counted, last, source)


def _last_usage(tree: SessionTree, context: Context, profile: Profile) -> int:
    columns, messages = tree.columns, context.messages
    first = 0
    if profile.usage == "since-compaction" and context.compaction >= 0:
        # Everything that the compaction kept, and the compaction itself, is older than it.
        first = 1
        while first < len(messages) and messages[first] < context.compaction:
            first += 1
    usage, flags, kinds = columns.usage, columns.flags, columns.kind
    for at in range(len(messages) - 1, first - 1, -1):
        entry = messages[at]
        if kinds[entry] == Kind.ASSISTANT and usage[entry] >= 0 and not flags[entry] & _FAILED:
            return at
    return -1


def _correction(
    tree: SessionTree, entries: Sequence[int], column: Sequence[int], *, with_images: bool
) -> int:
    """What the plain sum misses or counts too much: excluded commands, user images (B6)."""
    columns = tree.columns
    flags, kinds, images = columns.flags, columns.kind, columns.user_images
    change = 0
    for entry in entries:
        kind = kinds[entry]
        if kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION):
            if flags[entry] & Flag.EXCLUDED:
                change -= column[entry]
        elif with_images and kind == Kind.USER and entry in images:
            change += USER_IMAGE_TOKENS * images[entry]
    return change
