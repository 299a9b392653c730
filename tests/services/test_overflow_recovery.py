"""Turns after an overflow or a connection that broke: compacted away, tried again, or ended."""

from __future__ import annotations

from explorer.agent.workspace import Workspace
from explorer.models.client import CancelToken
from explorer.models.retry import Retry
from explorer.session.kinds import Flag, Kind
from tests.models.server import OVERFLOW, Answer, ChatServer, Cut, HttpFailure
from tests.services.automatic_rig import (
    MODEL,
    ROOM,
    SUMMARIZER,
    Desk,
    asked,
    client,
    desk,
    server,
    state,
    wait,
    workspace,
)

__all__ = ["client", "desk", "server", "workspace"]

# overflow ---------------------------------------------------------------------------------------


def test_a10_an_overflow_is_compacted_away_and_the_turn_goes_on(
    desk: Desk, server: ChatServer
) -> None:
    """The refused reply leaves the active path and stays in the log."""
    server.plan(OVERFLOW, Answer(text="There it is.", usage=ROOM), model="test-model")
    result = wait(desk.say("Where is it?"))
    assert (result.end, result.error) == ("done", "")
    (started,), (ended,) = desk.started, desk.ended
    assert (started.trigger, started.retry) == ("overflow", True)
    tree, document = desk.document.tree, desk.document
    question, refused, answer = result.entries
    assert tree.kind(question) is Kind.USER
    assert tree.columns.flags[refused] & Flag.ERROR
    assert tree.columns.parent[refused] == question
    assert tree.columns.parent[ended.entry] == question
    assert tree.columns.parent[answer] == ended.entry
    path = tree.path(document.leaf)
    assert refused not in path
    assert document.payloads.shown.entry(refused).recorded["message"]["errorKind"] == "overflow"
    first, second = asked(server, "test-model")
    assert len(str(second)) < len(str(first)) / 2
    assert second["messages"][-1]["content"] in ("Where is it?", [
        {"type": "text", "text": "Where is it?"}
    ])  # fmt: skip


def test_a10_a_second_overflow_for_one_message_is_told_and_not_tried_again(
    desk: Desk, server: ChatServer
) -> None:
    """A43: one recovery per message of the person; the next message allows another."""
    server.plan(OVERFLOW, model="test-model")
    result = wait(desk.say("Where is it?"))
    assert result.end == "failed"
    assert result.error.startswith("Context overflow recovery failed: ")
    assert len(desk.ended) == 1
    assert len(asked(server, "test-model")) == 2
    server.plan(Answer(text="There.", usage=ROOM), model="test-model")
    assert wait(desk.say("And now?")).end == "done"


