"""What fills the shares of a budget."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from ui import theme
from ui.theme.manager import ThemeChoice
from ui.widgets.swatch import Share, beyond_share, paint_share


def _colours(share: Share) -> set[str]:
    image = QImage(40, 20, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    paint_share(painter, QRectF(0, 0, 40, 20), share, radius=0)
    painter.end()
    return {image.pixelColor(20, y).name() for y in range(4, 16)}


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_what_lies_beyond_the_entries_is_told_by_its_texture(
    app: QApplication, choice: ThemeChoice
) -> None:
    theme.set_theme(choice, app)
    assert len(_colours(Share("assistant", "assistant", 5, token="asst"))) == 1
    assert len(_colours(beyond_share(5))) == 2
    theme.set_theme("light", app)
