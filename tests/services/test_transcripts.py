"""The whole conversation beside a summary, as a file that the agent can read (A51)."""

from __future__ import annotations

from pathlib import Path

from explorer.agent.tools.port import ToolContext, ToolRun
from explorer.agent.tools.workspace_tools import run_read_only
from explorer.agent.workspace import Workspace
from explorer.services.document import Document
from explorer.services.session_files import transcripts_of
from explorer.store import DraftRow
from explorer.workbench import Workbench
from tests.pi_json import entry_body
from tests.services.prompt_gate_rig import (
    SECTIONS,
    Rig,
    bench,
    client,
    document,
    server,
    wait,
)

__all__ = ["bench", "client", "document", "server"]


def test_a51_a_summary_says_where_the_whole_conversation_can_be_read(
    document: Document, tmp_path: Path
) -> None:
    async def go() -> DraftRow:
        rig = Rig(document, 0.95)
        await rig.size()
        await rig.send()
        await rig.idle()
        return rig.drafts()[0]

    draft = wait(go())
    path = Path(draft.facts["transcript"])
    assert path.parent == document.shared.store.path.parent / "transcripts"
    assert path.name.startswith(document.header.session_id)
    text = path.read_text("utf-8")
    assert draft.summary.startswith(f"{SECTIONS}\n\n")
    assert draft.summary.count(str(path)) == 2
    assert f"({text.count(chr(10))} lines when" in draft.summary
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o077 == 0
    assert text.count("=== #") == len(document.tree.path(document.leaf))

    own = transcripts_of(document)
    (tmp_path / "project").mkdir()
    workspace = Workspace(tmp_path / "project").with_reading(own.is_transcript)
    read = run_read_only(ToolContext(workspace), {"path": str(path), "limit": 1}, ToolRun("read"))
    assert not read.is_error
    assert read.text.startswith("=== #0 ")
    copied = tmp_path / path.name
    copied.write_text("of another place")
    assert own.is_transcript(path) and not own.is_transcript(copied)
    other = path.with_name("else.txt")
    other.write_text("not yours")
    for name in (other, document.shared.store.path):
        assert run_read_only(ToolContext(workspace), {"path": str(name)}, ToolRun("read")).is_error
    for tool in ("ls", "grep", "find"):
        arguments = {"path": str(path), "pattern": "x"}
        assert run_read_only(ToolContext(workspace), arguments, ToolRun(tool)).is_error


def test_a51_branches_have_transcripts_of_their_own(document: Document) -> None:
    own = transcripts_of(document)
    first = own.write(document.tree, document.payloads.shown, document.leaf)

    async def fork() -> None:
        await document.writer.move_leaf(document.tree.path(document.leaf)[3])
        await document.writer.append(
            entry_body("message", message={"role": "user", "content": "Another way."}),
            document.leaf,
        )

    before = first.path.read_text("utf-8")
    wait(fork())
    second = own.write(document.tree, document.payloads.shown, document.leaf)
    assert second.path != first.path
    assert first.path.read_text("utf-8") == before
    assert "Another way." in second.path.read_text("utf-8")


def test_a51_transcripts_go_with_their_session(document: Document, bench: Workbench) -> None:
    own = transcripts_of(document).write(document.tree, document.payloads.shown, document.leaf)
    other = own.path.with_name(f"{document.header.session_id}-2~empty.txt")
    other.write_text("another session's")
    wait(bench.remove(document.key))
    assert not own.path.exists()
    assert other.exists()
