"""kill -9 in the middle of a draft, a commit and a turn: what was acknowledged is there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from explorer.models.client import ModelClient
from explorer.services.document import Document
from explorer.session.kinds import Flag, Kind
from explorer.settings import paths
from explorer.store import DraftRow, Store
from explorer.workbench import Workbench
from tests.faults.programs import kill, start
from tests.models.server import Answer, ChatServer, Stall
from tests.store.conftest import eventually

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
SETUP = """
    import asyncio, sys
    from msgspec.structs import replace
    from pathlib import Path
    from explorer.agent.workspace import Workspace
    from explorer.compaction.profile import PROFILES, Settings
    from explorer.models.client import CancelToken, ModelClient, ModelClientConfig
    from explorer.store import Store
    from explorer.services.draft_records import SummaryOrder
    from explorer.services.agent_turns import SessionTurns
    from explorer.workbench import Workbench

    database, key, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    client = ModelClient(ModelClientConfig(api_base=url))
    bench = Workbench(Store.open(database), client)
    document = bench.open_blocking(key)
    profile = PROFILES["explorer"]
    settings = replace(Settings.of(profile), keep_recent_tokens=4000)

    def tell(*words):
        print(*words, flush=True)

    def order(model):
        return SummaryOrder("", model, lambda purpose, text: tell("text", purpose), CancelToken())
"""
COMMITS = """
    async def work():
        # Another program may have committed just before this one opened the session.
        if document.payloads.shown.entry(document.leaf).recorded["type"] == "compaction":
            await document.edits.undo()
        while True:
            shown = document.compaction.preview(None, profile, settings)
            draft = await document.compaction.summarize(shown, order("offline/extractive"))
            index = await document.compaction.commit(draft)
            tell("done", index, document.tree.columns.ids[index])
            await document.edits.undo()
            tell("leaf", document.leaf)
"""
DRAFT = """
    async def work():
        await document.compaction.summarize(
            document.compaction.preview(None, profile, settings), order("openai/test-model")
        )
"""
TURN = """
    async def work():
        told = lambda event: tell("event", type(event).__name__)
        workspace = Workspace(Path(sys.argv[4]))
        turns = SessionTurns(document, "openai/test-model", workspace, CancelToken(), told)
        await turns.say("Look.")
"""
TURNS = """
    async def work():
        while True:
            workspace = Workspace(Path(sys.argv[4]))
            turns = SessionTurns(document, "offline/demo", workspace, CancelToken(), lambda e: 0)
            result = await turns.say("List the files.")
            for index in result.entries:
                tell("done", index, document.tree.columns.ids[index])
"""
RUN = """
    asyncio.run(work())
