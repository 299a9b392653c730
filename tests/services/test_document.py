"""An opened session: draft, commit, undo, navigation, and what survives a restart."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from explorer.compaction.partition import Verdict
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import (
    Cancelled,
    CancelToken,
    Event,
    Finished,
    ModelClient,
    ModelError,
    ModelRequest,
    TextDelta,
)
from explorer.services.changes import Change, DraftChanged, EntriesAppended, LeafMoved
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.services.edits import NothingToUndo
from explorer.services.open_session import resolve_entry
from explorer.services.privacy import AskedModels
from explorer.session.kinds import Kind
from explorer.tokens.counters import EstimateCounter
from explorer.workbench import Workbench
from tests.pi_json import entry_body
from tests.services.conftest import close_bench, open_bench
from tests.store.conftest import eventually

T = TypeVar("T")
EXPLORER = PROFILES["explorer"]
SETTINGS = replace(Settings.of(EXPLORER), keep_recent_tokens=5000)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def order(instructions: str = "", model: str = "offline/extractive") -> SummaryOrder:
    return SummaryOrder(instructions, model, lambda purpose, text: None, CancelToken())


def draft(document: Document, instructions: str = "") -> Draft:
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    return wait(document.compaction.summarize(shown, order(instructions)))


class Answering(ModelClient):
    """A client that answers with given events, for answers that offline models never give."""

    def __init__(self, *events: Event | Exception) -> None:
        super().__init__()
        self._events = events

    async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        for event in self._events:
            await asyncio.sleep(0)
            if cancel.cancelled:
                raise Cancelled
            if isinstance(event, Exception):
                raise event
            yield event


def answer_with(document: Document, client: ModelClient) -> None:
    document.models = AskedModels(
        client, document.shared.privacy, document.shared.store, document.row
    )


def state(document: Document) -> tuple[int, int, list[int]]:
    return len(document.tree), document.leaf, document.context().messages


def test_a30_commit_appends_the_entry_and_rebuilds_the_context(document: Document) -> None:
    leaf, made = document.leaf, draft(document)
    assert made.status == "done"
    index = wait(document.compaction.commit(made))
    entry = document.payloads.shown.entry(index).recorded
    assert entry["type"] == "compaction"
    assert entry["firstKeptEntryId"] == made.first_kept_id
    assert entry["tokensBefore"] == made.tokens_before
    assert set(entry["details"]) >= {"readFiles", "modifiedFiles"}
    assert document.tree.columns.parent[index] == leaf
    assert document.leaf == index
    messages = document.context().messages
    assert messages[0] == index
    assert messages[1] == document.tree.index_of(made.first_kept_id)


def test_an_edited_text_is_what_is_stored(document: Document) -> None:
    made = draft(document)
    index = wait(document.compaction.commit(made, made.summary + "\nNever forget this line."))
    assert (
        document.payloads.shown.entry(index).recorded["summary"].endswith("Never forget this line.")
    )
    row = document.shared.store.drafts(document.key)[-1]
    assert (row.status, row.summary) == ("committed", made.summary)
    assert row.edited_text is not None and row.edited_text.endswith("this line.")


def test_a_draft_records_the_exact_requests(document: Document) -> None:
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    requests = document.compaction.requests(shown, "Name every port.")
    made = draft(document, "Name every port.")
    row = document.shared.store.drafts(document.key)[-1]
    recorded = [ModelRequest.from_json(item["request"]) for item in row.requests]
    assert [r.messages[0].text for r in recorded] == [r.system for r in requests]
    assert [r.messages[1].text for r in recorded] == [r.prompt for r in requests]
    assert all("Name every port." in r.messages[1].text for r in recorded)  # E9
    assert (row.model, row.instructions) == (made.model, "Name every port.")
    assert row.settings["keep_recent_tokens"] == 5000
    assert [answer["text"] for answer in row.answers] == [part.text for part in made.parts]


def test_undo_moves_the_leaf_to_the_parent_and_loses_nothing(
    bench: Workbench, document: Document
) -> None:
    moves: list[tuple[int, int]] = []
    bench.subscribe(lambda c: moves.append((c.old, c.new)) if isinstance(c, LeafMoved) else None)
    before = state(document)
    index = wait(document.compaction.commit(draft(document)))
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.entry, undone.leaf) == ("compaction", index, before[1])
    assert state(document)[1:] == before[1:]
    assert document.payloads.shown.entry(index).recorded["type"] == "compaction"
    wait(document.navigation.navigate(document.navigation.plan(index)))
    assert document.context().compaction == index
    wait(document.writer.move_leaf(index))
    assert moves == [(before[1], index), (index, before[1]), (before[1], index)]


def test_a_compaction_that_was_undone_is_counted_no_more(
    bench: Workbench, document: Document
) -> None:
    """Until it is gone back to."""
    assert bench.sessions()[0].compactions == 2
    index = wait(document.compaction.commit(draft(document)))
    assert not document.tree.is_undone(index, document.leaf)
    assert bench.sessions()[0].compactions == 3
    wait(document.edits.undo())
    assert document.tree.is_undone(index, document.leaf)
    assert bench.sessions()[0].compactions == 2
    wait(document.navigation.navigate(document.navigation.plan(index)))
    assert bench.sessions()[0].compactions == 3


def test_a_compaction_that_was_undone_is_no_branch(bench: Workbench, document: Document) -> None:
    """Until it is gone back to."""

    def branches() -> int:
        return bench.sessions()[0].branches

    eventually(lambda: branches() > 0, "the branches are counted")
    before, inner = branches(), document.tree.columns.parent[document.leaf]
    wait(document.navigation.navigate(document.navigation.plan(inner)))
    assert document.leaf == inner and branches() == before
    index = wait(document.compaction.commit(draft(document)))
    eventually(lambda: branches() == before + 1, "it is a branch")
    wait(document.edits.undo())
    assert branches() == before, "at once"
    assert len(document.tree.branch_ends(document.leaf)) == before
    wait(document.navigation.navigate(document.navigation.plan(index)))
    assert branches() == before + 1


def test_a_draft_of_an_older_place_is_committed_there_and_undo_comes_back(
    document: Document,
) -> None:
    made, before = draft(document), document.leaf
    wait(document.writer.append(entry_body("session_info", name="Later"), before))
    later = document.leaf
    with pytest.raises(ValueError, match="moved on since this draft"):
        wait(document.compaction.commit(made))
    with pytest.raises(ValueError, match="moved on since this draft"):
        wait(document.compaction.commit(made, leaving=before))
    assert document.leaf == later, "who saw another leaf has not agreed to leave this one"
    index = wait(document.compaction.commit(made, leaving=later))
    assert (document.leaf, document.tree.columns.parent[index]) == (index, before)
    undone = wait(document.edits.undo())
    assert (undone.kind, undone.entry, undone.leaf) == ("compaction", index, later)
    assert document.leaf == later


def test_undo_without_a_compaction_says_so(document: Document) -> None:
    wait(document.writer.move_leaf(3))
    with pytest.raises(NothingToUndo, match="no compaction on the active path"):
        wait(document.edits.undo())


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize(
    ("events", "said"),
    [
        ((Finished("stop"),), "empty"),
        ((TextDelta("## Goal\nhalf a"), Finished("length")), "cut short"),
        ((TextDelta("some"), ModelError("rate_limit", "slow down, please")), "slow down"),
        ((TextDelta("word " * 90_000), Finished("stop")), "nothing is gained"),
    ],
    ids=["E4 empty", "E5 cut short", "E14 failed", "E16 larger than its input"],
)
def test_b12_a_bad_answer_changes_nothing_and_is_recorded(
    document: Document, events: tuple[Event | Exception, ...], said: str
) -> None:
    before = state(document)
    answer_with(document, Answering(*events))
    with pytest.raises(DraftFailed, match=said):
        draft(document)
    assert state(document) == before
    row = document.shared.store.drafts(document.key)[-1]
    assert row.status == "failed"
    assert said in row.problem


def test_a43_a_cancelled_draft_changes_nothing(document: Document) -> None:
    before, cancel = state(document), CancelToken()
    answer_with(document, Answering(TextDelta("a"), TextDelta("b"), Finished("stop")))
    asked = SummaryOrder("", "offline/extractive", lambda purpose, text: cancel.cancel(), cancel)
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    with pytest.raises(Cancelled):
        wait(document.compaction.summarize(shown, asked))
    assert state(document) == before
    assert document.shared.store.drafts(document.key)[-1].status == "cancelled"


def test_e14_a_failed_draft_cannot_be_committed(document: Document) -> None:
    made = replace(draft(document), status="failed", problem="It was cut short.")
    before = state(document)
    with pytest.raises(ValueError, match="cut short"):
        wait(document.compaction.commit(made))
    with pytest.raises(ValueError, match="empty summary"):
        wait(document.compaction.commit(draft(document), "  \n"))
    assert state(document) == before


def test_a_draft_does_not_hide_what_was_said_since(document: Document) -> None:
    made = draft(document)
    message = {"role": "user", "content": [{"type": "text", "text": "one more thing"}]}
    wait(document.writer.append(entry_body("message", message=message), document.leaf))
    with pytest.raises(ValueError, match="moved on"):
        wait(document.compaction.commit(made))


def test_a_compaction_elsewhere_starts_a_branch_there(document: Document) -> None:
    at = document.tree.path(document.leaf)[-20]
    shown = document.compaction.preview(at, EXPLORER, replace(SETTINGS, keep_recent_tokens=1000))
    assert isinstance(shown.preparation, Preparation)
    made = wait(document.compaction.summarize(shown, order()))
    index = wait(document.compaction.commit(made))
    assert document.tree.columns.parent[index] == at
    assert document.leaf == index


def test_a34_a35_a_branch_summary_hangs_at_the_target_and_names_what_was_left(
    document: Document,
) -> None:
    old = document.leaf
    target = document.tree.path(old)[-30]
    while document.tree.kind(target) is not Kind.ASSISTANT:
        target = document.tree.columns.parent[target]
    plan = document.navigation.plan(target)
    prepared = document.branches.preparation(plan, EXPLORER, SETTINGS)
    made = wait(document.branches.summarize(plan, prepared, order("Dwell on rule 2.")))
    assert document.leaf == old  # A37: made before the leaf moves
    index = wait(document.navigation.navigate(plan, made))
    entry = document.payloads.shown.entry(index).recorded
    assert entry["type"] == "branch_summary"
    assert entry["parentId"] == document.tree.columns.ids[target]
    assert entry["fromId"] == document.tree.columns.ids[old]
    assert document.leaf == index
    assert document.context().messages[-1] == index


def test_a_plan_is_void_when_the_session_has_moved_on(document: Document) -> None:
    plan = document.navigation.plan(3)
    wait(document.edits.set_label(5, "here"))
    with pytest.raises(ValueError, match="moved on"):
        wait(document.navigation.navigate(plan))


def test_labels_are_entries_and_the_last_one_wins(document: Document) -> None:
    wait(document.edits.set_label(5, "first"))
    wait(document.edits.set_label(5, "second"))
    assert document.tree.labels()[5] == "second"
    wait(document.edits.set_label(5, ""))
    assert 5 not in document.tree.labels()


def test_an_entry_may_go_below_the_first_or_below_none(document: Document) -> None:
    said = entry_body("message", message={"role": "user", "content": "Anew."})
    for parent in (0, -1):
        index = wait(document.writer.append_beside(said, parent))
        assert document.tree.columns.parent[index] == parent
        assert document.leaf != index


def test_entries_are_named_by_id_by_its_start_or_by_number(document: Document) -> None:
    ids = document.tree.columns.ids
    assert resolve_entry(document, ids[7]) == 7
    assert resolve_entry(document, "#7") == 7
    assert resolve_entry(document, ids[7][:7]) == 7
    with pytest.raises(ValueError, match="no entry"):
        resolve_entry(document, "nothing-like-it")
    with pytest.raises(ValueError, match="entries"):
        resolve_entry(document, "")


def test_counts_are_kept_and_used_by_profiles_that_count_what_is_sent(
    document: Document, bench: Workbench
) -> None:
    assert wait(document.tokens.count(EstimateCounter(), lambda done, total: None, lambda: False))
    assert document.tokens.weights_for(PROFILES["pi"]) is None
    weights = document.tokens.weights_for(EXPLORER)
    assert weights is not None and len(weights) == len(document.tree)
    wait(document.edits.set_label(5, "later entries are not counted yet"))
    assert list(document.tokens.weights_for(EXPLORER) or ())[-1] == -1
    bench.close(document.key)
    again = bench.open_blocking(document.key)
    assert not wait(again.tokens.take_stored(EstimateCounter()))  # one entry is new
    assert not wait(again.tokens.count(EstimateCounter(), lambda done, total: None, lambda: True))
    wait(again.tokens.count_new())
    assert again.tokens.weights is None, "nobody wanted any to be counted"
    assert wait(again.tokens.count(EstimateCounter(), lambda done, total: None, lambda: False))
    wait(again.edits.set_label(6, "counted"))
    wait(again.tokens.count_new())
    assert again.tokens.weights is not None
    assert len(again.tokens.weights) == len(again.tree) and min(again.tokens.weights) >= 0


def test_who_listens_hears_of_each_step_of_a_draft(document: Document) -> None:
    changes: list[Change] = []
    document.shared.hub.subscribe(changes.append)
    made = draft(document)
    steps = [one for one in changes if isinstance(one, DraftChanged)]
    assert steps == [DraftChanged(document.key, made.id)], "it is done"
    wait(document.drafts.mark(made, "discarded", made.summary))
    assert changes[-1] == DraftChanged(document.key, made.id)


def test_everything_is_there_after_a_restart(database: Path) -> None:
    from tests.services.conftest import SAMPLE

    bench = open_bench(database)
    document = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    document.choices.set("unsent", "half a thought")
    made = draft(document)
    document.drafts.store_text(made, "my own words")
    wait(document.edits.rename("Another name"))
    leaf, size = document.leaf, len(document.tree)
    close_bench(bench)

    bench = open_bench(database)
    document = bench.open_blocking(bench.sessions()[0].key)
    assert (document.leaf, len(document.tree), document.title) == (leaf, size, "Another name")
    assert document.choices.all()["unsent"] == "half a thought"
    [(waiting, text)] = document.drafts.waiting()
    assert waiting.leaf != document.leaf, "the rename moved the leaf on"
    wait(document.writer.move_leaf(made.leaf))
    [(waiting, text)] = document.drafts.waiting()
    assert (waiting.summary, text) == (made.summary, "my own words")
    index = wait(document.compaction.commit(waiting, text))
    assert document.payloads.shown.entry(index).recorded["summary"] == "my own words"
    assert document.drafts.waiting() == []
    close_bench(bench)


def test_of_drafts_elsewhere_those_of_the_newest_place_wait(document: Document) -> None:
    settings = replace(SETTINGS, keep_recent_tokens=1000)

    def drafted(at: int) -> Draft:
        return wait(
            document.compaction.summarize(
                document.compaction.preview(at, EXPLORER, settings), order()
            )
        )

    def waiting() -> list[int]:
        return [one.id for one, _ in document.drafts.waiting()]

    path = document.tree.path(document.leaf)
    older, newer, beside = drafted(path[-40]), drafted(path[-20]), drafted(path[-20])
    assert waiting() == [newer.id, beside.id]
    here = drafted(document.leaf)
    assert waiting() == [newer.id, beside.id, here.id]
    # Each is shown cut as it was made, whatever would be kept by now.
    for most, shown_now in ((2, [beside, here]), (9, [newer, beside, here])):
        previews = document.compaction.waiting_previews(EXPLORER, SETTINGS, most)
        assert [one.id for one, _, _ in previews] == [one.id for one in shown_now]
        for draft_shown, shown, text in previews:
            assert isinstance(shown.preparation, Preparation)
            kept = document.tree.columns.ids[shown.preparation.first_kept]
            assert (shown.path[-1], kept) == (draft_shown.leaf, draft_shown.first_kept_id)
            assert text == draft_shown.summary
    wait(document.drafts.mark(newer, "discarded", newer.summary))
    assert waiting() == [beside.id, here.id]
    wait(document.compaction.commit(here))
    assert waiting() == [beside.id]
    wait(document.compaction.commit(beside, leaving=document.leaf))
    assert waiting() == [older.id], "where one was committed, the others are settled"
    again = drafted(path[-20])
    assert waiting() == [again.id], "but not one that was made there since"


def test_another_window_is_followed(document: Document, bench: Workbench, database: Path) -> None:
    seen: list[Change] = []
    bench.subscribe(seen.append)
    other = open_bench(database)
    theirs = other.open_blocking(document.key)
    index = wait(theirs.edits.set_label(5, "theirs"))
    bench.pull()
    assert document.tree.labels()[5] == "theirs"
    assert [c for c in seen if isinstance(c, EntriesAppended)] == [
        EntriesAppended(document.key, index, 1)
    ]
    assert not [c for c in seen if isinstance(c, LeafMoved)]
    mine = wait(document.edits.set_label(6, "mine"))
    assert mine == index + 1
    close_bench(other)


def test_export_opens_at_the_same_place(
    document: Document, bench: Workbench, tmp_path: Path
) -> None:
    wait(document.navigation.navigate(document.navigation.plan(9)))
    out = tmp_path / "out.jsonl"
    wait(bench.export(document.key, out))
    last = json.loads(out.read_text("utf-8").splitlines()[-1])
    assert last["parentId"] == document.tree.columns.ids[document.leaf]
    again = bench.open_blocking(bench.import_blocking(out).key)
    assert again.context().messages[-1:] == document.context().messages[-1:]


def test_e22_equal_summaries_are_told_apart(document: Document) -> None:
    """Nothing looks for an entry by its text."""
    first = wait(document.compaction.commit(draft(document), "the very same words"))
    message = {"role": "user", "content": [{"type": "text", "text": "go on " * 4000}]}
    wait(document.writer.append(entry_body("message", message=message), document.leaf))
    made = draft(document)
    second = wait(document.compaction.commit(made, "the very same words"))
    assert (
        document.payloads.shown.entry(first).recorded["summary"]
        == document.payloads.shown.entry(second).recorded["summary"]
    )
    assert document.context().compaction == second
    assert document.payloads.shown.previews([first]) == document.payloads.shown.previews([second])
    wait(document.edits.undo())
    assert document.context().compaction == first


def test_a_file_that_went_on_is_followed(
    document: Document, bench: Workbench, tmp_path: Path
) -> None:
    """A session that is open while its agent works: importing again shows what is new."""
    from tests.services.conftest import SAMPLE

    file = tmp_path / "live.jsonl"
    lines = SAMPLE.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-3]), "utf-8")
    key = wait(bench.import_file(file)).key
    opened = wait(bench.open(key))
    before = opened.leaf
    file.write_text("".join(lines), "utf-8")
    report = wait(bench.import_file(file))
    assert (report.key, report.added) == (key, 3)
    assert opened.leaf == before + 3 == len(opened.tree) - 1


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 8, 13])
def test_a43_who_is_cancelled_while_a_draft_is_stored_leaves_it_whole(
    document: Document, looks: int
) -> None:
    """The database, the tree and the leaf agree, wherever the cancel falls."""
    made = draft(document)
    before = len(document.tree)

    async def commit_and_leave() -> None:
        task = asyncio.ensure_future(document.compaction.commit(made))
        for _ in range(looks):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)

    wait(commit_and_leave())
    stored = document.shared.store.load(document.key)
    assert (len(stored.tree), stored.leaf) == (len(document.tree), document.leaf)
    status = document.shared.store.drafts(document.key)[-1].status
    if looks:
        assert (len(document.tree), status) == (before + 1, "committed")
    else:
        assert (len(document.tree), status) == (before, "done")


def test_b17_files_that_only_failed_calls_named_are_kept_apart(document: Document) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "never.py"}}
    failed = {"role": "toolResult", "toolCallId": "c1", "content": [], "isError": True}
    said = [
        {"role": "assistant", "content": [call], "stopReason": "toolUse"},
        failed,
        *({"role": "user", "content": "go on " * 3000} for _ in range(3)),
    ]
    for message in said:
        wait(document.writer.append(entry_body("message", message=message), document.leaf))
    entry = document.payloads.shown.entry(
        wait(document.compaction.commit(draft(document)))
    ).recorded
    assert entry["details"]["failedFiles"] == ["never.py"]
    assert "never.py" not in entry["details"]["modifiedFiles"]
    assert "<failed-files>\nnever.py\n</failed-files>" in entry["summary"]


def test_e16_the_summary_that_is_updated_counts_once(document: Document) -> None:
    """What an update takes the place of: what came since, and the summary before it."""
    shown = document.compaction.preview(None, EXPLORER, SETTINGS, cut=_unsplit(document))
    previous = shown.preparation.cuts.view.compaction
    assert shown.verdicts[previous] == Verdict.TO_SUMMARIZE
    assert shown.weight(previous) > 100
    told = sum(
        shown.weight(at)
        for at, verdict in enumerate(shown.verdicts)
        if verdict == Verdict.TO_SUMMARIZE
    )
    answer_with(document, Answering(TextDelta("word" * told), Finished("stop")))
    with pytest.raises(DraftFailed, match="nothing is gained"):
        wait(document.compaction.summarize(shown, order()))


def _unsplit(document: Document) -> int:
    prepared = document.compaction.preview(None, EXPLORER, SETTINGS).preparation
    assert isinstance(prepared, Preparation)
    return prepared.turn_start if prepared.is_split_turn else prepared.cut


def test_a_choice_is_known_before_the_database_knows_it(document: Document) -> None:
    """Whoever opens the session a moment later finds it as it was chosen."""
    for number in range(50):
        document.choices.set("agent_model", f"offline/{number}")
        assert document.choices.all()["agent_model"] == f"offline/{number}"
    document.choices.set("agent_model", None)
    assert "agent_model" not in document.choices.all()


def test_a_title_that_would_turn_its_direction_does_not(document: Document) -> None:
    """Where a title is shown, a bare window's frame too, what is read is what is there."""
    wait(document.edits.rename("fine\u202egpj.exe\x07"))
    assert document.title == "fine\ufffdgpj.exe\ufffd"
    assert document.shared.store.session(document.key).title == document.title
