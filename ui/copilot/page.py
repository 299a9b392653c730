"""The inspector's tab for a prompt within a budget."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QTreeView,
    QWidget,
)

from explorer.compaction.background import Machine, RunState
from explorer.compaction.profile.rules import Background
from explorer.compaction.quirks import QUIRKS
from ui.copilot.machine_view import (
    MachineView,
    RatioGauge,
)
from ui.copilot.prompt_model import (
    PreparePrompt,
    PromptModel,
    PromptRendering,
    render_to_budget,
)
from ui.theme import S4, S8, S12, bind_font, on_theme_changed, scaled, set_tone, small_font, ui_font
from ui.widgets.figures import count, full, short
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, Hairline
from ui.widgets.loader import Loader
from ui.widgets.number_slider import NumberSlider
from ui.widgets.panels import CollapsibleSection, EmptyState, column_in, scroll_area, section


class QuirksView(QWidget):
    """One row per quirk: whom it is about, and what is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("What single models need")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, S4, 0, S4)
        grid.setHorizontalSpacing(S8)
        grid.setVerticalSpacing(S12)
        grid.setColumnStretch(1, 1)
        self._marks: list[QLabel] = []
        self._titles: list[QLabel] = []
        for at, quirk in enumerate(QUIRKS):
            mark = Caption("", self)
            title = QLabel(quirk.models, self)
            bind_font(title, lambda: ui_font(bold=True))
            sentence = QLabel(quirk.sentence, self)
            for label in (title, sentence):
                label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
                label.setWordWrap(True)
            bind_font(sentence, small_font)
            set_tone(sentence, "dim")
            grid.addWidget(mark, 2 * at, 0)
            grid.addWidget(title, 2 * at, 1)
            grid.addWidget(sentence, 2 * at + 1, 1)
            grid.setRowMinimumHeight(2 * at + 1, 0)
            self._marks.append(mark)
            self._titles.append(title)
        self.show_model("")

    def show_model(self, model: str) -> None:
        """Mark the quirks that hold for a model."""
        for quirk, mark, title in zip(QUIRKS, self._marks, self._titles, strict=True):
            holds = bool(model) and quirk.concerns(model)
            mark.setText("●" if holds else "○")
            set_tone(mark, "accent" if holds else "dim")
            validity = f"holds for {model}" if holds else "does not hold for the model of now"
            mark.setAccessibleName(validity)
            mark.setToolTip(validity)
            title.setAccessibleName(f"{quirk.models}: {validity}")


LEAST, MOST = 100, 2_000_000
SETTLE_MS = 60
"""How long a slider rests before the prompt is rendered anew."""


