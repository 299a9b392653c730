"""What was needed again after compactions, by agent, in the sessions that are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QSizePolicy, QWidget

from explorer.compaction.reasons import tokens_text
from explorer.services.bulk_audit import AgentNeeds
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, small_font, theme, ui_font
from ui.widgets.figures import count, full
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.panels import column_in, row
from ui.widgets.table import RIGHT, Column, Table, TableModel

MEANING = (
    "Done again after a compaction although nothing had changed and the model saw nothing of it "
    "any more, on the active path of each session. In brackets: for each compaction."
)
NONE = "None of these sessions has a compaction."
_MOST_ROWS = 8
"""Agents that are shown without scrolling."""


def answer_of(needs: Sequence[AgentNeeds]) -> str:
    """After which agent's compactions the most was said again, and read again, in sentences."""
    words = [
        _most(
            needs, "Said again most often", "Nobody said anything again", lambda one: one.said_again
        ),
        _most(
            needs,
            "Files read again most often",
            "No file was read again",
            lambda one: one.read_again,
        ),
    ]
    return " ".join(words) if needs else ""


def _most(
    needs: Sequence[AgentNeeds], most: str, none: str, of: Callable[[AgentNeeds], int]
) -> str:
    first = max(needs, key=lambda one: of(one) / one.compactions, default=None)
    if first is None or not of(first):
        return f"{none}."
    times = "once" if of(first) == 1 else f"{of(first):,} times"
    after = count(first.compactions, "compaction")
    return f"{most}: {times} after {after} of {first.agent}."


class NeededState(Struct, frozen=True):
    """How far it is, in sessions with a compaction."""

    wanted: int = 0
    done: int = 0
    failed: int = 0
    is_running: bool = False

    @property
    def left(self) -> int:
        """The number of sessions that are not audited yet."""
        return self.wanted - self.done - self.failed

    @property
    def words(self) -> str:
        """In a sentence."""
        if not self.wanted:
            return NONE
        every = count(self.wanted, "session")
        if self.left or self.failed:
            words = f"{self.done:,} of {every} with a compaction worked out"
        else:
            words = f"{every} with a compaction worked out, each on its active path"
        return f"{words}; {self.failed:,} could not be read" if self.failed else words


class NeededPanel(QWidget):
    """Hidden until it is asked for."""

    stop_asked = Signal()
    go_on_asked = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = QLabel("Needed again after compactions", self)
        bind_font(self.title, lambda: ui_font(0, bold=True))
        self.words = Caption("", self)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(120)
        self.progress.setAccessibleName("Sessions worked out")
        self.stop_link = LinkButton("Stop", self)
        self.stop_link.clicked.connect(self.stop_asked)
        self.go_on_link = LinkButton("Work out the rest", self)
        self.go_on_link.clicked.connect(self.go_on_asked)
        self.close_link = LinkButton("Hide", self)
        self.close_link.setAccessibleName("Hide what was needed again")
        self.close_link.clicked.connect(self.closed)
        for link in (self.stop_link, self.go_on_link, self.close_link):
            bind_font(link, small_font)
        self.table = Table(TableModel(_columns(), self), "What was needed again, by agent", self)
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.restyle()
        self.answer = QLabel("", self)
        self.answer.setWordWrap(True)
        self.meaning = Caption(MEANING, self, wraps=True)
        head = row(
            self.title, self.words, 1, self.progress, self.stop_link, self.go_on_link,
            self.close_link, spacing=S12,
        )  # fmt: skip
        head.setContentsMargins(S16, S4, S16, 0)
        answer = row(self.answer, wide=self.answer)
        answer.setContentsMargins(S16, 0, S16, 0)
        foot = row(self.meaning, wide=self.meaning)
        foot.setContentsMargins(S16, 0, S16, 0)
        column = column_in(self, S8)
        column.addLayout(head)
        column.addLayout(answer)
        column.addWidget(self.table)
        column.addLayout(foot)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.show_needs((), NeededState())
        self.hide()

    def show_needs(self, needs: Sequence[AgentNeeds], state: NeededState) -> None:
        """Show what is known so far, and how far it is."""
        links = (self.stop_link, self.go_on_link)
        had_focus = any(link.hasFocus() for link in links)
        self.words.setText(state.words)
        self.progress.setVisible(state.is_running)
        self.progress.setMaximum(max(1, state.wanted))
        self.progress.setValue(state.done + state.failed)
        self.stop_link.setVisible(state.is_running)
        self.go_on_link.setVisible(not state.is_running and bool(state.left or state.failed))
        self.go_on_link.setText("Work out the rest" if state.left else "Try again")
        self.meaning.setVisible(bool(state.wanted))
        self.table.setVisible(bool(needs))
        self.answer.setVisible(bool(needs))
        self.answer.setText(f"So far: {answer_of(needs)}" if state.is_running else answer_of(needs))
        # Who is not in the table has chosen no row.
        self.table.show_rows(needs, self.table.current if self.table.hasFocus() else None)
        rows = min(_MOST_ROWS, max(1, len(needs)))
        header = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(header + rows * self.table.row_height() + S4)
        if had_focus and not any(link.hasFocus() for link in links):
            next((link for link in links if not link.isHidden()), self.close_link).setFocus()


