"""Summaries aligned by section, their words marked, their findings side by side (C1, D)."""

from __future__ import annotations

import pytest

from explorer.audit.difference import (
    BEFORE,
    WHOLE,
    Candidate,
    align,
    difference,
    drift,
    marks,
    sections_of,
    shown_alone,
    title_key,
)
from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Fidelity, Group, excerpt
from explorer.facts import FactKind, Span, scan
from explorer.formats.pi.entries import read_entry
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


def test_summaries_without_a_heading_in_common_stand_side_by_side_as_wholes() -> None:
    (row,) = align(["1. Request:\nKeep the port.", "## Goal\nKeep the port.\n\n## Next\nShip."])
    assert not row.missing and "no heading in common" in row.title
    assert [cell.text.split()[0] for cell in row.cells if cell] == ["1.", "##"]
    kept = [p.text for cell in row.cells if cell for p in cell.pieces if not p.differs]
    assert all("Keep the port." in text for text in kept)


def test_what_has_hardly_a_word_in_common_is_not_marked() -> None:
    one, other = "**Request**\nKeep the port open.", "## Goal\nShip invoices.\n\n## Next\nTests."
    found = difference([Candidate("one", one), Candidate("other", other)])
    (row,) = found.sections
    assert found.is_unmarked and row.title == WHOLE
    cells = [cell for cell in row.cells if cell is not None]
    assert [cell.text for cell in cells] == [one, other]
    assert not any(piece.differs for cell in cells for piece in cell.pieces)
    alike = difference([Candidate("one", one), Candidate("other", f"## Goal\n{one}")])
    assert not alike.is_unmarked, "what is the same is seen by what is marked"


def test_one_alone_has_nothing_marked() -> None:
    found = shown_alone(Candidate("one", "## Goal\nShip.\n\n## Next\nTests."))
    assert [row.title for row in found.sections] == ["Goal", "Next"]
    cells = [row.cells[0] for row in found.sections]
    pieces = [piece for cell in cells if cell is not None for piece in cell.pieces]
    assert [piece.text for piece in pieces] == ["Ship.", "Tests."]
    assert not any(piece.differs for piece in pieces)


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


FIRST = (
    "## Goal\nShip v1.2.0.\n\n## Critical Context\n- src/upload.py waits 250 ms.\n"
    "- Commit 9f8e7d6c."
)
SECOND = (
    "## Goal\nShip v1.2.0.\n\n## Critical Context\n- src/upload.py waits 400 ms.\n\n"
    "## Notes\nLater."
)
THIRD = "## Goal\nShip it.\n\n## Notes\nLater."


def test_every_step_tells_what_it_changed() -> None:
    found = drift([Candidate("1", FIRST), Candidate("2", SECOND), Candidate("3", THIRD)])
    first, second = found.steps
    assert {each.row.title: each.change for each in first.sections} == {
        "Goal": "same", "Critical Context": "changed", "Notes": "added",
    }  # fmt: skip
    assert {each.row.title: each.change for each in second.sections}[
        "Critical Context"
    ] == "dropped"
    assert any(fact.text == "400 ms" for fact in first.added)
    assert {"250 ms", "9f8e7d6c"} <= {fact.text for fact in first.dropped}
    assert first.count(FactKind.PATH) == (0, 0) and second.count(FactKind.PATH) == (0, 1)
    assert first.kept > 0


def test_fewer_than_two_do_not_drift() -> None:
    assert drift([]).steps == () and drift([Candidate("1", FIRST)]).steps == ()


def test_a_place_is_shown_with_what_stands_around_it() -> None:
    text = "The smile 😀 comes first, then `src/upload.py`, then the rest."
    entry = {"type": "message", "message": {"role": "user", "content": text}}
    start = len("The smile 😀 comes first, then `".encode("utf-16-le")) // 2
    span = Span(0, start, start + len("src/upload.py"))
    found = excerpt(read_entry(entry), span, 12)
    assert found is not None
    assert found.text == "src/upload.py"
    assert found.before == "…then `" and found.after == "`, then the …"
    whole = excerpt(read_entry(entry), span, 40)
    assert whole is not None and whole.before.startswith("The ") and whole.after.endswith("rest.")
    cut = excerpt(read_entry(entry), span, 9)
    assert cut is not None and (cut.before, cut.after) == ("…then `", "`, then …")
    assert excerpt(read_entry(entry), Span(0, 500, 510)) is None
    assert excerpt(read_entry({"type": "label"}), span) is None


def test_each_section_knows_where_it_stands() -> None:
    text = "Before.\n\n## Goal\nShip.\n\n## Next Steps\n1. Test."
    found = sections_of(text)
    assert [one.title for one in found] == [BEFORE, "Goal", "Next Steps"]
    assert [one.text for one in found] == ["Before.", "Ship.", "1. Test."]
    for one in found:
        assert one.text in text[one.body : one.end]
    assert "".join(text[one.start : one.end] for one in found) == text


@pytest.mark.parametrize(
    ("heading", "other"),
    [
        ("Constraints & Preferences", "constraints and preferences"),
        ("3. Key Decisions", "Key decisions"),
        ("**Goal**", "Goal"),
        ("Constraints &amp; Preferences", "Constraints & Preferences"),
    ],
)
def test_headings_that_mean_the_same(heading: str, other: str) -> None:
    assert title_key(heading) == title_key(other)


def test_lines_of_code_are_no_headings() -> None:
    found = sections_of("## Notes\n```sh\n# not a heading\n## nor this\n```\nend")
    assert [one.title for one in found] == ["Notes"]
    assert "# not a heading" in found[0].text


def test_numbered_headings_count_where_there_are_no_others() -> None:
    """A26: Copilot's form."""
    found = sections_of("1. Conversation Overview:\n- A\n\n2. **Technical Foundation**:\n- B")
    assert [one.title for one in found] == ["Conversation Overview", "Technical Foundation"]
    steps = sections_of("## Next Steps\n1. Fix the parser:\n   - like this")
    assert [one.title for one in steps] == ["Next Steps"]


def test_the_turn_that_was_split_has_headings_of_its_own() -> None:
    """A20: behind a rule another part begins."""
    text = "## Goal\nA\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request\nB"
    found = sections_of(text)
    assert [one.title for one in found] == [
        "Goal",
        "Turn Context (split turn) › Original Request",
    ]


def test_lists_of_files_are_sections_without_their_tags() -> None:
    """A28."""
    found = sections_of("## Goal\nA\n\n<read-files>\na.py\nb.py\n</read-files>")
    assert [(one.title, one.text) for one in found] == [("Goal", "A"), ("Read files", "a.py\nb.py")]


def test_an_empty_section_is_one() -> None:
    found = sections_of("## Goal\n\n## Next Steps\nA")
    assert [(one.title, one.text) for one in found] == [("Goal", ""), ("Next Steps", "A")]


def test_a_text_without_headings_and_no_text() -> None:
    assert [one.title for one in sections_of("All of it.")] == [BEFORE]
    assert sections_of("") == ()
