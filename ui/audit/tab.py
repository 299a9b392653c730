"""The inspector's tab of the audit: which moment, by whose rules, and the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
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

from explorer.audit.findings import Repair, Severity
from explorer.audit.overview import Overview
from explorer.audit.provenance import Provenance, sizes_known
from explorer.audit.source_agent import SourceAgent
from explorer.compaction.profile import Profile
from explorer.session.records import Previews
from ui.audit.branch_view import BranchView
from ui.audit.fidelity.page import FidelityPage
from ui.audit.known import ProvenanceBadge, around_words, recorded_words
from ui.audit.ledger_view import LedgerView
from ui.audit.losses_view import LossesView
from ui.audit.needed.page import NeededPage
from ui.audit.strip_view import StripView
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    bind_font,
    on_theme_changed,
    scaled,
    set_tone,
    small_font,
)
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import full
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, Hairline
from ui.widgets.panels import EmptyState, FoldButton, OnePage, WholeArea, column_in, inset, row
from ui.widgets.terms import explain

NARROW = 320
"""Width at a text scale of 100 % below which the moment has a separate line."""


class PageButton(QToolButton):
    """The name of a page; it can be as narrow as its words."""

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        words = self.fontMetrics().horizontalAdvance(self.text()) + 5
        return QSize(min(words, hint.width()), hint.height())


class PageBar(QWidget):
    """The names of the pages, as buttons of which one is down: in a line, where it is narrow in
    columns."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, across=0, down=S4, in_columns=True)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._group.idToggled.connect(self._keep_focus)
        # Screen readers toggle a button rather than click it.
        self._group.idToggled.connect(lambda at, on: self.chosen.emit(at) if on else None)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Pages of the audit")

    def add(self, title: str) -> QToolButton:
        """One more page at the end."""
        button = PageButton(self)
        button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        button.setText(title)
        button.setCheckable(True)
        button.setProperty("page", True)
        button.setAccessibleName(f"Page {title}")
        bind_font(button, small_font)
        self._group.addButton(button, len(self._group.buttons()))
        self._flow.addWidget(button)
        return button

    def _keep_focus(self, at: int, is_on: bool) -> None:
        """The keyboard, where it is on one of them, goes to the page that is shown."""
        if is_on and any(button.hasFocus() for button in self._group.buttons()):
            self._group.button(at).setFocus()

    def button(self, at: int) -> QToolButton:
        """The button of a page."""
        found = self._group.button(at)
        assert isinstance(found, QToolButton)
        return found


