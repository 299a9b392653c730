"""The page of drafts: a summary while it is written, and finished ones to read and edit."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.services.document import Document
from explorer.services.draft_records import Draft, instructions_not_met
from ui.audit.known import MARK
from ui.compaction.draft_record import DraftRecordView
from ui.compaction.request_window import PURPOSES
from ui.compaction.sources_view import SourcesView
from ui.compaction.words import (
    beyond_words,
    commit_words,
    leaving_head,
    leaving_words,
    sum_words,
)
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
    ui_font,
)
from ui.widgets.figures import count, full, short
from ui.widgets.flow import aligned_rows, wrapping_row
from ui.widgets.labels import Caption, ElidedLabel, Hairline, LinkButton
from ui.widgets.loader import Loader
from ui.widgets.panels import WholeArea, column_in, column_of, row, stacked
from ui.widgets.plain_text import StreamView, WholeLines
from ui.widgets.progress import ProgressBar
from ui.widgets.tabs import TabBar, Tabs
from ui.widgets.terms import explain


class EditableDraft(Struct):
    """A finished draft, what it was made from, and its text as it was edited."""

    draft: Draft
    shown: Partition
    text: str
    tokens: int = -1
    """Of the text; -1 before they are counted."""

    def renew(self, document: Document) -> None:
        """Count what it was made from again, when another counter counts by now."""
        prepared = self.shown.preparation
        if not isinstance(prepared, Preparation):
            return
        sent = prepared.profile.weights == "sent"
        if prepared.cuts.view.is_measured == (sent and document.tokens.weights is not None):
            return
        again = document.compaction.preview(
            prepared.leaf, prepared.profile, prepared.settings, prepared.cut_point
        )
        if isinstance(again.preparation, Preparation):
            self.shown = again

    def problem(self) -> str:
        """Why it cannot be committed; empty when it can."""
        if not self.text.strip():
            return "An empty summary would replace the history with nothing."
        return self.draft.problem if self.text == self.draft.summary else ""


class StreamingView(QWidget):
    """A summary while it is written, with progress and a way to stop it."""

    cancel_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clock = QElapsedTimer()
        self._tick = QTimer(self)
        self._tick.setInterval(100)
        self._tick.timeout.connect(self._show_progress)
        self._streams: dict[str, StreamView] = {}
        self._model = ""
        self._reason = ""
        self.title = ElidedLabel(parent=self)
        bind_font(self.title, lambda: ui_font(0.5, bold=True))
        self.why = Caption(parent=self, wraps=True)
        self.progress = Caption(parent=self)
        self.busy = ProgressBar(self)
        self.busy.setRange(0, 0)
        self.busy.setFixedHeight(6)
        self.busy.setAccessibleName("Writing the summary")
        self.cancel = QPushButton("Ca&ncel", self)
        self.cancel.setToolTip("Stop writing; nothing is stored")
        self.cancel.clicked.connect(self._cancelled)
        self.tabs = Tabs(self)
        self.tabs.setDocumentMode(True)
        line = row(self.title, self.cancel, wide=self.title)
        column = column_in(self, S8, (S16, S12, S16, S12))
        column.addLayout(line)
        column.addWidget(self.why)
        column.addWidget(self.progress)
        column.addWidget(self.busy)
        column.addWidget(self.tabs, 1)

    def begin(
        self, model: str, purposes: list[str], why: str = "", takes_focus: bool = True
    ) -> None:
        """Start showing the answers to one or two requests; ``why``: an automatic one's trigger."""
        self._model, self._reason = model, ""
        while self.tabs.count():
            old = self.tabs.widget(0)
            self.tabs.removeTab(0)
            if old is not None:
                old.deleteLater()
        self._streams = {}
        for purpose in purposes:
            stream = StreamView(self)
            stream.setAccessibleName(f"{PURPOSES.get(purpose, purpose)}, as it is written")
            self._streams[purpose] = stream
            self.tabs.addTab(stream, PURPOSES.get(purpose, purpose))
        self.tabs.tabBar().setVisible(len(purposes) > 1)
        self.title.setText(f"{model or 'The model'} is writing")
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self.cancel.setEnabled(True)
        self.cancel.setText("Ca&ncel")
        self._clock.start()
        self._tick.start()
        self._show_progress()
        if takes_focus:
            self.cancel.setFocus()

    def add(self, purpose: str, delta: str) -> None:
        """Append a piece of an answer."""
        stream = self._streams.get(purpose)
        if stream is None and self._streams:
            stream = next(iter(self._streams.values()))
        if stream is not None:
            stream.add(delta)

    def restart(self, purpose: str) -> None:
        """Discard the answer so far: it, or its next part, is requested."""
        if (stream := self._streams.get(purpose)) is not None:
            stream.begin()

    def tell(self, sentence: str) -> None:
        """What is waited for: another try, another model, the next part of a long session."""
        self._reason = sentence
        self._show_progress()

    def end(self) -> None:
        """Show that the answers ended."""
        self._tick.stop()
        for stream in self._streams.values():
            stream.finish()

    def written(self) -> str:
        """What has come so far, for a failure's details."""
        return "\n\n".join(s.text() for s in self._streams.values() if s.text())

    def _show_progress(self) -> None:
        characters = sum(stream.characters() for stream in self._streams.values())
        seconds = self._clock.elapsed() / 1000
        written = f"{count(characters, 'character')} in {seconds:.1f} s"
        self.progress.setText(f"{written} · {self._reason}" if self._reason else written)

    def _cancelled(self) -> None:
        self.cancel.setEnabled(False)
        self.cancel.setText("Stopping…")
        self.cancel_asked.emit()