def test_e14_a_recovery_that_fails_leaves_the_refused_reply_where_it_was(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(OVERFLOW, model="test-model")
    server.plan(Answer(text=""), model="summary-model")
    result = wait(desk.say("Where is it?"))
    assert result.end == "failed"
    assert result.error.startswith("Context overflow recovery failed: ")
    assert "empty" in result.error
    assert desk.document.leaf == result.entries[-1]
    assert state(desk.document)[3] == result.entries[-1]
    assert len(asked(server, "test-model")) == 1


def test_b14_an_answer_to_more_than_the_window_is_made_again(
    desk: Desk, server: ChatServer
) -> None:
    """The provider dropped the beginning without a word."""
    blind = {"prompt_tokens": 45_001, "completion_tokens": 3, "total_tokens": 45_004}
    server.plan(
        Answer(text="What file?", usage=blind), Answer(text="Port 8431.", usage=ROOM),
        model="test-model",
    )  # fmt: skip
    result = wait(desk.say("Which port?"))
    assert result.end == "done"
    assert [change.trigger for change in desk.ended] == ["overflow"]
    said = [
        str(desk.document.payloads.shown.entry(e))
        for e in desk.document.tree.path(desk.document.leaf)[-3:]
    ]
    assert "Port 8431." in said[-1]
    assert not any("What file?" in one for one in said)


def test_b13_the_overflow_of_another_model_recovers_nothing(desk: Desk, server: ChatServer) -> None:
    """A refused reply that is the leaf counts for the model that gave it only."""
    desk.change(enabled=False)
    server.plan(OVERFLOW, model="test-model")
    wait(desk.say("Where is it?"))
    desk.change(enabled=True)
    refused = desk.document.leaf
    wait(desk.automatic.before_message(SUMMARIZER, CancelToken()))
    assert desk.document.leaf == refused
    assert not desk.started
    wait(desk.automatic.before_message(MODEL, CancelToken()))
    assert [change.trigger for change in desk.ended] == ["overflow"]
    assert desk.document.tree.columns.parent[desk.document.leaf] != refused


def test_a10_calls_keep_their_results_when_a_turn_overflows_in_its_middle(
    desk: Desk, server: ChatServer, workspace: Workspace
) -> None:
    """Many rounds fill a real window; what is sent afterwards is in pairs."""
    desk.workspace = workspace
    calls = [
        Answer(
            text="word " * 900,
            tool_calls=((f"call-{n}", "read", f'{{"path": "ports.txt", "limit": {n + 1}}}'),),
            finish="tool_calls",
            usage=None,
        )
        for n in range(8)
    ]
    server.plan(*calls, Answer(text="Port 8431.", usage=None), model="test-model")
    wait(desk.automatic.compact_now("", MODEL, CancelToken()))
    server.window = 8_000
    desk.told.clear()
    result = wait(desk.say("Which port?"))
    server.window = None
    assert (result.end, result.error) == ("done", "")
    assert [change.trigger for change in desk.ended] == ["overflow"]
    for body in asked(server, "test-model"):
        made: list[str] = []
        for message in body["messages"]:
            made += [call["id"] for call in message.get("tool_calls") or ()]
            if message["role"] == "tool":
                assert message["tool_call_id"] in made
        answered = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
        assert answered == made


# trying again -----------------------------------------------------------------------------------


def test_e12_throttling_that_speaks_of_context_is_waited_out_not_compacted(
    desk: Desk, server: ChatServer
) -> None:
    """A43: with the wait that the provider asked for, told while it lasts."""
    throttled = HttpFailure(
        429, "Too many tokens: maximum context length per minute", retry_after="0.05"
    )
    server.plan(throttled, HttpFailure(503, "busy"), Answer(text="Yes.", usage=ROOM),
                model="test-model")  # fmt: skip
    result = wait(desk.say("Is it done?"))
    assert result.end == "done"
    assert not desk.started
    waits = [event for event in desk.events if isinstance(event, Retry)]
    assert [(one.failed, one.of) for one in waits] == [(1, 3), (2, 3)]
    assert waits[0].wait_s == 0.05
    assert len(result.entries) == 2, "what failed before its first word leaves nothing behind"


def test_an_overflow_is_not_tried_again_as_it_is(desk: Desk, server: ChatServer) -> None:
    """A10: the same request would overflow again."""
    desk.change(enabled=False)
    server.plan(OVERFLOW, model="test-model")
    wait(desk.say("Where is it?"))
    assert len(asked(server, "test-model")) == 1


def test_a_reply_that_broke_off_after_its_first_word_is_kept_and_not_sent(
    desk: Desk, server: ChatServer
) -> None:
    """It is asked for once more, as often as the policy allows."""
    server.plan(Cut(2), Answer(text="Yes.", usage=ROOM), model="test-model")
    result = wait(desk.say("Is it done?"))
    assert result.end == "done"
    assert len(asked(server, "test-model")) == 2
    assert "half an answer" not in str(asked(server, "test-model")[1])
    stops = [
        desk.document.payloads.shown.entry(at).recorded["message"].get("stopReason")
        for at in result.entries
    ]
    assert stops == [None, "error", "stop"]


def test_a_connection_cut_before_the_first_word_is_tried_again(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(Cut(0), Answer(text="Yes.", usage=ROOM), model="test-model")
    assert wait(desk.say("Is it done?")).end == "done"
