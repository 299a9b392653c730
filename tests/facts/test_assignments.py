"""What counts as a rule in the message in which the leader of a team assigns work."""

from __future__ import annotations

import pytest

from explorer.facts.instructions import standing_instructions


def found(body: str, by: str = "team-lead") -> list[str]:
    message = f'<teammate-message teammate_id="{by}" summary="start">\n{body}\n</teammate-message>'
    return [one.text for one in standing_instructions(message)]


ASSIGNMENT = f"""You are store-dev on the team. You handle the database and its migrations.
Stack: Python 3.12, SQLite. You work ONLY in store/. Do NOT touch web/ or its tests.

CONTEXT:
- Only the reader is tested.
{"- A table that has been there for a while and is not to be changed much." * 50}

RULES:
- Look every library up before you use it.
- Keep changes small — additive only where possible.
- Do NOT change the public API. Add to it.
- Done?

IMPORTANT: Never write to the live database.
IMPORTANT: the others work beside you.

TASK 1: Don't animate the list at first.
- Only cache the list.
"""


def test_rules_of_a_long_assignment_are_its_list_its_opening_and_what_is_marked() -> None:
    assert len(ASSIGNMENT) > 3_000
    assert found(ASSIGNMENT) == [
        "You work ONLY in store/.",
        "Do NOT touch web/ or its tests.",
        "Look every library up before you use it.",
        "Keep changes small — additive only where possible.",
        "Do NOT change the public API. Add to it.",
        "IMPORTANT: Never write to the live database.",
    ]


@pytest.mark.parametrize(
    ("body", "by"),
    [
        (ASSIGNMENT, "reviewer-1"),
        (
            '{"type":"task_assignment","description":"Never write to the live database."}',
            "team-lead",
        ),
        ("RULES:\n```\n- Never write to the live database.\n```", "team-lead"),
        ("RULES:\n- [ ] Never write to the live database.", "team-lead"),
        ("RULES:\n- " + "Never write to the live database. " * 13, "team-lead"),
        ("Task rules follow in the next message:\n- The table is new.", "team-lead"),
    ],
)
def test_what_is_no_rule_of_an_assignment(body: str, by: str) -> None:
    assert found(body, by) == []


def test_a_rule_stands_where_it_is_found() -> None:
    text = f'<teammate-message teammate_id="team-lead">\n{ASSIGNMENT}</teammate-message>\n'
    for one in standing_instructions(text):
        assert text[one.start : one.end] == one.text
