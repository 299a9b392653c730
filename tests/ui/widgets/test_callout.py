"""Where a callout stands beside its place, and the terms of tool tips."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, QSize

from explorer.settings.glossary import glossary
from ui.audit.tab import TERMS
from ui.widgets.callout import spot
from ui.widgets.terms import OF_SHARES, meaning

ROOM = QRect(0, 0, 1000, 700)
CARD = QSize(300, 150)


@pytest.mark.parametrize(
    ("place", "tip"),
    [
        (QRect(600, 300, 100, 20), QPoint(600, 309)),
        (QRect(100, 300, 100, 20), QPoint(199, 309)),
        (QRect(100, 40, 800, 20), QPoint(499, 59)),
        (QRect(100, 600, 800, 20), QPoint(499, 600)),
    ],
)
def test_a_card_stands_on_the_side_with_room(place: QRect, tip: QPoint) -> None:
    corner, end = spot(place, CARD, ROOM)
    card = QRect(corner, CARD)
    assert ROOM.contains(card) and not card.intersects(place)
    assert end == tip


def test_without_a_place_it_stands_in_the_middle_and_points_at_nothing() -> None:
    corner, end = spot(QRect(), CARD, ROOM)
    assert abs(QRect(corner, CARD).center().x() - ROOM.center().x()) <= 1
    assert end.x() < 0


def test_tables_of_terms_name_terms_of_the_glossary() -> None:
    assert {*OF_SHARES.values(), *TERMS.values()} <= set(glossary())


def test_a_tip_is_wrapped_and_says_the_word() -> None:
    tip = meaning("kept tail", "20,000 tokens.")
    assert tip.startswith("20,000 tokens.\nKept tail: ")
    assert max(len(line) for line in tip.splitlines()) <= 64
