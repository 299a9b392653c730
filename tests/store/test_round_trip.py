"""A session goes in and comes out as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.session.records import SessionHeader
from explorer.store import Store, StoreError
from tests.store.sources import FileSource, chain, message, write_file


def test_an_imported_session_is_loaded_as_it_was(tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(2500))
    store = Store.open(tmp_path / "db.sqlite")
    report = store.import_session(FileSource(file))
    loaded = store.load(report.key)
    assert report.created and report.added == 2500
    assert len(loaded.tree) == 2500 and loaded.leaf == 2499
    assert loaded.tree.columns.ids[:2] == ["e0", "e1"]
    assert list(loaded.tree.columns.parent[:3]) == [-1, 0, 1]
    lines = file.read_text().splitlines()
    assert [loaded.payloads.raw(at) for at in (0, 1234, 2499)] == [
        lines[1],
        lines[1235],
        lines[2500],
    ]
    assert loaded.payloads.previews([2499, 3]) == ["line number 2499", "line number 3"]
    assert [e.id for e in loaded.payloads.entries([7, 2, 7])] == ["e7", "e2", "e7"]
    assert store.sessions()[0].title == "line number 0"
    store.close()


def test_appended_entries_get_the_next_indices_and_are_there_after_reopening(
    tmp_path: Path,
) -> None:
    store = Store.open(tmp_path / "db.sqlite")
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(3)))).key
    added = [
        (dumps(message(10, "e2", "ten")), "e2"),
        (dumps(message(11, "e10", "eleven")), "e10"),
    ]
    assert store.append(key, added, leaf_id="e11").result() == [3, 4]
    assert [r.entry_id for r in store.tail(key, 3)] == ["e10", "e11"]
    store.close()
    store = Store.open(tmp_path / "db.sqlite")
    loaded = store.load(key)
    assert loaded.leaf == 4 and loaded.tree.columns.parent[4] == 3
    assert loaded.payloads.entry(4).recorded["message"]["content"] == "eleven"
    store.set_leaf(key, 1).result()
    assert store.load(key).leaf == 1
    with pytest.raises(StoreError, match="no entry 5"):
        store.set_leaf(key, 5).result()
    with pytest.raises(StoreError, match="already"):
        store.append(key, [(dumps(message(10, "e2", "x")), "e2")]).result()
    with pytest.raises(StoreError, match="no entry 'nowhere'"):
        store.append(key, [(dumps(message(12, "nowhere", "x")), "nowhere")]).result()
    assert len(store.load(key).tree) == 5
    store.close()


def test_a_session_begun_here_is_empty_and_grows(store: Store) -> None:
    header = SessionHeader("mine", "pi", 3, "/w", 5.0, "", '{"type":"session"}')
    key = store.create_session(header).result()
    loaded = store.load(key)
    assert len(loaded.tree) == 0 and loaded.leaf == -1 and loaded.header == header
    first = [(dumps(message(0, None, "to begin")), None), (dumps(message(1, "e0", "with")), "e0")]
    assert store.append(key, first, leaf_id="e1").result() == [0, 1]
    (row,) = store.sessions()
    assert (row.title, row.entries, row.leaf, row.path) == ("to begin", 2, 1, "")
    assert store.load(key).tree.columns.parent.tolist() == [-1, 0]
    assert next(iter(store.lines(key)))[0] == 0


def test_a_closed_store_says_so(database: Path) -> None:
    store = Store.open(database)
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.sessions()
    with pytest.raises(StoreError, match="is closed"):
        store.set_leaf(1, 0)
    with pytest.raises(StoreError, match="is closed"):
        store.search("x")


def test_a_file_system_without_second_names_gets_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    with Store.open(tmp_path / "one.db") as store:
        assert store.sessions() == []
    assert [path.name for path in tmp_path.glob("*.new-*")] == []
