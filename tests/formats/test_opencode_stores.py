"""The places that opencode keeps its sessions in: read whole, left as they are, and read on where
they are damaged."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from random import Random

import pytest

from explorer.formats.adapter import FormatError
from explorer.formats.opencode.adapter import OPENCODE
from explorer.formats.opencode.database import opened
from explorer.formats.registry import adapter_for, open_source
from explorer.session.entries import Unknown, UserMessage
from tests.formats import opencode_store as store
from tests.formats.agents.reading import Reading
from tests.formats.opencode_store import Json, reply, session, tool, user
from tests.formats.test_mutated_files import mutated

ROUNDS = int(os.environ.get("EXPLORER_MUTATED_FILES", "40"))


def two_turns(name: str = "ses") -> Json:
    return session(
        name,
        user(f"{name}-u1", 1, "a"),
        reply(f"{name}-a1", 2, "b", tool("c1")),
        user(f"{name}-u2", 3, "c"),
        reply(f"{name}-a2", 4, "d"),
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def writing(path: Path) -> sqlite3.Connection:
    """An agent that has the database open, with what it wrote last in the log."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    store.insert_message(db, "ses", user("late", 9, "in the log"))
    return db


def test_what_a_running_agent_wrote_last_is_read(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns())
    db = writing(path)
    before = {name: data for name, data in contents(tmp_path).items() if not name.endswith("-shm")}
    reading = Reading(path)
    assert reading.prompts == ["a", "c", "in the log"]
    assert [Path(one).name for one in reading.source.files] == ["opencode.db", "opencode.db-wal"]
    store.insert_message(db, "ses", user("later", 10, "while it was read"))
    assert Reading(path).prompts[-1] == "while it was read"
    after = contents(tmp_path)
    assert after.keys() == {*before, "opencode.db-shm"}
    assert after["opencode.db"] == before["opencode.db"]
    db.close()


def test_nothing_is_left_beside_a_database_with_a_log(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns())
    db = writing(path)
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copyfile(tmp_path / name, copied / name)
    db.close()
    before = contents(copied)
    assert Reading(copied / "opencode.db").prompts == ["a", "c", "in the log"]
    assert OPENCODE.related(copied / "opencode.db") == []
    assert contents(copied) == before and len(before) == 2


