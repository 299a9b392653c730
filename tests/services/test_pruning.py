"""Pruning a stored session: appended, followed everywhere, taken back, exported (A13)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import prune_note
from explorer.services.changes import EntriesAppended, LeafMoved
from explorer.services.document import Document
from explorer.services.edits import NothingToUndo
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.workbench import Workbench
from tests.pi_json import entry_body
from tests.services.conftest import open_bench
from tests.store.sources import message, write_file

EXPLORER = PROFILES["explorer"]
POLICY = Pruning(protect_tokens=100, minimum_savings=1, protected_tools=())


def wait(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def _entries() -> list[dict[str, Any]]:
    """Two large results, a message, and a small result that is protected."""
    found = [message(0, None, "Look at the log.")]
    for at, size in ((1, 2_000), (3, 3_000), (6, 600)):
        if at == 6:
            found.append(message(5, "e4", "And now?"))
        call = {"type": "toolCall", "id": f"c{at}", "name": "bash", "arguments": {"command": "x"}}
        reply = message(at, f"e{at - 1}", "", "assistant")
        reply["message"] |= {"content": [call], "stopReason": "toolUse", "provider": "p"}
        reply["message"] |= {"model": "m", "usage": {"totalTokens": 5_000 + at}}
        result = message(at + 1, f"e{at}", "word" * size, "toolResult")
        result["message"] |= {"toolCallId": f"c{at}", "toolName": "bash", "isError": False}
        found += [reply, result]
    return found


@pytest.fixture
def document(bench: Workbench, tmp_path: Path) -> Document:
    path = write_file(tmp_path / "pruned.jsonl", _entries())
    return bench.open_blocking(bench.import_blocking(path).key)


def _prune(document: Document) -> int:
    return wait(document.edits.prune(document.edits.plan_pruning(EXPLORER, POLICY)))


def test_a13_a_prune_is_an_entry_of_its_own_and_everything_follows_it(document: Document) -> None:
    changes: list[object] = []
    document.shared.hub.subscribe(changes.append)
    lines = [document.payloads.shown.raw(at) for at in range(len(document.tree))]
    before = document.tokens.counted_size(EXPLORER)
    assert document.tokens.context_size(EXPLORER).usage_tokens == 5_006
    plan = document.edits.plan_pruning(EXPLORER, POLICY)
    index = wait(document.edits.prune(plan, "Asked for."))
    entry = document.payloads.shown.entry(index).recorded
    assert (entry["type"], entry["customType"], entry["parentId"]) == ("custom", PRUNE_TYPE, "e7")
    assert entry["data"]["results"] == [
        {"id": "e2", "tokens": 2_000, "text": prune_note(2_000)},
        {"id": "e4", "tokens": 3_000, "text": prune_note(3_000)},
    ]
    assert entry["data"]["saved"] == plan.saved
    assert entry["data"]["reason"].startswith("Asked for. 2 tool results")
    assert lines == [document.payloads.shown.raw(at) for at in range(len(lines))], (
        "the log is as it was"
    )
    assert [type(one) for one in changes] == [EntriesAppended, LeafMoved]
    assert document.tokens.counted_size(EXPLORER) == before - plan.saved
    size = document.tokens.context_size(EXPLORER)
    assert (size.usage_tokens, size.tokens) == (0, before - plan.saved), "E7: counted anew"
    said = [one.text for one in document.agent.messages() if one.role == "tool"]
    assert said == [prune_note(2_000), prune_note(3_000), "word" * 600]
    shown = document.compaction.preview(None, EXPLORER, Settings(keep_recent_tokens=100))
    prompts = [request.prompt for request in document.compaction.requests(shown)]
    assert prune_note(3_000) in "".join(prompts) and "word" * 100 not in "".join(prompts)
    with pytest.raises(ValueError, match="nothing to prune"):
        _prune(document)


def test_a13_a_plan_of_an_older_leaf_is_refused(document: Document) -> None:
    plan = document.edits.plan_pruning(EXPLORER, POLICY)
    wait(document.edits.rename("Elsewhere"))
    with pytest.raises(ValueError, match="moved on"):
        wait(document.edits.prune(plan))
    floor = document.edits.plan_pruning(EXPLORER, replace(POLICY, minimum_savings=50_000))
    with pytest.raises(ValueError, match="saves only"):
        wait(document.edits.prune(floor))


def test_undo_of_a_prune_at_the_leaf_moves_the_leaf(document: Document) -> None:
    leaf, size = document.leaf, document.tokens.context_size(EXPLORER)
    index = _prune(document)
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.entry, undone.leaf) == ("prune", index, leaf)
    assert document.leaf == leaf and document.tokens.context_size(EXPLORER) == size
    assert not document.context().pruned


def test_undo_of_a_prune_that_the_session_went_on_from_appends_an_entry(document: Document) -> None:
    index = _prune(document)
    note = wait(document.edits.rename("Later"))
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.entry) == ("prune", index)
    last = document.payloads.shown.entry(document.leaf).recorded
    assert last["data"] == {"undoes": document.tree.columns.ids[index]}
    assert document.tree.columns.parent[document.leaf] == note
    assert not document.context().pruned
    with pytest.raises(NothingToUndo):
        wait(document.edits.undo())
    assert document.context(note).pruned, "above the undo it still holds"


def test_undo_takes_back_the_later_of_a_compaction_and_a_prune(document: Document) -> None:
    pruned = _prune(document)
    fields = {"summary": "S", "first_kept_entry_id": "e5", "tokens_before": 9}
    compacted = wait(document.writer.append(entry_body("compaction", **fields), document.leaf))
    assert wait(document.edits.undo()).entry == compacted
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.entry) == ("prune", pruned)
    again = _prune(document)
    wait(document.writer.append(entry_body("compaction", **fields), document.leaf))
    late = wait(document.edits.undo_prune())
    assert (late.kind, late.entry) == ("prune", again), "the one that is asked for"
    assert wait(document.edits.undo()).kind == "compaction"


def test_the_prune_is_there_when_the_session_is_opened_again_and_in_its_file(
    document: Document, bench: Workbench, database: Path, tmp_path: Path
) -> None:
    index = _prune(document)
    wait(document.edits.rename("Later"))
    pruned = dict(document.context().pruned)
    other = open_bench(database)
    again = other.open_blocking(document.key)
    assert dict(again.context().pruned) == pruned and len(pruned) == 2
    other.client.close()
    other.store.close()
    out = tmp_path / "out.jsonl"
    wait(bench.export(document.key, out))
    written = {one["id"]: one for one in map(json.loads, out.read_text("utf-8").splitlines())}
    assert (
        written[document.tree.columns.ids[index]] == document.payloads.shown.entry(index).recorded
    )
    assert written["e2"] == document.payloads.shown.entry(2).recorded, "the result is whole"
    assert "word" * 2_000 in json.dumps(written["e2"])


def test_rules_that_never_prune_lend_the_corrected_ones_to_a_person(document: Document) -> None:
    plan = document.edits.plan_pruning(PROFILES["pi"])
    assert plan.policy == EXPLORER.pruning