BESIDE = 760
"""From this width on, sources and text stand side by side."""
SHARES = (2, 3)
"""Of the room, for the sources and for the text, until a person divides it."""
LEAST_LINES, FEW_LINES = 8, 6
"""Of the text, in sight where the sources are above it, and where they are not."""
LOW = 460
"""Height at a text scale of 100 % below which a note on the place is one sentence."""
BELOW = 84
"""Pixels of the drawing for what is said of both below them."""


class DraftPage(QWidget):
    """Streaming first; then one or several drafts, each editable beside its sources."""

    cancel_asked = Signal()
    commit_asked = Signal(object, str)
    """The draft and its text."""
    discard_asked = Signal(object)
    again_asked = Signal()
    audit_asked = Signal(str)
    """``fidelity``: what the shown draft lacks; ``recall``: what a model knows with it;
    ``compare``: it beside others; ``mend``: it checked, and mended where that is wanted."""
    entry_requested = Signal(int)
    drafts_changed = Signal()
    """A draft came, or went."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drafts: list[EditableDraft] = []
        self._document: Document | None = None
        self.streaming = StreamingView(self)
        self.streaming.cancel_asked.connect(self.cancel_asked)
        self._counter = Loader(self)
        self._counter.loaded.connect(self._counted)
        self.tabs = TabBar(self)
        self.tabs.setAccessibleName("Drafts")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.currentChanged.connect(self._switched)
        self.sources = SourcesView(self)
        self.sources.entry_requested.connect(self.entry_requested)
        self.editor = QPlainTextEdit(self)
        WholeLines(self.editor)
        self.editor.setAccessibleName("Text of the summary; it can be edited")
        self.editor.setTabChangesFocus(True)
        self.editor.textChanged.connect(self._edited)
        self.facts = Caption(parent=self, wraps=True)
        self.made = DraftRecordView(self)
        self.did = self.made.did
        self.sizes = QLabel(self)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        set_tone(self.problem, "lost")
        self.not_met = Caption(parent=self, wraps=True)
        self.place_note = QLabel(self)
        self.place_note.setWordWrap(True)
        self._place_words = ("", "")
        self.leaving: int | None = None
        """The leaf that a commit would leave, as it is shown; None at the leaf."""
        self._make_buttons()
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.streaming)
        area = WholeArea(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._build())
        self._area = area
        self._foot = self._build_foot()
        drafted = QWidget(self)
        whole = column_in(drafted, 0)
        whole.addWidget(area, 1)
        whole.addWidget(Hairline(parent=drafted))
        whole.addWidget(self._foot)
        self._pages.addWidget(drafted)
        outer = column_in(self)
        outer.addWidget(self._pages)
        bind_font(self.sizes, lambda: ui_font(2))
        bind_font(self.editor, ui_font)

    def _make_buttons(self) -> None:
        self.commit = self._button("Co&mmit", "Append the compaction with this text")
        self.commit.setProperty("kind", "primary")
        self.commit.clicked.connect(self._commit)
        self.fidelity = self._link(
            "What is &lacking…", "What this text should have kept, and what it states wrongly"
        )
        self.fidelity.clicked.connect(lambda: self.audit_asked.emit("fidelity"))
        self.check = self._link(
            "Chec&k and mend…", "What this text lost, and one more call to put it back, if you wish"
        )
        self.check.clicked.connect(lambda: self.audit_asked.emit("mend"))
        self.recall = self._link(
            "Recall…", "Questions on what would be summarized, to a model that sees this text"
        )
        self.recall.clicked.connect(lambda: self.audit_asked.emit("recall"))
        self.compare = self._link("Compa&re…", "This draft beside others, section by section")
        self.compare.clicked.connect(lambda: self.audit_asked.emit("compare"))
        self.again = self._button(
            "A&nother", "Go back, change what you like, and make another draft"
        )
        self.again.clicked.connect(self.again_asked)
        self.discard = self._button(
            "&Discard", "Give this draft up; nothing is stored in the session"
        )
        self.discard.clicked.connect(self._discard)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        return button

    def _link(self, text: str, tip: str) -> LinkButton:
        link = LinkButton(text, self)
        link.setToolTip(tip)
        return link

    def _build(self) -> QWidget:
        page = QWidget(self)
        right = self._text = QWidget(page)
        inner = column_in(right, S4, (S16, S8, S16, S8))
        caption = ElidedLabel("Draft, kept and yours to edit", page)
        bind_font(caption, small_font)
        set_tone(caption, "dim")
        explain(caption, "draft")
        inner.addWidget(caption)
        inner.addWidget(self.editor, 1)
        self.split = stacked(self.sources, right, SHARES, page)
        self.split.setHandleWidth(1)
        # It takes the room that there is: the page scrolls only below its least height.
        self.split.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._divided = False
        """Whether a person chose how high the two are."""
        self.split.splitterMoved.connect(self._divide)
        on_theme_changed(self._restyle)
        self._restyle()
        below = column_of(self.facts, self.made, spacing=S4, margins=(S16, S4, S16, S4))
        column = column_in(page, 0)
        column.addWidget(self.tabs)
        column.addWidget(self.split, 1)
        column.addLayout(below)
        return page

    def _build_foot(self) -> QWidget:
        """What stays visible: what is freed, what is wrong, and what can be done."""
        foot = QWidget(self)
        column = column_in(foot, S4, (S16, S4, S16, S12))
        column.addWidget(self.sizes)
        column.addWidget(self.not_met)
        column.addWidget(self.place_note)
        column.addWidget(self.problem)
        # What decides about it, and below that what can be asked first.
        column.addLayout(wrapping_row(self.commit, self.again, self.discard))
        column.addLayout(aligned_rows(self.fidelity, self.recall, self.check, self.compare))
        return foot

    def minimumSizeHint(self) -> QSize:
        """As wide as its widest part; where it is too low for all of them, it scrolls."""
        body = self._area.widget()
        bar = self._area.verticalScrollBar().sizeHint().width()
        wide = (body.minimumSizeHint().width() if body is not None else 0) + bar
        foot = self._foot.minimumSizeHint()
        return QSize(max(wide, foot.width()), foot.height() + scaled(60))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        beside = self.width() >= BESIDE
        self.split.setOrientation(Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical)
        # In a low page the text has the room: what it was made from is on the map.
        line, frame = self.editor.fontMetrics().lineSpacing(), scaled(16)
        lines = LEAST_LINES * line + frame
        least = self.sources.minimumHeight() + lines + scaled(BELOW)
        foot = self._foot.heightForWidth(self.width())
        both = beside or self.height() - foot >= least
        self.sources.setVisible(both)
        self.editor.setMinimumHeight(lines if both else FEW_LINES * line + frame)
        self.split.setMinimumHeight(self._text.minimumSizeHint().height())
        self._fit_place()
        if not self._divided:
            self.split.setSizes(SHARES)

    def _divide(self) -> None:
        self._divided = True

    def _restyle(self) -> None:
        self.sources.setMinimumHeight(scaled(110))

    # what happens ------------------------------------------------------------------------------

    def begin(self, model: str, purposes: list[str]) -> None:
        """Show that a draft is being made."""
        self._pages.setCurrentIndex(0)
        self.streaming.begin(model, purposes)

    def watch(self, model: str, purposes: list[str], message: str) -> None:
        """Show that a draft is made that was not started here."""
        self._pages.setCurrentIndex(0)
        self.streaming.begin(model, purposes, message, takes_focus=False)

    def finish(
        self,
        document: Document,
        draft: Draft,
        shown: Partition,
        takes_focus: bool = True,
        text: str | None = None,
    ) -> None:
        """Show a finished draft, in front of those made before; ``text``: as edited before."""
        self.streaming.end()
        self._document = document
        self._drafts.append(EditableDraft(draft, shown, draft.summary if text is None else text))
        self.tabs.blockSignals(True)
        self.tabs.addTab(f"Draft {self.tabs.count() + 1}, {draft.model}")
        self.tabs.setCurrentIndex(self.tabs.count() - 1)
        self.tabs.blockSignals(False)
        self.show_drafts(takes_focus)
        self.drafts_changed.emit()

    def show_drafts(self, takes_focus: bool = True) -> None:
        """Show the drafts that there are."""
        self.streaming.end()
        self.tabs.setVisible(len(self._drafts) > 1)
        self._pages.setCurrentIndex(1)
        self._switched(self.tabs.currentIndex())
        if takes_focus:
            self.editor.setFocus()

    def drafts(self) -> list[tuple[Draft, Partition, str]]:
        """The drafts that can be committed, in the order in which they were made, what each was
        made from, and their texts as they are edited by now."""
        return [(one.draft, one.shown, one.text) for one in self._drafts]

    @property
    def current(self) -> Draft | None:
        """The draft that is shown."""
        editable = self._current()
        return None if editable is None else editable.draft

    def clear(self) -> None:
        """Forget all drafts, and the session that they are of."""
        self._drafts, self._document = [], None
        self._counter.forget()
        self.sources.forget()
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        self.tabs.blockSignals(False)
        self.drafts_changed.emit()

    def remove(self, draft: object) -> bool:
        """Forget one draft; returns whether others are left."""
        for at, editable in enumerate(self._drafts):
            if editable.draft is draft:
                del self._drafts[at]
                self.tabs.removeTab(at)
                break
        if self._drafts:
            self.show_drafts()
        self.drafts_changed.emit()
        return bool(self._drafts)

    def _current(self) -> EditableDraft | None:
        at = self.tabs.currentIndex()
        return self._drafts[at] if 0 <= at < len(self._drafts) else None

    def _switched(self, _at: int) -> None:
        editable = self._current()
        if editable is None or self._document is None:
            return
        if isinstance(editable.shown.preparation, Preparation):
            self.sources.show_sources(self._document, editable.shown)
        else:
            self.sources.forget()
        self.editor.blockSignals(True)
        self.editor.setPlainText(editable.text)
        self.editor.blockSignals(False)
        self._count(editable)
        self._show_facts(editable)

    def _edited(self) -> None:
        editable = self._current()
        if editable is None:
            return
        editable.text = self.editor.toPlainText()
        self._count(editable)
        self._show_facts(editable)

    def _count(self, editable: EditableDraft) -> None:
        """Count the text, on a thread: a tokenizer may be at work in another thread."""
        document, text, profile = self._document, editable.text, editable.shown.preparation.profile
        if document is not None:
            self._counter.load(lambda: (editable, text, document.tokens.count_text(text, profile)))

    def _counted(self, found: tuple[EditableDraft, str, int]) -> None:
        editable, text, tokens = found
        if editable is self._current() and text == editable.text:
            editable.tokens = tokens
            self._show_facts(editable)

    def _show_facts(self, editable: EditableDraft) -> None:
        draft, shown = editable.draft, editable.shown
        parts, sum_ = [draft.model], ""
        if editable.tokens >= 0:
            before = shown.whole_before
            after = shown.whole_with(editable.tokens)
            # What is sent beyond the entries is known only with the next reply.
            about = MARK if shown.tokens_beyond else ""
            freed = f"frees {about}{short(before - after)}"
            self.sizes.setText(f"{short(before)} → {about}{short(after)}, {freed}")
            sum_ = f"{sum_words(shown, editable.tokens)}. "
            parts.insert(0, f"summary {full(editable.tokens)} tokens ({shown.counted_by})")
        else:
            self.sizes.setText("counting…")
        self.sizes.setToolTip(sum_ + beyond_words(shown))
        if draft.elapsed_ms:
            parts.append(f"{draft.elapsed_ms / 1000:.1f} s")
        written = f"{full(draft.output_tokens)} tokens written, as the model reports them"
        self.facts.setToolTip(written if draft.output_tokens else "")
        if editable.text != draft.summary:
            parts.append("edited")
        self.facts.setText(" · ".join(parts))
        self.made.show_draft(draft)
        self._show_place(editable)
        quotes = ", ".join(f"“{quote.rstrip('. ')}”" for quote in instructions_not_met(draft))
        self.not_met.setText(f"No line was picked for {quotes}; rules without a model do no more.")
        self.not_met.setVisible(bool(quotes))
        problem = editable.problem()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.commit.setEnabled(not problem)

    def _show_place(self, editable: EditableDraft) -> None:
        """A draft of another place moves the leaf there, which is announced before."""
        document, at = self._document, editable.shown.preparation.leaf
        if document is None:
            return
        words = leaving_words(document.tree, at, document.leaf)
        self.leaving = document.leaf if words else None
        self._place_words = (leaving_head(at, document.leaf), words) if words else ("", "")
        self._fit_place()
        self.place_note.setVisible(bool(words))
        self.commit.setText(commit_words(at, document.leaf))
        self.commit.setAccessibleDescription(words)

    def _fit_place(self) -> None:
        """Its first sentence alone in a low page, and the rest in its tip."""
        head, whole = self._place_words
        is_low = self.height() < scaled(LOW)
        self.place_note.setText(head if is_low else whole)
        self.place_note.setToolTip(whole if is_low else "")

    def refresh(self) -> None:
        """The leaf moved or entries were counted: what could be committed may not be any more,
        or again."""
        editable = self._current()
        if editable is None or self._document is None:
            return
        before = editable.shown
        editable.renew(self._document)
        if editable.shown is not before:
            self.sources.show_sources(self._document, editable.shown)
            self._count(editable)
        self._show_facts(editable)

    def _commit(self) -> None:
        editable = self._current()
        if editable is not None:
            self.commit_asked.emit(editable.draft, editable.text)

    def _discard(self) -> None:
        editable = self._current()
        if editable is not None:
            self.discard_asked.emit(editable.draft)
