"""Two programs on one database: nothing is lost, nothing changes place."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from explorer.formats.pi.export import dumps
from explorer.store import Store
from tests.faults.programs import kill, start
from tests.store.sources import FileSource, chain, message, write_file

APPENDS = """
    import sys
    from explorer.formats.pi.export import dumps
    from explorer.store import Store
    from tests.store.sources import message
    path, key, name, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    store = Store.open(path)
    parent = "e1"
    for at in range(count):
        entry = message(0, parent, f"{name} {at}") | {"id": f"{name}-{at}"}
        (index,) = store.append(key, [(dumps(entry), parent)], leaf_id=entry["id"]).result()
        parent = entry["id"]
        print(index, parent, flush=True)
    store.close()
"""

IN_BURSTS = """
    import sys
    from explorer.formats.pi.export import dumps
    from explorer.store import Store
    from tests.store.sources import message
    path, key, name, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    store = Store.open(path)
    parent = "e1"
    for first in range(0, count, 25):
        waiting = []
        for at in range(first, first + 25):
            entry = message(0, parent, f"{name} {at}") | {"id": f"{name}-{at}"}
            parent = entry["id"]
            waiting.append((parent, store.append(key, [(dumps(entry), entry["parentId"])], parent)))
            refused = store.append(key, [(dumps(entry), entry["parentId"])], parent)
        assert "already" in str(refused.exception())
        for entry_id, future in waiting:
            print(*future.result(), entry_id, flush=True)
    store.close()
"""


@pytest.mark.parametrize("appends", [APPENDS, IN_BURSTS], ids=["one by one", "in bursts"])
def test_two_programs_appending_at_once_lose_and_reorder_nothing(
    database: Path, tmp_path: Path, appends: str
) -> None:
    with Store.open(database) as store:
        key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key
    programs = [start(appends, database, key, name, 200) for name in ("a", "b")]
    acknowledged: dict[str, int] = {}
    for program in programs:
        out, _ = program.communicate(timeout=120)
        assert program.returncode == 0
        for line in out.splitlines():
            index, entry_id = line.split()
            acknowledged[entry_id] = int(index)
    with Store.open(database) as store:
        loaded = store.load(key)
        tail = store.tail(key, 0)
    tree = loaded.tree
    assert len(tree) == 402 and len(acknowledged) == 400
    assert len(set(acknowledged.values())) == 400
    for entry_id, index in acknowledged.items():
        assert tree.index_of(entry_id) == index
        name, number = entry_id.split("-")
        above = f"{name}-{int(number) - 1}" if number != "0" else "e1"
        assert tree.columns.ids[tree.columns.parent[index]] == above
    assert [record.entry_id for record in tail] == tree.columns.ids
    assert loaded.leaf in (acknowledged["a-199"], acknowledged["b-199"])
    both = {name for at in range(2, 402) for name in tree.columns.ids[at][0]}
    assert both == {"a", "b"}


def test_a_window_sees_within_a_moment_what_another_appends(
    store: Store, database: Path, tmp_path: Path
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key
    noticed = threading.Event()
    stop = store.watch(noticed.set, interval_s=0.05)
    store.append(key, [(dumps(message(5, "e1", "own")), "e1")]).result()
    assert not noticed.wait(0.3), "what this program writes is no news"
    out, _ = start(APPENDS, database, key, "other", 3).communicate(timeout=60)
    assert "other-2" in out
    assert noticed.wait(10)
    assert [r.entry_id for r in store.tail(key, 3)] == ["other-0", "other-1", "other-2"]
    stop()
    assert not [t for t in threading.enumerate() if t.name == "store-watch"]


def test_appending_goes_on_where_another_program_was_killed(
    store: Store, database: Path, tmp_path: Path
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(2)))).key
    other = start(APPENDS, database, key, "other", 100_000)
    assert other.stdout is not None
    for _ in range(20):
        other.stdout.readline()
    kill(other)
    before = len(store.tail(key, 0))
    (index,) = store.append(key, [(dumps(message(9, "e1", "mine")), "e1")]).result()
    assert index == before >= 2 + 19


def test_two_programs_make_one_database(database: Path) -> None:
    code = """
        import sys
        from explorer.store import Store
        store = Store.open(sys.argv[1])
        print(store._background._library)
        store.close()
    """
    programs = [start(code, database) for _ in range(3)]
    names = {program.communicate(timeout=60)[0] for program in programs}
    assert len(names) == 1 and all(program.returncode == 0 for program in programs)
    assert not list(database.parent.glob("*.new-*"))
