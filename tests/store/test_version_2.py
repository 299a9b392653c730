"""A database that the second version of the layout wrote opens, and knows what the third knows.

``data/version-2.db.gz`` was written by that version: eight imported entries, packed, and one that
was appended afterwards.
"""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from explorer.session.columns import KNOWN, OP_KINDS
from explorer.session.edits import pruned_at
from explorer.session.kinds import Flag
from explorer.store import Store
from explorer.store.database import SCHEMA_VERSION
from explorer.store.salvage import salvage

WRITTEN = Path(__file__).parent / "data" / "version-2.db.gz"


@pytest.fixture
def older(database: Path) -> Path:
    database.write_bytes(gzip.decompress(WRITTEN.read_bytes()))
    db = sqlite3.connect(database)
    db.execute("UPDATE entries SET flags = flags | ? WHERE entry_id = 'e2'", (int(Flag.LARGE),))
    db.commit()
    db.close()
    return database


def test_what_version_3_keeps_is_read_from_the_entries_once_more(older: Path) -> None:
    with Store.open(older) as store:
        tree = store.load(1).tree
    columns, ops = tree.columns, tree.columns.ops
    assert len(tree) == 9
    assert [columns.tools[at] for at in columns.tool] == [
        "", "", "read", "Write", "apply_patch", "", "grep", "", "edit",
    ]  # fmt: skip
    assert columns.flags[6] & Flag.FOUND_NOTHING
    assert columns.flags[2] & Flag.LARGE, "what only the import knew is kept"
    assert sorted(columns.errors) == [4, 8]
    named = [
        (OP_KINDS[kind], ops.paths[path], KNOWN[known], bool(failed), result)
        for kind, path, known, failed, result in zip(
            ops.kind, ops.path, ops.known, ops.failed, ops.result, strict=True
        )
    ]
    assert named == [
        ("read", "a.py", "tool", False, 2),
        ("create", "b.py", "result", False, 3),
        ("create", "new.py", "argument", True, 4),
        ("delete", "gone.py", "argument", True, 4),
        ("edit", "a.py", "tool", True, 8),
    ]
    assert ops.parts[ops.part[0]] == "offset=3"
    assert pruned_at(tree, 8)[2].saved == 49_991


def test_a_copy_of_it_is_left_and_nothing_else_of_it_changes(older: Path) -> None:
    def rest() -> list[object]:
        db = sqlite3.connect(older)
        found: list[object] = db.execute("SELECT id, raw FROM payloads ORDER BY id").fetchall()
        found += db.execute("SELECT id, entry_id, parent FROM entries").fetchall()
        found += [row[:18] for row in db.execute("SELECT * FROM sessions").fetchall()]
        db.close()
        return found

    before = rest()
    Store.open(older).close()
    assert rest() == before
    db = sqlite3.connect(older)
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    db.close()
    assert Path(f"{older}.version-2").exists()


def test_b17_a_failed_result_marks_a_call_that_was_packed_before_it(older: Path) -> None:
    with Store.open(older) as store:
        assert store.load(1).tree.columns.ops.failed[-1] == 1
    # The second time the columns come from their block.
    with Store.open(older) as store:
        columns = store.load(1).tree.columns
        assert columns.ops.failed[-1] == 1 and columns.open_calls == {}


def test_what_is_salvaged_of_it_knows_as_much(older: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    assert [one.entries for one in salvage(older, target).sessions] == [9]
    with Store.open(target) as store:
        columns = store.load(1).tree.columns
    assert columns.tools[columns.tool[2]] == "read" and columns.flags[2] & Flag.LARGE
    assert columns.parent[8] == 7 and columns.ops.failed[-1] == 1 and list(columns.prunes) == [7]
