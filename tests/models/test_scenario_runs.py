"""Whole scripted runs, with the real tools, in sessions that are compacted on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest, Approvals
from explorer.agent.turn_interface import TurnResult
from explorer.agent.workspace import Workspace
from explorer.compaction.profile import PROFILES
from explorer.models.client import CancelToken, ModelClient
from explorer.models.offline.scenario import Scenario, next_message, scenario_of
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.session_files import make_sandbox, tools_of
from explorer.session.kinds import Kind
from explorer.settings.effective import effective
from explorer.settings.live import live_settings, project_of
from explorer.store import Store
from explorer.workbench import Workbench

TILL = "offline/scenario-till"


class Run:
    """A scripted run in a session of its own, as the window and the commands play it."""

    def __init__(self, document: Document, scenario: Scenario, root: Path, profile: str) -> None:
        values = live_settings().values(project_of(root))
        rules = EffectiveRules.from_settings(effective(PROFILES[profile], values), values, TILL)
        self.document, self.scenario, self.root = document, scenario, root
        self.said: list[str] = []
        self.summaries: list[str] = []
        self.automatic = AutomaticCompaction(document, lambda: rules)
        self.approvals = Approvals("yes")
        self.tools = tools_of(document, Workspace(root), self.approvals)

    async def say(self, text: str) -> TurnResult:
        return await SessionTurns(
            self.document, TILL, self.tools, CancelToken(), lambda _event: None,
            self.automatic,
        ).say(text)  # fmt: skip

    async def play(self) -> None:
        while message := next_message(self.scenario, self.document.agent.messages()):
            result = await self.say(message)
            assert result.end == "done", result.error

    @property
    def last(self) -> str:
        """What was said at the leaf."""
        return self.document.payloads.shown.entry(self.document.leaf).text

    def read(self) -> None:
        """Keep what is looked at after the database is closed."""
        for at in range(len(self.document.tree)):
            entry, kind = self.document.payloads.shown.entry(at), self.document.tree.kind(at)
            if kind is Kind.ASSISTANT:
                self.said.append(entry.text)
            elif kind is Kind.COMPACTION:
                self.summaries.append(entry.summary)


def play_whole(
    tmp_path: Path, profile: str, work: Callable[[Run], Coroutine[Any, Any, None]] = Run.play
) -> Run:
    scenario = scenario_of(TILL)
    assert scenario is not None
    root = make_sandbox(scenario, tmp_path / "sandboxes")
    client = ModelClient()
    client.use_pace(0)
    with Store.open(tmp_path / "one.db") as store:
        bench = Workbench(store, client)

        async def play_it() -> Run:
            run = Run(await bench.create(root, scenario.title), scenario, root, profile)
            await work(run)
            await run.automatic.prompts.stop()
            run.automatic.close()
            run.read()
            return run

        try:
            return asyncio.run(play_it())
        finally:
            client.close()


@pytest.mark.parametrize("profile", ["explorer", "omp", "copilot"])
def test_a_whole_run_is_compacted_in_the_middle_and_ends_well(tmp_path: Path, profile: str) -> None:
    run = play_whole(tmp_path, profile)
    files = {name: (run.root / name).read_text() for name in ("till/money.py", "till/report.py")}
    assert "all 17 pass" in run.said[-1]
    assert "+ 1" not in files["till/money.py"] and "-price if line.kind" in files["till/report.py"]
    assert (run.root / "tests/test_hours.py").is_file()
    kinds = [run.document.tree.kind(at) for at in range(len(run.document.tree))]
    first = kinds.index(Kind.COMPACTION)
    assert Kind.TOOL_RESULT in kinds[:first] and Kind.TOOL_RESULT in kinds[first:]
    assert any("whole cents" in summary for summary in run.summaries), "what was asked is kept"


class Denies:
    """A person who says no until told otherwise."""

    def __init__(self) -> None:
        self.says: ApprovalAnswer = ApprovalAnswer("deny", note="not now")
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        self.asked.append(request)
        return self.says


def test_a_no_is_respected_and_asked_about_again(tmp_path: Path) -> None:
    person = Denies()

    async def first_turn(run: Run) -> None:
        run.approvals.mode, run.approvals.approver = "ask", person
        await run.say(run.scenario.turns[0].message)
        assert run.last == run.scenario.passages["denied"]
        person.says = ApprovalAnswer("once")
        await run.say("All right, do it.")

    run = play_whole(tmp_path, "explorer", first_turn)
    assert "All 14 tests pass" in run.said[-1]
    assert [request.kind for request in person.asked] == [
        "command", "command", "edit", "command", "edit", "command",
    ]  # fmt: skip


def test_files_that_a_person_changed_are_noticed(tmp_path: Path) -> None:
    async def first_turn(run: Run) -> None:
        money = run.root / "till/money.py"
        money.write_text(money.read_text().replace(" + 1", ""))
        await run.say(run.scenario.turns[0].message)

    run = play_whole(tmp_path, "explorer", first_turn)
    assert run.said[-1] == run.scenario.passages["changed"]
    assert "+ 1" not in (run.root / "till/money.py").read_text()
