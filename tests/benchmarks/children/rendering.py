"""Prompts of many rounds rendered to a budget, in memory."""

from __future__ import annotations

import gc

from explorer.prompting.agent_prompt import AgentPrompt
from explorer.prompting.rendered_prompt import render
from explorer.prompting.turns import SourceMessage, conversation
from explorer.session.entries import (
    AssistantMessage,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)
from explorer.tokens.estimate import estimate_text
from tests.benchmarks.children.process import times_ms


def talk(messages: int) -> list[SourceMessage]:
    """Turns of six rounds; every token count is known."""
    found: list[SourceMessage] = []
    while len(found) < messages:
        at = len(found)
        if at % 13 == 0:
            found.append(
                SourceMessage(at, UserMessage(text_content("Go on with the next one.")), 10)
            )
            continue
        call = ToolCallBlock(f"c{at}", "read", {"path": "a.py"})
        reply = AssistantMessage((TextBlock("Reading it."), call))
        found.append(SourceMessage(at, reply, 20))
        result = ToolResultMessage(f"c{at}", "read", text_content("line\n" * 80))
        found.append(SourceMessage(at + 1, result, 100))
    return found


def renders(messages: int) -> dict[str, list[float]]:
    """Times in ms: with room for all, and with room for half of it."""
    said = conversation(talk(messages))
    prompt = AgentPrompt("You are an agent.", estimate_text, 50_000, keep_cached=False)
    elements = prompt.elements(said)
    whole = render(elements, 10**9, estimate_text)
    half = whole.tokens // 2
    gc.freeze()
    return {
        "elements": [float(sum(1 for _ in whole.root.walk()))],
        "dropped": [float(len(render(elements, half, estimate_text).dropped))],
        "whole": times_ms(lambda: render(elements, whole.tokens, estimate_text)),
        "half": times_ms(lambda: render(elements, half, estimate_text)),
        "turns": times_ms(lambda: conversation(talk(messages))),
    }
