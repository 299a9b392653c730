"""The layout of lines: what closes a window stands at the right."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from ui.widgets.flow import wrapping_row


@pytest.mark.parametrize("width", [400, 200])
def test_what_closes_stands_at_the_right_end(app: QApplication, width: int) -> None:
    window = QWidget()
    buttons = [QPushButton(text, window) for text in ("Ask", "Models", "Close")]
    window.setLayout(wrapping_row(*buttons, closes=buttons[-1]))
    window.resize(width, 120)
    window.show()
    assert buttons[-1].geometry().right() == width - 1
    assert buttons[0].geometry().left() == 0
    window.deleteLater()
