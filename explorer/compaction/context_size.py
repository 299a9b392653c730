"""How many tokens the context takes, and the source of the number (A7, B9, E7)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from heapq import nlargest
from typing import NamedTuple

from explorer.compaction.path_view import SENT, entry_tokens
from explorer.compaction.profile import PROFILES, Profile
from explorer.session.columns import OP_KINDS
from explorer.session.context import PathContext, context_at, sent_tokens, unsent_replies
from explorer.session.edits import last_prune_change, last_shape_change
from explorer.session.entries import PutBack
from explorer.session.kinds import Flag, Kind, selector
from explorer.session.tree import Path, SessionTree

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_COMPACTIONS = selector({Kind.COMPACTION})
_UNSENT = selector({Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION, Kind.OTHER_ROLE})
_FILES = selector({Kind.FILE_MENTION})
_READ = OP_KINDS.index("read")
_WRITES = (OP_KINDS.index("write"), OP_KINDS.index("create"))
_BLOCK = 4096
_MOST_OPERATIONS = 2_000
"""Of files, that are looked through for those that were used last."""
_MOST_BEYOND = 100_000
"""More is no system prompt and no tools: the file lacks entries that were sent."""
_MOST_MESSAGES = 10_000
"""Whose reports are looked at for what a provider counts for each of our tokens."""
_LEAST_RATIO, _MOST_RATIO = 0.5, 3.0
"""A provider that seems to count less for each of our tokens is misread; more is not believed."""
_SOON = 200
"""Entries after a compaction among which its next reply is looked for."""
_LOOKS_BACK = 2
"""Compactions before which the ratio is looked for."""
_TELLING_PART = 4
"""What part of the entries must have come between two reports to tell the ratio of them all."""


class ContextSize(NamedTuple):
    """Tokens of a context: what a provider reported plus an estimate of what follows."""

    tokens: int
    usage_tokens: int
    """As it was reported with a reply; 0 without one."""
    trailing_tokens: int
    """Counted for the messages after that reply; all messages without one."""
    last_usage: int
    """Index into the context's messages of that reply, or -1."""
    source: str
    """Who counted, in words."""
    beyond: int = 0
    """Where no provider has counted this context yet: what the last report had beyond the entries
    (system prompt, tools, another tokenizer), and what the agent puts back after a compaction.
    Added where a size is shown, not where it is tested: a report of another context makes no
    decision on this one."""
    ratio: float = 1.0
    """What the provider counts for each of our tokens, by how its reports grew with the entries.
    What a compaction frees is counted by it."""
    put_back: int = 0
    """Of what lies beyond the entries: what the agent put back after the compaction in force. The
    next compaction takes it away too."""

    @property
    def shown(self) -> int:
        """The size as it is shown."""
        return self.tokens + self.beyond

    def beyond_of(self, entries: int) -> int:
        """What of the shown size lies beyond entries that take so many tokens."""
        return max(0, self.shown - entries) if self.usage_tokens else self.beyond

    def changed(self, before: int, after: int) -> int:
        """What is shown once the entries take ``after`` tokens in place of ``before``. Where the
        provider counts less than we do, our count is shown, before and after."""
        if not (beyond := self.beyond_of(before)):
            return after
        whole = before + beyond
        return max(after, whole - round(self.ratio * (before + self.put_back - after)))


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
    entry = (
        last_report(tree, context.path, 0, counted_here=True)
        if profile.usage == "last-reply"
        else -1
    )
    # What was pruned or restored since then was sent in another form: it is counted again.
    if profile.usage == "last-reply" and not _pruned_since(tree, context, entry):
        reported = columns.usage[entry] if entry >= 0 else 0
        at = bisect_left(messages, entry, _first_in_place(context))
        known = at if at < len(messages) and messages[at] == entry else -1
        by = _reporter(tree, entry) if entry >= 0 else "nobody counted"
        return ContextSize(
            reported, reported, 0, known, by,
            ratio=_ratio(tree, context, profile, measured),
            put_back=_put_back(tree, context, measured),
        )  # fmt: skip
    last = _last_usage(tree, context, profile)
    trailing = len(messages) - last - 1
    counted = 0
    if trailing:
        counted = _counted(tree, context, last + 1, profile, measured)
    counter = _counter(profile, measured)
    if last < 0:
        beyond, ratio = _beyond(tree, context, profile, measured) if messages else (0, 1.0)
        put_back = _put_back(tree, context, measured) if beyond else 0
        return ContextSize(counted, 0, counted, -1, counter, beyond or 0, ratio, put_back)
    reported = columns.usage[messages[last]]
    source = _reporter(tree, messages[last])
    if trailing and source != counter:
        source += f" + {counter} of {trailing} newer"
    ratio = _ratio(tree, context, profile, measured)
    return ContextSize(
        reported + counted, reported, counted, last, source, ratio=ratio,
        put_back=_put_back(tree, context, measured),
    )  # fmt: skip


