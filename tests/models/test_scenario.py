"""Scripted runs: the files, where a conversation stands in one, and a whole run with real tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest, Approvals
from explorer.agent.turn_interface import TurnResult
from explorer.agent.workspace import Workspace
from explorer.compaction.profile import PROFILES
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ModelClient,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCallReady,
)
from explorer.models.offline.scenario import (
    Scenario,
    ScenarioError,
    next_message,
    play,
    read_scenario,
    scenario_of,
    scenarios,
)
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
SMALL: dict[str, Any] = {
    "title": "Small", "about": "A small one.", "window": 8000, "output_limit": 500,
    "text_pace": 100, "thinking_pace": 200, "pause_s": 0.5,
    "files": {"a.txt": ["one", "two"]},
    "passages": {"odd": "That is odd."},
    "unread": "(I do not read that.)", "waits": "I wait.", "end": "Over.",
    "turns": [
        {"message": "Go.", "replies": [
            {"thinking": "Hm.", "text": "Reading.",
             "calls": [{"tool": "read", "arguments": {"path": "a.txt"}}],
             "expects": [{"call": 0, "has": "two", "lacks": "three", "otherwise": "odd"}]},
            {"text": "Done with it."}]},
        {"message": "More.", "replies": [{"text": ["That was", "all."]}]},
    ],
}  # fmt: skip


def small(tmp_path: Path, **changes: Any) -> Scenario:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(SMALL | changes))
    return read_scenario(file)


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


class Stage:
    """A conversation with a script, the results given by hand."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.messages: list[ChatMessage] = []
        self.naps: list[float] = []

    def person(self, text: str) -> None:
        self.messages.append(ChatMessage("user", text))

    def results(self, *texts: str) -> None:
        calls = self.messages[-1].tool_calls
        for call, text in zip(calls, texts, strict=True):
            self.messages.append(ChatMessage("tool", text, tool_call_id=call.id))

    def events(self, pace: float = 0, stop: Callable[[], bool] = lambda: False) -> list[Event]:
        events: list[Event] = []
        request = ModelRequest(self.scenario.model, tuple(self.messages))
        play(self.scenario, pace, request, events.append, stop, self.naps.append)
        return events

    def reply(self) -> str:
        """The text of the next reply, which the conversation then holds."""
        events = self.events()
        calls = tuple(event.call for event in events if isinstance(event, ToolCallReady))
        self.messages.append(ChatMessage("assistant", text_of(events), calls))
        return text_of(events)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(small(tmp_path))


def test_a_script_is_played_turn_by_turn(stage: Stage) -> None:
    assert next_message(stage.scenario, []) == "Go."
    stage.person("Go.")
    assert stage.reply() == "Reading."
    (call,) = stage.messages[-1].tool_calls
    assert (call.name, call.arguments) == ("read", {"path": "a.txt"})
    assert next_message(stage.scenario, stage.messages) == ""
    stage.results("one\ntwo")
    assert stage.reply() == "Done with it."
    assert next_message(stage.scenario, stage.messages) == "More."
    stage.person("More.")
    assert stage.reply() == "That was\nall."
    assert next_message(stage.scenario, stage.messages) == ""
    stage.person("And now?")
    assert stage.reply() == "Over."


def test_what_came_back_differently_is_said_and_tried_again(stage: Stage) -> None:
    stage.person("Go.")
    stage.reply()
    stage.results("one\nthree")
    assert stage.reply() == "That is odd."
    assert not stage.messages[-1].tool_calls
    first = stage.messages[1].tool_calls[0].id
    stage.person("Once more.")
    assert stage.reply() == "Reading."
    assert stage.messages[-1].tool_calls[0].id != first, "an id must not come twice"
    stage.results("two")
    assert stage.reply() == "Done with it."


def test_a_message_of_ones_own_is_not_pretended_to_be_read(stage: Stage) -> None:
    stage.person("Write me a poem.")
    assert stage.reply() == "(I do not read that.)\n\nReading."
    stage.results("two")
    stage.reply()
    stage.person("Another poem.")
    assert stage.reply() == "(I do not read that.)\n\nThat was\nall."


def test_told_to_go_on_after_a_turn_it_waits(stage: Stage) -> None:
    """Some profiles prompt the agent to go on after a compaction."""
    stage.person("Go.")
    stage.reply()
    stage.results("two")
    stage.reply()
    stage.person("The conversation was compacted a moment ago. Go on.")
    assert stage.reply() == "I wait."
    assert next_message(stage.scenario, stage.messages) == "More."
    stage.person("More.")
    assert stage.reply() == "That was\nall."


