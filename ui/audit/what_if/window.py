"""The window that shows what a session would have come to under other rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFrame,
    QLabel,
    QScrollArea,
    QWidget,
)

from explorer.audit.simulation import Policy, Prices, Simulation
from explorer.compaction.profile import Profile, Settings
from ui.audit.what_if.chart import Chart
from ui.audit.what_if.lines import Drawing, WalkLine
from ui.audit.what_if.sweep import MakeSweep, SweepPage
from ui.audit.what_if.totals import LineLegend, TotalsTable
from ui.theme import S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.choice import ChoiceBox, NumberBox
from ui.widgets.dialogs import fit
from ui.widgets.figures import count, short
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, Hairline
from ui.widgets.loader import Loader
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import WholeArea, column_in, labelled, push_button, stacked
from ui.widgets.tabs import Tabs

LEAST_WINDOW, MOST_WINDOW = 2_000, 10_000_000


def number(name: str, least: int, most: int, parent: QWidget) -> NumberBox:
    """A box for a number of tokens."""
    box = NumberBox(least, most, parent)
    box.setSingleStep(1_000)
    box.setAccessibleName(f"{name}, tokens")
    return box


def in_window(policy: Policy, window: int) -> Policy:
    """The policy with a smaller window, in proportion to which its sizes shrink; a larger one
    changes nothing else."""
    sizes = policy.settings
    part = min(1.0, window / sizes.context_window)
    return replace(
        policy,
        settings=replace(
            sizes,
            context_window=window,
            keep_recent_tokens=max(1, round(sizes.keep_recent_tokens * part)),
            reserve_tokens=max(1, round(sizes.reserve_tokens * part)),
        ),
    )


class WindowBox(QWidget):
    """The window that all walks have."""

    changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = number("Context window of all walks", LEAST_WINDOW, MOST_WINDOW, self)
        self.box.valueChanged.connect(self.changed)
        self.box.setToolTip("Sizes shrink in proportion with a smaller window")
        row = column_in(self)
        row.addWidget(labelled("&Window", self.box, self))

    def show_window(self, tokens: int) -> None:
        """Show a window without telling of it."""
        self.box.blockSignals(True)
        self.box.setValue(tokens)
        self.box.blockSignals(False)


class AddedRules(QWidget):
    """A profile and two sizes, drawn as a separate line."""

    added = Signal(object)
    """A ``Policy``."""
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profiles: list[Profile] = []
        self._window = 0
        self._in_force: Policy | None = None
        self.profile = ChoiceBox(self)
        self.profile.setAccessibleName("Profile of another line")
        self.profile.activated.connect(lambda _row: self._fill())
        self.keep = number("Keep recent of another line", 1, MOST_WINDOW, self)
        self.reserve = number("Reserve of another line", 1, MOST_WINDOW, self)
        self.reserve.valueChanged.connect(self._leave_room)
        self.add = push_button(
            "&Draw another line", self, "Walk the session under this profile with these sizes, too"
        )
        self.add.clicked.connect(lambda: self.added.emit(self.policy()))
        self.clear = push_button("&Remove own lines", self)
        self.clear.clicked.connect(self.cleared)
        self.clear.setVisible(False)
        line = QWidget(self)
        keep, reserve = labelled("&Keep", self.keep, line), labelled("R&eserve", self.reserve, line)
        line.setLayout(wrapping_row(self.profile, keep, reserve, self.add, self.clear))
        column = column_in(self)
        column.addWidget(line)

    def show_profiles(self, profiles: Sequence[Profile], in_force: Policy) -> None:
        """Offer these profiles, the one in force first chosen."""
        fresh = self._in_force is None or self._in_force.settings != in_force.settings
        self._in_force = in_force
        self._profiles = list(profiles)
        self._window = in_force.settings.context_window
        chosen = self.profile.currentData() or in_force.profile.name
        self.profile.clear()
        for profile in profiles:
            self.profile.addItem(profile.title, profile.name)
        self.profile.setCurrentIndex(max(0, self.profile.findData(chosen)))
        if fresh:
            self._fill()

    def show_count(self, lines: int) -> None:
        """Number of lines that the user drew."""
        self.clear.setVisible(lines > 0)

    def _fill(self) -> None:
        """Fill in the sizes of the chosen profile."""
        settings = self._settings_of(self._profiles[self.profile.currentIndex()])
        self.reserve.setValue(settings.reserve_tokens)
        self._leave_room()
        self.keep.setValue(settings.keep_recent_tokens)

    def _settings_of(self, profile: Profile) -> Settings:
        """Those that its line is drawn with: where the session follows it, as they are set."""
        in_force = self._in_force
        if in_force is not None and in_force.profile.name == profile.name:
            return in_force.settings
        return in_window(Policy.of(profile), self._window).settings

    def _leave_room(self) -> None:
        """No more can be kept than the window and the reserve leave."""
        self.keep.setMaximum(max(1, self._window - self.reserve.value()))

    def policy(self) -> Policy:
        """The rules that the row shows."""
        profile = self._profiles[max(0, self.profile.currentIndex())]
        settings = replace(
            self._settings_of(profile),
            context_window=self._window,
            keep_recent_tokens=self.keep.value(),
            reserve_tokens=self.reserve.value(),
        )
        sizes = f"keep {short(self.keep.value())}, reserve {short(self.reserve.value())}"
        return Policy(profile, settings, f"{profile.title}: {sizes}")


def looks_late(found: Simulation) -> bool:
    """Whether a walk went beyond its threshold since its rules look at it after a turn alone."""
    is_later = found.policy.profile.threshold_check == "after-turn"
    return is_later and not found.is_recorded and found.largest > found.threshold


def counts_less(found: Simulation) -> bool:
    """Whether a walk went beyond its threshold since its rules go by a count of the messages that
    is smaller than a provider's."""
    if found.is_recorded or found.policy.profile.prompt_budget is None:
        return False
    return found.measure.prompt(found.threshold) > found.threshold < found.largest