def test_nothing_is_left_beside_a_database_without_one(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns())
    db = writing(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = contents(tmp_path)
    tmp_path.chmod(0o500)
    try:
        assert len(Reading(path).records) == 6
        assert contents(tmp_path) == before and len(before) == 1
    finally:
        tmp_path.chmod(0o700)


def test_what_a_file_is(tmp_path: Path) -> None:
    database = store.write_database(tmp_path / "any.db", two_turns())
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE session (id TEXT)")
    db.close()
    export = store.write_export(tmp_path / "a.json", two_turns())
    noted = tmp_path / "b.json"
    noted.write_bytes(b"Exporting session: ses\n" + export.read_bytes())
    marked = tmp_path / "c.json"
    marked.write_bytes(b"\xef\xbb\xbf" + export.read_bytes())
    turned = tmp_path / "d.json"
    turned.write_text(json.dumps(dict(reversed(list(two_turns().items())))), "utf-8")
    (folder,) = store.write_folder(tmp_path, two_turns())
    for path in (database, export, noted, marked, turned, folder):
        assert adapter_for(path) is OPENCODE, path
        assert len(Reading(path).records) == 5, path
    text = tmp_path / "e.json"
    text.write_text('{"info": "none", "sessionId": 1}', "utf-8")
    for path in (other, text):
        assert adapter_for(path) is not OPENCODE


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db")
    with pytest.raises(FormatError, match="has no sessions"):
        OPENCODE.open(path)
    path = store.write_database(tmp_path / "opencode-dev.db", two_turns())
    with pytest.raises(FormatError, match="no session 'none'"):
        OPENCODE.open(path, session_id="none")
    (file,) = store.write_folder(tmp_path, two_turns())
    with pytest.raises(FormatError, match="no session 'none'"):
        OPENCODE.open(file, session_id="none")
    export = store.write_export(tmp_path / "a.json", two_turns())
    for text in (export.read_bytes()[:-30], b'{"info": {}}', b'{"info": {"a": 1}, "messages": 7}'):
        export.write_bytes(text)
        with pytest.raises(FormatError):
            OPENCODE.open(export)


def test_rows_that_are_no_json_are_kept_and_named(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns())
    with sqlite3.connect(path) as db:
        db.execute("UPDATE message SET data = '{\"role\": \"us' WHERE id = 'ses-u2'")
        db.execute("UPDATE part SET data = X'FF00' WHERE id = 'ses-a1-p0'")
        db.execute("INSERT INTO part VALUES ('lost', 'no-message', 'ses', 0, 0, '{}')")
        db.execute("INSERT INTO todo VALUES ('ses', 'sweep', 'pending', 'high', 0)")
    db.close()
    reading = Reading(path)
    ids = [one.entry_id for one in reading.records]
    assert ids == ["ses-u1", "ses-a1", "ses-a1-p1", "ses-u2", "ses-a2"]
    assert isinstance(reading.entries[3].body, Unknown)
    assert '{\\"role\\": \\"us' in reading.records[3].raw
    reasons = [one.reason for one in reading.report.problems]
    assert reasons[:2] == [
        "the message 'ses-u2' is no JSON object; it was kept",
        "the part 'ses-a1-p0' is no JSON object; it was kept",
    ]
    assert [one.reason for one in reading.report.asides] == [
        "a part of a message that is not there", "the agent's list of tasks",
    ]  # fmt: skip
    assert b"sweep" in reading.report.asides[1].raw
    lines = [one.line for one in reading.records] + [one.line for one in reading.report.asides]
    assert len(set(lines)) == len(lines)


def test_what_else_is_stored_with_a_session_is_put_aside(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns())
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE session_message (id TEXT, session_id TEXT, data TEXT)")
        db.execute("INSERT INTO session_message VALUES ('m', 'ses', '{\"new\": 1}')")
    db.close()
    reading = Reading(path)
    (problem,) = reading.report.problems
    assert problem.reason == "1 rows of the table 'session_message' are not known; they are kept"
    (aside,) = reading.report.asides
    assert json.loads(json.loads(aside.raw)["data"]) == {"new": 1}
    (file,) = store.write_folder(tmp_path, two_turns())
    tasks = tmp_path / "storage/todo/ses.json"
    tasks.parent.mkdir()
    tasks.write_text('[{"content": "sweep"}]', "utf-8")
    reading = Reading(file)
    assert b"sweep" in reading.report.asides[0].raw and str(tasks) in reading.source.files
    export = two_turns()
    export["messages"] += ["words", {"info": 3}]
    reading = Reading(store.write_export(tmp_path / "a.json", export | {"more": 1}))
    raws = [one.raw for one in reading.report.asides]
    assert raws == [b'"words"', b'{"info":3}', b'{"more":1}']
    assert len(reading.report.problems) == 2


@pytest.mark.parametrize(
    ("change", "entries"),
    [
        ("DROP TABLE event", 5),
        ("DROP TABLE todo", 5),
        ("ALTER TABLE session DROP COLUMN revert", 5),
        ("ALTER TABLE session DROP COLUMN parent_id", 5),
        ("ALTER TABLE session DROP COLUMN time_updated", 5),
        ("ALTER TABLE message DROP COLUMN time_created", 5),
        ("ALTER TABLE part DROP COLUMN session_id", 5),
        ("ALTER TABLE event DROP COLUMN seq", 5),
        ("ALTER TABLE part DROP COLUMN data", 4),
        ("ALTER TABLE message DROP COLUMN data", 0),
    ],
)
def test_a_database_of_another_version_opens(tmp_path: Path, change: str, entries: int) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns())
    with sqlite3.connect(path) as db:
        db.execute(change)
    db.close()
    reading = Reading(path)
    assert len(reading.records) == entries
    assert bool(reading.report.problems) == (entries != 5)


def test_a_view_is_no_table_of_sessions(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE VIEW session AS WITH RECURSIVE n(id) AS"
            " (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
        )
    db.close()
    with pytest.raises(FormatError, match="no sessions of opencode"):
        OPENCODE.open(path)


def test_a_damaged_database_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    long = session("ses", *(user(f"m{number:04}", number, "x" * 900) for number in range(400)))
    path = store.write_database(tmp_path / "opencode.db", long)
    whole = path.read_bytes()
    path.write_bytes(whole[:90])
    with pytest.raises(FormatError, match="cannot be read"):
        open_source(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="cannot be read"):
        open_source(path)
    middle = len(whole) * 3 // 4
    path.write_bytes(whole[:middle] + b"\xff" * 8192 + whole[middle + 8192 :])
    reading = Reading(path)
    assert len(reading.records) == 400 or reading.report.problems
    assert any("damaged" in one.reason for one in reading.report.problems)


def test_a_database_with_random_damage_never_fails_otherwise(tmp_path: Path) -> None:
    path = store.write_database(tmp_path / "opencode.db", two_turns(), two_turns("other"))
    with sqlite3.connect(path) as db:
        for one in two_turns("gone")["messages"]:
            store.log(db, "ses", *store.written(one), *store.removed(one["info"]["id"]))
    db.close()
    whole = path.read_bytes()
    read = 0
    for seed in range(ROUNDS * 3):
        random = Random(seed)
        data = bytearray(whole)
        for _ in range(random.randint(1, 12)):
            at = random.randrange(len(data))
            data[at : at + random.randint(1, 40)] = random.randbytes(random.randint(1, 40))
        path.write_bytes(data[: random.choice((len(data), random.randrange(1, len(data))))])
        try:
            reading = Reading(path)
            OPENCODE.related(path)
        except FormatError:
            continue
        read += 1
        assert len(reading.entries) == len(reading.tree)
    assert read and [one.name for one in tmp_path.iterdir()] == ["opencode.db"]


