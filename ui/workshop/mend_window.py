"""Check and mend: what a summary lost, the request that has it mended, and the change before it
is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTextEdit,
    QWidget,
)

from explorer.audit.words import headline
from explorer.compaction.requests import MOST_FINDINGS, Lack
from explorer.facts.fact import (
    Fact,
)
from explorer.services.verification import Checked, Mended
from explorer.session.text_difference import (
    DifferencePiece,
    word_differences,
)
from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, scaled, set_tone, ui_font
from ui.widgets.dialogs import fit
from ui.widgets.figures import count
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, Hairline, LinkButton
from ui.widgets.marked import MarkedText
from ui.widgets.model_box import ModelBox
from ui.widgets.notice import Notice, NoticeStrip
from ui.widgets.panels import column_in, column_of, push_button, row, stacked
from ui.widgets.plain_text import StreamView
from ui.widgets.progress import ProgressBar
from ui.widgets.table import Column, Table, TableModel

BESIDE = 700
"""From this width on, at a text scale of 100 %, both texts stand side by side."""
SHOWN = 300
"""Characters of a text that a row shows."""


class MendWindow(QDialog):
    """Three pages: what is lost, the answer as it comes, the change. Does not block the window. It
    can be used when ``building`` is done."""

    asked = Signal(str)
    """The model that is to mend the text."""
    request_asked = Signal(str)
    """The exact request to this model is to be shown."""
    model_chosen = Signal(str)
    cancel_asked = Signal()
    taken = Signal()
    left = Signal()
    entry_requested = Signal(int)
    closing = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Check and mend")
        self.setModal(False)
        self._name = "the draft"
        """What is checked: a draft, or a compaction."""

    # building ----------------------------------------------------------------------------------

    def building(self) -> Iterator[None]:
        """Make its parts, in steps between which the window behind it answers."""
        self.notice = NoticeStrip(self)
        self.title = QLabel(self)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(2, bold=True))
        self.message = Caption(parent=self, wraps=True)
        self._pages = QStackedWidget(self)
        self._build_found()
        yield
        self._build_asking()
        yield
        self._build_change()
        yield
        self._build_foot()
        yield
        self._lay_out()
        yield
        fit(self, 980, 720)

    def _lay_out(self) -> None:
        head = column_of(self.title, self.message, spacing=S4, margins=(S16, S12, S16, S8))
        column = column_in(self, 0)
        column.addWidget(self.notice)
        column.addLayout(head)
        column.addWidget(self._pages, 1)
        column.addWidget(Hairline(parent=self))
        column.addWidget(self._foot)
        on_theme_changed(self._restyle)

    def _build_found(self) -> None:
        page = QWidget(self)
        columns: list[Column[Lack]] = [
            Column("What", lambda lack: lack.kind, fits=True),
            Column("Is", lambda lack: lack.lacking, fits=True),
            Column("The record says", lambda lack: _line(_record(lack)), stretch=True,
                   detail=lambda lack: (lack.line or _record(lack))[: 4 * SHOWN]),
            Column("Entry", lambda lack: f"#{lack.entry}" if lack.entry >= 0 else "", fits=True),
        ]  # fmt: skip
        name = "What was lost or is stated otherwise, the gravest first"
        self.lacks = Table(TableModel(columns), name, page)
        self.lacks.row_activated.connect(lambda lack: self._go(lack.entry))
        self.lacks.restyle()
        self.model = ModelBox(page)
        self.model.setAccessibleName("Model that mends")
        self.model.activated.connect(lambda _at: self.model_chosen.emit(self.chosen_model()))
        label = QLabel("Asked of", page)
        label.setBuddy(self.model)
        self.request = LinkButton("The exact re&quest ▸", page)
        self.request.clicked.connect(lambda: self.request_asked.emit(self.chosen_model()))
        self.cost = Caption(parent=page, wraps=True)
        column = column_in(page, S8, (S16, 0, S16, S8))
        column.addWidget(self.lacks, 1)
        column.addLayout(row(label, self.model, self.request, 1))
        column.addWidget(self.cost)
        self._pages.addWidget(page)

    def _build_asking(self) -> None:
        page = QWidget(self)
        self.progress = ProgressBar(page)
        self.progress.setRange(0, 0)
        self.progress.setAccessibleName("Under way")
        self.stream = StreamView(page)
        self.stream.setAccessibleName("The mended summary, as it is written")
        column = column_in(page, S8, (S16, 0, S16, S8))
        column.addWidget(self.progress)
        column.addWidget(self.stream, 1)
        self._pages.addWidget(page)

    def _build_change(self) -> None:
        page = QWidget(self)
        self._following = False
        self.before = MarkedText("As it is; what the mended one has not is marked", page)
        self.after = MarkedText("The mended draft; what is new in it is marked", page)
        for one, other in ((self.before, self.after), (self.after, self.before)):
            one.verticalScrollBar().valueChanged.connect(partial(self._follow, one, other))
        self.split = QSplitter(Qt.Orientation.Horizontal, page)
        self.split.setHandleWidth(S8)
        self.split.setProperty("apart", True)
        self.split.setChildrenCollapsible(False)
        for words, view in (("As it is", self.before), ("Mended", self.after)):
            side = QWidget(self.split)
            inner = column_in(side, S4)
            inner.addWidget(Caption(words, side))
            inner.addWidget(view, 1)
            self.split.addWidget(side)
        changes: list[Column[ChangedFact]] = [
            Column("", lambda row: row.change, fits=True),
            Column("What", lambda row: row.fact.kind.value, fits=True),
            Column("Text", lambda row: _line(row.fact.text), stretch=True,
                   detail=lambda row: row.fact.text[: 4 * SHOWN]),
        ]  # fmt: skip
        name = "What the mended draft regains, and what it loses"
        self.facts = Table(TableModel(changes), name, page)
        self.facts.row_activated.connect(lambda row: self._go(row.fact.last))
        self.facts.restyle()
        column = column_in(page, margins=(S16, 0, S16, S8))
        column.addWidget(stacked(self.split, self.facts, (3, 1), page))
        self._pages.addWidget(page)

    def _build_foot(self) -> None:
        self._foot = QWidget(self)
        foot = self._foot
        self.mend = push_button("&Mend it", foot, "Send this request to the model", primary=True)
        self.mend.clicked.connect(lambda: self.asked.emit(self.chosen_model()))
        self.stop = push_button("&Cancel", foot, "Stop; nothing is changed")
        self.stop.clicked.connect(self.cancel_asked)
        tip = "Take the mended text as a draft, to be edited and committed"
        self.take = push_button("&Take it", foot, tip, primary=True)
        self.take.clicked.connect(self.taken)
        tip = "Give the mended text up; nothing is changed"
        self.leave = push_button("&Leave it", foot, tip)
        self.leave.clicked.connect(self.left)
        self.done_button = push_button("C&lose", foot)
        self.done_button.clicked.connect(self.close)
        buttons = (self.mend, self.take, self.leave, self.stop, self.done_button)
        foot.setLayout(wrapping_row(*buttons, margins=(S16, S8, S16, S12), closes=self.done_button))

    def _show_page(self, number: int, *buttons: QPushButton) -> None:
        self._pages.setCurrentIndex(number)
        for button in (self.mend, self.take, self.leave, self.stop, self.done_button):
            button.setVisible(button in buttons)

    # what is shown -----------------------------------------------------------------------------

    def chosen_model(self) -> str:
        """The id of the model chosen."""
        return str(self.model.currentData() or "")

    @property
    def stays(self) -> str:
        """What is unchanged where nothing came of it."""
        return f"{self._name[:1].upper()}{self._name[1:]} stays as it is."

    @property
    def _unchanged(self) -> str:
        if self._name.startswith("compaction"):
            return f"{self.stays} What you take is a draft of the same entries, to be committed."
        return f"{self.stays[:-1]} until you take the other."

    def checking(self, name: str) -> None:
        """A summary is being checked; nothing is sent for that."""
        self._name = name
        self.notice.dismiss()
        self.title.setText(f"Checking {name}")
        self.message.setText("Reading what it takes the place of. No model is asked.")
        self.stream.begin()
        self._show_page(1, self.stop)

    def show_checked(self, checked: Checked, models: Sequence[tuple[str, str]], model: str) -> None:
        """Show what was found, and who could be asked."""
        self.title.setText(headline(checked.fidelity))
        if not checked.lacks:
            self.message.setText("No finding: there is nothing to ask for.")
        else:
            more = (
                f" The {MOST_FINDINGS} gravest are listed."
                if len(checked.lacks) > MOST_FINDINGS
                else ""
            )
            self.message.setText(f"Mending is one more call, with the summary and this list.{more}")
        self.lacks.rows.show(checked.lacks)
        self.model.set_models(models, model)
        self._show_page(0, self.mend, self.done_button)
        self.mend.setEnabled(bool(checked.lacks))
        self.request.setEnabled(bool(checked.lacks))
        (self.mend if checked.lacks else self.done_button).setFocus()

    def show_cost(self, words: str, possible: bool) -> None:
        """Show what the request takes, or why there is none."""
        self.cost.setText(words)
        set_tone(self.cost, "dim" if possible else "lost")
        self.mend.setEnabled(possible)

    def asking(self, model: str) -> None:
        """Show that the request was sent."""
        self.notice.dismiss()
        self.title.setText(f"{model} is asked to mend it")
        self.message.setText(self._unchanged)
        self.stream.begin()
        self._show_page(1, self.stop)
        self.stop.setFocus()

    def show_found_again(self, notice: Notice) -> None:
        """Show the findings again after a failure or a stop."""
        self.stream.finish()
        self.notice.show_notice(notice)
        self.title.setText("Not mended")
        self.message.setText(self._unchanged)
        self._show_page(0, self.mend, self.done_button)
        self.mend.setFocus()

    def show_mended(self, mended: Mended, facts: str) -> None:
        """Show the change, to be taken or left."""
        self.stream.finish()
        before = mended.before
        gained, gone = len(mended.regained), len(mended.lost)
        self.title.setText(f"{count(gained, 'thing')} regained, {gone:,} lost by it")
        self.message.setText(f"{facts}. {self._unchanged}")
        mine, theirs = word_differences(before.text, mended.draft.summary)
        self.before.show_pieces(mine, "Empty")
        self.after.show_pieces(theirs, "Empty")
        _reveal(self.after, theirs)
        changed = [ChangedFact("+ regained", fact) for fact in mended.regained]
        changed += [ChangedFact("− lost by it", fact) for fact in mended.lost]
        self.facts.rows.show(changed)
        self.facts.setVisible(bool(gained or gone))
        self._show_page(2, self.take, self.leave)
        self.take.setFocus()

    def _follow(self, one: QTextEdit, other: QTextEdit, _value: int) -> None:
        """Both texts are read at the same place."""
        if self._following:
            return
        self._following = True
        bar, its = one.verticalScrollBar(), other.verticalScrollBar()
        share = bar.value() / bar.maximum() if bar.maximum() else 0.0
        its.setValue(round(share * its.maximum()))
        self._following = False

    def _go(self, entry: int) -> None:
        if entry >= 0:
            self.entry_requested.emit(entry)

    # keys and sizes ----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent, /) -> None:
        super().hideEvent(event)
        self.closing.emit()

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._restyle()

    def _restyle(self) -> None:
        beside = self.width() >= scaled(BESIDE)
        self.split.setOrientation(Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical)


def _reveal(view: QTextEdit, pieces: Sequence[DifferencePiece]) -> None:
    """Show the first stretch that the other text has not."""
    at = 0
    for piece in pieces:
        if piece.differs:
            cursor = view.textCursor()
            last = view.document().characterCount() - 1
            cursor.setPosition(min(at + len(piece.text) // 2, last))
            view.setTextCursor(cursor)
            view.ensureCursorVisible()
            return
        at += len(piece.text.encode("utf-16-le", "surrogatepass")) // 2


class ChangedFact(NamedTuple):
    """A fact that the mended draft has and the draft had not, or the other way round."""

    change: str
    fact: Fact


def _line(text: str) -> str:
    return " ".join(text.split())[:SHOWN]


def _record(lack: Lack) -> str:
    """What the record states, and what the summary states instead."""
    if lack.stated and lack.stated != lack.text:
        return f"{lack.text}   (the summary: {lack.stated})"
    return lack.text
