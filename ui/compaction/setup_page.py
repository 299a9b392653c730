"""The first page of the panel: budget, settings, reason, ledger, instructions, outcome."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QVBoxLayout, QWidget
from shiboken6 import isValid

from explorer.compaction.partition import Partition
from explorer.compaction.profile import Profile, Settings
from explorer.models.catalogue import ModelInfo
from explorer.services.document import Document
from ui.compaction.ledger import PartitionModel, VerdictReason
from ui.compaction.notices import LeafNoticeStrip
from ui.compaction.pinned_part import ShapingPart
from ui.compaction.setup_parts import BudgetPart, InstructionsBox, OutcomePart, RulesPart
from ui.compaction.words import is_possible
from ui.shell.splitters import CalmSplitter
from ui.theme import S4, S8, S16, bind_font, on_theme_changed, scaled, small_font
from ui.widgets.entry_table import ENTRY, EntryTableView
from ui.widgets.figures import short
from ui.widgets.instructions_note import InstructionsNote
from ui.widgets.labels import Caption, Hairline, LinkButton
from ui.widgets.panels import CollapsibleSection, WholeArea, column_in, reach_behind, row, section
from ui.widgets.terms import meaning

SETTLE_MS = 300
"""How long a part stays visible: texts wrap and strips come while the page is laid out."""


class PartScroller(QObject):
    """One part of one area at a time."""

    def __init__(self, area: QScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self._part: QWidget | None = None
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.setInterval(SETTLE_MS)
        self._settling.timeout.connect(self._end)
        area.verticalScrollBar().rangeChanged.connect(lambda _low, _high: self._show())

    def bring(self, part: QWidget, focus: QWidget) -> None:
        """Scroll to a part, and give the keyboard to something in it."""
        self._part = part
        focus.setFocus()
        self._settling.start()
        QTimer.singleShot(0, self, self._show)

    def _show(self) -> None:
        part, body = self._part, self._area.widget()
        if part is None or not isValid(part) or body is None or not body.isAncestorOf(part):
            return
        # Of a text, Qt's own way would show the line with the cursor alone.
        top = part.mapTo(body, QPoint(0, 0)).y()
        for line in (top + part.height(), top):
            self._area.ensureVisible(0, line, 0, S16)

    def _end(self) -> None:
        self._show()
        self._part = None


LEAST_ROWS = ((530, 5), (440, 3), (0, 2))
"""Whole rows of the ledger at least, by the height of the page at a text scale of 100 %."""
FEW_ROWS = 2
"""The same while a notice stands below them, or where the reason of the cut would be out of sight
for them."""
QWIDGETSIZE_MAX = 16_777_215
HIGH, WORDY = 360, 600
"""Heights at a text scale of 100 % from which the ledger and the instructions stay visible while
the rest scrolls, as the estimate and its button do in every height, and from which the chosen row's
reason stands below the rows then, since its tip has it too, and the budget above the sliders, since
the gauge in the header has most of it. In a lower page the instructions come first."""


class SetupPage(QWidget):
    """Shows a partition and lets a person change what it follows from."""

    settings_changed = Signal(object)
    profile_chosen = Signal(str)
    rules_asked = Signal()
    compare_asked = Signal()
    entry_requested = Signal(int)
    automatic_cut_asked = Signal()
    place_asked = Signal(int)
    request_asked = Signal()
    summarize_asked = Signal()
    model_chosen = Signal(str)
    instructions_changed = Signal()
    entry_menu_asked = Signal(int, QPoint)
    """Entry of the ledger, and where its menu opens on the screen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profile = Profile("", "")
        self._settings = Settings()
        self.shown: Partition | None = None
        self._selected = -1
        # Built for the height that it mostly has, since what moves is styled anew, part by part.
        self.resize(self.width(), scaled(WORDY))
        # Placed before it is filled, for the same reason.
        self.area = area = WholeArea(self)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # Its room is always taken: a slider that is dragged keeps its width when the bar comes.
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._scroller = PartScroller(area)
        body = self._body = QWidget(area)
        area.setWidget(body)
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._first = QWidget(body)
        """What comes first in a low page."""
        self._first.hide()
        column_in(self._first, 0, (0, 0, 0, S8))
        self._column.addWidget(self._first)
        self._build_budget()
        self._build_rules()
        self._build_shaping()
        self._build_ledger()
        self._build_request()
        self._build_foot()
        on_theme_changed(self._restyle)
        self._restyle()

    # building ----------------------------------------------------------------------------------

    def _add(self, part: QWidget, stretch: int = 0) -> None:
        if self._column.count() > 1:
            self._column.addWidget(Hairline(parent=self._body))
        self._column.addWidget(part, stretch)

    def _build_budget(self) -> None:
        self.budget = BudgetPart(self._body)
        self.heading, self.bar = self.budget.heading, self.budget.bar
        self.legend = self.budget.legend
        self.budget.filter_changed.connect(self._filter)
        self._add(self.budget)

    def _build_rules(self) -> None:
        part = self.following = RulesPart(self._body)
        self.profile, self.rules, self.compare = part.profile, part.rules, part.compare
        self.keep, self.rounds = part.keep, part.rounds
        self.reserve, self.window_size, self.why = part.reserve, part.window_size, part.why
        part.settings_changed.connect(self._sizes_chosen)
        part.profile_chosen.connect(self.profile_chosen)
        part.rules_asked.connect(self.rules_asked)
        part.compare_asked.connect(self.compare_asked)
        part.entry_requested.connect(self.entry_requested)
        part.automatic_cut_asked.connect(self.automatic_cut_asked)
        part.place_asked.connect(self.place_asked)
        part.add_note(self.budget.smaller)
        self._add(part)

    def _build_shaping(self) -> None:
        part, column = section(self._body)
        self.shaping = ShapingPart(part)
        self.shaping.entry_requested.connect(self.entry_requested)
        self.shaped = CollapsibleSection("Pinned, omitted, kept", self.shaping, parent=part)
        self.shaped.header.setToolTip(f"{meaning('pin')}\n{meaning('omission')}")
        self.shaping.summed.connect(self.shaped.set_title)
        self.shaping.emptied.connect(self.shaped.header.setFocus)
        column.addWidget(self.shaped)
        self._add(part)

    def _build_ledger(self) -> None:
        self.ledger = PartitionModel(self)
        name = "Ledger: every entry of the path and what becomes of it"
        self.table = EntryTableView(self.ledger, name, self)
        # Whole rows first: at the top never a part of one.
        self.table.setVerticalScrollMode(EntryTableView.ScrollMode.ScrollPerItem)
        self.table.entry_chosen.connect(self.entry_requested)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._ask_menu)
        self._ledger_line = Hairline(parent=self)
        self.entry_why = VerdictReason(self)
        self.entry_why.entry_requested.connect(self.entry_requested)
        self.table.selectionModel().currentChanged.connect(self._row_chosen)

    def _build_request(self) -> None:
        part, column = section(self)
        column.setContentsMargins(S16, S8, S16, 0)
        column.setSpacing(S4)
        self.request_part = part
        self.instructions = InstructionsBox(part)
        self.instructions.textChanged.connect(self.instructions_changed)
        caption = self._request_caption = Caption("Instructions", part)
        self.request = LinkButton(parent=part)
        bind_font(self.request, small_font)
        self._request_size = ""
        # Its words follow the width of the page, not the page theirs.
        self.request.setMinimumWidth(1)
        self.request.clicked.connect(self.request_asked)
        column.addLayout(row(caption, self.request, wide=caption))
        column.addWidget(self.instructions)
        self.note = InstructionsNote(self.instructions, self.chosen_model, part)
        column.addWidget(self.note)

    def _build_foot(self) -> None:
        foot = self.outcome_part = OutcomePart(self)
        # From the sliders, the pins and the list too, not only from the instructions.
        here = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence("Ctrl+Return"), self, foot.press, context=here)
        self.outcome = foot.figures
        self.summarize, self.model, self.price = foot.summarize, foot.model, foot.price
        foot.summarize_asked.connect(self.summarize_asked)
        foot.model_chosen.connect(self.model_chosen)
        foot.model_chosen.connect(self.note.refresh)
        self.notice = LeafNoticeStrip(self)
        # The line between it and the controls is on its other side.
        self.notice.setProperty("foot", True)
        self._foot_line, self._button_line = Hairline(parent=self), Hairline(parent=self)
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.setSpacing(0)
        # The area comes first, as far as it can use the room, until the line is dragged.
        self._split = CalmSplitter(Qt.Orientation.Vertical, self)
        self._split.setChildrenCollapsible(False)
        for part in (self._split, self.notice):
            part.installEventFilter(self)
        self._split.splitterMoved.connect(self._dragged)
        self._was_dragged = False
        self._split.addWidget(self.area)
        self._outer.addWidget(self._split, 100)
        self._in_sight: bool | None = None
        self._is_wordy = True
        self._body.installEventFilter(self)

    def _fit_area(self) -> None:
        """The controls take what they need, and the ledger the rest."""
        most = QWIDGETSIZE_MAX
        if self._in_sight:
            width = self.area.viewport().width()
            high = self._column.totalHeightForWidth(width)
            most = (high if high > 0 else self._column.totalSizeHint().height()) + 2
        self.area.setMaximumHeight(most)
        if not self._was_dragged:
            self._split.setSizes([most, 1])

    def _dragged(self) -> None:
        self._was_dragged = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._body and event.type() in (
            QEvent.Type.LayoutRequest, QEvent.Type.Resize,
        ):  # fmt: skip
            if self._in_sight:
                self._hold_rows()
            self._fit_area()
        elif watched in (self._split, self.notice) and event.type() == QEvent.Type.Resize:
            self._hold_rows()
        return super().eventFilter(watched, event)

    def _place_foot(self) -> None:
        """Only the controls scroll; in a page that is too low all but the button does."""
        height = self.height()
        self._hold_rows()
        in_sight, is_wordy = height >= scaled(HIGH), height >= scaled(WORDY)
        self.entry_why.setVisible(not in_sight or is_wordy)
        if is_wordy != self._is_wordy:
            self._is_wordy = is_wordy
            self.following.set_low(not is_wordy)
            parts = (self.budget, self.following) if is_wordy else (self.following, self.budget)
            for index, part in zip((1, 3), parts, strict=True):
                self._column.insertWidget(index, part)
            reach_behind(*parts)
        if in_sight == self._in_sight:
            return
        self._in_sight = in_sight
        self.outcome_part.set_low(not in_sight)
        # In sight it takes what is left; where it scrolls it counts with its own height.
        expanding, ignored = QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored
        self.table.setSizePolicy(expanding, ignored if in_sight else expanding)
        rows: tuple[QWidget, ...] = (self._ledger_line, self.table, self.entry_why)
        foot = self.outcome_part
        for part in rows:
            if part is self.table and in_sight:
                self._split.addWidget(part)
                self._split.setStretchFactor(1, 1)
            else:
                (self._outer if in_sight else self._column).addWidget(part)
        self._ledger_line.setVisible(not in_sight)
        # A notice takes its room from the rows above it: no control moves for it.
        self._outer.addWidget(self.notice)
        if in_sight:
            for part in (self._foot_line, self.request_part):
                self._outer.addWidget(part)
            reach_behind(self.table, self.entry_why, self.request_part)
        else:
            first = self._first.layout()
            assert first is not None
            for part in (self.request_part, self._foot_line):
                first.addWidget(part)
            reach_behind(self.request_part, self.following, self.budget, self.shaped, *rows)
        self._first.setVisible(not in_sight)
        self._column.setContentsMargins(0, 0, 0, 0 if in_sight else S8)
        self._button_line.setVisible(not in_sight)
        for part in (self._button_line, foot):
            self._outer.addWidget(part)
        self._fit_area()

    def _hold_rows(self) -> None:
        """Of the rows some go for a notice or for the reason of the cut, so that the controls need
        not scroll for them."""
        rows = next(rows for least, rows in LEAST_ROWS if self.height() >= scaled(least))
        notice = 0 if self.notice.isHidden() else self.notice.height()
        table, split = self.table, self._split
        spare = split.height() + notice - split.handleWidth() - self._high_to_reason()
        high = table.height_of(min(rows, (spare - table.height_of(0)) // table.row_height()))
        table.setMinimumHeight(max(high - notice, table.height_of(min(rows, FEW_ROWS))))

    def _high_to_reason(self) -> int:
        """Pixels from the top of the controls to the end of the reason, where they scroll."""
        bar = self.area.verticalScrollBar().sizeHint().width()
        width, high = self.area.width() - bar, 0
        for index in range(self._column.count()):
            item = self._column.itemAt(index)
            if item is None or item.isEmpty():
                continue
            hint = item.sizeHint().height()
            high += item.heightForWidth(width) if item.hasHeightForWidth() else hint
            if item.widget() is self.following:
                break
        return high

    def minimumSizeHint(self) -> QSize:
        """As wide as the widest part; the height scrolls."""
        bar = self.area.verticalScrollBar().sizeHint().width()
        parts = (self._body, self.request_part, self.outcome_part)
        wide = max(part.minimumSizeHint().width() for part in parts)
        return QSize(wide + bar, scaled(120))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._place_foot()
        self._fit_area()
        self._fit_request()

    def _restyle(self) -> None:
        self._place_foot()

    def showEvent(self, event: QShowEvent, /) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            # It opens with the choices and the reason of the cut.
            self.area.verticalScrollBar().setValue(0)
        # The table has its height only now.
        QTimer.singleShot(0, self, self._reveal)

    def _reveal(self) -> None:
        focus = self.focusWidget()
        if focus is not None and focus.hasFocus() and self._body.isAncestorOf(focus):
            # Who comes back to what they wrote goes on where they were.
            self.bring(focus, focus)
        if self.shown is not None:
            self._reveal_cut(self.shown)

    # what is shown -----------------------------------------------------------------------------

    def offer(self, profiles: Mapping[str, Profile]) -> None:
        """Offer the profiles that can be chosen."""
        self.following.offer(profiles, self._profile.name)

    def show_settings(self, profile: Profile, settings: Settings, changed: bool = False) -> None:
        """Put the controls where these settings are, without a signal. ``changed``: a rule is
        not the one that the profile of this name has."""
        self._profile, self._settings = profile, settings
        self.following.show_settings(profile, settings, changed)

    def set_models(self, models: list[ModelInfo], chosen: str) -> None:
        """Set the models that can summarize."""
        self.outcome_part.set_models(models, chosen)
        self.note.refresh()

    def chosen_model(self) -> str:
        """The id of the model chosen; empty when there is none."""
        return self.outcome_part.chosen_model()

    def show_partition(self, document: Document, shown: Partition, by_hand: bool) -> None:
        """Show what a compaction would do."""
        cut_moved = self.shown is None or self.shown.cut != shown.cut
        self.shown = shown
        self.budget.show_partition(shown, self._profile, self._settings)
        self.following.show_partition(shown, by_hand, document.leaf)
        self.ledger.show_partition(shown, document.tree, document.payloads.shown)
        self.entry_why.show_partition(shown, document.tree)
        self._keep_marked()
        if cut_moved:
            self._reveal_cut(shown)
        self.request.setEnabled(is_possible(shown))
        self.show_request_size((-1, 0))
        self.outcome_part.show_partition(shown)

    def show_entry(self, entry: int) -> None:
        """Follow an entry that was selected in another view; -1 for none."""
        self.entry_why.show_entry(entry)
        self.following.show_selected(entry)
        self._selected = entry
        row = self._mark_selected()
        if row >= 0:
            self.table.scrollTo(self.ledger.index(row, 0))

    def _mark_selected(self) -> int:
        """Make the row of the selected entry the current one; returns it, or -1."""
        shown, entry = self.shown, self._selected
        position = shown.path.position(entry) if shown is not None and entry >= 0 else -1
        row = self.ledger.row_of(position)
        if row < 0:
            self.table.setCurrentIndex(QModelIndex())
        elif row != self.table.currentIndex().row():
            self.table.selectRow(row)
        return row

    def _keep_marked(self) -> None:
        """Other rows may have no current one, which the arrow keys would begin at."""
        if not self.table.currentIndex().isValid():
            self._mark_selected()

    def _row_chosen(self, current: QModelIndex) -> None:
        """The arrow keys walk through the sentences."""
        if current.isValid():
            self.entry_why.show_entry(current.data(ENTRY))
            if self.table.hasFocus():
                # A sentence that a person asks for does not begin below the edge.
                self.bring(self.entry_why, self.table)

    def _ask_menu(self, at: QPoint) -> None:
        index = self.table.indexAt(at)
        if index.isValid() and (entry := index.data(ENTRY)) is not None:
            self.entry_menu_asked.emit(entry, self.table.viewport().mapToGlobal(at))

    def forget(self) -> None:
        """Hold on to nothing of a session that is closed."""
        self.shown = None
        self.ledger.show_partition(None, None, None)
        self.entry_why.show_partition(None, None)

    def _reveal_cut(self, shown: Partition) -> None:
        at = self.ledger.row_at_or_after(shown.cut if shown.cut >= 0 else len(shown.verdicts) - 1)
        if at >= 0:
            index = self.ledger.index(at, 0)
            self.table.scrollTo(index, EntryTableView.ScrollHint.PositionAtCenter)

    # what somebody is led to -------------------------------------------------------------------

    def add_instruction(self, text: str) -> None:
        """Add to the instructions, with what is new selected and the keyboard on it."""
        self.instructions.add(text)
        self.bring(self.instructions, self.instructions)

    def show_sizes(self) -> None:
        """Show the sizes and the reason of the cut, with the keyboard on the kept tail."""
        keeps = self.keep if self.keep.isVisibleTo(self) else self.rounds
        self.bring(self.following, keeps.track)

    def show_shaped(self, entry: int) -> None:
        """Show what is pinned, omitted and kept, with the keyboard on an entry's row."""
        self.shaped.set_expanded(True)
        self.bring(self.shaped, self.shaping.row_of(entry) or self.shaped.header)

    def bring(self, part: QWidget, focus: QWidget) -> None:
        """Scroll to a part, and give the keyboard to something in it."""
        self._scroller.bring(part, focus)

    def show_request_size(self, sizes: tuple[int, int]) -> None:
        """Show tokens of the request (-1 when that is not known yet) and of its longest answer."""
        tokens, answer = sizes
        self._request_size = f"{short(tokens)} tokens" if tokens >= 0 else ""
        self._fit_request()
        self.outcome_part.show_request_size(tokens, answer)

    def _fit_request(self) -> None:
        """Its size is shown where there is room for it, and always in its tip."""
        size, size_tip = self._request_size, self._request_size and f"{self._request_size}. "
        shown = self.shown
        of = (
            f": of {short(shown.context_estimate)} tokens of entries the "
            f"{short(shown.tokens_summarized)} that are to be summarized, and the prompt's words"
            if is_possible(shown) and shown is not None
            else ""
        )
        self.request.setToolTip(
            f"{size_tip}The request to the summarizer{of}; long tool results are shortened in it"
        )
        room = self.width() - 2 * S16 - S8 - self._request_caption.sizeHint().width()
        for words in (f"re&quest {size} · show ▸", "re&quest · show ▸"):
            self.request.setText(words.replace("  ", " "))
            if self.request.sizeHint().width() <= room:
                break

    # what was done -----------------------------------------------------------------------------

    def _filter(self, key: str) -> None:
        self.ledger.set_filter(int(key) if key else -1)
        self._keep_marked()
        if not key and self.shown is not None:
            self._reveal_cut(self.shown)

    def _sizes_chosen(self, settings: Settings) -> None:
        self._settings = settings
        self.settings_changed.emit(settings)
