"""Connections that read: few, whoever reads, and closed when the store is."""

from __future__ import annotations

import _thread
import gc
import threading
from pathlib import Path

import pytest

from explorer.store import Store, StoreError
from explorer.store.database import MOST_IDLE, Readers
from tests.descriptors import CAN_COUNT, open_descriptors
from tests.store.sources import FileSource, chain, write_file


@pytest.mark.skipif(not CAN_COUNT, reason="the system does not list descriptors")
def test_threads_that_python_did_not_start_leave_no_descriptors(
    store: Store, tmp_path: Path
) -> None:
    """Qt's pool calls Python in such threads; nobody notices when they end."""
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(3)))).key
    store.session(key)
    before = open_descriptors()
    ended = threading.Semaphore(0)

    def read() -> None:
        threading.current_thread()
        store.session(key)
        ended.release()

    for _ in range(40):
        _thread.start_new_thread(read, ())
        assert ended.acquire(timeout=20)
    assert open_descriptors() <= before + 2 * MOST_IDLE


@pytest.mark.skipif(not CAN_COUNT, reason="the system does not list descriptors")
def test_many_readers_at_once_do_not_add_up(store: Store, database: Path) -> None:
    readers, together = Readers(database), threading.Barrier(12)

    def read() -> None:
        with readers.read() as connection:
            together.wait(20)
            assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)

    after_each = []
    for _ in range(6):
        threads = [threading.Thread(target=read) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        after_each.append(open_descriptors())
    readers.close()
    assert after_each[-1] <= after_each[0] + 8, after_each


def test_a_read_within_a_snapshot_sees_the_same_moment(store: Store, tmp_path: Path) -> None:
    readers = Readers(store.path)
    count = "SELECT count(*) FROM sessions"
    with readers.snapshot() as outer:
        assert outer.execute(count).fetchone() == (0,)
        store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(3))))
        with readers.read() as inner, readers.snapshot() as innermost:
            assert inner.execute(count).fetchone() == innermost.execute(count).fetchone() == (0,)
    with readers.read() as later:
        assert later.execute(count).fetchone() == (1,)
    readers.close()


def test_closing_waits_for_what_is_being_read(store: Store) -> None:
    readers = Readers(store.path)
    reading, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def read() -> None:
        with readers.read() as connection:
            reading.set()
            assert go_on.wait(20)
            connection.execute("SELECT count(*) FROM sessions").fetchone()

    def close() -> None:
        readers.close()
        closed.set()

    threads = [threading.Thread(target=read), threading.Thread(target=close)]
    threads[0].start()
    assert reading.wait(20)
    threads[1].start()
    assert not closed.wait(0.1)
    go_on.set()
    assert closed.wait(20)
    for thread in threads:
        thread.join(20)
    with pytest.raises(StoreError, match="closed"), readers.read():
        pass


def test_statements_for_many_entries_are_few(store: Store, tmp_path: Path) -> None:
    """A connection keeps what it compiled: one statement for each number of entries adds up. The
    index is made meanwhile, by connections with statements of their own."""
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(130)))).key
    payloads = store.load(key).payloads

    def statements() -> int:
        name = "Statement"
        found = (type(each) for each in gc.get_objects())
        return sum(kind.__name__ == name and kind.__module__ == "sqlite3" for kind in found)

    before = statements()
    for count in range(1, 130):
        wanted = list(range(count))
        assert [entry.id for entry in payloads.entries(wanted)] == [f"e{at}" for at in wanted]
    assert statements() <= before + 40
