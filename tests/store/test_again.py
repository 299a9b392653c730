"""Importing the same file again updates the session instead of making another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer.formats.pi.export import dumps
from explorer.session.json_values import MAX_DEPTH
from explorer.store import ImportCancelled, Store
from tests.store.sources import FileSource, chain, message, write_file


def test_a_file_that_grew_adds_only_its_new_lines_and_takes_the_leaf_along(
    store: Store, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(5))
    key = store.import_session(FileSource(file)).key
    write_file(file, chain(8))
    report = store.import_session(FileSource(file))
    assert (report.key, report.created, report.added, report.kept) == (key, False, 3, 5)
    assert (report.differing, report.missing) == (0, 0)
    loaded = store.load(key)
    assert loaded.tree.columns.ids == [f"e{at}" for at in range(8)]
    assert loaded.leaf == 7 and len(store.sessions()) == 1


def test_an_untouched_file_is_not_read_again(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", [*chain(4), "{not json"])
    store.import_session(FileSource(file))

    class Unreadable(FileSource):
        def batches(self):  # type: ignore[no-untyped-def]
            raise AssertionError("read again")

    report = store.import_session(Unreadable(file))
    assert report.unchanged and report.kept == 4 and report.asides == 1


def test_entries_made_here_and_a_moved_leaf_stay_where_they_are(
    store: Store, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3))
    key = store.import_session(FileSource(file)).key
    store.append(key, [(dumps(message(90, "e2", "made here")), "e2")], leaf_id="e90").result()
    write_file(file, chain(4))
    report = store.import_session(FileSource(file))
    loaded = store.load(key)
    assert report.added == 1
    assert loaded.tree.columns.ids == ["e0", "e1", "e2", "e90", "e3"]
    assert loaded.tree.columns.parent[4] == 2, "below its own parent, not below what is before it"
    assert loaded.leaf == 3, "the leaf was moved here, so the file does not move it"


def test_a_rewritten_file_keeps_the_first_reading_and_says_what_differs(
    store: Store, tmp_path: Path
) -> None:
    """A13: an agent that prunes rewrites its file in place."""
    file = write_file(tmp_path / "a.jsonl", chain(5))
    key = store.import_session(FileSource(file)).key
    changed = chain(6)
    changed[1]["message"]["content"] = "[Output truncated]"
    del changed[3]
    changed[3]["parentId"] = "e2"
    write_file(file, changed)
    report = store.import_session(FileSource(file))
    assert (report.added, report.kept, report.differing, report.missing) == (1, 4, 2, 1)
    loaded = store.load(key)
    assert loaded.payloads.entry(1).recorded["message"]["content"] == "line number 1"
    assert loaded.tree.columns.ids == [f"e{at}" for at in range(6)]


def test_a_copy_is_a_session_of_its_own_but_a_moved_file_is_not(
    store: Store, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3))
    first = store.import_session(FileSource(file)).key
    copy = write_file(tmp_path / "copy.jsonl", chain(4))
    assert store.import_session(FileSource(copy)).key != first
    moved = tmp_path / "moved.jsonl"
    file.rename(moved)
    report = store.import_session(FileSource(moved))
    assert report.key == first and not report.created
    assert store.session(first).path == str(moved)


def test_another_session_at_the_same_place_is_another_session(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3))
    first = store.import_session(FileSource(file)).key
    head = {"type": "session", "version": 3, "id": "s-2", "timestamp": "", "cwd": "/w"}
    write_file(file, chain(2), head)
    report = store.import_session(FileSource(file))
    assert report.created and report.key != first and len(store.sessions()) == 2


def test_lines_come_back_in_the_order_of_the_file_with_what_is_no_entry(
    store: Store, tmp_path: Path
) -> None:
    entries = chain(6)
    odd = "{broken \udcff line"
    file = write_file(tmp_path / "a.jsonl", [*entries[:2], odd, *entries[2:]])
    key = store.import_session(FileSource(file)).key
    store.append(key, [(dumps(message(9, "e5", "nine")), "e5")]).result()
    in_file = file.read_bytes().split(b"\n")[1:-1]
    lines = [
        (number, line.rstrip(b"\n") if isinstance(line, bytes) else line.encode())
        for number, line in store.lines(key)
    ]
    assert [line for number, line in lines if number] == in_file
    assert lines[-1][0] == 0 and json.loads(lines[-1][1])["id"] == "e9"
    assert [aside.line for aside in store.asides(key)] == [4]
    assert store.asides(key)[0].raw == odd.encode(errors="surrogateescape") + b"\n"


def test_a_cancelled_import_leaves_nothing(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(500))
    seen: list[int] = []
    with pytest.raises(ImportCancelled):
        store.import_session(
            FileSource(file, batch=50),
            progress=lambda done, total: seen.append(done),
            cancelled=lambda: len(seen) >= 3,
        )
    assert len(seen) == 3 and store.sessions() == []
    report = store.import_session(FileSource(file))
    assert report.created and len(store.load(report.key).tree) == 500


@pytest.mark.parametrize("depth", [196, 197, 198, 300, 900])
def test_what_was_stored_more_deeply_than_is_read_is_there_as_deep(
    store: Store, tmp_path: Path, depth: int
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(1)))).key
    nested: list[Any] = []
    for _ in range(depth - 1):
        nested = [nested]
    entry = message(1, "e0", "words beside it")
    entry["message"]["details"] = {"nested": nested}
    store.append(key, [(dumps(entry), "e0")]).result()
    found = dict(store.load(key).payloads.entry(1).recorded)
    levels, inner = 0, found["message"].pop("details")["nested"]
    while inner:
        levels, [inner] = levels + 1, inner
    del entry["message"]["details"]
    assert found == entry
    # The entry, its message and the details are the levels above.
    assert levels == min(depth - 1, MAX_DEPTH - 3)
    assert [hit.index for hit in store.search("beside")] == [1]


def test_texts_that_utf8_cannot_carry_are_kept(store: Store, tmp_path: Path) -> None:
    """A surrogate without its partner is legal in JSON; ids and previews may hold one."""
    odd = message(1, "e0", "half \ud83d pair")
    odd["id"] = "id-\udc00"
    last = message(2, "id-\udc00", "after")
    key = store.import_session(
        FileSource(write_file(tmp_path / "a.jsonl", [message(0, None, "zero"), odd, last]))
    ).key
    loaded = store.load(key)
    assert loaded.tree.columns.ids == ["e0", "id-\udc00", "e2"]
    assert loaded.payloads.entry(1).recorded == odd
    assert loaded.payloads.previews([1]) == ["half ? pair"]
    store.append(key, [(dumps(message(3, "id-\udc00", "tail \ud83d")), "id-\udc00")]).result()
    assert store.tail(key, 3)[0].parent == 1
    assert store.load(key).payloads.entry(3).recorded["message"]["content"] == "tail \ud83d"


def test_numbers_that_no_column_holds_do_not_stop_an_import(store: Store, tmp_path: Path) -> None:
    entry = message(0, None, "x", "assistant")
    entry["message"]["usage"] = {"totalTokens": 10**30}
    entry["timestamp"] = 1e308
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", [entry]))).key
    assert store.load(key).tree.columns.usage[0] == -1


def test_a_file_is_the_same_however_its_place_is_spelt(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3))
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    key = store.import_session(FileSource(file)).key
    monkeypatch.chdir(tmp_path / "below")
    for place in (tmp_path / "below" / ".." / "a.jsonl", tmp_path / "link" / "a.jsonl"):
        assert store.import_session(FileSource(place)).key == key
    assert store.import_session(FileSource(Path("../a.jsonl"))).key == key
    assert len(store.sessions()) == 1
