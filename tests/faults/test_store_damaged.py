"""A damaged or foreign file: named, left byte for byte, and copied out as far as it goes."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.store import DamagedError, Store, StoreError, salvage
from tests.store.conftest import eventually
from tests.store.sources import FileSource, chain, message, write_file


def filled(database: Path, tmp_path: Path, sessions: int = 3, entries: int = 400) -> list[int]:
    """A closed database of some sessions; gives their keys."""
    with Store.open(database) as store:
        keys = []
        for number in range(sessions):
            head = {"type": "session", "version": 3, "id": f"s-{number}", "timestamp": "",
                    "cwd": "/w"}  # fmt: skip
            file = write_file(tmp_path / f"{number}.jsonl", chain(entries), head)
            key = store.import_session(FileSource(file)).key
            store.append(key, [(dumps(message(9000, "e5", "made here")), "e5")], "e9000").result()
            store.add_draft(key, {"summary": f"draft {number}", "leaf": 7}).result()
            store.set_session_setting(key, "profile", "pi").result()
            keys.append(key)
    return keys


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no SQLite file"),
        (b"just some text, longer than a hundred bytes" * 5, "no SQLite file"),
        ("foreign", "another program"),
    ],
)
def test_a_foreign_file_is_refused_and_left_alone(
    database: Path, content: bytes | str, reason: str
) -> None:
    if isinstance(content, bytes):
        database.write_bytes(content)
    else:
        db = sqlite3.connect(database)
        db.executescript("CREATE TABLE sessions (x); INSERT INTO sessions VALUES (1)")
        db.close()
    before = digest(database)
    with pytest.raises(StoreError, match=reason) as caught:
        Store.open(database)
    assert str(database) in str(caught.value)
    assert digest(database) == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.99])
def test_a_file_that_is_cut_short_is_refused_and_left_alone(
    database: Path, tmp_path: Path, share: float
) -> None:
    filled(database, tmp_path)
    data = database.read_bytes()
    database.write_bytes(data[: int(len(data) * share)])
    before = digest(database)
    with pytest.raises(DamagedError, match="cut short"):
        Store.open(database)
    assert digest(database) == before


def test_a_directory_where_the_database_should_be_is_an_error_that_names_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        Store.open(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be created"):
        Store.open(tmp_path / "file" / "sessions.db")


def spoil(database: Path, seed: int, page: int) -> None:
    """Overwrite a stretch in the middle of one page."""
    data = bytearray(database.read_bytes())
    start = page * 16384
    noise = random.Random(seed).randbytes(16384)
    data[start : start + 16384] = noise
    database.write_bytes(data)


def test_whatever_page_is_spoilt_nothing_worse_than_a_store_error_comes_and_the_rest_is_saved(
    database: Path, tmp_path: Path
) -> None:
    keys = filled(database, tmp_path, entries=600)
    whole = database.read_bytes()
    pages = len(whole) // 16384
    # Every page near the start, where the roots are, and some of the many leaves.
    for page in [*range(1, 6), *range(8, pages, pages // 4)]:
        database.write_bytes(whole)
        spoil(database, page, page)
        before = digest(database)
        target = tmp_path / f"saved-{page}.db"
        report = salvage(database, target)
        assert digest(database) == before, "salvage only reads"
        saved = sum(session.entries for session in report.sessions)
        lost = sum(session.lost for session in report.sessions)
        assert saved >= 601 * 3 * 0.75, (page, report)
        assert saved + lost <= 601 * 3 + 5
        with Store.open(target) as store:
            for row in store.sessions():
                loaded = store.load(row.key)
                for at in range(0, row.entries, 50):
                    assert loaded.payloads.entry(at).recorded["id"] == loaded.tree.columns.ids[at]
        try:
            with Store.open(database) as store:
                for key in keys:
                    loaded = store.load(key)
                    loaded.payloads.entries(range(len(loaded.tree)))
        except StoreError as error:
            assert str(database) in str(error)


def test_a_sound_database_is_saved_whole_with_drafts_settings_and_what_is_in_its_log(
    database: Path, tmp_path: Path
) -> None:
    (key,) = filled(database, tmp_path, sessions=1)
    target = tmp_path / "saved.db"
    with Store.open(database) as store:
        store.append(key, [(dumps(message(9001, "e9000", "in the log")), "e9000")]).result()
        store.set_leaf(key, 3).result()
        eventually(lambda: store.search_state().complete, "nothing is written in the background")
        wal = Path(f"{database}-wal")
        assert wal.stat().st_size > 0
        log = digest(wal)
        report = salvage(database, target)
        assert digest(wal) == log
        lines = [raw for _, raw in store.lines(key)]
    (saved,) = report.sessions
    assert (saved.entries, saved.lost, saved.title) == (402, 0, "line number 0")
    with Store.open(target) as store:
        assert [raw for _, raw in store.lines(saved.key)] == lines
        loaded = store.load(saved.key)
        assert loaded.leaf == 3 and loaded.tree.columns.parent[400] == 5
        assert [draft.summary for draft in store.drafts(saved.key)] == ["draft 0"]
        assert store.session_settings(saved.key) == {"profile": "pi"}


def test_importing_the_file_again_fills_what_a_salvage_lost(database: Path, tmp_path: Path) -> None:
    (key,) = filled(database, tmp_path, sessions=1)
    db = sqlite3.connect(database)
    db.execute("DELETE FROM payloads WHERE id BETWEEN ? AND ?", (key << 32 | 50, key << 32 | 59))
    db.execute("DELETE FROM entries WHERE id = ?", (key << 32 | 100,))
    db.execute("DELETE FROM sessions")
    db.commit()
    db.close()
    target = tmp_path / "saved.db"
    report = salvage(database, target)
    (saved,) = report.sessions
    assert (saved.entries, saved.lost) == (391, 10)
    with Store.open(target) as store:
        loaded = store.load(saved.key)
        at = loaded.tree.index_of("e60")
        assert loaded.tree.columns.ids[loaded.tree.columns.parent[at]] == "e49"
        assert loaded.tree.index_of("e100") >= 0, "worked out again from its payload"
        again = store.import_session(FileSource(tmp_path / "0.jsonl"))
        assert again.created, "without its row the session's own name is not known any more"


def test_what_is_no_database_cannot_be_saved(database: Path, tmp_path: Path) -> None:
    database.write_bytes(b"nothing of a database" * 1000)
    with pytest.raises(DamagedError, match="cannot be read at all"):
        salvage(database, tmp_path / "saved.db")
    assert not (tmp_path / "saved.db").exists()
    (tmp_path / "there.db").write_text("mine")
    with pytest.raises(StoreError, match="exists already"):
        salvage(database, tmp_path / "there.db")


def test_a_session_with_missing_rows_says_so_instead_of_showing_less(
    database: Path, tmp_path: Path
) -> None:
    keys = filled(database, tmp_path)
    db = sqlite3.connect(database)
    db.execute("DELETE FROM entries WHERE id = ?", (keys[0] << 32 | 7,))
    db.execute("DELETE FROM columns")
    db.commit()
    db.close()
    with Store.open(database) as store:
        with pytest.raises(DamagedError):
            store.load(keys[0])
        assert len(store.load(keys[1]).tree) == 401, "the others open as ever"


@pytest.mark.parametrize("share", [0.7, 0.85, 0.95])
def test_a_file_that_is_cut_short_gives_what_is_left(
    share: float, tmp_path: Path, database: Path
) -> None:
    """A copy that stopped half-way is the damage that people have most often."""
    filled(database, tmp_path)
    data = database.read_bytes()[: int(database.stat().st_size * share)]
    database.write_bytes(data)
    report = salvage(database, tmp_path / "copy.db")
    found = sum(session.entries for session in report.sessions)
    assert found > 100
    assert database.read_bytes() == data
