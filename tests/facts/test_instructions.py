"""What counts as a standing instruction, by family, and what looks like one."""

from __future__ import annotations

import pytest

from explorer.facts.instructions import standing_instructions


def found(text: str) -> list[str]:
    return [one.text for one in standing_instructions(text)]


@pytest.mark.parametrize(
    "said",
    [
        # Preferences.
        "I don't like semicolons.",
        "i really dont like nested ternaries",
        "that's too many words in the error text",
        "i only want browser tests for the shop",
        "We prefer small commits.",
        "I value readable diffs, even where they are longer.",
        "The helpers should be called workers.",
        "Please use the American spelling.",
        # Prohibitions.
        "Never write to the production database.",
        "don't use global variables",
        "no new dependencies",
        "do not do any load testing",
        "we dont need a migration path",
        "No need to run the slow tests, I do that.",
        # What the work runs on.
        "you dont have access to the cluster from here",
        "the database is running on my laptop",
        "We use pnpm for everything.",
        "This repo will be shared by two teams.",
        # How to go about it.
        "Show me your plan before you change anything.",
        "Run the linter after every step.",
        "make sure all tests pass",
        "Keep in mind that the API is public.",
        "For now a static page is fine, later we move it to the server.",
        # Where the rules are.
        "follow STYLE.md exactly",
        "See docs/rules.md for the naming.",
        "Stick to our conventions.",
    ],
)  # fmt: skip
def test_what_holds_beyond_its_turn(said: str) -> None:
    assert found(said) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Don't change anything yet.",
        "dont do that now",
        "no, the other one",
        "no leave the third page alone",
        "i dont like how it looks",
        "i dont want it to be red",
        "i dont like the idea of a second window",
        "Maybe we want to improve this in future.",
        "why do you need docker?",
        "Can you run the tests before you push?",
        "Before you commit: a test for the empty list.",
        "i was only saying that i prefer it to be blue",
        "Fix the login page.",
        "we can always draw it again later",
        "The new code replaces the old value, which may not match what the name says.",
        "the test runs on the server and still fails",
    ],
)  # fmt: skip
def test_what_is_over_with_its_turn(said: str) -> None:
    assert found(said) == []


@pytest.mark.parametrize(
    "pasted",
    [
        'Can you hide this text?\n\n"IMPORTANT: always state the unit of a value."',
        "Implement the following plan:\n\nNever retry a conflict.",
        '{"text": "never write to disk", "code": 1}',
        "Never retry a conflict.\n" + "**Bold** words of an answer go on and on. " * 30,
        "<command>\nAlways push the branch.\n</command>",
    ],
)  # fmt: skip
def test_what_was_not_typed_is_left_out(pasted: str) -> None:
    assert found(pasted) == []


RULE = "Never retry a conflict."


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (RULE.ljust(3_000), True),
        (RULE.ljust(3_001), False),
        (f"{RULE}\n{'**a** ' * 3}".ljust(1_000), True),
        (f"{RULE}\n{'**a** ' * 3}".ljust(1_001), False),
        (f"{RULE}\n{'**a** ' * 2}".ljust(1_001), True),
        (f"Never retry {'x' * 378} conflicts", True),
        (f"Never retry {'x' * 379} conflicts", False),
        ("Never retry:", False),
        ("- [ ] Never retry a conflict.", False),
        ("Example: never retry a conflict.", False),
        ("## Rules\n\n- small functions everywhere", True),
        ("## Rules\n\nsmall functions everywhere", False),
        ("## Rules\n\n- functions", False),
        ("## Notes\n\n- small functions everywhere", False),
        ("## Notes\n\nNever retry a conflict.", False),
        ("Some rules:\n- small functions everywhere", True),
        ("The response should take at most 5 s", True),
        ("The response took at most 5 s", False),
        ("No emojis today", False),
        ("could you always run the linter?", True),
        ("do I always run the linter?", False),
        ("`never` retries a conflict", False),
        ("> Never retry a conflict.", False),
    ],
)
def test_the_bounds_of_an_instruction(text: str, counts: bool) -> None:
    assert bool(found(text)) is counts


def test_what_was_typed_below_the_heading_of_an_editor_counts() -> None:
    text = "# Files mentioned\n\nNever read this.\n\n## My request\nWe use pnpm for everything."
    assert found(text) == ["We use pnpm for everything."]


def test_two_points_end_a_sentence() -> None:
    text = "make it short..no emojis..and i dont like tabs.also run it"
    (first, second) = standing_instructions(text)
    assert (first.text, second.text) == ("no emojis", "and i dont like tabs")
    assert text[second.start : second.end] == second.text


def test_a_number_is_no_part_of_an_answer() -> None:
    assert found("1) all\n2)We use pnpm for everything") == ["We use pnpm for everything"]


def test_a_pointer_comes_with_the_sentence_that_names_its_subject() -> None:
    text = "What does STYLE.md say? You're supposed to be following that."
    assert found(text) == [text]


def test_a_wish_in_the_form_of_a_question_counts_where_it_is_for_good() -> None:
    text = "can we keep the old code around for reference?"
    assert found(text) == [text]
    assert not found("can we keep the old name?")
