"""Summaries aligned by section, their words marked, facts won and lost (C1, D)."""

from __future__ import annotations

import pytest

from explorer.audit.difference import Candidate, align, difference, marks
from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Fate, Fidelity, Finding, RequestCheck
from explorer.audit.severity import grouped
from explorer.facts import Fact, FactKind, scan
from explorer.session.text_difference import DifferencePiece
from tests.audit.texts import user

ENTRIES = [
    user("Never touch migrations/0007_orders.py. Use at most 3 retries for the upload."),
    user("Run `pytest tests/test_upload.py -q` before you say that it is done."),
    user("And the limit: change it to 5 retries now."),
]
GOOD = (
    "## Goal\nThe upload.\n\n## Constraints\n- Never touch migrations/0007_orders.py.\n"
    "- At most 5 retries for the upload.\n\n## Next Steps\n1. Run `pytest tests/test_upload.py -q`."
)
POOR = "## Goal\nThe upload.\n\n## Next Steps\n1. Run the tests.\n\n## Notes\nNothing."


def audited(summary: str) -> Fidelity:
    table = scan(range(3), lambda wanted: [ENTRIES[at] for at in wanted])
    return fidelity(summary, range(3), (), table)


def test_sections_are_matched_by_their_headings() -> None:
    rows = align([GOOD, POOR])
    assert [row.title for row in rows] == ["Goal", "Constraints", "Next Steps", "Notes"]
    by_title = {row.title: row for row in rows}
    assert by_title["Goal"].is_equal
    assert by_title["Constraints"].missing == (1,)
    assert by_title["Notes"].missing == (0,)
    assert not by_title["Next Steps"].is_equal


def test_a_heading_that_is_there_twice_is_told_and_nothing_of_it_lost() -> None:
    """E20: after several generations headings are doubled."""
    (goal,) = align(["## Goal\nOne.\n\n## Goal\nTwo.", "## Goal\nOne."])
    assert goal.repeated == (0,)
    assert goal.cells[0] is not None and goal.cells[0].text == "One.\n\nTwo."
    assert [piece.text.strip() for piece in goal.cells[0].pieces if piece.differs] == ["Two."]


def test_headings_of_other_forms_are_the_same_sections() -> None:
    one = "## Progress\n### Done\n- A.\n\n## Key Decisions\nB."
    other = "**Done**\n- A.\n\n# 3. Key decisions:\nB."
    rows = align([one, other])
    assert all(row.is_equal for row in rows)
    assert [row.title for row in rows] == ["Progress › Done", "Key Decisions"]


def test_the_reference_decides_the_order_and_what_is_marked() -> None:
    rows = align(["## A\nx\n\n## B\nold words here", "## B\nnew words here\n\n## A\nx"], 1)
    assert [row.title for row in rows] == ["B", "A"]
    first = rows[0].cells
    assert first[0] is not None and first[1] is not None
    assert [piece.text for piece in first[0].pieces if piece.differs] == ["old"]
    assert [piece.text for piece in first[1].pieces if piece.differs] == ["new"]


def test_of_several_the_reference_is_marked_where_it_is_alone() -> None:
    found = marks(["one two three", "one two", "one three three"], 0)
    assert found[0] is not None
    assert "".join(piece.text for piece in found[0]) == "one two three"
    assert not any(piece.differs for piece in found[0][:1])
    assert marks(["a", None], 0) == [(DifferencePiece("a", True),), None]


def test_facts_are_won_and_lost_the_gravest_first() -> None:
    good = Candidate("good", GOOD, 60, fidelity=audited(GOOD), settings={"Model": "a", "Cut": "1"})
    poor = Candidate("poor", POOR, 30, fidelity=audited(POOR), settings={"Model": "b", "Cut": "1"})
    found = difference([poor, good])
    won = {row.fact.kind for row in found.won(1)}
    assert {FactKind.CONSTRAINT, FactKind.PATH} <= won
    assert found.lost(1) == () and found.won(0) == ()
    assert found.facts[0].fact.kind is FactKind.CONSTRAINT
    assert difference([good, poor]).lost(1) != ()
    assert found.settings_apart == (("Model", ("b", "a")),)


def test_what_was_made_at_another_place_is_not_held_against_it() -> None:
    """What was summarized before, or was not said yet, is neither won nor lost; what a cut keeps
    is won."""
    poor = Candidate("poor", POOR, fidelity=audited(POOR))
    later = Candidate("later", GOOD, fidelity=Fidelity())
    assert difference([poor, later]).facts == ()
    cut = Candidate("cut", "", fidelity=Fidelity(), kept=frozenset({0}))
    won = difference([poor, cut]).won(1)
    assert won and all(0 in row.fact.sources for row in won)
    assert {row.fates[1] for row in won} == {Fate.KEPT}


def test_marks_of_a_list_are_no_difference() -> None:
    found = marks(["Ship it.", "- Ship it."], 0)
    assert not any(piece.differs for pieces in found if pieces for piece in pieces)


def test_what_was_not_audited_is_not_compared_by_its_facts() -> None:
    good = Candidate("good", GOOD, fidelity=audited(GOOD))
    assert difference([good, Candidate("other", POOR)]).facts == ()


def test_fewer_than_two_are_no_comparison() -> None:
    with pytest.raises(ValueError, match="Two"):
        difference([Candidate("alone", GOOD)])
    with pytest.raises(ValueError, match="no candidate 2"):
        difference([Candidate("a", GOOD), Candidate("b", POOR)], 2)


def _finding(kind: FactKind, fate: Fate, key: str = "k", stale: bool = False) -> Finding:
    return Finding(Fact(kind, key, key, (1,), (), stale), fate)


def test_the_gravest_group_is_a_constraint_turned_round() -> None:
    request = Fact(FactKind.REQUEST, "now", "now", (9,))
    told = Fidelity(
        findings=(
            _finding(FactKind.SYMBOL, Fate.LOST),
            _finding(FactKind.PATH, Fate.KEPT),
            _finding(FactKind.REQUEST, Fate.LOST, "now"),
            _finding(FactKind.REQUEST, Fate.LOST, "before"),
            _finding(FactKind.CONSTRAINT, Fate.LOST),
            _finding(FactKind.NUMBER, Fate.STALE),
            _finding(FactKind.CONSTRAINT, Fate.MUTATED),
            _finding(FactKind.NUMBER, Fate.LOST, "old", stale=True),
        ),
        request=RequestCheck(request, Fate.LOST, 0.0),
    )
    groups = grouped(told)
    assert [group.title for group in groups] == [
        "Constraints that the summary turned round",
        "Changed later, stated as if it held",
        "Constraints lost",
        "The latest request lost",
        "Earlier requests lost",
        "Figures and names lost",
        "Kept verbatim",
        "Changed later, and rightly gone",
    ]
    assert [group.is_grave for group in groups] == [True] * 6 + [False] * 2
