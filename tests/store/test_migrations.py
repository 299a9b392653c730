"""An older database comes forward with a copy made first; a newer one is left alone."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.store import NewerVersionError, Store, StoreError, migrations
from explorer.store.database import APPLICATION_ID, SCHEMA_VERSION
from explorer.store.tables import create_tables
from tests.store.conftest import eventually
from tests.store.sources import FileSource, chain, message, write_file
from tests.store.test_totals import day, imported, reply

VERSION_1 = """
CREATE TABLE sessions (key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session_id VARCHAR NOT NULL,
  format VARCHAR NOT NULL, version INTEGER NOT NULL, cwd VARCHAR NOT NULL,
  parent_session VARCHAR NOT NULL, header VARCHAR NOT NULL, complete INTEGER NOT NULL,
  claim VARCHAR NOT NULL, entries INTEGER NOT NULL, leaf INTEGER NOT NULL, name VARCHAR NOT NULL,
  first_said VARCHAR NOT NULL, compactions INTEGER NOT NULL, size INTEGER NOT NULL,
  header_ms FLOAT NOT NULL, started_ms FLOAT NOT NULL, last_ms FLOAT NOT NULL,
  changed_ms FLOAT NOT NULL);
CREATE INDEX ix_sessions_session_id ON sessions (session_id);
CREATE TABLE entries (id INTEGER NOT NULL, entry_id VARCHAR NOT NULL, parent INTEGER NOT NULL,
  line INTEGER NOT NULL, kind INTEGER NOT NULL, flags INTEGER NOT NULL, time_ms FLOAT NOT NULL,
  estimate INTEGER NOT NULL, usage INTEGER NOT NULL, model VARCHAR, preview VARCHAR NOT NULL,
  call_id VARCHAR, rare VARCHAR, PRIMARY KEY (id));
CREATE TABLE payloads (id INTEGER NOT NULL, raw VARCHAR NOT NULL, PRIMARY KEY (id));
CREATE TABLE columns (session INTEGER NOT NULL, entries INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (session), FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);
CREATE TABLE asides (session INTEGER NOT NULL, line INTEGER NOT NULL, raw BLOB NOT NULL,
  reason VARCHAR NOT NULL, PRIMARY KEY (session, line),
  FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);
CREATE TABLE sources (session INTEGER NOT NULL, path VARCHAR NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, digest VARCHAR NOT NULL, lines INTEGER NOT NULL,
  last INTEGER NOT NULL, problems JSON NOT NULL, PRIMARY KEY (session),
  FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);
CREATE INDEX ix_sources_path ON sources (path);
CREATE TABLE drafts (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,
  kind VARCHAR NOT NULL, status VARCHAR NOT NULL, leaf INTEGER NOT NULL, model VARCHAR NOT NULL,
  instructions VARCHAR NOT NULL, settings JSON, requests JSON, answers JSON, facts JSON,
  summary VARCHAR NOT NULL, edited_text VARCHAR, problem VARCHAR NOT NULL,
  elapsed_ms FLOAT NOT NULL, created_ms FLOAT NOT NULL, changed_ms FLOAT NOT NULL,
  FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);
CREATE INDEX ix_drafts_session ON drafts (session);
CREATE TABLE session_settings (session INTEGER NOT NULL, name VARCHAR NOT NULL, value JSON,
  PRIMARY KEY (session, name),
  FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);
CREATE TABLE token_counts (session INTEGER NOT NULL, counter VARCHAR NOT NULL,
  chunk INTEGER NOT NULL, tokens BLOB NOT NULL, PRIMARY KEY (session, counter, chunk),
  FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);
INSERT INTO sessions VALUES (7, 's-old', 'pi', 3, '/w', '', '{}', 1, '', 3, 2, '', 'hi', 0, 9,
  0, 1, 2, 3);
"""


def make_version_1(path: Path) -> None:
    """A database as the first version wrote it: two messages, and a label on the first."""
    label = {"type": "label", "id": "e2", "parentId": "e1", "targetId": "e0", "label": "here"}
    entries = [message(0, None, "hi"), message(1, "e0", "ho"), label]
    db = sqlite3.connect(path)
    db.executescript(VERSION_1)
    for at, entry in enumerate(entries):
        rare = json.dumps({"label": ["e0", "here"]}) if at == 2 else None
        kind = 16 if at == 2 else 1
        db.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, 32, 5, 1, -1, NULL, 'p', NULL, ?)",
            (7 << 32 | at, f"e{at}", at - 1, at + 2, kind, rare),
        )
        db.execute("INSERT INTO payloads VALUES (?, ?)", (7 << 32 | at, json.dumps(entry)))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.execute("PRAGMA journal_mode = WAL")
    db.close()


def layout(path: Path) -> dict[str, object]:
    """Tables and indexes as SQLite describes them."""
    db = sqlite3.connect(path)
    names = db.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'")
    found: dict[str, object] = {}
    for kind, name in names.fetchall():
        pragma = "index_info" if kind == "index" else "table_info"
        found[name] = db.execute(f"PRAGMA {pragma}({name})").fetchall()
        if kind == "table":
            found[f"{name} refers"] = db.execute(f"PRAGMA foreign_key_list({name})").fetchall()
    db.close()
    return found


def test_the_tables_are_those_of_the_version() -> None:
    """What has the same number is laid out the same; ``data/layout.sql`` is for that number."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(db)
    made = db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")
    found = [f"-- version {SCHEMA_VERSION}", *(" ".join(sql.split()) for (sql,) in made)]
    assert found == (Path(__file__).parent / "data" / "layout.sql").read_text().splitlines()


