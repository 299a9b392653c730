"""The tools of a stored session: a whole turn with them, what is kept, and what goes with it."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from explorer.agent.approval import Approvals
from explorer.agent.workspace import Workspace
from explorer.compaction.file_ops import FileOperations
from explorer.compaction.profile import PROFILES
from explorer.models.client import DEMO, CancelToken, ToolCall
from explorer.models.offline.scenario import Scenario
from explorer.services.agent_turns import SessionTurns
from explorer.services.document import Document
from explorer.services.session_files import (
    Transcript,
    make_sandbox,
    outputs_folder,
    tools_of,
    with_breadcrumb,
)
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


def test_each_sandbox_is_a_folder_of_its_own(tmp_path: Path) -> None:
    made = SimpleNamespace(name="demo", files={"a/b.py": "x\r\n", "c.py": ""}, settings={"k": 1})
    folders = [make_sandbox(cast(Scenario, made), tmp_path / "below") for _ in range(3)]
    assert [folder.name for folder in folders] == ["demo", "demo-2", "demo-3"]
    for folder in folders:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (folder / "a/b.py").read_bytes() == b"x\r\n" and (folder / "c.py").exists()
        words = (folder / ".session-explorer/settings.json").read_text("utf-8")
        lines = [line for line in words.split("\n") if not line.startswith("//")]
        assert json.loads("\n".join(lines)) == {"k": 1} and words.endswith("}\n")
    made.settings = {}
    plain = make_sandbox(cast(Scenario, made), tmp_path / "below")
    assert not (plain / ".session-explorer").exists()


def test_a_breadcrumb_says_where_the_rest_is_and_how_it_is_read(tmp_path: Path) -> None:
    words = "{{path}} has {{lines}} lines: {{tool}}, as {{example}}"
    found = with_breadcrumb("Summary.", Transcript(tmp_path / "t.txt", 12), words)
    path = tmp_path / "t.txt"
    example = f'read({{"path": "{path}", "offset": 1, "limit": 200}})'
    assert found == f"Summary.\n\n{path} has 12 lines: read, as {example}"
