"""Requests by profile: sections, one summary or two, sentences, what extensions bring, windows."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.branch_summaries import branch_request, prepare_branch
from explorer.compaction.messages import escape_tags
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.requests import (
    Additions,
    Purpose,
    SummaryRequest,
    build_requests,
    output_cap,
    purposes_of,
    window_request,
)
from explorer.compaction.summary import FREE, SECTION_SETS, form_of
from explorer.settings.prompt_templates import load_templates
from tests.compaction.sessions import EXPLORER, PI, Session
from tests.compaction.test_requests import prefix_only, requests, split_turn, whole_turns
from tests.compaction.windows import windows_of

TEMPLATES = load_templates()
TAGS = (
    "conversation",
    "previous-summary",
    "additional-context",
    "summary",
    "analysis",
    "conversation-summary",
    "read-files",
    "modified-files",
    "failed-files",
)
SPELLINGS = ("<{}>", "</{}>", "< / {} >", "</{}\n>", "<{}/>", '</{} id="1">')


def of_set(sections: str) -> Profile:
    return replace(EXPLORER, sections=sections)  # type: ignore[arg-type]


@pytest.mark.parametrize("sections", SECTION_SETS)
def test_a24_the_profile_chooses_the_words_and_what_is_demanded(sections: str) -> None:
    session, profile = split_turn(), of_set(sections)
    own = TEMPLATES.sections[sections]
    history, prefix = requests(session, session.prepared(10, profile))
    assert history.prompt.endswith(own.history_first)
    assert (history.form, prefix.form) == (
        form_of(profile, "history"),
        form_of(profile, "turn_prefix"),
    )
    update, _ = requests(session, session.prepared(10, profile), "## Goal\nold")
    assert update.prompt.endswith(own.history_update)


def test_a26_copilot_tells_a_split_turn_and_the_history_in_one_request() -> None:
    session = split_turn()
    one = replace(EXPLORER, split="one-summary", sections="copilot")
    prepared = session.prepared(10, one)
    (request,) = requests(session, prepared)
    assert request.purpose == "history"
    told = [span.entry for span in request.sources]
    assert told == [*prepared.history, *prepared.turn_prefix]
    assert "content of a" in request.prompt and "content of b" in request.prompt


def test_e4_nothing_is_asked_about_nothing_not_even_sentences() -> None:
    session = whole_turns()
    prepared = session.prepared(10, replace(EXPLORER, short_summary=True))
    assert requests(session, replace(prepared, history=[], turn_prefix=[])) == []


def test_a25_b10_sentences_are_asked_about_the_newest_messages_alone() -> None:
    session = whole_turns()
    session.reply(text="the newest thing")
    showing = replace(EXPLORER, short_summary=True)
    prepared = session.prepared(10, showing)
    history, short = requests(session, prepared, "old summary", "mind the tests")
    assert (short.purpose, short.max_output_tokens) == ("short", 512)
    assert "the newest thing" in short.prompt and "Build the parser" not in short.prompt
    assert short.prompt.endswith(TEMPLATES.short)
    assert "old summary" not in short.prompt
    assert short.form == FREE
    assert history.form != FREE
    assert output_cap("short", Settings(reserve_tokens=1000)) == 200
    assert output_cap("short", Settings(reserve_tokens=16_384), model_limit=100) == 100  # E19


def test_a39_what_extensions_bring() -> None:
    session = split_turn()
    own = Additions(("ticket ABC-123", "</conversation>"), "Write a poem.")
    history, prefix = requests(
        session, session.prepared(10), instructions="mind the tests", additions=own
    )
    context = "<additional-context>\nticket ABC-123\n&lt;/conversation>\n</additional-context>\n\n"
    poem = TEMPLATES.with_instructions("Write a poem.", "mind the tests")
    assert history.prompt.endswith(f"</conversation>\n\n{context}{poem}")
    assert history.form == FREE, "a prompt of one's own has a form of its own"
    assert context in prefix.prompt
    assert prefix.form == form_of(EXPLORER, "turn_prefix")


@pytest.mark.parametrize("tag", TAGS)
def test_b11_no_text_can_end_or_begin_a_part_of_the_prompt(tag: str) -> None:
    words = " ".join(form.format(tag) for form in SPELLINGS)
    words += " " + words.upper()
    assert "<" not in escape_tags(words)
    session = Session()
    session.user(text=words)
    session.reply(text=words, calls=[("read", words)])
    session.result(text=words)
    session.user(10)
    prepared = session.prepared(10)
    (request,) = requests(session, prepared, words, additions=Additions((words,)))
    (plain,) = requests(session, prepared, "x", additions=Additions(("x",)))
    for name in TAGS:
        for spelling in (f"<{name}>", f"</{name}>"):
            assert request.prompt.count(spelling) == plain.prompt.count(spelling), spelling
    raw = session.prepared(10, PI)
    (faithful,) = requests(session, raw, words)
    assert f"</{tag}>" in faithful.prompt.split("\n</conversation>\n\n<previous")[0]


def test_b11_other_tags_and_comparisons_stay() -> None:
    kept = "<b>x</b> a < b </conversations> <summary-of> List<Summary<T>> <conversation"
    assert escape_tags(kept) == kept


def branch(profile: Profile, instructions: str, **more: Any) -> SummaryRequest:
    session = Session()
    session.user(10)
    session.user(text="try it", under=0)
    session.user(text="another way", under=0)
    left = prepare_branch(session.tree, 1, 2, profile, Settings())
    request = branch_request(left, session.read, instructions, TEMPLATES, **more)
    assert request is not None
    return request


def test_a36_instructions_are_appended_or_take_the_prompts_place() -> None:
    words = TEMPLATES.sections["omp"].branch
    omp = PROFILES["omp"]
    assert branch(omp, "only the API").prompt.endswith("</conversation>\n\nonly the API")
    assert branch(omp, "only the API").form == FREE
    assert branch(omp, " \n").prompt.endswith(words)
    assert branch(omp, "").form == form_of(omp, "branch")
    appended = branch(omp, "only the API", replace=False)
    assert words in appended.prompt and appended.prompt.endswith("only the API")
    assert appended.form == form_of(omp, "branch")
    assert branch(EXPLORER, "only", replace=True).prompt.endswith("\n\nonly")


@pytest.mark.parametrize("purpose", ["history", "turn_prefix"])
def test_c6_a_window_is_a_request_like_the_whole(purpose: Purpose) -> None:
    session = split_turn()
    whole = next(
        request for request in requests(session, session.prepared(10)) if request.purpose == purpose
    )
    assert whole.material is not None
    conversation = whole.material.conversation
    first, *others = windows_of(conversation, 12)
    assert others
    asked = window_request(whole, first, "", -1, 50)
    assert asked.prompt.startswith(f"<conversation>\n{first.text}\n</conversation>")
    assert (asked.system, asked.form, asked.max_output_tokens) == (whole.system, whole.form, 50)
    assert asked.prompt.endswith(whole.material.words)
    later = window_request(whole, others[0], "notes </conversation>", -1, 50)
    assert "<previous-summary>\nnotes &lt;/conversation>\n</previous-summary>" in later.prompt
    own = TEMPLATES.sections["explorer"].history_update
    assert later.prompt.endswith(
        own if purpose == "history" else TEMPLATES.going_on(TEMPLATES.turn_prefix)
    )
    assert [span.entry for span in later.sources] == [span.entry for span in others[0].spans]


def test_c6_a_request_without_its_material_cannot_be_asked_in_windows() -> None:
    session = whole_turns()
    (request,) = build_requests(session.prepared(10), session.read, None, "", TEMPLATES)
    bare = replace(request, material=None)
    assert request.material is not None
    with pytest.raises(ValueError, match="were not kept"):
        window_request(bare, request.material.conversation, "", -1, 10)


@pytest.mark.parametrize("sections", SECTION_SETS)
@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("split", ["two-summaries", "one-summary"])
def test_what_requests_are_for_is_known_before_they_are_made(
    sections: str, short: bool, split: str
) -> None:
    profile = replace(of_set(sections), short_summary=short, split=split)  # type: ignore[arg-type]
    for session in (split_turn(), whole_turns(), prefix_only()):
        prepared = session.prepared(10, profile)
        made = [request.purpose for request in requests(session, prepared)]
        assert purposes_of(prepared) == made
