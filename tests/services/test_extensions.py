"""Extensions in the whole flow: real files, a real store, real HTTP, what is stored."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from explorer.compaction.preparation import Preparation
from explorer.extensions.answers import records_of
from explorer.extensions.manager import (
    PROJECT_FOLDER,
    install_example,
)
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ModelClient,
)
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.changes import CompactionEnded
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, draft_of
from explorer.services.effective_rules import EffectiveRules
from explorer.services.extension_review import (
    CancelledByExtension,
    notify_turn_ended,
    review_of,
)
from explorer.store import Store
from explorer.workbench import Workbench
from tests.extensions.making import conversation, handler, wait, write
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE, Clock
from tests.services.extension_place import (
    BEFORE,
    EXPLORER,
    MODEL,
    NOBODY,
    SECRET,
    SETTINGS,
    Place,
    draft,
    order,
    recorded,
    state,
)

# before a compaction ----------------------------------------------------------------------------


@pytest.mark.parametrize("body", ["event.cancel('Later.')", "return {'cancel': True}"])
def test_a38_a_cancel_is_told_with_the_extensions_name(place: Place, body: str) -> None:
    place.handle(BEFORE, body)
    document = place.document()
    before = state(document)
    with pytest.raises(CancelledByExtension, match="Cancelled by the extension mine"):
        draft(document, NOBODY)
    assert state(document) == before
    status, records = recorded(document)
    assert (status, [r.did for r in records]) == ("cancelled", ["cancelled"])
    assert document.drafts.waiting() == []
    assert [r.did for r in place.records(BEFORE)] == ["cancelled"]


SUPPLIES = """
return {"compaction": {
    "summary": f"{len(event.preparation.messages_to_summarize) > 0} it is.",
    "shortSummary": "Short.", "tokensBefore": 4321, "fromHook": True,
    "firstKeptEntryId": event.preparation.first_kept_entry_id,
    "details": {"artifactIndex": ["a"]}, "preserveData": {"seen": 1},
}}
"""


@pytest.mark.parametrize("form", ["pi", "omp"])
def test_a3_a38_a_supplied_compaction_is_used_without_a_model(
    place: Place, tmp_path: Path, form: str
) -> None:
    """Written in the file's own spelling, with what the extension brought and nothing else."""
    place.handle(BEFORE, SUPPLIES)
    document = place.document(conversation(tmp_path, form))
    made = draft(document, NOBODY)
    assert (made.model, made.parts, made.attempts) == ("extension/mine", (), ())
    index = wait(document.compaction.commit(made))
    entry = document.payloads.shown.entry(index).recorded
    assert entry["fromExtension" if form == "omp" else "fromHook"] is True
    assert ("fromHook" if form == "omp" else "fromExtension") not in entry
    assert (entry["summary"], entry["shortSummary"]) == ("True it is.", "Short.")
    assert entry["details"] == {"artifactIndex": ["a"]}
    assert entry["preserveData"] == {"seen": 1}
    assert entry["tokensBefore"] == 4321
    prepared = document.compaction.preview(
        document.tree.columns.parent[index], EXPLORER, SETTINGS
    ).preparation
    assert isinstance(prepared, Preparation)
    assert entry["firstKeptEntryId"] == document.tree.columns.ids[prepared.first_kept]
    assert document.context().messages[0] == index
    wait(document.edits.undo())
    assert document.leaf == document.tree.columns.parent[index]


def test_a3_the_file_decides_whose_spelling_it_is(place: Place, tmp_path: Path) -> None:
    assert place.document(conversation(tmp_path, "omp")).header.format == "omp"


