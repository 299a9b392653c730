"""A database that the seventh version of the layout wrote is summed up once more.

``data/version-7.db.gz`` was written by that version, all of it summed up: a session of Claude Code
of whose 3,020 tokens written to a cache 2,000 went there for an hour, and one of pi with a
compaction that was undone.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from explorer.models.catalogue import Catalogue
from explorer.services.library import LibraryRow, read_library
from explorer.store import Store
from tests.store.conftest import eventually
from tests.store.test_migrations import layout

WRITTEN = Path(__file__).parent / "data" / "version-7.db.gz"


def read(store: Store) -> dict[str, LibraryRow]:
    found = read_library(store, prices=Catalogue().info).rows
    return {row.session.format: row for row in found}


def test_what_was_summed_up_wrongly_is_right(database: Path, tmp_path: Path) -> None:
    database.write_bytes(gzip.decompress(WRITTEN.read_bytes()))
    with Store.open(database) as store:
        eventually(lambda: all(row.is_summed for row in read(store).values()), "the sums")
        rows = read(store)
    spent = rows["claude-code"].spent
    assert (spent.calls, spent.cache_write, spent.cache_write_1h) == (2, 3_020, 2_000)
    # 5 dollars for a million, a tenth of that from the cache, and twice as much for an hour.
    tokens = 20 + 200 / 10 + 1_020 * 1.25 + 2_000 * 2
    assert spent.listed_cost == pytest.approx(tokens * 5e-6 + 10 * 25e-6)
    assert (rows["pi"].session.branches, rows["claude-code"].session.branches) == (1, 1)
    Store.open(fresh := tmp_path / "fresh.db").close()
    assert layout(database) == layout(fresh)
