"""Statements in a summary in much the same words, and error lines that a tool cut off."""

from __future__ import annotations

import pytest

from explorer.audit.findings import Fate
from explorer.facts import FactKind
from explorer.facts.comparison import Agreement, compare
from tests.audit.reworded import read_pairs
from tests.audit.reworded.scoring import score
from tests.audit.test_fidelity import judge
from tests.audit.texts import result, user

NORMALIZED, LOST = Fate.NORMALIZED, Fate.LOST
RULE = "Never wait longer than 30 s for the hub."


@pytest.mark.parametrize(
    ("line", "agreement"),
    [
        ("Never wait longer than 30 s for the hub", Agreement.SAME),
        ("- never wait for longer than 0.5 min for the hub", Agreement.SAME),
        ("Wait longer than 30 s for the hub", Agreement.OPPOSITE),
        ("Never wait longer than 60 s for the hub", Agreement.OTHER_VALUE),
        ("Never wait longer than 30 s for the store", Agreement.DIFFERENT),
        ("Never wait longer than 30 s for the hub, " + "only this, " * 200, Agreement.DIFFERENT),
        ("The hub is never up", Agreement.DIFFERENT),
    ],
)
def test_a_line_is_compared_by_words_figures_and_negation(line: str, agreement: Agreement) -> None:
    assert compare(RULE, line) is agreement


def test_the_same_words_in_another_order_may_say_the_reverse() -> None:
    said = "Replace the webpack build with the vite build."
    assert compare(said, "Replace webpack build with vite build") is Agreement.SAME
    assert compare(said, "Replace the vite build with the webpack build") is Agreement.DIFFERENT


def test_lines_that_only_look_the_same_are_hardly_taken_for_it() -> None:
    for name, most in (("tuning", 1), ("wider", 3), ("held_out", 2)):
        assert len(score(read_pairs(name)).made_up) <= most


@pytest.mark.parametrize(
    ("said", "summary", "fate"),
    [
        (RULE, "- The agent never waits longer than 30 s for the hub", NORMALIZED),
        (RULE, "- The agent waits longer than 30 s for the hub", LOST),
        (RULE, "- The agent never waits longer than 30 min for the hub", LOST),
        ("Leave the vendor folder alone.", "- vendor directory: changed", LOST),
        ("You must never push to main.", "- You need not push to main", LOST),
        ("You must never push to main.", "- Pushing to develop is forbidden", LOST),
    ],
)
def test_fates_of_statements_in_other_words(said: str, summary: str, fate: Fate) -> None:
    found = judge(f"## Constraints\n{summary}", [user(said)]).findings
    rule = next(one for one in found if one.fact.kind is FactKind.CONSTRAINT)
    assert rule.fate is fate
    if fate is NORMALIZED:
        assert "other words" in rule.note and "hub" in rule.note


def test_a_rule_with_another_figure_is_mutated() -> None:
    found = judge("## Constraints\n- Wait for the hub 60 s, no longer", [user(RULE)])
    rule = [one for one in found.of(Fate.MUTATED) if one.fact.kind is FactKind.CONSTRAINT]
    assert [one.source.text for one in rule if one.source] == [RULE]
    right = judge("## Constraints\n- Wait for the hub 30 s, no longer", [user(RULE)])
    assert not right.of(Fate.MUTATED)


def errors(summary: str, *outputs: str) -> list[tuple[str, Fate]]:
    found = judge(summary, [result(output) for output in outputs]).findings
    return [(one.fact.text, one.fate) for one in found if one.fact.kind is FactKind.ERROR]


WHOLE = "E       AssertionError: assert 'sent' == 'conflict'"
LISTED = "FAILED tests/test_push.py::test_conflict - AssertionE..."


@pytest.mark.parametrize(
    "cut", ["E       Asserti...", "E       AssertionError: assert 'se…", LISTED]
)
def test_a_line_that_was_cut_off_is_the_one_that_stands_whole_beside_it(cut: str) -> None:
    told = [(WHOLE, Fate.EXACT)]
    assert errors(f"It said {WHOLE}", f"{cut}\n{WHOLE}") == told
    assert errors(f"It said {WHOLE}", WHOLE, f"{cut}\n") == told
    assert errors(f"It said {WHOLE}", f"{cut}\n", WHOLE) == told


def test_a_cut_line_far_from_any_whole_one_is_found_by_what_is_left_of_it() -> None:
    far = [WHOLE, "fine", "fine", "fine", LISTED]
    summary = "tests/test_push.py::test_conflict still fails"
    assert errors(summary, *far) == [(WHOLE, LOST), (LISTED, NORMALIZED)]
    assert errors("tests/test_push.py::test_conflicts is new", *far)[1] == (LISTED, LOST)
    assert errors("Nothing", "E   Asser...") == [("E   Asser...", LOST)]
