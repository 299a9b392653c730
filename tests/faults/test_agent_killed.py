"""kill -9 in each phase of a turn: what was acknowledged is there, and the session goes on."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.agent.approval import Approvals
from explorer.agent.loop import NOT_RUN
from explorer.agent.turn_interface import TurnResult
from explorer.agent.workspace import Workspace
from explorer.models.client import CancelToken, ModelClient, ModelClientConfig
from explorer.services.agent_turns import SessionTurns
from explorer.services.document import Document
from explorer.services.session_files import tools_of
from explorer.store import Store
from explorer.workbench import Workbench
from tests.agent.desk import check_pairs
from tests.faults.programs import kill, start
from tests.faults.test_work_killed import SAMPLE, check_whole
from tests.models.server import Answer, ChatServer, Plan, Stall, calls
from tests.store.conftest import eventually

MODEL = "openai/test-model"
PROGRAM = """
    import asyncio, sys
    from pathlib import Path
    from explorer.agent.approval import Approvals
    from explorer.agent.turn_interface import Stored
    from explorer.agent.workspace import Workspace
    from explorer.models.client import CancelToken, ModelClient, ModelClientConfig
    from explorer.store import Store
    from explorer.services.session_files import tools_of
    from explorer.services.agent_turns import SessionTurns
    from explorer.workbench import Workbench

    database, key, url, folder, mode = sys.argv[1:]
    bench = Workbench(Store.open(database), ModelClient(ModelClientConfig(api_base=url)))
    document = bench.open_blocking(int(key))

    def tell(*words):
        print(*words, flush=True)

    class Person:
        async def ask(self, request, cancel):
            tell("asked", request.kind)
            await asyncio.Event().wait()

    def on_event(event):
        if isinstance(event, Stored):
            tell("done", event.entry, document.tree.columns.ids[event.entry])
        else:
            tell("event", type(event).__name__, getattr(event, "text", "").strip())

    async def work():
        tools = tools_of(document, Workspace(Path(folder)), Approvals(mode, approver=Person()))
        turns = SessionTurns(document, "openai/test-model", tools, CancelToken(), on_event)
        result = await turns.say("Look.")
        tell("ended", result.end)

    asyncio.run(work())
