"""What would go to a team, and how it goes: sessions with their size and what is masked in them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QLabel, QWidget

from explorer.services.publication import PublishPlan
from explorer.store import SessionRow
from ui.theme import S8, S12, S16
from ui.widgets.choice import ChoiceBox
from ui.widgets.dialogs import Dialog, fit, grow
from ui.widgets.figures import count, full, short
from ui.widgets.labels import Caption
from ui.widgets.notice import Notice, NoticeStrip
from ui.widgets.panels import column_in, column_of, enable_unless, push_button, row
from ui.widgets.progress import ProgressBar
from ui.widgets.table import RIGHT, Column, Table, TableModel

MOST_NAMED = 20
"""Entries with masked secrets that are named at most."""
READING = "reading…"


class Going(Struct):
    """A session that is to go, and how far it is."""

    session: SessionRow
    plan: PublishPlan | None = None
    state: str = READING
    is_there: bool = False
    """Whether the team has it as it is here."""

    def __hash__(self) -> int:
        return self.session.key


class PublishDialog(Dialog):
    """Nothing goes before its button is pressed."""

    library_chosen = Signal(str)
    publish_asked = Signal()
    stop_asked = Signal()

    def __init__(self, sessions: Sequence[SessionRow], names: Sequence[str], parent: QWidget):
        """``names``: of the libraries of teams."""
        super().__init__("Publish", parent)
        self.going = [Going(one) for one in sessions]
        self.notice = NoticeStrip(self)
        self.libraries = ChoiceBox(self)
        self.libraries.setAccessibleName("Library to publish into")
        self.libraries.addItems(list(names))
        self.libraries.setVisible(len(names) > 1)
        self.libraries.activated.connect(lambda _at: self.library_chosen.emit(self.library))
        self.who = QLabel(self)
        self.who.setWordWrap(True)
        self.table = Table(TableModel(_columns(), self), "Sessions to publish", self)
        self.table.restyle()
        self.table.current_changed.connect(lambda _one: self._show_masked())
        self.masked = Caption("", self, wraps=True)
        self.progress = ProgressBar(self)
        self.progress.setFixedWidth(160)
        self.how_far = Caption("", self)
        self.publish = push_button("&Publish", self, primary=True)
        self.publish.clicked.connect(self.publish_asked)
        self.leave = push_button("Cancel", self)
        self.leave.clicked.connect(self._leave)
        self._is_going = False
        self._lay_out()
        self.table.show_rows(self.going)
        fit(self, 860, min(480, 280 + 28 * len(self.going)))
        self.show_reading(0)

    def _lay_out(self) -> None:
        head = column_of(self.notice, spacing=0)
        lines = column_of(self.libraries, self.who, margins=(S16, S12, S16, S8))
        head.addLayout(lines)
        body = QWidget(self)
        column = column_in(body, S8)
        column.addWidget(self.table, 1)
        below = column_of(self.masked, margins=(S16, 0, S16, S8))
        column.addLayout(below)
        self.lay_out(head, body, row(self.progress, self.how_far, 1, self.publish, self.leave))

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().expandedTo(QSize(480, 320))

    @property
    def library(self) -> str:
        """The library to publish into."""
        return self.libraries.currentText()

    @property
    def left(self) -> list[Going]:
        """What is to go and has not gone."""
        return [one for one in self.going if one.plan is not None and not one.is_there]

    # how far it is -------------------------------------------------------------------------------

    def show_reading(self, done: int) -> None:
        """So many sessions were read."""
        self.who.setText(
            f"Everyone who may read {self.library} sees every line of all branches, the folder and "
            "the title. Secrets are masked, found by how they are written: read what you publish."
        )
        self._show_progress(done, len(self.going))
        self.how_far.setText(f"Reading what would go, {done:,} of {len(self.going):,}")
        enable_unless(self.publish, "It is being read what would go.")
        self._refresh()

    def show_ready(self) -> None:
        """All of them were read."""
        self.progress.hide()
        left = self.left
        size = sum(one.plan.characters for one in left if one.plan is not None)
        there = len(self.going) - len(left)
        parts = [f"{count(len(left), 'session')}, {short(size)} characters"] if left else []
        if there:
            parts.append(f"{count(there, 'session')} there already as here")
        self.how_far.setText(" · ".join(parts))
        self.publish.setText(f"&Publish {count(len(left), 'session')}" if left else "&Publish")
        enable_unless(self.publish, "" if left else "All of it is there already.")
        self.leave.setText("Cancel" if left else "Close")
        self._refresh()

    def show_going(self, at: Going, done: int, total: int, gone: int, of: int) -> None:
        """``done`` and ``total``: its entries; ``gone`` and ``of``: sessions."""
        self._is_going = True
        at.state = f"{100 * done // max(1, total)} %"
        self._show_progress(1000 * gone + 1000 * done // max(1, total), 1000 * of)
        self.how_far.setText(f"Publishing {gone + 1:,} of {count(of, 'session')}")
        enable_unless(self.publish, "They are on their way.")
        self.leave.setText("Stop")
        self._refresh()

    def show_notice(self, notice: Notice) -> None:
        """Say what went wrong, with room for it."""
        self.notice.show_notice(notice)
        grow(self, 860, 480)

    def show_end(self, words: str) -> None:
        """Say how it went."""
        self._is_going = False
        self.show_ready()
        self.how_far.setText(words or self.how_far.text())
        if not self.left:
            self.leave.setText("Close")
            self.leave.setFocus()

    def _leave(self) -> None:
        """Stop what is going, and stay to show how far it came; else close."""
        if self._is_going:
            self.stop_asked.emit()
        else:
            self.close()

    def _show_progress(self, done: int, total: int) -> None:
        self.progress.show()
        self.progress.setRange(0, max(1, total))
        self.progress.setValue(done)

    def _refresh(self) -> None:
        self.table.rows.refresh()
        self._show_masked()

    def _show_masked(self) -> None:
        one: Going | None = self.table.current
        plan = one.plan if one is not None else None
        if plan is None:
            self.masked.setText("")
        elif not plan.masked:
            self.masked.setText("No secret was found in it.")
        else:
            kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(plan.masked.items()))
            places = ", ".join(f"#{at}" for at in plan.masked_entries[:MOST_NAMED])
            more = ", …" if len(plan.masked_entries) > MOST_NAMED else ""
            self.masked.setText(
                f"Masked in it: {kinds}" + (f", in {places}{more}" if places else "")
            )


def _columns() -> tuple[Column[Going], ...]:
    return (
        Column("Title", lambda one: " ".join(one.session.title.split()) or "Untitled session",
               stretch=True, detail=lambda one: one.session.title),
        Column("Folder", lambda one: one.session.cwd or "no folder", width=200,
               detail=lambda one: one.session.cwd or None),
        Column("Entries", lambda one: full(one.session.entries), RIGHT, width=72),
        Column("Characters", lambda one: short(one.plan.characters) if one.plan else "", RIGHT,
               width=88),
        Column("Masked", lambda one: full(sum(one.plan.masked.values())) if one.plan else "",
               RIGHT, width=72, tip="Secrets that are masked"),
        Column("State", lambda one: one.state, width=140),
    )  # fmt: skip
