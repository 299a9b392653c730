"""The page of models: typed words, the list, and the figures of the marked one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QSplitter, QWidget

from explorer.models.client import ModelClient, Override, UserModelsError
from ui.models.details import ModelDetails
from ui.models.model_table import ModelRow, ModelsTable, rows_of
from ui.theme import S8, S12, S16, scaled, set_tone
from ui.widgets.figures import count
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.panels import column_in, column_of
from ui.widgets.panels import row as line_of

Start = Callable[[str, Coroutine[Any, Any, None]], object]
"""Runs a coroutine that is named for the person; its owner ends it with the window."""
NARROW = 720
"""Pixels of the drawing; a page of less shows the list or the figures, not both."""
DETAILS = 330


class ModelsPage(QWidget):
    """Lists the models of a client. What the user states of one is written at once."""

    chosen = Signal()
    """The marked model is to be taken."""
    typed_chosen = Signal(str)
    """A model of which only the name is known is to be taken, as it was typed."""
    marked = Signal(object)
    """The ``ModelRow`` that is marked now, or None."""
    key_asked = Signal(str)
    failed = Signal(str)
    """A sentence on what could not be done; empty when something was."""

    def __init__(self, client: ModelClient, start: Start, parent: QWidget) -> None:
        super().__init__(parent)
        self._client, self._start = client, start
        self._wanted = ""
        self._context = 0
        self._shows_figures = False
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search by name, provider, or reasoning, images, tools")
        self.search.setAccessibleName("Search the models")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.search.installEventFilter(self)
        self.only = QCheckBox("Only those I can &call", self)
        self.only.setToolTip("Those whose key or server is there; else all that litellm knows")
        self.only.setChecked(True)
        self.only.toggled.connect(self._filter)
        # What stands in its place from the start is not styled anew when it is laid out.
        self.split = QSplitter(Qt.Orientation.Horizontal, self)
        self.left = QWidget(self.split)
        self.table = ModelsTable(self.left)
        self.table.marked.connect(self._marked)
        self.table.chosen.connect(self.chosen)
        self.none = QLabel("Reading the list of models…", self.left)
        self.none.setWordWrap(True)
        set_tone(self.none, "dim")
        self.all = LinkButton("Show &all that litellm knows", self.left)
        self.all.clicked.connect(lambda: self.only.setChecked(False))
        self.as_typed = LinkButton(parent=self.left)
        self.as_typed.setToolTip("A model that is newer than litellm's table")
        self.as_typed.clicked.connect(lambda: self.typed_chosen.emit(self.typed))
        self.counted = Caption(parent=self)
        self.details = ModelDetails(self.split)
        self.details.stated.connect(self._say)
        self.details.reset_asked.connect(self._reset)
        self.details.key_asked.connect(self.key_asked)
        self.figures = LinkButton("&Figures ▸", self)
        self.figures.clicked.connect(self._toggle)
        self._lay_out()
        self._show_none()

    def _lay_out(self) -> None:
        column = column_in(self.left, S8)
        column.addWidget(self.table, 1)
        for part in (self.none, self.all, self.as_typed):
            part.setContentsMargins(S16, 0, S16, 0)
            column.addWidget(part)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.left)
        self.split.addWidget(self.details)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        self.split.setSizes([1000, scaled(DETAILS)])
        line = line_of(self.only, self.counted, 1, self.figures)
        head = column_of(self.search, line, margins=(S16, S12, S16, 0))
        column = column_in(self, S8)
        column.addLayout(head)
        column.addWidget(self.split, 1)

    # what is shown -------------------------------------------------------------------------------

    def show_surroundings(self, wanted: str, context: int, in_use: dict[str, str]) -> None:
        """``wanted``: the model to mark at first; ``context``: tokens of the session shown;
        ``in_use``: by model, what it does now."""
        self._wanted, self._context = wanted, context
        self.table.models.set_surroundings(context, in_use)

    def refresh(self) -> None:
        """List all models anew; they are read on a thread."""
        self._start("Reading the models", self._refresh())

    async def _refresh(self) -> None:
        rows = await asyncio.to_thread(rows_of, self._client)
        marked = self.row.info.id if self.row is not None else self._wanted
        at = self.table.verticalScrollBar().value()
        was_empty = not self.table.models.known
        self.table.models.set_rows(rows)
        if was_empty:
            self.table.mark(marked)
        else:
            self.table.setCurrentIndex(
                self.table.models.index(max(self.table.models.row_of_model(marked), -1), 0)
            )
            self.table.verticalScrollBar().setValue(at)
        self._show_none()

    @property
    def row(self) -> ModelRow | None:
        """The model that is marked."""
        return self.table.row

    def _filter(self) -> None:
        marked = self.row.info.id if self.row is not None else self._wanted
        words = self.search.text()
        self.table.models.set_filter(words, self.only.isChecked())
        # What was typed is looked for from the top; without words the marked one is visible.
        self.table.mark(marked if not words.strip() else "")
        self._show_none()

    def _show_none(self) -> None:
        rows = self.table.models
        self.counted.setText(count(rows.shown, "model") if rows.known else "")
        more = rows.hidden_matches if not rows.shown else 0
        if rows.known:
            self.none.setText(
                f"No model that you can call has these words; {count(more, 'other')} would need"
                " a key."
                if more
                else "No model has these words. Servers of your own are added on the page Servers."
            )
        self.none.setVisible(not rows.shown)
        self.all.setVisible(bool(more))
        self.as_typed.setVisible(bool(rows.known and not rows.shown and self.typed))
        self.as_typed.setText(f"&Use “{self.typed}” as it is typed".replace("\n", " "))

    @property
    def typed(self) -> str:
        """What was typed, where it can be the name of a model: ``provider/name``."""
        words = self.search.text().strip()
        provider, _, name = words.partition("/")
        return words if provider and name and " " not in words else ""

    def _marked(self, row: ModelRow | None) -> None:
        others = self._client.info_without_overrides(row.info.id) if row is not None else None
        self.details.show_model(row, others, self._context)
        self.marked.emit(row)

    # list or figures -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        """Where there is no room for both, the list and the figures take turns."""
        narrow = self.width() < scaled(NARROW)
        self.figures.setVisible(narrow)
        self.figures.setText("◂ &List" if self._shows_figures else "&Figures ▸")
        self.left.setVisible(not (narrow and self._shows_figures))
        self.details.setVisible(not narrow or self._shows_figures)
        self.details.setMinimumWidth(0 if narrow else scaled(DETAILS))

    def _toggle(self) -> None:
        self._shows_figures = not self._shows_figures
        self._share()

    # the user's figures --------------------------------------------------------------------------

    def _say(self, model: str, figure: str, value: object) -> None:
        before = self._client.user_models.override(model) or Override()
        self._keep(model, replace(before, **{figure: value}))

    def _reset(self, model: str) -> None:
        self._keep(model, None)

    def _keep(self, model: str, override: Override | None) -> None:
        self._start("Keeping the figure", self._keep_now(model, override))

    async def _keep_now(self, model: str, override: Override | None) -> None:
        try:
            await asyncio.to_thread(self._client.user_models.set_override, model, override)
        except UserModelsError as error:
            self.failed.emit(f"Not kept: {error}")
        else:
            self.failed.emit("")
        await self._refresh()

    # the keyboard --------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The arrows move in the list while words are typed, and Return takes the marked one."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            page = self.table.page()
            steps = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_PageDown: page,
                Qt.Key.Key_PageUp: -page,
            }
            step = steps.get(Qt.Key(event.key()), 0)
            if step:
                self.table.step(step)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self.row is not None:
                    self.chosen.emit()
                return True
        return super().eventFilter(watched, event)
