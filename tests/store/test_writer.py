"""Changes that wait together share a transaction, and each succeeds or fails for itself."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.store import Store, StoreError, writer
from explorer.store import database as database_module
from explorer.store.database import PAGE_SIZE, connect_writer, translated
from explorer.store.rows import DamagedError
from tests.store.sources import FileSource, chain, message, write_file


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine does not close the shared transaction before all have joined it."""
    monkeypatch.setattr(writer, "_TOGETHER_S", 60.0)


@pytest.fixture
def key(store: Store, tmp_path: Path) -> int:
    return store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key


@contextmanager
def waiting(store: Store) -> Iterator[None]:
    """What is handed in inside the block waits until its end."""
    free = threading.Event()
    try:
        store._writer.submit(lambda _: free.wait(), transaction=False)
        yield
    finally:
        free.set()


def append(store: Store, key: int, name: str, parent: str, text: str = "") -> Future[list[int]]:
    return store.append(key, [(dumps(message(0, parent, text) | {"id": name}), parent)], name)


def breaks_the_commit(db: sqlite3.Connection) -> None:
    """What is wrong here shows only when the transaction ends."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    db.execute("INSERT INTO labels (session, entry, target_id, label) VALUES (77, 0, '', '')")


def page_limit(store: Store, pages: int) -> Callable[[sqlite3.Connection], None]:
    def job(db: sqlite3.Connection) -> None:
        (now,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {now + pages}")

    return job


def ids(store: Store, key: int) -> list[str]:
    return list(store.load(key).tree.columns.ids)


def test_entries_that_wait_together_are_one_commit(store: Store, key: int, database: Path) -> None:
    with Store.open(database) as other:
        with waiting(store):
            seen: list[int] = []
            names = ["e1", *(f"n{at}" for at in range(9))]
            futures = [append(store, key, name, parent) for parent, name in pairwise(names)]
            for future in futures:
                future.add_done_callback(lambda _: seen.append(len(other.tail(key, 0))))
        assert [future.result() for future in futures] == [[at] for at in range(2, 11)]
        # Whoever waits for a future may go on before its callbacks have run.
        store._writer.submit(lambda _: None, transaction=False).result()
        assert seen == [11] * 9, "none is acknowledged before all are there for others"


def test_one_that_is_refused_takes_none_of_the_others_with_it(store: Store, key: int) -> None:
    with waiting(store):
        first = append(store, key, "first", "e1")
        below_nothing = append(store, key, "lost", "nowhere")
        again = append(store, key, "first", "e1")
        broken = store._writer.submit(lambda db: [db.execute("DELETE FROM payloads"), 1 // 0])
        last = append(store, key, "last", "first")
    assert (first.result(), last.result()) == ([2], [3])
    for future, reason in ((below_nothing, "'nowhere' to be parent"), (again, "already")):
        with pytest.raises(StoreError, match=reason):
            future.result()
    with pytest.raises(ZeroDivisionError):
        broken.result()
    assert ids(store, key) == ["e0", "e1", "first", "last"]
    assert [e.id for e in store.load(key).payloads.entries(range(4))] == ids(store, key)


def test_one_for_which_the_disk_has_no_room_takes_none_of_the_others_with_it(
    store: Store, key: int
) -> None:
    store._writer.submit(page_limit(store, 8), transaction=False).result()
    with waiting(store):
        small = append(store, key, "small", "e1")
        huge = append(store, key, "huge", "small", "x" * 500_000)
        last = append(store, key, "last", "small")
    assert (small.result(), last.result()) == ([2], [3])
    with pytest.raises(StoreError, match="disk is full"):
        huge.result()
    assert ids(store, key) == ["e0", "e1", "small", "last"]


def test_a_commit_that_fails_fails_all_that_share_it(
    store: Store, key: int, database: Path
) -> None:
    with waiting(store):
        futures: list[Future[object]] = []
        futures += [append(store, key, "first", "e1"), append(store, key, "second", "first")]
        futures += [store._writer.submit(breaks_the_commit)]
        futures += [append(store, key, "third", "second")]
    for future in futures:
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            future.result()
    assert ids(store, key) == ["e0", "e1"]
    # What the lost entries were called is not remembered, whoever takes their places.
    with Store.open(database) as other:
        for at in range(3):
            append(other, key, f"theirs-{at}", "e1").result()
    with pytest.raises(StoreError, match="no entry 'second' to be parent"):
        append(store, key, "orphan", "second").result()
    assert append(store, key, "first", "theirs-2").result() == [5]


def test_what_was_taken_back_while_it_waited_is_not_done(store: Store, key: int) -> None:
    with waiting(store):
        first = append(store, key, "first", "e1")
        taken_back = append(store, key, "never", "first")
        last = append(store, key, "last", "first")
        assert taken_back.cancel()
    assert (first.result(), last.result()) == ([2], [3])
    assert ids(store, key) == ["e0", "e1", "first", "last"]


def test_the_log_gives_back_what_a_large_change_took(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "CHECKPOINT_PAGES", 50)
    Store.open(database, maintained=False).close()
    db = connect_writer(database)
    db.execute("CREATE TABLE large (data)")
    log = Path(f"{database}-wal")
    db.execute("INSERT INTO large VALUES (zeroblob(?))", (200 * PAGE_SIZE,))
    assert log.stat().st_size > 200 * PAGE_SIZE
    db.execute("INSERT INTO large VALUES (1)")
    assert log.stat().st_size == 50 * PAGE_SIZE
    db.close()


def test_what_waits_when_the_store_is_closed_is_done(database: Path, tmp_path: Path) -> None:
    store = Store.open(database)
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key
    with waiting(store):
        first = append(store, key, "first", "e1")
        closing = threading.Thread(target=store.close)
        closing.start()
    closing.join()
    assert first.result() == [2]
    with Store.open(database) as again:
        assert ids(again, key) == ["e0", "e1", "first"]


@pytest.mark.parametrize(
    ("code", "said", "damaged"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full", False),
        (sqlite3.SQLITE_CORRUPT, "is damaged", True),
        (sqlite3.SQLITE_CORRUPT_INDEX, "is damaged", True),
        (sqlite3.SQLITE_NOTADB, "is damaged", True),
        (sqlite3.SQLITE_BUSY, "another program keeps it locked", False),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "another program keeps it locked", False),
        (sqlite3.SQLITE_READONLY, "cannot be opened for writing", False),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened for writing", False),
        (sqlite3.SQLITE_IOERR_FSYNC, "the disk reported an error", False),
        (sqlite3.SQLITE_ERROR, "no such table", False),
    ],
)
def test_an_error_of_the_database_is_said_with_its_file(
    code: int, said: str, damaged: bool
) -> None:
    error = sqlite3.OperationalError("no such table: x")
    error.sqlite_errorcode = code
    found = translated(Path("/a/b.db"), error)
    assert str(found).startswith(f"/a/b.db: {said}") and found.reason in str(found)
    assert isinstance(found, DamagedError) is damaged and found.path == Path("/a/b.db")
