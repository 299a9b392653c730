"""What is shown as the context is what a provider receives, message by message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.commands.entries import message_json
from explorer.compaction.profile import PROFILES
from explorer.models.client import EXTRACTIVE, CancelToken, ModelClient, ModelClientConfig
from explorer.services.agent import outgoing_of
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.sent_context import OVER_BUDGET, SentContext, sent_context, why_unsent
from explorer.store import Store
from explorer.workbench import Workbench
from tests.compaction.sessions import Session
from tests.models.server import Answer, ChatServer
from tests.services.clock import Clock

MODEL = "openai/test-model"
PIXEL = {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}
SIGNED = {"type": "thinking", "thinking": "signed", "thinkingSignature": "c2ln"}
UNSIGNED = {"type": "thinking", "thinking": "unsigned thoughts"}
TEXT = {"type": "text", "text": "said"}
BLOCKS = st.lists(
    st.sampled_from(["text", "blank", "signed", "unsigned", "call", "call"]), max_size=4
)
MESSAGES = st.one_of(
    st.tuples(st.just("user"), st.sampled_from(["text", "blank", "picture"])),
    st.tuples(
        st.just("reply"), BLOCKS, st.sampled_from(["stop", "stop", "error", "aborted", "length"]),
        st.sampled_from(["test-model", "other-model"]),
    ),
    st.tuples(st.just("result"), st.sampled_from(["text", "blank", "picture"]), st.integers(0, 2)),
    st.tuples(st.just("bash"), st.booleans()),
    st.tuples(st.just("note"), st.just("")),
    st.tuples(st.just("compaction"), st.integers(0, 5)),
)  # fmt: skip


def content_of(what: str) -> list[dict[str, Any]]:
    return {
        "text": [TEXT],
        "blank": [{"type": "text", "text": " \n"}],
        "picture": [TEXT, PIXEL],
    }[what]


def lines_of(steps: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """A session of pi with these steps, one below the other."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-02T08:00:00.000Z",
         "cwd": "/work"},
    ]  # fmt: skip
    calls: list[str] = []

    def add(entry: dict[str, Any]) -> None:
        at = len(lines)
        lines.append(
            {"id": f"{at:08x}", "parentId": f"{at - 1:08x}" if at > 1 else None,
             "timestamp": "2026-03-02T08:00:00.000Z", **entry}
        )  # fmt: skip

    def message(**value: Any) -> None:
        add({"type": "message", "message": {"timestamp": 1772438400000, **value}})

    message(role="user", content=[TEXT])
    for step in steps:
        match step:
            case ("user", what):
                message(role="user", content=content_of(what))
            case ("reply", blocks, stop, model):
                content: list[dict[str, Any]] = []
                for block in blocks:
                    if block == "call":
                        calls.append(f"c{len(lines)}.{len(content)}")
                        content.append({"type": "toolCall", "id": calls[-1], "name": "read",
                                        "arguments": {"path": "a.py"}})  # fmt: skip
                    else:
                        known = {"signed": [SIGNED], "unsigned": [UNSIGNED]}
                        content += known[block] if block in known else content_of(block)
                message(role="assistant", content=content, stopReason=stop, provider="openai",
                        model=model, api="anthropic-messages")  # fmt: skip
            case ("result", what, back):
                call = calls[-1 - back] if back < len(calls) else "nobody-called"
                message(role="toolResult", toolCallId=call, toolName="read",
                        content=content_of(what), isError=False)  # fmt: skip
            case ("bash", excluded):
                message(role="bashExecution", command="ls", output="a.py", exitCode=0,
                        cancelled=False, truncated=False, excludeFromContext=excluded)  # fmt: skip
            case ("note", _):
                add({"type": "custom_message", "customType": "x", "content": "a note",
                     "display": True})  # fmt: skip
            case ("compaction", back):
                kept = max(1, len(lines) - 1 - back)
                add({"type": "compaction", "summary": "All that was.", "tokensBefore": 9,
                     "firstKeptEntryId": f"{kept:08x}"})  # fmt: skip
    return lines