def test_after_a_compaction_it_knows_where_it_was(stage: Stage) -> None:
    stage.person("Go.")
    stage.reply()
    stage.results("two")
    summary = ChatMessage("user", "The conversation history before this point was compacted into…")
    stage.messages = [summary, *stage.messages[1:]]
    assert stage.reply() == "Done with it."
    stage.messages = [summary, stage.messages[-1], ChatMessage("user", "More.")]
    assert stage.reply() == "That was\nall."
    stage.messages = [summary, ChatMessage("user", "More.")]
    assert stage.reply() == "That was\nall.", "the message alone tells it too"


def test_the_pace_is_as_written_or_as_told(stage: Stage) -> None:
    stage.person("Go.")
    events = stage.events(pace=1)
    written = 0.5 + len("Hm.") / 200 + len("Reading.") / 100
    assert sum(stage.naps) == pytest.approx(written)
    assert len([event for event in events if isinstance(event, TextDelta)]) == 2
    stage.naps.clear()
    stage.events(pace=4)
    assert sum(stage.naps) == pytest.approx(written / 4)
    stage.naps.clear()
    stage.events(pace=0)
    assert not stage.naps


def test_it_stops_at_once_and_is_not_finished(stage: Stage) -> None:
    stage.person("Go.")
    events = stage.events(pace=1, stop=lambda: len(stage.naps) > 10)
    assert not any(isinstance(event, Finished | ToolCallReady) for event in events)


def test_thinking_is_left_out_where_it_is_switched_off(stage: Stage) -> None:
    stage.person("Go.")
    assert any(isinstance(event, ThinkingDelta) for event in stage.events())
    events: list[Event] = []
    request = ModelRequest(stage.scenario.model, tuple(stage.messages), thinking="off")
    play(stage.scenario, 0, request, events.append, lambda: False)
    assert not any(isinstance(event, ThinkingDelta) for event in events)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"turns": []}, "the file needs a list 'turns'"),
        ({"window": "much"}, "the file needs a number 'window' above 0"),
        ({"title": ""}, "the file needs a text 'title'"),
        ({"files": {"../a": []}}, "'../a' must lie inside the sandbox"),
        ({"files": {"/etc/a": []}}, "'/etc/a' must lie inside the sandbox"),
        ({"files": {"a": "text"}}, "'a' must be a list of lines"),
        ({"passages": {}}, "turn 1, reply 1 names the passage 'odd', which there is not"),
        ({"turns": [{"message": "x", "replies": [{"text": "a"}, {"text": "b"}]}]},
         "turn 1 must end with its only reply without calls"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(ScenarioError, match=r"^small\.json: ") as caught:
        small(tmp_path, **changes)
    assert told in str(caught.value)


def test_patterns_and_calls_that_there_are_not_are_told(tmp_path: Path) -> None:
    turns = json.loads(json.dumps(SMALL["turns"]))
    turns[0]["replies"][0]["expects"][0]["has"] = "("
    with pytest.raises(ScenarioError, match="not valid"):
        small(tmp_path, turns=turns)
    turns[0]["replies"][0]["expects"][0] |= {"has": "x", "call": 1}
    with pytest.raises(ScenarioError, match="expects something of call 1"):
        small(tmp_path, turns=turns)


def test_each_scenario_is_a_model_with_a_plain_label() -> None:
    client = ModelClient()
    infos = {info.id: info for info in client.models()}
    client.close()
    assert scenarios()
    for scenario in scenarios():
        info = infos[scenario.model]
        assert info.offline and info.tools and info.label.endswith("(scripted run, offline)")
        assert (info.window, info.input_price) == (scenario.window, 0.0)
    assert scenario_of("offline/scenario-nothing") is None


def test_a_sandbox_holds_the_files_and_is_always_fresh(explorer_home: Path) -> None:
    scenario = scenario_of(TILL)
    assert scenario is not None
    first, second = make_sandbox(scenario), make_sandbox(scenario)
    assert first != second and first.parent == second.parent
    assert first.is_relative_to(explorer_home)
    for name, text in scenario.files.items():
        assert (first / name).read_bytes() == text.encode()
    values = live_settings().values(project_of(first))
    assert values["compaction.keepRecentTokens"] == 700, "its settings hold as a project's"


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