class AuditHead(QWidget):
    """In a low window the moment alone, with a button for the rest; a loss is always shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_low = self._is_narrow = False
        self.moment = ChoiceBox(self)
        self.moment.setAccessibleName("Moment of the session")
        self.moment.setToolTip(
            "The moment whose context is looked at; the findings are of its summary"
        )
        self.rules = ChoiceBox(self)
        self.rules.setAccessibleName("Judged by the rules of")
        self.rules.setToolTip(
            "Files do not tell what went to the summarizer. It is worked out by these rules."
        )
        self.report = QPushButton("Report…", self)
        self.report.setAccessibleName("Save a report")
        self.report.setToolTip(
            "Save the audit as a web page, Markdown or JSON: of the whole path, or of the "
            "compaction that is chosen as the moment"
        )
        bind_font(self.report, small_font)
        self.figure = Caption(parent=self, wraps=True)
        self.badge = ProvenanceBadge(self, "Tokens before")
        self.headline = Caption(parent=self, wraps=True)
        set_tone(self.headline, "lost")
        self.headline.hide()
        self.fold = FoldButton("More", "Whose rules it is judged by, its size, and a report", self)
        self.fold.toggled.connect(lambda _on: self._show())
        self.bar = PageBar(self)
        self._lay_out()
        for before, after in pairwise((self.moment, self.fold, self.report, self.rules)):
            QWidget.setTabOrder(before, after)
        on_theme_changed(self._restyle)
        self._restyle()
        self._show()

    def _lay_out(self) -> None:
        self._lines = lines = QVBoxLayout()
        lines.setSpacing(S8)
        whole = column_in(self, 0)
        # First, so that no words of other lengths move it; its words are above those below it.
        self._place = inset(self.bar, (S8, S12, S8, S8))
        whole.addLayout(self._place)
        whole.addLayout(lines)
        self._first = self._line("M&oment", self.moment)
        self._buttons = QWidget(self)
        self._buttons.setLayout(row(self.fold, self.report, 1))
        self._first.addWidget(self._buttons)
        self._details = QWidget(self)
        rest = column_in(self._details, S8)
        # With the moment, whose compaction it is of.
        rest.addLayout(row(self.figure, self.badge, wide=self.figure))
        rest.addLayout(self._line("Ru&les of", self.rules))
        lines.addLayout(self._first)
        for part in (self._details, self.headline):
            lines.addWidget(part)

    def _line(self, words: str, box: ChoiceBox) -> QHBoxLayout:
        label = QLabel(words, self)
        bind_font(label, small_font)
        label.setBuddy(box)
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance("Moment  "))
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line = row(label, box, wide=box)
        return line

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _restyle(self) -> None:
        # Of two lines whichever moment is chosen, so that the rows below keep their place.
        self.figure.setMinimumHeight(2 * self.figure.fontMetrics().lineSpacing())
        self._make_room()

    def _make_room(self) -> None:
        """The moment must be read: in a narrow tab the buttons stand below it."""
        has_both = self._is_low and self.fold.isChecked()
        is_narrow = self.width() < scaled(NARROW + (self.fold.width() if has_both else 0))
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            if is_narrow:
                self._first.removeWidget(self._buttons)
                self._lines.insertWidget(self._lines.indexOf(self._first) + 1, self._buttons)
            else:
                self._lines.removeWidget(self._buttons)
                self._first.addWidget(self._buttons)

    def set_low(self, is_low: bool) -> None:
        """Whether there is little height."""
        self._is_low = is_low
        self.fold.setChecked(False)
        self._show()

    def show_headline(self, lost: str) -> None:
        """Show in a sentence what is lost; nothing where it is empty."""
        self.headline.setText(lost)
        self.headline.setVisible(bool(lost))

    def _show(self) -> None:
        self._place.setContentsMargins(S8, S4 if self._is_low else S12, S8, S8)
        self._lines.setContentsMargins(S16, 0, S16, S8)
        self.fold.setVisible(self._is_low)
        is_whole = not self._is_low or self.fold.isChecked()
        self._details.setVisible(is_whole)
        self.report.setVisible(is_whole)
        self._make_room()


LOW = 600
"""Height at a text scale of 100 % below which the head is one line, and the rest of it folded."""
NEEDED, FINDINGS = "Needed again", "Findings"
LEDGER, LOSSES, SURVIVAL, BRANCHES = "Ledger", "Faults", "Survival", "Branches"
TERMS = {
    NEEDED: "needed again", FINDINGS: "finding", LEDGER: "ledger", LOSSES: "compaction fault",
    SURVIVAL: "survival", BRANCHES: "branch summary",
}  # fmt: skip
"""The word of the glossary that a page's title stands for."""


