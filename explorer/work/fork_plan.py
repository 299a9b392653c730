"""What a fork of a session takes along, decided on the tree alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from explorer.session.tree import SessionTree


@dataclass(frozen=True, slots=True)
class ForkPlan:
    """Which entries of a session a fork holds. Nothing has happened yet."""

    at: int
    """The entry that the fork goes on from."""
    whole: bool
    """All branches, rather than the path to ``at`` alone."""
    ranges: tuple[range, ...]
    """The entries that are taken, as ascending ranges of indices."""
    labels: Mapping[int, str]
    """Labels that stand in the session now and would not by the copied entries alone: target and
    text, empty where a label was taken back outside of what is copied."""
    lost_boundaries: tuple[int, ...]
    """Compactions whose first kept entry is not on the path before them. It is not in the session
    as it stands either: the model sees the same before and after."""
    told_elsewhere: tuple[int, ...]
    """Branch summaries that tell of a branch which is not copied."""

    @property
    def count(self) -> int:
        """How many entries are copied."""
        return sum(map(len, self.ranges))

    def notes(self) -> list[str]:
        """What a person should know of the fork, in sentences."""
        found = []
        if count := len(self.lost_boundaries):
            which = ", ".join(f"#{at}" for at in self.lost_boundaries[:5])
            more = ", …" if count > 5 else ""
            found.append(
                f"{_some(count, 'compaction names', 'compactions name')} a first kept entry that is"
                f" not on the path before it ({which}{more}): after it the model sees the summary"
                " and nothing that was kept, in the fork as in its origin."
            )
        if count := len(self.told_elsewhere):
            found.append(
                f"{_some(count, 'branch summary tells', 'branch summaries tell')} of a branch that"
                " stays in the origin."
            )
        return found


def _some(count: int, one: str, more: str) -> str:
    return f"One {one}" if count == 1 else f"{count:,} {more}"


def plan_fork(tree: SessionTree, at: int, whole: bool = False) -> ForkPlan:
    """The fork that goes on from the entry ``at``. Raises ValueError where there is none."""
    if not 0 <= at < len(tree):
        raise ValueError("There is no entry to fork at yet.")
    path = tree.path(at)
    ranges = (range(len(tree)),) if whole else tuple(path.ranges)

    def taken(entry: int) -> bool:
        return entry >= 0 and (whole or entry in path)

    return ForkPlan(
        at,
        whole,
        ranges,
        {} if whole else _labels(tree, taken),
        tuple(at for at in tree.columns.compactions if taken(at) and not _is_sound(tree, at)),
        tuple(
            entry
            for entry, facts in tree.columns.branches.items()
            if taken(entry) and not _tells_of(tree, facts.from_id, entry, taken)
        ),
    )  # fmt: skip


def _labels(tree: SessionTree, taken: Callable[[int], bool]) -> dict[int, str]:
    """Labels as they stand, less those that the copied label entries give by themselves."""
    by_copy: dict[int, str] = {}
    for at, (target_id, label) in tree.columns.labels.items():
        if taken(at):
            by_copy[tree.index_above(target_id, at)] = label
    now = tree.labels()
    wanted = {at: label for at, label in now.items() if taken(at) and by_copy.get(at, "") != label}
    cleared = {at: "" for at, label in by_copy.items() if label and taken(at) and at not in now}
    return dict(sorted((wanted | cleared).items()))


def _tells_of(tree: SessionTree, from_id: str, summary: int, taken: Callable[[int], bool]) -> bool:
    """Whether the branch that a summary tells of is there too; pi calls a start without one so."""
    return from_id in ("", "root") or taken(tree.index_above(from_id, summary))


def _is_sound(tree: SessionTree, compaction: int) -> bool:
    """Whether the boundary of a compaction holds: an entry before it, or itself or nothing, which
    keep nothing on purpose."""
    first_kept = tree.columns.compactions[compaction].first_kept_id
    if not first_kept or first_kept == tree.columns.ids[compaction]:
        return True
    kept = tree.index_above(first_kept, compaction)
    return kept >= 0 and tree.is_ancestor(kept, compaction)
