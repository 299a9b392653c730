"""The head of the tab Audit: which moment, by whose rules, what in short, and the pages' names."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ui.audit.badges import ProvenanceBadge
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    bind_font,
    bind_icon,
    on_theme_changed,
    scaled,
    set_tone,
    small_font,
)
from ui.widgets.choice import Choice
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption
from ui.widgets.panels import row

NARROW = 320
"""Width at a text scale of 100 % below which the moment has a line of its own."""


class PageBar(QWidget):
    """The names of the pages, as buttons of which one is down; they wrap where it is narrow."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, across=S4, down=S4)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._group.idClicked.connect(self.chosen)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Pages of the audit")

    def add(self, title: str) -> QToolButton:
        """One more page at the end."""
        button = QToolButton(self)
        button.setText(title)
        button.setCheckable(True)
        button.setAccessibleName(f"Page {title}")
        bind_font(button, small_font)
        self._group.addButton(button, len(self._group.buttons()))
        self._flow.addWidget(button)
        return button

    def button(self, at: int) -> QToolButton:
        """The button of a page."""
        found = self._group.button(at)
        assert isinstance(found, QToolButton)
        return found


class FoldButton(QToolButton):
    """Shows and hides what there is no room for in a low window."""

    def __init__(self, title: str, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setText(title)
        self.setCheckable(True)
        self.setProperty("fold", True)
        self.setAccessibleName(what)
        self.setToolTip(what)
        bind_font(self, small_font)
        self.toggled.connect(lambda _on: self._tell())
        self._tell()

    def _tell(self) -> None:
        bind_icon(self, "chevron-down" if self.isChecked() else "chevron-right", "dim")
        self.setAccessibleDescription("expanded" if self.isChecked() else "collapsed")


class AuditHead(QWidget):
    """In a low window the moment alone, with a button for the rest; a loss is always told."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_low = self._is_narrow = False
        self._headlines = ("", "")
        self.moment = Choice(self)
        self.moment.setAccessibleName("Moment of the session")
        self.moment.setToolTip("The moment whose context is looked at")
        self.rules = Choice(self)
        self.rules.setAccessibleName("Judged by the rules of")
        self.rules.setToolTip(
            "Files do not tell what went to the summarizer. It is worked out by these rules."
        )
        self.report = QPushButton("Repor&t…", self)
        self.report.setAccessibleName("Save a report")
        self.report.setToolTip(
            "Save the audit as a web page, Markdown or JSON: of the whole path, or of the "
            "compaction that is chosen as the moment"
        )
        bind_font(self.report, small_font)
        self.figure = Caption(parent=self)
        self.figure.setWordWrap(True)
        self.badge = ProvenanceBadge(self, "Tokens before")
        self.headline = Caption(parent=self)
        self.headline.setWordWrap(True)
        self.fold = FoldButton("Rules", "Whose rules it is judged by, and the size before", self)
        self.fold.toggled.connect(lambda _on: self._show())
        self.bar = PageBar(self)
        self._lay_out()
        for before, after in pairwise((self.moment, self.fold, self.report, self.rules)):
            QWidget.setTabOrder(before, after)
        on_theme_changed(self._make_room)
        self._show()

    def _lay_out(self) -> None:
        self._lines = lines = QVBoxLayout(self)
        lines.setSpacing(S8)
        self._first = self._line("M&oment", self.moment)
        self._buttons = QWidget(self)
        self._buttons.setLayout(row(self.fold, self.report, 1))
        self._first.addWidget(self._buttons)
        self._details = QWidget(self)
        rest = QVBoxLayout(self._details)
        rest.setContentsMargins(0, 0, 0, 0)
        rest.setSpacing(S8)
        rest.addLayout(self._line("Ru&les of", self.rules))
        figures = row(self.figure, self.badge)
        figures.setStretchFactor(self.figure, 1)
        rest.addLayout(figures)
        lines.addLayout(self._first)
        for part in (self._details, self.headline, self.bar):
            lines.addWidget(part)

    def _line(self, words: str, box: Choice) -> QHBoxLayout:
        label = QLabel(words, self)
        bind_font(label, small_font)
        label.setBuddy(box)
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance("Moment  "))
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line = row(label, box)
        line.setStretchFactor(box, 1)
        return line

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """The moment must be read: in a narrow tab the buttons stand below it."""
        is_narrow = self.width() < scaled(NARROW)
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            if is_narrow:
                self._first.removeWidget(self._buttons)
                self._lines.insertWidget(1, self._buttons)
            else:
                self._lines.removeWidget(self._buttons)
                self._first.addWidget(self._buttons)

    def set_low(self, is_low: bool) -> None:
        """Whether there is little height."""
        self._is_low = is_low
        self.fold.setChecked(False)
        self._show()

    def show_headline(self, whole: str, lost: str) -> None:
        """The audit in a sentence; ``lost``: the part of it that tells of losses, or nothing."""
        self._headlines = whole, lost
        set_tone(self.headline, "lost" if lost else "dim")
        self._show()

    def _show(self) -> None:
        self._lines.setContentsMargins(S16, S4 if self._is_low else S12, S16, S8)
        self.fold.setVisible(self._is_low)
        self._details.setVisible(not self._is_low or self.fold.isChecked())
        self.headline.setText(self._headlines[self._is_low])
        self.headline.setVisible(bool(self._headlines[self._is_low]))
