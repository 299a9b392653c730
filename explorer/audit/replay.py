"""Replaying the compactions of a path: what each did, and where every entry stood after it.

Which range was summarized is told by file lists, too. A compaction's entry lists the files of all
calls that it summarized, and those of the one before. A file that only calls of a certain range
touched is in the list when that range was summarized, and is missing when it was not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from explorer.audit.generations import (
    BROKEN,
    LOST_STATES,
    Boundary,
    Generation,
    Generations,
    PathState,
    ReadEntries,
    RecordedInputs,
    StateRun,
)
from explorer.audit.provenance import Provenance
from explorer.compaction.context_size import sizes_around
from explorer.compaction.path_view import TURN_MASK, PathView, entry_tokens, marked, view_of
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.session.context import context_at
from explorer.session.describe import CompactionFacts
from explorer.session.edit_entries import Reinserted
from explorer.session.kinds import Kind, selector
from explorer.session.tree import Path, SessionTree


class FilesTell(NamedTuple):
    """Whether a range was summarized, by the file lists."""

    summarized: bool
    why: str
    """A sentence."""


def range_was_summarized(
    tree: SessionTree, path: Path, compaction: int, previous: int, kept: range, newer: range
) -> FilesTell | None:
    """Whether ``kept`` (positions that the compaction ``previous`` kept) was summarized by
    ``compaction``; None when the lists do not tell.

    ``newer``: positions that it summarized in any case. Files that these or the previous list hold
    say nothing, and neither does a list that misses a file of ``newer``: it was made otherwise.
    """
    facts = tree.columns.compactions
    listed, before = _files(facts[compaction]), _files(facts[previous])
    if not listed or facts[compaction].from_extension:
        return None
    sure = _touched(tree, path, newer)
    if not (sure | (set() if facts[previous].from_extension else before)) <= listed:
        return None
    telling = _touched(tree, path, kept) - sure - before
    if not telling:
        return None
    there, missing = telling & listed, telling - listed
    if there and missing:
        return None
    name, kept_by = min(there or missing), f"entries that #{previous} had kept"
    whose = f"Compaction #{compaction}'s own file list"
    if there:
        return FilesTell(
            True,
            f"{whose} names {name}, which only {kept_by} name: so these went to the summarizer.",
        )
    return FilesTell(
        False, f"{whose} lacks {name}, which {kept_by} name: so these did not go to the summarizer."
    )


def _files(facts: CompactionFacts) -> set[str]:
    return {*facts.read_files, *facts.modified_files}


def _touched(tree: SessionTree, path: Path, positions: range) -> set[str]:
    """Files that the three file tools of pi named in a range of positions."""
    ops, found = tree.columns.ops, set()
    for part in path[positions.start : max(positions.start, positions.stop)].ranges:
        low = bisect_left(ops.entry, part.start)
        for row in range(low, bisect_left(ops.entry, part.stop, low)):
            if not ops.wide[row]:
                found.add(ops.paths[ops.path[row]])
    return found


_MARKS = selector({Kind.COMPACTION, Kind.RESET_BOUNDARY})
_UNCERTAIN = {
    "inferred": "Its agent does not record the range: it is worked out from the records around it.",
    "unreadable": "Its agent records that it happened; the summary is encrypted or not there.",
}
NO_HISTORY = "No prior history."
"""What pi writes where a split turn had nothing before it to tell (B7)."""


def generations_of(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    *,
    read: ReadEntries | None = None,
    recorded: RecordedInputs | None = None,
    weights: Sequence[int] | None = None,
) -> Generations:
    """Replay the compactions on the path to ``leaf`` by the rules of ``profile``, which are those
    of the agent that made them. ``read`` gives the summaries, of which two things are learned:
    whether they are empty, and whether they start anew. Never raises for what a session holds."""
    view = view_of(tree, leaf, profile, weights)
    replay = _Replay(tree, view, profile, read, recorded or {})
    for position in marked(view.kinds, _MARKS):
        replay.meet(position)
    replay.finish()
    return Generations(
        view, profile, tuple(replay.found), tuple(replay.lanes), tuple(replay.resets),
        lambda entry: entry_tokens(tree.columns, entry, weights),
        lambda entry: sizes_around(tree, entry, weights),
    )  # fmt: skip


@dataclass
class _Replay:
    tree: SessionTree
    view: PathView
    profile: Profile
    read: ReadEntries | None
    recorded: RecordedInputs
    runs: list[StateRun] = field(default_factory=list)
    found: list[Generation] = field(default_factory=list)
    lanes: list[tuple[StateRun, ...]] = field(default_factory=list)
    resets: list[int] = field(default_factory=list)
    start: int = 0
    """Where the context starts, without the summary."""
    boundary: int = 0
    """Where the next compaction's work starts by the profile's rule."""
    in_force: int = 0
    at: int = 0
    """Up to where ``runs`` reach."""

    def meet(self, position: int) -> None:
        self._extend(position)
        if self.view.kinds[position] == Kind.RESET_BOUNDARY:
            self._extend(position + 1)
            self._assign(0, position + 1, PathState.SET_ASIDE, keep_lost=True)
            self.resets.append(position)
            self.start = self.boundary = position + 1
            self.in_force = 0
            return
        self.lanes.append(tuple(self.runs))
        generation = self._generation(position)
        self.found.append(generation)
        self._apply(generation)
        self._extend(position + 1)
        self.start = min(generation.kept_from, position + 1)
        if generation.kept_from >= position:
            self.start = position + 1
        self.boundary = self.start if self.profile.boundary == "corrected" else position + 1
        self.in_force = generation.number

    def finish(self) -> None:
        self._extend(len(self.view))
        self.lanes.append(tuple(self.runs))

    # what a compaction did ----------------------------------------------------------------------

    def _generation(self, position: int) -> Generation:
        entry = self.view.path[position]
        boundary, kept = self._kept(entry, position)
        meant, summarized_from = kept, self.boundary
        provenance, basis = Provenance.INFERRED, self._rule()
        inputs = self.recorded.get(entry)
        left_out: tuple[int, ...] = ()
        if inputs:
            summarized_from, left_out = self._recorded(inputs, kept)
            provenance = Provenance.EXACT
            basis = "The request that went to the summarizer was recorded."
        elif boundary in BROKEN:
            meant = self._meant(entry, position)
            basis = (
                "What it was to keep is worked out from the rules and default sizes of "
                f"{self.profile.title}."
            )
        elif self.start == self.boundary and not self.in_force:
            provenance = Provenance.EXACT
            basis = (
                "It was the first compaction here: all before its first kept entry was summarized."
            )
        elif (seen := self._files_tell(entry, kept)) is not None:
            summarized_from = (
                self.start if seen.summarized else max(self._previous_position() + 1, 0)
            )
            basis = seen.why
        certainty = self.tree.columns.compactions[entry].certainty
        text = self._summary(entry)
        if certainty != "exact":
            provenance, basis = Provenance(certainty), _UNCERTAIN[certainty]
        is_readable = certainty != "unreadable" or bool((text or "").strip())
        if not is_readable:
            # It stands for all of the context before what it keeps. It says something, and nobody
            # knows what: nothing of it counts as lost.
            summarized_from, meant, left_out = self.start, kept, ()
        turn = self._turn_start(summarized_from, kept)
        carries, carry_basis = True, ""
        if is_readable:
            carries, carry_basis = self._carries(text, summarized_from, kept, turn)
        return Generation(
            number=len(self.found) + 1,
            compaction=entry,
            position=position,
            boundary=boundary,
            context_from=self.start,
            previous=self.in_force,
            summarized_from=summarized_from,
            kept_from=kept,
            meant_from=meant,
            turn_start=turn,
            carries_previous=carries,
            is_empty=is_readable and text is not None and not text.strip(),
            left_out=left_out,
            provenance=provenance,
            basis=f"{basis} {carry_basis}".strip(),
        )

    def _kept(self, entry: int, position: int) -> tuple[Boundary, int]:
        """What the recorded first kept entry is, and the position from which entries are kept."""
        name = self.tree.columns.compactions[entry].first_kept_id
        if not name or name == self.tree.columns.ids[entry]:
            return Boundary.NOTHING_KEPT, position
        named = self.tree.index_above(name, entry + 1)
        if named < 0:
            return Boundary.MISSING, position
        at = self.view.path.position(named)
        if at < 0:
            below = named > entry and self.tree.is_ancestor(entry, named)
            return (Boundary.AFTER if below else Boundary.OTHER_BRANCH), position
        if at >= position:
            return Boundary.AFTER, position
        last_reset = self.resets[-1] if self.resets else -1
        return Boundary.KEPT, max(at, last_reset + 1)

    def _meant(self, entry: int, position: int) -> int:
        """The first kept position by the rules, for a broken boundary."""
        above = self.tree.columns.parent[entry]
        prepared = prepare(self.tree, above, self.profile, Settings.of(self.profile))
        return min(prepared.cut, position) if isinstance(prepared, Preparation) else position

    def _recorded(self, inputs: Collection[int], kept: int) -> tuple[int, tuple[int, ...]]:
        # What the record of the compaction before holds again was in the requests besides.
        recorded = {entry for entry, copy in self._held().items() if copy.why == "recorded"}
        positions = [
            at
            for entry in inputs
            if 0 <= (at := self.view.path.position(entry)) < kept and entry not in recorded
        ]
        summarized_from = min(positions, default=kept)
        requested, view, estimate = set(inputs), self.view, self.tree.columns.estimate
        # A reply that was stopped before its first word has nothing to summarize.
        counted = (e for e in view.entries(summarized_from, kept, view.sent) if estimate[e] > 0)
        out = [entry for entry in counted if entry not in requested]
        return summarized_from, tuple(out)

    def _held(self) -> Mapping[int, Reinserted]:
        """What the context holds again by the compaction in force."""
        if not self.in_force:
            return {}
        return context_at(self.tree, self.found[self.in_force - 1].compaction).again

    def _rule(self) -> str:
        title = self.profile.title
        if not self.in_force:
            return ""
        if self.profile.boundary == "corrected":
            return f"By the rules of {title}, a compaction starts with what the last one kept."
        return f"By the rules of {title}, a compaction starts after the last one."

    def _files_tell(self, entry: int, kept: int) -> FilesTell | None:
        """What the file lists tell about the range that the compaction before had kept."""
        last = self._previous_position()
        if last < 0 or self.start > last:
            return None
        return range_was_summarized(
            self.tree,
            self.view.path,
            entry,
            self.found[self.in_force - 1].compaction,
            range(self.start, min(last, kept)),
            range(last + 1, kept),
        )

    def _previous_position(self) -> int:
        return self.found[self.in_force - 1].position if self.in_force else -1

    def _turn_start(self, summarized_from: int, kept: int) -> int:
        """Where the turn starts that a cut at ``kept`` splits, or -1."""
        kinds = self.view.kinds
        if kept >= len(kinds) or kept <= summarized_from:
            return -1
        starts = kinds[: kept + 1].translate(TURN_MASK)
        if starts[kept]:
            return -1
        # Notes just before a turn's start are kept with it.
        following = kinds.translate(TURN_MASK).find(1, kept)
        between = self.view.sent[kept : following if following >= 0 else len(kinds)]
        if following >= 0 and not between.count(1):
            return -1
        return starts.rfind(1)

    def _summary(self, entry: int) -> str | None:
        if self.read is None:
            return None
        text = self.read([entry])[0].summary
        return text if isinstance(text, str) else ""

    def _carries(self, text: str | None, start: int, kept: int, turn: int) -> tuple[bool, str]:
        """Whether the previous summary lives on, and how that is known where it is telling."""
        if not self.in_force:
            return True, ""
        if text is not None and text.lstrip().startswith(NO_HISTORY):
            return False, f"Its text starts with “{NO_HISTORY}”, so the summary before was dropped."
        if turn < 0 or self.profile.prefix_only != "drop":
            return True, ""
        view = self.view
        history = view.sent[start : max(start, turn)].count(1)
        prefix = view.sent[max(start, turn) : kept].count(1)
        if text is not None or history or not prefix:
            return True, ""
        return (
            False,
            "Only a split turn's first part was summarized, and such a pass drops what was.",
        )

    # the runs -----------------------------------------------------------------------------------

    def _apply(self, it: Generation) -> None:
        number = it.number
        if it.previous and not it.carries_previous:
            self._drop_summarized(PathState.LOST_CHAIN, number)
        for part, state in (
            (it.dropped, PathState.LOST_RANGE),
            (it.summarized, PathState.SUMMARIZED),
        ):
            if part:
                self._assign(part.start, part.stop, state, number=number)
        if it.meant_from < it.kept_from:
            self._assign(it.meant_from, it.kept_from, PathState.LOST_BOUNDARY, number=number)
        if it.returned:
            stop = min(it.returned.stop, it.position)
            self._assign(it.kept_from, stop, PathState.IN_CONTEXT, number=number)
        for entry in it.left_out:
            at = self.view.path.position(entry)
            self._assign(at, at + 1, PathState.LOST_LEFT_OUT, number=number)
        if it.is_empty:
            self._drop_summarized(PathState.LOST_SUMMARY, number)

    def _extend(self, stop: int) -> None:
        if stop > self.at:
            self.runs.append(StateRun(self.at, stop, PathState.IN_CONTEXT, 0, 0))
            self.at = stop

    def _drop_summarized(self, state: PathState, number: int) -> None:
        self.runs = [
            run._replace(state=state, since=number) if run.state is PathState.SUMMARIZED else run
            for run in self.runs
        ]

    def _assign(
        self, start: int, stop: int, state: PathState, *, number: int = 0, keep_lost: bool = False
    ) -> None:
        """Give the positions a state; runs are parted where it starts and stops."""
        out: list[StateRun] = []
        for run in self.runs:
            low, high = max(run.start, start), min(run.stop, stop)
            if low >= high or (keep_lost and run.state in LOST_STATES):
                out.append(run)
                continue
            if run.start < low:
                out.append(run._replace(stop=low))
            summarized_by = number if state is PathState.SUMMARIZED else run.summarized_by
            out.append(StateRun(low, high, state, summarized_by, number))
            if high < run.stop:
                out.append(run._replace(start=high))
        self.runs = out
