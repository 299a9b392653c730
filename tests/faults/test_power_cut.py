"""A power cut at any moment: what was acknowledged is on the disk, and the database is whole."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from explorer.store import Store
from tests.faults.power import Power, build, why_not
from tests.faults.programs import kill, start
from tests.store.sources import chain, write_file

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

SETUP = """
    import os, sys, threading
    from pathlib import Path
    from explorer.formats.pi.export import dumps
    from explorer.session.records import SessionHeader
    from explorer.store import Store, writer
    from tests.store.sources import FileSource, message

    def tell(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    def append(name, parent):
        line = dumps(message(0, parent, "x" * 400) | {"id": name})
        future = store.append(key, [(line, parent)], name)
        future.add_done_callback(lambda done: tell("done", *done.result(), name))
        return future

    store = Store.open(sys.argv[1])
    key = store.create_session(SessionHeader("s-1", "pi", 3, "/w", 0.0, "", "")).result()
    tell("begun", key)
"""
ONE_BY_ONE = """
    parent = None
    for at in range(100_000):
        append(f"n{at}", parent).result()
        parent = f"n{at}"
"""
IN_BURSTS = """
    parent = None
    for burst in range(10_000):
        waiting = []
        for at in range(50):
            waiting.append(append(f"n{burst}-{at}", parent))
            parent = f"n{burst}-{at}"
        for future in waiting:
            future.result()
"""
TOGETHER = """
    # A slow machine does not close the shared transaction before all have joined it.
    writer._TOGETHER_S = 60.0
    free, reached = threading.Event(), threading.Event()
    parent = None
    store._writer.submit(lambda c: (reached.set(), free.wait()), transaction=False)
    reached.wait()  # what was to be written before is on the disk by now
    before = Path(sys.argv[2]).read_text().count("-wal")
    for at in range(100):
        last = append(f"n{at}", parent)
        parent = f"n{at}"
    free.set()
    last.result()
    tell("syncs", Path(sys.argv[2]).read_text().count("-wal") - before)
    append("single", parent).result()
    store.close()
    tell("ended")
"""
IMPORT = """
    def syncs():
        return log.read_text().count("-wal")

    log = Path(sys.argv[3])
    before = syncs()
    report = store.import_session(FileSource(sys.argv[2], batch=500))
    tell("imported", report.key, report.added, syncs() - before)
    sys.stdin.read()
"""


@pytest.fixture
def power(tmp_path: Path) -> Power:
    (tmp_path / "data").mkdir()
    power = Power(tmp_path / "data", tmp_path / "power")
    power.environment["LD_PRELOAD"] = str(build(tmp_path))
    return power


def importing(power: Power, file: Path) -> subprocess.Popen[str]:
    log = power.folder.parent / "power" / "kept" / "log"
    database = power.folder / "sessions.db"
    return start(SETUP + IMPORT, database, file, log, environment=power.environment)


def check_whole(database: Path) -> None:
    db = sqlite3.connect(database)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()


@pytest.mark.parametrize("appends", [ONE_BY_ONE, IN_BURSTS], ids=["one by one", "in bursts"])
def test_every_acknowledged_entry_survives_a_power_cut(
    power: Power, tmp_path: Path, appends: str
) -> None:
    program = start(SETUP + appends, power.folder / "sessions.db", environment=power.environment)
    assert program.stdout is not None
    lines = [program.stdout.readline() for _ in range(120)]
    lines += kill(program).splitlines()
    words = [line.split() for line in lines]
    acknowledged = {name: int(index) for kind, index, name in words[1:] if kind == "done"}
    database = power.cut(tmp_path / "after") / "sessions.db"
    with Store.open(database) as store:
        loaded = store.load(int(words[0][1]))
        ids = loaded.tree.columns.ids
        assert len(acknowledged) >= 119
        assert {name: ids.index(name) for name in acknowledged} == acknowledged
        assert [entry.id for entry in loaded.payloads.entries(range(len(ids)))] == ids
        assert loaded.leaf == len(ids) - 1
    check_whole(database)


def test_entries_that_wait_together_share_a_sync(power: Power) -> None:
    program = start(
        SETUP + TOGETHER,
        power.folder / "sessions.db",
        power.folder.parent / "power" / "kept" / "log",
        environment=power.environment,
    )
    out, _ = program.communicate(timeout=60)
    lines = out.splitlines()
    (syncs,) = [int(line.split()[1]) for line in lines if line.startswith("syncs")]
    assert len([line for line in lines if line.startswith("done")]) == 101
    assert lines[-1] == "ended"
    assert syncs <= 10, "a hundred entries share a sync, or a few where the machine is slow"


def test_a_session_that_was_imported_survives_a_power_cut(power: Power, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3000))
    program = importing(power, file)
    assert program.stdout is not None
    program.stdout.readline()
    _, key, added, syncs = program.stdout.readline().split()
    kill(program)
    assert int(syncs) <= 2, "six batches wait for the disk once, at the end"
    database = power.cut(tmp_path / "after") / "sessions.db"
    with Store.open(database) as store:
        assert len(store.load(int(key)).tree) == int(added) == 3000
    check_whole(database)


def test_a_power_cut_in_an_import_leaves_what_was_there(power: Power, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(30_000))
    program = importing(power, file)
    assert program.stdout is not None
    key = int(program.stdout.readline().split()[1])
    time.sleep(0.3)
    kill(program)
    database = power.cut(tmp_path / "after") / "sessions.db"
    with Store.open(database) as store:
        assert [row.key for row in store.sessions()] == [key]
    check_whole(database)


def test_a_database_that_was_made_survives_a_power_cut_with_its_folders(
    power: Power, tmp_path: Path
) -> None:
    code = """
        import sys
        from explorer.store import database
        from pathlib import Path
        database.create(Path(sys.argv[1]))
        print("made", flush=True)
        sys.stdin.read()
    """
    program = start(
        code, power.folder / "home" / "data" / "sessions.db", environment=power.environment
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "made\n"
    kill(program)
    database = power.cut(tmp_path / "after") / "home" / "data" / "sessions.db"
    assert database.exists()
    check_whole(database)
    with Store.open(database) as store:
        assert store.sessions() == []