def _columns() -> list[Column[AgentNeeds]]:
    return [
        Column("Agent", lambda one: one.agent, stretch=True,
               sort_key=lambda one: one.agent.casefold(), tip="The agent that wrote the sessions"),
        _figure("Sessions", lambda one: full(one.sessions), lambda one: one.sessions,
                "Sessions with a compaction on their active path", 76),
        _figure("Compactions", lambda one: full(one.compactions), lambda one: one.compactions,
                "Compactions on the active paths", 100),
        _each("Said again", lambda one: one.said_again, "What the person asked for again", 120),
        _each("Read again", lambda one: one.read_again, "Files that were read again", 120),
        _each("Other", lambda one: one.others,
              "Commands run again, searches made again, failures met again, edits taken back", 120,
              shown_from=720),
        _figure("Tokens", lambda one: tokens_text(one.tokens), lambda one: one.tokens,
                "What all of it took the second time", 84),
        _figure("Expected without a compaction", _expected, lambda one: one.expected,
                "How many would be expected in stretches of the same length without a compaction, "
                "and how many were found that can be compared with that", 220),
    ]  # fmt: skip


def _expected(one: AgentNeeds) -> str:
    if not one.compared and not one.expected:
        return "not known"
    return f"{one.expected:,.1f}, where {one.compared:,} were found"


def _each(
    title: str, of: Callable[[AgentNeeds], int], tip: str, width: int, shown_from: int = 0
) -> Column[AgentNeeds]:
    """A number, and how many it is for each compaction."""

    def text(one: AgentNeeds) -> str:
        return f"{of(one):,} ({of(one) / one.compactions:.2f})"

    def spoken(one: AgentNeeds) -> str:
        return f"{of(one):,}, {of(one) / one.compactions:.2f} for each compaction"

    return _figure(
        title, text, lambda one: of(one) / one.compactions,
        f"{tip}; in brackets: for each compaction", width, shown_from, spoken,
    )  # fmt: skip


def _figure(
    title: str,
    text: Callable[[AgentNeeds], str],
    key: Callable[[AgentNeeds], float],
    tip: str,
    width: int,
    shown_from: int = 0,
    spoken: Callable[[AgentNeeds], str] | None = None,
) -> Column[AgentNeeds]:
    return Column(
        title, text, RIGHT, key, tip, width, shown_from=shown_from, spoken=spoken,
        font=lambda one: None if text(one) == "not known" else mono_font(-0.5),
        colour=lambda one: theme().dim if text(one) == "not known" else None,
    )  # fmt: skip