def test_a28_details_of_extension_made_compactions_are_not_counted(
    place: Place, tmp_path: Path
) -> None:
    body = "return {'compaction': {'summary': 'S', 'details': {'readFiles': ['secret.py']}}}"
    place.handle(BEFORE, f"if not ctx.settings.get('off'):\n    {body}")
    document = place.document(conversation(tmp_path))
    shown = document.compaction.preview(None, EXPLORER, replace(SETTINGS, keep_recent_tokens=1500))
    wait(document.compaction.commit(wait(document.compaction.summarize(shown, order(NOBODY)))))
    wait(
        document.writer.append(
            entry_body("message", message={"role": "user", "content": "x"}), document.leaf
        )
    )
    write(place.own, "mine.json", '{"off": true}')
    place.extensions.reload()
    again = document.compaction.preview(None, EXPLORER, replace(SETTINGS, keep_recent_tokens=100))
    made = wait(document.compaction.summarize(again, order()))
    assert made.modified_files and "secret.py" not in (*made.read_files, *made.modified_files)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("'summary': 'S', 'firstKeptEntryId': 'nowhere'", "is not on the active path"),
        ("'summary': 'S', 'firstKeptEntryId': event.preparation.leaf_id + 'x'", "is not on"),
        ("'summary': 'word ' * 200_000", "nothing is gained"),
        ("'summary': ' '", "has no summary"),
    ],
)
def test_b15_e16_a_supplied_compaction_that_cannot_be_used_is_told_and_made_as_usual(
    place: Place, answer: str, told: str
) -> None:
    place.handle(BEFORE, f"return {{'compaction': {{{answer}}}}}")
    document = place.document()
    made = draft(document)
    assert made.status == "done" and made.model == "offline/extractive"
    (record,) = (r for r in recorded(document)[1] if r.event == BEFORE)
    assert record.did == "error" and told in record.detail
    wait(document.compaction.commit(made))
    assert "fromHook" not in document.payloads.shown.entry(document.leaf).recorded


def test_a38_an_extension_may_choose_another_valid_cut(place: Place) -> None:
    document = place.document()
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    other = document.tree.columns.ids[shown.path[shown.valid_cuts[-1]]]
    result = f"{{'summary': 'S', 'firstKeptEntryId': '{other}'}}"
    place.handle(BEFORE, f"return {{'compaction': {result}}}")
    index = wait(document.compaction.commit(draft(document, NOBODY)))
    assert document.payloads.shown.entry(index).recorded["firstKeptEntryId"] == other


def test_a38_a_draft_that_waits_is_committed_as_the_extensions_after_a_restart(
    place: Place,
) -> None:
    place.handle(BEFORE, SUPPLIES)
    document = place.document()
    draft(document, NOBODY)
    place.bench.store.close()
    place.open()
    again = place.bench.open_blocking(document.key)
    ((waiting, text),) = again.drafts.waiting()
    index = wait(again.compaction.commit(waiting, text + " Edited."))
    entry = again.payloads.shown.entry(index).recorded
    assert entry["fromHook"] is True and entry["preserveData"] == {"seen": 1}
    assert entry["summary"] == "True it is. Edited."


def test_b15_what_fails_or_hangs_never_stops_the_compaction(place: Place) -> None:
    place.limit_s = 0.2
    for event in (BEFORE, "session.compacting", "session_request", "session_summary",
                  "session_compact"):  # fmt: skip
        name = event.replace(".", "_")
        place.handle(event, "raise ValueError('no')", f"raises_{name}")
        place.handle(event, "event.signal.wait(20)\nreturn {'cancel': True}", f"hangs_{name}")
        place.handle(event, "sys.exit(1)", f"exits_{name}", "async def")
    document = place.document()
    made = draft(document)
    index = wait(document.compaction.commit(made))
    assert document.leaf == index
    failed = recorded(document)[1]
    assert {r.did for r in failed} == {"error", "timed out"}
    assert {r.event for r in failed} == {
        BEFORE, "session.compacting", "session_request", "session_summary",
    }  # fmt: skip
    assert sorted(r.did for r in place.records("session_compact")) == [
        "error", "error", "timed out",
    ]  # fmt: skip


def test_a43_cancelling_while_a_handler_works_changes_nothing(place: Place) -> None:
    place.handle(BEFORE, "ctx.log('began')\nevent.signal.wait(20)\nctx.log('told')")
    document = place.document()
    before, ask = state(document), order()

    async def story() -> None:
        shown = document.compaction.preview(None, EXPLORER, SETTINGS)
        running = asyncio.ensure_future(document.compaction.summarize(shown, ask))
        while not place.log():
            await asyncio.sleep(0.01)
        ask.cancel.cancel()
        with pytest.raises(Cancelled):
            await running

    wait(story())
    assert state(document) == before


