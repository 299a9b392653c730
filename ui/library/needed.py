"""What was needed again after compactions in the sessions that are shown: by agent and more, by
settings, and after which compactions most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from explorer.services.bulk_report import LEAST_COMPACTIONS, Cost, ManyAudits, Settings, Worst
from ui.audit.known import spoken
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, set_tone, small_font, theme, ui_font
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import count, full, short
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.panels import column_in, inset, row
from ui.widgets.progress import ProgressBar
from ui.widgets.table import RIGHT, Column, Table, TableModel

Shown = TypeVar("Shown", Cost, Settings, Worst)

SETTINGS, WORST = "settings", "worst"
"""Views that are no groups, by field of ``ManyAudits``."""
MEANING = (
    "Done again after a compaction though nothing had changed and the model saw it no more, as far "
    "as that is proved. In brackets: for each compaction."
)
NO_EXPERIMENT = (
    "What happened, and no experiment: agents, tasks and sizes differ between the rows. Settings "
    f"with fewer than {LEAST_COMPACTIONS} compactions are left out."
)
_MEANINGS = {SETTINGS: NO_EXPERIMENT}
_NOTHING = {
    SETTINGS: f"No settings have {LEAST_COMPACTIONS} compactions yet.",
    WORST: "Nothing was found to be needed again.",
}
"""By view: what is said below its rows, and where it has none."""
NONE = "None of these sessions has a compaction."
_MOST_ROWS = 8
"""Rows that are shown without scrolling."""
_GROUPS: Mapping[str, tuple[str, str]] = {
    "agents": ("Agent", "The agent that wrote the sessions"),
    "models": ("Model", "The model that answered last before each compaction"),
    "profiles": ("Profile", "By whose rules each compaction was made, where it is known"),
    "projects": ("Project", "The last part of the sessions' folders"),
    "weeks": ("Week from", "The Monday of the week of each compaction, in UTC"),
}
"""By field of ``ManyAudits``: the heading of its names, and what they are."""
VIEWS: Mapping[str, str] = {
    **{field: f"by {title.split()[0].lower()}" for field, (title, _) in _GROUPS.items()},
    SETTINGS: "by settings, the least first",
    WORST: "the costliest compactions",
}
"""By field of ``ManyAudits``: what the box says."""


def answer_of(found: ManyAudits) -> str:
    """After which agent's compactions the most was said again, and read again or back, and under
    which settings the least was needed, in sentences."""
    agents = found.agents
    words = [
        _most(
            agents, "Said again", "Nothing was found that was said again",
            lambda one: one.said_again,
        ),
        _most(
            agents, "Files read again or back", "No file was found that was read again or back",
            lambda one: one.read_again,
        ),
    ]  # fmt: skip
    if len(found.settings) > 1:
        least = found.settings[0]
        words.append(
            f"Least was needed again with {least.rules}, {least.before} before and {least.kept}"
            f" kept: {short(round(least.cost.each))} tokens for each compaction."
        )
    return " ".join(words) if agents else ""


def _most(agents: Sequence[Cost], what: str, none: str, of: Callable[[Cost], int]) -> str:
    first = max(agents, key=lambda one: of(one) / one.compactions, default=None)
    if first is None or not of(first):
        return f"{none}."
    times = "once" if of(first) == 1 else f"{of(first):,} times"
    after = count(first.compactions, "compaction")
    often = " most often" if len(agents) > 1 else ""
    return f"{what}{often}: {times} after {after} of {first.name}."


class NeededState(Struct, frozen=True):
    """How far it is, in sessions with a compaction."""

    wanted: int = 0
    done: int = 0
    failed: int = 0
    is_running: bool = False
    folder: str = ""
    """Whose audits are shown in place of those of the sessions that are listed."""

    @property
    def left(self) -> int:
        """The number of sessions that are not audited yet."""
        return self.wanted - self.done - self.failed

    @property
    def words(self) -> str:
        """In a sentence."""
        if self.folder:
            failed = f"; {self.failed:,} could not be audited" if self.failed else ""
            return f"{count(self.done, 'session')} in {self.folder}, whatever is listed{failed}"
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
    folder_asked = Signal(bool)
    """Whether audits of a folder are to be shown, or those of the sessions that are listed."""
    opened = Signal(object)
    """``Worst``: a compaction is to be shown in its session."""
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._found: ManyAudits | None = None
        self._state = NeededState()
        self.title = QLabel("Needed again after compactions", self)
        bind_font(self.title, lambda: ui_font(0, bold=True))
        self.view = ChoiceBox(self)
        self.view.setAccessibleName("What was needed again")
        for field, words in VIEWS.items():
            self.view.addItem(words, field)
        self.view.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.view.currentIndexChanged.connect(lambda _at: self._show_view())
        self.words = ElidedLabel("", self)
        bind_font(self.words, small_font)
        set_tone(self.words, "dim")
        self.progress = ProgressBar(self)
        self.progress.setFixedWidth(120)
        self.progress.setAccessibleName("Sessions worked out")
        self.stop_link = LinkButton("Stop", self)
        self.stop_link.clicked.connect(self.stop_asked)
        self.go_on_link = LinkButton("Work out the rest", self)
        self.go_on_link.clicked.connect(self.go_on_asked)
        self.folder_link = LinkButton("", self)
        self.folder_link.clicked.connect(lambda: self.folder_asked.emit(not self._state.folder))
        self.close_link = LinkButton("Hide", self)
        self.close_link.setAccessibleName("Hide what was needed again")
        self.close_link.clicked.connect(self.closed)
        for link in (self.stop_link, self.go_on_link, self.folder_link, self.close_link):
            bind_font(link, small_font)
        self.table = Table(TableModel(_COLUMNS["agents"], self), "What was needed again", self)
        self.settings = Table(TableModel(_settings_columns(), self), "Settings", self)
        self.worst = Table(TableModel(_worst_columns(), self), "The costliest compactions", self)
        self.worst.row_activated.connect(self.opened)
        self.worst.clicked.connect(lambda at: self.worst.activate(at) if at.column() == 0 else None)
        self._tables = (self.table, self.settings, self.worst)
        for table in self._tables:
            table.setFrameShape(QFrame.Shape.NoFrame)
            table.restyle()
        self.answer = QLabel("", self)
        self.answer.setWordWrap(True)
        self.meaning = Caption(MEANING, self, wraps=True)
        self._lay_out()
        self.show_needs(None, NeededState())
        self.hide()

    def _lay_out(self) -> None:
        head = row(
            self.title, self.view, self.words, self.progress, self.stop_link, self.go_on_link,
            self.folder_link, self.close_link, spacing=S12, wide=self.words,
        )  # fmt: skip
        head.setContentsMargins(S16, S4, S16, 0)
        answer = row(self.answer, wide=self.answer)
        answer.setContentsMargins(S16, 0, S16, 0)
        foot = row(self.meaning, wide=self.meaning)
        foot.setContentsMargins(S16, 0, S16, 0)
        column = column_in(self, S8)
        column.addLayout(head)
        column.addLayout(answer)
        for table in self._tables:
            column.addLayout(inset(table, (S8, 0, S8, 0)))
        column.addLayout(foot)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_needs(self, found: ManyAudits | None, state: NeededState) -> None:
        """Show what is known so far, None for nothing, and how far it is."""
        links = (self.stop_link, self.go_on_link)
        had_focus = any(link.hasFocus() for link in links)
        self._found, self._state = found, state
        self.words.setText(state.words)
        self.progress.setVisible(state.is_running)
        self.progress.setMaximum(max(1, state.wanted))
        self.progress.setValue(state.done + state.failed)
        self.stop_link.setVisible(state.is_running)
        may_go_on = not state.is_running and not state.folder
        self.go_on_link.setVisible(may_go_on and bool(state.left or state.failed))
        self.go_on_link.setText("Work out the rest" if state.left else "Try again")
        self.folder_link.setText("Show what is listed" if state.folder else "Open audits…")
        self.folder_link.setToolTip(
            "Work it out for the sessions in the list above"
            if state.folder
            else "Show the tables that `audit --all --out FOLDER` has written"
        )
        words = answer_of(found) if found is not None else ""
        self.answer.setText(f"So far: {words}" if words and state.is_running else words)
        self.answer.setVisible(bool(words))
        self._show_view()
        if had_focus and not any(link.hasFocus() for link in links):
            next((link for link in links if not link.isHidden()), self.close_link).setFocus()

    def _show_view(self) -> None:
        field, found = self.view.currentData(), self._found
        rows: Sequence[Any] = getattr(found, field) if found is not None else ()
        table = {SETTINGS: self.settings, WORST: self.worst}.get(field, self.table)
        some = found is not None and found.whole.compactions > 0
        for one in self._tables:
            one.setVisible(one is table and bool(rows))
        self.view.setVisible(some)
        self.meaning.setVisible(some)
        self.meaning.setText(_MEANINGS.get(field, MEANING) if rows else _NOTHING.get(field, ""))
        if field in _COLUMNS:
            table.rows.columns = _COLUMNS[field]
        # Who is not in the table has chosen no row.
        now = table.current if table.hasFocus() else None
        same = (one for one in rows if now is not None and _name(one) == _name(now))
        table.show_rows(rows, next(same, None))
        shown = min(_MOST_ROWS, max(1, len(rows)))
        header = table.horizontalHeader().sizeHint().height()
        table.setFixedHeight(header + shown * table.row_height() + S8)


def _name(row: Cost | Settings | Worst) -> object:
    """What a row is about, whatever its figures are by now."""
    if isinstance(row, Worst):
        return [row.row[name] for name in ("library", "session", "compaction")]
    return row.name if isinstance(row, Cost) else (row.rules, row.before, row.kept)


def _group_columns(field: str) -> list[Column[Cost]]:
    title, tip = _GROUPS[field]
    return [
        Column(title, lambda one: one.name, stretch=True, detail=lambda one: one.name,
               sort_key=lambda one: one.name.casefold(), tip=tip),
        _figure("Sessions", lambda one: full(one.sessions), lambda one: one.sessions,
                "Sessions with such a compaction on their active path", 76),
        _figure("Compactions", lambda one: full(one.compactions), lambda one: one.compactions,
                "Compactions on the active paths", 100),
        _each("Needed again", lambda one: one.needed,
              "All that was asked for, read, run, looked for or undone again", 120),
        _each("Said again", lambda one: one.said_again, "What the person asked for again", 110,
              shown_from=860),
        _each("Files read", lambda one: one.read_again,
              "Files that were read again, or read back after they were written", 110,
              shown_from=860),
        _figure("Tokens", lambda one: short(one.tokens), lambda one: one.tokens,
                "What all of it took the second time", 84),
        _figure("Cost", lambda one: one.money, lambda one: one.dollars,
                "These tokens at the listed price of the models' input, paid once; ≥ where models "
                "without a listed price are among them", 84,
                spoken=lambda one: spoken(one.money)),
    ]  # fmt: skip


def _settings_columns() -> list[Column[Settings]]:
    return [
        Column("Profile, or agent", lambda one: one.rules, stretch=True,
               sort_key=lambda one: one.rules.casefold(),
               tip="By whose rules the compactions were made; the agent where no profile has them"),
        Column("Context before", lambda one: one.before, width=140,
               tip="Tokens of the context before a compaction"),
        Column("Kept word for word", lambda one: one.kept, width=140,
               tip="Tokens of it that were kept as they were"),
        _figure("Compactions", lambda one: full(one.cost.compactions),
                lambda one: one.cost.compactions, "Compactions with these settings", 100),
        _figure("With needs",
                lambda one: f"{100 * one.cost.needing / one.cost.compactions:.0f} %",
                lambda one: one.cost.needing / one.cost.compactions,
                "Compactions after which something was needed again", 92),
        _figure("Tokens again, each", lambda one: full(round(one.cost.each)),
                lambda one: one.cost.each, "What that took, for each compaction", 130),
    ]  # fmt: skip


def _title(one: Worst) -> str:
    return " ".join(str(one.session["title"]).split()) or "Untitled session"


def _worst_columns() -> list[Column[Worst]]:
    return [
        Column("Session", _title, stretch=True, sort_key=lambda one: _title(one).casefold(),
               tip="Opens the session at the compaction", detail=_title,
               colour=lambda one: theme().accent),
        Column("Agent", lambda one: one.row["agent"], width=130,
               sort_key=lambda one: one.row["agent"].casefold()),
        _figure("Compaction", lambda one: f"#{one.row['compaction']}",
                lambda one: one.row["compaction"], "Its entry", 92),
        _figure("Needed again", lambda one: full(one.row["needed_again"]),
                lambda one: one.row["needed_again"], "What was needed again because of it", 110),
        _figure("Tokens again", lambda one: full(one.row["needed_again_tokens"]),
                lambda one: one.row["needed_again_tokens"], "What that took the second time", 110),
    ]  # fmt: skip


def _each(
    title: str, of: Callable[[Cost], int], tip: str, width: int, shown_from: int = 0
) -> Column[Cost]:
    """A number, and how many it is for each compaction."""

    def text(one: Cost) -> str:
        return f"{of(one):,} ({of(one) / one.compactions:.2f})"

    def aloud(one: Cost) -> str:
        return f"{of(one):,}, {of(one) / one.compactions:.2f} for each compaction"

    return _figure(
        title, text, lambda one: of(one) / one.compactions,
        f"{tip}; in brackets: for each compaction", width, shown_from, aloud,
    )  # fmt: skip


def _figure(
    title: str,
    text: Callable[[Shown], str],
    key: Callable[[Shown], float],
    tip: str,
    width: int,
    shown_from: int = 0,
    spoken: Callable[[Shown], str] | None = None,
) -> Column[Shown]:
    return Column(
        title, text, RIGHT, key, tip, width, shown_from=shown_from, spoken=spoken,
        font=lambda one: None if text(one) == "not known" else mono_font(-0.5),
        colour=lambda one: theme().dim if text(one) == "not known" else None,
    )  # fmt: skip


_COLUMNS = {field: _group_columns(field) for field in _GROUPS}
