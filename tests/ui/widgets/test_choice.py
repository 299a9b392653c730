"""A list box shows its choice whole where there is room, and elided where there is none."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import settle
from ui import theme
from ui.widgets.choice import ChoiceBox


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_what_fits_is_whole_and_what_does_not_is_elided(app: QApplication, scale: float) -> None:
    theme.set_text_scale(scale)
    theme.set_theme("light", app)
    try:
        box = ChoiceBox()
        for words in ("explorer", "Demonstration agent (offline)"):
            box.addItem(words)
        box.show()
        box.adjustSize()
        for row in range(box.count()):
            box.setCurrentIndex(row)
            assert box.shown_text() == box.currentText()
        box.setFixedWidth(box.width() // 2)
        settle()
        assert box.shown_text().endswith("…")
        assert box.currentText() == "Demonstration agent (offline)", "the choice itself stays whole"
        box.deleteLater()
    finally:
        theme.set_text_scale(1.0)
        theme.set_theme("light", app)
