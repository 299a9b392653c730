"""What is decided of sessions with everything in them is what ``recorded`` wrote down."""

from __future__ import annotations

import pytest

from tests.compaction.recorded import PLACE, TABLES, table


@pytest.mark.parametrize("name", TABLES)
def test_what_is_decided_is_what_was_recorded(name: str) -> None:
    recorded = (PLACE / f"{name}.txt").read_text(encoding="utf-8")
    assert table(name).split("\n") == recorded.split("\n")
