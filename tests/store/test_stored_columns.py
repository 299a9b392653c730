"""The block in which a session's columns lie: whole, or none of it is believed."""

from __future__ import annotations

import pytest

from explorer.session.columns import SessionColumns
from explorer.store.stored_columns import pack, unpack
from tests.compaction.recorded import session_of


def values(columns: SessionColumns) -> dict[str, object]:
    found = {name: getattr(columns, name) for name in columns.__struct_fields__ if name != "ops"}
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
