"""The box of real tools: what is offered, what is asked first, and how commands come out."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest, Approvals
from explorer.agent.tools.content import MOST_BYTES
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.tools.workspace_tools import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.compaction.file_ops import FileOperations
from explorer.models.client import CancelToken, ToolCall
from tests.compaction.pruned_sessions import used
from tests.compaction.sessions import EXPLORER, Session


class Person:
    """Gives one answer always, and remembers what was asked and what was so then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.answer = ApprovalAnswer("once")
        self.asked: list[ApprovalRequest] = []
        self.files: list[list[str]] = []

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        self.asked.append(request)
        self.files.append(sorted(path.name for path in self.root.iterdir()))
        return self.answer


class Box:
    """The tools of one session in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.person = Person(self.root)
        self.approvals = Approvals(approver=self.person)
        environment = {**os.environ, "MY_API_KEY": "planted-000001", "LANG": "C.UTF-8"}
        self.tools = WorkspaceTools(
            Workspace(self.root), self.approvals, root / "outputs", environment
        )
        self.live: list[str] = []
        self.cancel = CancelToken()

    def run(self, name: str, **arguments: Any) -> ToolOutcome:
        call = ToolCall(f"call-{len(self.live)}", name, arguments)
        return asyncio.run(self.tools.run(call, self.cancel, self.live.append))


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_every_tool_is_offered_with_pis_arguments(box: Box) -> None:
    offered = {spec.name: list(spec.parameters["properties"]) for spec in box.tools.specs()}
    assert offered == {
        "read": ["path", "offset", "limit"],
        "ls": ["path", "limit"],
        "find": ["pattern", "path", "limit"],
        "grep": ["pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"],
        "write": ["path", "content"],
        "edit": ["path", "edits"],
        "bash": ["command", "timeout"],
    }
    assert all(spec.description for spec in box.tools.specs())
    exclusive = [name for name in offered if box.tools.is_exclusive(ToolCall("c", name))]
    assert exclusive == ["write", "edit", "bash"]


def test_read_only_offers_and_runs_nothing_that_changes(box: Box) -> None:
    box.approvals.mode = "read-only"
    assert [spec.name for spec in box.tools.specs()] == ["read", "ls", "find", "grep"]
    for name in ("write", "bash"):
        outcome = box.run(name, path="a", content="x", command="touch a")
        assert outcome.is_error
        assert "only tools that look" in outcome.text
    assert list(box.root.iterdir()) == []
    assert box.person.asked == []


def test_a_write_is_asked_first_with_its_diff(box: Box) -> None:
    outcome = box.run("write", path="src/a.py", content="x = 1\n")
    [request] = box.person.asked
    assert (request.kind, request.title, request.path) == ("write", "Create src/a.py", "src/a.py")
    assert request.diff == "--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1,1 @@\n+x = 1"
    assert request.pattern == "edit(src/**)"
    assert box.person.files == [[]]
    assert outcome.text == "Created file src/a.py: 1 line, 6 bytes."
    assert (box.root / "src/a.py").read_text() == "x = 1\n"


def test_an_edit_that_cannot_be_made_is_not_asked_about(box: Box) -> None:
    assert box.run("edit", path="a.py", oldText="a", newText="b").is_error
    assert box.person.asked == []


def test_what_is_denied_does_not_happen_and_the_model_is_told_why(box: Box) -> None:
    box.person.answer = ApprovalAnswer("deny", note="not in this folder")
    for name in ("write", "bash"):
        outcome = box.run(name, path="a", content="x", command="touch a")
        assert outcome.is_error
        assert "not in this folder" in outcome.text
    assert list(box.root.iterdir()) == []


def test_a_command_is_asked_first_with_its_line_and_what_it_may_do(box: Box) -> None:
    outcome = box.run("bash", command="echo hello; exit 2")
    [request] = box.person.asked
    assert (request.kind, request.command) == ("command", "echo hello; exit 2")
    assert request.folder == str(box.root)
    assert "not held to the folder" in request.notice
    assert outcome.is_error
    assert outcome.text == "hello\n\nExit code 2."
    assert outcome.details["exitCode"] == 2
    assert "".join(box.live) == "hello\n"


def test_this_session_means_the_files_of_the_folder_from_then_on(box: Box) -> None:
    box.person.answer = ApprovalAnswer("session")
    box.run("write", path="src/a.py", content="1\n")
    box.run("edit", path="src/a.py", oldText="1", newText="2")
    box.run("write", path="src/deep/b.py", content="1\n")
    assert len(box.person.asked) == 1
    box.run("write", path="tests/b.py", content="1\n")
    assert len(box.person.asked) == 2


KEPT_APART = [
    ".git/hooks/pre-commit", ".git/config", "sub/.git/config", ".GIT/config", ".git./config",
    ".git /config", ".gi\u200ct/config", "\uff0egit/config", ".git::$INDEX_ALLOCATION/config",
    "GIT~1/config", ".git", ".husky/pre-commit", ".githooks/x", ".session-explorer/settings.json",
    ".claude/settings.json", ".vscode/tasks.json", ".Idea/x.xml", ".envrc", "home/.bashrc",
    ".ssh/authorized_keys", ".config/autostart/x.desktop",
]  # fmt: skip


@pytest.mark.parametrize("path", KEPT_APART)
def test_no_mode_and_no_pattern_writes_what_outlives_the_session(box: Box, path: str) -> None:
    box.tools.approvals = Approvals("yes", ["edit(**)", f"edit({path})"])
    outcome = box.run("write", path=path, content="rm -rf /\n")
    assert outcome.is_error
    assert "nobody is there to allow it; nothing was done" in outcome.text
    assert "only when a person allows just that" in outcome.text
    assert list(box.root.iterdir()) == []
    box.tools.approvals = Approvals("yes", ["edit(**)"], approver=box.person)
    assert not box.run("write", path=path, content="x\n").is_error
    [request] = box.person.asked
    assert (request.protected, request.pattern) == (True, "")
    assert "even where all is allowed" in request.notice
    box.person.answer = ApprovalAnswer("deny", note="no")
    assert "only when a person" in box.run("edit", path=path, oldText="x", newText="y").text
    box.tools.approvals.mode = "ask"
    assert box.run("edit", path=path, oldText="x", newText="y").is_error
    assert len(box.person.asked) == 3
    assert [one.read_text() for one in box.root.rglob("*") if one.is_file()] == ["x\n"]


@pytest.mark.parametrize(
    "path", ["git/x.py", ".gitignore", ".github/workflows/x.yml", "src/config", "HEAD", "a~1.txt",
             "objects/refs/x", ".gitattributes", "x.git/y"],
)  # fmt: skip
def test_all_else_needs_no_answer_where_all_is_allowed(box: Box, path: str) -> None:
    box.tools.approvals = Approvals("yes")
    assert not box.run("write", path=path, content="x\n").is_error


def test_links_to_what_outlives_the_session_are_followed(box: Box) -> None:
    box.tools.approvals = Approvals("yes", ["edit(**)"])
    hooks = box.root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "there").write_text("old\n")
    (box.root / "folder").symlink_to(hooks, target_is_directory=True)
    (box.root / "file").symlink_to(hooks / "pre-commit")
    (box.root / "second").symlink_to("file")
    for path in ("folder/pre-commit", "file", "second", "src/../.git/config"):
        assert "only when a person" in box.run("write", path=path, content="x\n").text
    assert box.run("edit", path="folder/there", oldText="old", newText="new").is_error
    assert [one.name for one in hooks.iterdir()] == ["there"]


def test_what_git_takes_for_a_repository_is_protected_under_any_name(box: Box) -> None:
    box.tools.approvals = Approvals("yes")
    git = ("git", "-c", "init.defaultBranch=main", "init", "-q", "--separate-git-dir", "real")
    subprocess.run(git, cwd=box.root, check=True)
    assert (box.root / ".git").is_file()
    for path in (".git", "real/config", "real/hooks/pre-commit", "real/hooks/deep/x"):
        assert "only when a person" in box.run("write", path=path, content="x\n").text
    for path in ("made/config", "made/HEAD", "made/objects/x"):
        assert not box.run("write", path=path, content="x\n").is_error
    assert box.run("write", path="made/refs/x", content="x\n").is_error
    assert box.run("write", path="made/commondir", content="x\n").is_error
    assert not (box.root / "made/refs").exists()


def test_secrets_are_not_visible_to_a_command(box: Box) -> None:
    outcome = box.run("bash", command="env")
    assert "LANG=C.UTF-8" in outcome.text
    assert "planted" not in outcome.text


def test_a_long_output_shows_its_end_and_where_all_of_it_is(box: Box) -> None:
    outcome = box.run("bash", command="seq 30000")
    assert outcome.text.startswith("28001\n28002\n")
    assert "[Lines 28,001-30,000 of 30,000 are shown. All of it: read " in outcome.text
    path = Path(outcome.details["fullOutputPath"])
    assert path.read_text() == "".join(f"{number}\n" for number in range(1, 30_001))
    assert outcome.details["truncation"]["totalLines"] == 30_000
    told = box.run("read", path=str(path), offset=12_345, limit=1)
    assert told.text.startswith("12345\n")
    assert box.run("write", path=str(path), content="x").is_error


def test_a_hundred_megabytes_end_in_a_file_and_not_in_the_result(box: Box) -> None:
    outcome = box.run("bash", command="head -c 100000000 /dev/zero | tr '\\0' 'x'")
    assert len(outcome.text) < MOST_BYTES + 500
    assert "of line 1 are shown" in outcome.text
    assert Path(outcome.details["fullOutputPath"]).stat().st_size == 100_000_000
    assert sum(map(len, box.live)) < 100_000_000


def test_binary_output_is_told_as_text(box: Box) -> None:
    outcome = box.run(
        "bash",
        command="printf '\\xff\\xfe a\\tb \\xc3\\xa9 \\xc3'; printf '\\n50%%\\r99%%\\r100%%\\n'",
    )
    assert outcome.text == "�� a\tb é �\n100%"


def test_a_character_that_comes_in_halves_is_passed_on_whole(box: Box) -> None:
    box.run("bash", command="printf '\\xc3'; sleep 0.2; printf '\\xa9'")
    assert "".join(box.live) == "é"


def test_a_time_limit_is_told_with_what_had_come(box: Box) -> None:
    outcome = box.run("bash", command="echo early; sleep 300", timeout=1)
    assert outcome.is_error
    assert outcome.text.startswith("early\n\nEnded after 1 seconds")
    assert outcome.details["exitCode"] is None


def test_what_stayed_in_the_background_is_told(box: Box) -> None:
    outcome = box.run("bash", command="sleep 300 & sleep 300 & echo on")
    assert not outcome.is_error
    assert outcome.text.startswith("on\n\n[What it left running was ended with it (2 processes)")


def test_a_stop_ends_a_command_and_keeps_what_had_come(box: Box) -> None:
    begun = threading.Event()

    async def stopped() -> ToolOutcome:
        def live(text: str) -> None:
            begun.set()
            box.cancel.cancel()

        call = ToolCall("c", "bash", {"command": "echo early; sleep 300"})
        return await box.tools.run(call, box.cancel, live)

    outcome = asyncio.run(stopped())
    assert begun.is_set()
    assert outcome.is_error
    assert outcome.text.startswith("early\n\nStopped by the person")


def test_a_task_that_is_cancelled_waits_for_the_end_of_its_command(box: Box) -> None:
    async def cancelled() -> bool:
        begun = asyncio.Event()
        call = ToolCall("c", "bash", {"command": "echo $$ >pid; echo on; sleep 300"})
        task = asyncio.ensure_future(box.tools.run(call, box.cancel, lambda text: begun.set()))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())
    pid = int((box.root / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


def test_tools_that_look_run_side_by_side(box: Box) -> None:
    (box.root / "a.txt").write_text("one\n")

    async def together() -> list[ToolOutcome]:
        calls = [ToolCall(f"c{n}", "read", {"path": "a.txt"}) for n in range(10)]
        return list(
            await asyncio.gather(*(box.tools.run(c, box.cancel, box.live.append) for c in calls))
        )

    assert [outcome.text for outcome in asyncio.run(together())] == ["one"] * 10


def test_an_unknown_tool_is_an_outcome(box: Box) -> None:
    outcome = box.run("teleport")
    assert (outcome.is_error, outcome.text) == (True, "there is no tool named 'teleport'")


def test_a28_a_session_of_these_tools_is_tracked(box: Box) -> None:
    """Created, updated and read files are told apart by the calls and results alone."""
    (box.root / "there.py").write_text("old\n")
    (box.root / "seen.py").write_text("seen\n")
    (box.root / "other.py").write_text("other\n")
    session = Session()
    for name, arguments in (
        ("read", {"path": "seen.py"}),
        ("write", {"path": "new.py", "content": "a\n"}),
        ("edit", {"path": "new.py", "edits": [{"oldText": "a", "newText": "b"}]}),
        ("edit", {"path": "there.py", "edits": [{"oldText": "old", "newText": "new"}]}),
        ("write", {"path": "there.py", "content": "all new\n"}),
        ("edit", {"path": "other.py", "edits": [{"oldText": "nowhere", "newText": "x"}]}),
        ("bash", {"command": "ls"}),
    ):
        outcome = box.run(name, **arguments)
        used(session, name, arguments=arguments, text=outcome.text, error=outcome.is_error)
    files = FileOperations()
    files.add_calls(session.tree, session.tree.path(session.leaf).ranges, EXPLORER)
    assert {one.path: (one.change, one.known) for one in files.changes} == {
        "new.py": ("created", "result"),
        "there.py": ("updated", "tool"),
    }
    assert files.read == ("seen.py",)
    assert files.failed == ("other.py",)
