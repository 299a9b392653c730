"""An agent that goes round in circles is told so, and then ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.agent.loop import LONGEST_CYCLE, PATIENCE, CycleGuard, Step, detect_cycle
from explorer.agent.tools.port import ToolOutcome
from explorer.models.client import ToolCall


def steps(rounds: str, most: int | None = 3) -> list[Step]:
    """What a guard says of rounds of one call each; a letter is a call with its result."""
    guard = CycleGuard(most)
    return [
        guard.observe([ToolCall(f"id-{at}", "read", {"path": name})], [ToolOutcome(name)])
        for at, name in enumerate(rounds)
    ]


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        ("aaaaa", "g g t t e"),
        ("ababababab", "g g g g g t g t g e"),
        ("abcabcabcabcabc", "g g g g g g g g t g g t g g e"),
        ("xaabaab", "g g g g g g g"),
        ("aabaa", "g g g g g"),
        ("abcdabcdabcd", "g " * 12),
    ],
)
def test_cycles_of_one_two_and_three_rounds(rounds: str, said: str) -> None:
    short = {"go": "g", "tell": "t", "end": "e"}
    assert [short[step] for step in steps(rounds)] == said.split()


def test_it_can_be_switched_off() -> None:
    assert set(steps("a" * 50, None)) == {"go"}


def test_another_result_or_another_argument_is_no_repetition() -> None:
    guard = CycleGuard(2)
    call = ToolCall("c", "ls", {"path": "."})
    for number in range(9):
        assert guard.observe([call], [ToolOutcome(f"{number} files")]) == "go"
    for number in range(9):
        other = ToolCall("c", "ls", {"path": ".", "limit": number})
        assert guard.observe([other], [ToolOutcome("fine")]) == "go"


def test_the_order_of_arguments_and_the_ids_do_not_count() -> None:
    guard = CycleGuard(2)
    one = ToolCall("1", "grep", {"pattern": "x", "path": "."})
    two = ToolCall("2", "grep", {"path": ".", "pattern": "x"})
    guard.observe([one], [ToolOutcome("no hit")])
    assert guard.observe([two], [ToolOutcome("no hit")]) == "tell"
    assert "2 times in a row" in guard.note


@given(st.text("abc", max_size=40))
def test_what_is_said_to_come_again_does(rounds: str) -> None:
    found = detect_cycle(rounds)
    assert 1 <= found.length <= LONGEST_CYCLE
    cycle = rounds[len(rounds) - found.length :] if rounds else ""
    if found.times > 1:
        tail = rounds[len(rounds) - found.length * found.times :]
        assert tail == cycle * found.times


@given(st.integers(2, 6), st.text("abcdefgh", min_size=1, max_size=3), st.text("xyz", max_size=9))
def test_every_cycle_ends(most: int, cycle: str, before: str) -> None:
    said = steps(before + cycle * (most + PATIENCE), most)
    assert "end" in said
    assert "tell" in said[: said.index("end")], "nobody is ended who was not told"
