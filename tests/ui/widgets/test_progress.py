"""A bar that does not know how far it is shows one piece, wherever that is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import settle, wait_for
from ui import theme
from ui.widgets.progress import ProgressBar


def stretches(bar: ProgressBar) -> int:
    """How many stretches of the accent colour a line through the middle crosses."""
    picture = bar.grab().toImage()
    accent, middle = theme.theme().accent.rgb(), picture.height() // 2
    row = [picture.pixel(x, middle) == accent for x in range(picture.width())]
    return sum(now and not before for before, now in zip([False, *row], row, strict=False))


def test_one_piece_goes_to_and_fro(app: QApplication) -> None:
    theme.set_theme("light", app)
    theme.set_motion(True)
    before = app.isEffectEnabled(Qt.UIEffect.UI_General)
    app.setEffectEnabled(Qt.UIEffect.UI_General, True)
    bar = ProgressBar()
    bar.setRange(0, 0)
    bar.resize(200, 6)
    bar.show()
    settle()
    places: set[int] = set()

    def moved() -> bool:
        assert bar.piece is not None and stretches(bar) == 1
        assert bar.piece.left() >= 0 and bar.piece.right() <= bar.width()
        places.add(int(bar.piece.left()) // 20)
        return len(places) > 3

    try:
        wait_for(moved)
    finally:
        app.setEffectEnabled(Qt.UIEffect.UI_General, before)
    bar.setRange(0, 4)
    bar.setValue(2)
    assert bar.piece is None, "now it is known"
