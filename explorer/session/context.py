"""What the model sees at an entry: the rebuilt context (A5, B2)."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from sys import byteorder

from msgspec import Struct, field

from explorer.session.columns import SessionColumns
from explorer.session.edit_entries import Pruned, Reinserted, Shape, UserBudget
from explorer.session.edits import again, pruned_on, shape_on
from explorer.session.kinds import CONTEXT_KINDS, Flag, Kind, selector
from explorer.session.tree import Path, SessionTree

_SENT = selector(CONTEXT_KINDS)
_EMPTY = int(Flag.EMPTY_SUMMARY)


class PathContext(Struct, frozen=True):
    """The messages at a leaf, each named by the entry that it comes from."""

    leaf: int
    path: Path
    messages: list[int]
    """Source entries in order. With a compaction its entry comes first and stands for the
    summary; what is repeated follows it."""
    compaction: int
    """The compaction entry in force, or -1."""
    kept_from: int
    """Position on the path from which entries before the compaction are kept, or -1."""
    thinking_level: str
    model: str
    """``provider/model``, or an empty text."""
    pruned: Pruned
    """The tool results, by entry, that a note stands for (A13)."""
    again: Mapping[int, Reinserted] = field(default_factory=dict)
    """Entries from before the summary that are repeated after it, word for word, as
    separate messages."""
    omitted: Mapping[int, int] = field(default_factory=dict)
    """Entries of the path that are left out, each with the omit entry that says so."""


class ContextCache:
    """The last context that was asked for: a window needs it again and again."""

    def __init__(self) -> None:
        self._last: tuple[SessionTree, PathContext] | None = None

    def at(self, tree: SessionTree, leaf: int) -> PathContext:
        """See ``context_at``. Entries never change but by ``forget``."""
        if self._last is None or self._last[0] is not tree or self._last[1].leaf != leaf:
            self._last = (tree, context_at(tree, leaf))
        return self._last[1]

    def forget(self) -> None:
        """Forget the context: entries have changed."""
        self._last = None


def latest_on_path(tree: SessionTree, path: Path, kind: Kind) -> int:
    """The position of the last entry of a kind on the path, or -1."""
    kinds = tree.columns.kind
    for row in range(len(path.ranges) - 1, -1, -1):
        part = path.ranges[row]
        entry = kinds.rfind(kind, part.start, part.stop)
        if entry >= 0:
            return path.position(entry)
    return -1


def context_at(tree: SessionTree, leaf: int) -> PathContext:
    """The context at ``leaf``; -1 gives an empty one.

    Only the latest compaction on the path counts; what it kept is re-included unless its first
    kept entry is not on the path before it (B2). A reset boundary that is later than the
    compaction drops everything before itself.
    """
    path = tree.path(leaf)
    columns = tree.columns
    at = latest_on_path(tree, path, Kind.COMPACTION)
    reset = latest_on_path(tree, path, Kind.RESET_BOUNDARY)
    shape = shape_on(tree, path)
    reinserted: dict[int, Reinserted] = {}
    kept_from = compaction = -1
    if reset > at:
        reinserted = again(tree, path, shape, reset, reset, None)
        messages = [*reinserted, *_sent(tree, path[reset + 1 :], shape)]
    elif at < 0:
        messages = _sent(tree, path, shape)
    else:
        compaction = path[at]
        first_kept = columns.compactions[compaction].first_kept_id
        kept = path.position(tree.index_above(first_kept, compaction + 1))
        first = max(kept, reset + 1) if 0 <= kept < at else at
        if shape or columns.compactions[compaction].repeats:
            budget = user_budget(tree, shape, compaction)
            reinserted = again(tree, path, shape, first, reset, budget, compaction)
        messages = [compaction, *reinserted]
        if 0 <= kept < at:
            kept_from = kept
            messages += _sent(tree, path[first:at], shape)
        messages += _sent(tree, path[at + 1 :], shape)
    return PathContext(
        leaf, path, messages, compaction, kept_from, _thinking(tree, path), _model(tree, path),
        pruned_on(tree, path), reinserted, shape.omitted,
    )  # fmt: skip


def sent_tokens(context: PathContext, entry: int, weight: int) -> int:
    """Tokens of one message of a context as it is sent, of what its entry weighs in its place."""
    if entry in context.pruned and entry not in context.again:
        return context.pruned[entry].note_tokens
    again = context.again.get(entry)
    return max(0, weight + again.extra) if again is not None else weight


_REPLIES = selector({Kind.ASSISTANT})
_LOST = int(Flag.ERROR | Flag.ABORTED)
_SAYS = int(Flag.HAS_TEXT | Flag.HAS_TOOL_CALL)
_FLAG_BYTES = array("I").itemsize
_LOW = slice(0 if byteorder == "little" else _FLAG_BYTES - 1, None, _FLAG_BYTES)
"""The bytes of a flags column that hold the lowest eight flags, these four among them."""
_UNSENT = bytes(1 if value & _LOST or not value & _SAYS else 0 for value in range(256))


def is_unsent_reply(columns: SessionColumns, entry: int) -> bool:
    """Whether an entry is a reply that no request holds again: it failed, was stopped, or has
    neither text nor call (A6)."""
    return columns.kind[entry] == Kind.ASSISTANT and bool(_UNSENT[columns.flags[entry] & 255])


def unsent_replies(columns: SessionColumns, part: range) -> list[int]:
    """The replies of a stretch of entries that no request holds again; see ``is_unsent_reply``."""
    replies = columns.kind[part.start : part.stop].translate(_REPLIES)
    marks = columns.flags[part.start : part.stop].tobytes()[_LOW].translate(_UNSENT)
    both = int.from_bytes(replies, "little") & int.from_bytes(marks, "little")
    found, entries = both.to_bytes(len(part), "little"), list[int]()
    at = found.find(1)
    while at >= 0:
        entries.append(part.start + at)
        at = found.find(1, at + 1)
    return entries


def user_budget(tree: SessionTree, shape: Shape, compaction: int) -> UserBudget | None:
    """The rule that keeps the user's messages from before a compaction: the session's, else
    that of the compaction's profile."""
    if shape.user_budget is not None:
        return shape.user_budget
    tokens = tree.columns.compactions[compaction].user_tokens
    return UserBudget(tokens, compaction) if tokens else None


def _sent(tree: SessionTree, part: Path, shape: Shape) -> list[int]:
    columns = tree.columns
    sent = part.select(columns.kind, _SENT)
    if shape.omitted:
        sent = [at for at in sent if at not in shape.omitted]
    if not columns.branches:
        return sent
    flags = columns.flags
    empty = {at for at in columns.branches if flags[at] & _EMPTY}
    return [at for at in sent if at not in empty] if empty else sent


def _thinking(tree: SessionTree, path: Path) -> str:
    levels = tree.columns.thinking
    for at in reversed(levels):
        if at in path:
            return levels[at]
    return "off"


def _model(tree: SessionTree, path: Path) -> str:
    column = tree.columns.model
    for part in reversed(path.ranges):
        # Stripping zeros finds the last entry with a model without a loop over the others.
        last = -(-len(column[part.start : part.stop].tobytes().rstrip(b"\0")) // column.itemsize)
        if last:
            return tree.columns.models[column[part.start + last - 1]]
    return ""
