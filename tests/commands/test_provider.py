"""``--model`` with a real provider's protocol, and the key that interrupts."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.settings import paths
from explorer.store import Store
from tests.commands.processes import KEY, ROOT, document, ran, start
from tests.generated import write_session
from tests.models.server import Answer, ChatServer, Stall

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
GOOD = (
    "## Goal\nMake the retry test reliable.\n\n## Constraints & Preferences\n- (none)\n\n"
    "## Progress\n- Begun.\n\n## Key Decisions\n- (none)\n\n## Next Steps\n1. Run it.\n\n"
    "## Critical Context\n- (none)\n\n## Original Request\nRun it.\n\n## Early Progress\n- Ran.\n\n"
    "## Context for Suffix\n- None."
)


@pytest.fixture
def session() -> str:
    return str(document("import", str(SAMPLE))["imported"][0]["session"])


def leaf(session: str) -> Any:
    return document("tree", session)["leaf"]


def test_a_summary_by_a_model_of_a_provider(session: str) -> None:
    words = ("compact", session, "--keep-recent", "4000", "--model", "openai/test-model")
    with ChatServer() as server:
        server.plan(Answer(text=GOOD))
        status, out, err = ran(*words, "--json", url=server.url)
        assert (status, err) == (0, ""), err
        done = json.loads(out)
        assert done["summary"].startswith(GOOD)
        assert (done["model"], done["stored"]) == ("openai/test-model", True)
        assert leaf(session) == done["entry"]
        for headers in server.headers:
            assert f"Bearer {KEY}" in headers.values()
    database = paths.database_path()
    for file in database.parent.glob(f"{database.name}*"):
        assert KEY.encode() not in file.read_bytes(), "keys are never stored"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a43_an_interrupted_summary_changes_nothing(session: str) -> None:
    before = leaf(session)
    with ChatServer() as server:
        server.plan(Stall(after=1))
        words = ("compact", session, "--keep-recent", "4000", "--model", "openai/test-model")
        process = start(*words, url=server.url)
        assert server.started.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert server.gone.wait(10), "the connection was let go"
    assert (process.returncode, out) == (1, "")
    assert err.startswith("session-explorer: interrupted")
    assert "Traceback" not in err
    assert leaf(session) == before
    with Store.open(paths.database_path()) as store:
        (draft,) = store.drafts(int(session))
    assert draft.status == "cancelled"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupted_import_keeps_what_was_imported_before_it(tmp_path: Path) -> None:
    large = write_session(tmp_path / "large.jsonl", 160_000)
    process = start("import", str(SAMPLE), str(large))
    database = paths.database_path()
    while not database.exists() or not _begun(database):
        assert process.poll() is None, "it was over too soon"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted" in err and "Traceback" not in err
    assert [row["entries"] for row in document("list")] == [
        len(SAMPLE.read_bytes().splitlines()) - 1
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_that_a_destructor_swallowed_comes_again() -> None:
    program = """
import signal, sys, time
from explorer import cli
from explorer.commands import session_list

class Ending:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def run(arguments):
    ending = Ending()
    del ending
    time.sleep(30)

session_list.run = run
sys.exit(cli.main(["list"]))
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=25)
    assert done.returncode == 1
    assert done.stderr == "session-explorer: interrupted; what was not finished is not kept\n"


def _begun(database: Path) -> bool:
    """Whether the second import has begun."""
    return bool(list(database.parent.glob("*.claim-*"))) and _sessions(database) == 1


def _sessions(database: Path) -> int:
    with sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True) as db:
        found = db.execute("SELECT count(*) FROM sessions WHERE complete = 1").fetchone()
    return int(found[0])
