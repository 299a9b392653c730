"""The demonstration agent: which words call which tool, and what it says of the results."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.models.client import (
    ChatMessage,
    Event,
    Finished,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolCallReady,
    ToolSpec,
)
from explorer.models.offline.demo import answer

TOOLS = tuple(ToolSpec(name, "", {}) for name in ("read", "grep", "find", "ls"))
TALK = (
    ChatMessage("user", "Never push to main. Use pnpm for the web part."),
    ChatMessage(
        "assistant", "Understood. I'll use a queue because it is simpler. I fixed src/a.py."
    ),
    ChatMessage("user", "Fine."),
)


def events_of(
    question: str, tools: tuple[ToolSpec, ...] = TOOLS, *earlier: ChatMessage
) -> list[Event]:
    events: list[Event] = []
    request = ModelRequest("offline/demo", (*earlier, ChatMessage("user", question)), tools=tools)
    answer(request, events.append, lambda: False)
    return events


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls_in(events: list[Event]) -> list[ToolCall]:
    return [event.call for event in events if isinstance(event, ToolCallReady)]


@pytest.mark.parametrize(
    ("question", "name", "arguments"),
    [
        ("list files", "ls", {"path": "."}),
        ("Please list the files in src/app", "ls", {"path": "src/app"}),
        ("read README.md", "read", {"path": "README.md"}),
        ("show me src/a.py", "read", {"path": "src/a.py"}),
        ("what is in config.toml?", "read", {"path": "config.toml"}),
        ("find TODO in src/lib", "grep", {"pattern": "TODO", "path": "src/lib"}),
        ("search for parse_args", "grep", {"pattern": "parse_args"}),
        ("where is parse_args defined?", "grep", {"pattern": "parse_args"}),
        ("grep 'f(x)'", "grep", {"pattern": r"f\(x\)"}),
        ("find all files named *.py", "find", {"pattern": "*.py"}),
    ],
)
def test_words_lead_to_tools(question: str, name: str, arguments: dict[str, Any]) -> None:
    events = events_of(question)
    (call,) = calls_in(events)
    assert (call.name, call.arguments) == (name, arguments)
    assert text_of(events)
    assert events[-1] == Finished("tool_calls")


@pytest.mark.parametrize("question", ["list files", "read README.md", "search for x", "hello?"])
def test_without_tools_none_is_called(question: str) -> None:
    events = events_of(question, ())
    assert not calls_in(events)
    assert events[-1] == Finished("stop")
    assert text_of(events)


def test_tool_choice_none_is_obeyed() -> None:
    events: list[Event] = []
    messages = (ChatMessage("user", "list files"),)
    answer(
        ModelRequest("offline/demo", messages, tools=TOOLS, tool_choice="none"),
        events.append,
        lambda: False,
    )
    assert not calls_in(events)


def test_results_are_reported_and_nothing_more_is_called() -> None:
    call = ToolCall("demo_1", "ls", {"path": "src"})
    messages = (
        ChatMessage("user", "list the files in src"),
        ChatMessage("assistant", "Listing src.", (call,)),
        ChatMessage("tool", "a.py\nb.py", tool_call_id="demo_1"),
    )
    events: list[Event] = []
    answer(ModelRequest("offline/demo", messages, tools=TOOLS), events.append, lambda: False)
    assert "src holds 2 files and folders" in text_of(events)
    assert "a.py\nb.py" in text_of(events)
    assert events[-1] == Finished("stop")
    assert not calls_in(events)


def test_a_long_result_is_cut_and_says_so() -> None:
    call = ToolCall("demo_1", "read", {"path": "log.txt"})
    messages = (
        ChatMessage("user", "read log.txt"),
        ChatMessage("assistant", "", (call,)),
        ChatMessage("tool", "\n".join(f"line {n}" for n in range(100)), tool_call_id="demo_1"),
    )
    events: list[Event] = []
    answer(ModelRequest("offline/demo", messages, tools=TOOLS), events.append, lambda: False)
    assert "log.txt, 100 lines" in text_of(events)
    assert "60 more lines are not shown" in text_of(events)
    assert "line 99" not in text_of(events)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what were the constraints?", "Never push to main."),
        ("Which rules did I give you?", "Use pnpm for the web part."),
        ("What did we decide?", "I'll use a queue because it is simpler."),
        ("can you recap what's done so far?", "I fixed src/a.py."),
    ],
)
def test_questions_about_the_conversation_are_answered_from_it(
    question: str, expected: str
) -> None:
    events = events_of(question, TOOLS, *TALK)
    assert expected in text_of(events)
    assert not calls_in(events)


def test_what_the_conversation_does_not_say_is_not_made_up() -> None:
    text = text_of(events_of("what did we decide?", TOOLS, ChatMessage("user", "Hello there.")))
    assert "nothing in this conversation says" in text


def test_otherwise_it_says_what_it_is() -> None:
    events = events_of("write me a compiler")
    assert "no language model" in text_of(events)
    assert "read a file" in text_of(events)
    assert "read a file" not in text_of(events_of("write me a compiler", ()))


def test_cancel_stops_the_text() -> None:
    events: list[Event] = []
    request = ModelRequest("offline/demo", (ChatMessage("user", "write me a compiler"),))
    answer(request, events.append, lambda: len(events) >= 2)
    assert len(events) == 2
