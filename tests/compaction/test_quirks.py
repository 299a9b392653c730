"""What single models need (A52)."""

from __future__ import annotations

import pytest

from explorer.compaction.quirks import QUIRKS, QuirkFacts, quirks_of, with_quirks
from explorer.prompting.turns import PromptMessage, Thinking, ToolUse

FACTS = QuirkFacts("Write only.", "Go on.", summary_entry=7, thinking=Thinking("hm", "signed"))
OPUS, SONNET = "anthropic/claude-opus-4-5", "anthropic/claude-sonnet-4-5"


def names(model: str) -> set[str]:
    return {quirk.name for quirk in quirks_of(model)} - {"hooks-never-block"}


@pytest.mark.parametrize(
    ("model", "quirks"),
    [
        (OPUS, {"opus-only-writes", "thinking-goes-on", "no-tool-search"}),
        ("anthropic/claude-3-opus-latest", {"opus-only-writes", "thinking-goes-on",
                                            "no-tool-search"}),
        (SONNET, {"thinking-goes-on", "no-tool-search"}),
        ("gemini/gemini-2.5-pro", {"gemini-no-orphans"}),
        ("openai/gpt-4.1", {"gpt-4.1-keeps-going"}),
        ("openai/gpt-4.1-mini", {"gpt-4.1-keeps-going"}),
        ("openai/gpt-4.15", set()),
        ("openai/gpt-4o", set()),
        ("offline/demo", set()),
    ],
)  # fmt: skip
def test_a52_a_model_is_known_by_its_name(model: str, quirks: set[str]) -> None:
    assert names(model) == quirks


def test_a52_every_quirk_says_whom_it_is_about_and_what_is_done() -> None:
    assert len({quirk.name for quirk in QUIRKS}) == len(QUIRKS) == 6
    for quirk in QUIRKS:
        assert quirk.models
        assert quirk.sentence.endswith(".")


def said(*messages: PromptMessage) -> tuple[PromptMessage, ...]:
    return messages


def test_a52_opus_is_told_not_to_call_tools_after_everything_else() -> None:
    asked = said(PromptMessage("user", "hi"), PromptMessage("user", "Summarize."))
    found, changed = with_quirks(asked, OPUS, "request", FACTS)
    assert found[-1].text == "Summarize.\n\nWrite only."
    assert found[0] is asked[0]
    assert changed == ("opus-only-writes",)
    assert with_quirks(asked, SONNET, "request", FACTS) == (asked, ())


def test_a52_the_last_thinking_goes_to_the_first_reply_after_the_summary() -> None:
    talk = said(
        PromptMessage("user", "summary", sources=(7,)),
        PromptMessage("assistant", "on I go"),
        PromptMessage("assistant", "and on"),
    )
    found, changed = with_quirks(talk, SONNET, "conversation", FACTS)
    assert found[1].thinking == FACTS.thinking
    assert found[2].thinking is None
    assert changed == ("thinking-goes-on",)
    own = said(PromptMessage("assistant", "x", thinking=Thinking("mine")))
    assert with_quirks(own, SONNET, "conversation", FACTS) == (own, ())


def test_a52_searches_for_tools_go_with_what_they_found() -> None:
    search, read = ToolUse("a", "tool_search"), ToolUse("b", "read")
    talk = said(
        PromptMessage("assistant", "looking", (search, read)),
        PromptMessage("tool", "three tools", call_id="a"),
        PromptMessage("tool", "a file", call_id="b"),
        PromptMessage("assistant", "", (ToolUse("c", "tool_search"),)),
        PromptMessage("tool", "none", call_id="c"),
    )
    found, _ = with_quirks(talk, SONNET, "request", FACTS)
    assert [(m.role, m.text) for m in found] == [("assistant", "looking"), ("tool", "a file")]
    assert found[0].calls == (read,)
    assert with_quirks(talk, "openai/gpt-4o", "request", FACTS) == (talk, ())


def test_a52_gemini_gets_no_call_without_its_result() -> None:
    talk = said(
        PromptMessage("assistant", "", (ToolUse("a", "read"), ToolUse("b", "ls"))),
        PromptMessage("tool", "a file", call_id="a"),
        PromptMessage("assistant", "", (ToolUse("c", "ls"),)),
        PromptMessage("tool", "whose?", call_id="d"),
    )
    found, _ = with_quirks(talk, "gemini/gemini-2.5-pro", "request", FACTS)
    assert [m.call_id or [c.id for c in m.calls] for m in found] == [["a"], "a"]


def test_a52_gpt_4_1_is_reminded_after_the_summary() -> None:
    talk = said(PromptMessage("user", "summary", sources=(7,)), PromptMessage("user", "next"))
    found, _ = with_quirks(talk, "openai/gpt-4.1", "conversation", FACTS)
    assert [m.text for m in found] == ["summary\n\nGo on.", "next"]
