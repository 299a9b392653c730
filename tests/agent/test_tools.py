"""The tools that only look, on a real folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.agent.tools import MOST_BYTES, read_only_tools, run_tool
from explorer.agent.workspace import Workspace, WorkspaceError
from explorer.models.door import CancelToken


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret retry")
    (root / "README.md").write_text("# Todo\nretry twice\n")
    (root / "src" / "retry.py").write_text("def retry():\n    return 409\n")
    (root / "blob.bin").write_bytes(b"\0\1\2" * 10)
    (tmp_path / "outside.txt").write_text("not yours")
    return Workspace(root)


def run(workspace: Workspace, tool: str, **arguments: object) -> tuple[str, bool]:
    outcome = run_tool(workspace, tool, arguments, CancelToken())
    return outcome.text, outcome.is_error


def test_only_tools_that_look_are_offered() -> None:
    assert [spec.name for spec in read_only_tools()] == ["read", "ls", "find", "grep"]


def test_read_gives_lines_from_an_offset(workspace: Workspace) -> None:
    assert run(workspace, "read", path="src/retry.py", offset=2) == ("    return 409", False)
    assert run(workspace, "read", path="src/retry.py", limit=1)[0].startswith(
        "def retry():\n\n[Lines 1-1 of 2. Go on with offset=2.]"
    )


def test_read_says_what_is_wrong(workspace: Workspace) -> None:
    assert run(workspace, "read", path="nope.py") == ("nope.py: no such file or folder", True)
    assert run(workspace, "read", path="src") == ("src is a folder; use ls", True)
    assert run(workspace, "read", path="blob.bin")[1]
    assert run(workspace, "read")[0] == "the argument 'path' must be a text"
    assert run(workspace, "read", path="README.md", offset=9)[0].startswith(
        "line 9 is past the end"
    )
    assert run(workspace, "write", path="x")[1]


def test_long_files_are_cut_at_the_byte_limit(workspace: Workspace) -> None:
    (workspace.root / "long.txt").write_text("x" * 999 + "\n" + ("y" * 999 + "\n") * 100)
    text, failed = run(workspace, "read", path="long.txt")
    assert not failed
    assert len(text) < MOST_BYTES + 100
    assert "Go on with offset=" in text


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/hostname", "src/../../outside.txt"])
def test_nothing_outside_the_workspace_is_read(workspace: Workspace, name: str) -> None:
    text, failed = run(workspace, "read", path=name)
    assert failed
    assert "outside the workspace" in text


def test_a_link_out_of_the_workspace_is_resolved_and_refused(workspace: Workspace) -> None:
    (workspace.root / "door").symlink_to(workspace.root.parent / "outside.txt")
    text, failed = run(workspace, "read", path="door")
    assert failed
    assert "outside the workspace" in text
    assert "not yours" not in run(workspace, "grep", pattern="yours")[0]


def test_ls_find_and_grep(workspace: Workspace) -> None:
    assert run(workspace, "ls") == (".git/\nblob.bin\nREADME.md\nsrc/", False)
    assert run(workspace, "find", pattern="*.py") == ("src/retry.py", False)
    assert run(workspace, "find", pattern="src/*.py") == ("src/retry.py", False)
    assert run(workspace, "find", pattern="*.rs") == ("No files found.", False)
    assert run(workspace, "grep", pattern="retry") == (
        "README.md:2: retry twice\nsrc/retry.py:1: def retry():",
        False,
    )
    assert run(workspace, "grep", pattern="RETRY", ignoreCase=True, glob="*.md")[0] == (
        "README.md:2: retry twice"
    )
    assert run(workspace, "grep", pattern="retry(", literal=True)[0] == (
        "src/retry.py:1: def retry():"
    )
    assert run(workspace, "grep", pattern="retry(")[1]


def test_a_workspace_must_hold_what_it_resolves(workspace: Workspace) -> None:
    assert workspace.shown(workspace.resolve(".")) == "."
    with pytest.raises(WorkspaceError, match="outside"):
        workspace.resolve("..")
