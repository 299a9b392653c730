"""The tools of a stored session: a whole turn with them, what is kept, and what goes with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from explorer.agent.approval import Approvals
from explorer.agent.workspace import Workspace
from explorer.compaction.file_ops import FileOperations
from explorer.compaction.profile import PROFILES
from explorer.models.client import DEMO, CancelToken, ToolCall
from explorer.services.agent_turns import SessionTurns
from explorer.services.document import Document
from explorer.services.session_files import outputs_folder, tools_of
from explorer.session.entries import ToolResultMessage
from explorer.session.tree import SessionTree
from explorer.workbench import Workbench

BROKEN = "def add(a, b):\n    return a - b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


def project(root: Path) -> Path:
    folder = root / "project"
    folder.mkdir()
    (folder / "calc.py").write_text(BROKEN)
    (folder / "test_calc.py").write_text(TEST)
    return folder


def changes(tree: SessionTree, leaf: int) -> dict[str, str]:
    files = FileOperations()
    files.add_calls(tree, tree.path(leaf).ranges, PROFILES["explorer"])
    return {one.path: one.change for one in files.changes}


def test_a28_a_turn_creates_a_file_and_the_stored_session_says_so(
    bench: Workbench, tmp_path: Path
) -> None:
    folder = project(tmp_path)
    document = asyncio.run(bench.create(folder))
    tools = tools_of(document, Workspace(folder), Approvals("yes"))
    for prompt in (
        "create notes.txt with the text hello",
        "in calc.py replace `a - b` with `a + b`",
    ):
        result = asyncio.run(
            SessionTurns(document, DEMO, tools, CancelToken(), lambda event: None).say(prompt)
        )
        assert result.end == "done", result.error
    assert (folder / "notes.txt").read_text().strip() == "hello"
    assert "a + b" in (folder / "calc.py").read_text()
    assert changes(document.tree, document.leaf) == {"notes.txt": "created", "calc.py": "updated"}
    edits = [
        entry.body.details
        for entry in map(document.payloads.shown.entry, range(len(document.tree)))
        if isinstance(entry.body, ToolResultMessage) and entry.body.tool == "edit"
    ]
    assert edits[0]["firstChangedLine"] == 2
    assert "+2     return a + b" in edits[0]["diff"]
    assert "+    return a + b" in edits[0]["patch"]


def test_whole_outputs_go_with_their_session(document: Document, tmp_path: Path) -> None:
    tools = tools_of(document, Workspace(project(tmp_path)), Approvals("yes"))
    call = ToolCall("c1", "bash", {"command": "seq 9000"})
    outcome = asyncio.run(tools.run(call, CancelToken(), lambda text: None))
    path = Path(outcome.details["fullOutputPath"])
    folder = outputs_folder(document.shared.store.path, document.header.session_id)
    assert path.parent == folder
    assert path.read_text().endswith("8999\n9000\n")


def test_a_session_that_is_removed_leaves_no_outputs(
    bench: Workbench, document: Document, tmp_path: Path
) -> None:
    tools = tools_of(document, Workspace(project(tmp_path)), Approvals("yes"))
    call = ToolCall("c1", "bash", {"command": "seq 9000"})
    outcome = asyncio.run(tools.run(call, CancelToken(), lambda text: None))
    assert Path(outcome.details["fullOutputPath"]).exists()
    asyncio.run(bench.remove(document.key))
    assert not Path(outcome.details["fullOutputPath"]).parent.exists()
