"""``--model`` with a real provider's protocol, and the key that interrupts."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer import paths
from explorer.store import Store
from tests.generated import write_session
from tests.models.server import Answer, ChatServer, Stall

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
GOOD = (
    "## Goal\nMake the retry test reliable.\n\n## Constraints & Preferences\n- (none)\n\n"
    "## Progress\n- Begun.\n\n## Key Decisions\n- (none)\n\n## Next Steps\n1. Run it.\n\n"
    "## Critical Context\n- (none)\n\n## Original Request\nRun it.\n\n## Early Progress\n- Ran.\n\n"
    "## Context for Suffix\n- None."
)


def start(*words: str, url: str = "") -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if url:
        environment |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-secret-of-the-person-123"}
    return subprocess.Popen(
        [sys.executable, "-m", "explorer", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs the tests in the background may have it ignored, which children inherit.
        preexec_fn=_interruptible if os.name == "posix" else None,
    )


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ran(*words: str, url: str = "") -> tuple[int, str, str]:
    process = start(*words, url=url)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def session() -> str:
    status, out, err = ran("import", str(SAMPLE), "--json")
    assert status == 0, err
    return str(json.loads(out)["imported"][0]["session"])


def leaf(session: str) -> Any:
    return json.loads(ran("tree", session, "--json")[1])["leaf"]


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
            assert "Bearer sk-secret-of-the-person-123" in headers.values()
    database = paths.database_path()
    for file in database.parent.glob(f"{database.name}*"):
        assert b"secret-of-the-person" not in file.read_bytes(), "keys are never stored"


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
    large = write_session(tmp_path / "large.jsonl", 40_000)
    process = start("import", str(SAMPLE), str(large))
    database = paths.database_path()
    while not database.exists() or not _begun(database):
        assert process.poll() is None, "it was over too soon"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted" in err and "Traceback" not in err
    status, out, _ = ran("list", "--json")
    assert status == 0
    assert [row["entries"] for row in json.loads(out)] == [
        len(SAMPLE.read_bytes().splitlines()) - 1
    ]


def _begun(database: Path) -> bool:
    """Whether the second import has begun."""
    return bool(list(database.parent.glob("*.claim-*"))) and _sessions(database) == 1


def _sessions(database: Path) -> int:
    with sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True) as db:
        found = db.execute("SELECT count(*) FROM sessions WHERE complete = 1").fetchone()
    return int(found[0])