"""


def program(*parts: str) -> str:
    return "".join((SETUP, *parts, RUN))


@pytest.fixture
def key(database: Path) -> int:
    with Store.open(database) as store:
        bench = Workbench(store, ModelClient())
        return bench.import_blocking(SAMPLE).key


def reopened(store: Store, key: int) -> Document:
    return Workbench(store, ModelClient()).open_blocking(key)


def check_whole(document: Document, acknowledged: list[tuple[int, str]]) -> None:
    """Every acknowledged entry is at its place, and the session can be read and gone on with."""
    ids = document.tree.columns.ids
    assert acknowledged
    for index, entry_id in acknowledged:
        assert ids[index] == entry_id
    assert [entry.id for entry in document.payloads.shown.entries(range(len(ids)))] == ids
    assert 0 <= document.leaf < len(ids)
    assert document.context().messages
    kind, parent = document.tree.columns.kind, document.tree.columns.parent
    for at in range(len(ids)):
        if kind[at] == Kind.TOOL_RESULT:
            assert kind[parent[at]] in (Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.CUSTOM)


def acknowledged_in(lines: list[str]) -> list[tuple[int, str]]:
    words = [line.split() for line in lines]
    return [(int(line[1]), line[2]) for line in words if len(line) == 3 and line[0] == "done"]


@pytest.mark.parametrize("after", [1, 4])
def test_a_kill_between_drafts_commits_and_undos(database: Path, key: int, after: int) -> None:
    child = start(program(COMMITS), database, key, "http://127.0.0.1:9/v1")
    assert child.stdout is not None
    lines: list[str] = []
    while len(acknowledged_in(lines)) < after:
        line = child.stdout.readline()
        assert line, "the program ended by itself"
        lines.append(line)
    time.sleep(0.05 * after)
    lines += kill(child).splitlines()
    with Store.open(database) as store:
        document = reopened(store, key)
        check_whole(document, acknowledged_in(lines))
        eventually(lambda: not _streaming(store, key), "no draft is said to be on its way")
        committed = [d for d in store.drafts(key) if d.status == "committed"]
        entries = [at for at, _ in acknowledged_in(lines)]
        assert len(committed) >= len(entries)
        for index in entries:
            summary = document.payloads.shown.entry(index).recorded["summary"]
            assert any(draft.edited_text == summary for draft in committed)


def _streaming(store: Store, key: int) -> list[DraftRow]:
    return [draft for draft in store.drafts(key) if draft.status == "streaming"]


def test_a_kill_while_a_draft_streams(database: Path, key: int) -> None:
    with ChatServer() as server:
        server.plan(Stall(after=2))
        child = start(program(DRAFT), database, key, server.url)
        assert child.stdout is not None
        assert child.stdout.readline().startswith("text")
        with Store.open(database) as store:
            before = store.load(key)
            (draft,) = store.drafts(key)
            time.sleep(0.5)
            assert _streaming(store, key) == [draft], "whoever makes it is alive"
        kill(child)
        assert server.gone.wait(10)
    with Store.open(database) as store:
        document = reopened(store, key)
        assert (len(document.tree), document.leaf) == (len(before.tree), before.leaf)
        eventually(lambda: not _streaming(store, key), "the draft has failed")
        (row,) = store.drafts(key)
        assert (row.status, row.summary) == ("failed", "")
        assert "ended before" in row.problem
        asked = [call["request"]["messages"][1]["content"] for call in row.requests]
        assert server.requests[0]["messages"][1]["content"] in asked
        assert document.drafts.waiting() == []
    assert not list(database.parent.glob("*.claim-*")), "no claim is left behind"


def test_a_kill_in_the_middle_of_a_turn(database: Path, key: int, tmp_path: Path) -> None:
    (tmp_path / "look").mkdir()
    (tmp_path / "look" / "ports.txt").write_text("8431\n")
    with ChatServer() as server:
        call = ("call-a", "read", '{"path": "ports.txt"}')
        server.plan(Answer(text="", tool_calls=(call,), finish="tool_calls"), Stall(after=1))
        child = start(program(TURN), database, key, server.url, tmp_path / "look")
        assert child.stdout is not None
        while child.stdout.readline().split() != ["event", "TextDelta"]:
            assert child.poll() is None
        kill(child)
    with Store.open(database) as store:
        document = reopened(store, key)
        path = document.tree.path(document.leaf)[-3:].indices()
        roles = [document.payloads.shown.entry(at).recorded["message"]["role"] for at in path]
        assert roles == ["user", "assistant", "toolResult"]
        assert (
            "8431"
            in document.payloads.shown.entry(path[-1]).recorded["message"]["content"][0]["text"]
        )
        assert not document.tree.columns.flags[document.leaf] & Flag.ERROR
        check_whole(document, [(at, document.tree.columns.ids[at]) for at in path])


def test_a_kill_between_the_entries_of_turns(database: Path, key: int, tmp_path: Path) -> None:
    (tmp_path / "look").mkdir()
    child = start(program(TURNS), database, key, "http://127.0.0.1:9/v1", tmp_path / "look")
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(12)]
    lines += kill(child).splitlines()
    with Store.open(database) as store:
        check_whole(reopened(store, key), acknowledged_in(lines))


def test_two_workbenches_on_one_database(database: Path, key: int) -> None:
    """Both compact and take back the same session; nothing of either is lost or changes place."""
    children = [start(program(COMMITS), database, key, "http://127.0.0.1:9/v1") for _ in range(2)]
    lines: list[list[str]] = [[], []]
    for at, child in enumerate(children):
        assert child.stdout is not None
        while len(acknowledged_in(lines[at])) < 4:
            line = child.stdout.readline()
            assert line, "the program ended by itself"
            lines[at].append(line)
    for at, child in enumerate(children):
        lines[at] += kill(child).splitlines()
    mine, theirs = (acknowledged_in(said) for said in lines)
    assert not set(mine) & set(theirs)
    with Store.open(database) as store:
        check_whole(reopened(store, key), sorted(mine + theirs))
