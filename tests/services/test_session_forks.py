"""A branch as a session of its own: nothing of it changes, and all of it or nothing is stored."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from explorer.services.document import Document
from explorer.services.session_files import outputs_folder, readable, transcripts_of
from explorer.services.session_forks import AT_ONCE, fork_point, plan_fork
from explorer.session.kinds import Kind
from explorer.store.rows import ImportCancelled
from explorer.workbench import Workbench
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE


def fork(bench: Workbench, document: Document, **how: Any) -> Document:
    forked = asyncio.run(bench.fork(document.key, **how))
    return bench.open_blocking(forked.key)


def lines(document: Document, entries: list[int]) -> list[str]:
    return [document.payloads.shown.raw(at) for at in entries]


def write(path: Path, *entries: dict[str, Any], **header: Any) -> Path:
    head = {"type": "session", "version": 3, "id": "orig", "timestamp": "2026-01-05T10:00:00.000Z",
            "cwd": "/w", **header}  # fmt: skip
    text = "\n".join(json.dumps(line) for line in (head, *entries))
    path.write_text(text + "\n", encoding="utf-8")
    return path


def said(entry_id: str, parent: str | None, role: str = "user", **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": f"says {entry_id}"}]}
    return {"type": "message", "id": entry_id, "parentId": parent,
            "timestamp": "2026-01-05T10:00:01.000Z", "message": message, **more}  # fmt: skip


def test_the_path_is_copied_line_by_line_with_its_ids(bench: Workbench, document: Document) -> None:
    made = fork(bench, document)
    path = document.tree.path(document.leaf).indices()
    count = len(path)
    assert lines(made, list(range(count))) == lines(document, path)
    ids = document.tree.columns.ids
    assert made.tree.columns.ids[:count] == [ids[at] for at in path]
    assert made.tree.columns.parent.tolist()[:count] == [-1, *range(count - 1)]
    assert made.header.parent_session == str(SAMPLE)
    assert made.header.session_id != document.header.session_id
    assert made.row.path == ""


def test_what_this_program_recorded_is_told_from_what_a_file_or_a_fork_brought(
    bench: Workbench, document: Document
) -> None:
    here = asyncio.run(document.edits.rename("A name of here"))
    assert [document.writer.made_here(at) for at in (0, here - 1, here, here + 1)] == [
        False, False, True, False,
    ]  # fmt: skip
    for whole in (False, True):
        made = fork(bench, document, whole=whole)
        later = asyncio.run(made.edits.rename("Later"))
        assert made.writer.made_here(later)
        ids = made.tree.columns.ids
        copied = [at for at in range(later) if ids[at] in document.tree]
        assert copied and not any(map(made.writer.made_here, copied))


def test_the_model_sees_the_same_in_the_fork(bench: Workbench, document: Document) -> None:
    for at in (document.leaf, 150, 252):
        made = fork(bench, document, at=at)
        here, there = document.context(at), made.context()
        assert lines(made, there.messages) == lines(document, here.messages)
        assert (there.model, there.thinking_level) == (here.model, here.thinking_level)
        assert len(there.pruned) == len(here.pruned)


def test_the_whole_tree_has_every_branch_and_the_leaf_that_was_named(
    bench: Workbench, document: Document
) -> None:
    made = fork(bench, document, at=252, whole=True)
    everything = list(range(len(document.tree)))
    assert lines(made, everything) == lines(document, everything)
    assert made.tree.columns.parent == document.tree.columns.parent
    assert made.leaf == 252
    assert made.tree.labels() == document.tree.labels()


def test_a_whole_fork_keeps_what_was_no_entry(bench: Workbench, tmp_path: Path) -> None:
    file = write(tmp_path / "one.jsonl", said("a", None), said("b", "a"))
    file.write_text(file.read_text() + "no json at all\n" + json.dumps(said("c", "b")) + "\n")
    origin = bench.open_blocking(bench.import_blocking(file).key)
    made = fork(bench, origin, whole=True)
    assert [aside.raw for aside in bench.store.asides(made.key)] == [b"no json at all"]
    stored = [line for _, line in bench.store.lines(made.key)]
    assert stored == [line for _, line in bench.store.lines(origin.key)]


def test_unknown_fields_and_types_stay(bench: Workbench, tmp_path: Path) -> None:
    odd = {"type": "of_tomorrow", "id": "x", "parentId": "a", "timestamp": "?", "deep": {"1": [2]}}
    file = write(tmp_path / "one.jsonl", said("a", None, beyond=7), odd, said("b", "x"), future=[1])
    origin = bench.open_blocking(bench.import_blocking(file).key)
    made = fork(bench, origin)
    assert lines(made, [0, 1, 2]) == lines(origin, [0, 1, 2])
    assert json.loads(made.header.raw)["future"] == [1]


def test_e8_a_boundary_that_names_a_label_is_kept(bench: Workbench, tmp_path: Path) -> None:
    """A fork that leaves labels out loses the entries that were kept from one on."""
    label = {"type": "label", "id": "l", "parentId": "a", "timestamp": "", "targetId": "a",
             "label": "here"}  # fmt: skip
    folded = {"type": "compaction", "id": "k", "parentId": "d", "timestamp": "", "summary": "S",
              "firstKeptEntryId": "l", "tokensBefore": 9}  # fmt: skip
    file = write(tmp_path / "one.jsonl", said("a", None), label, said("c", "l"),
                 said("d", "c", "assistant"), folded, said("e", "k"))  # fmt: skip
    origin = bench.open_blocking(bench.import_blocking(file).key)
    made = fork(bench, origin)
    ids = made.tree.columns.ids
    assert [ids[at] for at in made.context().messages] == ["k", "c", "d", "e"]


def test_e8_a_boundary_that_was_lost_before_is_told(bench: Workbench, tmp_path: Path) -> None:
    folded = {"type": "compaction", "id": "k", "parentId": "b", "timestamp": "", "summary": "S",
              "firstKeptEntryId": "gone", "tokensBefore": 9}  # fmt: skip
    file = write(tmp_path / "one.jsonl", said("a", None), said("b", "a"), folded)
    origin = bench.open_blocking(bench.import_blocking(file).key)
    assert plan_fork(origin.tree, 2).lost_boundaries == (2,)
    (note,) = asyncio.run(bench.fork(origin.key)).notes
    assert "#2" in note


def test_labels_that_stand_on_another_branch_come_along(bench: Workbench, tmp_path: Path) -> None:
    """And those that were taken back there do not."""

    def label(entry_id: str, parent: str, target: str, text: str | None) -> dict[str, Any]:
        found = {"type": "label", "id": entry_id, "parentId": parent, "timestamp": "",
                 "targetId": target}  # fmt: skip
        return found if text is None else {**found, "label": text}

    file = write(
        tmp_path / "one.jsonl", said("a", None), label("l1", "a", "a", "first"), said("b", "l1"),
        said("other", "a"), label("l2", "other", "b", "second"), label("l3", "l2", "a", None),
        label("l4", "l3", "other", "elsewhere"),
    )  # fmt: skip
    origin = bench.open_blocking(bench.import_blocking(file).key)
    made = fork(bench, origin, at=2, name="A try")
    assert made.tree.labels() == {2: "second"}
    assert made.title == "A try"
    assert made.leaf == len(made.tree) - 1
    assert made.tree.path(made.leaf).indices() == list(range(len(made.tree)))


def test_a_branch_summary_of_a_branch_that_stays_is_told(bench: Workbench, tmp_path: Path) -> None:
    bridge = {"type": "branch_summary", "id": "s", "parentId": "a", "timestamp": "",
              "fromId": "other", "summary": "What was tried"}  # fmt: skip
    file = write(tmp_path / "one.jsonl", said("a", None), said("other", "a"), bridge)
    origin = bench.open_blocking(bench.import_blocking(file).key)
    (note,) = asyncio.run(bench.fork(origin.key)).notes
    assert note.startswith("One branch summary")
    assert not asyncio.run(bench.fork(origin.key, whole=True)).notes


def test_a_file_without_ids_is_forked_as_version_3(bench: Workbench, tmp_path: Path) -> None:
    def line(role: str, text: str) -> dict[str, Any]:
        return {"type": "message", "timestamp": "2025-01-01T00:00:00.000Z",
                "message": {"role": role, "content": text}}  # fmt: skip

    folded = {"type": "compaction", "timestamp": "", "summary": "S", "firstKeptEntryIndex": 2,
              "tokensBefore": 9}  # fmt: skip
    rows = [{"type": "session", "id": "old", "timestamp": "", "cwd": "/w"}, line("user", "one"),
            line("assistant", "two"), folded, line("user", "three"),
            *(line("user", f"more {number}") for number in range(16))]  # fmt: skip
    file = tmp_path / "v1.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    origin = bench.open_blocking(bench.import_blocking(file).key)
    made = fork(bench, origin)
    assert made.header.version == 3
    entries = [json.loads(raw) for raw in lines(made, list(range(20)))]
    assert [e["parentId"] for e in entries] == [None, *(e["id"] for e in entries[:-1])]
    assert entries[2]["firstKeptEntryId"] == entries[1]["id"]
    assert made.context().messages == origin.context().messages
    target = tmp_path / "again.jsonl"
    asyncio.run(bench.export(made.key, target))
    assert len(bench.open_blocking(bench.import_blocking(target).key).tree) == 20


def test_a_fork_knows_its_origin_and_where_it_left_it(bench: Workbench, document: Document) -> None:
    made = fork(bench, document, at=252, name="Aside")
    origin = bench.related(made.key).parent
    assert origin is not None and origin.key == document.key
    assert bench.related(document.key).parent is None
    assert [row.key for row in bench.related(document.key).children] == [made.key]
    assert fork_point(made.tree, made.leaf, document.tree) == 252
    again = fork(bench, made)
    assert again.header.parent_session == made.header.session_id


def test_the_agent_of_a_fork_may_read_what_its_summaries_point_to(
    bench: Workbench, document: Document
) -> None:
    """The transcript and the outputs were written by the session that it came from (A51)."""
    written = transcripts_of(document).write(document.tree, document.payloads.shown, document.leaf)
    output = outputs_folder(document.shared.store.path, document.header.session_id) / "one.txt"
    output.parent.mkdir(parents=True)
    output.write_text("all of it")
    other = written.path.with_name("other~e.txt")
    other.write_text("of somebody else")
    for made in (document, fork(bench, document), fork(bench, fork(bench, document))):
        may_read = readable(made)
        assert may_read(written.path)
        assert may_read(output) or made is document
        assert not may_read(other)
        assert not may_read(document.shared.store.path)


def test_what_a_person_chose_goes_along_and_drafts_do_not(
    bench: Workbench, document: Document
) -> None:
    document.choices.set("agent_model", "offline/demo")
    document.choices.set("unsent", "half a thought")
    document.shared.store.add_draft(document.key, {"kind": "compaction", "status": "done"}).result()
    made = fork(bench, document)
    bench.store.set_leaf(made.key, made.leaf).result()  # behind the choices
    assert made.choices.all() == {"agent_model": "offline/demo"}
    assert bench.store.drafts(made.key) == []


def test_the_origin_and_its_fork_grow_apart(bench: Workbench, document: Document) -> None:
    made, before = fork(bench, document), len(document.tree)
    message = {"role": "user", "content": "on another way"}
    asyncio.run(made.writer.append(entry_body("message", message=message), made.leaf))
    assert len(document.tree) == before == len(bench.store.load(document.key).tree)
    assert bench.store.load(made.key).tree.kind(made.leaf) is Kind.USER


def test_a_cancelled_fork_leaves_nothing(bench: Workbench, tmp_path: Path) -> None:
    count = 3 * AT_ONCE
    entries = [said(f"e{n}", f"e{n - 1}" if n else None) for n in range(count)]
    origin = bench.open_blocking(bench.import_blocking(write(tmp_path / "l.jsonl", *entries)).key)
    seen: list[tuple[int, int]] = []
    with pytest.raises(ImportCancelled):
        asyncio.run(
            bench.fork(
                origin.key,
                progress=lambda done, total: seen.append((done, total)),
                cancelled=lambda: len(seen) > 1,
            )
        )
    assert seen == [(AT_ONCE, count), (2 * AT_ONCE, count)]
    assert [row.key for row in bench.sessions()] == [origin.key]


def test_there_is_nothing_to_fork_before_the_first_entry(bench: Workbench, tmp_path: Path) -> None:
    origin = bench.open_blocking(bench.import_blocking(write(tmp_path / "one.jsonl")).key)
    with pytest.raises(ValueError, match="no entry"):
        asyncio.run(bench.fork(origin.key))
