"""Drafts, branch summaries and turns of the agent over real HTTP, through litellm.

Whatever the provider does, the session changes by whole and good answers only, and what was
asked and what came back can be looked up afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from explorer.agent.turn_interface import ToolEnded, ToolStarted, TurnEvent, TurnResult
from explorer.agent.workspace import Workspace
from explorer.compaction.branch_summaries import BranchPreparation
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelInfo,
)
from explorer.models.retry import Patience, RetryPolicy
from explorer.services.agent import system_prompt
from explorer.services.agent_turns import SessionTurns
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.services.navigation import NavigationPlan
from explorer.services.privacy import AskedModels
from explorer.session.kinds import Kind
from explorer.store import DraftRow, Store
from explorer.workbench import Workbench
from tests.models.server import (
    OVERFLOW,
    RATE_LIMIT,
    Answer,
    ChatServer,
    Cut,
    HttpFailure,
    Malformed,
    Plan,
    Stall,
)
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE, Clock

T = TypeVar("T")
MODEL = "openai/test-model"
EXPLORER = PROFILES["explorer"]
SETTINGS = replace(Settings.of(EXPLORER), keep_recent_tokens=5000)
GOOD = (
    "## Goal\nMake the retry test reliable.\n\n## Constraints & Preferences\n- (none)\n\n"
    "## Progress\n### Done\n- [x] It is reliable.\n\n## Key Decisions\n- (none)\n\n"
    "## Next Steps\n1. Ship it.\n\n## Critical Context\n- (none)"
)
BOTH = GOOD + (
    "\n\n## Original Request\nRun it.\n\n## Early Progress\n- Ran."
    "\n\n## Context for Suffix\n- None."
)

# What a provider can do, and a part of what the person is told of it.
FAILURES = {
    "cut off as if it were whole": (Cut(2), "before the answer was complete"),
    "cut off in the middle of a chunk": (Cut(2, clean=False), ""),
    "cut off before the first word": (Cut(0), "before the answer was complete"),
    "a line that is not JSON": (Malformed(), ""),
    "no finish reason": (Answer(finish=None, done_line=False), "before the answer was complete"),
    "rate limit": (RATE_LIMIT, "The provider asks to wait 7 seconds."),
    "server error": (HttpFailure(500, "it fell over"), "it fell over"),
    "unavailable": (HttpFailure(503, "come back later"), "come back later"),
    "no key": (HttpFailure(401, "who are you"), "who are you"),
    "overflow": (OVERFLOW, "maximum context length is 8192 tokens"),
    "a page instead of an answer": (HttpFailure(502, raw_body="<html>bad gateway</html>"), ""),
    "filtered": (Answer(finish="content_filter"), "content filter"),
}
BAD_ANSWERS: dict[str, tuple[Plan, str]] = {
    "empty": (Answer(text=""), "empty"),
    "blank": (Answer(text=" \n "), "empty"),
    "cut short at its limit": (Answer(text=GOOD, finish="length"), "cut short"),
    "a call instead of an answer": (
        Answer(text="", tool_calls=(("1", "ls", "{}"),), finish="tool_calls"),
        "called a tool",
    ),
    "a call with broken arguments": (
        Answer(text="", tool_calls=(("1", "ls", '{"path": '),), finish="tool_calls"),
        "called a tool",
    ),
}
BAD = FAILURES | BAD_ANSWERS


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    """One client for all tests: litellm takes seconds to import."""
    config = ModelClientConfig(
        models=(ModelInfo(MODEL, "test", 200_000, 700),),
        api_base=server.url,
        timeout_s=20,
        idle_timeout_s=20,
    )
    opened = ModelClient(config)
    yield opened
    opened.close()


@pytest.fixture
def bench(server: ChatServer, client: ModelClient, database: Path) -> Iterator[Workbench]:
    server.plan(Answer(text=GOOD))
    server.requests.clear()
    server.gone.clear()
    server.started.clear()
    made = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    yield made
    made.store.close()


@pytest.fixture
def document(bench: Workbench) -> Document:
    return bench.open_blocking(bench.import_blocking(SAMPLE).key)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def order(cancel: CancelToken | None = None, said: list[str] | None = None) -> SummaryOrder:
    def on_text(purpose: str, text: str) -> None:
        if said is not None:
            said.append(f"{purpose}: {text}")

    once = Patience(RetryPolicy(tries=1))
    return SummaryOrder("Name every port.", MODEL, on_text, cancel or CancelToken(), patience=once)


def compaction(document: Document) -> Partition:
    """A compaction that makes one request."""
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    assert isinstance(shown.preparation, Preparation)
    if not shown.preparation.is_split_turn:
        return shown
    return document.compaction.preview(None, EXPLORER, SETTINGS, cut=shown.preparation.turn_start)


def split(document: Document) -> Partition:
    """A compaction whose cut falls inside a turn: two requests."""
    for cut in reversed(document.compaction.preview(None, EXPLORER, SETTINGS).valid_cuts):
        shown = document.compaction.preview(None, EXPLORER, SETTINGS, cut=cut)
        prepared = shown.preparation
        if isinstance(prepared, Preparation) and prepared.turn_prefix and prepared.history:
            return shown
    raise AssertionError("no cut of the sample splits a turn")


def leaving(document: Document) -> tuple[NavigationPlan, BranchPreparation]:
    """A branch that is left for a reply some way up."""
    target = document.tree.path(document.leaf)[-30]
    while document.tree.kind(target) is not Kind.ASSISTANT:
        target = document.tree.columns.parent[target]
    plan = document.navigation.plan(target)
    return plan, document.branches.preparation(plan, EXPLORER, SETTINGS)


def state(document: Document) -> tuple[Any, ...]:
    """All that a failure must leave as it was, as it is and as it is stored."""
    stored = document.shared.store.load(document.key)
    same = list(stored.tree.columns.ids) == list(document.tree.columns.ids)
    return (
        len(document.tree),
        document.leaf,
        document.context().messages,
        stored.leaf,
        same,
        document.drafts.waiting(),
    )


def last_draft(document: Document) -> DraftRow:
    return document.shared.store.drafts(document.key)[-1]


def sent(server: ChatServer) -> list[list[tuple[str, Any]]]:
    """Role and content of each message of each request that arrived."""
    return [[(m["role"], m.get("content")) for m in body["messages"]] for body in server.requests]


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


# a compaction -----------------------------------------------------------------------------------


def test_a22_what_is_recorded_is_what_went_over_the_wire(
    document: Document, server: ChatServer
) -> None:
    shown = compaction(document)
    (request,) = document.compaction.requests(shown, "Name every port.", MODEL)
    said: list[str] = []
    made = wait(document.compaction.summarize(shown, order(said=said)))
    (body,) = server.requests
    assert sent(server) == [[("system", request.system), ("user", request.prompt)]]
    assert body["model"] == "test-model"
    assert body["max_tokens"] == request.max_output_tokens == 700  # E19: the model's own limit
    assert (body["temperature"], body["stream"]) == (0.0, True)
    (recorded,) = last_draft(document).requests
    assert recorded["purpose"] == "history"
    assert [(m["role"], m["content"]) for m in recorded["request"]["messages"]] == sent(server)[0]
    assert recorded["request"]["max_output_tokens"] == body["max_tokens"]
    assert "".join(piece.removeprefix("history: ") for piece in said) == GOOD
    assert made.summary.startswith(GOOD)
    (answer,) = last_draft(document).answers
    assert (answer["text"], answer["stop_reason"]) == (GOOD, "stop")
    assert (answer["usage"]["input"], answer["usage"]["output"]) == (11, 7)
    assert answer["usage"]["source"] == "provider"
    assert answer["elapsed_ms"] > 0
    assert last_draft(document).status == "done"


def test_a30_the_committed_answer_is_what_the_next_request_starts_with(
    document: Document, server: ChatServer
) -> None:
    """A6: the summary goes to the model in its wrapper, then what was kept, then what followed."""
    made = wait(document.compaction.summarize(compaction(document), order()))
    index = wait(document.compaction.commit(made))
    server.requests.clear()
    server.plan(Answer(text="Yes."))
    wait(talk(document, "Is it done?"))
    (messages,) = sent(server)
    wrapped = document.shared.templates.compaction_message(made.summary)
    assert messages[0] == ("system", system_prompt(document.shared.agent_prompt, None))
    assert (messages[1][0], text_of(messages[1][1])) == ("user", wrapped)
    assert text_of(messages[-1][1]) == "Is it done?"
    kept = document.tree.index_of(made.first_kept_id)
    assert document.context().messages[:2] == [index, kept]
    assert document.tree.columns.parent[index] == made.leaf


def test_a27_the_next_compaction_sends_the_summary_before_it(
    document: Document, server: ChatServer
) -> None:
    before = document.tree.path(document.leaf)
    at = max(entry for entry in before if document.tree.kind(entry) is Kind.COMPACTION)
    wait(document.compaction.summarize(compaction(document), order()))
    ((_, (_, prompt)),) = sent(server)
    first = str(document.payloads.shown.entry(at).recorded["summary"]).splitlines()[0]
    assert f"<previous-summary>\n{first}" in prompt
    assert document.shared.templates.sections["explorer"].history_update in prompt
    assert document.shared.templates.sections["explorer"].history_first not in prompt


@pytest.mark.parametrize("name", BAD)
def test_b12_e14_a_bad_answer_changes_nothing_and_is_recorded(
    document: Document, server: ChatServer, name: str
) -> None:
    plan, told = BAD[name]
    before = state(document)
    server.plan(plan)
    with pytest.raises(DraftFailed) as failed:
        wait(document.compaction.summarize(compaction(document), order()))
    assert told in str(failed.value)
    assert state(document) == before
    row = last_draft(document)
    assert (row.status, row.problem) == ("failed", str(failed.value))
    assert row.requests[0]["request"]["messages"]
    if name in BAD_ANSWERS:
        assert row.answers[0]["stop_reason"]
    # And the next try is a try like the first.
    server.plan(Answer(text=GOOD))
    made = wait(document.compaction.summarize(compaction(document), order()))
    assert document.leaf == before[1]
    index = wait(document.compaction.commit(made))
    assert document.tree.columns.parent[index] == before[1]


def test_e12_a_rate_limit_is_no_overflow(document: Document, server: ChatServer) -> None:
    kinds = []
    for plan in (RATE_LIMIT, OVERFLOW):
        server.plan(plan)
        with pytest.raises(DraftFailed) as failed:
            wait(document.compaction.summarize(compaction(document), order()))
        cause = failed.value.__cause__
        assert isinstance(cause, ModelError)
        kinds.append((cause.kind, cause.retry_after_s))
    assert kinds == [("rate_limit", 7.0), ("overflow", None)]


def test_e16_an_answer_larger_than_what_it_replaces_is_refused(
    document: Document, server: ChatServer
) -> None:
    before = state(document)
    server.plan(Answer(text="word " * 60_000))
    with pytest.raises(DraftFailed, match="nothing is gained"):
        wait(document.compaction.summarize(compaction(document), order()))
    assert state(document) == before


def test_missing_usage_is_told_as_an_estimate(document: Document, server: ChatServer) -> None:
    server.plan(Answer(text=GOOD, usage=None))
    made = wait(document.compaction.summarize(compaction(document), order()))
    (answer,) = last_draft(document).answers
    assert answer["usage"] is None or answer["usage"]["source"] == "estimate"
    wait(document.compaction.commit(made))


@pytest.mark.parametrize("how", ["token", "task"])
def test_a43_e21_a_cancelled_draft_hangs_up_and_changes_nothing(
    document: Document, server: ChatServer, how: str
) -> None:
    before = state(document)
    server.plan(Stall(after=2))

    async def give_up() -> None:
        cancel = CancelToken()
        task = asyncio.ensure_future(
            document.compaction.summarize(compaction(document), order(cancel))
        )
        await asyncio.to_thread(server.started.wait, 20)
        await asyncio.sleep(0.1)
        if how == "token":
            cancel.cancel()
        else:
            task.cancel()
        with pytest.raises(Cancelled if how == "token" else asyncio.CancelledError):
            await task

    wait(give_up())
    assert server.gone.wait(10), "the connection was let go"
    assert state(document) == before
    assert last_draft(document).status == "cancelled"
    assert document.shared.client.running == 0
    server.plan(Answer(text=GOOD))
    assert wait(document.compaction.summarize(compaction(document), order())).status == "done"


def test_a20_the_two_requests_of_a_split_turn_run_at_the_same_time(
    document: Document, server: ChatServer
) -> None:
    """Both stall: only requests that do not wait for each other both arrive."""
    server.plan(Stall(after=1))
    shown = split(document)

    async def both() -> None:
        cancel = CancelToken()
        task = asyncio.ensure_future(document.compaction.summarize(shown, order(cancel)))
        for _ in range(400):
            if len(server.requests) == 2:
                break
            await asyncio.sleep(0.05)
        arrived = len(server.requests)
        cancel.cancel()
        with pytest.raises(Cancelled):
            await task
        assert arrived == 2

    wait(both())


def test_a20_the_answers_of_a_split_turn_are_merged_and_one_failure_fails_both(
    document: Document, server: ChatServer
) -> None:
    shown, before = split(document), state(document)
    for plans in ((Answer(text=GOOD), RATE_LIMIT), (Stall(after=1), RATE_LIMIT)):
        server.plan(*plans)
        with pytest.raises(DraftFailed):
            wait(document.compaction.summarize(shown, order()))
        assert state(document) == before
        assert last_draft(document).status == "failed"
    server.requests.clear()
    server.plan(Answer(text=BOTH))  # the sections of either
    made = wait(document.compaction.summarize(shown, order()))
    second = BOTH.replace("- [x] It is reliable.", "- (none)")
    assert second != BOTH, "what the first says already"
    assert made.summary.startswith(f"{BOTH}\n\n---\n\n**Turn Context (split turn):**\n\n{second}")
    assert all("Name every port." in text_of(m[-1][1]) for m in sent(server))  # E9


def test_a_client_that_is_closed_fails_the_draft(bench: Workbench, document: Document) -> None:
    closed = ModelClient(ModelClientConfig())
    closed.close()
    document.models = AskedModels(
        closed, document.shared.privacy, document.shared.store, document.row
    )
    before = state(document)
    with pytest.raises(DraftFailed, match="closed"):
        wait(document.compaction.summarize(compaction(document), order()))
    assert state(document) == before


# a branch ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cut off as if it were whole", "overflow", "empty"])
def test_a37_a_branch_summary_that_fails_leaves_the_leaf_where_it_is(
    document: Document, server: ChatServer, name: str
) -> None:
    plan, prepared = leaving(document)
    before = state(document)
    server.plan(BAD[name][0])
    with pytest.raises(DraftFailed):
        wait(document.branches.summarize(plan, prepared, order()))
    assert state(document) == before
    assert (last_draft(document).kind, last_draft(document).status) == ("branch", "failed")


def test_a37_escape_during_a_branch_summary_cancels_the_navigation(
    document: Document, server: ChatServer
) -> None:
    plan, prepared = leaving(document)
    before = state(document)
    server.plan(Stall(after=1))

    async def escape() -> None:
        cancel = CancelToken()
        work = document.branches.summarize(plan, prepared, order(cancel))
        task = asyncio.ensure_future(work)
        await asyncio.to_thread(server.started.wait, 20)
        cancel.cancel()
        with pytest.raises(Cancelled):
            await task

    wait(escape())
    assert state(document) == before
    assert last_draft(document).status == "cancelled"


def test_a33_a34_a35_a_branch_summary_over_http(document: Document, server: ChatServer) -> None:
    old = document.leaf
    plan, prepared = leaving(document)
    made: Draft = wait(document.branches.summarize(plan, prepared, order()))
    (body,) = server.requests
    assert body["max_tokens"] == 700
    assert document.shared.templates.sections["explorer"].branch in sent(server)[0][1][1]
    assert document.leaf == old
    with pytest.raises(ValueError, match="make a new one"):
        wait(document.compaction.commit(made))
    index = wait(document.navigation.navigate(plan, made))
    entry = document.payloads.shown.entry(index).recorded
    assert entry["fromId"] == document.tree.columns.ids[old]
    assert entry["parentId"] == document.tree.columns.ids[plan.new_leaf]
    assert str(entry["summary"]).startswith(
        f"{document.shared.templates.branch_preamble}\n\n{GOOD}"
    )
    server.requests.clear()
    wait(talk(document, "go on"))
    told = document.shared.templates.branch_message(entry["summary"])
    assert text_of(sent(server)[0][-2][1]) == told  # A6


# the agent --------------------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    root.mkdir()
    (root / "ports.txt").write_text("The server listens on 8431.\n")
    (root / "notes.md").write_text("Never use 80.\n")
    return Workspace(root)


async def talk(
    document: Document,
    text: str,
    workspace: Workspace | None = None,
    cancel: CancelToken | None = None,
    events: list[TurnEvent] | None = None,
) -> TurnResult:
    on_event = events.append if events is not None else lambda event: None
    token, once = cancel or CancelToken(), RetryPolicy(tries=1)
    return await SessionTurns(document, MODEL, workspace, token, on_event, retry=once).say(text)


def messages(document: Document, entries: tuple[int, ...]) -> list[dict[str, Any]]:
    return [dict(document.payloads.shown.entry(entry).recorded["message"]) for entry in entries]


def test_a_turn_with_parallel_calls(
    document: Document, server: ChatServer, workspace: Workspace
) -> None:
    calls = (
        ("call-a", "read", '{"path": "ports.txt"}'),
        ("call-b", "ls", '{"path": "."}'),
        ("call-c", "read", '{"path": "missing.txt"}'),
    )
    server.plan(
        Answer(text="Let me look.", tool_calls=calls, finish="tool_calls", thinking="hm"),
        Answer(text="Port 8431."),
    )
    events: list[TurnEvent] = []
    before = document.leaf
    result = wait(talk(document, "Which port?", workspace, events=events))
    assert (result.end, result.error, len(result.entries)) == ("done", "", 6)
    stored = messages(document, result.entries)
    roles = [message["role"] for message in stored]
    assert roles == ["user", "assistant", "toolResult", "toolResult", "toolResult", "assistant"]
    assert [m["toolCallId"] for m in stored[2:5]] == ["call-a", "call-b", "call-c"]
    assert "8431" in stored[2]["content"][0]["text"]
    assert "notes.md" in stored[3]["content"][0]["text"]
    assert [m["isError"] for m in stored[2:5]] == [False, False, True]
    assert stored[1]["stopReason"] == "toolUse"
    assert [b["type"] for b in stored[1]["content"]] == ["thinking", "text", *["toolCall"] * 3]
    assert stored[1]["usage"]["totalTokens"] == 18
    # One chain from where the leaf was, by way of the change of model, and the leaf at its end.
    parents = [document.tree.columns.parent[entry] for entry in result.entries]
    assert parents == [before + 1, *result.entries[:-1]]
    assert document.tree.kind(before + 1) is Kind.MODEL_CHANGE
    assert document.tree.columns.parent[before + 1] == before
    assert document.leaf == result.entries[-1]
    # The second request holds each call with its result.
    again = server.requests[1]["messages"]
    asked = next(m for m in reversed(again) if m["role"] == "assistant")
    assert [c["id"] for c in asked["tool_calls"]] == ["call-a", "call-b", "call-c"]
    results = [m for m in again if m["role"] == "tool"][-3:]
    assert [m["tool_call_id"] for m in results] == ["call-a", "call-b", "call-c"]
    offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert {"read", "ls"} <= offered
    assert offered.isdisjoint({"write", "edit", "bash"})
    started = [e.call.id for e in events if isinstance(e, ToolStarted)]
    ended = [e.call.id for e in events if isinstance(e, ToolEnded)]
    assert started == sorted(ended) == ["call-a", "call-b", "call-c"], "side by side"


def test_malformed_arguments_are_told_to_the_model_and_the_turn_goes_on(
    document: Document, server: ChatServer, workspace: Workspace
) -> None:
    calls = (("call-a", "read", '{"path": '), ("call-b", "read", '{"path": "ports.txt"}'))
    server.plan(
        Answer(text="I look.", tool_calls=calls, finish="tool_calls"), Answer(text="Port 8431.")
    )
    result = wait(talk(document, "Which port?", workspace))
    assert (result.end, result.error) == ("done", "")
    _, reply, broken, fine, _ = messages(document, result.entries)
    assert reply["content"][1]["arguments"] == {}
    assert reply["content"][1]["malformedArguments"] == '{"path": '
    assert (broken["isError"], fine["isError"]) == (True, False)
    told = broken["content"][0]["text"]
    assert "not JSON: Expecting value at character 10 of 9" in told and '{"path": ' in told
    sent_calls = server.requests[1]["messages"][-3]["tool_calls"]
    assert [each["function"]["arguments"] for each in sent_calls] == ["{}", '{"path": "ports.txt"}']


def test_e7_a_turn_without_usage_is_counted_by_the_estimate(
    document: Document, server: ChatServer
) -> None:
    before = document.tokens.context_size(EXPLORER).tokens
    server.plan(Answer(text="word " * 400, usage=None))
    wait(talk(document, "Say much."))
    size = document.tokens.context_size(EXPLORER)
    assert size.tokens >= before + 400
    assert size.usage_tokens == document.tree.columns.usage[_last_reported(document)]


def _last_reported(document: Document) -> int:
    usage = document.tree.columns.usage
    return [entry for entry in document.context().messages if usage[entry] > 0][-1]


def test_a7_the_usage_of_the_last_reply_is_the_size_of_the_context(
    document: Document, server: ChatServer
) -> None:
    usage = {"prompt_tokens": 5000, "completion_tokens": 70, "total_tokens": 5070}
    server.plan(Answer(text="counted", usage=usage))
    wait(talk(document, "Count."))
    size = document.tokens.context_size(EXPLORER)
    assert (size.tokens, size.source) == (5070, "provider")


def test_e11_a_session_with_half_an_emoji_is_summarized_and_talked_about(
    document: Document, server: ChatServer
) -> None:
    half = {"role": "user", "content": f"Keep \ud83d in mind. {'word ' * 4000}"}
    wait(document.writer.append(entry_body("message", message=half), document.leaf))
    wait(document.writer.append(entry_body("message", message=half), document.leaf))
    made = wait(document.compaction.summarize(compaction(document), order()))
    assert "Keep \ufffd in mind." in sent(server)[0][1][1]
    wait(document.compaction.commit(made, "an edit \ud83d of a person"))
    assert wait(talk(document, "And \udc00 now?")).end == "done"
    assert text_of(sent(server)[-1][-1][1]) == "And \ufffd now?"
