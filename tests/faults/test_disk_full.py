"""A full disk: a clear error, nothing half-done, and all goes on when there is room again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.store import Store, StoreError
from tests.store.sources import FileSource, chain, message, write_file


def leave_room(store: Store, pages: int | None) -> None:
    """Let the database grow by so many pages and no more; None takes the limit away."""

    def job(db: sqlite3.Connection) -> None:
        (now,) = db.execute("PRAGMA page_count").fetchone()
        limit = 1 << 30 if pages is None else now + pages
        db.execute(f"PRAGMA max_page_count = {limit}")

    store._writer.submit(job, transaction=False).result()


def check(database: Path) -> None:
    db = sqlite3.connect(database)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


def test_a_full_disk_refuses_an_append_and_keeps_what_was_there(
    store: Store, database: Path, tmp_path: Path
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(50)))).key
    leave_room(store, 2)
    with pytest.raises(StoreError, match="disk is full") as caught:
        store.append(key, [(dumps(message(70, "e49", "x" * 500_000)), "e49")], "e70").result()
    assert str(database) in str(caught.value)
    assert len(store.load(key).tree) == 50 and store.load(key).leaf == 49
    leave_room(store, None)
    assert store.append(key, [(dumps(message(70, "e49", "x" * 500_000)), "e49")]).result() == [50]
    check(database)


def test_a_full_disk_stops_an_import_of_which_nothing_is_shown(
    store: Store, database: Path, tmp_path: Path
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(50)))).key
    head = {"type": "session", "version": 3, "id": "s-2", "timestamp": "", "cwd": "/w"}
    big = write_file(tmp_path / "b.jsonl", chain(5000), head)
    leave_room(store, 20)
    with pytest.raises(StoreError, match="disk is full"):
        store.import_session(FileSource(big, batch=300))
    assert [row.key for row in store.sessions()] == [key]
    leave_room(store, None)
    report = store.import_session(FileSource(big))
    assert report.created and len(store.load(report.key).tree) == 5000
    check(database)
