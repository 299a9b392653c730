"""What providers accept of a context: pairs of calls and results, ids, thinking; what is open."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from explorer.agent.tools.port import ToolSet
from explorer.models.client import ChatMessage, ImagePart, TextPart, ThinkingPart, ToolSpec
from explorer.services.agent import Agent, chat_of, outgoing_of, system_prompt
from explorer.services.open_session import OpenedSession
from explorer.session.entries import (
    AssistantMessage,
    ImageBlock,
    ModelMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)
from explorer.settings.prompt_templates import load_prompt
from tests.compaction.sessions import Session

PICTURE = ImageBlock("image/png", "AA")


def user(text: str) -> UserMessage:
    return UserMessage(text_content(text))


def reply(text: str, *calls: str, **more: Any) -> AssistantMessage:
    called = (ToolCallBlock(call, "read", {"path": call}) for call in calls)
    return AssistantMessage((TextBlock(text), *called), **more)


def result(call: str, text: str = "out") -> ToolResultMessage:
    return ToolResultMessage(call, "read", (TextBlock(text),))


def sent(*messages: ModelMessage, model: str = "") -> list[tuple[Any, ...]]:
    """Each message with its entry: role, text, ids of its calls, and the call that it answers."""
    return [
        (one.source, one.role, one.text, *(call.id for call in one.tool_calls),
         *((one.tool_call_id,) if one.tool_call_id is not None else ()))
        for one in chat_of(enumerate(messages), model)
    ]  # fmt: skip


PAIRS: list[tuple[list[ModelMessage], list[tuple[Any, ...]]]] = [
    ([user("a"), reply("b", "c"), result("c")],
     [(0, "user", "a"), (1, "assistant", "b", "c"), (2, "tool", "out", "c")]),
    # Results stand after their reply, in the order of its calls, whatever came between.
    ([reply("a", "c", "d"), result("d", "1"), user("b"), result("c", "2")],
     [(0, "assistant", "a", "c", "d"), (3, "tool", "2", "c"), (1, "tool", "1", "d"),
      (2, "user", "b")]),
    # Calls without results, and results without calls, are left out.
    ([reply("a", "c", "d"), result("d")],
     [(0, "assistant", "a", "d"), (1, "tool", "out", "d")]),
    ([reply("a"), result("c")], [(0, "assistant", "a")]),
    ([result("c"), reply("a", "c")], [(1, "assistant", "a")]),
    # Of two results of a call the first counts, and of two calls of one id as well.
    ([reply("a", "c"), result("c", "1"), result("c", "2")],
     [(0, "assistant", "a", "c"), (1, "tool", "1", "c")]),
    ([reply("a", "c", "c"), result("c")], [(0, "assistant", "a", "c"), (1, "tool", "out", "c")]),
    # What says nothing is not sent; what calls is.
    ([user(" \n"), reply(""), reply("", "c"), result("c")],
     [(2, "assistant", "", "c"), (3, "tool", "out", "c")]),
    ([UserMessage((PICTURE,)), UserMessage((TextBlock(""),))], [(0, "user", "")]),
    ([reply("", "c"), user("b")], [(1, "user", "b")]),
    # Failed and stopped replies are gone, with their calls.
    ([reply("a", "c", stop_reason="error"), result("c"), reply("b", stop_reason="aborted")], []),
    # An id that another reply used becomes one of its own.
    ([reply("a", "c"), result("c"), reply("b", "c"), result("c"), reply("d", "c_2"), result("c_2"),
      reply("e", "c"), result("c")],
     [(0, "assistant", "a", "c"), (1, "tool", "out", "c"),
      (2, "assistant", "b", "c_2"), (3, "tool", "out", "c_2"),
      (4, "assistant", "d", "c_2_2"), (5, "tool", "out", "c_2_2"),
      (6, "assistant", "e", "c_3"), (7, "tool", "out", "c_3")]),
    ([reply("a", ""), result("")], [(0, "assistant", "a", "call"), (1, "tool", "out", "call")]),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), PAIRS)
def test_calls_and_results_are_sent_in_pairs(
    messages: list[ModelMessage], expected: list[tuple[Any, ...]]
) -> None:
    assert sent(*messages) == expected


@pytest.mark.parametrize(
    ("model", "call"),
    [
        ("", "a|b" + "x" * 80),
        ("p/m", "a|b" + "x" * 80),
        ("p/other", "a_b" + "x" * 61),
        ("q/m", "a_b" + "x" * 61),
    ],
)
def test_ids_of_another_model_are_written_as_all_accept_them(model: str, call: str) -> None:
    made = reply("said", "a|b" + "x" * 80, provider="p", model="m")
    ids = sent(made, result("a|b" + "x" * 80), model=model)
    assert [one[3] for one in ids] == [call, call]
    alone = reply("said", "a|b", provider="m", model="m")
    assert sent(alone, result("a|b"), model="m")[0][3] == "a|b"


THOUGHT = (
    ThinkingBlock("one", "s1"), ThinkingBlock("unsigned"), ThinkingBlock("two\ud800", "s2"),
    ThinkingBlock("hidden", "s3", redacted=True),
)  # fmt: skip


@pytest.mark.parametrize(
    ("api", "model", "is_sent"),
    [
        ("", "p/m", True),
        ("session-explorer", "", True),
        ("anthropic-messages", "p/m", True),
        ("openai-responses", "p/m", False),
        ("", "p/other", False),
    ],
)
def test_signed_thinking_goes_back_to_the_model_that_signed_it(
    api: str, model: str, is_sent: bool
) -> None:
    content = (*THOUGHT, TextBlock("said"), TextBlock(""), TextBlock("again"))
    made = AssistantMessage(content, provider="p", model="m", api=api)
    (one,) = chat_of([(0, made)], model)
    assert one.text == "said\nagain"
    if is_sent:
        assert one.thinking == ThinkingPart("one", "s1")
        assert one.more_thinking == (
            ThinkingPart("two\ufffd", "s2"), ThinkingPart("", "s3", True),
        )  # fmt: skip
    else:
        assert (one.thinking, one.more_thinking) == (None, ())


def test_pictures_are_parts_of_messages_and_results() -> None:
    shown = ToolResultMessage("c", "read", (TextBlock("out"), PICTURE))
    asked = UserMessage((TextBlock("a"), PICTURE, TextBlock("")))
    first, _, second = chat_of(enumerate([asked, reply("b", "c"), shown]))
    assert first.content == (TextPart("a"), ImagePart("image/png", "AA"))
    assert second.content == (TextPart("out"), ImagePart("image/png", "AA"))
    assert isinstance(chat_of([(0, reply("b"))])[0].content, str)


# whether the agent is done ------------------------------------------------------------------------


def agent_of(session: Session) -> Agent:
    stored = SimpleNamespace(entry=lambda at: session.read([at])[0])
    opened = SimpleNamespace(
        tree=session.tree, leaf=session.leaf, payloads=SimpleNamespace(stored=stored)
    )
    return Agent(cast(OpenedSession, opened))


def ends(*steps: Callable[[Session], object]) -> Session:
    session = Session()
    for step in steps:
        step(session)
    return session


asked: Callable[[Session], object] = lambda one: one.user()  # noqa: E731
said: Callable[[Session], object] = lambda one: one.reply()  # noqa: E731
calls: Callable[[Session], object] = lambda one: one.reply(calls=[("read", "a"), ("read", "b")])  # noqa: E731
named: Callable[[Session], object] = lambda one: one.metadata()  # noqa: E731
left: Callable[[Session], object] = lambda one: one.branch_summary()  # noqa: E731


def answers(call: str) -> Callable[[Session], object]:
    return lambda one: one.result(call=call)


def stopped(reason: str) -> Callable[[Session], object]:
    return lambda one: one.reply(calls=[("read", "a")], stop=reason)


@pytest.mark.parametrize(
    ("steps", "why", "open_calls"),
    [
        ([], "", []),
        ([named], "", []),
        ([asked], "The last message has no answer yet.", []),
        ([asked, said], "", []),
        ([asked, said, named], "", []),
        ([asked, calls], "The agent was interrupted before its tools ran.", ["c1.0", "c1.1"]),
        ([asked, calls, answers("c1.0")],
         "The agent has not gone on since its tools came to an end.", ["c1.1"]),
        ([asked, calls, named, answers("c1.1"), named],
         "The agent has not gone on since its tools came to an end.", ["c1.0"]),
        ([asked, calls, answers("c1.0"), answers("c1.1"), said], "", []),
        ([asked, calls, left], "", []),
        ([asked, calls, asked], "The last message has no answer yet.", []),
        ([asked, calls, lambda one: one.compaction(0)],
         "The agent was interrupted before its tools ran.", []),
        ([asked, stopped("aborted")], "The last answer was stopped.", []),
        ([asked, stopped("error")], "The last answer failed.", []),
        ([asked, lambda one: one.reply(stop="length")],
         "The last answer was cut short at its length limit.", []),
    ],
)  # fmt: skip
def test_why_the_agent_is_not_done(
    steps: list[Callable[[Session], object]], why: str, open_calls: list[str]
) -> None:
    agent = agent_of(ends(*steps))
    assert agent.unfinished() == why
    assert [call.id for call in agent.open_calls()] == open_calls
    assert agent.was_cut_short() is ("cut short" in why)


def test_open_calls_are_those_of_any_entry() -> None:
    agent = agent_of(ends(asked, calls, answers("c1.0"), answers("c1.1"), said))
    found = [[call.id for call in agent.open_calls(at)] for at in range(-1, 5)]
    assert found == [[], [], ["c1.0", "c1.1"], ["c1.1"], [], []]


# the system prompt --------------------------------------------------------------------------------


class Tools:
    """Tools of a folder, or of none."""

    def __init__(self, *exclusive: bool, folder: str | None = None) -> None:
        self.exclusive = exclusive
        if folder is not None:
            self.folder = folder

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(str(at), "") for at in range(len(self.exclusive)))

    def is_exclusive(self, call: Any) -> bool:
        return self.exclusive[int(call.name)]


@pytest.mark.parametrize(
    ("tools", "prompt", "folder"),
    [
        (None, "agent-no-workspace", ""),
        (Tools(False, False, folder="/w"), "agent-looks", "/w"),
        (Tools(False, True, folder="/w"), "agent-changes", "/w"),
        (Tools(False), "agent-looks", "the folder that the developer chose"),
        (Tools(folder=""), "agent-looks", "the folder that the developer chose"),
    ],
)
def test_the_system_prompt_says_what_the_tools_may_do(
    tools: Tools | None, prompt: str, folder: str
) -> None:
    words = load_prompt(prompt).replace("{{folder}}", folder)
    template = " {{workspace}}|{{date}} "
    assert system_prompt(template, cast(ToolSet, tools)) == f"{words}|"
    dated = load_prompt("agent-date").replace("{{date}}", "1 May")
    assert system_prompt(template, cast(ToolSet, tools), "1 May") == f"{words}|{dated}".strip()
    made = outgoing_of(template, "p/m", cast(ToolSet, tools))
    assert (made.model, made.system) == ("p/m", f"{words}|")
    assert made.tools == (tools.specs() if tools is not None else ())


def test_messages_keep_the_entry_that_they_came_from() -> None:
    (one,) = chat_of([(7, user("a"))])
    assert one == ChatMessage("user", (TextPart("a"),), source=7)
