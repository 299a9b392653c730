"""The extraction holds its bars on texts that it was not tuned on, and on those that it was."""

from __future__ import annotations

import pytest

from explorer.facts import FactKind
from tests.audit.planted.reading import read_set
from tests.audit.planted.scoring import BARS, score, score_stale

STATEMENTS: dict[tuple[str, FactKind], tuple[float, float]] = {
    ("held_out", FactKind.CONSTRAINT): (0.90, 0.88),
    ("tuning", FactKind.CONSTRAINT): (0.76, 0.87),
    ("unseen", FactKind.CONSTRAINT): (0.80, 0.88),
    ("held_out", FactKind.DECISION): (0.27, 0.95),
    ("tuning", FactKind.DECISION): (0.37, 0.87),
    ("unseen", FactKind.DECISION): (0.19, 0.74),
    ("held_out", FactKind.REQUEST): (0.83, 0.90),
    ("tuning", FactKind.REQUEST): (0.76, 0.84),
    ("unseen", FactKind.REQUEST): (0.71, 0.87),
    ("held_out", FactKind.QUESTION): (0.90, 0.99),
    ("tuning", FactKind.QUESTION): (0.87, 0.92),
    ("unseen", FactKind.QUESTION): (0.97, 0.88),
    ("held_out", FactKind.TODO): (0.76, 0.99),
    ("tuning", FactKind.TODO): (0.45, 0.93),
    ("unseen", FactKind.TODO): (0.71, 0.92),
}
"""What the cues reach, rounded down: a change of a cue that costs a statement falls below."""


@pytest.mark.parametrize("name", ["held_out", "tuning", "unseen"])
@pytest.mark.parametrize("kind", list(BARS), ids=lambda kind: kind.value)
def test_exact_kinds_are_found_and_nothing_else(name: str, kind: FactKind) -> None:
    one = score(read_set(name))[kind]
    recall, precision = BARS[kind]
    assert one.planted >= 3
    assert one.recall >= recall, one.missed
    assert one.precision >= precision, one.made_up


@pytest.mark.parametrize(("name", "kind"), STATEMENTS, ids=str)
def test_statements_are_found_by_their_cues(name: str, kind: FactKind) -> None:
    one = score(read_set(name))[kind]
    recall, precision = STATEMENTS[name, kind]
    assert one.recall >= recall, one.missed
    assert one.precision >= precision, one.made_up


def test_what_was_changed_later_is_stale_and_nothing_else() -> None:
    one = score_stale(read_set("held_out"))
    assert one.recall >= 0.25, one.missed
    assert one.precision == 1, one.made_up