def _reporter(tree: SessionTree, reply: int) -> str:
    """Who counted what a reply reports."""
    return "estimate" if tree.columns.is_counted_here(reply) else "provider"


def _counter(profile: Profile, measured: Sequence[int] | None) -> str:
    """Who counts where no provider did; named where it is not the count that entries show."""
    if profile.weights != SENT:
        return f"estimate as {profile.title} counts"
    return "estimate" if measured is None else "tokenizer"


def _beyond(
    tree: SessionTree, context: PathContext, profile: Profile, measured: Sequence[int] | None
) -> tuple[int | None, float]:
    """Of a context that no provider has counted: what lies beyond its entries by the last report on
    the path, which was of another context, and the ratio of that one. None where none tells."""
    reply, compaction = last_report(tree, context.path, 1), context.compaction
    if reply < 0:
        return None, 1.0
    then, now, size = context_at(tree, reply), context, tree.columns.usage[reply]
    if compaction > reply and _last_change(tree, context) < compaction:
        previewed = context_at(tree, tree.columns.parent[compaction])
        if _last_usage(tree, previewed, profile) >= 0:
            # As the preview of that compaction had it.
            then, now = previewed, context_at(tree, compaction)
            size = context_size(tree, then, profile, measured).tokens
    ratio = _ratio(tree, then, profile, measured)
    before, after = (counted_size(tree, each, profile, measured) for each in (then, now))
    freed = before + _put_back(tree, then, measured) - after - _put_back(tree, context, measured)
    beyond = round(size - ratio * freed) - after
    return max(0, beyond) if beyond <= _MOST_BEYOND else None, ratio


def _put_back(tree: SessionTree, context: PathContext, measured: Sequence[int] | None) -> int:
    """Tokens that an agent puts back after the compaction in force, and that no entry holds: what
    its record repeats, and the files that were used last, unless they are recorded."""
    columns, compaction = tree.columns, context.compaction
    if compaction < 0:
        return 0
    facts = columns.compactions[compaction]
    back, known = facts.put_back, facts.repeated_tokens
    after = context.path[context.path.position(compaction) + 1 :]
    if back is None or after.select(columns.kind, _FILES):
        return known
    return known + _used_last(tree, context.path, compaction, back, measured)


def _used_last(
    tree: SessionTree, path: Path, before: int, back: PutBack, measured: Sequence[int] | None
) -> int:
    """Tokens of the files that were used last before an entry of a path, as they were last read."""
    columns, ops = tree.columns, tree.columns.ops
    used, sizes, whole = dict[int, int](), dict[int, int](), set[int]()
    last = bisect_left(ops.entry, before)
    for row in reversed(range(max(0, last - _MOST_OPERATIONS), last)):
        file, kind = ops.path[row], ops.kind[row]
        if ops.failed[row] or ops.entry[row] not in path:
            continue
        used[file] = max(used.get(file, -1), ops.entry[row], ops.result[row])
        # An edit does not show the whole, and what was written stands in the call.
        shown = ops.result[row] if kind == _READ else ops.entry[row] if kind in _WRITES else -1
        if shown < 0 or file in whole:
            continue
        sizes[file] = max(sizes.get(file, 0), entry_tokens(columns, shown, measured))
        if kind != _READ or not ops.part[row]:
            whole.add(file)
    files = nlargest(back.files, used, key=lambda file: used[file])
    return sum(size for file in files if (size := sizes.get(file, 0)) <= back.tokens)


