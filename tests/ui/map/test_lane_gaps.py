"""A lane is used again only where a free row lies between two branches."""

from __future__ import annotations

from array import array

import pytest

from ui.map.layout import Lanes, Skeleton, arrange


def lanes(*parents: int, links: tuple[tuple[int, int], ...] = ()) -> Lanes:
    """The layout of a tree whose newest entry is the leaf."""
    return arrange(Skeleton(array("i", parents)), len(parents) - 1, links)


def test_branches_that_touch_have_different_lanes() -> None:
    # Two replies to entry 1, one after the other, were given up; the third is active.
    found = lanes(-1, 0, 1, 1, 1)
    assert [found.lane_at(entry) for entry in range(5)] == [0, 0, 1, 2, 0]


def test_roots_that_touch_have_different_lanes() -> None:
    found = lanes(-1, 0, -1, 2, -1, 4)
    assert [found.lane_at(entry) for entry in range(6)] == [1, 1, 2, 2, 0, 0]


@pytest.mark.parametrize("between", [1, 2, 3])
def test_branches_with_a_row_between_them_share_a_lane(between: int) -> None:
    # Entry 2 was given up; so many rows of the active path later another one was.
    path = [1, *range(3, 2 + between)]
    fork = 2 + between
    found = lanes(-1, 0, 1, *path, fork, fork)
    assert found.lane_at(2) == found.lane_at(3 + between) == 1


def test_a_lane_that_is_reserved_for_a_branch_summary_counts_as_used() -> None:
    # Entry 4 sums up the branch that ended at entry 2, so that branch's line runs to entry 3.
    free = lanes(-1, 0, 1, 1, 3, 3, 3)
    reserved = lanes(-1, 0, 1, 1, 3, 3, 3, links=((4, 2),))
    assert (free.lane_at(4), reserved.lane_at(4)) == (1, 2)