def beyond_words(lines: Sequence[WalkLine]) -> list[str]:
    """Why lines are above their thresholds, one sentence for each reason."""
    said = []
    for why, one, several, rest in (
        (looks_late, "looks", "look",
         "at the threshold after a turn alone: until then the context grows beyond it."),
        (counts_less, "goes", "go",
         "by a count of the messages, smaller than a provider's, which is drawn."),
    ):  # fmt: skip
        titles = [line.title for line in lines if why(line.found)]
        if titles:
            names = " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
            said.append(f"{names} {one if len(titles) == 1 else several} {rest}")
    return said


NO_PRICES = ""
"""The entry of the model box that asks for no cost."""


class WalkQuestion(Struct, frozen=True):
    """What is to be walked: the rules by the key of their line."""

    policies: tuple[tuple[str, Policy], ...]
    window: int


Walk = Callable[[WalkQuestion], Drawing]
"""Walks the session; for a worker thread."""


class _Part(QWidget):
    """As low as its words at its width and the least height of one of its widgets: Qt would take
    the height that its words have at their least width."""

    def __init__(self, elastic: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._elastic = elastic

    def minimumSizeHint(self) -> QSize:
        least, layout = super().minimumSizeHint(), self.layout()
        if layout is None or not layout.hasHeightForWidth():
            return least
        elastic = self._elastic
        low = max(elastic.minimumSizeHint().height(), elastic.minimumHeight())
        spare = max(0, elastic.sizeHint().height() - low)
        return QSize(least.width(), layout.heightForWidth(max(self.width(), 1)) - spare)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()


class WhatIfWindow(QDialog):
    """Does not block the window: a sign, or Return, selects its entry on the map. It can be used
    when ``building`` is done."""

    entry_requested = Signal(int)
    use_asked = Signal(object)
    undo_asked = Signal()
    window_changed = Signal(int)
    prices_wanted = Signal(str)
    """The id of a model; empty for none."""

    def __init__(self, walk: Walk, make_sweep: MakeSweep, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What if")
        self.setModal(False)
        self._walk = walk
        self._added: list[Policy] = []
        self._policies: tuple[tuple[str, Policy], ...] = ()
        self._window = self._whole_window = 0
        self._prices: Prices | None = None
        self.drawing: Drawing | None = None
        self._loader = Loader(self)
        self._loader.loaded.connect(self._show)
        self._loader.failed.connect(self._failed)
        self._make_sweep = make_sweep

    def building(self) -> Iterator[None]:
        """Make its parts, in steps between which the window behind it answers."""
        self._make_head()
        self._make_parts()
        yield
        self._make_boxes()
        yield
        over_time = self._over_time()
        yield
        self.pages = Tabs(self)
        self.pages.setDocumentMode(True)
        self.pages.setAccessibleName("Parts of what if")
        self.pages.addTab(self._scrolled(over_time), "&Over the session")
        yield
        self.sweep = SweepPage(self._make_sweep, self)
        self.sweep.use_asked.connect(self.use_asked)
        self.sweep.undo_asked.connect(self.undo_asked)
        yield
        self.pages.addTab(self._scrolled(self.sweep), "Keep and re&serve")
        yield
        self._lay_out()
        yield
        fit(self, 1140, 868)

    def _make_head(self) -> None:
        self.title = QLabel("Walking the session…", self)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(1, bold=True))
        self.facts = QLabel(self)
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        set_tone(self.facts, "dim")

    def _make_parts(self) -> None:
        self.legend = LineLegend(self)
        self.legend.changed.connect(self._show_chosen)
        self.chart = Chart(self)
        self.chart.entry_requested.connect(self.entry_requested)
        self.chart.described.connect(self._tell)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.totals = TotalsTable(self)
        self.totals.line_chosen.connect(self.chart.choose)

    def _make_boxes(self) -> None:
        self.window_box = WindowBox(self)
        self.window_box.changed.connect(self.window_changed)
        self.added_rules = AddedRules(self)
        self.added_rules.added.connect(self._add)
        self.added_rules.cleared.connect(self._clear)
        self.models = ModelBox(self)
        self.models.setAccessibleName("Model whose prices count")
        self.models.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.models.setMinimumContentsLength(16)
        self.models.activated.connect(
            lambda _row: self.prices_wanted.emit(str(self.models.currentData() or NO_PRICES))
        )
        self.note = Caption("", self, wraps=True)

    def _lay_out(self) -> None:
        close = push_button("&Close", self)
        close.clicked.connect(self.close)
        cost = labelled("Cost wit&h", self.models, self)
        margins = (S16, S8, S16, S12)
        foot = wrapping_row(self.window_box, cost, close, down=S8, margins=margins, closes=close)
        column = column_in(self, S8, (0, S12, 0, 0))
        for part in (self.title, self.facts):
            part.setContentsMargins(S16, 0, S16, 0)
            column.addWidget(part)
        column.addWidget(self.pages, 1)
        column.addWidget(Hairline(parent=self))
        column.addLayout(foot)

    def _over_time(self) -> QWidget:
        page = QWidget(self)
        upper, lower = _Part(self.chart, page), _Part(self.totals, page)
        above = column_in(upper, S8)
        above.addWidget(self.legend)
        above.addWidget(self.chart, 1)
        above.addWidget(self.words)
        below = column_in(lower, S8)
        below.addWidget(self.totals, 1)
        below.addWidget(self.added_rules)
        below.addWidget(self.note)
        column = column_in(page, margins=(S16, S12, S16, S12))
        split = stacked(upper, lower, (1, 0), page)
        # The chart has what the rest can spare.
        split.setSizes([MOST_WINDOW, 1])
        column.addWidget(split)
        return page

    def _scrolled(self, content: QWidget) -> QScrollArea:
        """With large text in a small window a page is higher than its place."""
        area = WholeArea(self)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(content)
        return area

    # what is asked -----------------------------------------------------------------------------

    def show_policies(
        self,
        policies: Sequence[Policy],
        in_force: Policy,
        profiles: Sequence[Profile],
        whole_window: int = 0,
    ) -> None:
        """Walk the session under these; ``in_force`` is what it follows, ``profiles`` all that
        could be drawn besides. ``whole_window``: tokens of the window before it was made smaller
        here."""
        self._whole_window = whole_window
        self._policies = tuple((policy.profile.name, policy) for policy in policies)
        self._window = in_force.settings.context_window
        self.window_box.show_window(self._window)
        self.added_rules.show_profiles(profiles, in_force)
        self.sweep.show_policies(policies, in_force)
        self._ask()

    def show_models(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """(id, label) of models whose prices are known."""
        self.models.set_models([(NO_PRICES, "no prices"), *models], chosen)

    def show_prices(self, prices: Prices | None) -> None:
        """Count the cost with these prices."""
        self._prices = prices
        if self.drawing is not None:
            self.totals.show_totals(self.drawing.lines, prices)

    @property
    def prices(self) -> Prices | None:
        """The prices that are counted with."""
        return self._prices

    def forget(self) -> None:
        """Forget the results of another session."""
        self._added.clear()
        self.added_rules.show_count(0)
        self.drawing = None
        self.sweep.forget()

    def _ask(self) -> None:
        added = tuple((f"own {number}", policy) for number, policy in enumerate(self._added))
        question = WalkQuestion((*self._policies, *added), self._window)
        walk = self._walk
        self._loader.load(lambda: walk(question))

    def _add(self, policy: Policy) -> None:
        if policy not in self._added:
            self._added.append(policy)
            self.added_rules.show_count(len(self._added))
            self._ask()

    def _clear(self) -> None:
        self._added.clear()
        self.added_rules.show_count(0)
        self._ask()

    # what is shown -----------------------------------------------------------------------------

    def _show(self, drawing: Drawing) -> None:
        self.drawing = drawing
        walked = [line.found for line in drawing.lines if not line.is_recorded]
        recorded = next((line.found for line in drawing.lines if line.is_recorded), None)
        if recorded is None or not walked:
            return
        self.title.setText(
            f"{count(len(drawing.entries), 'entry', 'entries')} in "
            f"{count(len(drawing.turns), 'turn')}, as recorded and walked under "
            f"{count(len(walked), 'set of rules', 'sets of rules')}"
        )
        largest = max(found.largest for found in walked)
        if any(found.compactions or found.prunes for found in walked):
            facts = (
                "Nothing was sent to any model: the recorded messages are gone through again. Plus "
                "and minus, or the wheel, zoom; arrows go from turn to turn and from line to line."
            )
        else:
            facts = (
                f"Nothing would be compacted: the context takes {short(largest)} tokens at "
                f"most, and the window {short(self._window)}. A smaller window, below, shows "
                "where the rules differ."
            )
        self.facts.setText(facts)
        notes = [recorded.measure.words, walked[0].summaries.words]
        if self._window < self._whole_window:
            notes.insert(
                0,
                f"Keep and reserve shrink with the window, here from {short(self._whole_window)} "
                f"to {short(self._window)}.",
            )
        self.note.setText(" ".join([*notes, *beyond_words(drawing.lines)]))
        self.legend.show_lines(drawing.lines)
        self.totals.show_totals(drawing.lines, self._prices)
        self.chart.show_drawing(drawing)
        self._show_chosen()

    def _show_chosen(self) -> None:
        self.chart.hide_lines(self.legend.hidden)

    def _tell(self, words: str) -> None:
        self.words.setText(words)
        if (chosen := self.chart.chosen) is not None:
            self.totals.follow(chosen.key)

    def _failed(self, message: str) -> None:
        self.title.setText("The session could not be walked")
        self.facts.setText(f"{message} Nothing was changed.")

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent, /) -> None:
        self.sweep.cancel()
        self._loader.forget()
        super().closeEvent(event)
