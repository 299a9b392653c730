"""From one summary of a session to the next: added, dropped, changed (D, E20)."""

from __future__ import annotations

from explorer.audit.difference import Candidate, drift
from explorer.audit.findings import excerpt
from explorer.facts import FactKind, Span
from explorer.formats.pi.entries import read_entry

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
    assert found.before == "…irst, then `" and found.after == "`, then the …"
    assert excerpt(read_entry(entry), Span(0, 500, 510)) is None
    assert excerpt(read_entry({"type": "label"}), span) is None
