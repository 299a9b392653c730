"""The page of extensions as a dialog of its own."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from explorer.extensions.manager import Extensions
from ui import theme
from ui.extensions.page import ExtensionsPage, Start
from ui.widgets.dialogs import fit


class ExtensionsDialog(QDialog):
    """Closed by Escape; what was changed in it is changed already."""

    def __init__(self, extensions: Extensions, cwd: str, start: Start, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Extensions")
        self.page = ExtensionsPage(extensions, cwd, start, self)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, theme.S12)
        layout.addWidget(self.page, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(theme.S16, 0, theme.S16, 0)
        foot.addWidget(buttons)
        layout.addLayout(foot)
        fit(self, 820, 560)
        self.page.list.setFocus()
