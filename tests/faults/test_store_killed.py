"""kill -9 at any moment: what was acknowledged is there, and no half import is shown."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.store import Store
from tests.faults.programs import kill, start
from tests.store.conftest import eventually
from tests.store.sources import FileSource, chain, write_file

IMPORTS = """
    import sys
    from explorer.formats.pi.export import dumps
    from explorer.store import Store
    from tests.store.sources import FileSource
    store = Store.open(sys.argv[1])
    def progress(done, total):
        print(done, total, flush=True)
    report = store.import_session(FileSource(sys.argv[2], batch=200), progress)
    print("imported", report.added, flush=True)
    store.close()
"""
APPENDS = """
    import sys
    from explorer.formats.pi.export import dumps
    from explorer.store import Store
    from tests.store.sources import message
    store = Store.open(sys.argv[1])
    parent = "e1"
    for at in range(1000):
        entry = message(0, parent, "x" * 500) | {"id": f"n{at}"}
        line = dumps(entry)
        (index,) = store.append(int(sys.argv[2]), [(line, parent)], leaf_id=entry["id"]).result()
        parent = entry["id"]
        print(index, parent, flush=True)
"""


@pytest.mark.parametrize("batches", [1, 7, 20])
def test_a_killed_import_is_not_shown_and_its_rest_is_removed(
    database: Path, tmp_path: Path, batches: int
) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(6000))
    importer = start(IMPORTS, database, file)
    assert importer.stdout is not None
    for _ in range(batches):
        importer.stdout.readline()
    kill(importer)
    with Store.open(database) as store:
        assert store.sessions() == []

        def rows() -> int:
            with store._readers.read() as db:
                tables = ("sessions", "entries", "payloads")
                return sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)

        eventually(lambda: rows() == 0, "the unfinished import is removed")
        report = store.import_session(FileSource(file))
        assert report.created and len(store.load(report.key).tree) == 6000
    assert not list(tmp_path.glob("*.claim-*")), "no claim is left behind"


def test_an_import_that_runs_elsewhere_is_left_alone(database: Path, tmp_path: Path) -> None:
    """Opening a second window while the first imports."""
    file = write_file(tmp_path / "a.jsonl", chain(30_000))
    importer = start(IMPORTS, database, file)
    assert importer.stdout is not None
    importer.stdout.readline()
    with Store.open(database) as store:
        assert store.sessions() == []
        out, _ = importer.communicate(timeout=120)
        assert "imported 30000" in out
        (row,) = store.sessions()
        assert len(store.load(row.key).tree) == 30_000


@pytest.mark.parametrize("after", [3, 250])
def test_every_acknowledged_append_survives_a_kill(
    database: Path, tmp_path: Path, after: int
) -> None:
    with Store.open(database) as store:
        key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key
    appender = start(APPENDS, database, key)
    assert appender.stdout is not None
    lines = [appender.stdout.readline() for _ in range(after)]
    lines += kill(appender).splitlines()
    acknowledged = [line.split() for line in lines if len(line.split()) == 2]
    with Store.open(database) as store:
        loaded = store.load(key)
        ids = loaded.tree.columns.ids
        assert len(acknowledged) >= after
        for index, entry_id in acknowledged:
            assert ids[int(index)] == entry_id
        assert len(ids) - 2 - len(acknowledged) in (0, 1), "at most one was not told of yet"
        assert loaded.leaf == len(ids) - 1
        assert [e.id for e in loaded.payloads.entries(range(len(ids)))] == ids


def test_appends_to_other_sessions_get_through_while_an_import_runs(
    store: Store, tmp_path: Path
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key
    head = {"type": "session", "version": 3, "id": "s-big", "timestamp": "", "cwd": "/w"}
    big = write_file(tmp_path / "b.jsonl", chain(5000), head)
    during: list[int] = []

    def progress(done: int, total: int) -> None:
        if done < total:
            parent = f"p{len(during) - 1}" if during else "e1"
            entry = {"type": "custom", "id": f"p{len(during)}", "parentId": parent}
            during.extend(store.append(key, [(dumps(entry), parent)]).result(timeout=30))

    store.import_session(FileSource(big, batch=250), progress)
    assert during == list(range(2, 2 + len(during))) and len(during) > 15


def test_a_kill_while_the_database_is_made_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    code = "import sys; from explorer.store import Store; Store.open(sys.argv[1]); print('made')"
    for wait in (0.6, 0.9, 1.2):
        database = tmp_path / f"{wait}.db"
        maker = start(code, database)
        time.sleep(wait)
        kill(maker)
        with Store.open(database) as store:
            assert store.sessions() == []