# the request ------------------------------------------------------------------------------------


def test_a39_lines_prompt_and_data(online: Place, server: ChatServer) -> None:
    body = """
    return {"prompt": "Count the ports.", "context": ["Include ticket ABC-123", "And </tags>"],
            "preserveData": {"artifactIndex": ["foo.ts"]}}
    """
    online.handle("session.compacting", body)
    document = online.document()
    made = draft(document, MODEL, "Be brief.")
    texts = [body["messages"][1]["content"] for body in server.requests]
    (sent,) = (text for text in texts if "Count the ports." in text)
    assert all("<additional-context>\nInclude ticket ABC-123" in text for text in texts)
    assert "Be brief." in sent
    assert "## Goal" not in sent.rsplit("</additional-context>", 1)[1]
    assert [r.did for r in recorded(document)[1]] == ["context"]
    entry = document.payloads.shown.entry(wait(document.compaction.commit(made))).recorded
    assert entry["preserveData"] == {"artifactIndex": ["foo.ts"]}
    assert "fromHook" not in entry and "readFiles" in entry["details"]


def test_secrets_leave_neither_by_the_request_nor_by_the_summary(
    online: Place, server: ChatServer, tmp_path: Path
) -> None:
    """Every request of the draft, the prefix's too, and its sources stay right."""
    install_example("redact_secrets", online.own)
    server.plan(Answer(text=f"{GOOD}\n\nThe key is {SECRET}."))
    document = online.document(conversation(tmp_path, secret=SECRET))
    shown = document.compaction.preview(None, EXPLORER, replace(SETTINGS, keep_recent_tokens=300))
    assert SECRET in document.compaction.requests(shown)[0].prompt
    made = wait(document.compaction.summarize(shown, order(MODEL)))
    assert SECRET not in json.dumps(server.requests)
    assert "[redacted aws key]" in server.requests[0]["messages"][1]["content"]
    assert SECRET not in made.summary and "The key is [redacted aws key]." in made.summary
    for attempt in made.attempts:
        text = attempt.request.messages[1].text
        for span in attempt.sources:
            stretch = text[span.start : span.end]
            role = document.payloads.shown.entry(span.entry).recorded["message"]["role"]
            assert stretch.startswith("[User]" if role == "user" else "[Assistant"), stretch[:40]
            assert "[redacted aws key]" in stretch or role != "user"
    changed = [r for r in recorded(document)[1] if r.did == "changed"]
    assert {r.event for r in changed} == {"session_request", "session_summary"}


def test_a_required_handler_that_fails_lets_nothing_out(online: Place, server: ChatServer) -> None:
    code = "def activate(hooks):\n    hooks.on('session_request', look, required=True)\n\n"
    write(online.own, "strict", code + "def look(event):\n    raise ValueError('no patterns')\n")
    document = online.document()
    before = state(document)
    with pytest.raises(DraftFailed, match="strict must see every request and failed"):
        draft(document, MODEL)
    assert server.requests == [] and state(document) == before
    status, records = recorded(document)
    assert status == "failed" and records[0].line == 5


def test_a_required_handler_of_summaries_that_fails_keeps_nothing(place: Place) -> None:
    code = "def activate(hooks):\n    hooks.on('session_summary', look, required=True)\n\n"
    write(place.own, "strict", code + "def look(event):\n    raise ValueError\n")
    document = place.document()
    with pytest.raises(DraftFailed, match="must see every summary"):
        draft(document)
    row = document.shared.store.drafts(document.key)[-1]
    assert (row.status, row.summary) == ("failed", "")


# after a compaction -----------------------------------------------------------------------------


@pytest.mark.parametrize("supplied", [True, False])
def test_a40_the_stored_entry_is_told(place: Place, supplied: bool) -> None:
    if supplied:
        place.handle(BEFORE, SUPPLIES, "supplier")
    place.handle(
        "session_compact", "ctx.log(event.entry['id'], event.entry['type'], event.from_extension)"
    )
    document = place.document()
    index = wait(document.compaction.commit(draft(document)))
    assert place.log() == [f"{document.tree.columns.ids[index]} compaction {supplied}"]


