"""Pins, omissions and kept messages on a path: what holds, and what the context is then."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.formats.pi.entries import read_entry
from explorer.formats.pi.entry_writer import write_entry
from explorer.session.context import context_at
from explorer.session.edit_entries import ShapeFacts, shape_data, shape_facts
from explorer.session.edits import (
    heading_of,
    last_shape_change,
    repeated_tokens,
    round_of,
    shape_at,
)
from explorer.session.kinds import Flag
from tests.compaction.sessions import Session


def shape(session: Session, kind: str, *entries: int, under: int | None = None, **data: Any) -> int:
    named = {"entries": [f"e{at}" for at in entries]} if entries else {}
    entry = {"type": "custom", "customType": f"session-explorer/{kind}", "data": {**named, **data}}
    return session.add(entry, under)


def messages(session: Session, at: int | None = None) -> list[int]:
    return context_at(session.tree, session.leaf if at is None else at).messages


@pytest.fixture
def talk() -> Session:
    """0 user, 1 reply with calls, 2 and 3 results, 4 user, 5 reply, 6 user, 7 reply."""
    session = Session()
    session.user(8)
    reply = session.reply(calls=[("read", "a.py"), ("read", "b.py")])
    session.result(20, call=f"c{reply}.0")
    session.result(30, call=f"c{reply}.1")
    session.user(8)
    session.reply(8)
    session.user(8)
    session.reply(8)
    return session


def test_a_pin_is_known_by_its_flag_and_an_omission_has_none(talk: Session) -> None:
    pinned, omitted = shape(talk, "pin", 0), shape(talk, "omit", 4)
    flags = talk.tree.columns.flags
    assert flags[pinned] & Flag.PINNING and not flags[omitted] & Flag.PINNING


def test_a_pin_changes_nothing_until_a_summary_tells_of_it(talk: Session) -> None:
    before = messages(talk)
    pin = shape(talk, "pin", 2)
    assert messages(talk) == before
    assert shape_at(talk.tree, talk.leaf).pinned[2].by == pin
    compaction = talk.compaction(kept=4)
    assert messages(talk) == [compaction, 2, 4, 5, 6, 7]
    told = context_at(talk.tree, talk.leaf).again[2]
    assert told.why == "pin" and told.by == pin and "#2" in told.heading


def test_a_pin_survives_later_compactions_and_is_never_told_twice(talk: Session) -> None:
    shape(talk, "pin", 0, 5)
    first = talk.compaction(kept=4)
    assert messages(talk) == [first, 0, 4, 5, 6, 7]  # 5 stands in the kept tail
    talk.user()
    second = talk.compaction(kept=7)
    assert messages(talk) == [second, 0, 5, 7, second - 1]
    assert messages(talk, first) == [first, 0, 4, 5, 6, 7]


def test_a_branch_from_before_a_pin_is_not_pinned(talk: Session) -> None:
    shape(talk, "pin", 0)
    talk.compaction(kept=4)
    talk.leaf = 7
    other = talk.compaction(kept=4)
    assert messages(talk) == [other, 4, 5, 6, 7]


def test_an_omitted_result_goes_with_its_call_and_all_its_results(talk: Session) -> None:
    by = shape(talk, "omit", 3)
    assert messages(talk) == [0, 4, 5, 6, 7]
    assert dict(shape_at(talk.tree, talk.leaf).omitted) == {1: by, 2: by, 3: by}


def test_a_result_that_comes_after_the_omission_of_its_call_goes_too() -> None:
    session = Session()
    session.user()
    reply = session.reply(calls=[("read", "a.py")])
    shape(session, "omit", reply)
    session.result(call=f"c{reply}.0")
    assert messages(session) == [0]


def test_the_later_word_on_an_entry_counts(talk: Session) -> None:
    shape(talk, "omit", 1)
    pin = shape(talk, "pin", 3)
    found = shape_at(talk.tree, talk.leaf)
    assert not found.omitted and list(found.pinned) == [3]
    shape(talk, "omit", 2)
    found = shape_at(talk.tree, talk.leaf)
    assert list(found.omitted) == [1, 2, 3] and not found.pinned
    assert shape_at(talk.tree, pin).pinned[3].by == pin


def test_what_is_lifted_or_undone_holds_no_longer(talk: Session) -> None:
    pin = shape(talk, "pin", 0, 5)
    lift = shape(talk, "pin", lifts=["e0"])
    assert list(shape_at(talk.tree, talk.leaf).pinned) == [5]
    shape(talk, "pin", undoes=f"e{lift}")
    assert list(shape_at(talk.tree, talk.leaf).pinned) == [0, 5]
    shape(talk, "pin", undoes=f"e{pin}")
    assert not shape_at(talk.tree, talk.leaf)
    shape(talk, "omit", 4)
    shape(talk, "omit", lifts=["e4"])
    assert messages(talk) == list(range(8))


def test_what_no_model_is_told_is_neither_pinned_nor_omitted(talk: Session) -> None:
    hidden = talk.bash(3, excluded=True)
    change = talk.metadata()
    shape(talk, "pin", hidden, change)
    shape(talk, "omit", change, 99)
    assert not shape_at(talk.tree, talk.leaf)


def test_what_is_on_another_branch_is_neither_pinned_nor_omitted(talk: Session) -> None:
    talk.leaf = 5
    here = talk.user()
    shape(talk, "pin", 6, here)
    shape(talk, "omit", 7)
    found = shape_at(talk.tree, talk.leaf)
    assert list(found.pinned) == [here] and not found.omitted


def test_the_users_messages_are_kept_the_newest_first_up_to_the_budget(talk: Session) -> None:
    extra = len(heading_of(talk.tree, 4, "user-message")) // 4
    shape(talk, "keep-user-messages", tokens=8 + extra)
    compaction = talk.compaction(kept=6)
    assert messages(talk) == [compaction, 4, 6, 7]
    told = context_at(talk.tree, talk.leaf).again[4]
    assert told.why == "user-message" and told.extra == extra
    shape(talk, "keep-user-messages", tokens=1_000)
    assert messages(talk) == [compaction, 0, 4, 6, 7]
    shape(talk, "keep-user-messages", tokens=0)
    assert messages(talk) == [compaction, 6, 7]


@pytest.mark.parametrize("budget", range(0, 80, 3))
def test_a_budget_takes_the_newest_messages_that_fit(budget: int) -> None:
    session = Session()
    for size in (3, 40, 5, 1, 9):
        session.user(size)
        session.reply()
    shape(session, "keep-user-messages", tokens=budget)
    shape(session, "omit", 4)
    compaction = session.compaction(kept=9)
    left, expected = budget, list[int]()
    for entry in (8, 6, 2, 0):
        size = repeated_tokens(entry, session.tree.columns.estimate[entry], 0)
        if size <= left:
            left -= size
            expected.insert(0, entry)
    assert messages(session) == [compaction, *expected, 9]


def test_what_changed_the_context_last_is_known(talk: Session) -> None:
    def last() -> int:
        tree, leaf = talk.tree, talk.leaf
        return last_shape_change(tree, tree.path(leaf), context_at(tree, leaf).again)

    pin = shape(talk, "pin", 0)
    assert last() == -1, "it is sent in its place"
    talk.compaction(kept=4)
    assert last() == pin
    omission = shape(talk, "omit", 4)
    assert last() == omission
    lift = shape(talk, "pin", lifts=["e0"])
    assert last() == lift
    undo = shape(talk, "omit", undoes=f"e{omission}")
    assert last() == undo
    budget = shape(talk, "keep-user-messages", tokens=5)
    assert last() == budget


def test_a_message_that_does_not_fit_is_passed_over() -> None:
    session = Session()
    session.user(5)
    session.user(5_000)
    session.reply()
    shape(session, "keep-user-messages", tokens=100)
    compaction = session.compaction(kept=2)
    assert messages(session) == [compaction, 0, 2]


def test_a_compaction_tells_what_its_profile_kept_and_the_rule_of_the_session_goes_before() -> None:
    session = Session()
    session.user(5)
    session.reply()
    entry = {"type": "compaction", "summary": "s", "firstKeptEntryId": "e1", "tokensBefore": 1}
    compaction = session.add({**entry, "details": {"keepUserMessages": 100}})
    assert messages(session) == [compaction, 0, 1]
    shape(session, "keep-user-messages", tokens=0)
    assert messages(session) == [compaction, 1]


def test_a_compaction_tells_which_entries_its_record_holds_again() -> None:
    session = Session()
    for tokens in (5, 6, 7):
        session.user(tokens)
        session.reply()
    held = [{"id": "e1", "tokens": 3}, {"id": "e4"}, {"id": "gone"}, "e0", 7]
    entry = {"type": "compaction", "summary": "s", "firstKeptEntryId": "e4", "tokensBefore": 1}
    compaction = session.add({**entry, "details": {"repeatedEntries": held}})
    assert messages(session) == [compaction, 0, 1, 4, 5], "what is kept in its place is there once"
    read = read_entry(session.entries[compaction])
    assert read_entry(write_entry(read, "pi")).body == read.body
    assert session.tree.columns.compactions[compaction].repeated_entries[0] == ("e1", 3)
    shape(session, "omit", 0)
    assert messages(session) == [compaction, 1, 4, 5]


def test_a_new_start_drops_pins_unless_they_were_made_since(talk: Session) -> None:
    shape(talk, "pin", 0)
    talk.add({"type": "reset_boundary"})
    talk.user()
    assert 0 not in messages(talk)
    pin = shape(talk, "pin", 4)
    assert messages(talk) == [4, pin - 1]


def test_a_pinned_result_is_told_whole_and_an_omitted_one_has_no_note(talk: Session) -> None:
    results = [{"id": "e2", "tokens": 20, "text": "gone"}, {"id": "e3", "tokens": 30, "text": "x"}]
    data = {"results": results, "saved": 40}
    talk.add({"type": "custom", "customType": "session-explorer/prune", "data": data})
    assert set(context_at(talk.tree, talk.leaf).pruned) == {2, 3}
    shape(talk, "pin", 2)
    assert set(context_at(talk.tree, talk.leaf).pruned) == {3}
    shape(talk, "omit", 1)
    assert not context_at(talk.tree, talk.leaf).pruned


def test_headings_add_up_by_the_estimate(talk: Session) -> None:
    for entry in (0, 1, 2):
        assert len(heading_of(talk.tree, entry, "pin")) % 4 == 0
    assert "user" in heading_of(talk.tree, 0, "pin")


def test_a_round_is_a_reply_with_all_its_results(talk: Session) -> None:
    path = talk.tree.path(talk.leaf)
    assert round_of(talk.tree, path, 2) == [1, 2, 3] == round_of(talk.tree, path, 1)
    assert round_of(talk.tree, path, 5) == [5] and round_of(talk.tree, path, 0) == [0]
    talk.result(call="c1.1")
    path = talk.tree.path(talk.leaf)
    assert round_of(talk.tree, path, 7) == [7] and round_of(talk.tree, path, 8) == [7, 8]


@pytest.mark.parametrize(
    "facts",
    [
        ShapeFacts("pin", (("a", 12), ("b", -1)), reason="must stay"),
        ShapeFacts("omit", (("a", -1),), ("b",)),
        ShapeFacts("omit", undoes="x"),
        ShapeFacts("keep-user-messages", tokens=0),
    ],
)
def test_what_is_written_is_read_back(facts: ShapeFacts) -> None:
    assert shape_facts(f"session-explorer/{facts.kind}", shape_data(facts)) == facts
    assert facts.title


def test_only_pins_say_what_their_entries_take() -> None:
    named = (("a", 12), ("b", -1))
    pinned = shape_data(ShapeFacts("pin", named))
    assert pinned == {"entries": [{"id": "a", "tokens": 12}, {"id": "b"}]}
    assert shape_data(ShapeFacts("omit", named)) == {"entries": ["a", "b"]}


@pytest.mark.parametrize(
    "data", [None, [], {}, {"entries": "e1"}, {"entries": [1, {"id": 2}]}, {"undoes": 3}]
)
def test_what_says_nothing_is_no_shape(data: object) -> None:
    for kind in ("pin", "omit", "keep-user-messages"):
        assert shape_facts(f"session-explorer/{kind}", data) is None
    assert shape_facts("session-explorer/keep-user-messages", {"tokens": -1}) is None
    assert shape_facts("other", {"entries": ["e1"]}) is None


def test_the_round_of_a_result_on_a_path_that_begins_with_its_reply() -> None:
    session = Session()
    reply = session.reply(calls=[("read", "a.py")])
    result = session.result(call=f"c{reply}.0")
    assert round_of(session.tree, session.tree.path(session.leaf), result) == [reply, result]


def test_a_result_without_a_reply_is_a_round_of_itself() -> None:
    session = Session()
    session.user()
    result = session.result()
    assert round_of(session.tree, session.tree.path(session.leaf), result) == [result]


def test_a_pin_that_counted_its_entry_adds_the_difference_and_the_heading(talk: Session) -> None:
    pinned = talk.tree.columns.estimate[0] + 7
    data = shape_data(ShapeFacts("pin", (("e0", pinned),)))
    talk.add({"type": "custom", "customType": "session-explorer/pin", "data": data})
    talk.compaction(kept=4)
    told = context_at(talk.tree, talk.leaf).again[0]
    assert told.extra == 7 + len(told.heading) // 4


def test_a_shape_is_told_in_a_line() -> None:
    assert (
        ShapeFacts("pin", (("e0", -1),), ("e1", "e2")).title == "pinned 1 entry, unpinned 2 entries"
    )
    assert ShapeFacts("omit", lifts=("e1",)).title == "taken in again: 1 entry"
