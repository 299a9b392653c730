"""The dialogs that every feature opens the same way."""

from __future__ import annotations

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from ui import theme
from ui.shell.dialogs import file_dialog


def test_the_arrows_of_a_file_dialog_are_seen_in_dark(app: QApplication) -> None:
    theme.set_theme("dark", app)
    parent = QWidget()
    dialog = file_dialog(parent, "Import")
    for name in ("backButton", "forwardButton", "toParentButton", "newFolderButton"):
        button = dialog.findChild(QToolButton, name)
        assert button is not None
        image = button.icon().pixmap(16, 16).toImage()
        image = image.convertToFormat(QImage.Format.Format_ARGB32)
        seen = [image.pixelColor(x, y) for x in range(16) for y in range(16)]
        assert max(colour.lightness() for colour in seen if colour.alpha() > 128) > 150, name
    theme.set_theme("light", app)
    parent.deleteLater()
