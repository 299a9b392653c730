"""What an import takes over from its source, whatever the batches, and what it reports."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.session.records import EntryRecord, Problem
from explorer.store import ImportCancelled, Store, StoreError
from tests.store.conftest import eventually
from tests.store.sources import FileSource, chain, message, write_file


class OtherSource(FileSource):
    """A file of which something else is reported, or whose records are others."""

    def __init__(
        self, path: Path, leaf: int | None = None, parents: dict[int, int] | None = None
    ) -> None:
        super().__init__(path)
        self._leaf = leaf
        self._parents = parents or {}

    def batches(self) -> Iterator[list[EntryRecord]]:
        for batch in super().batches():
            yield [
                record._replace(parent=self._parents.get(at, record.parent))
                for at, record in enumerate(batch)
            ]
        self.report.leaf = self._leaf


def labelled(number: int, target: str, label: str) -> dict[str, object]:
    return {"type": "label", "id": f"l{number}", "parentId": target, "targetId": target,
            "label": label}  # fmt: skip


def test_the_size_of_a_session_is_that_of_its_lines(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(5))
    key = store.import_session(FileSource(file, batch=2)).key
    lines = file.read_text(encoding="utf-8").splitlines()[1:]
    assert store.session(key).size == sum(map(len, lines))


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_what_is_imported_does_not_depend_on_the_batches(
    store: Store, tmp_path: Path, size: int
) -> None:
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "", "cwd": "/w"}
    named = {"type": "session_info", "id": "n", "parentId": "e4", "name": "Named"}
    entries = [*chain(5), labelled(1, "e1", "first"), named, labelled(2, "e3", "second"), "rubbish"]
    file = write_file(tmp_path / "a.jsonl", entries, head)
    seen: list[tuple[int, int]] = []
    report = store.import_session(FileSource(file, size), lambda *parts: seen.append(parts))
    assert (report.title, report.created, report.added, report.asides) == ("Named", True, 8, 1)
    assert len(seen) == -(-8 // size) and seen == sorted(seen)
    assert {whole for _, whole in seen} == {file.stat().st_size}
    loaded = store.load(report.key)
    assert loaded.tree.columns.ids == ["e0", "e1", "e2", "e3", "e4", "l1", "n", "l2"]
    assert loaded.tree.columns.labels == {5: ("e1", "first"), 7: ("e3", "second")}
    assert store.labels(report.key) == [
        (report.key, "e1", "first"),
        (report.key, "e3", "second"),
    ]
    assert [number for number, _ in store.lines(report.key)] == list(range(2, 11))
    write_file(file, [*entries, message(9, "e4", "more")], head)
    again = store.import_session(FileSource(file, size))
    assert (again.added, again.kept, again.asides) == (1, 8, 1)
    assert (again.created, again.unchanged, again.title) == (False, False, "Named")


@pytest.mark.parametrize(
    ("reported", "leaf"), [(None, 4), (2, 2), (0, 0), (-1, -1), (-7, -1), (4, 4), (9, 4)]
)
def test_the_leaf_is_what_the_source_reports_within_what_there_is(
    store: Store, tmp_path: Path, reported: int | None, leaf: int
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(5))
    key = store.import_session(OtherSource(file, reported)).key
    assert store.load(key).leaf == leaf
    write_file(file, [*chain(5), " "])
    store.import_session(OtherSource(file, reported))
    assert store.load(key).leaf == leaf, "nor does reading it again move it"


@pytest.mark.parametrize(("at", "parent"), [(2, 2), (2, 3), (1, -2), (0, 0)])
def test_a_parent_that_is_no_earlier_entry_stops_the_import_naming_the_entry(
    store: Store, tmp_path: Path, at: int, parent: int
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(4))
    with pytest.raises(ValueError, match=f"'e{at}': parent index {parent} is not an earlier"):
        store.import_session(OtherSource(file, parents={at: parent}))
    assert store.sessions() == []


def test_an_import_whose_source_fails_leaves_no_rows_and_lets_the_next_one_be(
    store: Store, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(90))

    class Broken(FileSource):
        def batches(self) -> Iterator[list[EntryRecord]]:
            for number, batch in enumerate(super().batches()):
                if number == 7:
                    raise OSError("the disk is gone")
                yield batch

    with pytest.raises(OSError, match="the disk is gone"):
        store.import_session(Broken(file, 10))

    def rows() -> int:
        with store._readers.read() as db:
            tables = ("sessions", "entries", "payloads", "labels")
            return sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)

    eventually(lambda: rows() == 0, "all rows are gone")
    assert not list(tmp_path.glob("*.claim-*"))
    key = store.import_session(FileSource(file)).key
    eventually(lambda: store.search_state().complete, "the index is complete")
    assert [hit.index for hit in store.search("number 77", key)] == [77]


def test_an_update_that_is_cancelled_keeps_what_it_had_added(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(10))
    key = store.import_session(FileSource(file)).key
    write_file(file, chain(60))
    calls: list[int] = []

    def cancelled() -> bool:
        calls.append(1)
        return len(calls) > 3

    with pytest.raises(ImportCancelled, match="14 new entries had been added"):
        store.import_session(FileSource(file, batch=8), cancelled=cancelled)
    assert len(store.load(key).tree) == 24, "three batches of eight had been read"
    report = store.import_session(FileSource(file))
    assert (report.key, report.added, report.kept) == (key, 36, 24)
    assert store.load(key).tree.columns.ids == [f"e{at}" for at in range(60)]


def test_an_import_and_an_update_say_how_far_they_are(store: Store, tmp_path: Path) -> None:
    for count, batches in ((5, 3), (8, 4)):
        seen: list[tuple[int, int]] = []
        source = FileSource(write_file(tmp_path / "a.jsonl", chain(count)), batch=2)
        source.report.bytes_total = 9_999
        store.import_session(source, lambda *one, to=seen: to.append(one))
        assert len(seen) == batches and seen == sorted(set(seen))
        assert {total for _, total in seen} == {9_999}


def test_a_session_begins_with_its_first_time_and_ends_with_its_newest(
    store: Store, tmp_path: Path
) -> None:
    entries = chain(6)
    for entry, second in zip(entries, (9, 7, 8, 5, 30, 20), strict=True):
        entry["timestamp"] = f"2026-01-02T03:04:{second:02}.000Z" if second != 9 else "never"
    source = FileSource(write_file(tmp_path / "a.jsonl", entries), batch=2)
    row = store.session(store.import_session(source).key)
    second_ms = 1_767_323_040_000.0
    assert (row.started_ms - second_ms, row.last_ms - second_ms) == (7_000, 30_000)


def test_problems_of_a_source_are_reported_and_asides_replaced(
    store: Store, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", ["bad one", *chain(2)])

    class Complains(FileSource):
        def batches(self) -> Iterator[list[EntryRecord]]:
            yield from super().batches()
            self.report.problems = [Problem(at, "odd") for at in range(1200)]

    report = store.import_session(Complains(file))
    assert len(report.problems) == 1200 and report.asides == 1
    write_file(file, ["good", "bad two", *chain(3)])
    again = store.import_session(Complains(file))
    assert len(again.problems) == 1200 and again.asides == 2
    assert [aside.raw for aside in store.asides(report.key)] == [b"good\n", b"bad two\n"]


def test_of_many_entries_those_whose_line_differs_or_is_gone_are_counted(
    store: Store, tmp_path: Path
) -> None:
    entries = chain(1000)
    file = write_file(tmp_path / "a.jsonl", entries)
    key = store.import_session(FileSource(file)).key
    other = chain(1000)
    for at in (0, 399, 400, 401, 999):
        other[at]["message"]["content"] = "another"
    other[500:502] = []
    write_file(file, other)
    report = store.import_session(FileSource(file, batch=333))
    assert (report.added, report.kept, report.differing) == (0, 998, 5)
    assert report.missing == 2
    numbers = [number for number, _ in store.lines(key)]
    assert numbers == sorted([*range(2, 1000), 502, 503]), "what is gone keeps its place"


@pytest.mark.parametrize(("before", "after", "same"), [(1, 3, False), (1, 1, True), (2, 3, True)])
def test_a_file_that_was_given_ids_since_is_another_session(
    store: Store, tmp_path: Path, before: int, after: int, same: bool
) -> None:
    head = {"type": "session", "version": before, "id": "s", "timestamp": "", "cwd": "/w"}
    file = write_file(tmp_path / "a.jsonl", chain(2), head)
    key = store.import_session(FileSource(file)).key
    write_file(file, chain(3), head | {"version": after})
    assert (store.import_session(FileSource(file)).key == key) is same


def test_a_moved_file_is_known_only_by_the_same_header_and_only_while_its_old_place_is_empty(
    store: Store, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3))
    key = store.import_session(FileSource(file)).key
    file.unlink()
    head = {"type": "session", "version": 3, "id": "s-1", "timestamp": "", "cwd": "/other"}
    other = write_file(tmp_path / "b.jsonl", chain(3), head)
    assert store.import_session(FileSource(other)).key != key, "of the same id, begun in another"
    moved = store.import_session(FileSource(write_file(tmp_path / "c.jsonl", chain(4))))
    assert (moved.key, moved.added) == (key, 1)
    assert store.import_session(FileSource(tmp_path / "c.jsonl")).unchanged


def test_a_search_that_is_cancelled_ends_and_finds_no_more(store: Store, tmp_path: Path) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(300)))).key
    eventually(lambda: store.search_state().complete, "the index is complete")
    assert store.search("line", cancelled=lambda: True) == []
    assert len(store.search("line", limit=500, cancelled=lambda: False)) == 300
    asked: list[int] = []
    found = store.search("line", key, 500, lambda: asked.append(1) or len(asked) > 2)
    assert 0 < len(found) < 300
    assert len(store.search("line", limit=1)) == 1 and store.search("line", limit=0) == []


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, int]]:
    place = tmp_path_factory.mktemp("large")
    with Store.open(place / "sessions.db") as store:
        file = write_file(place / "a.jsonl", [message(at, None, "x") for at in range(9000)])
        yield store, store.import_session(FileSource(file)).key


_counters = iter(range(10**6))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(
        st.tuples(
            st.sampled_from([0, 1, 4095, 4096, 4097, 8191, 8192, 8999]) | st.integers(0, 8999),
            st.sampled_from([0, 1, 2, 4096, 4097, 8192, 9000]) | st.integers(0, 9000),
        ),
        max_size=5,
    )
)
def test_token_counts_are_read_as_the_last_writing_left_them(
    large: tuple[Store, int], parts: list[tuple[int, int]]
) -> None:
    store, key = large
    counter = f"counter {next(_counters)}"
    wanted = array("i", [-1]) * 9000
    for number, (first, length) in enumerate(parts, 1):
        counts = [number * 10_000 + at for at in range(min(length, 9000 - first))]
        wanted[first : first + len(counts)] = array("i", counts)
        store.set_token_counts(key, counter, first, counts).result()
    assert store.token_counts(key, counter) == wanted


def test_what_is_read_and_written_goes_through_files_that_are_closed_with_the_store(
    database: Path, tmp_path: Path
) -> None:
    with Store.open(database) as store:
        store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(300))))
        eventually(lambda: store.search_state().complete, "the index is complete")
        assert store.search("line")
    opened = [Path(f"/proc/self/fd/{name}").resolve() for name in _descriptors()]
    assert not [path for path in opened if path.is_relative_to(tmp_path)]
    with pytest.raises(StoreError, match="closed"):
        store.search("line")
    with sqlite3.connect(database) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def _descriptors() -> list[str]:
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("no list of open files here")
    return [path.name for path in folder.iterdir()]
