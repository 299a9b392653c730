"""What a model is sent at the leaf: every message in a shape that providers take (A6)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from explorer.models.client import ChatMessage, ImagePart, TextPart
from explorer.services.document import Document
from explorer.session.kinds import Kind
from tests.pi_json import entry_body


def said(document: Document, *messages: dict[str, Any]) -> list[ChatMessage]:
    """What is sent of messages that are appended."""
    before = len(document.agent.messages())
    for message in messages:
        asyncio.run(document.writer.append(entry_body("message", message=message), document.leaf))
    return document.agent.messages()[before:]


def reply(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "stopReason": "stop", **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, arguments: Any = None) -> dict[str, Any]:
    return {"type": "toolCall", "id": name, "name": "read", "arguments": arguments}


def result(name: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": name, "content": list(blocks)}


def test_a6_the_summary_in_force_comes_first_in_its_wrapper(document: Document) -> None:
    first = document.agent.messages()[0]
    summary = document.payloads.shown.entry(document.context().compaction).recorded["summary"]
    assert first.role == "user"
    assert first.text == document.shared.templates.compaction_message(summary)


def test_a6_a_branch_summary_is_a_user_message_in_its_wrapper(document: Document) -> None:
    (at, *_) = [
        at for at in range(len(document.tree)) if document.tree.kind(at) is Kind.BRANCH_SUMMARY
    ]
    asyncio.run(document.writer.move_leaf(at))
    told = document.shared.templates.branch_message(
        document.payloads.shown.entry(at).recorded["summary"]
    )
    assert document.agent.messages()[-1] == ChatMessage("user", (TextPart(told),))


def test_a6_a_command_of_the_person_is_a_user_message(document: Document) -> None:
    run = {"role": "bashExecution", "command": "make", "output": "fine", "exitCode": 0}
    (sent,) = said(document, run, run | {"excludeFromContext": True})
    assert sent.role == "user"
    assert "make" in sent.text and "fine" in sent.text


@pytest.mark.parametrize("stop", ["error", "aborted"])
def test_replies_that_failed_are_left_out_with_their_calls(document: Document, stop: str) -> None:
    failed = reply(text("half an"), call("c1", {}), stopReason=stop)
    assert said(document, failed) == []
    assert document.agent.open_calls() == []
    assert said(document, result("c1", text("late"))) == []


def test_calls_of_the_last_reply_are_open_until_they_have_a_result(document: Document) -> None:
    said(document, reply(call("c1", {}), call("c2", {})), result("c1", text("one")))
    assert [one.id for one in document.agent.open_calls()] == ["c2"]


def test_why_the_agent_is_not_done_is_told(document: Document) -> None:
    assert document.agent.unfinished() == ""
    for message, why in (
        ({"role": "user", "content": "Go on."}, "The last message has no answer yet."),
        (reply(call("c1", {})), "The agent was interrupted before its tools ran."),
        (result("c1"), "The agent has not gone on since its tools came to an end."),
        (reply(text("half"), stopReason="aborted"), "The last answer was stopped."),
        (reply(text("half"), stopReason="error"), "The last answer failed."),
        (reply(text("half"), stopReason="length"),
         "The last answer was cut short at its length limit."),
        (reply(text("All.")), ""),
    ):  # fmt: skip
        said(document, message)
        asyncio.run(document.edits.set_label(0, "What is no message changes nothing."))
        assert document.agent.unfinished() == why
        assert document.agent.was_cut_short() == why.endswith("limit.")


def test_calls_and_results_go_in_pairs_or_not_at_all(document: Document) -> None:
    asked = reply(text("I look."), call("c1", {"path": "a"}), call("c2", {"path": "b"}))
    sent = said(document, asked, result("c1", text("one")), result("c9", text("of nobody")))
    assert [(m.role, m.text, [c.id for c in m.tool_calls]) for m in sent] == [
        ("assistant", "I look.", ["c1"]),
        ("tool", "one", []),
    ]
    assert said(document, reply(call("c3", {}))) == []


def test_arguments_that_are_no_object_and_texts_that_are_none_do_no_harm(
    document: Document,
) -> None:
    odd = reply({"type": "text", "text": None}, text("I look."), call("c1", "path=a"))
    sent = said(document, odd, result("c1", text("one")))
    assert (sent[0].text, sent[0].tool_calls[0].arguments) == ("I look.", {})


def test_pictures_are_sent_those_of_results_too(document: Document) -> None:
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    sent = said(
        document,
        {"role": "user", "content": [text("look"), picture]},
        reply(call("c1", {})),
        result("c1", picture),
    )
    assert sent[0].content == (TextPart("look"), ImagePart("image/png", "aGk="))
    assert sent[-1].role == "tool"
    assert sent[-1].content == (ImagePart("image/png", "aGk="),)


def test_messages_of_nothing_are_not_sent(document: Document) -> None:
    nothing: list[dict[str, Any]] = [{"role": "user", "content": ""}, reply(), reply(text(""))]
    assert said(document, *nothing) == []


def test_e11_halves_of_pairs_are_not_sent(document: Document) -> None:
    asked = reply(text("ok \udc00"), call("c1", {}))
    sent = said(
        document, {"role": "user", "content": "a\ud83d"}, asked, result("c1", text("\ud800b"))
    )
    assert [message.text for message in sent] == ["a\ufffd", "ok \ufffd", "\ufffdb"]
