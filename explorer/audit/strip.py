"""The survival strip: per entry, until which compaction it stood word for word, and where it
lives on since, for a whole path at once."""

from __future__ import annotations

from array import array

from msgspec import Struct

from explorer.audit.generations import (
    LOST_STATES,
    Generation,
    Generations,
    PathState,
    StateRun,
)
from explorer.compaction.reasons import count_text
from explorer.session.tree import Path


class Strip(Struct, frozen=True):
    """Survival over a path. Positions count on the path, generations from 1; 0 is none."""

    found: Generations
    verbatim_until: array[int]
    """Per position: the generation that ended its last stay in the context; 0: it still is there
    (or never was: see ``found.view.sent``)."""
    summarized_in: array[int]
    """The generation whose summary covered it first."""
    lives_until: array[int]
    """The last generation whose summary covers it; 0 for none."""
    lost_at: array[int]
    """The generation since which nothing covers it."""

    @property
    def path(self) -> Path:
        """The path."""
        return self.found.view.path

    @property
    def lanes(self) -> tuple[tuple[StateRun, ...], ...]:
        """Per moment, from before the first compaction to the leaf: the states of the path."""
        return self.found.lanes

    def run(self, lane: int, position: int) -> StateRun | None:
        """The state of a position at a moment; None where it was not there yet."""
        runs = self.lanes[lane]
        low, high = 0, len(runs)
        while low < high:
            middle = (low + high) // 2
            if runs[middle].stop <= position:
                low = middle + 1
            else:
                high = middle
        return runs[low] if low < len(runs) and runs[low].start <= position else None

    def words(self, position: int) -> str:
        """The survival of one entry in a sentence or two."""
        every = self.found.all
        name = f"#{self.path[position]}"
        if (this := self.found.at(self.path[position])) is not None:
            return self._summary_words(name, this)
        if not self.found.view.sent[position]:
            return f"{name} is never sent."
        until, summarized_by = self.verbatim_until[position], self.summarized_in[position]
        lost, lives = self.lost_at[position], self.lives_until[position]
        if not until:
            sentence = f"{name} is in the context word for word to the end"
            again = (
                f", and compaction #{every[summarized_by - 1].compaction} tells of it too"
                if summarized_by
                else ""
            )
            return f"{sentence}{again}."
        sentence = f"{name} stood word for word until compaction #{every[until - 1].compaction}"
        if summarized_by and lives:
            through = lives - summarized_by + 1
            sentence += f" and lives on in {count_text(through, 'summary')}"
            if through > 1:
                sentence += f", down to that of #{every[lives - 1].compaction}"
        if lost:
            return f"{sentence}. Lost since #{every[lost - 1].compaction}."
        return f"{sentence}."

    def _summary_words(self, name: str, this: Generation) -> str:
        chain = self.found.chain(this.number, len(self.found.all))
        if this.number == len(self.found.all):
            return f"{name} is the latest summary."
        if len(chain) == 1:
            return f"{name} is a summary that the next compaction did not go on with."
        return f"{name} is a summary that lives on in that of #{chain[-1].compaction}."


def survival_strip(found: Generations) -> Strip:
    """The strip of a path; ``found``: its compactions, as they were replayed."""
    count, last = len(found.view), len(found.all)
    until, summarized_by, lives, lost = (array("i", bytes(4 * count)) for _ in range(4))
    for run in found.final:
        if run.state is not PathState.IN_CONTEXT:
            _fill(until, run, run.since)
        if run.summarized_by:
            _fill(summarized_by, run, run.summarized_by)
            if run.state in (PathState.SUMMARIZED, PathState.IN_CONTEXT):
                chain = found.chain(run.summarized_by, last)
                _fill(lives, run, chain[-1].number if chain else 0)
            elif run.state in LOST_STATES:
                _fill(lives, run, max(run.summarized_by, run.since - 1))
        if run.state in LOST_STATES:
            _fill(lost, run, run.since)
            if run.summarized_by and run.state is not PathState.LOST_RANGE:
                _fill(until, run, run.summarized_by)
    return Strip(found, until, summarized_by, lives, lost)


def _fill(column: array[int], run: StateRun, value: int) -> None:
    column[run.start : run.stop] = array("i", [value]) * (run.stop - run.start)
