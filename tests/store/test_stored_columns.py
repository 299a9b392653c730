"""The block in which a session's columns lie: whole, or none of it is believed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from explorer.session.columns import SessionColumns
from explorer.store import Store
from explorer.store.stored_columns import pack, unpack
from tests.compaction.mixed_sessions import session_of
from tests.store.sources import FileSource, write_file


def values(columns: SessionColumns) -> dict[str, Any]:
    found: dict[str, Any]
    found = {name: getattr(columns, name) for name in columns.__struct_fields__ if name != "ops"}
    # Names are numbered in the order in which they were met.
    for numbers, names in (("tool", "tools"), ("model", "models")):
        found[numbers] = [found[names][at] for at in found[numbers]]
        del found[names]
    return found | {name: getattr(columns.ops, name) for name in columns.ops.__struct_fields__}


@pytest.mark.parametrize("seed", range(6))
def test_columns_come_back_as_they_were_packed(seed: int) -> None:
    columns = session_of(seed).tree.columns
    again = unpack(pack(columns))
    assert again is not None and values(again) == values(columns)
    assert again.compactions and again.ops.paths


def test_a_block_that_is_not_whole_gives_no_columns() -> None:
    block = pack(session_of(0).tree.columns)
    for spoilt in (
        b"", block[:11], block[:-1], block + b"\0", b"SXC2" + block[4:],
        block[:4] + b"\xff" + block[5:], block[:40] + bytes([block[40] ^ 1]) + block[41:],
    ):  # fmt: skip
        assert unpack(spoilt) is None
    assert unpack(pack(SessionColumns())) is not None


@pytest.mark.parametrize("seed", range(4))
def test_what_is_stored_of_rare_things_is_what_was_read(
    store: Store, tmp_path: Path, seed: int
) -> None:
    """By the block, and by the rows where there is none."""
    session = session_of(seed)
    ids, parents = session.tree.columns.ids, session.tree.columns.parent
    entries = [
        {**entry, "parentId": ids[parent] if parent >= 0 else None}
        for entry, parent in zip(session.entries, parents, strict=True)
    ]
    source = FileSource(write_file(tmp_path / "rare.jsonl", entries))
    key = store.import_session(source).key
    records = [record for batch in source.batches() for record in batch]
    wanted = values(session.tree.columns)
    assert values(store.load(key).tree.columns) == wanted
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("DELETE FROM columns")
        db.commit()
    assert values(store.load(key).tree.columns) == wanted
    stored = store.records(key, 0, len(records) - 1)
    assert [one._replace(raw="") for one in stored] == [one._replace(raw="") for one in records]
