"""The tree against plain loops over parents (A31 and what navigation rests on)."""

from __future__ import annotations

import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.formats.pi.entries import read_entry
from explorer.session.columns import SessionColumns
from explorer.session.describe import describe
from explorer.session.tree import SessionTree
from tests.session.trees import (
    grow,
    naive_ancestor,
    naive_path,
    parent_lists,
    plant,
)

DEEP = 200_000


@given(parent_lists())
def test_paths_are_those_of_the_parents(parents: list[int]) -> None:
    tree = plant(parents)
    assert tree.path(-1).indices() == []
    for leaf in range(len(parents)):
        path = tree.path(leaf)
        assert path.indices() == list(path) == naive_path(parents, leaf)
        assert len(path) == len(naive_path(parents, leaf))
        for part, following in zip(path.ranges, path.ranges[1:], strict=False):
            assert part and part.stop < following.start


def test_a_compaction_is_undone_when_nothing_follows_it_and_it_is_not_the_leaf() -> None:
    tree = plant([-1, 0])
    compaction = grow(tree, {"type": "compaction", "summary": "all"}, 1)
    assert tree.is_undone(compaction, leaf=1) and not tree.is_undone(compaction, leaf=compaction)
    assert not tree.is_undone(1, leaf=0), "no other entry is"
    grow(tree, {"type": "message", "message": {"role": "user", "content": "on"}}, compaction)
    assert not tree.is_undone(compaction, leaf=1)


@given(parent_lists(), st.data())
def test_a31_the_common_ancestor_is_the_deepest_on_both_paths(
    parents: list[int], data: st.DataObject
) -> None:
    tree = plant(parents)
    for _ in range(10):
        a = data.draw(st.integers(-1, len(parents) - 1))
        b = data.draw(st.integers(-1, len(parents) - 1))
        expected = naive_ancestor(parents, a, b)
        assert tree.common_ancestor(a, b) == expected
        assert tree.is_ancestor(a, b) == (a >= 0 and expected == a)


