"""What the services tell is what the tables say, which ``recorded`` writes anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.recorded import NAMES, PLACE, table


@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_of_a_session_is_what_was_recorded(name: str, tmp_path: Path) -> None:
    recorded = (PLACE / f"{name}.txt").read_text(encoding="utf-8")
    assert table(name, tmp_path).split("\n") == recorded.split("\n")
