"""The extraction holds its bars on texts that it was not tuned on, and on those that it was."""

from __future__ import annotations

import pytest

from explorer.audit.atoms import AtomKind
from tests.audit.planted.reading import read_set
from tests.audit.planted.scoring import BARS, score, score_stale

TUNED: dict[AtomKind, tuple[float, float]] = {AtomKind.DECISION: (0.80, 0.80)}
"""Lower bars of the tuning set."""


@pytest.mark.parametrize("name", ["held_out", "tuning"])
@pytest.mark.parametrize("kind", list(BARS), ids=lambda kind: kind.value)
def test_recall_and_precision_hold(name: str, kind: AtomKind) -> None:
    one = score(read_set(name))[kind]
    recall, precision = TUNED.get(kind, BARS[kind]) if name == "tuning" else BARS[kind]
    assert one.planted >= 3
    assert one.recall >= recall, one.missed
    assert one.precision >= precision, one.made_up


def test_what_was_changed_later_is_told_stale_and_nothing_else() -> None:
    one = score_stale(read_set("held_out"))
    assert one.recall >= 0.75, one.missed
    assert one.precision == 1, one.made_up