class AuditTab(QWidget):
    """What was kept, what was lost, when and why, at any moment of a path."""

    entry_requested = Signal(int)
    moment_chosen = Signal(str)
    """The code of a moment; see ``offer_moments``."""
    rules_chosen = Signal(str)
    """The name of the profile to judge by; empty for that of the session's own agent."""
    repair_requested = Signal(object, object)
    """A ``Loss`` and a ``Repair``."""
    page_changed = Signal()
    report_requested = Signal()
    """The audit as a file: of the moment that is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.overview: Overview | None = None
        self._titles: list[str] = []
        self._moments: Sequence[tuple[str, str]] = ()
        # Each part is made where it will stand: one that moves is styled anew, with all in it.
        self._whole = OnePage(self)
        # In a small window, or with large text, the tab scrolls as a whole.
        self.area = WholeArea(self._whole)
        page = QWidget(self.area.viewport())
        self.head = head = AuditHead(page)
        self.moment, self.rules, self.report = head.moment, head.rules, head.report
        self._rules_tip = head.rules.toolTip()
        self.figure, self.badge, self.headline = head.figure, head.badge, head.headline
        self.bar = head.bar
        self.pages = pages = OnePage(page)
        self.needed, self.findings = NeededPage(pages), FidelityPage(pages)
        self.ledger, self.losses = LedgerView(pages), LossesView(pages)
        self.strip, self.branches = StripView(pages), BranchView(pages)
        self.empty = EmptyState(
            "history", "Nothing is audited yet",
            "Once a session is read, this shows what of it the model still sees and what was lost.",
            parent=self._whole,
        )  # fmt: skip
        self._whole.add(self.empty)
        self._lay_out(page)
        self._whole.add(self.area)
        column = column_in(self)
        column.addWidget(self._whole)
        for title, page in (
            (NEEDED, self.needed), (FINDINGS, self.findings), (LEDGER, self.ledger),
            (LOSSES, self.losses), (SURVIVAL, self.strip), (BRANCHES, self.branches),
        ):  # fmt: skip
            self.add_page(title, page)
        self._is_low = False
        on_theme_changed(self._follow_height)
        self._connect()
        self.show_page(NEEDED)

    def _connect(self) -> None:
        self.moment.activated.connect(
            lambda _at: self.moment_chosen.emit(self.moment.currentData())
        )
        self.rules.activated.connect(lambda _at: self.rules_chosen.emit(self.rules.currentData()))
        self.bar.chosen.connect(self._turn)
        self.report.clicked.connect(self.report_requested)
        self.losses.repair_requested.connect(self.repair_requested)
        self.losses.findings_requested.connect(self.show_findings)
        for page in (self.ledger, self.losses, self.strip, self.branches):
            page.entry_requested.connect(self.entry_requested)

    def _lay_out(self, page: QWidget) -> None:
        column = column_in(page, 0)
        column.addWidget(self.head)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.pages, 1)
        self.area.setWidget(page)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        """Where it is low, the entries have the room before what stands above them."""
        super().resizeEvent(event)
        self._follow_height()

    def _follow_height(self) -> None:
        is_low = self.height() < scaled(LOW)
        if is_low != self._is_low:
            self._is_low = is_low
            self.head.set_low(is_low)
            self.ledger.set_low(is_low)

    # pages -------------------------------------------------------------------------------------

    def add_page(self, title: str, widget: QWidget) -> int:
        """One more page at the end; returns its number."""
        self._titles.append(title)
        button = self.bar.add(title)
        if title in TERMS:
            explain(button, TERMS[title])
        return self.pages.add(widget)

    def set_count(self, title: str, number: int) -> None:
        """Say beside a page's title how much there is on it; 0 says nothing."""
        button = self.bar.button(self._titles.index(title))
        button.setText(f"{title} ({full(number)})" if number else title)

    def show_page(self, title: str) -> None:
        """Turn to a page. Raises ValueError for a title that there is not."""
        self._turn(self._titles.index(title))

    def show_ledger(self) -> None:
        """Turn to the ledger, with the keyboard on it."""
        self.show_page(LEDGER)
        self.ledger.table.setFocus()

    def show_losses(self) -> None:
        """Turn to the losses, with the keyboard on them."""
        self.show_page(LOSSES)
        self.losses.table.setFocus()

    def show_findings(self) -> None:
        """Turn to the findings, with the keyboard on the page's name."""
        self.show_page(FINDINGS)
        self.bar.button(self._titles.index(FINDINGS)).setFocus()

    def page(self) -> str:
        """The title of the page that is shown."""
        return self._titles[self.pages.current()]

    def titles(self) -> Sequence[str]:
        """The titles of the pages, in their order."""
        return tuple(self._titles)

    def _turn(self, at: int) -> None:
        button = self.bar.button(at)
        if not button.isChecked():
            button.setChecked(True)  # which turns to the page
            return
        self.pages.show_page(at)
        self.page_changed.emit()

    # what is shown -----------------------------------------------------------------------------

    def set_rules(
        self, profiles: Mapping[str, Profile], agent_rules: SourceAgent, chosen: str
    ) -> None:
        """Set the rules that a session can be judged by; ``agent_rules``: those of its agent."""
        self.rules.clear()
        is_sure = agent_rules.known.provenance is Provenance.EXACT
        whose = "its own agent" if is_sure else "its own agent, inferred"
        if not agent_rules.is_own:
            whose = "in place of its own agent's"
        self.rules.addItem(f"{agent_rules.profile.title} ({whose})", "")
        self.rules.setItemData(0, agent_rules.known.basis, Qt.ItemDataRole.ToolTipRole)
        self.rules.setToolTip(f"{self._rules_tip}\n{agent_rules.known.basis}")
        self.rules.setAccessibleDescription(agent_rules.known.basis)
        for name, profile in profiles.items():
            if name != agent_rules.profile.name:
                self.rules.addItem(profile.title, name)
        self.rules.setCurrentIndex(max(0, self.rules.findData(chosen)))

    def offer_repairs(self, repairs: set[Repair]) -> None:
        """Offer the repairs that can be done here."""
        self.losses.offered = repairs

    def refuse(self, why: str) -> None:
        """Let nothing be repaired where there is a reason, such as a session that is only read."""
        self.losses.part.refused = why
        self.findings.refuse(why)

    def clear(self) -> None:
        """Show that no session is open."""
        self.overview = None
        self.ledger.show_ledger(None, None)
        self.losses.show_losses((), None)
        self.strip.show_strip(None)
        self.branches.show_branches((), None, None)
        self._whole.show_page(0)

    def offer_moments(self, moments: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the moments that can be looked at: their words, and a code that stands for each."""
        if moments != self._moments:
            self._moments = moments
            self.moment.clear()
            for words, code in moments:
                self.moment.addItem(words, code)
        self.moment.setCurrentIndex(self.moment.findData(chosen))

    def show_overview(
        self,
        found: Overview,
        previews: Previews,
        made_here: Callable[[int], bool] = lambda _entry: False,
        *,
        is_undone: bool = False,
        draft_words: str = "",
    ) -> None:
        """Show the audit of a path. ``made_here``: whether this program recorded an entry.
        ``is_undone``: the moment is that of a compaction that was undone. ``draft_words``: what is
        said in place of the compaction in force where the moment is that of a draft."""
        tree = found.ledger.tree
        same_path = self.overview is not None and self.overview.strip is found.strip
        self.overview = found
        self._whole.show_page(1)
        if draft_words:
            self._show_draft(draft_words)
        else:
            self._show_figure(found, made_here, is_undone)
        self.head.show_headline(lost_words(found))
        self.ledger.show_ledger(found.ledger, previews, is_undone=is_undone)
        if not same_path:
            is_compacted = bool(found.generations.all)
            self.losses.show_losses(found.losses, tree, found.unread, is_compacted)
            self.strip.show_strip(found.strip)
            self.branches.show_branches(found.branches, tree, previews, found.generations.tokens_of)
        self.set_count(LOSSES, len(found.losses))
        self.set_count(BRANCHES, len(found.branches))

    def show_entry(self, entry: int) -> None:
        """Follow an entry that was selected in another view."""
        if self.overview is not None:
            self.ledger.show_entry(entry)
            self.strip.show_entry(entry)
            self.branches.show_entry(entry)

    def _show_draft(self, words: str) -> None:
        self.figure.setText(words)
        self.figure.setToolTip("")
        self.figure.show()
        self.badge.set_known(None)

    def _show_figure(
        self, found: Overview, made_here: Callable[[int], bool], is_undone: bool
    ) -> None:
        ledger, every = found.ledger, found.generations
        by = every.at(ledger.in_force) if ledger.in_force >= 0 else None
        self.figure.setVisible(by is not None)
        if by is None:
            self.badge.set_known(None)
            return
        recorded = ledger.tree.columns.compactions[by.compaction].tokens_before
        before, after = every.sizes_around(by.compaction)
        told = recorded_words(recorded, found.recorded_after, found.reported_after)
        counted = around_words(before, after)
        # Whichever row below is chosen, it may be of another compaction.
        is_ours = made_here(by.compaction)
        state = "Undone" if is_undone else "In force"
        parts = [f"{state}: compaction #{by.compaction}{', made here' if is_ours else ''}"]
        if told:
            parts.append(f"recorded{'' if is_ours else ' by the agent'}: {told}")
        entries = f"its entries, counted here: {counted}"
        # Two pairs of figures in one line contradict each other.
        has_both = recorded > 0 and (found.recorded_after is not None or found.reported_after > 0)
        is_enough = has_both and after is not None
        self.figure.setText(" · ".join(parts if is_enough else [*parts, entries]))
        known = sizes_known(recorded, made_here=is_ours, difference=found.difference)
        self.badge.set_known(known)
        self.figure.setToolTip(f"{known.basis}\n{entries.capitalize()}.")


def lost_words(found: Overview) -> str:
    """How much is lost, and where to read of it; empty for nothing."""
    lost = [one for one in found.losses if one.severity is Severity.LOST]
    if not lost:
        return ""
    entries = {entry for one in lost for entry in one.entries}
    what = f"{full(len(entries))} entries are" if len(entries) != 1 else "1 entry is"
    return f"{what} neither kept nor summarized: see {LOSSES}."
