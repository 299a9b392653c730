"""``run`` with what is allowed beforehand: some of it needs the answer of a person all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.processes import called, document
from tests.models.sandboxes import make
from tests.models.server import Answer, ChatServer, calls

MODEL = ("--model", "openai/test-model")
EXPANDING = [
    "echo $['$(touch PWNED)']",
    "pytest --version $['$(touch PWNED)']",
    "echo x 1>&2\u2028",
    "echo 'x' 1>&2\u3000/../../victim/authorized_keys",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "victim").mkdir()
    return make(tmp_path / "project", {"notes.txt": "alpha\n"})


def files(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


def test_a_pattern_lets_nothing_run_that_its_shell_would_expand(project: Path) -> None:
    assert called("settings", "set", "agent.allow", '["bash(echo *)", "bash(pytest *)"]')[0] == 0
    with ChatServer() as server:
        lines = ["echo plain", *EXPANDING]
        server.plan(calls(*(("bash", {"command": line}) for line in lines)), Answer(text="Done."))
        done = document("run", "Do it.", *MODEL, "--workspace", str(project), url=server.url)
        results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert [tool["failed"] for tool in done["tools"]] == [False, *[True] * len(EXPANDING)]
    assert "plain" in str(results[0])
    assert all("nothing was done" in str(result) for result in results[1:])
    assert files(project.parent) == ["project/notes.txt"]


def test_yes_to_all_is_none_to_what_outlives_the_session(project: Path) -> None:
    paths = [".git/hooks/pre-commit", ".session-explorer/settings.json", "link", "src/a.py"]
    (project / ".git" / "hooks").mkdir(parents=True)
    (project / "link").symlink_to(".git/hooks/post-commit")
    with ChatServer() as server:
        wanted = (("write", {"path": path, "content": "evil\n"}) for path in paths)
        server.plan(calls(*wanted), Answer(text="Done."))
        words = ("run", "Do it.", *MODEL, "--workspace", str(project), "--yes")
        done = document(*words, url=server.url)
        results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert [tool["failed"] for tool in done["tools"]] == [True, True, True, False]
    assert all("only when a person allows just that" in str(result) for result in results[:3])
    assert all("--yes does not allow this" in str(result) for result in results[:3])
    assert files(project) == ["notes.txt", "src/a.py"]
