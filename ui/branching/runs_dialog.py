"""What several models are asked side by side, and which ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.models.thinking import ThinkingLevel, as_level
from explorer.work.parallel_runs import FEWEST, MOST, RunOrder
from ui import theme
from ui.widgets.choice import Choice
from ui.widgets.dialogs import fit
from ui.widgets.figures import count
from ui.widgets.labels import LinkButton
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import row

Levels = Callable[[str], Sequence[ThinkingLevel]]
"""The thinking levels that mean something for a model."""


class RunsDialog(QDialog):
    """Escape asks nobody anything."""

    run_chosen = Signal(str, list)
    """(words, list of ``RunOrder``)"""

    def __init__(
        self,
        models: list[tuple[str, str]],
        chosen: Sequence[str],
        levels: Levels,
        facts: str,
        text: str,
        pictures: int,
        parent: QWidget,
    ) -> None:
        """``models``: (id, label); ``chosen``: those that stand there at first; ``facts``: what
        the models may do; ``text`` and ``pictures``: what stands in the message box."""
        super().__init__(parent)
        self.setWindowTitle("Ask several models side by side")
        self._models, self._levels = models, levels
        self.rows: list[tuple[ModelBox, Choice, LinkButton]] = []
        self._labels: list[QLabel] = []
        self.words = QPlainTextEdit(text, self)
        self._make_head(pictures)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.S8)
        self._grid.setVerticalSpacing(theme.S8)
        self._grid.setColumnStretch(1, 1)
        self.add = LinkButton("&Add a model", self)
        self.add.clicked.connect(lambda: self._add_row(self._models[0][0]))
        self._lay_out(facts)
        for model in chosen:
            self._add_row(model)
        fit(self, 600, 440)
        self.words.setFocus()
        self.words.moveCursor(self.words.textCursor().MoveOperation.End)
        self._follow()

    def _make_head(self, pictures: int) -> None:
        self.title = QLabel("The same message to several models at once", self)
        theme.bind_font(self.title, lambda: theme.ui_font(1, bold=True))
        with_them = f" with {count(pictures, 'picture')}" if pictures else ""
        self.label = QLabel(f"&Message{with_them}", self)
        self.label.setBuddy(self.words)
        self.words.setAccessibleName("Message to all models")
        self.words.setPlaceholderText("What they are asked")
        self.words.setTabChangesFocus(True)
        self.words.textChanged.connect(self._follow)
        self._has_pictures = bool(pictures)

    def _lay_out(self, facts: str) -> None:
        self.facts = QLabel(facts, self)
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        theme.set_tone(self.facts, "dim")
        self.run = QPushButton("Ask &them", self)
        self.run.setProperty("kind", "primary")
        self.run.setDefault(True)
        self.run.setToolTip("Ask all of them at once (Ctrl+Enter)")
        self.run.clicked.connect(self._run)
        cancel = QPushButton("Cancel", self)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        column.setSpacing(theme.S12)
        column.addWidget(self.title)
        column.addWidget(self.label)
        column.addWidget(self.words, 1)
        column.addLayout(self._grid)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.facts)
        column.addLayout(row(1, cancel, self.run))
        enter = QShortcut(QKeySequence("Ctrl+Return"), self)
        enter.activated.connect(self._run)

    def _add_row(self, model: str) -> None:
        number = len(self.rows)
        box, level = ModelBox(self), Choice(self)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.set_models(self._models, model)
        remove = LinkButton("Remove", self)
        label = QLabel(self)
        self._labels.append(label)
        self.rows.append((box, level, remove))
        box.activated.connect(lambda _row: self._offer_levels(box, level))
        remove.clicked.connect(lambda: self._remove(box))
        for column, part in enumerate((label, box, level, remove)):
            self._grid.addWidget(part, number, column)
        self._offer_levels(box, level)
        self._follow()

    def _offer_levels(self, box: ModelBox, level: Choice) -> None:
        wanted = level.currentData()
        offered = self._levels(str(box.currentData()))
        level.clear()
        for one in offered:
            level.addItem(f"thinking: {one}" if len(offered) > 1 else "does not think", one)
        level.setCurrentIndex(max(0, level.findData(wanted)))
        level.setEnabled(len(offered) > 1)

    def _remove(self, box: ModelBox) -> None:
        number = next(at for at, (one, _, _) in enumerate(self.rows) if one is box)
        parts: tuple[QWidget, ...] = (self._labels.pop(number), *self.rows.pop(number))
        for part in parts:
            self._grid.removeWidget(part)
            part.hide()
            part.deleteLater()
        for at, (label, row_parts) in enumerate(zip(self._labels, self.rows, strict=True)):
            for column, other in enumerate((label, *row_parts)):
                self._grid.addWidget(other, at, column)
        self._follow()
        self.add.setFocus()

    def _follow(self) -> None:
        """Names by number, and only what can be done."""
        for number, (label, (box, level, remove)) in enumerate(
            zip(self._labels, self.rows, strict=True), 1
        ):
            label.setText(f"{number}")
            box.setAccessibleName(f"Model {number}")
            level.setAccessibleName(f"Thinking level of model {number}")
            remove.setAccessibleName(f"Remove model {number}")
            remove.setEnabled(len(self.rows) > FEWEST)
        self.add.setEnabled(len(self.rows) < MOST)
        has_words = bool(self.words.toPlainText().strip()) or self._has_pictures
        self.run.setEnabled(has_words and len(self.rows) >= FEWEST)

    def orders(self) -> list[RunOrder]:
        """Whom to ask."""
        return [
            RunOrder(
                str(box.currentData()),
                as_level(level.currentData()) if level.count() > 1 else None,
            )
            for box, level, _ in self.rows
        ]

    def _run(self) -> None:
        if self.run.isEnabled():
            self.run_chosen.emit(self.words.toPlainText().strip(), self.orders())
            self.accept()