@contextmanager
def opened(folder: Path, steps: list[tuple[Any, ...]]) -> Iterator[Document]:
    """A session of these steps."""
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines_of(steps)))
    client = ModelClient()
    bench = Workbench(Store.open(folder / "s.db"), client, clock_ms=Clock())
    try:
        yield bench.open_blocking(bench.import_blocking(path).key)
    finally:
        client.close()
        bench.store.close()


def received(message: dict[str, Any]) -> dict[str, Any]:
    """A message of a chat completion, in the words of the command."""
    content = message.get("content") or ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    calls = message.get("tool_calls") or []
    return {
        "role": message["role"],
        "text": "\n\n".join(part["text"] for part in parts if part["type"] == "text"),
        "pictures": sum(part["type"] == "image_url" for part in parts),
        "calls": [
            {"id": call["id"], "name": call["function"]["name"],
             "arguments": json.loads(call["function"]["arguments"])}
            for call in calls
        ],
        "answers": message.get("tool_call_id"),
        "thinking": [part["thinking"] for part in message.get("thinking_blocks") or ()],
    }  # fmt: skip


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[ChatServer, ModelClient]]:
    with ChatServer() as server:
        client = ModelClient(ModelClientConfig(api_base=server.url, timeout_s=20))
        yield server, client
        client.close()


async def asked(document: Document, profile_name: str) -> tuple[SentContext, Document]:
    """Send a message, go back to it, and see what is shown as sent there."""
    profile = PROFILES[profile_name]
    rules = EffectiveRules.of(profile, EXTRACTIVE)
    automatic = AutomaticCompaction(document, lambda: rules)
    try:
        result = await SessionTurns(
            document, MODEL, None, CancelToken(), lambda _event: None, automatic
        ).say("And now?")
    finally:
        automatic.close()
    assert result.end == "done", result.error
    reply = document.leaf
    await document.writer.move_leaf(document.tree.columns.parent[reply])
    outgoing = outgoing_of(document.shared.agent_prompt, MODEL, None)
    return sent_context(document, profile, outgoing), document


@settings(max_examples=25, deadline=None)
@given(st.lists(MESSAGES, max_size=12), st.sampled_from([*PROFILES]))
def test_what_is_shown_is_what_the_provider_receives(
    place: tuple[ChatServer, ModelClient], steps: list[tuple[Any, ...]], profile: str
) -> None:
    server, client = place
    server.forget()
    server.plan(Answer(text="Here."))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines_of(steps)))
        bench = Workbench(Store.open(Path(folder) / "s.db"), client, clock_ms=Clock())
        try:
            document = bench.open_blocking(bench.import_blocking(path).key)
            shown, document = asyncio.run(asked(document, profile))
        finally:
            bench.store.close()
    there = [received(one) for one in server.requests[-1]["messages"] if one["role"] != "system"]
    told = [message_json(one) for one in shown.messages]
    # The words of chat completions have no place for thinking: the provider's library may drop it.
    assert [one | {"thinking": []} for one in told] == [one | {"thinking": []} for one in there]
    pairs = zip(told, there, strict=True)
    assert all(sent["thinking"] in ([], one["thinking"]) for one, sent in pairs)
    context = document.context()
    sources = {one.source for one in shown.messages}
    assert set(shown.unsent) == set(context.messages) - sources
    assert all(shown.unsent.values())


