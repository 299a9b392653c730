"""Statements in a summary in much the same words, and error lines that a tool cut off."""

from __future__ import annotations

import pytest

from explorer.facts import FactKind, extract
from explorer.facts.comparison import Agreement, compare
from tests.audit.reworded import read_pairs
from tests.audit.reworded.scoring import score
from tests.audit.test_fidelity import judge
from tests.audit.texts import result

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


def carried(summary: str, *outputs: str) -> list[tuple[str, bool]]:
    """The error lines of outputs, each with whether the summary has it."""
    entries = [result(output) for output in outputs]
    lost = {fact.key for fact in judge(summary, entries).not_carried.get(FactKind.ERROR, ())}
    return [(fact.text, fact.key not in lost) for fact in extract(entries).of(FactKind.ERROR)]


WHOLE = "E       AssertionError: assert 'sent' == 'conflict'"
LISTED = "FAILED tests/test_push.py::test_conflict - AssertionE..."


@pytest.mark.parametrize(
    "cut", ["E       Asserti...", "E       AssertionError: assert 'se…", LISTED]
)
def test_a_line_that_was_cut_off_is_the_one_that_stands_whole_beside_it(cut: str) -> None:
    told = [(WHOLE, True)]
    assert carried(f"It said {WHOLE}", f"{cut}\n{WHOLE}") == told
    assert carried(f"It said {WHOLE}", WHOLE, f"{cut}\n") == told
    assert carried(f"It said {WHOLE}", f"{cut}\n", WHOLE) == told


def test_a_cut_line_far_from_any_whole_one_is_found_by_what_is_left_of_it() -> None:
    far = [WHOLE, "fine", "fine", "fine", LISTED]
    summary = "tests/test_push.py::test_conflict still fails"
    assert carried(summary, *far) == [(WHOLE, False), (LISTED, True)]
    assert carried("tests/test_push.py::test_conflicts is new", *far)[1] == (LISTED, False)
    assert carried("Nothing", "E   Asser...") == [("E   Asser...", False)]
