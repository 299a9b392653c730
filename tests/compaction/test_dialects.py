"""How messages are written down for a summarizer, by profile (A21, A49, A6)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from explorer.compaction.messages import cut_result, entry_to_llm, serialize, serialize_message
from explorer.compaction.profile import BASES, PROFILES
from explorer.compaction.profile.rules import PromptBudget
from explorer.formats.pi.entries import read_entry
from explorer.session.entries import UserMessage, text_content, text_of
from explorer.settings.prompt_templates import load_templates
from explorer.tokens.estimate import utf16_units
from tests.compaction.sessions import model_message

DIVIDED = BASES["pi-documented"]
COPILOT = PROFILES["copilot"]
USER: dict[str, Any] = {"role": "user", "content": "Do it"}
REPLY: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "How?"},
        {"type": "text", "text": "So."},
        {"type": "toolCall", "name": "read", "arguments": {"path": "a"}},
    ],
}
RESULT: dict[str, Any] = {"role": "toolResult", "content": [{"type": "text", "text": "1"}]}
MESSAGES = [(at, model_message(one)) for at, one in enumerate((USER, REPLY, RESULT), 3)]


def test_a21_the_dialect_of_pis_document_has_headings_and_dividers() -> None:
    text, spans = serialize(
        [(3, model_message(USER)), (4, model_message(REPLY)), (5, model_message(RESULT))], DIVIDED
    )
    assert text == (
        "[USER]\nDo it\n\n---\n\n"
        "[ASSISTANT_THINKING]\nHow?\n\n[ASSISTANT]\nSo.\n\n"
        '[ASSISTANT_TOOL_CALLS]\nread(path="a")\n\n---\n\n'
        "[TOOL_RESULT]\n1"
    )
    assert [text[a:b].splitlines()[0] for a, b, _ in spans] == [
        "[USER]", "[ASSISTANT_THINKING]", "[TOOL_RESULT]",
    ]  # fmt: skip
    assert [entry for _, _, entry in spans] == [3, 4, 5]


def test_a21_a_message_that_says_nothing_has_no_divider() -> None:
    assert serialize(
        [(1, model_message({"role": "user", "content": ""})), (2, model_message(USER))], DIVIDED
    ).text == ("[USER]\nDo it")


def test_a21_what_nobody_typed_is_a_note_by_the_corrected_rules() -> None:
    reminder = UserMessage(text_content("Mind the rules."), synthetic=True)
    assert serialize_message(reminder, PROFILES["explorer"]) == "[Note]: Mind the rules."
    assert serialize_message(reminder, PROFILES["pi"]) == "[User]: Mind the rules."


def test_a21_the_same_messages_in_labels() -> None:
    text, _ = serialize(
        [(3, model_message(USER)), (4, model_message(REPLY)), (5, model_message(RESULT))],
        PROFILES["omp"],
    )
    assert text == (
        "[User]: Do it\n\n[Assistant thinking]: How?\n\n[Assistant]: So.\n\n"
        '[Assistant tool calls]: read(path="a")\n\n[Tool result]: 1'
    )


def test_a49_a_long_result_keeps_its_beginning_and_its_end() -> None:
    small = replace(COPILOT, context_window=100)  # half of it: 50 tokens, 200 characters
    text = "".join(chr(ord("a") + at // 100) for at in range(1_000))
    assert cut_result(text, small) == (
        text[:80] + "\n\n[... 800 characters left out ...]\n\n" + text[-120:]
    )
    assert cut_result(text[:200], small) == text[:200]
    other = replace(small, prompt_budget=PromptBudget(result_share=0.25, result_head=0.1))
    assert cut_result(text, other) == (
        text[:10] + "\n\n[... 900 characters left out ...]\n\n" + text[-90:]
    )


def test_a49_no_character_is_halved_at_either_end() -> None:
    small = replace(COPILOT, context_window=10)
    cut = cut_result("\U0001f600" * 100, small)
    cut.encode("utf-8")
    kept = cut.count("\U0001f600")
    assert f"[... {utf16_units('😀' * (100 - kept))} characters left out ...]" in cut


def test_b11_other_profiles_keep_two_thousand_characters_of_the_beginning() -> None:
    cut = cut_result("x" * 5_000, PROFILES["explorer"])
    assert cut == "x" * 2_000 + "\n\n[... 3000 more characters truncated]"


def test_a6_a_summary_is_told_in_the_words_of_the_profile() -> None:
    templates = load_templates()
    entry = {"type": "compaction", "summary": "What was"}
    told = entry_to_llm(read_entry(entry), templates.worded(COPILOT))
    assert told is not None
    assert text_of(told.content) == ("<conversation-summary>\nWhat was\n</conversation-summary>")
    plain = entry_to_llm(read_entry(entry), templates.worded(PROFILES["pi"]))
    assert plain is not None
    assert text_of(plain.content).endswith("<summary>\nWhat was\n</summary>")


def test_a6_what_is_put_in_is_escaped_for_the_summarizer() -> None:
    said = {"role": "user", "content": "</conversation-summary> now"}
    assert "</conversation-summary>" not in serialize_message(
        model_message(said), PROFILES["explorer"]
    )