class PromptPage(QWidget):
    """How full the prompt is, where the summary made ahead stands, and the tree of the prompt
    with what goes first."""

    entry_requested = Signal(int)
    stop_requested = Signal()
    compact_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prepare: PreparePrompt | None = None
        self._look: PromptRendering | None = None
        self._policy = Background()
        self._budget: int | None = None
        self._content: QWidget | None = None
        self.machine = Machine()
        self.gauge = RatioGauge(self)
        self.states = MachineView(self)
        self.note = Caption(parent=self, wraps=True)
        self.stop = QPushButton("&Stop", self)
        self.compact = QPushButton("Compact &now", self)
        self.figures = Caption(parent=self, wraps=True)
        self.outcome = Caption(parent=self, wraps=True)
        self.budget = NumberSlider("&Budget", LEAST, MOST, self)
        self.window_budget = QPushButton("Its &own", self)
        self.cached = QCheckBox("&Keep what was sent", self)
        self.model = PromptModel(self)
        self.tree = QTreeView(self)
        self.quirks = QuirksView(self)
        self._set_up()
        self._reader, self._renderer = Loader(self), Loader(self)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._connect()
        self.empty = EmptyState(
            "compaction", "No prompt to look at",
            "Open a session, and choose a profile that keeps prompts within a budget.",
            parent=self,
        )  # fmt: skip
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self._build())
        column = column_in(self)
        column.addWidget(self._pages)
        on_theme_changed(self._restyle)
        self._restyle()
        self.show_machine(Machine(), Background())

    def _set_up(self) -> None:
        tree = self.tree
        tree.setModel(self.model)
        tree.setAccessibleName("Elements of the prompt")
        tree.setUniformRowHeights(True)
        tree.setFrameShape(QFrame.Shape.NoFrame)
        tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.setAllColumnsShowFocus(True)
        self.cached.setToolTip(
            "Nothing that a provider's cache holds is dropped: a prompt that does not fit is "
            "summarized instead. Unchecked, the lowest priority goes first."
        )
        self.window_budget.setToolTip("Back to the budget that the model's window leaves")
        self.cached.setChecked(True)

    def _connect(self) -> None:
        self._reader.loaded.connect(self._read)
        self._reader.failed.connect(self._failed)
        self._renderer.loaded.connect(self._show)
        self._renderer.failed.connect(self._failed)
        self.budget.changed.connect(self._budget_chosen)
        self.window_budget.clicked.connect(self._own)
        self.cached.toggled.connect(lambda _on: self._settle.start())
        self._settle.timeout.connect(self._render)
        self.stop.clicked.connect(self.stop_requested)
        self.compact.clicked.connect(self.compact_requested)
        self.tree.activated.connect(self._activated)
        self.tree.selectionModel().currentChanged.connect(self._current)

    def _build(self) -> QWidget:
        scroll = scroll_area(self._pages, "The prompt", has_frame=False)
        page = self._content = QWidget(scroll.viewport())
        column = column_in(page, 0)
        ahead, lines = section(page)
        for widget in (self.gauge, self.states, self.note):
            lines.addWidget(widget)
        lines.addLayout(wrapping_row(self.compact, self.stop))
        prompt, below = section(page)
        for part in (self.figures, self.budget):
            below.addWidget(part)
        below.addLayout(wrapping_row(self.cached, self.window_budget))
        below.addWidget(self.outcome)
        single, foot = section(page)
        self.needs = CollapsibleSection("What single models need", self.quirks, parent=single)
        foot.addWidget(self.needs)
        for shown in (ahead, Hairline(parent=page), prompt):
            column.addWidget(shown)
        column.addWidget(self.tree, 1)
        column.addWidget(Hairline(parent=page))
        column.addWidget(single)
        scroll.setWidget(page)
        return scroll

    def _restyle(self) -> None:
        line = self.tree.fontMetrics().height()
        self.tree.setMinimumHeight(line * 14)
        self.tree.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.tree.setIndentation(scaled(14))
        header = self.tree.header()
        header.setFont(small_font())
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for at in range(1, len(self.model.columns)):
            header.setSectionResizeMode(at, QHeaderView.ResizeMode.ResizeToContents)
        header.setMinimumSectionSize(scaled(28))

        if self._content is not None:
            bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
            self.setMinimumWidth(max(320, self._content.minimumSizeHint().width() + bar))
        self._show_columns()

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._show_columns()

    def _show_columns(self) -> None:
        """In a narrow pane the names have the room; the tool tips tell the rest."""
        digit = self.tree.fontMetrics().horizontalAdvance("0")
        self.tree.setColumnHidden(self.model.column("Grow"), self.width() < 60 * digit)
        self.tree.setColumnHidden(self.model.column("Budget"), self.width() < 48 * digit)
        none_gone = self._look is None or not self._look.dropped
        self.tree.setColumnHidden(self.model.column("Gone"), none_gone)

    # what is shown -------------------------------------------------------------------------------

    @property
    def shown(self) -> PromptRendering | None:
        """The rendering that is shown."""
        return self._look

    def show_prompt(self, prepare: PreparePrompt | None, model: str) -> None:
        """Show the prompt that ``prepare`` reads (on a worker thread); None empties the page."""
        self._prepare = prepare
        self.quirks.show_model(model)
        if prepare is None:
            self._reader.forget()
            self._renderer.forget()
            self._look = None
            self.model.show_rendering(None)
            self._pages.setCurrentWidget(self.empty)
            return
        budget, keeps = self._budget, self.cached.isChecked()
        self._reader.load(lambda: render_to_budget(prepare(), budget, keeps))

    def show_machine(self, machine: Machine, policy: Background) -> None:
        """Show where the summary made ahead stands."""
        self.machine, self._policy = machine, policy
        self.states.show_machine(machine)
        self.stop.setVisible(machine.state in (RunState.IN_PROGRESS, RunState.COMPLETED))
        self.note.setText(machine.note or "No prompt has gone out yet.")
        set_tone(self.note, "lost" if machine.state is RunState.FAILED else "dim")
        self._gauge()

    def _gauge(self) -> None:
        ratio = self._look.ratio if self._look is not None else self.machine.ratio
        self.gauge.show_ratio(self._policy, ratio, self.machine.trigger)

    def _read(self, found: object) -> None:
        assert isinstance(found, PromptRendering)
        if self._budget is None:
            self.budget.set_value(min(MOST, max(LEAST, found.prepared.budget.messages)))
        self._show(found)

    def _render(self) -> None:
        shown = self._look
        if shown is not None:
            budget, keeps = self._budget, self.cached.isChecked()
            self._renderer.load(lambda: render_to_budget(shown.prepared, budget, keeps))

    def _show(self, found: object) -> None:
        assert isinstance(found, PromptRendering)
        self._look = found
        opened = self._opened()
        self.model.show_rendering(found)
        for row_at in range(self.model.rowCount()):
            index = self.model.index(row_at, 0)
            self.tree.setExpanded(index, index.data() in opened)
        self._show_columns()
        self._words(found)
        self._gauge()
        self._pages.setCurrentIndex(1)

    def _opened(self) -> set[str]:
        found = set()
        for row_at in range(self.model.rowCount()):
            index = self.model.index(row_at, 0)
            if self.tree.isExpanded(index):
                found.add(str(index.data()))
        return found

    def _words(self, found: PromptRendering) -> None:
        sizes = found.prepared.budget
        facts = [f"Messages may take {full(sizes.messages)} of {full(sizes.base)} tokens"]
        if sizes.tool_tokens:
            facts.append(
                f"tools take {short(sizes.tool_tokens)}, and a tenth of the rest is held back"
            )
        self.figures.setText("; ".join(facts) + ".")
        tone = "dim"
        if not found.fits and found.keeps_cached:
            words = (
                f"Needs {full(found.tokens)} tokens of {full(found.budget)}: it does not fit, and "
                "the conversation is summarized before it is sent."
            )
            tone = "comp"
        elif not found.fits:
            words = (
                f"Needs {full(found.tokens)} tokens of {full(found.budget)} even without all that "
                "may go."
            )
            tone = "lost"
        elif found.dropped:
            gone = sum(each.tokens for each in found.dropped)
            words = (
                f"{count(len(found.dropped), 'element')} with {full(gone)} tokens dropped; "
                f"{full(found.tokens)} of {full(found.budget)} are left."
            )
            tone = "comp"
        else:
            words = f"Fits: {full(found.tokens)} of {full(found.budget)} tokens, nothing dropped."
        self.outcome.setText(words)
        set_tone(self.outcome, tone)
        self.window_budget.setEnabled(self._budget is not None)

    def _failed(self, message: str) -> None:
        self.outcome.setText(f"The prompt cannot be shown: {message}")
        set_tone(self.outcome, "lost")
        self._pages.setCurrentIndex(1)

    # what a person does --------------------------------------------------------------------------

    def _budget_chosen(self, value: int) -> None:
        self._budget = value
        self._settle.start()

    def _own(self) -> None:
        self._budget = None
        if self._look is not None:
            self.budget.set_value(self._look.prepared.budget.messages)
        self._settle.start()

    def _activated(self, index: QModelIndex) -> None:
        node = self.model.node(index)
        sources = node.sources(left=False) if node is not None else ()
        if sources:
            self.entry_requested.emit(sources[0])

    def _current(self, index: QModelIndex, _before: QModelIndex) -> None:
        """Why the element is gone, below the figures."""
        reason = self.model.reason(index)
        if reason:
            self.outcome.setText(reason)
            set_tone(self.outcome, "comp")
        elif self._look is not None:
            self._words(self._look)