def test_version_1_comes_forward_with_its_sessions_and_a_copy_is_left(
    database: Path, tmp_path: Path
) -> None:
    make_version_1(database)
    before = database.read_bytes()
    with Store.open(database) as store:
        loaded = store.load(7)
        assert loaded.tree.columns.ids == ["e0", "e1", "e2"] and loaded.leaf == 2
        assert loaded.tree.labels() == {0: "here"}
        assert store.labels() == [(7, "e0", "here")]
        assert store.append(7, [(dumps(message(3, "e2", "new")), "e2")]).result() == [3]
    copy = Path(f"{database}.version-1")
    assert sqlite3.connect(copy).execute("PRAGMA user_version").fetchone() == (1,)
    assert len(before) == copy.stat().st_size
    fresh = tmp_path / "fresh.db"
    Store.open(fresh).close()
    assert layout(database) == layout(fresh), "a database that came forward is like a new one"
    with Store.open(database) as store:
        assert len(store.load(7).tree) == 4
    assert not Path(f"{database}.version-1.1").exists(), "nothing to do the second time"


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_version_1(database)

    def breaks(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (x)")
        db.execute("INSERT INTO nowhere VALUES (1)")

    monkeypatch.setitem(migrations.MIGRATIONS, 1, breaks)
    with pytest.raises(StoreError, match=r"could not be brought up to date.*version-1"):
        Store.open(database)
    db = sqlite3.connect(database)
    assert db.execute("PRAGMA user_version").fetchone() == (1,)
    assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
    db.close()
    monkeypatch.undo()
    with Store.open(database) as store:
        assert len(store.load(7).tree) == 3


def test_where_no_copy_can_be_made_nothing_is_done_and_nothing_is_left(database: Path) -> None:
    resource = pytest.importorskip("resource", reason="no limit for files on this system")
    make_version_1(database)
    before, names = database.read_bytes(), sorted(database.parent.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) - 1, hard))
    try:
        with pytest.raises(StoreError, match="because no copy could be made"):
            Store.open(database)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(database.parent.iterdir()) == names
    with Store.open(database) as store:
        assert len(store.load(7).tree) == 3


def test_a_database_of_a_newer_version_is_left_untouched(database: Path) -> None:
    Store.open(database).close()
    db = sqlite3.connect(database)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    names = sorted(path.name for path in database.parent.iterdir())
    with pytest.raises(NewerVersionError, match="newer version of the program") as caught:
        Store.open(database)
    assert str(database) in str(caught.value)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    assert sorted(path.name for path in database.parent.iterdir()) == names


def test_a_new_database_is_private_and_has_the_settings_that_were_chosen(
    database: Path, tmp_path: Path
) -> None:
    with Store.open(database) as store:
        store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(3))))
        assert database.stat().st_mode & 0o077 == 0
        db = sqlite3.connect(database)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA page_size").fetchone() == (16384,)
        db.close()
    left = {path.name for path in tmp_path.iterdir()} - {"sessions.db.search"}
    assert left == {"sessions.db", "a.jsonl"}, "nothing else is left behind"


def test_sums_of_version_6_are_made_anew(database: Path, tmp_path: Path) -> None:
    with Store.open(database) as store:
        imported(store, tmp_path / "long.jsonl", [reply(0, day(1), "m", None, None)])
        eventually(lambda: bool(store.totals()), "what it took")
        made = store.totals()
    db = sqlite3.connect(database)
    db.executescript("UPDATE totals SET input = 9, model = 'x'; PRAGMA user_version = 6;")
    db.close()
    with Store.open(database) as store:
        eventually(lambda: bool(store.totals()), "what it took, once more")
        assert store.totals() == made


def test_sums_are_made_once_more_by_the_size_of_prompts(database: Path, tmp_path: Path) -> None:
    """Version 6 knows what is over the sizes from which on prompts cost more."""
    with Store.open(database) as store:
        key = imported(store, tmp_path / "long.jsonl", [reply(0, day(1), "m", None, None)])
        eventually(lambda: bool(store.totals()), "what it took")
        spent = [(one.size, one.spent) for one in store.totals()]
    db = sqlite3.connect(database)
    db.executescript(
        "DROP TABLE audits; DROP TABLE totals; CREATE TABLE totals (session INTEGER NOT NULL,"
        " day INTEGER NOT NULL, model VARCHAR NOT NULL, input INTEGER NOT NULL,"
        " output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,"
        " cost FLOAT NOT NULL, calls INTEGER NOT NULL, unpriced INTEGER NOT NULL,"
        " uncounted INTEGER NOT NULL, PRIMARY KEY (session, day, model),"
        " FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE);"
        f"INSERT INTO totals VALUES ({key}, 1, 'm', 9, 9, 9, 9, 9, 9, 9, 9);"
        " PRAGMA user_version = 5;"
    )
    db.close()
    with Store.open(database) as store:
        eventually(lambda: bool(store.totals()), "what it took, once more")
        assert [(one.size, one.spent) for one in store.totals()] == spent
        assert store.sessions()[0].branches == 1
