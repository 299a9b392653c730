"""The question whether a project may bring extensions of its own; a person alone answers it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from explorer.extensions.manager import Project
from explorer.extensions.trust import PROJECT_FOLDER
from ui.theme import S8, bind_font, set_tone, ui_font
from ui.widgets.labels import Hairline
from ui.widgets.panels import row

MOST_FILES = 8


class TrustBox(QWidget):
    """Says what the project at hand brings, and asks twice before it is trusted."""

    trust_asked = Signal(object)
    untrust_asked = Signal(object)
    """With the project's folder."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project: Project | None = None
        self.title, self.text = QLabel(self), QLabel(self)
        for label in (self.title, self.text):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        bind_font(self.title, lambda: ui_font(0, bold=True))
        self.ask = QPushButton("&Trust this project…", self)
        self.ask.clicked.connect(lambda: self._show(asking=True))
        self.sure = QPushButton("Yes, run its e&xtensions", self)
        self.sure.setProperty("kind", "primary")
        self.sure.clicked.connect(self._trust)
        self.cancel = QPushButton("&Cancel", self)
        self.cancel.clicked.connect(lambda: self._show(asking=False))
        self.stop = QPushButton("S&top trusting it", self)
        self.stop.setToolTip("Its extensions are unloaded at once")
        self.stop.clicked.connect(self._untrust)
        for button in (self.ask, self.sure, self.cancel, self.stop):
            button.setAutoDefault(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S8)
        column.addWidget(Hairline(parent=self))
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addLayout(row(self.ask, self.stop, self.sure, self.cancel, 1))
        column.addWidget(Hairline(parent=self))
        self.show_project(None)

    def show_project(self, project: Project | None) -> None:
        """Ask about another project, or about none."""
        self._project = project
        self._show(asking=False)

    def _show(self, *, asking: bool) -> None:
        project = self._project
        self.setVisible(project is not None)
        if project is None:
            return
        self.ask.setVisible(not project.trusted and not asking)
        self.stop.setVisible(project.trusted)
        self.sure.setVisible(asking)
        self.cancel.setVisible(asking)
        set_tone(self.text, "lost" if asking else "dim")
        files = ", ".join(project.files[:MOST_FILES])
        if more := len(project.files) - MOST_FILES:
            files += f" and {more} more" if more > 0 else ""
        if project.trusted:
            self.title.setText(f"{project.folder} is trusted")
            self.text.setText(f"Its extensions are loaded from {PROJECT_FOLDER}: {files}")
        elif asking:
            self.title.setText(f"Run what lies in {project.folder / PROJECT_FOLDER}?")
            self.text.setText(
                "Extensions are programs and can do whatever you can do. Say yes only when you "
                f"know where these files come from: {files}"
            )
            self.cancel.setFocus()
        else:
            self.title.setText("This session's project brings extensions of its own")
            self.text.setText(f"{project.folder} is not trusted; not loaded: {files}")

    def _trust(self) -> None:
        if self._project is not None:
            self.trust_asked.emit(self._project.folder)

    def _untrust(self) -> None:
        if self._project is not None:
            self.untrust_asked.emit(self._project.folder)
