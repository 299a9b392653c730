"""Summaries aligned by section, their words marked, their findings side by side (C1, D)."""

from __future__ import annotations

import pytest

from explorer.audit.difference import Candidate, align, difference, marks
from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Fidelity, Group
from explorer.facts import scan
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


def test_findings_of_one_alone_stand_side_by_side() -> None:
    good = Candidate("good", GOOD, 60, fidelity=audited(GOOD), settings={"Model": "a", "Cut": "1"})
    poor = Candidate("poor", POOR, 30, fidelity=audited(POOR), settings={"Model": "b", "Cut": "1"})
    found = difference([poor, good])
    (row,) = [row for row in found.findings if "0007_orders" in row.first.text]
    assert row.has(0) and not row.has(1) and row.first.group is Group.INSTRUCTION
    assert not any(row.has(1) for row in found.findings)
    same = difference([poor, poor])
    assert same.findings == () and same.shared == len(
        poor.fidelity.findings if poor.fidelity else ()
    )
    assert found.settings_apart == (("Model", ("b", "a")),)


def test_marks_of_a_list_are_no_difference() -> None:
    found = marks(["Ship it.", "- Ship it."], 0)
    assert not any(piece.differs for pieces in found if pieces for piece in pieces)


def test_what_was_not_audited_is_not_compared_by_its_findings() -> None:
    good = Candidate("good", GOOD, fidelity=audited(GOOD))
    assert difference([good, Candidate("other", POOR)]).findings == ()


def test_fewer_than_two_are_no_comparison() -> None:
    with pytest.raises(ValueError, match="Two"):
        difference([Candidate("alone", GOOD)])
    with pytest.raises(ValueError, match="no candidate 2"):
        difference([Candidate("a", GOOD), Candidate("b", POOR)], 2)
