"""The findings of one summary: what it should have kept, and the source of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent, QTextCursor
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.findings import Fidelity, Finding, SummaryPlace
from explorer.audit.words import (
    RULE_OF_THUMB,
    UNREADABLE_SUMMARY,
    headline,
    section_words,
    size_words,
    standing_lines,
    standing_words,
    unreadable_words,
)
from explorer.services.summary_audit import Audited
from ui.audit.fidelity.findings import FindingPart, FindingsView
from ui.compaction.words import entry_links
from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, scaled, ui_font
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, ClickLabel, Hairline
from ui.widgets.marked import mark, marked
from ui.widgets.panels import EmptyState, column_in, enable_unless, reach_behind
from ui.widgets.progress import ProgressBar
from ui.widgets.tabs import Tabs

ELSEWHERE = (
    "What was kept word for word is on the page Ledger, what was done again after it under "
    "Needed again."
)
_MORE = re.compile(r"[\d,]+ more(?=\.$)")


class SummaryReading(QPlainTextEdit):
    """Cannot be edited; marks are a ground and a line below. Escape leads back to the findings."""

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._places: Sequence[SummaryPlace] = ()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName("The summary")
        bind_font(self, ui_font)
        on_theme_changed(self._mark)

    def show_summary(self, text: str) -> None:
        """Show another summary, unmarked."""
        self._places = ()
        self.setPlainText(text)
        self._mark()

    def show_places(self, places: Sequence[SummaryPlace]) -> None:
        """Mark places, and bring the first into sight."""
        self._places = places
        self._mark()
        if places:
            cursor = QTextCursor(self.document())
            cursor.setPosition(min(places[0].start, self._last()))
            self.setTextCursor(cursor)
            self.centerCursor()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @property
    def marked(self) -> list[str]:
        """The stretches that are marked."""
        return marked(self)

    def _last(self) -> int:
        return max(0, self.document().characterCount() - 1)

    def _mark(self) -> None:
        found = []
        for place in self._places:
            cursor = QTextCursor(self.document())
            # Positions of Qt are UTF-16 units, as those of places are.
            cursor.setPosition(min(place.start, self._last()))
            cursor.setPosition(min(place.end, self._last()), QTextCursor.MoveMode.KeepAnchor)
            found.append(cursor)
        mark(self, found)


class WaitingPart(QWidget):
    """Words, how far it is, and a button that stops it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel("Reading the entries…", self)
        self.words.setWordWrap(True)
        self.progress = ProgressBar(self)
        self.progress.setAccessibleName("Progress of the audit")
        self.stop = QPushButton("Stop", self)
        column = column_in(self, S8, (S16, S16, S16, S16))
        for part in (self.words, self.progress):
            column.addWidget(part)
        column.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def wait(self, words: str) -> None:
        """Show that the audit runs, with a progress bar."""
        self.words.setText(words)
        self.progress.setRange(0, 0)
        self._show_running(True)

    def show_progress(self, done: int, total: int) -> None:
        """Show how many entries are done, of how many."""
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def tell(self, words: str) -> None:
        """Show a message in place of findings."""
        self.words.setText(words)
        self._show_running(False)

    def _show_running(self, is_running: bool) -> None:
        for part in (self.progress, self.stop):
            part.setVisible(is_running)


FINDINGS, SUMMARY = range(2)


