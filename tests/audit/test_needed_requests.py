"""What a person says again."""

from __future__ import annotations

import pytest

from explorer.audit.repeats import NeedKind
from explorer.audit.words import needs_words
from tests.audit.agent_work import AgentWork

RULE = "Always use Postgres for the jobs table, never the local sqlite file."


@pytest.mark.parametrize(
    "again",
    [
        RULE,
        "Please always use Postgres for the jobs table, never the local sqlite file!",
        "As I said, the jobs table goes to Postgres.",
        "That's not what I asked, the jobs table must use Postgres",
    ],
)
def test_the_user_says_an_instruction_again(again: str) -> None:
    made = AgentWork()
    before = made.user(f"Build the queue. {RULE}")
    made.compact()
    after = made.user(again)
    assert made.needs() == [(NeedKind.REQUEST, before, after)]


def test_of_many_places_the_first_ones_are_named() -> None:
    made = AgentWork()
    made.user(RULE)
    made.compact()
    made.user(RULE)
    (need,) = made.found().needs
    at = [need._replace(repeat=need.repeat._replace(after=place)) for place in range(10, 17)]
    words = "asked for again by the user at #10, #11, #12, #13"
    assert needs_words(at[:4]) == words
    assert needs_words(at) == f"{words} and 3 more"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Commit this.", "Commit this."),
        ("Run the tests again.", "Run the tests again."),
        (RULE, "Use Postgres for the sessions table as well."),
        (RULE, "As I said, the weather is fine."),
        ("Create a custom light theme for me and open it in the editor.",
         "Create a custom dark theme for me and open it in the editor."),
        ("why is this shown?\n\n  v main *  always use Postgres for the jobs table, never sqlite",
         "  v main *  always use Postgres for the jobs table, never sqlite"),
    ],
)  # fmt: skip
def test_habit_other_things_and_what_was_pasted_are_not_said_again(first: str, again: str) -> None:
    made = AgentWork()
    made.user(first)
    made.compact()
    made.user(again)
    assert made.needs() == []


def test_what_nobody_typed_and_what_is_still_seen_is_not_said_again() -> None:
    made = AgentWork()
    made.user(RULE, synthetic=True)
    kept = made.user("Never touch the files below vendor, they are generated from elsewhere.")
    made.compact(kept)
    made.user(RULE)
    made.user("Never touch the files below vendor, they are generated from elsewhere.")
    assert made.needs() == []
