"""What the program writes is its owner's alone, with a umask that forbids nothing."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import private_files
from explorer.settings import paths
from tests.models.sandboxes import make
from tests.project.sources import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")

_COMMANDS = """
import json, os, sys
from explorer.cli import main
os.umask(0)
for line in sys.stdin:
    words = json.loads(line)
    status = main(words)
    if status:
        sys.exit(f"{words}: {status}")
"""
SAMPLE = str(paths.resource_path("samples", "retry-that-flakes.jsonl"))


@pytest.fixture
def umask_of_none() -> object:
    before = os.umask(0)
    yield None
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def too_open(top: Path) -> list[str]:
    """The files and folders below that others may do anything with, ``top`` included."""
    return [
        f"{mode_of(path):03o} {path.relative_to(top)}"
        for path in (top, *top.rglob("*"))
        if mode_of(path) & 0o077
    ]


def run_open(script: str, home: Path, given: str = "", *words: str) -> str:
    """Run Python with a home of its own; returns what was printed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SESSION_EXPLORER_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        input=given, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_write_for_their_owner_alone(tmp_path: Path) -> None:
    """Every command that writes something; what the agent writes into its folder is the
    project's, and follows the umask."""
    home, out = tmp_path / "not" / "yet", tmp_path / "out"
    out.mkdir(mode=0o700)
    project = make(tmp_path / "project", {"notes.txt": "alpha\n"})
    words_file, old = tmp_path / "words.md", out / "old.md"
    words_file.write_text("Summarize this.\n")
    old.write_text("before")
    old.chmod(0o640)
    work = "create hello.txt with `hi`, then run `seq 1 200000`"
    commands = [
        ("import", SAMPLE),
        ("new", "--workspace", str(project)),
        ("run", work, "--workspace", str(project), "--yes"),
        ("compact", "1"),
        ("search", "retry"),
        ("prompts", "edit", "branch", str(words_file)),
        ("prompts", "reset", "branch"),
        ("profiles", "copy", "pi", "mine"),
        ("profiles", "set", "mine", "title=Mine"),
        ("profiles", "export", "mine", str(out / "mine.json")),
        ("settings", "set", "agent.allow", '["edit(*.txt)"]'),
        ("extensions", "install-example", "keep_user_messages"),
        ("extensions", "list"),
        ("extensions", "trust", str(project)),
        ("models", "set", "offline/demo", "--window", "9000"),
        ("audit", "1", "--output", str(out / "report.html")),
        ("audit", "1", "--output", str(old)),
        ("export", "1", str(out / "session.jsonl")),
        ("fork", "1", "--output", str(out / "fork.jsonl")),
        ("replay", "1", "--keep"),
        ("salvage", str(home / "data" / "sessions.db"), str(out / "copy.db")),
        *(("tree", "1", "--graph", str(out / f"g.{end}")) for end in ("json", "gml", "gexf")),
    ]  # fmt: skip
    run_open(_COMMANDS, home, "".join(f"{json.dumps(words)}\n" for words in commands))
    assert too_open(tmp_path / "not") == []
    assert too_open(out) == ["640 old.md"], "a file that was there keeps its mode"
    assert mode_of(project / "hello.txt") == 0o666
    names = {path.name for path in (*home.rglob("*"), *out.iterdir())}
    expected = {
        "sessions.db", "sessions.db.search", "outputs", "settings.json",
        "models.json", "mine.json", "branch", "0001.md", "trusted-projects.json",
        "keep_user_messages.py", "g.gml", "fork.jsonl", "copy.db",
    }  # fmt: skip
    assert names >= expected, "the commands wrote what is looked at"


def test_a_database_in_use_and_the_window_are_private(tmp_path: Path) -> None:
    pytest.importorskip("PySide6", reason="runs without the window")
    home = tmp_path / "home"
    run_open(
        "import os, sys; os.umask(0)\n"
        "from explorer.store import Store\n"
        "from explorer.settings import paths\n"
        "from explorer.cli import main\n"
        "status = main(['open', '--sample', '--smoke'])\n"
        "with Store.open(paths.database_path()) as store:\n"
        "    store.sessions()\n"
        "    names = sorted(os.listdir(paths.data_dir()))\n"
        "    modes = [os.stat(paths.data_dir() / name).st_mode & 0o777 for name in names]\n"
        "    assert 'sessions.db-wal' in names, names\n"
        "    assert set(modes) == {0o600}, (names, modes)\n"
        "sys.exit(status)\n",
        home,
    )
    assert too_open(home) == []
    assert (home / "config" / paths.PREFERENCES_NAME).exists()


def test_an_older_file_of_ours_is_closed_when_it_is_written(
    umask_of_none: object, tmp_path: Path
) -> None:
    """A folder that is there keeps its mode; so does a file that a person named."""
    folder = tmp_path / "session-explorer"
    folder.mkdir(mode=0o755)
    file = folder / "models.json"
    file.write_text("{}")
    file.chmod(0o644)
    paths.ensure(folder)
    private_files.write(file, b"x")
    assert (mode_of(folder), mode_of(file), file.read_bytes()) == (0o755, 0o600, b"x")
    file.chmod(0o644)
    private_files.write(file, b"y", keeps_mode=True)
    assert (mode_of(file), file.read_bytes()) == (0o644, b"y")


def test_a_file_is_replaced_whole_or_not_at_all(umask_of_none: object, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    private_files.write(file, b"first")
    with pytest.raises(ZeroDivisionError), private_files.replacement(file) as half:
        half.write(b"sec")
        half.flush()
        (unfinished,) = set(tmp_path.iterdir()) - {file}
        assert mode_of(unfinished) == 0o600
        raise ZeroDivisionError
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]