def changed_rows(path: Path, random: Random) -> None:
    """Change the JSON of some rows as a version of next month might."""
    with sqlite3.connect(path) as db:
        for table in ("message", "part", "event"):
            rows = db.execute(f"SELECT id, data FROM {table}").fetchall()
            for name, data in random.sample(rows, min(2, len(rows))):
                changed = mutated(data.encode(), random, whole=True).decode("utf-8", "replace")
                db.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (changed, name))
        revert = random.choice(('{"messageID": "ses-u2"}', '{"messageID": 4}', "x", "[]"))
        db.execute("UPDATE session SET revert = ?", (revert,))
    db.close()


def test_rows_of_next_month_are_kept(tmp_path: Path) -> None:
    whole = store.write_database(tmp_path / "whole.db", two_turns())
    with sqlite3.connect(whole) as db:
        for one in store.compaction("k1", 5, auto=True, tail_start_id="ses-u2"):
            store.insert_message(db, "ses", one)
        for one in two_turns("gone")["messages"]:
            store.log(db, "ses", *store.written(one), *store.removed(one["info"]["id"]))
    db.close()
    path = tmp_path / "opencode.db"
    for seed in range(ROUNDS):
        shutil.copyfile(whole, path)
        changed_rows(path, Random(seed))
        reading = Reading(path)
        with opened(path) as database:
            parts = database.connection.execute("SELECT id FROM part").fetchall()
        text = "\n".join([one.raw for one in reading.records]) + "\n".join(
            one.raw.decode() for one in reading.report.asides
        )
        assert all(json.dumps(name) in text for (name,) in parts), f"seed {seed}"
        assert len(reading.entries) == len(reading.tree)


def test_files_of_the_older_folder_may_be_damaged(tmp_path: Path) -> None:
    (file,) = store.write_folder(tmp_path, two_turns())
    files = [one for one in tmp_path.rglob("*.json") if one != file]
    whole = {one: one.read_bytes() for one in files}
    for seed in range(ROUNDS):
        random = Random(seed)
        for one in files:
            one.write_bytes(whole[one])
        for one in random.sample(files, 3):
            changed = mutated(whole[one], random, whole=True)
            one.write_bytes(changed if random.random() < 0.8 else changed[:-5])
        reading = Reading(file)
        assert len(reading.entries) == len(reading.tree)
        assert sum(isinstance(one.body, UserMessage | Unknown) for one in reading.entries)


def test_a_message_whose_id_is_no_text_is_kept_under_the_name_of_its_file(tmp_path: Path) -> None:
    (file,) = store.write_folder(tmp_path, two_turns())
    first = sorted(tmp_path.glob("storage/message/*/*.json"))[0]
    value = json.loads(first.read_bytes()) | {"id": {"of": "next month"}}
    first.write_text(json.dumps(value))
    reading = Reading(file)
    assert first.stem in [one.entry_id for one in reading.records]
    assert [json.loads(one.raw)["id"] for one in reading.report.asides] == [{"of": "next month"}]


def test_sessions_are_found_where_opencode_keeps_them(tmp_path: Path) -> None:
    home, moved = tmp_path / "home", tmp_path / "moved"
    folder = home / ".local/share/opencode"
    folder.mkdir(parents=True)
    store.write_database(folder / "opencode.db", two_turns("both"), two_turns("new") | {
        "info": session("new", at=100, parentID="both")["info"],
    })  # fmt: skip
    (folder / "opencode-broken.db").write_bytes(b"SQLite format 3\0 and no more")
    store.write_folder(folder, two_turns("both"), session("older", at=-100))
    (folder / "storage/session/lab/broken.json").write_text("{", "utf-8")
    found = list(OPENCODE.find(home, {}))
    assert [one.session_id or one.path.stem for one in found] == ["new", "both", "older"]
    assert [one.header.relation for one in found if one.header] == ["subagent", "", ""]
    assert all(one.cwd == "/home/dev/lab" and one.format == "opencode" for one in found)
    for one in found:
        assert OPENCODE.open(one.path, session_id=one.session_id).header.title
    folder.parent.rename(moved)
    assert not list(OPENCODE.find(home, {}))
    assert len(list(OPENCODE.find(home, {"XDG_DATA_HOME": str(moved)}))) == 3
    chosen = store.write_database(tmp_path / "mine.db", two_turns("mine"))
    (one,) = OPENCODE.find(home, {"OPENCODE_DB": str(chosen)})
    assert one.session_id == "mine"