@given(parent_lists(), st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_children_are_sorted_by_time_then_by_order(parents: list[int], times: list[int]) -> None:
    moments = [1000.0 + time for time in times]
    tree = plant(parents, moments)
    for index in range(-1, len(parents)):
        children = [at for at, above in enumerate(parents) if above == index]
        assert tree.children(index) == sorted(children, key=lambda at: (moments[at], at))
    assert tree.roots() == tree.children(-1)


@given(parent_lists())
def test_leaves_and_branch_points(parents: list[int]) -> None:
    tree = plant(parents)
    counts = [parents.count(index) for index in range(len(parents))]
    assert tree.leaves() == [at for at, count in enumerate(counts) if count == 0]
    assert tree.branch_points() == [at for at, count in enumerate(counts) if count > 1]


@given(parent_lists(), st.sets(st.integers(0, 39)), st.integers(-1, 39))
def test_branches_end_as_if_undone_compactions_were_not_there(
    parents: list[int], compactions: set[int], leaf: int
) -> None:
    tree = SessionTree()
    for index, parent in enumerate(parents):
        message = {"type": "message", "message": {"role": "user", "content": "on"}}
        grow(tree, {"type": "compaction"} if index in compactions else message, parent)
    kept = [at for at in range(len(parents)) if not tree.is_undone(at, leaf)]
    goes_on = {parents[at] for at in kept}
    ends = [at for at in kept if at not in goes_on]
    assert tree.branch_ends(leaf) == (ends or tree.leaves())


def test_a_tree_of_undone_compactions_alone_has_ends() -> None:
    tree = SessionTree()
    one, other = (grow(tree, {"type": "compaction", "summary": "all"}, -1) for _ in range(2))
    assert tree.branch_ends(leaf=-1) == [one, other] and tree.branch_ends(leaf=other) == [other]


def test_a_branch_ends_once_more_where_its_compaction_was_undone() -> None:
    tree = plant([-1, 0, 0])
    compaction = grow(tree, {"type": "compaction", "summary": "all"}, 2)
    assert tree.branch_ends(leaf=compaction) == [1, compaction]
    assert tree.branch_ends(leaf=2) == tree.branch_ends(leaf=0) == [1, 2]
    compaction = grow(tree, {"type": "compaction", "summary": "all"}, 0)
    assert tree.branch_ends(leaf=2) == [1, 2] and tree.branch_ends(compaction) == [1, 2, compaction]


@given(parent_lists(), st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_the_deepest_leaf_follows_the_latest_children(parents: list[int], times: list[int]) -> None:
    tree = plant(parents, [1000.0 + time for time in times])
    for index in range(len(parents)):
        at = index
        while children := tree.children(at):
            at = children[-1]
        assert tree.deepest_leaf(index) == at


@given(parent_lists())
def test_runs_start_where_a_parent_is_not_the_entry_before(parents: list[int]) -> None:
    tree = plant(parents)
    for index in range(len(parents)):
        start = index
        while start > 0 and parents[start] == start - 1:
            start -= 1
        assert tree.run_start(index) == start


@given(parent_lists())
def test_growing_gives_the_tree_that_loading_gives(parents: list[int]) -> None:
    grown = SessionTree()
    for index, parent in enumerate(parents):
        # Asking in between builds what is kept for later, which appending must keep up to date.
        grown.leaves()
        grown.index_of("e0")
        grow(grown, {"type": "custom", "timestamp": index + 1}, parent)
    loaded = SessionTree(grown.columns)
    for tree in (grown, loaded):
        assert len(tree) == len(parents)
    for index in range(-1, len(parents)):
        assert grown.path(index).ranges == loaded.path(index).ranges
        assert grown.children(index) == loaded.children(index)
    assert grown.leaves() == loaded.leaves()
    assert [loaded.index_of(f"e{at}") for at in range(len(parents))] == list(range(len(parents)))


def test_a_chain_of_200_000_entries_needs_no_recursion() -> None:
    columns = SessionColumns(
        ids=[f"e{at}" for at in range(DEEP)],
        parent=array("i", range(-1, DEEP - 1)),
        kind=bytearray([1]) * DEEP,
        flags=array("I", bytes(4 * DEEP)),
        time=array("d", range(DEEP)),
    )
    tree = SessionTree(columns)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        path = tree.path(DEEP - 1)
        assert len(path) == DEEP and path.ranges == [range(DEEP)]
        assert path[DEEP // 2] == DEEP // 2 == path.position(DEEP // 2)
        assert tree.common_ancestor(DEEP - 1, 5) == 5
        assert tree.leaves() == [DEEP - 1]
        assert tree.branch_points() == []
        assert tree.deepest_leaf(0) == DEEP - 1
        assert tree.index_of(f"e{DEEP - 1}") == DEEP - 1
        assert tree.append("new", 5, describe(read_entry({"type": "custom"})), 0) == DEEP
        assert tree.path(DEEP).indices() == [0, 1, 2, 3, 4, 5, DEEP]
        assert tree.branch_points() == [5]
    finally:
        sys.setrecursionlimit(limit)


def test_a_comb_of_100_000_branches_is_walked_run_by_run() -> None:
    # Every second entry is a leaf, the worst case for runs.
    count = DEEP // 2
    parents = array("i", [max(-1, at - 2 + at % 2) for at in range(count)])
    columns = SessionColumns(
        ids=[str(at) for at in range(count)],
        parent=parents,
        kind=bytearray([1]) * count,
        flags=array("I", bytes(4 * count)),
        time=array("d", range(count)),
    )
    tree = SessionTree(columns)
    path = tree.path(count - 2)
    assert path.indices() == list(range(0, count - 1, 2))
    assert tree.common_ancestor(count - 1, 1) == 0
    assert len(tree.leaves()) == count // 2


def test_an_id_is_taken_once() -> None:
    tree = plant([-1])
    with pytest.raises(ValueError, match="'e0' exists already"):
        grow(tree, {"id": "e0"}, 0)
    assert len(tree) == 1 and tree.index_of("e0") == 0


@pytest.mark.parametrize("parent", [-2, 1, 5])
def test_a_parent_must_be_an_earlier_entry(parent: int) -> None:
    tree = plant([-1])
    with pytest.raises(ValueError, match="not an earlier entry"):
        grow(tree, {"id": "x"}, parent)
    assert len(tree) == 1
    assert tree.index_of("x") == -1
    assert grow(tree, {"id": "x"}, 0) == 1


def test_a4_the_last_label_wins_and_an_empty_one_clears() -> None:
    tree = plant([-1, 0, 1])

    def label(target: str, text: str | None) -> None:
        entry = {"type": "label", "targetId": target}
        grow(tree, entry if text is None else entry | {"label": text}, len(tree) - 1)

    label("e0", "first")
    label("e1", "second")
    label("gone", "nowhere")
    assert tree.labels() == {0: "first", 1: "second"}
    label("e0", "better")
    label("e1", None)
    assert tree.labels() == {0: "better"}
    label("e1", "again")
    assert tree.labels() == {0: "better", 1: "again"}


def test_a4_the_last_name_is_the_name() -> None:
    tree = plant([-1])
    assert tree.name() == ""
    grow(tree, {"type": "session_info", "name": "one"}, 0)
    grow(tree, {"type": "session_info", "name": "two"}, 0)
    assert tree.name() == "two"
