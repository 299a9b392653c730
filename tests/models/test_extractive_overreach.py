"""A text that was cut before the exact things in it end does not end the summary."""

from __future__ import annotations

from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import BASES, Settings
from explorer.compaction.requests import build_requests
from explorer.formats.pi.entries import read_entry
from explorer.models.offline.extractive.summarizer import summarize
from explorer.models.request import ChatMessage, ModelRequest
from explorer.settings import paths
from explorer.settings.prompt_templates import load_templates
from tests.conformance.vectors import load_session

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


def test_calls_told_as_speech_are_summarized() -> None:
    session, rules = load_session(SAMPLE), BASES["pi-documented"]
    prepared = prepare(session.tree, session.leaf, rules, Settings.of(rules))
    assert isinstance(prepared, Preparation)

    def read(wanted: object) -> list[dict[str, object]]:
        return [read_entry(session.entries[at]) for at in wanted]  # type: ignore[attr-defined]

    for request in build_requests(prepared, read, None, "", load_templates()):
        prompt = request.prompt.replace("[ASSISTANT_TOOL_CALLS]\n", "(tool calls) ")
        messages = (ChatMessage("system", request.system), ChatMessage("user", prompt))
        order = ModelRequest(
            "offline/extractive", messages, max_output_tokens=request.max_output_tokens
        )
        assert "## " in summarize(order, lambda: False)
