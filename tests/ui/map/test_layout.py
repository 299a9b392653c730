"""Lanes, segments and forks from parents alone, without Qt."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from itertools import pairwise
from pathlib import Path

import pytest

from explorer.session.kinds import Kind
from ui.map.layout import LONG_EDGE, MAX_LANES, LaneLevels, Lanes, Skeleton, arrange


def tree(*parents: int) -> array[int]:
    return array("i", parents)


def chain(count: int) -> array[int]:
    return array("i", range(-1, count - 1))


def grown(seed: int, count: int, back: int = 40) -> array[int]:
    """A random session: mostly a chain, now and then a jump back."""
    dice = random.Random(seed)
    parents = array("i", [-1])
    for at in range(1, count):
        jump = dice.random() < 0.12
        parents.append(max(0, at - 1 - dice.randrange(back)) if jump else at - 1)
    return parents


def path_to(parents: array[int], leaf: int) -> set[int]:
    found = set()
    while leaf >= 0:
        found.add(leaf)
        leaf = parents[leaf]
    return found


def lanes_of(lanes: Lanes) -> list[int]:
    return [lanes.lane_at(at) for at in range(lanes.count)]


def test_layout_is_importable_without_qt(repository: Path) -> None:
    code = "import sys, ui.map.layout, ui.map.rows; print('PySide6' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_chain_is_one_lane() -> None:
    lanes = arrange(Skeleton(chain(50)), 49)
    assert lanes_of(lanes) == [0] * 50
    assert lanes.branch_points() == []


def test_an_abandoned_branch_lies_beside_the_active_path() -> None:
    # 0 1 2, then 3 4 abandoned, then 5 6 from 2
    lanes = arrange(Skeleton(tree(-1, 0, 1, 2, 3, 2, 5)), 6)
    assert lanes_of(lanes) == [0, 0, 0, 1, 1, 0, 0]
    assert lanes.branch_points() == [2]
    assert [lanes.is_active(at) for at in range(7)] == [True] * 3 + [False] * 2 + [True] * 2


def test_moving_the_leaf_makes_the_other_branch_active() -> None:
    lanes = arrange(Skeleton(tree(-1, 0, 1, 2, 3, 2, 5)), 4)
    assert lanes_of(lanes) == [0, 0, 0, 0, 0, 1, 1]


def test_what_lies_below_the_leaf_is_not_active() -> None:
    lanes = arrange(Skeleton(chain(10)), 5)
    assert lanes_of(lanes) == [0] * 6 + [1] * 4
    assert lanes.branch_points() == []


def test_a_leaf_before_everything_leaves_no_active_path() -> None:
    lanes = arrange(Skeleton(chain(4)), -1)
    assert lanes_of(lanes) == [1] * 4


def test_several_roots_have_lanes_of_their_own() -> None:
    lanes = arrange(Skeleton(tree(-1, 0, -1, 2)), 3)
    assert lanes_of(lanes) == [1, 1, 0, 0]


def test_a_branch_made_late_runs_beside_what_came_between() -> None:
    # the active path goes 0..5; 6 7 were tried from 1 afterwards
    lanes = arrange(Skeleton(tree(-1, 0, 1, 2, 3, 4, 1, 6)), 5)
    chains = lanes.chains
    late = lanes.chain_at(6)
    assert chains.rise[late] == 2 and not chains.hangs[late]


def test_a_jump_far_back_hangs_without_a_line() -> None:
    parents = chain(LONG_EDGE + 20)
    parents.extend([3, len(parents)])
    lanes = arrange(Skeleton(parents), LONG_EDGE + 19)
    late = lanes.chain_at(len(parents) - 1)
    assert lanes.chains.hangs[late] and lanes.chains.rise[late] == len(parents) - 2


def test_a_bridge_keeps_the_lane_of_the_branch_it_tells_of() -> None:
    # 3 4 abandoned, 5 6 another try, 7 sums up the branch that ended at 4
    parents = tree(-1, 0, 1, 2, 3, 2, 5, 2)
    lanes = arrange(Skeleton(parents), 7, [(7, 4)])
    assert lanes.bridges == [(7, 4, True)]
    assert lanes.chains.end[lanes.chain_at(4)] == 6
    assert lanes.lane_at(5) != lanes.lane_at(4)


def kinds_of(count: int, *compactions: int) -> bytes:
    return bytes(Kind.COMPACTION if at in compactions else Kind.USER for at in range(count))


@pytest.mark.parametrize("leaf", [3, 7])
def test_compactions_that_were_undone_share_one_lane(leaf: int) -> None:
    """Three tries below 3, each taken back: before the session goes on from there, and after."""
    parents = tree(-1, 0, 1, 2, 3, 3, 3, 3)[: leaf + 1 if leaf == 7 else 7]
    skeleton = Skeleton(parents)
    lanes = arrange(skeleton, leaf, kinds=kinds_of(len(parents), 4, 5, 6))
    assert lanes_of(lanes) == [0, 0, 0, 0, 1, 1, 1, 0][: len(parents)]
    chains = [lanes.chain_at(at) for at in (4, 5, 6)]
    assert len(set(chains)) == 3, "none of them follows another"
    lines = [bool(lanes.chains.hangs[chain]) for chain in chains]
    # Where the path passes beside them each has a line from it.
    assert lines == ([False, True, True] if leaf == 3 else [False] * 3)
    assert lanes_of(arrange(skeleton, leaf))[4:7] != [1, 1, 1]


def test_a_compaction_that_holds_or_goes_on_has_a_lane_of_its_own() -> None:
    skeleton = Skeleton(tree(-1, 0, 1, 1, 1, 3))
    kinds = kinds_of(6, 2, 3, 4)
    assert lanes_of(arrange(skeleton, 1, kinds=kinds)) == [0, 0, 1, 2, 1, 2]
    assert lanes_of(arrange(skeleton, 5, kinds=kinds)) == [0, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("undone", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_active_path_alone_is_lane_0_and_no_two_branches_share_rows(
    seed: int, undone: bool
) -> None:
    parents = grown(seed, 600)
    leaf = random.Random(seed).randrange(600)
    lanes = arrange(Skeleton(parents), leaf, kinds=kinds_of(600, *range(600 if undone else 0)))
    on_path = path_to(parents, leaf)
    assert {at for at in range(600) if lanes.lane_at(at) == 0} == on_path
    for lane in lanes.lanes[: MAX_LANES - 1]:
        spans = list(zip(lane.rises, lane.ends, strict=True))
        assert all(end < rise for (_, end), (rise, _) in pairwise(spans))
    for chain_at, (head, tail) in enumerate(zip(lanes.chains.head, lanes.chains.tail, strict=True)):
        members = [
            entry
            for at, (start, end) in enumerate(pairwise((*lanes.starts, lanes.count)))
            if lanes.chain_of[at] == chain_at
            for entry in range(start, end)
        ]
        assert members[0] == head and members[-1] == tail
        assert all(parents[below] == above for above, below in pairwise(members))


@pytest.mark.parametrize("seed", range(4))
def test_a_skeleton_that_grew_is_the_one_made_at_once(seed: int) -> None:
    parents = grown(seed, 400)
    skeleton = Skeleton(parents[:100])
    for count in range(101, 401):
        skeleton.extend(parents[:count])
    assert skeleton.starts == Skeleton(parents).starts


def test_following_the_leaf_costs_nothing_but_is_the_same_layout() -> None:
    parents = grown(3, 300)
    skeleton = Skeleton(parents)
    lanes = arrange(skeleton, 299)
    longer = array("i", [*parents, *range(299, 349)])
    skeleton.extend(longer)
    assert lanes.extend(349, bridged=False)
    fresh = arrange(Skeleton(longer), 349)
    assert lanes_of(lanes) == lanes_of(fresh)
    assert lanes.lanes[0].ends == fresh.lanes[0].ends


def test_a_new_branch_is_not_taken_for_more_of_the_same() -> None:
    parents = chain(10)
    skeleton = Skeleton(parents)
    lanes = arrange(skeleton, 9)
    skeleton.extend(array("i", [*parents, 4]))
    assert not lanes.extend(10, bridged=False)


def test_joined_stretches_cover_the_same_entries() -> None:
    lanes = arrange(Skeleton(grown(5, 20_000)), 19_999)
    levels = LaneLevels(lanes)
    for number, lane in enumerate(lanes.lanes):
        coarse = levels.lane(number, 512)
        covered = [range(a, b + 1) for a, b in zip(coarse.rises, coarse.ends, strict=True)]
        assert len(coarse.rises) <= len(lane.rises)
        assert all(any(rise in part for part in covered) for rise in lane.rises[:200])
    assert len(levels.lane(1, 512).rises) < len(lanes.lanes[1].rises)


def test_the_last_rows_alone_agree_with_the_whole_layout_on_the_active_path() -> None:
    parents = grown(9, 3_000)
    whole = arrange(Skeleton(parents), 2_999)
    part = arrange(Skeleton(parents, 2_600), 2_999)
    for at in range(2_600, 3_000):
        assert part.is_active(at) == whole.is_active(at)