def _ratio(
    tree: SessionTree,
    context: PathContext,
    profile: Profile,
    measured: Sequence[int] | None,
    looks_back: int = _LOOKS_BACK,
) -> float:
    """By how much the provider's reports grew for each token of the entries between its first and
    its last one of this context; 1 without two of them. ``looks_back``: into so many contexts
    before the compactions, where this one does not tell.

    Tokenizers differ, and agents send what no entry holds. What both grew by is part of what is
    summarized; what the first report had already is not.
    """
    growth, grown, rest = _growth(tree, context, profile, measured)
    # A few turns tell little of all entries: what is missing to a share of them counts as it did
    # before the compaction, or one for one.
    missing = max(0, (grown + rest) // _TELLING_PART - grown)
    ratio = min(growth / grown, _MOST_RATIO) if grown > 0 else 0.0
    # Hardly more tokens with more entries: the agent left out some that it had sent before.
    is_misread = ratio < _LEAST_RATIO
    if not (missing or is_misread):
        return ratio
    before = 1.0
    if context.compaction >= 0 and looks_back:
        earlier = context_at(tree, tree.columns.parent[context.compaction])
        before = _ratio(tree, earlier, profile, measured, looks_back - 1)
    if is_misread:
        return before
    return (ratio * grown + before * missing) / (grown + missing)


def _growth(
    tree: SessionTree, context: PathContext, profile: Profile, measured: Sequence[int] | None
) -> tuple[int, int, int]:
    """By how much the reports grew between the first and the last one of a context, how many tokens
    the entries between them have, and the other entries; zeros without two reports."""
    messages = context.messages
    first = bisect_right(messages, context.compaction, _first_in_place(context))
    first = max(first, len(messages) - _MOST_MESSAGES)
    if tree.columns.prunes or tree.columns.shapes:
        first = bisect_right(messages, _last_change(tree, context), first)
    if first >= len(messages):
        return 0, 0, 0
    part = context.path[context.path.position(messages[first]) :]
    begin, end = first_report(tree, part), last_report(tree, part, 1)
    if begin == end:  # or there is none
        return 0, 0, 0
    upto, after = (bisect_left(messages, each, first) + 1 for each in (begin, end))
    grown = _counted(tree, context, upto, profile, measured, after) if upto < after else 0
    rest = _counted(tree, context, 0, profile, measured, upto)
    if after < len(messages):
        rest += _counted(tree, context, after, profile, measured)
    usage = tree.columns.usage
    return usage[end] - usage[begin], grown, rest


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


def message_tokens(
    tree: SessionTree, context: PathContext, measured: Sequence[int] | None = None
) -> list[int]:
    """Tokens of each message of a context as it is sent: see ``entry_tokens``; of the note where
    it is pruned, with the words before it where it is repeated."""
    columns = tree.columns
    column = columns.estimate if measured is None else measured
    tokens = [
        known if known >= 0 else columns.estimate[entry]
        for entry, known in zip(
            context.messages, map(column.__getitem__, context.messages), strict=True
        )
    ]
    apart = {*columns.user_images, *context.pruned, *context.again}
    apart.update(context.path.select(columns.kind, _UNSENT))
    apart.update(at for part in context.path.ranges for at in unsent_replies(columns, part))
    if apart:
        for place, entry in enumerate(context.messages):
            if entry in apart:
                tokens[place] = sent_tokens(context, entry, entry_tokens(columns, entry, measured))
    return tokens


def entries_size(tree: SessionTree, at: int, measured: Sequence[int] | None = None) -> int:
    """Tokens of the entries of the context at an entry, counted as ``sizes_around`` counts."""
    return counted_size(tree, context_at(tree, at), PROFILES["explorer"], measured)


def sizes_around(
    tree: SessionTree, compaction: int, measured: Sequence[int] | None = None
) -> tuple[int, int | None]:
    """Tokens of the context's entries right before a compaction and right after it, counted alike:
    the one pair of figures of it, wherever it is shown. None after it where its summary is not in
    the file: nobody can count that."""
    before, after = (
        entries_size(tree, at, measured) for at in (tree.columns.parent[compaction], compaction)
    )
    return before, None if tree.columns.is_size_unknown(compaction) else after


def expected_after(
    tree: SessionTree, compaction: int, profile: Profile, measured: Sequence[int] | None = None
) -> int:
    """What a provider is expected to count right after a compaction, in tokens, by its reports
    before; 0 where none tells."""
    context = context_at(tree, compaction)
    beyond, _ = _beyond(tree, context, profile, measured)
    return 0 if beyond is None else counted_size(tree, context, profile, measured) + beyond


def reported_after(tree: SessionTree, compaction: int) -> int:
    """What a provider counted, in tokens, with the first reply after a compaction on any branch;
    0 where none does among the entries soon after it."""
    columns = tree.columns
    for reply in range(compaction + 1, min(len(tree), compaction + _SOON)):
        counts = columns.kind[reply] == Kind.ASSISTANT and columns.usage[reply] >= 1
        if not counts or columns.flags[reply] & _FAILED or columns.is_counted_here(reply):
            continue
        path = tree.path(reply)
        if compaction in path:
            since = path[path.position(compaction) + 1 :].select(columns.kind, _COMPACTIONS)
            return 0 if len(since) else columns.usage[reply]
    return 0


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
    is_ours = profile.usage == "since-compaction"
    part = context.path[context.path.position(messages[first]) :]
    # Other rules go by whatever is recorded, an offline model's own count too.
    entry = last_report(tree, part, 1 if is_ours else 0, counted_here=not is_ours)
    return bisect_left(messages, entry, first) if entry >= 0 else -1


def last_report(tree: SessionTree, part: Path, least: int, *, counted_here: bool = False) -> int:
    """The last reply on a stretch of the path with which a provider reported at least so many
    tokens and that did not fail, or -1. ``counted_here``: or an offline model did."""
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
                is_whole = usage[at] >= least and not flags[at] & _FAILED
                if is_whole and (counted_here or not columns.is_counted_here(at)):
                    return at
                at = kinds.rfind(Kind.ASSISTANT, lower, at)
    return -1


def first_report(tree: SessionTree, part: Path) -> int:
    """The first reply on a stretch of the path with which a provider reported tokens and that did
    not fail, or -1."""
    columns = tree.columns
    usage, flags, kinds = columns.usage, columns.flags, columns.kind
    for entries in part.ranges:
        for lower in range(entries.start, entries.stop, _BLOCK):
            upper = min(entries.stop, lower + _BLOCK)
            if max(usage[lower:upper]) < 1:
                continue
            at = kinds.find(Kind.ASSISTANT, lower, upper)
            while at >= 0:
                is_whole = usage[at] >= 1 and not flags[at] & _FAILED
                if is_whole and not columns.is_counted_here(at):
                    return at
                at = kinds.find(Kind.ASSISTANT, at + 1, upper)
    return -1


def _counted(
    tree: SessionTree,
    context: PathContext,
    first: int,
    profile: Profile,
    measured: Sequence[int] | None,
    stop: int | None = None,
) -> int:
    """Tokens of the messages from index ``first`` up to ``stop``, or to the end, summed by
    stretches. ``stop``: behind the summary and what is repeated."""
    columns, messages = tree.columns, context.messages
    column = columns.estimate if measured is None else measured

    def recorded(entry: int) -> int:
        known = column[entry]
        return known if known >= 0 else columns.estimate[entry]

    def in_place(entry: int) -> int:
        is_sent = profile.weights == SENT
        return entry_tokens(columns, entry, measured) if is_sent else recorded(entry)

    total = 0
    if messages[first] == context.compaction:
        total = in_place(context.compaction)
        first += 1
    while first < len(messages) and messages[first] in context.again:
        weight = in_place(messages[first])
        total += max(0, weight + context.again[messages[first]].extra)
        first += 1
    if first >= len(messages):
        return total
    place = context.path.position
    end = None if stop is None or stop >= len(messages) else place(messages[stop])
    part = context.path[place(messages[first]) : end]
    for entries in part.ranges:
        values = column[entries.start : entries.stop]
        if measured is not None and min(values) < 0:
            total += sum(recorded(entry) for entry in entries)
        else:
            total += sum(values)
    # Of a stretch everything is in the context, but for older compactions.
    for entry in part.select(columns.kind, _COMPACTIONS):
        total -= recorded(entry)
    for entry, result in context.pruned.items():
        if entry in part:
            total += result.note_tokens - recorded(entry)
    if profile.weights == SENT:
        apart = {*part.select(columns.kind, _UNSENT), *columns.user_images}
        apart.update(at for entries in part.ranges for at in unsent_replies(columns, entries))
        total += sum(in_place(entry) - recorded(entry) for entry in apart if entry in part)
    for entry in context.omitted:
        if entry in part:
            total -= in_place(entry)
    return total
