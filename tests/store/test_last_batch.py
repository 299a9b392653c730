"""An import that the database refuses at its very last entries keeps nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from explorer.formats.registry import open_source
from explorer.store import Store
from explorer.store.rows import StoreError
from tests.store.sources import message, write_file


def test_entries_that_cannot_be_stored_stop_the_import(store: Store, database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        connection.commit()
    path = write_file(database.with_name("one-batch.jsonl"), [message(0, None, "Hello.")])
    with pytest.raises(StoreError):
        store.import_session(open_source(path))
    assert store.sessions() == []
