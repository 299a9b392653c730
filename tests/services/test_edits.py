"""Shaping a stored session: appended, followed everywhere, taken back, exported, played again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.partition import Verdict
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import CancelToken
from explorer.services.compaction import cut_after
from explorer.services.document import Document
from explorer.services.draft_records import SummaryOrder
from explorer.services.edits import CannotShape, NothingToUndo
from explorer.services.effective_rules import EffectiveRules
from explorer.services.recorded_session import recorded_session
from explorer.services.session_replay import Pace, Player
from explorer.session.edit_entries import REPEATED_USER_TOKENS
from explorer.workbench import Workbench
from tests.services.conftest import open_bench
from tests.store.sources import message, write_file

EXPLORER = PROFILES["explorer"]
SMALL = Settings(keep_recent_tokens=400)
EXTRACTIVE = "offline/extractive"


def wait(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def _entries() -> list[dict[str, Any]]:
    """0 user; 1, 2 and 3, 4 a call and its result; 5 reply; 6 user; 7, 8 call and result."""
    found = [message(0, None, "Never touch the folder fixtures.")]
    for at, size in ((1, 300), (3, 200)):
        found += _called(at, size)
    said = message(5, "e4", "It is in sync.py.", "assistant")
    said["message"] |= {"stopReason": "stop", "content": [{"type": "text", "text": "In sync.py."}]}
    found += [said, message(6, "e5", "And now the tests, please."), *_called(7, 500)]
    return found


def _called(at: int, size: int) -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"c{at}", "name": "bash", "arguments": {"command": "x"}}
    reply = message(at, f"e{at - 1}", "", "assistant")
    reply["message"] |= {"content": [call], "stopReason": "toolUse", "provider": "p", "model": "m"}
    result = message(at + 1, f"e{at}", f"LOG {at}\n" + "word" * size, "toolResult")
    result["message"] |= {"toolCallId": f"c{at}", "toolName": "bash", "isError": False}
    return [reply, result]


@pytest.fixture
def document(bench: Workbench, tmp_path: Path) -> Document:
    path = write_file(tmp_path / "shaped.jsonl", _entries())
    return bench.open_blocking(bench.import_blocking(path).key)


def _compact(document: Document, profile: Any = EXPLORER) -> int:
    shown = document.compaction.preview(None, profile, SMALL)
    order = SummaryOrder("", EXTRACTIVE, lambda _purpose, _text: None, CancelToken())

    async def story() -> int:
        return await document.compaction.commit(await document.compaction.summarize(shown, order))

    index: int = wait(story())
    return index


def _texts(document: Document) -> str:
    return json.dumps([str(one) for one in document.agent.messages(EXPLORER)])


def test_a_pinned_result_is_sent_as_text_after_the_summary_and_nothing_is_orphaned(
    document: Document,
) -> None:
    wait(document.edits.pin([2], "the log of the failure"))
    parts = document.compaction.preview(None, EXPLORER, SMALL)
    assert parts.verdicts[2] == Verdict.PINNED and "Pinned by #9" in parts.reason(2)
    compaction = _compact(document)
    context = document.context()
    assert context.messages[:2] == [compaction, 2] and context.again[2].by == 9
    sent = document.agent.messages(EXPLORER)
    assert sent[1].role == "user" and "#2" in str(sent[1].content)
    assert "word" * 300 in str(sent[1].content)
    calls = {call.id for one in sent for call in one.tool_calls}
    assert {one.tool_call_id for one in sent if one.role == "tool"} == calls
    assert "c1" not in calls


def test_a_pinned_reply_tells_its_text_and_calls_and_weighs_what_is_sent(
    document: Document,
) -> None:
    wait(document.edits.pin([3, 5]))
    _compact(document)
    sent = _texts(document)
    assert "[Called bash" in sent and "In sync.py." in sent
    rows = {row.entry: row for row in document.edits.shaped_rows(EXPLORER)}
    told = {str(one.content): one for one in document.agent.messages(EXPLORER)}
    by_entry = {at: text for at in rows for text in told if f"Entry #{at}," in text}
    assert set(by_entry) == {3, 5}
    assert all(row.how == "pinned" and row.sent == "again" for row in rows.values())


def test_what_is_omitted_is_in_no_message_and_in_no_request(document: Document) -> None:
    made = wait(document.edits.omit([2]))
    assert made.entries == (1, 2)
    assert "LOG 1" not in _texts(document) and "LOG 3" in _texts(document)
    parts = document.compaction.preview(None, EXPLORER, SMALL)
    assert [parts.verdicts[at] for at in (1, 2)] == [Verdict.OMITTED] * 2
    assert "log keeps it" in parts.reason(2)
    for request in document.compaction.requests(parts):
        assert {span.entry for span in request.sources} & {1, 2} == set()
        assert "LOG 1" not in request.prompt
    assert document.payloads.shown.entry(2).recorded["message"]["content"], "nothing is deleted"


def test_an_omitted_message_of_the_user_is_told_as_such(document: Document) -> None:
    wait(document.edits.omit([0]))
    assert "A message of the user, omitted" in document.compaction.preview(
        None, EXPLORER, SMALL
    ).reason(0)


def test_pins_and_omissions_hold_under_every_profile(document: Document) -> None:
    wait(document.edits.pin([0]))
    wait(document.edits.omit([1]))
    for profile in PROFILES.values():
        parts = document.compaction.preview(
            None, profile, Settings(keep_recent_tokens=10, keep_rounds=1)
        )
        # Some cut before the first message where the newest result is too large (B4).
        wanted = Verdict.PINNED if parts.cut > 0 else Verdict.KEPT
        assert parts.verdicts[0] == wanted, profile.name
        assert parts.verdicts[1] == parts.verdicts[2] == Verdict.OMITTED, profile.name


def test_undo_restores_exactly_at_the_leaf_and_later(document: Document) -> None:
    def state() -> tuple[Any, ...]:
        context = document.context()
        size = document.tokens.counted_size(EXPLORER)
        return context.messages, dict(context.again), dict(context.omitted), size

    before, leaf = state(), document.leaf
    wait(document.edits.omit([2]))
    assert state() != before
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.leaf, document.leaf) == ("omit", leaf, leaf)
    assert state() == before
    omitted = wait(document.edits.omit([2])).entry
    assert not document.edits.can_redo, "the leaf went on elsewhere"
    wait(document.edits.rename("Later"))
    later = state(), document.leaf
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.entry) == ("omit", omitted) and state() == before
    assert wait(document.edits.redo()) == later[1] and (state(), document.leaf) == later
    assert document.edits.latest() == omitted
    wait(document.edits.undo())
    assert state() == before
    pinned = wait(document.edits.pin([0, 5])).entry
    wait(document.edits.unpin([0]))
    assert list(document.edits.shape().pinned) == [5]
    wait(document.edits.undo())
    assert list(document.edits.shape().pinned) == [0, 5]
    wait(document.edits.undo_shaping(pinned))
    assert not document.edits.shape()
    with pytest.raises(NothingToUndo):
        wait(document.edits.undo_shaping())


def test_what_was_undone_one_after_the_other_is_redone_the_other_way_round(
    document: Document,
) -> None:
    leaves = [document.leaf]
    for entry in (2, 5):
        wait(document.edits.pin([entry]))
        leaves.append(document.leaf)
    leaves.append(_compact(document))
    assert document.writer.appended(leaves[-1]) and not document.writer.appended(leaves[0])
    for leaf in leaves[-2::-1]:
        assert wait(document.edits.undo()).leaf == leaf
    for leaf in leaves[1:]:
        assert wait(document.edits.redo()) == document.leaf == leaf
    with pytest.raises(NothingToUndo):
        wait(document.edits.redo())


def test_what_cannot_be_shaped_is_refused_with_a_reason(document: Document) -> None:
    note = wait(document.edits.rename("A name"))
    for work, words in (
        (document.edits.pin([note]), "never sent"),
        (document.edits.omit([]), "No entry"),
        (document.edits.unpin([0]), "is pinned"),
        (document.edits.include([0]), "is omitted"),
        (document.edits.keep_user_messages(-1), "at least 0"),
    ):
        with pytest.raises(CannotShape, match=words):
            wait(work)
    pinned = wait(document.edits.pin([0])).entry
    with pytest.raises(CannotShape, match="already"):
        wait(document.edits.pin([0]))
    for entry in (0, note):
        with pytest.raises(NothingToUndo):
            wait(document.edits.undo_shaping(entry))
    wait(document.edits.undo_shaping(pinned))
    with pytest.raises(NothingToUndo):
        wait(document.edits.undo_shaping(pinned))
    wait(document.edits.pin([0]))
    wait(document.writer.move_leaf(0))
    with pytest.raises(CannotShape, match="not on the active path"):
        wait(document.edits.pin([5]))


def test_a_rule_is_replaced_by_another_and_not_by_itself(document: Document) -> None:
    for tokens in (30, 0, 30):
        wait(document.edits.keep_user_messages(tokens))
        with pytest.raises(CannotShape, match="already"):
            wait(document.edits.keep_user_messages(tokens))
    assert document.edits.shape().user_budget == (30, document.leaf)


def test_what_is_shaped_is_listed_with_what_says_so_and_whether_it_is_sent(
    document: Document,
) -> None:
    pinned = wait(document.edits.pin([2, 8])).entry
    omitted = wait(document.edits.omit([6])).entry
    rows = document.edits.shaped_rows(EXPLORER)
    assert [(row.entry, row.how, row.by, row.sent) for row in rows] == [
        (2, "pinned", pinned, "in place"),
        (6, "omitted", omitted, "not"),
        (8, "pinned", pinned, "in place"),
    ]
    compaction = _compact(document, replace(EXPLORER, keep_user_tokens=20_000))
    rows = document.edits.shaped_rows(EXPLORER)
    assert [(row.entry, row.how, row.by, row.sent) for row in rows] == [
        (0, "kept", compaction, "again"),
        (2, "pinned", pinned, "again"),
        (6, "omitted", omitted, "not"),
        (8, "pinned", pinned, "in place"),
    ]


def test_a_profile_keeps_the_users_messages_and_the_compaction_says_so(
    document: Document,
) -> None:
    keeping = replace(EXPLORER, keep_user_tokens=20_000)
    parts = document.compaction.preview(None, keeping, SMALL)
    assert parts.verdicts[0] == Verdict.PINNED and "these rules keep" in parts.reason(0)
    compaction = _compact(document, keeping)
    assert (
        document.payloads.shown.entry(compaction).recorded["details"][REPEATED_USER_TOKENS]
        == 20_000
    )
    context = document.context()
    assert context.again[0].why == "user-message" and context.again[0].by == compaction
    assert "Never touch the folder fixtures." in _texts(document)
    # The session's own rule goes before it, and is taken back like everything.
    wait(document.edits.keep_user_messages(0))
    assert not document.context().again
    wait(document.edits.undo())
    assert 0 in document.context().again


def test_it_all_is_there_when_the_session_is_opened_again_and_in_its_file(
    document: Document, bench: Workbench, database: Path, tmp_path: Path
) -> None:
    wait(document.edits.pin([5], "why"))
    wait(document.edits.omit([3]))
    wait(document.edits.keep_user_messages(100))
    _compact(document)
    seen = document.context()
    out = tmp_path / "out.jsonl"
    report = wait(bench.export(document.key, out))
    assert report.read_over == {
        "session-explorer/pin": 1,
        "session-explorer/omit": 1,
        "session-explorer/keep-user-messages": 1,
    }
    other = open_bench(tmp_path / "other.db")
    again = other.open_blocking(other.import_blocking(out).key).context()
    assert again.messages == seen.messages and again.again == dict(seen.again)
    assert again.omitted == dict(seen.omitted)
    other.client.close()
    other.store.close()
    reopened = open_bench(database)
    assert reopened.open_blocking(document.key).context().messages == seen.messages
    reopened.client.close()
    reopened.store.close()


def test_a_pinned_result_is_never_pruned(document: Document) -> None:
    policy = replace(EXPLORER.pruning, protect_tokens=0, minimum_savings=1, protected_tools=())  # type: ignore[type-var]
    before = {one.entry for one in document.edits.plan_pruning(EXPLORER, policy).results}
    assert 2 in before and 4 in before
    wait(document.edits.pin([2]))
    wait(document.edits.omit([4]))
    after = {one.entry for one in document.edits.plan_pruning(EXPLORER, policy).results}
    assert after == before - {2, 4}


def test_up_to_here_is_a_cut_after_the_whole_round(document: Document) -> None:
    parts = document.compaction.preview(None, EXPLORER, SMALL)
    cut = cut_after(document.tree, parts, 3)
    assert parts.path[cut] == 5
    with pytest.raises(CannotShape, match="no valid cut follows"):
        cut_after(document.tree, parts, 8)


def test_from_here_keeps_the_beginning_and_what_was_pinned_there(document: Document) -> None:
    wait(document.edits.pin([0]))
    wait(document.edits.omit([1]))
    wait(document.edits.keep_user_messages(500))
    plan = document.navigation.plan_from(6, EXPLORER)
    assert plan.left_behind[0] == 6 and document.tree.columns.ids[plan.new_leaf] == "e5"
    prepared = document.branches.preparation(plan, EXPLORER, SMALL)
    order = SummaryOrder("", EXTRACTIVE, lambda _purpose, _text: None, CancelToken())

    async def story() -> int:
        return await document.navigation.navigate(
            plan, await document.branches.summarize(plan, prepared, order)
        )

    summary = wait(story())
    context = document.context()
    assert context.messages == [0, 3, 4, 5, summary]
    shape = document.edits.shape()
    assert list(shape.pinned) == [0] and list(shape.omitted) == [1, 2]
    assert shape.user_budget is not None and shape.user_budget.tokens == 500
    assert document.payloads.shown.entry(summary).recorded["type"] == "branch_summary", (
        "what others follow as well"
    )


def test_from_here_says_why_it_cannot_start_there(document: Document) -> None:
    compaction = _compact(document)
    with pytest.raises(CannotShape, match=f"from before #{compaction}"):
        document.navigation.plan_from(2, EXPLORER)
    wait(document.writer.move_leaf(8))
    with pytest.raises(CannotShape, match="Nothing would be kept before #0"):
        document.navigation.plan_from(0, EXPLORER)


def test_a_play_says_the_same_of_its_own_entries(document: Document, bench: Workbench) -> None:
    wait(document.edits.pin([0]))
    wait(document.edits.omit([2]))
    play = recorded_session(document)
    rules = EffectiveRules(EXPLORER, Settings(), EXTRACTIVE, enabled=False)

    async def story() -> Document:
        target = await bench.create("/somewhere", "Replay")
        player = Player(play, target, lambda: rules, Pace(0))
        played = await player.run(CancelToken(), lambda _event: None)
        assert played.end == "done", played.error
        return target

    target = wait(story())
    shape = target.edits.shape()
    assert [target.payloads.shown.entry(at).recorded["message"]["role"] for at in shape.pinned] == [
        "user"
    ]
    roles = [target.payloads.shown.entry(at).recorded["message"]["role"] for at in shape.omitted]
    assert roles == ["assistant", "toolResult"]