"""
SLEEPS = 'sleep 300 & echo "$! $$" > pids.txt; echo begun; wait'


@pytest.fixture
def key(database: Path) -> int:
    with Store.open(database) as store:
        return Workbench(store, ModelClient()).import_blocking(SAMPLE).key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "ports.txt").write_text("8431\n")
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    opened = ModelClient(ModelClientConfig(api_base=server.url))
    yield opened
    opened.close()


class Phase:
    """A turn in a process of its own, killed where its output says that it stands."""

    def __init__(
        self, server: ChatServer, database: Path, key: int, folder: Path, mode: str = "yes"
    ) -> None:
        self.server, self.database, self.key, self.folder = server, database, key, folder
        self.child: subprocess.Popen[str] = start(PROGRAM, database, key, server.url, folder, mode)
        self.lines: list[str] = []

    def killed_at(self, line: str, entries: int = 0) -> list[tuple[int, str]]:
        """Kill it after a line, and so many entries; what it acknowledged."""
        assert self.child.stdout is not None
        while not any(one.strip() == line for one in self.lines) or len(self.stored) < entries:
            read = self.child.stdout.readline()
            assert read, f"the program ended by itself: {self.lines}"
            self.lines.append(read)
        self.lines += kill(self.child).splitlines()
        return self.stored

    @property
    def stored(self) -> list[tuple[int, str]]:
        words = [line.split() for line in self.lines if line.startswith("done ")]
        return [(int(entry), entry_id) for _, entry, entry_id in words]


def go_on(
    phase: Phase, client: ModelClient, acknowledged: list[tuple[int, str]]
) -> tuple[list[str], list[str]]:
    """Open the session, check it, and resume: the roles of the turn, and the texts of results."""
    with Store.open(phase.database) as store:
        document = Workbench(store, client).open_blocking(phase.key)
        check_whole(document, acknowledged)
        assert document.leaf >= acknowledged[-1][0]
        check_pairs(document.agent.messages())
        phase.server.requests.clear()
        phase.server.plan(Answer(text="8431, I see."))
        tools = tools_of(document, Workspace(phase.folder), Approvals("read-only"))

        async def resume() -> TurnResult:
            return await SessionTurns(
                document, MODEL, tools, CancelToken(), lambda _event: None
            ).resume()

        result = asyncio.run(resume())
        assert (result.end, result.error) == ("done", "")
        assert document.agent.open_calls() == []
        check_pairs(document.agent.messages())
        return _turn(document, acknowledged[0][0])


def _turn(document: Document, first: int) -> tuple[list[str], list[str]]:
    path = [at for at in document.tree.path(document.leaf).indices() if at >= first]
    messages = [document.payloads.shown.entry(at).recorded["message"] for at in path]
    texts = [
        message["content"][0]["text"] for message in messages if message["role"] == "toolResult"
    ]
    return [message["role"] for message in messages], texts


def plan(server: ChatServer, *plans: Plan) -> None:
    server.forget()
    server.plan(*plans)


def test_a_kill_while_the_answer_streams(
    server: ChatServer, client: ModelClient, database: Path, key: int, folder: Path
) -> None:
    plan(server, calls(("read", {"path": "ports.txt"})), Stall(after=2, text="half an answer"))
    phase = Phase(server, database, key, folder)
    stored = phase.killed_at("event TextDelta half an answer")
    roles, texts = go_on(phase, client, stored)
    assert roles == ["user", "assistant", "toolResult", "assistant"]
    assert "8431" in texts[0]
    assert "half an answer" not in json.dumps(server.requests)


def test_a_kill_while_a_tool_runs_leaves_no_process(
    server: ChatServer, client: ModelClient, database: Path, key: int, folder: Path
) -> None:
    plan(server, calls(("bash", {"command": SLEEPS})))
    phase = Phase(server, database, key, folder)
    stored = phase.killed_at("event ToolOutput begun")
    pids = [int(pid) for pid in (folder / "pids.txt").read_text().split()]
    eventually(lambda: not any(map(_alive, pids)), "what the command had started is dead")
    roles, texts = go_on(phase, client, stored)
    assert roles == ["user", "assistant", "toolResult", "assistant"]
    assert texts == [NOT_RUN.text]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_kill_between_the_results_of_calls(
    server: ChatServer, client: ModelClient, database: Path, key: int, folder: Path
) -> None:
    plan(server, calls(
        ("read", {"path": "ports.txt"}), ("ls", {}), ("bash", {"command": SLEEPS}),
        ("read", {"path": "ports.txt"}),
    ))  # fmt: skip
    phase = Phase(server, database, key, folder)
    stored = phase.killed_at("event ToolOutput begun", entries=4)
    roles, texts = go_on(phase, client, stored)
    assert roles == ["user", "assistant", *["toolResult"] * 4, "assistant"]
    assert "8431" in texts[0] and "ports.txt" in texts[1]
    assert texts[2:] == [NOT_RUN.text] * 2


def test_a_kill_while_consent_is_asked_for(
    server: ChatServer, client: ModelClient, database: Path, key: int, folder: Path
) -> None:
    plan(server, calls(("write", {"path": "new.txt", "content": "new"})))
    phase = Phase(server, database, key, folder, "ask")
    stored = phase.killed_at("asked write")
    assert not (folder / "new.txt").exists()
    roles, texts = go_on(phase, client, stored)
    assert roles == ["user", "assistant", "toolResult", "assistant"]
    assert texts == [NOT_RUN.text]


def test_a_kill_at_any_moment_of_many_rounds(
    server: ChatServer, client: ModelClient, database: Path, key: int, folder: Path
) -> None:
    def answer(body: dict[str, object]) -> Answer:
        asked = len(server.requests)
        return calls(*(("read", {"path": "ports.txt", "limit": asked + n}) for n in range(3)))

    plan(server, answer)
    phase = Phase(server, database, key, folder)
    assert phase.child.stdout is not None
    while len(phase.stored) < 4:
        phase.lines.append(phase.child.stdout.readline())
    time.sleep(0.1)
    phase.lines += kill(phase.child).splitlines()
    roles, _ = go_on(phase, client, phase.stored)
    assert roles[0] == "user" and roles[-1] == "assistant"
