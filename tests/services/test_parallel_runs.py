"""One prompt to several models over real HTTP: each on a branch of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.agent.turn_interface import TurnEvent, UserPrompt
from explorer.agent.workspace import Workspace
from explorer.models.client import TextDelta
from explorer.models.request import ImagePart
from explorer.services.agent_turns import ParallelRuns, RunOrder
from explorer.services.document import Document
from explorer.session.branch_difference import compare_branches
from explorer.session.kinds import Flag, Kind
from tests.models.server import Answer, ChatServer, HttpFailure, Stall

ONE, TWO = RunOrder("openai/gpt-4o-mini"), RunOrder("openai/gpt-4o")
PROMPT = "How would you fix it?"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def both(server: ChatServer, one: object, two: object) -> None:
    server.plan(one, model="gpt-4o-mini")  # type: ignore[arg-type]
    server.plan(two, model="gpt-4o")  # type: ignore[arg-type]


def branch(document: Document, runs: ParallelRuns, number: int) -> list[int]:
    path = document.tree.path(runs.runs[number].leaf)
    return path[path.position(runs.start) + 1 :].indices()


def said(document: Document, entry: int) -> str:
    return document.payloads.shown.raw(entry)


def test_each_model_answers_on_a_branch_below_the_same_entry(
    document: Document, server: ChatServer
) -> None:
    both(server, Answer("By waiting."), Answer("By a clock."))
    leaf, told = document.leaf, {0: "", 1: ""}

    def hear(number: int, event: TurnEvent) -> None:
        if isinstance(event, TextDelta):
            told[number] += event.text

    runs = ParallelRuns(document, (ONE, TWO), PROMPT)
    asyncio.run(runs.run(hear))
    assert document.leaf == leaf == document.shared.store.session(document.key).leaf
    assert told == {0: "By waiting.", 1: "By a clock."}
    for number, words in told.items():
        entries = branch(document, runs, number)
        kinds = [document.tree.kind(at) for at in entries]
        assert kinds == [Kind.MODEL_CHANGE, Kind.USER, Kind.ASSISTANT]
        assert words in said(document, entries[-1])
        assert document.tree.columns.parent[entries[0]] == leaf
        assert runs.runs[number].state == "done"
        assert runs.has_answer(number)
    sent = [json.dumps(request["messages"]) for request in server.requests]
    assert len(sent) == 2
    assert all(PROMPT in one for one in sent)
    assert not any("By waiting." in one or "By a clock." in one for one in sent)


def test_both_are_asked_at_once_and_one_is_stopped_alone(
    document: Document, server: ChatServer
) -> None:
    both(server, Stall(after=2, text="I would begin "), Answer("Done."))
    runs = ParallelRuns(document, (ONE, TWO), PROMPT)

    def changed(number: int) -> None:
        # The other has ended while the first still hangs.
        if number == 1 and runs.runs[1].is_over:
            assert runs.runs[0].state == "running"
            runs.stop(0)

    asyncio.run(runs.run(lambda _number, _event: None, changed))
    assert [run.state for run in runs.runs] == ["stopped", "done"]
    flags = document.tree.columns.flags
    assert flags[runs.runs[0].leaf] & Flag.ABORTED
    assert "Done." in said(document, runs.runs[1].leaf)


def test_the_failure_of_one_does_not_hurt_the_other(document: Document, server: ChatServer) -> None:
    both(server, HttpFailure(401, "no such key"), Answer("Done."))
    runs = ParallelRuns(document, (ONE, TWO), PROMPT)
    asyncio.run(runs.run(lambda _number, _event: None))
    assert [run.state for run in runs.runs] == ["failed", "done"]
    assert runs.runs[0].problem
    assert runs.runs[1].problem == ""
    assert document.tree.columns.flags[runs.runs[0].leaf] & Flag.ERROR
    assert runs.has_answer(1)


def test_they_look_into_the_workspace_and_change_nothing(
    document: Document, server: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("answer = 42\n")
    read = Answer("", tool_calls=(("c1", "read", '{"path": "a.py"}'),), finish="tool_calls")
    write = Answer(
        "", tool_calls=(("c2", "write", '{"path": "a.py", "content": ""}'),), finish="tool_calls"
    )
    server.plan(read, Answer("It is 42."), model="gpt-4o-mini")
    server.plan(write, Answer("I cannot."), model="gpt-4o")
    runs = ParallelRuns(document, (ONE, TWO), PROMPT, Workspace(folder))
    asyncio.run(runs.run(lambda _number, _event: None))
    offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert offered == {"read", "ls", "find", "grep"}
    assert (folder / "a.py").read_text() == "answer = 42\n"
    results = [at for at in branch(document, runs, 0) if document.tree.kind(at) is Kind.TOOL_RESULT]
    assert "answer = 42" in said(document, results[0])
    refused = [at for at in branch(document, runs, 1) if document.tree.kind(at) is Kind.TOOL_RESULT]
    assert document.tree.columns.flags[refused[0]] & Flag.ERROR
    assert [run.state for run in runs.runs] == ["done", "done"]


def test_thinking_and_pictures_go_along_and_are_said_on_the_branch(
    document: Document, server: ChatServer
) -> None:
    both(server, Answer("A dot."), Answer("A point."))
    image = ImagePart("image/png", "iVBORw0KGgo=")
    orders = (ONE, RunOrder(TWO.model, "minimal"))
    runs = ParallelRuns(document, orders, UserPrompt("What is this?", (image,)))
    asyncio.run(runs.run(lambda _number, _event: None))
    kinds = [document.tree.kind(at) for at in branch(document, runs, 1)]
    assert kinds[:3] == [Kind.MODEL_CHANGE, Kind.THINKING_LEVEL_CHANGE, Kind.USER]
    assert document.context(runs.runs[1].leaf).thinking_level == "minimal"
    assert all("iVBORw0KGgo=" in json.dumps(one["messages"]) for one in server.requests)


def test_the_branches_can_be_compared_and_one_gone_on_with(
    document: Document, server: ChatServer
) -> None:
    both(server, Answer("By waiting longer."), Answer("By waiting less."))
    runs = ParallelRuns(document, (ONE, TWO), PROMPT)
    asyncio.run(runs.run(lambda _number, _event: None))
    one, two = (run.leaf for run in runs.runs)
    found = compare_branches(document.tree, document.payloads.shown, one, two)
    assert found.ancestor == runs.start
    assert [piece.text for piece in found.left_answer if piece.differs] == ["longer"]
    plan = document.navigation.plan(two)
    assert not plan.leaves_branch
    assert asyncio.run(document.navigation.navigate(plan)) == two


def test_all_are_stopped_when_nobody_waits_any_more(document: Document, server: ChatServer) -> None:
    both(server, Stall(after=1, text="one "), Stall(after=1, text="two "))
    runs = ParallelRuns(document, (ONE, TWO), PROMPT)

    async def begin_and_leave() -> None:
        heard: set[int] = set()
        all_heard = asyncio.Event()

        def hear(number: int, event: TurnEvent) -> None:
            if isinstance(event, TextDelta):
                heard.add(number)
                if len(heard) == 2:
                    all_heard.set()

        task = asyncio.ensure_future(runs.run(hear))
        await all_heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(begin_and_leave())
    assert [run.state for run in runs.runs] == ["stopped", "stopped"]
    assert all(document.tree.columns.flags[run.leaf] & Flag.ABORTED for run in runs.runs)


def test_too_few_models_or_no_words_are_refused(document: Document) -> None:
    with pytest.raises(ValueError, match="2 to 4"):
        ParallelRuns(document, (ONE,), PROMPT)
    with pytest.raises(ValueError, match="Write what"):
        ParallelRuns(document, (ONE, TWO), "  ")
