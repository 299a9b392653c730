"""A session file that is imported again and again while its agent appends to it: what is stored is
what importing the whole of it at once gives, wherever the file was cut off meanwhile; and searching
again whenever something changes where sessions were found.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from explorer.formats.registry import open_source
from explorer.services.discovery import Places, Scan
from explorer.services.followed_file import FollowedFile
from explorer.services.follower import SessionWatch, folders_of
from explorer.store import Store
from explorer.store.rows import ImportReport
from explorer.workbench import Workbench
from tests import homes
from tests.formats.claude_lines import SESSION, Lines
from tests.formats.codex_rollouts import Rollout
from tests.formats.files import chain, header
from tests.formats.test_copilot_chat import request as chat_request
from tests.formats.test_copilot_chat import start as chat_start
from tests.formats.test_copilot_cli import Events
from tests.formats.test_gemini import HEADER, answer, call, checkpoint, plain, reply, user

ROUNDS = 12
TURNS = 6
Stored = tuple[Any, ...]


def claude_code(folder: Path) -> Path:
    lines = Lines()
    for at in range(TURNS):
        lines.user(f"u{at}", f"Question {at} — with an é")
        lines.reply(f"a{at}", f"m{at}", "I look.", stop_reason=None)
        lines.reply(f"b{at}", f"m{at}", (f"c{at}", "Read"), (f"d{at}", "Grep"))
        lines.result(f"r{at}", f"c{at}")
        lines.records.append({"type": "ai-title", "aiTitle": f"Title {at}", "sessionId": SESSION})
        lines.result(f"s{at}", f"d{at}", "found")
        lines.node("progress", f"p{at}")
        lines.reply(f"e{at}", f"n{at}", f"Answer {at}")
    lines.node("system", "k", subtype="compact_boundary", compactMetadata={"preTokens": 900})
    lines.user("l", "A summary", isCompactSummary=True)
    lines.node("unheard", "x").user("z", "On we go").reply("y", "o", "Yes")
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines.records))
    return path


def codex(folder: Path) -> Path:
    rollout = Rollout(1)
    for at in range(TURNS):
        rollout.turn(at + 1, f"gpt-{at // 2}").prompt(f"Question {at}")
        rollout.item("reasoning", summary=[{"type": "summary_text", "text": "Hm"}])
        arguments = json.dumps({"command": ["ls", "é"]})
        rollout.item("function_call", name="shell", arguments=arguments, call_id=f"c{at}")
        rollout.item("function_call_output", call_id=f"c{at}", output="a b")
        rollout.message("assistant", f"Answer {at}").event("agent_message", message=f"Answer {at}")
        rollout.event("turn_aborted" if at == 2 else "task_complete", turn_id=str(at))
        rollout.add("unheard", some="thing")
    path = folder / f"rollout-2026-05-04T10-00-00-{rollout.thread}.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rollout.lines))
    return path


def copilot_cli(folder: Path) -> Path:
    events = Events(folder)
    for at in range(TURNS):
        first = events.user(f"Question {at} é")
        events.reply("I look.", f"c{at}", f"d{at}")
        events.run(f"c{at}", "text")
        events.run(f"d{at}", "text", success=at != 1)
        events("unheard.event", what=at)
        events.reply(f"Answer {at}")
        if at == 3:
            events("session.snapshot_rewind", upToEventId=first, eventsRemoved=3)
    events("session.compaction_start", conversationTokens=900)
    events.reply("meanwhile", "never-run")
    events("session.compaction_complete", success=True, summaryContent="All of it")
    events("tool.execution_start", toolCallId="never-run", toolName="view", arguments={})
    events.read()
    return events.path


def gemini(folder: Path) -> Path:
    values: list[Any] = [HEADER]
    for at in range(TURNS):
        said, text = user(f"u{at}", f"Question {at}"), reply(f"g{at}", f"Answer {at}")
        values += [said, text, text | {"toolCalls": [call(f"c{at}")]}, answer(f"a{at}", f"c{at}")]
    values.append(checkpoint(*map(plain, values[1:])))
    path = folder / "session-2026-01-02T03-04-s1.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in values))
    return path


def pi(folder: Path) -> Path:
    path = folder / "quay.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (header(), *chain(40))))
    return path


AGENTS: dict[str, Callable[[Path], Path]] = {
    "claude-code": claude_code, "codex": codex, "copilot-cli": copilot_cli, "gemini": gemini,
    "pi": pi,
}  # fmt: skip
READ_ON = ("claude-code", "codex", "copilot-cli", "pi")


def stored(store: Store, report: ImportReport) -> Stored:
    session = store.load(report.key)
    records = store.records(report.key, 0, session.row.entries - 1)
    ids = [one.entry_id for one in records]
    entries = {
        one.entry_id: (ids[one.parent] if one.parent >= 0 else "", *one[2:]) for one in records
    }
    columns = session.tree.columns
    calls = [
        (ids[columns.ops.entry[at]], columns.ops.paths[columns.ops.path[at]])
        for at in range(len(columns.ops.entry))
    ]
    leaf = ids[session.leaf] if session.leaf >= 0 else ""
    return entries, calls, leaf, store.asides(report.key), report.problems, report.asides


@pytest.fixture
def whole(tmp_path: Path) -> Callable[[Path], Stored]:
    def import_whole(path: Path) -> Stored:
        with Store.open(tmp_path / "whole.db") as store:
            return stored(store, store.import_session(open_source(path)))

    return import_whole


@pytest.mark.parametrize("agent", AGENTS)
def test_what_grew_is_stored_as_the_whole_file_is(
    agent: str, tmp_path: Path, whole: Callable[[Path], Stored]
) -> None:
    (tmp_path / "s").mkdir()
    path = AGENTS[agent](tmp_path / "s")
    data = path.read_bytes()
    expected = whole(path)
    start = data.index(b"\n") + 1
    for seed in range(ROUNDS):
        random = Random(f"{agent} {seed}")
        cuts = sorted(random.sample(range(start, len(data)), 8))
        # The first cut is behind a whole line: what is no session yet is not followed.
        cuts = [data.index(b"\n", cuts[0]) + 1, *cuts[1:], len(data)]
        with Store.open(tmp_path / f"grown-{seed}.db") as store:
            file = FollowedFile()
            for stop in sorted(set(cuts)):
                path.write_bytes(data[:stop])
                report = file.read(store, path)
            assert stored(store, report) == expected


@pytest.mark.parametrize("agent", READ_ON)
def test_only_what_was_added_is_read(agent: str, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    path = AGENTS[agent](tmp_path / "s")
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-6]))
    source = open_source(path)
    source.follow()
    before = [one for batch in source.batches() for one in batch]
    path.write_bytes(data)
    grown = source.grown()
    assert grown is not None
    after = [one for batch in grown.batches() for one in batch]
    assert 0 < len(after) < len(before) / 4
    everything = {one.entry_id for batch in open_source(path).batches() for one in batch}
    assert {one.entry_id for one in [*before, *after]} == everything


@pytest.mark.parametrize("agent", READ_ON)
def test_a_file_that_was_changed_otherwise_is_read_anew(
    agent: str, tmp_path: Path, whole: Callable[[Path], Stored]
) -> None:
    (tmp_path / "s").mkdir()
    path = AGENTS[agent](tmp_path / "s")
    data = path.read_bytes()
    half = data.index(b"\n", len(data) // 2) + 1
    changed = data.replace(b"Question 1", b"Question !")
    with Store.open(tmp_path / "grown.db") as store:
        file = FollowedFile()
        path.write_bytes(data[:half])
        file.read(store, path)
        # As long as before or longer, and no longer what was read.
        path.write_bytes(changed)
        report = file.read(store, path)
        assert stored(store, report) == whole(path)
        path.write_bytes(changed[:half])
        report = file.read(store, path)
        assert report.missing > 0 and report.added == 0


def test_what_another_program_imported_meanwhile_is_read_anew(
    tmp_path: Path, whole: Callable[[Path], Stored]
) -> None:
    path = claude_code(tmp_path)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    with Store.open(tmp_path / "grown.db") as store:
        file = FollowedFile()
        path.write_bytes(b"".join(lines[:10]))
        key = file.read(store, path).key
        path.write_bytes(b"".join(lines[:20]))
        store.import_session(open_source(path))
        path.write_bytes(data)
        assert stored(store, file.read(store, path)) == whole(path)
        store.delete(key).result()
        path.write_bytes(data + b"\n")
        report = file.read(store, path)
        assert report.created and stored(store, report)[0] == whole(path)[0]


def test_a_log_that_its_agent_replaced_is_not_added_to_what_was_read(
    tmp_path: Path, whole: Callable[[Path], Stored]
) -> None:
    def push(at: int) -> dict[str, Any]:
        return {"kind": 2, "k": ["requests"], "v": [chat_request(f"q{at}", f"Question {at}")]}

    path = tmp_path / "chat.jsonl"

    def write(*changes: dict[str, Any]) -> None:
        path.write_text("".join(json.dumps(one) + "\n" for one in changes))

    asked = [chat_request(f"q{at}", f"Question {at}") for at in range(8)]
    with Store.open(tmp_path / "grown.db") as store:
        file = FollowedFile()
        write(chat_start(), *map(push, range(8)))
        file.read(store, path)
        # After many changes the log becomes one state, and goes on from there.
        for changes in ((chat_start(*asked),), (chat_start(*asked), push(8)),
                        (chat_start(*asked), push(8), push(9))):  # fmt: skip
            write(*changes)
            report = file.read(store, path)
            assert stored(store, report) == whole(path)
            entries = store.records(report.key, 0, store.load(report.key).row.entries - 1)
            names = [one.facts.preview for one in entries]
            assert names == [f"Question {at}" for at in range(7 + len(changes))]


def names(found: Scan) -> set[str]:
    return {one.found.path.stem for one in found.sessions}


def test_each_change_is_searched_and_other_files_are_not(bench: Workbench, tmp_path: Path) -> None:
    home = tmp_path / "home"
    homes.pi_session(home, "quay-1", "/home/dev/quay")
    watch = SessionWatch(bench.store, Places(home, {}), quiet_s=0.05)

    async def story() -> None:
        async with contextlib.aclosing(watch.scans()) as scans:

            async def until(fits: Callable[[Scan], bool]) -> None:
                async with asyncio.timeout(60):
                    async for found in scans:
                        if fits(found):
                            return

            await until(lambda found: names(found) == {"quay-1"})
            homes.pi_session(home, "fresh", "/home/dev/new", age=None)
            await until(lambda found: names(found) == {"quay-1", "fresh"})
            grown = homes.pi_session(home, "fresh", "/home/dev/new", entries=9, age=None)
            size = grown.stat().st_size
            await until(lambda found: size in [one.found.size for one in found.sessions])
            homes.codex_session(home, 7, "/w")
            watch.look_again()
            await until(lambda found: len(found.sessions) == 3)

    asyncio.run(story())


def test_the_home_itself_is_never_watched(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    (home / ".aider.chat.history.md").write_text("# aider chat started at 2026-01-05 09:00:00\n")
    places = Places(home, {}, (tmp_path / "more",))
    (tmp_path / "more").mkdir()

    async def first() -> Scan:
        async with contextlib.aclosing(SessionWatch(bench.store, places).scans()) as scans:
            async for found in scans:
                return found
        raise AssertionError("nothing was found")

    found = asyncio.run(first())
    assert "aider" in {one.found.format for one in found.sessions}
    folders = folders_of(found, places)
    assert home not in folders and home.parent not in folders
    assert home / ".pi/agent/sessions" in folders, "where the folder of a new project appears"
    assert tmp_path / "more" in folders
