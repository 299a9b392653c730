"""The events and both styles of answering them (A38, A39, A40, A41, A42)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.compaction.messages import SourceSpan
from explorer.extensions.prompt_parts import (
    RequestPrompt,
)
from explorer.models.events import CancelToken
from tests.extensions.making import (
    before_compact,
    before_tree,
    compacting,
    handler,
    preparation,
    runner,
    wait,
    write,
)

BEFORE = "session_before_compact"
RESULT = '"summary": "Mine", "firstKeptEntryId": event.preparation.first_kept_entry_id'
IMPORTS = "from explorer.extensions.api import *\n"


@pytest.mark.parametrize("head", ["def", "async def"])
@pytest.mark.parametrize(
    "body",
    [
        "event.cancel('Not now.')",
        "return {'cancel': True, 'reason': 'Not now.'}",
        "return SessionBeforeCompactResult(cancel=True, reason='Not now.')",
    ],
)
def test_a38_a42_a_handler_cancels_in_either_style(tmp_path: Path, head: str, body: str) -> None:
    write(tmp_path, "guard", IMPORTS + handler(BEFORE, body, head))
    found = before_compact(runner(tmp_path))
    assert (found.cancelled_by, found.reason) == ("guard", "Not now.")
    assert [record.did for record in found.records] == ["cancelled"]


@pytest.mark.parametrize(
    "body",
    [
        f"event.set_result({{{RESULT}}})",
        f"event.setResult({{{RESULT}, 'fromHook': True}})",
        "event.set_result(summary='Mine', "
        "first_kept_entry_id=event.preparation.first_kept_entry_id)",
        f"return {{'compaction': {{{RESULT}, 'fromExtension': True}}}}",
        "return {'compaction': {'summary': 'Mine', "
        "'retained_from_id': event.preparation.retained_from_id}}",
        "return SessionBeforeCompactResult(compaction=CompactionResult('Mine', "
        "event.preparation.first_kept_entry_id, event.preparation.tokens_before))",
        "return SessionBeforeCompactResult(compaction=CompactionResult('Mine', "
        "retained_from_id=event.preparation.firstKeptEntryId))",
    ],
)
def test_a38_a42_a_compaction_is_supplied_in_every_spelling(tmp_path: Path, body: str) -> None:
    write(tmp_path, "mine", IMPORTS + handler(BEFORE, body))
    prepared, around = preparation()
    found = before_compact(runner(tmp_path)).compaction
    assert found is not None
    assert (found.by, found.summary) == ("mine", "Mine")
    assert found.first_kept_entry_id == around.ids[prepared.first_kept]


def test_a38_all_of_a_compaction_is_kept(tmp_path: Path) -> None:
    body = """
    return {"compaction": {
        "summary": "S", "shortSummary": "Short.", "tokensBefore": 77,
        "details": {"artifactIndex": ["a"], "version": "2.0"}, "preserveData": {"k": [1]},
    }}
    """
    write(tmp_path, "all", handler(BEFORE, body))
    found = before_compact(runner(tmp_path)).compaction
    assert found is not None
    assert (found.short_summary, found.tokens_before) == ("Short.", 77)
    assert found.details == {"artifactIndex": ["a"], "version": "2.0"}
    assert found.preserve_data == {"k": [1]}


def test_a38_the_preparation_tells_all_that_a_summarizer_needs(tmp_path: Path) -> None:
    body = """
    p = event.preparation
    ctx.log(p.tokens_before, p.is_split_turn, p.previous_summary, sorted(p.file_ops))
    ctx.log(p.settings["keep_recent_tokens"], len(p.messages_to_summarize), len(p.entry_ids))
    ctx.log(p.serialize(p.messages_to_summarize[:1])[:24])
    ctx.log(event.custom_instructions, event.signal.cancelled, ctx.cwd, p.settings["profile"])
    """
    write(tmp_path, "looks", handler(BEFORE, body))
    hooks = runner(tmp_path)
    prepared, _ = preparation()
    before_compact(hooks, "Be brief.")
    count = len(prepared.history) + len(prepared.turn_prefix)
    assert hooks._extensions[0].log == [
        f"{prepared.tokens_before} {prepared.is_split_turn} What was before. "
        "['failed', 'modified', 'read']",
        f"60 {len(prepared.history)} {count}",
        "[User]: Question 0: keep",
        "Be brief. False /home/me/shop explorer",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "event.set_prompt('P'); event.add_context('one'); event.add_context('two');"
        " event.set_preserve_data({'a': 1})",
        "return {'prompt': 'P', 'context': ['one', 'two'], 'preserveData': {'a': 1}}",
        "return SessionCompactingResult(prompt='P', context='one\\ntwo', preserve_data={'a': 1})",
    ],
)
def test_a39_prompt_lines_and_data(tmp_path: Path, body: str) -> None:
    write(tmp_path, "adds", IMPORTS + handler("session.compacting", body))
    found = compacting(runner(tmp_path))
    assert (found.prompt, found.context, found.preserve_data) == ("P", ("one", "two"), {"a": 1})
    assert found.records[0].did == "context"
    assert found.records[0].detail == "2 lines of context, a prompt of its own, data to keep"


def test_a39_b15_the_last_prompt_counts_and_lines_and_data_are_gathered(tmp_path: Path) -> None:
    for name in ("a", "b"):
        answer = (
            f"{{'prompt': '{name}', 'context': ['from {name}'], 'preserveData': {{'{name}': 1}}}}"
        )
        write(tmp_path, name, handler("session_compacting", f"return {answer}"))
    empty = "return {'prompt': '', 'context': [], 'preserveData': {}}"
    write(tmp_path, "c", handler("session_compacting", empty))
    found = compacting(runner(tmp_path))
    assert (found.prompt, found.context) == ("b", ("from a", "from b"))
    assert found.preserve_data == {"a": 1, "b": 1}
    assert [record.did for record in found.records] == ["context", "context", "nothing"]


def test_a40_the_stored_entry_is_told_and_is_a_copy(tmp_path: Path) -> None:
    body = """
    ctx.log(event.entry["summary"], event.from_extension, event.fromHook)
    event.entry["summary"] = "spoilt"
    """
    for name in ("a", "b"):
        write(tmp_path, name, handler("session_compact", body))
    hooks = runner(tmp_path)
    records = wait(hooks.compacted(lambda: {"summary": "S"}, True, CancelToken()))
    assert [e.log for e in hooks._extensions] == [["S True True"]] * 2
    assert [r.did for r in records] == ["nothing", "nothing"]


def test_a41_the_tree_event_tells_the_way(tmp_path: Path) -> None:
    body = """
    ctx.log(event.target, event.old_leaf, event.common_ancestor, event.user_wants_summary)
    ctx.log(event.preparation.targetId, len(event.entries), event.entries[0]["id"])
    ctx.log(event.preparation.userWantsSummary)
    """
    write(tmp_path, "looks", handler("session_before_tree", body))
    hooks = runner(tmp_path)
    before_tree(hooks, wants=False)
    assert hooks._extensions[0].log == ["e2 e11 e2 False", "e2 9 e3", "False"]


@pytest.mark.parametrize(
    "body",
    [
        "event.set_summary('B', {'x': 1})",
        "event.set_result({'summary': 'B', 'details': {'x': 1}})",
        "return {'summary': {'summary': 'B', 'details': {'x': 1}}}",
        "return SessionBeforeTreeResult(summary=BranchSummaryResult('B', {'x': 1}))",
    ],
)
@pytest.mark.parametrize("wants", [True, False])
def test_a41_a_summary_is_used_only_if_wanted(tmp_path: Path, body: str, wants: bool) -> None:
    write(tmp_path, "branch", IMPORTS + handler("session_before_tree", body))
    found = before_tree(runner(tmp_path), wants)
    assert (found.records[0].did, found.records[0].used) == ("result", wants)
    if wants:
        assert found.summary is not None
        assert (found.summary.summary, found.summary.details) == ("B", {"x": 1})
    else:
        assert found.summary is None


@pytest.mark.parametrize(
    "body",
    [
        "event.setSummarize(True); event.setCustomInstructions('Focus'); "
        "event.setReplaceInstructions(False)",
        "return {'summarize': True, 'customInstructions': 'Focus', 'replaceInstructions': False}",
        "return SessionBeforeTreeResult(summarize=True, custom_instructions='Focus', "
        "replace_instructions=False)",
    ],
)
def test_a41_a42_the_summary_is_steered(tmp_path: Path, body: str) -> None:
    write(tmp_path, "steers", IMPORTS + handler("session_before_tree", body))
    found = before_tree(runner(tmp_path))
    assert (found.summarize, found.summarize_by) == (True, "steers")
    assert (found.custom_instructions, found.replace_instructions) == ("Focus", False)
    assert found.records[0].did == "instructions"


def test_a41_a_navigation_is_cancelled_and_told_of(tmp_path: Path) -> None:
    body = "if ctx.settings.get('stay'): return {'cancel': True}"
    write(tmp_path, "stay", handler("session_before_tree", body))
    write(tmp_path, "stay.json", '{"stay": true}')
    told = "ctx.log(event.new_leaf, event.old_leaf, event.summary_entry, event.from_extension)"
    write(tmp_path, "told", handler("session_tree", told))
    hooks = runner(tmp_path)
    assert before_tree(hooks).cancelled_by == "stay"
    wait(hooks.tree("n", "o", lambda: {"summary": "S", "fromHook": True}, CancelToken()))
    assert hooks._extensions[1].log == ["n o {'summary': 'S', 'fromHook': True} True"]


def request(hooks: Any, prompt: RequestPrompt) -> Any:
    ids = ["aa", "bb"]
    return wait(hooks.request("history", "System.", prompt, ids, "m", CancelToken()))


PROMPT = RequestPrompt(
    "<c>\nkey=1234 first\n\nkey=5678 second\n</c>", [SourceSpan(4, 18, 0), SourceSpan(20, 35, 1)]
)


@pytest.mark.parametrize(
    "body",
    [
        "event.transform(lambda text: text.replace('key=1234', '[gone]'))",
        "return {'parts': [p.text.replace('key=1234', '[gone]') for p in event.parts]}",
        "event.set_prompt(event.prompt.replace('key=1234', '[gone]'))",
        "return {'prompt': event.text.replace('key=1234', '[gone]')}",
    ],
)
def test_a_request_is_changed_and_its_sources_stay_right(tmp_path: Path, body: str) -> None:
    write(tmp_path, "redact", handler("session_request", body))
    assert PROMPT.text[20:35] == "key=5678 second"
    found = request(runner(tmp_path), PROMPT)
    assert found.prompt == "<c>\n[gone] first\n\nkey=5678 second\n</c>"
    told = {span.entry: found.prompt[span.start : span.end] for span in found.sources}
    assert told == {0: "[gone] first", 1: "key=5678 second"}
    assert found.records[0].did == "changed"


def test_handlers_of_a_request_see_what_those_before_made_of_it(tmp_path: Path) -> None:
    for name, old, new in (("a", "first", "second"), ("b", "second", "third")):
        body = f"event.transform(lambda text: text.replace({old!r}, {new!r}))"
        write(tmp_path, name, handler("session_request", body))
    found = request(runner(tmp_path), PROMPT)
    assert found.prompt == "<c>\nkey=1234 third\n\nkey=5678 third\n</c>"
    assert found.system == "System."


def test_a_summary_is_changed_before_it_becomes_a_draft(tmp_path: Path) -> None:
    body = "event.transform(lambda text: text.replace('secret', '***'))"
    write(tmp_path, "redact", handler("session_summary", body))
    found = wait(runner(tmp_path).summary("compaction", "a secret", False, CancelToken()))
    assert (found.summary, found.records[0].did) == ("a ***", "changed")
