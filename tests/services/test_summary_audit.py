"""The audit of an opened session: what a summary keeps, with what a person pinned (D)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from explorer.audit.difference import difference
from explorer.audit.findings import Fidelity, Finding, Group
from explorer.audit.words import NOTHING_BEFORE, headline, none_sentence
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.facts import Fact
from explorer.models.client import CancelToken
from explorer.services.document import Document
from explorer.services.draft_records import SummaryOrder, recorded_inputs
from explorer.services.summary_audit import (
    Auditor,
    calls_cost,
    draft_candidate,
    entry_candidate,
)
from explorer.workbench import Workbench
from tests.formats.claude_lines import Lines

NOTHING = "## Goal\nNothing of it all."


def lost_of(found: Fidelity, entry: int) -> list[Fact]:
    """What an entry alone says and nothing after the summary does."""
    lost = [*found.findings, *(fact for facts in found.not_carried.values() for fact in facts)]
    facts = [one.fact if isinstance(one, Finding) else one for one in lost]
    return [fact for fact in facts if fact.sources == (entry,)]


def test_what_is_pinned_is_kept_whatever_the_summary_says(document: Document) -> None:
    profile = PROFILES["explorer"]
    settings = replace(Settings.of(profile), keep_recent_tokens=2_000)
    found = (
        Auditor(document)
        .draft(document.compaction.preview(None, profile, settings), NOTHING)
        .fidelity
    )
    (first,) = found.of(Group.INSTRUCTION)[:1]
    entry = first.fact.last
    assert lost_of(found, entry)
    asyncio.run(document.edits.pin([entry]))
    shown = document.compaction.preview(None, profile, settings)
    assert not lost_of(Auditor(document).draft(shown, NOTHING).fidelity, entry)


def test_of_two_compactions_with_one_text_each_has_the_draft_that_it_was_made_from(
    document: Document,
) -> None:
    profile, leaf = PROFILES["explorer"], document.leaf
    made = []
    for tokens in (5_000, 2_000):
        settings = replace(Settings.of(profile), keep_recent_tokens=tokens)
        shown = document.compaction.preview(leaf, profile, settings)
        order = SummaryOrder(f"Of {tokens}.", "offline/extractive", lambda *_: None, CancelToken())
        draft = asyncio.run(document.compaction.summarize(shown, order))
        made.append(asyncio.run(document.compaction.commit(draft, NOTHING)))
        asyncio.run(document.writer.move_leaf(leaf))
    told = [entry_candidate(document, entry).settings["Instructions"] for entry in made]
    assert told == ["Of 5000.", "Of 2000."]


def message(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    said = {"role": role, "content": content, "stopReason": "stop"} if role != "user" else {
        "role": role, "content": text,
    }  # fmt: skip
    return {"type": "message", "id": name, "parentId": parent, "message": {**said, **more}}


def branch(name: str, left: str, summary: str, modified: Sequence[str] = ()) -> dict[str, Any]:
    details = {"readFiles": [], "modifiedFiles": list(modified)}
    return {
        "type": "branch_summary", "id": name, "parentId": "u1", "fromId": left,
        "summary": summary, "details": details,
    }  # fmt: skip


def left_twice(bench: Workbench, folder: Path, left: str = "a2") -> Document:
    """One branch left behind, told by two branch summaries."""
    edit = {"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "src/upload.py"}}
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T09:00:00Z"},
        message("u1", None, "user", "Never push to main. The window is 512 MB."),
        message("u2", "u1", "user", "Limit uploads to 37 MB. Never touch docs/limits.md."),
        message("a1", "u2", "assistant", "Editing.", content=[edit]),
        message("r1", "a1", "toolResult", "done", toolCallId="c1", toolName="edit"),
        message("a2", "r1", "assistant", "Decision: uploads go through src/upload.py in 8 parts."),
        branch("b1", left, "## Progress\n- Uploads are limited to 37 MB in `src/upload.py`",
               ["src/upload.py", "src/ghost.py"]),
        branch("b2", left, "## Progress\n- Something was done to uploads, in 9 parts"),
    ]  # fmt: skip
    path = folder / "left.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return bench.open_blocking(bench.import_blocking(path).key)


def test_branch_summaries_are_held_against_the_branch_that_was_left(
    bench: Workbench, tmp_path: Path
) -> None:
    """E12: what one of them keeps of it and another has lost is told."""
    document = left_twice(bench, tmp_path)
    auditor = Auditor(document)
    first, second = (document.tree.index_of(name) for name in ("b1", "b2"))
    told = [auditor.branch(entry) for entry in (first, second)]
    assert told[0] is not None and told[1] is not None
    assert auditor.branch(first) is told[0]
    (wrong,) = told[1].fidelity.of(Group.WRONG) or (None,)
    assert wrong is None or wrong.fact.last == 4
    found = difference(
        [
            entry_candidate(document, entry, audited)
            for entry, audited in zip((first, second), told, strict=True)
        ]
    )
    assert not found.not_audited
    alone = [row.first.text for row in found.findings if row.has(1) and not row.has(0)]
    assert any("37 MB" in text for text in alone)
    shared = {one.text for one in told[0].fidelity.findings}
    assert not any("limits.md" in text for text in alone) and any("limits" in t for t in shared)


def test_where_a_branch_was_left_is_not_known_nothing_is_won_or_lost(
    bench: Workbench, tmp_path: Path
) -> None:
    document = left_twice(bench, tmp_path, left="gone")
    auditor = Auditor(document)
    entries = [document.tree.index_of(name) for name in ("b1", "b2")]
    told = [auditor.branch(entry) for entry in entries]
    assert told == [None, None]
    found = difference([entry_candidate(document, entry) for entry in entries])
    assert len(found.not_audited) == 2 and not found.findings


def test_a_draft_is_compared_with_all_that_is_known_of_how_it_was_made(document: Document) -> None:
    profile = PROFILES["explorer"]
    settings = replace(Settings.of(profile), keep_recent_tokens=5_000)
    shown = document.compaction.preview(None, profile, settings)
    order = SummaryOrder("Be brief.", "offline/extractive", lambda *_: None, CancelToken())
    draft = asyncio.run(document.compaction.summarize(shown, order))
    found = draft_candidate(document, draft, draft.summary, "one", shown)
    assert isinstance(shown.preparation, Preparation)
    assert found.settings == {
        "Profile": profile.title,
        "Keeps recent tokens": "5,000",
        "Reserve": f"{settings.reserve_tokens:,}",
        "Context window": f"{settings.context_window:,}",
        "Instructions": "Be brief.",
        "Model": "offline/extractive",
        "Keeps from": f"#{shown.preparation.first_kept}",
        "Made at": f"#{document.leaf}",
        "Text": "as it was written",
    }
    assert (found.name, found.summary, found.cost) == ("one", draft.summary, 0.0)
    assert found.tokens_after == shown.after(found.tokens) and found.elapsed_ms == draft.elapsed_ms
    edited = draft_candidate(document, draft, "Other.", "two")
    assert (edited.settings["Text"], edited.tokens_after) == ("edited", -1)
    refused = document.compaction.preview(0, profile, settings)
    unknown = draft_candidate(document, draft, draft.summary, "three", refused)
    assert "Keeps from" not in unknown.settings
    assert calls_cost(document, []) is None
    asked = draft.attempts[0].request
    unpaid = [replace(draft.attempts[0], request=replace(asked, model="openai/unheard-of"))]
    assert calls_cost(document, [*draft.attempts, *unpaid]) is None
    made = asyncio.run(document.compaction.commit(draft))
    stored = entry_candidate(document, made)
    assert stored.settings == found.settings and stored.cost == 0.0
    told = recorded_inputs(document.tree, document.shared.store.drafts(document.key))
    previous = shown.preparation.previous_compaction
    assert told[made] <= {*shown.preparation.history, *shown.preparation.turn_prefix, previous}


def test_of_a_compaction_that_its_file_begins_with_nothing_is_said_to_be_found(
    bench: Workbench, tmp_path: Path
) -> None:
    lines = Lines()
    lines.boundary("b", None)
    lines.summary("s", "Always run the tests before a commit.")
    lines.user("u", "Go on.")
    path = tmp_path / "session.jsonl"
    lines.write(path)
    document = bench.open_blocking(bench.import_blocking(path).key)
    (entry,) = document.tree.columns.compactions
    assert document.tree.columns.parent[entry] < 0, "nothing is before it"
    found = Auditor(document).compaction(entry).fidelity
    assert headline(found) == NOTHING_BEFORE and not none_sentence(found)
