"""Tool calls and their results: which of them stand alone in what a model sees, and why.

A result belongs right below the reply that called for it, with nothing but notes and other
results between. A fork in the middle of a round, or a cut there, parts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from explorer.audit.generations import Boundary, Generations, ReadEntries
from explorer.audit.provenance import Known, Provenance
from explorer.session.entries import ToolResultMessage
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_CALLS = int(Flag.HAS_TOOL_CALL)
_LOOKED_BACK = 8
"""Replies above a result that are asked for its call."""
_BROKEN_OFF = int(Flag.ERROR | Flag.ABORTED)
_SEEN = Known(Provenance.EXACT, "The order of the entries is recorded.")


class Unpaired(NamedTuple):
    """A call or results that stand alone."""

    is_result: bool
    at: int
    """Where it happened: a compaction, or the entry itself."""
    entries: tuple[int, ...]
    cause: str
    prevention: str
    by_cut: bool
    known: Known


def unpaired(
    tree: SessionTree, generations: Generations, read: ReadEntries | None = None
) -> Iterator[Unpaired]:
    """Calls and results of a path that stand alone. ``read``: with it, rounds that a fork parted
    are looked into, where some results are there and others are not, and calls that a provider
    runs itself are known (no result follows them)."""
    yield from _parted_by_cuts(generations)
    yield from _rounds(tree, generations, read)


def _parted_by_cuts(generations: Generations) -> Iterator[Unpaired]:
    view = generations.view
    for each in generations.all:
        at = each.kept_from
        if each.boundary is not Boundary.KEPT or at >= each.position:
            continue
        while at < each.position and not view.sent[at]:
            at += 1
        results = []
        while at < each.position and (view.kinds[at] == Kind.TOOL_RESULT or not view.sent[at]):
            if view.kinds[at] == Kind.TOOL_RESULT:
                results.append(view.path[at])
            at += 1
        if results:
            yield Unpaired(
                True, each.compaction, tuple(results),
                f"Compaction #{each.compaction} keeps from tool result #{results[0]}: its call was "
                "summarized, and the result stands without it. Most models refuse such a request.",
                "A cut that never falls before a tool result.", True,
                Known(Provenance.EXACT, "The first kept entry is recorded."),
            )  # fmt: skip


def _rounds(
    tree: SessionTree, generations: Generations, read: ReadEntries | None
) -> Iterator[Unpaired]:
    """Every reply of the path with the results below it."""
    view, columns = generations.view, tree.columns
    reply, results = -1, 0
    callers: list[int] = []
    unanswered: list[Unpaired] = []
    kept_from = {each.compaction: each.kept_from for each in generations.all}
    for position, entry in enumerate(view.path):
        kind = view.kinds[position]
        if kind == Kind.TOOL_RESULT:
            if reply < 0 and not _has_call(entry, callers, read):
                yield _lone_result(entry)
            results += 1
            continue
        if reply >= 0 and view.path.position(reply) < kept_from.get(entry, 0):
            reply = -1  # What a compaction broke off and did not keep is sent to no model again.
        if not view.sent[position]:
            continue
        if reply >= 0:
            is_left = _was_left(tree, reply)
            found = _round(tree, reply, results, read)
            if is_left:
                yield from found
            else:
                unanswered += found
        reply, results = -1, 0
        if kind == Kind.ASSISTANT and not columns.flags[entry] & _BROKEN_OFF:
            unanswered.clear()  # The agent sent it with something in the result's place.
        if kind == Kind.ASSISTANT and columns.flags[entry] & _CALLS:
            reply = entry
            callers.append(entry)
    # At the leaf a call may still wait for its result: that is no loss.
    yield from unanswered


def _has_call(entry: int, callers: Sequence[int], read: ReadEntries | None) -> bool:
    """Whether a reply above has the call of a result that does not stand right below it: a note
    or a message came between, and agents put such results in order again when they send them."""
    if read is None or not callers:
        return False
    body = read([entry])[0].body
    if not isinstance(body, ToolResultMessage):
        return False
    replies = (read([one])[0] for one in reversed(callers[-_LOOKED_BACK:]))
    return any(call.id == body.call_id for one in replies for call in one.calls)


def _lone_result(entry: int) -> Unpaired:
    return Unpaired(
        True, entry, (entry,),
        f"Tool result #{entry} has no call above it on its path: the reply that called for it is "
        "not there. Most models refuse such a request.",
        "A fork that takes a reply along with its results.", False, _SEEN,
    )  # fmt: skip


def _round(
    tree: SessionTree, reply: int, results: int, read: ReadEntries | None
) -> Iterator[Unpaired]:
    if tree.columns.flags[reply] & _BROKEN_OFF:
        return  # such a reply is not sent again, so that its calls ask for nothing
    missing = 0 if results else 1
    if read is not None and (not results or _was_left(tree, reply)):
        asked = [call for call in read([reply])[0].calls if not call.hosted]
        missing = max(0, len(asked) - results)
    if not missing:
        return
    why = "The branch goes on without it."
    if not _was_left(tree, reply):
        why = (
            "The file has no answer: the agent was stopped, or the answer was not written or "
            "cannot be read."
        )
    some = "a result" if not results else f"{missing} of its results"
    yield Unpaired(
        False, reply, (reply,),
        f"Reply #{reply} called a tool, and {some} is missing on this path. {why} Models refuse "
        "such a request, or are informed that no result was given.",
        "A fork between whole rounds; a result for a call that was stopped.", False, _SEEN,
    )  # fmt: skip


def _was_left(tree: SessionTree, reply: int) -> bool:
    """Whether a branch parts within the round of a reply."""
    at = reply
    while True:
        below = tree.children(at)
        if len(below) > 1:
            return True
        if not below or tree.columns.kind[below[0]] != Kind.TOOL_RESULT:
            return False
        at = below[0]
