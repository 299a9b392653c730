"""Paths as ranges against paths as lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.session.kinds import Kind, selector
from explorer.session.tree import Path
from tests.session.trees import naive_path, parent_lists, plant


@given(parent_lists(), st.data())
def test_positions_slices_and_membership(parents: list[int], data: st.DataObject) -> None:
    leaf = data.draw(st.integers(-1, len(parents) - 1))
    path, plain = plant(parents).path(leaf), naive_path(parents, leaf)
    for entry in range(-2, len(parents) + 2):
        expected = plain.index(entry) if entry in plain else -1
        assert path.position(entry) == expected
        assert (entry in path) == (entry in plain)
    assert "e0" not in path
    for at in range(-len(plain), len(plain)):
        assert path[at] == plain[at]
    bound = st.none() | st.integers(-len(plain) - 2, len(plain) + 2)
    part = slice(data.draw(bound), data.draw(bound))
    assert path[part].indices() == plain[part]
    assert len(path[part]) == len(plain[part])


@given(parent_lists(), st.data())
def test_select_and_gather_read_columns_along_the_path(
    parents: list[int], data: st.DataObject
) -> None:
    leaf = data.draw(st.integers(-1, len(parents) - 1))
    size = len(parents)
    kinds = data.draw(st.lists(st.integers(0, max(Kind)), min_size=size, max_size=size))
    wanted = data.draw(st.sets(st.sampled_from(list(Kind))))
    path, plain = plant(parents).path(leaf), naive_path(parents, leaf)
    expected = [at for at in plain if kinds[at] in wanted]
    assert path.select(bytearray(kinds), selector(wanted)) == expected
    assert path.select(bytes(kinds), selector(frozenset(wanted))) == expected
    assert path.gather(bytearray(kinds)) == bytes(kinds[at] for at in plain)


@pytest.mark.parametrize("at", [3, -4, 100])
def test_a_position_off_the_path_is_an_index_error(at: int) -> None:
    with pytest.raises(IndexError, match="not on a path of 3 entries"):
        Path([range(2), range(5, 6)])[at]


def test_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="steps of one"):
        Path([range(3)])[::2]


def test_an_empty_path() -> None:
    path = Path([])
    assert len(path) == 0 and list(path) == [] and path.position(0) == -1
    assert path[0:5].indices() == [] and path.gather(b"abc") == b""
