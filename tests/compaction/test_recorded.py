"""What is decided of sessions with everything in them is what ``recorded`` wrote down."""

from __future__ import annotations

import pytest

from tests.compaction.recorded import PLACE, SESSIONS, rules_table, table


@pytest.mark.parametrize("seed", range(SESSIONS))
def test_what_is_decided_is_what_was_recorded(seed: int) -> None:
    recorded = (PLACE / f"session_{seed:02}.txt").read_text(encoding="utf-8")
    assert table(seed).split("\n") == recorded.split("\n")


def test_what_the_rules_say_by_themselves_is_what_was_recorded() -> None:
    recorded = (PLACE / "rules.txt").read_text(encoding="utf-8")
    assert rules_table().split("\n") == recorded.split("\n")
