"""Putting entries in order: every parent first, the file's order otherwise."""

from __future__ import annotations

from heapq import heappop, heappush

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.session.records import Assembler, Placement

NAMES = [f"n{at}" for at in range(9)]
Links = list[tuple[str, str]]


@st.composite
def links(draw: st.DrawFn) -> Links:
    """(id, parent's id) in file order: any parents at all, circles and orphans included."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=9))
    return [(name, draw(st.sampled_from(["", *NAMES]))) for name in names]


def assemble(given_links: Links, told: bool) -> list[Placement[str]]:
    """Place all; with ``told`` the ids that are still to come are known."""
    at = 0
    assembler: Assembler[str]
    if told:
        assembler = Assembler(lambda: {name for name, _ in given_links[at:]})
    else:
        assembler = Assembler()
    out: list[Placement[str]] = []
    for name, parent in given_links:
        at += 1
        out += assembler.place(name, parent, name)
    out += assembler.finish()
    assert not assembler.holding
    assert assembler.placed == {one.item: index for index, one in enumerate(out)}
    return out


@given(links(), st.booleans())
def test_every_entry_is_placed_once_and_below_its_parent(given_links: Links, told: bool) -> None:
    out = assemble(given_links, told)
    parents = dict(given_links)
    assert sorted(one.item for one in out) == sorted(parents)
    for index, one in enumerate(out):
        assert -1 <= one.parent < index
        if one.fault:
            assert one.parent == -1
        else:
            above = out[one.parent].item if one.parent >= 0 else ""
            assert above == parents[one.item]


@given(links(), st.booleans())
def test_faults_are_what_is_wrong(given_links: Links, told: bool) -> None:
    parents = dict(given_links)
    order = [name for name, _ in given_links]
    for one in assemble(given_links, told):
        above = parents[one.item]
        walked = [one.item]
        while above in parents and above not in walked:
            walked.append(above)
            above = parents[above]
        circle = walked[walked.index(above) :] if above in walked else []
        if one.fault == "self":
            assert parents[one.item] == one.item
        elif one.fault == "cycle":
            assert one.item in circle and one.item == min(circle, key=order.index)
        elif one.fault == "orphan":
            assert parents[one.item] and parents[one.item] not in parents
        else:
            broken = one.item in circle and one.item == min(circle, key=order.index)
            assert not broken
            assert not parents[one.item] or parents[one.item] in parents


@given(links())
def test_the_order_takes_the_earliest_entry_that_can_be_taken(given_links: Links) -> None:
    parents = dict(given_links)
    sound = []
    for name, parent in given_links:
        walked = [name]
        while parents.get(walked[-1]) in parents and parents[walked[-1]] not in walked:
            walked.append(parents[walked[-1]])
        if parents[walked[-1]] not in walked:
            sound.append((name, parent))
    # The textbook way: a heap of the places of those whose parent is taken.
    place = {name: at for at, (name, _) in enumerate(sound)}
    heap = [place[name] for name, parent in sound if parent not in place]
    heap.sort()
    expected: list[str] = []
    while heap:
        name = sound[heappop(heap)][0]
        expected.append(name)
        for child, parent in sound:
            if parent == name:
                heappush(heap, place[child])
    assert [one.item for one in assemble(sound, told=True)] == expected


@given(links())
def test_a_file_in_order_stays_as_it_is(given_links: Links) -> None:
    seen: set[str] = set()
    ordered = []
    for name, parent in given_links:
        ordered.append((name, parent if parent in seen else ""))
        seen.add(name)
    assembler: Assembler[str] = Assembler()
    for name, parent in ordered:
        placed = assembler.place(name, parent, name)
        assert [one.item for one in placed] == [name]
        assert not assembler.holding
    assert assembler.finish() == []


def test_orphans_wait_for_the_end_only_when_nobody_knows_what_comes() -> None:
    lines = [("a", "gone"), ("b", "")]
    assert [one.item for one in assemble(lines, told=True)] == ["a", "b"]
    assert [one.item for one in assemble(lines, told=False)] == ["b", "a"]


def test_what_comes_is_asked_once() -> None:
    asked = 0

    def ahead() -> set[str]:
        nonlocal asked
        asked += 1
        return {"z"}

    assembler: Assembler[int] = Assembler(ahead)
    for at in range(50):
        assembler.place(f"e{at}", f"gone{at}", at)
    assert asked == 1


def test_an_id_is_taken_once_also_while_it_waits() -> None:
    assembler: Assembler[int] = Assembler()
    assembler.place("a", "", 0)
    assembler.place("b", "later", 1)
    assert "a" in assembler and "b" in assembler and "later" not in assembler
    for name in ("a", "b"):
        with pytest.raises(ValueError, match="exists already"):
            assembler.place(name, "", 2)


def test_long_chains_backwards_and_in_circles_need_no_recursion() -> None:
    count = 100_000
    assembler: Assembler[int] = Assembler()
    for at in range(count):
        assert assembler.place(f"e{at}", f"e{at + 1}", at) == []
    out = assembler.place(f"e{count}", "", count)
    assert [one.item for one in out] == list(range(count, -1, -1))
    circle: Assembler[int] = Assembler()
    for at in range(count):
        circle.place(f"e{at}", f"e{(at + 1) % count}", at)
    placed = circle.finish()
    assert placed[0] == Placement(0, -1, "cycle")
    assert [one.item for one in placed[1:]] == list(range(count - 1, 0, -1))
