"""The frame of every comparison, and a grid of figures with one column per subject.

Drafts, generations, branches, profiles and runs are compared in windows of this class; a feature
contributes what stands in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, scaled, set_tone, theme, ui_font
from ui.widgets.dialogs import Dialog
from ui.widgets.labels import Caption
from ui.widgets.panels import WholeArea, column_of

TOP = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft


class ComparisonWindow(Dialog):
    """What is compared in words above, the parts of the comparison, and buttons below.

    It does not block the window behind it: what is chosen here is selected there.
    """

    entry_requested = Signal(int)
    """An entry to select on the map."""

    def __init__(
        self, window_title: str, parent: QWidget | None = None, title: QLabel | None = None
    ) -> None:
        """``title``: in place of a label that wraps its words."""
        super().__init__(window_title, parent, is_modal=False)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint, True)
        self.title = QLabel("Comparing…", self) if title is None else title
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(title is None)
        bind_font(self.title, lambda: ui_font(1, bold=True))
        self.facts = QLabel(self)
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        set_tone(self.facts, "dim")

    def closing_button(self) -> QPushButton:
        """The last button of the foot; made last, so that the keyboard comes to it last."""
        made = self.button("C&lose")
        made.clicked.connect(self.close)
        return made

    def head(self, *parts: QWidget | QLayout) -> QVBoxLayout:
        """Title and facts, and what else stands above the comparison."""
        margins = (S16, S12, S16, S8)
        return column_of(self.title, self.facts, *parts, spacing=S4, margins=margins)

    def scrolling(self, part: QWidget) -> QScrollArea:
        """A part of the comparison that scrolls downwards."""
        area = WholeArea(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(part)
        return area

    def tell(self, title: str, facts: str) -> None:
        """What is shown, or why there is nothing to show."""
        self.title.setText(title)
        self.facts.setText(facts)


class ShareBar(QWidget):
    """A bar as long as its share of the largest of several figures."""

    def __init__(self, share: float, parent: QWidget | None = None) -> None:
        """``share``: from 0 to 1; at 0 the bar is hidden."""
        super().__init__(parent)
        self.share = share
        self.setVisible(share > 0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self.update)

    def sizeHint(self) -> QSize:
        return QSize(scaled(24), scaled(4))

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().accent)
        width = max(2.0, self.width() * min(1.0, self.share))
        painter.drawRoundedRect(QRectF(0, 0, width, self.height()), 2, 2)


class ComparisonRow(Struct, frozen=True):
    """A row of the grid: one value per subject."""

    title: str
    values: Sequence[str]
    sizes: Sequence[float] = ()
    """The values as numbers of one unit, to draw them as bars; empty: no bars."""
    is_faint: bool = False
    """Whether the row steps back, such as a setting that all subjects share."""


class FiguresGrid(QWidget):
    """Captions at the left, the figures of the subjects beside each other."""

    def __init__(
        self, name: str, parent: QWidget | None = None, *, has_heads: bool = False
    ) -> None:
        """``name``: for screen readers. ``has_heads``: whether each column is headed by its
        subject's name."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setMinimumWidth(1)
        self._has_heads = has_heads
        self.values: dict[str, tuple[QLabel, ...]] = {}
        """The labels of each figure, by its title."""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(S16)
        self._grid.setVerticalSpacing(S4)

    def show_figures(self, names: Sequence[str], figures: Sequence[ComparisonRow]) -> None:
        """Show other figures. ``names``: of the subjects, one a column."""
        grid = self._grid
        while (item := grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for at in range(1, grid.columnCount()):
            grid.setColumnStretch(at, 0)
        self.values = {}
        for at in range(1, len(names) + 1):
            grid.setColumnStretch(at, 1)
        line = int(self._has_heads)
        for at, name in enumerate(names if self._has_heads else (), 1):
            head = self._label(name, self)
            bind_font(head, lambda: ui_font(bold=True))
            grid.addWidget(head, 0, at)
        for figure in figures:
            line = self._add(line, names, figure)

    def _add(self, line: int, names: Sequence[str], figure: ComparisonRow) -> int:
        grid = self._grid
        caption = Caption(figure.title, self, wraps=True)
        caption.setAlignment(TOP)
        # An alignment given to the layout instead would make it ignore the height for the width.
        grid.addWidget(caption, line, 0)
        labels = []
        for at, value in enumerate(figure.values):
            label = self._label(value, self)
            label.setEnabled(not figure.is_faint)
            label.setAccessibleName(f"{figure.title} of {names[at]}: {value}")
            grid.addWidget(label, line, at + 1)
            labels.append(label)
        self.values[figure.title] = tuple(labels)
        most = max(figure.sizes, default=0)
        # A bar without another one to be compared with is a line of no meaning.
        if sum(size > 0 for size in figure.sizes) < 2:
            return line + 1
        for at, size in enumerate(figure.sizes, 1):
            grid.addWidget(ShareBar(size / most, self), line + 1, at)
        return line + 2

    @staticmethod
    def _label(text: str, parent: QWidget) -> QLabel:
        # A model's name may be broken behind its provider.
        label = QLabel(text.replace("/", "/\u200b"), parent)
        label.setAlignment(TOP)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label