def test_every_change_is_named_and_counted_as_it_is_sent(tmp_path: Path) -> None:
    steps: list[tuple[Any, ...]] = [
        ("reply", ["unsigned", "text", "call", "call"], "stop", "test-model"),
        ("result", "picture", 0),
        ("reply", ["text"], "aborted", "test-model"),
        ("reply", ["unsigned"], "stop", "test-model"),
        ("result", "text", 5),
    ]
    with opened(tmp_path, steps) as document:
        outgoing = outgoing_of(document.shared.agent_prompt, MODEL, None)
        shown = sent_context(document, PROFILES["explorer"], outgoing)
        blind = sent_context(document, PROFILES["explorer"], replace(outgoing, pictures=False))
    assert [(one.role, one.source) for one in shown.messages] == [
        ("user", 0), ("assistant", 1), ("tool", 2), ("user", 2),
    ]  # fmt: skip
    assert "thinking is not sent" in shown.changed[1]
    assert "Calls without a result" in shown.changed[1]
    assert "picture follows" in shown.changed[2]
    assert "stopped" in shown.unsent[3]
    assert "without text or call" in shown.unsent[4]
    assert "Its call is not sent" in shown.unsent[5]
    # An entry has its one figure; what is sent of it is named.
    assert shown.tokens == (*(document.tokens.shown_tokens(at) for at in (0, 1, 2)), 0)
    # "said", "read" and {"path":"a.py"}: 23 units, of the call that has a result.
    assert shown.changed[1].endswith("It is sent with 6 tokens.")
    assert "no pictures" in blind.changed[2]
    assert [one.role for one in blind.messages] == ["user", "assistant", "tool"]


def test_signed_thinking_counts_in_what_is_sent_of_a_reply(tmp_path: Path) -> None:
    steps: list[tuple[Any, ...]] = [
        ("reply", ["signed", "text", "call", "call"], "stop", "test-model"), ("result", "text", 0),
    ]  # fmt: skip
    with opened(tmp_path, steps) as document:
        outgoing = outgoing_of(document.shared.agent_prompt, MODEL, None)
        shown = sent_context(document, PROFILES["explorer"], outgoing)
    # "signed", "said", "read" and {"path":"a.py"}: 29 units.
    assert shown.changed == {1: "Calls without a result are not sent. It is sent with 8 tokens."}


def test_prompts_of_a_budget_are_rendered_for_the_window_that_is_given(tmp_path: Path) -> None:
    profile = PROFILES["copilot"]
    assert profile.context_window > 100_000
    with opened(tmp_path, [("user", "text")] * 2_000) as document:
        outgoing = outgoing_of(document.shared.agent_prompt, MODEL, None)
        whole, some = (
            sent_context(document, profile, outgoing, window=size) for size in (None, 1_500)
        )
    assert len(whole.messages) == 2_001 > len(some.messages) > 0
    assert set(some.unsent.values()) == {OVER_BUDGET} and not whole.unsent


def unsent(add: Callable[[Session], int], profile: str = "explorer") -> str:
    session = Session()
    made = cast(Document, SimpleNamespace(tree=session.tree))
    return why_unsent(made, add(session), PROFILES[profile])


@pytest.mark.parametrize(
    ("add", "why", "rendered"),
    [
        (lambda one: one.reply(stop="aborted"), "A reply that was stopped: it is not sent.", ""),
        (lambda one: one.reply(stop="error"), "A reply that failed: it is not sent.", ""),
        (lambda one: one.reply(text=""), "A reply without text or call: it is not sent.", ""),
        (lambda one: one.reply(text="", calls=[("read", "a")]),
         "None of its calls has a result here: it is not sent.", OVER_BUDGET),
        (lambda one: one.reply(), "None of its calls has a result here: it is not sent.",
         OVER_BUDGET),
        (lambda one: one.message(role="odd"), "No model takes a message of this role.", ""),
        (lambda one: one.bash(2, excluded=True),
         "A command that was kept out of the context: it is not sent.", ""),
        (lambda one: one.bash(2), "There is nothing in it to send.", OVER_BUDGET),
        (lambda one: one.result(), "Its call is not sent, and no provider takes a result alone.",
         OVER_BUDGET),
        (lambda one: one.user(), "There is nothing in it to send.", OVER_BUDGET),
        (lambda one: one.metadata(), "It is not sent.", OVER_BUDGET),
    ],
)  # fmt: skip
def test_why_an_entry_is_not_sent(add: Callable[[Session], int], why: str, rendered: str) -> None:
    """``rendered``: by a profile that renders its prompts to a budget."""
    assert unsent(add) == why
    assert unsent(add, "copilot") == (rendered or why)
