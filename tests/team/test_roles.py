"""What each role may do, tried with raw SQL."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.settings.paths import resource
from explorer.store import StoreError
from explorer.store.postgres import VERSION, TeamLibrary
from explorer.store.rows import NewerVersionError
from tests.store.sources import FileSource, chain, write_file
from tests.team.cluster import Cluster, psycopg

FORBIDDEN = [
    "UPDATE session_explorer.sessions SET digest = 'x'",
    "UPDATE session_explorer.sessions SET publisher = current_user",
    "DELETE FROM session_explorer.sessions",
    "DELETE FROM session_explorer.blocks",
    "DELETE FROM session_explorer.entries",
    "UPDATE session_explorer.blocks SET data = ''",
    "INSERT INTO session_explorer.blocks VALUES (1, 500, 501, '')",
    "INSERT INTO session_explorer.entries VALUES (1, 500, 0, 0, 0, '')",
    'INSERT INTO session_explorer.sessions (publisher, format, session_id, digest, header, "row")'
    " VALUES ('ada', 'pi', 'forged', '', '', '')",
    "UPDATE session_explorer.notes SET content = 'x'",
    "DELETE FROM session_explorer.notes",
    "INSERT INTO session_explorer.notes (session, kind, content, author)"
    " VALUES (1, 'note', 'x', 'ada')",
    "UPDATE session_explorer.library SET value = '9'",
    "TRUNCATE session_explorer.sessions CASCADE",
    "DROP TABLE session_explorer.sessions CASCADE",
    "ALTER TABLE session_explorer.sessions DISABLE ROW LEVEL SECURITY",
    "CREATE TABLE session_explorer.mine (a int)",
    "GRANT session_explorer_steward TO CURRENT_USER",
    "SET ROLE ada",
]
"""What neither a reader nor another publisher may do to what ada published."""
STATE = (
    "SELECT (SELECT array_agg(s::text ORDER BY key) FROM session_explorer.sessions s),"
    " (SELECT array_agg(b::text ORDER BY session, first) FROM session_explorer.blocks b),"
    " (SELECT array_agg(e::text ORDER BY session, entry) FROM session_explorer.entries e),"
    " (SELECT array_agg(n::text ORDER BY id) FROM session_explorer.notes n),"
    " (SELECT value FROM session_explorer.library WHERE name = 'version')"
)


@pytest.fixture
def of_ada(library_of: Callable[[str], TeamLibrary], tmp_path: Path) -> int:
    """A session that ada published, with a note."""
    ada = library_of("ada")
    key = ada.take_copy(FileSource(write_file(tmp_path / "s.jsonl", chain(3)))).key
    ada.add_note(key, "mine")
    return key


@pytest.mark.parametrize("person", ["rea", "ben"])
def test_nobody_changes_or_deletes_what_another_published(
    person: str, of_ada: int, team_database: str, cluster: Cluster
) -> None:
    before = cluster.sql(STATE, team_database)
    for statement in FORBIDDEN:
        try:
            cluster.sql(statement, team_database, person)
        except psycopg.errors.InsufficientPrivilege:
            continue
        # No row of it is theirs, so that nothing happened.
        assert cluster.sql(STATE, team_database) == before, statement
    assert cluster.sql(STATE, team_database) == before


def test_a_reader_reads_searches_and_notes_but_does_not_publish(
    of_ada: int, library_of: Callable[[str], TeamLibrary], tmp_path: Path
) -> None:
    rea = library_of("rea")
    assert len(rea.records(of_ada, 0, 2)) == 3 and len(rea.search("number")) == 3
    note = rea.add_note(of_ada, "seen", "e1", "label")
    assert [(n.author, n.entry_id, n.kind) for n in rea.notes(of_ada)] == [
        ("ada", "", "note"), ("rea", "e1", "label"),
    ]  # fmt: skip
    with pytest.raises(StoreError, match="team library acme: you may not do this there"):
        rea.take_copy(FileSource(write_file(tmp_path / "t.jsonl", chain(3))))
    with pytest.raises(StoreError, match="you may not"):
        rea.delete(of_ada).result()
    (first, _) = rea.notes()
    assert not rea.remove_note(first.id) and rea.remove_note(note)


def test_two_publish_the_same_session_beside_each_other(
    of_ada: int, library_of: Callable[[str], TeamLibrary], tmp_path: Path
) -> None:
    ben = library_of("ben")
    key = ben.take_copy(FileSource(tmp_path / "s.jsonl")).key
    assert key != of_ada
    assert {one.publisher for one in ben.shared()} == {"ada", "ben"}
    assert not ben.delete(of_ada).result() and ben.delete(key).result()


def test_a_steward_withdraws_what_others_published(
    of_ada: int, library_of: Callable[[str], TeamLibrary]
) -> None:
    stu = library_of("stu")
    assert stu.remove_note(stu.notes()[0].id)
    assert stu.delete(of_ada).result()
    assert stu.sessions() == []


def test_who_has_no_role_sees_nothing(
    library_of: Callable[[str], TeamLibrary], of_ada: int
) -> None:
    with pytest.raises(StoreError, match="out has no role there"):
        library_of("out")


def test_versions_of_the_layout(cluster: Cluster, team_database: str) -> None:
    address = cluster.address(team_database)
    empty = cluster.address(cluster.database())
    with pytest.raises(StoreError, match=r"holds no sessions yet.*library setup acme"):
        TeamLibrary.open("acme", empty)
    again = TeamLibrary("acme", address)
    again.setup()
    again.close()
    newer = "UPDATE session_explorer.library SET value = %s WHERE name = 'version'"
    cluster.sql(newer, team_database, values=(str(VERSION + 1),))
    with pytest.raises(NewerVersionError, match="a newer Session Explorer made it"):
        TeamLibrary("acme", address)
    cluster.sql(newer, team_database, values=("0",))
    with pytest.raises(StoreError, match=r"holds no sessions yet"):
        TeamLibrary.open("acme", address)


def test_setup_brings_an_older_layout_up_to_date(cluster: Cluster, team_database: str) -> None:
    older = cluster.database()
    cluster.sql("CREATE SCHEMA session_explorer", older)
    cluster.sql(resource("team", "1.sql").read_text("utf-8"), older)
    cluster.sql(
        'INSERT INTO session_explorer.sessions (format, session_id, digest, header, "row")'
        " VALUES ('pi', 's-1', '', '{}', '{}')",
        older,
    )
    note = "INSERT INTO session_explorer.notes (session, kind, content) VALUES (1, 'note', 'kept')"
    cluster.sql(note, older)
    with pytest.raises(StoreError, match="has an older layout"):
        TeamLibrary.open("acme", cluster.address(older))
    owner = TeamLibrary("acme", cluster.address(older))
    owner.setup()
    owner.close()
    rea = TeamLibrary.open("acme", cluster.address(older, "rea"))
    rea.add_note(1, "not so", "e3", finding="open-state:0a1b2c3d")
    assert [(one.text, one.entry_id, one.finding) for one in rea.notes()] == [
        ("kept", "", ""), ("not so", "e3", "open-state:0a1b2c3d"),
    ]  # fmt: skip
    rea.close()


def test_what_one_person_damages_leaves_the_others_whole(
    of_ada: int, library_of: Callable[[str], TeamLibrary], tmp_path: Path, cluster: Cluster,
    team_database: str,
) -> None:  # fmt: skip
    ben = library_of("ben")
    header = {"type": "session", "version": 3, "id": "s-2", "cwd": "", "timestamp": ""}
    other = ben.take_copy(FileSource(write_file(tmp_path / "t.jsonl", chain(3), header))).key
    cluster.sql("UPDATE session_explorer.sessions SET \"row\" = '{'", team_database, "ada")
    titles = {one.row.key: one.row.title for one in ben.shared()}
    assert titles[other] == "line number 0" and "cannot be read" in titles[of_ada]
    circle = [list(row) for row in _rows_of(cluster, team_database, of_ada)]
    circle[1][2] = 2  # its parent is the entry after it
    packed = zlib.compress(json.dumps(circle).encode())
    for data, reason in ((packed, "no tree"), (b"nonsense", "cannot be read")):
        cluster.sql("DELETE FROM session_explorer.blocks", team_database, "ada")
        block = "INSERT INTO session_explorer.blocks VALUES (%s, 0, 2, %s)"
        cluster.sql(block, team_database, "ada", (of_ada, data))
        with pytest.raises(StoreError, match=reason):
            ben.records(of_ada, 0, 2)
    assert len(ben.records(other, 0, 2)) == 3


def _rows_of(cluster: Cluster, database: str, key: int) -> list[Any]:
    query = "SELECT data FROM session_explorer.blocks WHERE session = %s"
    ((data,),) = cluster.sql(query, database, values=(key,))
    rows: list[Any] = json.loads(zlib.decompress(data))
    return rows
