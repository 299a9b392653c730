"""What is read from the pages of a SQLite file without SQLite: as SQLite reads it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.formats.pi.export import dumps
from explorer.store import Store, salvage
from explorer.store.database import PAGE_SIZE
from explorer.store.salvage import Carver
from tests.store.sources import FileSource, chain, message, write_file

Value = None | int | float | str | bytes
LIMITS = [
    sign * 2**bits + by for bits in (7, 15, 23, 31, 47, 62) for sign in (1, -1) for by in (-1, 0, 1)
]
VALUES = st.one_of(
    st.none(), st.sampled_from([0, 1, *LIMITS]), st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False), st.text(max_size=9), st.binary(max_size=9),
)  # fmt: skip
KEYS = st.one_of(st.integers(0, 400), st.integers(0, 2**63 - 1))


def made(path: Path, rows: dict[int, list[Value]]) -> None:
    """A database with one table, whose rows have an integer key before their values."""
    path.unlink(missing_ok=True)
    width = len(next(iter(rows.values())))
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    columns = ", ".join(f"c{at}" for at in range(width))
    db.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, {columns})")
    marks = ", ".join("?" * (width + 1))
    db.executemany(f"INSERT INTO t VALUES ({marks})", [(key, *row) for key, row in rows.items()])
    db.commit()
    db.close()


def carved(path: Path, width: int, keys: list[int]) -> tuple[list[int], list[list[Value] | None]]:
    carver = Carver(path)
    try:
        return carver.keys(width + 1), [carver.row(width + 1, key) for key in keys]
    finally:
        carver.close()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.dictionaries(KEYS, st.lists(VALUES, min_size=9, max_size=9), min_size=1, max_size=30),
)
@example(rows={key: [key, "x" * 900, *[None] * 7] for key in range(60)})
def test_every_row_is_read_as_it_was_written(tmp_path: Path, rows: dict[int, list[Value]]) -> None:
    made(tmp_path / "some.db", rows)
    keys, found = carved(tmp_path / "some.db", 9, list(rows))
    assert keys == sorted(rows)
    # The key is not stored in its row.
    assert [repr(row) for row in found] == [repr([None, *row]) for row in rows.values()]


def test_values_of_every_length_around_what_a_page_takes_are_read_whole(
    tmp_path: Path,
) -> None:
    # All of a row that fits lies in its page, else a part of it; the rest in pages that follow.
    lengths = [
        *range(PAGE_SIZE - 60, PAGE_SIZE + 20),
        *range(2 * PAGE_SIZE - 70, 2 * PAGE_SIZE + 5, 3),
        5 * PAGE_SIZE,
    ]
    rows: dict[int, list[Value]] = {
        key: [bytes(key * at % 251 for at in range(length)), "end"]
        for key, length in enumerate(lengths, 1)
    }
    made(tmp_path / "some.db", rows)
    keys, found = carved(tmp_path / "some.db", 2, list(rows))
    assert keys == list(rows)
    assert found == [[None, *row] for row in rows.values()]


def test_a_row_that_is_not_there_or_not_whole_is_none(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    made(path, {1: ["here", b"x" * 6 * PAGE_SIZE], 2: ["here", b"y"]})
    whole = path.read_bytes()
    assert carved(path, 2, [3, -1])[1] == [None, None] and carved(path, 1, [1])[1] == [None]
    path.write_bytes(whole[:-PAGE_SIZE])
    keys, found = carved(path, 2, [1, 2])
    assert keys == [1, 2], "its key is in a page that is there"
    assert found == [None, [None, "here", b"y"]]
    path.write_bytes(b"")
    assert carved(path, 2, [1]) == ([], [None])


def filled(database: Path, tmp_path: Path, sizes: list[int]) -> list[int]:
    """A closed database with sessions of so many entries."""
    with Store.open(database) as store:
        return [
            store.import_session(
                FileSource(write_file(tmp_path / f"{number}.jsonl", chain(size)))
            ).key
            for number, size in enumerate(sizes)
        ]


def changed(database: Path, *statements: str) -> None:
    db = sqlite3.connect(database)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def test_sessions_are_found_by_their_entries_where_nothing_lists_them(
    database: Path, tmp_path: Path
) -> None:
    keys = filled(database, tmp_path, [300, 1, 5])
    changed(database, "DELETE FROM sessions", f"DELETE FROM payloads WHERE id >> 32 = {keys[2]}")
    report = salvage(database, tmp_path / "saved.db")
    assert [(one.entries, one.lost) for one in report.sessions] == [(300, 0), (1, 0)]
    assert report.target == tmp_path / "saved.db" and report.notes == []


def test_an_import_that_had_not_ended_is_not_saved(database: Path, tmp_path: Path) -> None:
    keys = filled(database, tmp_path, [3, 2])
    changed(database, f"UPDATE sessions SET complete = 0 WHERE key = {keys[0]}")
    report = salvage(database, tmp_path / "saved.db")
    assert [one.entries for one in report.sessions] == [2]


def test_an_empty_database_is_saved_as_one(database: Path, tmp_path: Path) -> None:
    Store.open(database).close()
    assert salvage(database, tmp_path / "saved.db").sessions == []


def test_what_hung_below_a_lost_entry_hangs_below_the_nearest_above_and_so_does_the_leaf(
    database: Path, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", [*chain(6), message(6, "e1", "a branch")])
    with Store.open(database) as store:
        key = store.import_session(FileSource(file)).key
        store.set_leaf(key, 3).result()
        store.add_draft(key, {"summary": "there", "leaf": 5}).result()
        store.add_draft(key, {"summary": "lost", "leaf": 3}).result()
    low = key << 32
    changed(database, f"DELETE FROM payloads WHERE id IN ({low}, {low + 2}, {low + 3})")
    (saved,) = salvage(database, tmp_path / "saved.db").sessions
    assert (saved.entries, saved.lost) == (4, 3)
    with Store.open(tmp_path / "saved.db") as store:
        loaded = store.load(saved.key)
        columns = loaded.tree.columns
        assert list(columns.ids) == ["e1", "e4", "e5", "e6"]
        assert list(columns.parent) == [-1, 0, 1, 0]
        assert loaded.leaf == 0
        assert {one.summary: one.leaf for one in store.drafts(saved.key)} == {
            "there": 2,
            "lost": -1,
        }


def test_drafts_and_settings_are_saved_with_all_they_have_or_named_as_left_out(
    database: Path, tmp_path: Path
) -> None:
    (key,) = filled(database, tmp_path, [3])
    draft = {
        "summary": "s", "status": "done", "leaf": 2, "requests": [{"purpose": "history"}],
        "answers": [{"text": "short"}], "settings": {"keep": 1}, "facts": {"lost": ["a"]},
    }  # fmt: skip
    with Store.open(database) as store:
        store.add_draft(key, draft).result()
        store.set_session_setting(key, "profile", "pi").result()
        (before,) = store.drafts(key)
    (saved,) = salvage(database, tmp_path / "saved.db").sessions
    with Store.open(tmp_path / "saved.db") as store:
        (after,) = store.drafts(saved.key)
        for name in draft:
            assert getattr(after, name) == getattr(before, name) == draft[name]
    changed(database, "UPDATE session_settings SET value = '{'")
    report = salvage(database, tmp_path / "again.db")
    assert len(report.notes) == 1
    assert (
        "session_settings were left out" in report.notes[0] and "line number 0" in report.notes[0]
    )
    with Store.open(tmp_path / "again.db") as store:
        assert len(store.drafts(report.sessions[0].key)) == 1


def test_lines_that_are_no_entries_and_the_files_place_are_saved(
    database: Path, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "a.jsonl", ["no entry", *chain(2), "nor this"])
    with Store.open(database) as store:
        source = FileSource(file)
        source.header = replace(
            source.header, relation="fork", parent_call="c1", agent_version="1.2", title="A title"
        )
        key = store.import_session(source).key
        lines = list(store.lines(key))
        row = store.session(key)
    (saved,) = salvage(database, tmp_path / "saved.db").sessions
    with Store.open(tmp_path / "saved.db") as store:
        assert list(store.lines(saved.key)) == lines
        again = store.session(saved.key)
    for name in (
        "session_id", "format", "version", "cwd", "title", "entries", "leaf", "relation",
        "parent_call", "agent_version",
    ):  # fmt: skip
        assert getattr(again, name) == getattr(row, name)
    assert (again.title, again.parent_call) == ("A title", "c1")


def test_what_is_only_in_the_log_is_read_and_a_page_missing_at_the_end_loses_little(
    database: Path, tmp_path: Path
) -> None:
    filled(database, tmp_path, [300])
    database.write_bytes(database.read_bytes()[:-16384])
    with Store.open(tmp_path / "other.db") as store:
        other = store.import_session(FileSource(tmp_path / "0.jsonl")).key
        store.append(other, [(dumps(message(900, "e5", "new")), "e5")]).result()
        (logged,) = salvage(tmp_path / "other.db", tmp_path / "saved.db").sessions
        assert logged.entries == 301
    (cut,) = salvage(database, tmp_path / "cut.db").sessions
    assert cut.entries + cut.lost == 300 and cut.lost < 300
