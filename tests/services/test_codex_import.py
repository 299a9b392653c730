"""Threads of Codex in the database: a segment comes to the thread that is there, and agents come
with the one that started them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from explorer.session.kinds import Kind
from explorer.workbench import Workbench
from tests.formats.codex_rollouts import Rollout, name_of
from tests.formats.test_codex_threads import after, line_of, thread
from tests.pi_json import entry_body


def test_a_revert_after_the_import_comes_as_a_branch(bench: Workbench, tmp_path: Path) -> None:
    first = thread()
    path = first.write(tmp_path)
    key = bench.import_blocking(path).key
    more = after(first, line_of(first, 3)).turn(7).exchange("Other?", "Other.")
    segment = more.write(tmp_path, f"{name_of(1)}_{name_of(7)}", time="11-00-00")
    again = bench.import_blocking(segment)
    assert (again.key, again.differing, again.missing) == (key, 0, 0) and again.added
    assert bench.import_blocking(path).unchanged
    document = bench.open_blocking(key)
    on_path = [document.payloads.shown.entry(at).text for at in document.tree.path(document.leaf)]
    assert "Other?" in on_path and "Two?" not in on_path
    assert [document.tree.kind(at) for at in range(len(document.tree))].count(Kind.USER) == 4


def test_an_agent_comes_with_its_parent(bench: Workbench, tmp_path: Path) -> None:
    parent = Rollout(1).prompt("Review.").call("c7", "spawn_agent").result("c7", name_of(5)).count()
    agent = Rollout(5, source={"subagent": "review"}, parent_thread_id=name_of(1))
    agent.exchange("Go.", "Gone.").write(tmp_path, time="11-00-00")
    bench.import_blocking(parent.write(tmp_path))
    found = {one.session_id: one for one in bench.store.sessions()}
    assert set(found) == {name_of(1), name_of(5)}


def test_the_window_is_the_one_that_the_last_reply_recorded(
    bench: Workbench, tmp_path: Path
) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(40, 2, window=258_400)
    document = bench.open_blocking(bench.import_blocking(made.write(tmp_path)).key)
    assert document.usage.recorded_window == 258_400
    silent = Rollout(2).exchange("One?", "One.")
    other = bench.open_blocking(bench.import_blocking(silent.write(tmp_path)).key)
    assert other.usage.recorded_window == 0, "Codex knows it, the file does not say it"
    asyncio.run(document.writer.append(entry_body("message", message={
        "role": "assistant", "content": "Ours.", "usage": {"totalTokens": 50},
    }), document.leaf))  # fmt: skip
    assert document.usage.recorded_window is None, "our own agent answered last"