# automatic --------------------------------------------------------------------------------------


def automatic(document: Document, model: str) -> AutomaticCompaction:
    rules = EffectiveRules.of(replace(EXPLORER, pruning=None), model, SETTINGS)
    return AutomaticCompaction(document, lambda: rules)


def test_a38_automatic_compaction_goes_the_same_way(place: Place) -> None:
    place.handle(BEFORE, SUPPLIES)
    document = place.document()
    index = wait(automatic(document, NOBODY).compact_now("", NOBODY, CancelToken()))
    assert document.payloads.shown.entry(index).recorded["fromHook"] is True
    row = document.shared.store.drafts(document.key)[-1]
    assert row.facts["trigger"] == "manual" and [r.did for r in records_of(row.facts)] == ["result"]


def test_a38_an_extensions_cancel_is_no_failure_of_automatic_compaction(place: Place) -> None:
    place.handle(BEFORE, "return {'cancel': True, 'reason': 'Not at night.'}")
    document = place.document()
    keeper = automatic(document, NOBODY)
    before = state(document)
    for _ in range(4):
        ended = wait(keeper._runner.compact("threshold", NOBODY, keeper.rules, CancelToken()))
        assert ended.problem == "Cancelled by the extension mine: Not at night."
    assert keeper.resting == "" and state(document) == before
    assert len([c for c in place.told if isinstance(c, CompactionEnded)]) == 4


# whose ------------------------------------------------------------------------------------------


def test_a_projects_own_are_asked_only_once_it_is_trusted(place: Place, tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / PROJECT_FOLDER, "own", handler(BEFORE, "return {'cancel': True}"))
    lines = conversation(tmp_path).read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "cwd": str(project)})
    file = tmp_path / "theirs.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = place.document(file)
    small = replace(SETTINGS, keep_recent_tokens=1000)

    def made() -> Draft:
        return wait(
            document.compaction.summarize(
                document.compaction.preview(None, EXPLORER, small), order()
            )
        )

    assert made().status == "done"
    place.extensions.trust_project(project)
    with pytest.raises(CancelledByExtension):
        made()
    place.extensions.untrust_project(project)
    assert made().status == "done"


def test_nobody_is_asked_where_there_are_no_extensions(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "sessions.db")
    bench = Workbench(store, ModelClient(), clock_ms=Clock(), random=Random(7))
    document = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    made = draft(document)
    assert records_of(made.facts) == []
    wait(document.compaction.commit(made))
    bench.client.close()
    store.close()


@pytest.mark.parametrize("event", ["turn_end", "session_summary"])
def test_a8_a_handler_asks_for_a_compaction_after_the_turn(place: Place, event: str) -> None:
    """Far below the threshold; asked during a turn it waits for its end."""
    rules = EffectiveRules.of(EXPLORER, "offline/extractive", SETTINGS)
    place.handle(event, "ctx.compact('mind the ports')")
    document = place.document()
    automatic = AutomaticCompaction(document, lambda: rules)
    ended: list[object] = []
    place.bench.subscribe(lambda c: ended.append(c) if isinstance(c, CompactionEnded) else None)

    async def talk() -> None:
        if event != "turn_end":
            await notify_turn_ended(document, "done", 0, CancelToken())
            assert not automatic.is_requested, "nobody handles that event"
            review = await review_of(document, CancelToken())
            await review.summary("compaction", "A summary.", False)
            assert automatic.is_requested and not ended
        said = SessionTurns(
            document, "offline/demo", None, CancelToken(), lambda _: None, automatic
        )
        await said.say("hello")

    wait(talk())
    automatic.close()
    (change,) = ended
    assert isinstance(change, CompactionEnded)
    assert (change.trigger, change.problem, change.entry >= 0) == ("requested", "", True)
    made = [draft_of(row) for row in place.bench.store.drafts(document.key)]
    assert [one.instructions for one in made] == ["mind the ports"]
    assert not automatic.is_requested
