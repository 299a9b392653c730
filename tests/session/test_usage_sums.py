"""Tokens and cost of a reply, a turn, a branch and a session."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.formats.pi.adapter import PI
from explorer.formats.pi.entries import read_entry, read_usage
from explorer.session.describe import describe
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import (
    NOTHING,
    UNCOUNTED,
    PartUsage,
    UsageLedger,
    UsageSum,
    usage_sum,
)
from tests.session.trees import naive_path, parent_lists

Json = dict[str, Any]


def usage(input: int, output: int, read: int = 0, write: int = 0, cost: float = 0.0) -> Json:
    return {
        "input": input,
        "output": output,
        "cacheRead": read,
        "cacheWrite": write,
        "totalTokens": input + output + read + write,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": cost},
    }


def user(text: str = "go on") -> Json:
    return {"type": "message", "message": {"role": "user", "content": text}}


def reply(record: Json | None, *blocks: Json) -> Json:
    content = list(blocks) or [{"type": "text", "text": "yes"}]
    message = {"role": "assistant", "content": content, "provider": "x", "model": "y"}
    return {
        "type": "message",
        "message": message if record is None else message | {"usage": record},
    }


def spent_in(line: str, context: int) -> UsageSum | None:
    """What the entry in a line took; None when it says nothing of that."""
    usage = PI.usage(line, context)
    return None if usage is None else usage_sum(usage)


class Session:
    """A tree with the lines that it was grown from, and its ledger."""

    def __init__(self) -> None:
        self.tree = SessionTree()
        self.lines: list[str] = []
        self.ledger = UsageLedger()

    def add(self, entry: Json, parent: int | None = None) -> int:
        self.lines.append(json.dumps(entry))
        above = len(self.tree) - 1 if parent is None else parent
        return self.tree.append(f"e{len(self.tree)}", above, describe(read_entry(entry)), 1)

    def follow(self) -> UsageLedger:
        columns = self.tree.columns
        found = {
            at: spent
            for at in self.ledger.wanted(self.tree)
            if (spent := spent_in(self.lines[at], columns.usage[at])) is not None
        }
        self.ledger.take(self.tree, found, len(self.tree))
        return self.ledger


def test_a_reply_takes_what_its_provider_counted_and_costs_what_was_recorded() -> None:
    spent = usage_sum(read_usage(usage(100, 20, read=800, write=50, cost=0.0123)))
    assert spent == UsageSum(100, 20, 800, 50, 0.0123, calls=1)
    assert spent.tokens == 970


@pytest.mark.parametrize(
    "record", [None, {}, "usage", usage(0, 0), {"totalTokens": 0}, {"input": "many"}]
)
def test_what_nobody_counted_is_told_apart_and_never_summed(record: object) -> None:
    """E7: our own estimates are stored as nothing."""
    assert usage_sum(read_usage(record)) == UNCOUNTED
    assert UNCOUNTED.tokens == 0


def test_a_call_without_a_price_is_told_apart() -> None:
    assert usage_sum(read_usage(usage(10, 5))).unpriced == 1
    assert usage_sum(read_usage(usage(10, 5, cost=0.5))).unpriced == 0


@pytest.mark.parametrize(
    ("cost", "dollars"),
    [
        ({"total": 0.25}, 0.25),
        ({"input": 0.1, "output": 0.2}, pytest.approx(0.3)),
        (0.75, 0.75),
        ({"total": -4}, 0.0),
        ({"total": float("inf")}, 0.0),
        ("dear", 0.0),
    ],
)
def test_costs_are_taken_as_any_system_writes_them(cost: object, dollars: float) -> None:
    assert usage_sum(read_usage({**usage(10, 5), "cost": cost})).cost == dollars


def test_what_is_taken_away_and_put_back_is_what_there_was() -> None:
    spent = UsageSum(1, 2, 3, 4, 0.5, calls=6)
    assert spent + -spent == NOTHING != -spent and (-spent).input == -1


def test_only_a_sum_is_better_than_nothing() -> None:
    assert usage_sum(read_usage({"totalTokens": 900})) == UsageSum(900, calls=1, unpriced=1)


def test_turn_branch_and_session_are_sums_over_their_entries() -> None:
    session = Session()
    session.add(user())  # 0
    first = session.add(reply(usage(10, 1, cost=0.1)))  # 1
    session.add({"type": "message", "message": {"role": "toolResult", "content": "x"}})  # 2
    second = session.add(reply(usage(20, 2, read=5, cost=0.2)))  # 3
    session.add(user())  # 4
    third = session.add(reply(usage(40, 4, cost=0.4)))  # 5
    other = session.add(reply(None), parent=4)  # 6, another branch
    ledger = session.follow()
    assert ledger.of(second).replies == UsageSum(20, 2, 5, 0, 0.2, 1)
    assert ledger.of(0) == PartUsage()
    turn = ledger.turn(session.tree, first, leaf=third).replies
    assert (turn.input, turn.cost, turn.calls) == (30, pytest.approx(0.3), 2)
    assert ledger.turn(session.tree, third).replies.input == 40
    assert ledger.turn(session.tree, other).replies == UNCOUNTED
    branch = ledger.branch(session.tree, third).replies
    assert (branch.input, branch.calls, branch.uncounted) == (70, 3, 0)
    left = ledger.branch(session.tree, other).replies
    assert (left.input, left.calls, left.uncounted) == (30, 2, 1)
    everything = ledger.session().replies
    assert (everything.input, everything.cost, everything.uncounted) == (70, pytest.approx(0.7), 1)
    assert ledger.branch(session.tree, -1) == PartUsage()


def test_costs_of_millions_and_of_billionths_are_summed_exactly() -> None:
    session = Session()
    for cost in (1e-9, *[900_000.0] * 10):
        session.add(reply(usage(1, 1, cost=cost)))
    whole = session.follow().session().replies
    assert whole.cost == 9_000_000.000000001
    assert session.ledger.of(0).replies.cost == 1e-9


def test_summaries_in_the_session_are_counted_apart() -> None:
    session = Session()
    session.add(user())
    session.add(reply(usage(10, 1, cost=0.1)))
    compaction = {"type": "compaction", "summary": "all", "firstKeptEntryId": "e0"}
    session.add({**compaction, "usage": usage(500, 50, cost=0.5)})
    session.add(compaction)
    found = session.follow().session()
    assert found.replies.input == 10
    assert found.summaries == UsageSum(500, 50, 0, 0, 0.5, 1)
    assert found.total.cost == pytest.approx(0.6)


def test_a_usage_of_something_else_in_the_line_is_not_taken() -> None:
    """Arguments of a tool call may be called usage too, and text may quote one."""
    arguments = {"usage": {"input": 7, "totalTokens": 7}, "quoted": '"usage": {"input": 3}'}
    call = {"type": "toolCall", "id": "c", "name": "note", "arguments": arguments}
    line = json.dumps(reply(usage(10, 1, cost=0.1), call))
    after = json.dumps({"type": "message", "message": {"usage": usage(10, 1), "content": [call]}})
    assert spent_in(line, 11) == UsageSum(10, 1, 0, 0, 0.1, 1)
    assert PI.usage(after, 11) == read_usage(usage(10, 1))
    assert spent_in("not a line", 11) is None
    assert PI.usage("[1]", 11) is None


def test_the_ledger_grows_with_its_session() -> None:
    session = Session()
    session.add(user())
    assert session.follow().session() == PartUsage()
    session.add(reply(usage(10, 1)))
    assert session.ledger.session() == PartUsage(), "not taken in yet"
    assert session.follow().session().replies.input == 10
    assert session.follow().session().replies.input == 10, "nothing is taken in twice"
    assert len(session.ledger) == 2


@given(parents=parent_lists(), seed=st.randoms(use_true_random=False))
def test_a_branch_is_the_sum_of_its_entries_whatever_the_tree(
    parents: list[int], seed: Any
) -> None:
    session = Session()
    amounts: list[int] = []
    for parent in parents:
        amount = seed.choice((0, 3, 10))
        amounts.append(amount)
        entry = user() if seed.random() < 0.3 else reply(usage(amount, 0))
        amounts[-1] = 0 if entry["message"]["role"] == "user" else amount
        session.add(entry, parent)
    ledger = session.follow()
    for leaf in range(len(parents)):
        expected = sum(amounts[at] for at in naive_path(parents, leaf))
        assert ledger.branch(session.tree, leaf).replies.input == expected
    assert ledger.session().replies.input == sum(amounts)


def test_sums_are_added_and_taken_away_figure_by_figure() -> None:
    one = UsageSum(1, 2, 3, 4, 0.5, 1, 1, 1)
    assert one + NOTHING == one
    assert (one + one) - one == one


def test_the_turn_of_the_first_entry_has_its_replies() -> None:
    session = Session()
    first = session.add(user())
    last = session.add(reply(usage(10, 1, cost=0.1)))
    assert session.follow().turn(session.tree, first, last).replies.input == 10