class FidelityPage(QWidget):
    """Which summary is looked at is chosen in the tab's head, with the moment."""

    source_requested = Signal(object, int)
    """The ``Finding``, and which of its source entries is to be shown, at the place."""
    action_asked = Signal(str, object)
    """``pin``, ``instruct`` or ``mend``, and the ``Finding``."""
    excerpt_asked = Signal(object)
    """The ``Finding`` of which the source's words are wanted."""
    finding_shown = Signal(object)
    """The ``Finding`` that is shown in full, or None."""
    entry_requested = Signal(int)
    stop_asked = Signal()
    compare_asked = Signal()
    recall_asked = Signal()
    """A model is to be asked what it recalls with this summary."""
    seen = Signal()
    """It came into sight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Audited | None = None
        self._body: QWidget | None = None
        self._refused = ""
        self._summaries = 0
        self._foot: QWidget | None = None
        self._offered: list[str] = []
        self._parts: list[QWidget] = []
        self._makers: tuple[Callable[[], QWidget], ...] = (
            self._make_findings,
            self._make_reading,
        )
        self._places = QStackedWidget(self)
        self.empty = EmptyState(
            "compaction",
            "There is no summary to look at",
            "Compact the session, or make a draft: what it should have kept is shown here.",
            parent=self,
        )
        self._places.addWidget(self.empty)
        self.waiting = WaitingPart(self)
        self.waiting.stop.clicked.connect(self.stop_asked)
        self._places.addWidget(self.waiting)
        outer = column_in(self, 0)
        outer.addWidget(self._make_bar())
        outer.addWidget(self._places, 1)
        self._bar.hide()

    def minimumSizeHint(self) -> QSize:
        """High enough for some findings and one of them in full."""
        return QSize(scaled(200), scaled(440))

    def showEvent(self, event: QShowEvent, /) -> None:
        super().showEvent(event)
        self.seen.emit()

    def _make_bar(self) -> QWidget:
        self._bar = QWidget(self)
        self.compare = QPushButton("Compare…", self._bar)
        self.compare.setToolTip("This summary beside others of the session")
        self.compare.clicked.connect(self.compare_asked)
        self.recall = QPushButton("Recall…", self._bar)
        self.recall.setToolTip(
            "Questions on what was summarized, to a model that sees what the agent sees after it"
        )
        self.recall.clicked.connect(self.recall_asked)
        self.name = QLabel(self._bar)
        on_theme_changed(self._restyle)
        self._restyle()
        parts = (self.name, self.compare, self.recall)
        self._bar.setLayout(wrapping_row(*parts, margins=(S16, S8, S16, S4)))
        return self._bar

    def _restyle(self) -> None:
        self.compare.ensurePolished()
        # Its words stand beside those of the buttons.
        self.name.setMinimumHeight(self.compare.sizeHint().height())

    def offer_acts(self, *names: str) -> None:
        """Offer what somebody answers to: ``pin``, ``instruct``, ``mend``."""
        self._offered += names
        if self._body is not None:
            self.detail.offer(*names)

    def refuse(self, why: str) -> None:
        """Let nothing be done about a finding where there is a reason, nor a model be asked."""
        self._refused = why
        enable_unless(self.recall, why)
        if self._body is not None:
            self.detail.is_read_only = bool(why)

    def add_foot(self, foot: QWidget) -> None:
        """Put something below the finding that is shown in full."""
        self._foot = foot
        if self._parts and (layout := self._parts[0].layout()) is not None:
            layout.addWidget(foot)

    @property
    def current(self) -> Finding | None:
        """The finding that is shown in full."""
        return self.detail.finding if self._body is not None else None

    def _prepare(self) -> None:
        """Make the parts while the audit is done, one at a time: the window answers between."""
        if self._body is not None:
            return
        if len(self._parts) < len(self._makers):
            self._parts.append(self._makers[len(self._parts)]())
            self._parts[-1].hide()
            QTimer.singleShot(0, self, self._prepare)
        else:
            self._need_body()

    def _need_body(self) -> None:
        """The parts are made when there is an audit to be shown for the first time."""
        if self._body is None:
            self._parts += [make() for make in self._makers[len(self._parts) :]]
            self._places.addWidget(self._make_body())
            self.detail.is_read_only = bool(self._refused)
            self.detail.offer(*self._offered)

    def _make_body(self) -> QWidget:
        self._body = QWidget(self)
        self.headline = QLabel(self._body)
        self.headline.setWordWrap(True)
        bind_font(self.headline, lambda: ui_font(1, bold=True))
        self.given = ClickLabel(self._body)
        self.given.link.connect(self._follow)
        self.pages = Tabs(self._body)
        self.pages.setDocumentMode(True)
        self.pages.setUsesScrollButtons(True)
        self.pages.setAccessibleName("Findings and summary")
        self.pages.tabBar().setAccessibleName("Findings and summary")
        titles = ("Findings", "Summary")
        for part, title in zip(self._parts, titles, strict=True):
            self.pages.addTab(part, title)
        column = column_in(self._body, S4)
        head = QVBoxLayout()
        head.setContentsMargins(S16, S4, S16, 0)
        head.setSpacing(S4)
        head.addWidget(self.headline)
        head.addWidget(self.given)
        column.addLayout(head)
        column.addWidget(self.pages, 1)
        reach_behind(self.recall, self.given, self.pages.tabBar(), *self._parts)
        return self._body

    def _make_findings(self) -> QWidget:
        page = QWidget(self)
        self.list = FindingsView(page)
        self.list.source_requested.connect(self.source_requested)
        self.list.summary_requested.connect(self.show_in_summary)
        self.list.finding_chosen.connect(self._finding_chosen)
        self.detail = FindingPart(page)
        self.detail.source_requested.connect(self.source_requested)
        self.detail.summary_requested.connect(self.show_in_summary)
        self.detail.action_asked.connect(self.action_asked)
        column = column_in(page, S4, (0, S4, 0, 0))
        column.addWidget(self.list, 1)
        column.addWidget(Hairline(parent=page))
        column.addWidget(self.detail)
        if self._foot is not None:
            column.addWidget(self._foot)
        return page

    def _make_reading(self) -> QWidget:
        page = QWidget(self)
        self.reading = SummaryReading(page)
        self.reading.left.connect(self.show_findings)
        self.reading.setFrameShape(QScrollArea.Shape.NoFrame)
        self.read_of = Caption("", page, wraps=True)
        column = column_in(page, S4, (S12, S4, S12, S4))
        column.addWidget(self.read_of)
        column.addWidget(self.reading, 1)
        return page

    # what is shown -------------------------------------------------------------------------------

    def _offer_comparison(self, why_not: str = "") -> None:
        alone = "There is only one summary." if self._summaries < 2 else ""
        enable_unless(self.compare, why_not or alone)
        enable_unless(self.recall, self._refused or why_not)

    def offer(self, summaries: int, name: str = "") -> None:
        """Offer what can be done where there are so many summaries; ``name``: of the one that is
        looked at."""
        self._summaries = summaries
        self.name.setText(name)
        self._bar.setVisible(summaries > 0)
        self._offer_comparison()
        if not summaries:
            self.shown = None
            self._places.setCurrentIndex(0)

    def wait(self, words: str) -> None:
        """Show that an audit runs."""
        self.waiting.wait(words)
        self._places.setCurrentIndex(1)
        QTimer.singleShot(0, self, self._prepare)

    def show_progress(self, done: int, total: int) -> None:
        """Show how many entries were read."""
        self.waiting.show_progress(done, total)

    def tell(self, words: str) -> None:
        """Say why there is nothing to show."""
        self.waiting.tell(words)
        self._places.setCurrentIndex(1)

    def show_audit(self, audited: Audited, no_mending: str = "") -> None:
        """Show an audit; of a summary that cannot be read, that it cannot. ``no_mending``: why the
        summary cannot be mended."""
        found = audited.fidelity
        if not found.is_readable:
            self.shown = None
            self._offer_comparison(UNREADABLE_SUMMARY)
            self.tell(f"This is {audited.name}. {unreadable_words(found)} {ELSEWHERE}")
            return
        self._offer_comparison()
        self._need_body()
        self.shown = audited
        self.detail.no_mending = no_mending
        self.headline.setText(f"{headline(found)}.")
        self.headline.setToolTip(RULE_OF_THUMB)
        self._show_given(found)
        self.pages.setTabText(FINDINGS, f"Findings ({len(found.findings):,})")
        self.reading.show_summary(audited.summary)
        sentences = (f"The text of {audited.name}, as it is stored.", size_words(found),
                     section_words(found))  # fmt: skip
        self.read_of.setText(" ".join(sentence for sentence in sentences if sentence))
        self.list.findings.show_findings(found)
        self.list.select_row(self.list.findings.first_finding())
        self._places.setCurrentIndex(2)

    def _show_given(self, found: Fidelity) -> None:
        """Name the first standing instructions; ``8 more`` is a link to all of them."""
        given = standing_words(found)
        self.given.set_words(_MORE.sub(r'<a href="more:">\g<0></a>', entry_links(given)), given)
        self.given.setToolTip("".join(f"<p>{escape(line)}</p>" for line in standing_lines(found)))
        self.given.setVisible(bool(given))

    def _follow(self, link: str) -> None:
        if link != "more:":
            self.entry_requested.emit(int(link.removeprefix("entry:")))
        elif self.shown is not None:
            lines = standing_lines(self.shown.fidelity)
            # What is quoted may have numbers of its own: only the first names an entry.
            parted = (line.partition(" ") for line in lines)
            linked = (f"{entry_links(entry)} {escape(rest)}" for entry, _, rest in parted)
            self.given.set_words("<br>".join(linked), "\n".join(lines))

    def _finding_chosen(self, finding: Finding | None) -> None:
        self.detail.show_finding(finding)
        self.finding_shown.emit(finding)
        if finding is not None:
            self.reading.show_places(finding.places)
            self.excerpt_asked.emit(finding)

    @property
    def has_findings(self) -> bool:
        """Whether the findings of a summary are shown, and not that they are worked out."""
        return self._places.currentIndex() == 2

    def show_findings(self) -> None:
        """Turn to the list, with the keyboard on it."""
        self.pages.setCurrentIndex(FINDINGS)
        self.list.setFocus()

    def show_in_summary(self, finding: Finding) -> None:
        """Show where the summary says it, where it does."""
        if not finding.places:
            return
        self.pages.setCurrentIndex(SUMMARY)
        self.reading.show_places(finding.places)
        self.reading.setFocus()
