"""The numbered difference of an edit says where lines were left out."""

from __future__ import annotations

from pathlib import Path

from explorer.agent.tools.edit import apply_change, plan_edit
from explorer.agent.tools.port import ToolContext
from explorer.agent.workspace import Workspace

LINES = [f"line {number}" for number in range(1, 41)]


def numbered(root: Path, *changed: int) -> list[str]:
    """The rows of the difference after these lines (numbers from 1) were edited."""
    file = root / "long.txt"
    file.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    edits = [{"oldText": f"{LINES[at - 1]}\n", "newText": f"new {at}\n"} for at in changed]
    context = ToolContext(Workspace(root))
    outcome = apply_change(context, plan_edit(context, {"path": file.name, "edits": edits}))
    return str(outcome.details["diff"]).split("\n")


def test_lines_left_out_before_the_first_change_are_marked(tmp_path: Path) -> None:
    rows = numbered(tmp_path, 20)
    assert rows[0].strip() == "..."
    assert rows[1] == " 16 line 16"
    assert [row.strip() for row in rows].count("...") == 1


def test_a_change_near_the_beginning_has_no_mark_before_it(tmp_path: Path) -> None:
    assert numbered(tmp_path, 3)[0] == "  1 line 1"


def test_the_mark_stands_between_changes_that_are_far_apart(tmp_path: Path) -> None:
    rows = [row.strip() for row in numbered(tmp_path, 10, 30)]
    marks = [at for at, row in enumerate(rows) if row == "..."]
    assert marks == [0, rows.index("26 line 26") - 1]
