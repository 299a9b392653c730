"""The offline summarizer's answers have the form that every set of sections demands (A24, C7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.messages import Serialized, message_to_llm, serialize
from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.requests import (
    MOST_SENTENCES,
    Purpose,
    RequestMaterial,
    material_of,
    request_of,
    tidy_short,
)
from explorer.compaction.summary import (
    SECTION_SETS,
    check_answer,
    clean_answer,
    form_of,
    merge_summaries,
)
from explorer.formats.pi.entries import read_message
from explorer.models.offline.extractive import summarize
from explorer.models.request import ChatMessage, ModelRequest
from explorer.settings import paths
from explorer.settings.prompt_templates import load_templates
from explorer.tokens.estimate import estimate_text

TEMPLATES = load_templates()
SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
TEXTS = {
    "a sentence": "[User]: Fix the flaky test, and never touch main.py.",
    "headings of its own": "[User]: Use this:\n\n## Goal\n\nship it\n\n## Goal\n\n1. Overview: x",
    "other scripts": "[User]: 修复测试 🥛\n\n[Assistant]: تم. Готово.",
    "noise": "[Tool result]: " + "lorem ipsum 1 2 3\n" * 4000,
}
OF_SETS = {profile.sections: profile for profile in PROFILES.values()}


def conversation(text: str) -> Serialized:
    return Serialized(text, [])


def whole_sample(profile: Profile) -> Serialized:
    messages: list[tuple[int, Any]] = []
    for line in SAMPLE.read_text("utf-8").splitlines():
        entry = json.loads(line)
        sent = (
            message_to_llm(read_message(entry["message"]), TEMPLATES)
            if entry["type"] == "message"
            else None
        )
        if sent is not None:
            messages.append((len(messages), sent))
    return serialize(messages, profile)


def ask(material: RequestMaterial, purpose: Purpose, cap: int) -> str:
    request = request_of(material, purpose, TEMPLATES.system, cap)
    messages = (ChatMessage("system", request.system), ChatMessage("user", request.prompt))
    return summarize(ModelRequest("offline/extractive", messages, cap), lambda: False)


def check(material: RequestMaterial, purpose: Purpose, cap: int) -> str:
    """Ask, and hold the answer to what is demanded of any model's."""
    profile = material.profile
    answer = clean_answer(ask(material, purpose, cap), profile, purpose)
    assert not check_answer(answer, "stop", form=form_of(profile, purpose)), answer
    return answer


def history(profile: Profile, said: Serialized, previous: str = "") -> RequestMaterial:
    own = TEMPLATES.sections[profile.sections]
    return RequestMaterial(said, own.history_first, own.history_update, profile, previous)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("sections", SECTION_SETS)
@pytest.mark.parametrize("cap", [60, 400, 13_107])
def test_a24_a26_every_set_whatever_is_said_and_however_little_room(
    sections: str, text: str, cap: int
) -> None:
    profile, said = OF_SETS[sections], conversation(TEXTS[text])
    first = check(history(profile, said), "history", cap)
    check(history(profile, said, first), "history", cap)
    branch = material_of(TEMPLATES, TEMPLATES.sections[sections].branch, "", said, profile)
    check(branch, "branch", cap)
    prefix = material_of(TEMPLATES, TEMPLATES.turn_prefix, "", said, profile)
    check(prefix, "turn_prefix", cap)


@pytest.mark.parametrize("sections", SECTION_SETS)
def test_a27_e20_five_generations_of_a_real_session_keep_form_and_facts(sections: str) -> None:
    profile = OF_SETS[sections]
    said = whole_sample(profile)
    summary = ""
    for _ in range(5):
        answer = check(history(profile, said, summary), "history", 6000)
        assert estimate_text(answer) < estimate_text(said.text)
        summary = merge_summaries(answer, "## Original Request\nrun it")
    assert "0.25 s" in summary


def test_c6_later_parts_of_what_has_no_update_of_its_own() -> None:
    """A turn's first part, or a branch, that is read in windows."""
    profile = PROFILES["explorer"]
    said = conversation(TEXTS["a sentence"])
    material = material_of(TEMPLATES, TEMPLATES.turn_prefix, "", said, profile)
    first = check(material, "turn_prefix", 2000)
    later = replace(material, conversation=conversation("[User]: Port 8443."), previous=first)
    answer = check(later, "turn_prefix", 2000)
    assert "main.py" in answer and "8443" in answer


def test_a25_its_short_summary_is_two_or_three_sentences_in_the_first_person() -> None:
    profile = PROFILES["omp"]
    said = whole_sample(profile)
    material = material_of(TEMPLATES, TEMPLATES.short, "", said, profile)
    answer = ask(material, "short", 512)
    assert estimate_text(answer) <= 512
    shown = tidy_short(answer)
    assert shown
    assert "#" not in shown and "\n" not in shown
    assert " I " in f" {shown}"
    assert shown.count(". ") + 1 <= MOST_SENTENCES + 2


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("I did it. It works.", "I did it. It works."),
        ("## Summary\n- **I** did it.\n- It works.", "I did it. It works."),
        ("One. Two! Three? Four.", "One. Two! Three?"),
        ("<summary>I set v1.2 in a.py.</summary>", "I set v1.2 in a.py."),
        ('"I did it."', "I did it."),
        ("no end", "no end"),
        ("  \n", ""),
    ],
)
def test_a25_what_is_shown_of_an_answer(answer: str, shown: str) -> None:
    assert tidy_short(answer) == shown


def test_a25_a_very_long_sentence_is_cut_at_a_word() -> None:
    shown = tidy_short("word " * 1000)
    assert len(shown) <= 600
    assert shown.endswith("word…")
