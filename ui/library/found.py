"""Sessions that were found on this computer, to be chosen for import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from explorer.formats.registry import ADAPTERS
from explorer.services.discovery import ListedSession, Scan, SessionGroup
from ui import theme
from ui.audit.known import NOT_RECORDED
from ui.widgets.dialogs import fit
from ui.widgets.figures import count, moment, size
from ui.widgets.panels import column_in, enable_unless, stacked
from ui.widgets.table import LEFT, RIGHT, Column, Table, TableModel


class FoundDialog(QDialog):
    """Projects above, sessions below, with check boxes. Ticking a project ticks its sessions;
    nothing is imported unasked."""

    import_chosen = Signal(list, bool)
    """The sessions (``ListedSession``), and whether they are all that were not stored yet."""

    def __init__(self, found: Scan, keeps_up: bool, parent: QWidget) -> None:
        """``keeps_up``: whether sessions are looked for at each start."""
        super().__init__(parent)
        self.setWindowTitle("Sessions on this computer")
        self._found = found
        self._groups = found.groups()
        self._texts = [_searched(one) for one in found.sessions]
        layout = column_in(self, theme.S8, (theme.S16, theme.S16, theme.S16, theme.S12))
        self.summary = QLabel(summary(found), self)
        self.summary.setWordWrap(True)
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText("Filter by agent, folder, title or file")
        self.filter.setAccessibleName("Filter")
        self.filter.textChanged.connect(self._filter)
        self.projects = self._table(_project_columns(self._groups), "Projects")
        self.list = self._table(_session_columns(found), "Sessions found")
        self.projects.rows.row_ticked.connect(self._tick_project)
        self.list.rows.row_ticked.connect(self._count)
        tables = stacked(self.projects, self.list, (1, 2), self)
        self.keep_up = QCheckBox("&Look again at each start, and keep them up to date", self)
        self.keep_up.setChecked(keeps_up)
        self._add_buttons()
        has_sessions = bool(found.sessions)
        for part in (self.summary, self.filter, tables, self.keep_up, self.buttons):
            layout.addWidget(part, 1 if part is tables else 0)
        needs_sessions: tuple[QWidget, ...] = (self.filter, tables, self.take, self.take_all)
        for widget in needs_sessions:
            widget.setVisible(has_sessions)
        fit(self, 1040, 560 if has_sessions else 180)
        self._filter("")

    def _table(self, columns: list[Column[int]], name: str) -> Table:
        table = Table(TableModel(columns, has_ticks=True), name, self)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.restyle()
        return table

    def _add_buttons(self) -> None:
        self.buttons = QDialogButtonBox(self)
        role, standard = QDialogButtonBox.ButtonRole, QDialogButtonBox.StandardButton
        self.take = self.buttons.addButton("Import ticked", role.ActionRole)
        self.take_all = self.buttons.addButton("Import all", role.AcceptRole)
        self.take_all.setProperty("kind", "primary")
        self.take_all.style().polish(self.take_all)
        has_sessions = bool(self._found.sessions)
        self.buttons.addButton(standard.Cancel if has_sessions else standard.Close)
        self.take.clicked.connect(lambda: self._choose(self._ticked(), False))
        self.buttons.accepted.connect(self._choose_all)
        self.buttons.rejected.connect(self.reject)

    def _ticked(self) -> list[int]:
        return [at for at in self.list.rows.rows if at in self.list.rows.ticked]

    def _waiting(self) -> list[int]:
        """Of those that are shown: the ones not stored yet, or changed since."""
        return [at for at in self.list.rows.rows if self._found.sessions[at].state != "stored"]

    def _count(self) -> None:
        ticked, waiting = len(self._ticked()), len(self._waiting())
        self.take.setText(f"Import {ticked:,}" if ticked else "Import ticked")
        enable_unless(self.take, "" if ticked else "Tick the sessions to import first.")
        shown = " shown" if self.filter.text().strip() else ""
        self.take_all.setText(f"Import all {waiting:,}{shown}" if waiting else "All are imported")
        self.take_all.setEnabled(waiting > 0)
        shown_rows, chosen = set(self.list.rows.rows), self.list.rows.ticked
        for group in self.projects.rows.rows:
            inside = shown_rows.intersection(self._groups[group].sessions)
            self.projects.rows.tick((group,), bool(inside) and inside <= chosen)

    def _tick_project(self, group: int) -> None:
        shown = set(self.list.rows.rows)
        rows = [at for at in self._groups[group].sessions if at in shown]
        self.list.rows.tick(rows, group in self.projects.rows.ticked)
        self._count()

    def _filter(self, typed: str) -> None:
        words = typed.casefold().split()
        fitting = [at for at, text in enumerate(self._texts) if all(w in text for w in words)]
        shown = set(fitting)
        self.list.show_rows(fitting)
        self.projects.show_rows(
            [at for at, one in enumerate(self._groups) if not shown.isdisjoint(one.sessions)]
        )
        self._count()

    def _choose_all(self) -> None:
        self._choose(self._waiting(), not self.filter.text().strip())

    def _choose(self, rows: list[int], are_all: bool) -> None:
        self.import_chosen.emit([self._found.sessions[at] for at in rows], are_all)
        self.accept()


def summary(found: Scan) -> str:
    """What was found, and what could not be searched, in sentences."""
    failures = "".join(
        f"\n{one.where} could not be searched to the end: {one.reason}." for one in found.failures
    )
    if not found.sessions:
        agents = ", ".join(adapter.title for adapter in ADAPTERS.values())
        return (
            f"No session was found in the usual places of {agents}. Files in other places can be "
            f"imported by name or dropped on the window, and Settings, Sessions names more places."
            f"{failures}"
        )
    stored = sum(one.state == "stored" for one in found.sessions)
    agents = count(len({one.agent for one in found.sessions}), "agent")
    known = f" {stored:,} of them are here already." if stored else ""
    return (
        f"{count(len(found.sessions), 'session')} of {agents} found, {size(found.size)}.{known} "
        f"What is imported is copied into the library; the files stay as they are.{failures}"
    )


def _searched(one: ListedSession) -> str:
    return f"{one.agent} {one.found.cwd} {one.title} {one.found.path}".casefold()


def _title(one: ListedSession) -> str:
    """As the list of sessions has it; not of every file does the beginning say it."""
    unnamed = "Named when it is imported" if one.state == "new" else "Untitled session"
    return " ".join(one.title.split()) or unnamed


def _column(
    title: str,
    text: Callable[[int], str],
    alignment: Qt.AlignmentFlag = LEFT,
    key: Callable[[int], Any] | None = None,
    **how: Any,
) -> Column[int]:
    return Column(title, text, alignment, key or text, **how)


def _project_columns(groups: list[SessionGroup]) -> list[Column[int]]:
    """Of a table whose rows are the numbers of groups."""
    return [
        _column("Agent", lambda at: groups[at].agent, width=160),
        _column("Project", lambda at: groups[at].project or NOT_RECORDED, stretch=True),
        _column("Sessions", lambda at: f"{len(groups[at].sessions):,}", RIGHT,
                key=lambda at: len(groups[at].sessions)),
        _column("To import", lambda at: f"{groups[at].new + groups[at].changed:,}", RIGHT,
                key=lambda at: groups[at].new + groups[at].changed),
        _column("Size", lambda at: size(groups[at].size), RIGHT, key=lambda at: groups[at].size,
                width=90),
        _column("Changed", lambda at: moment(groups[at].modified_ms), width=190,
                key=lambda at: groups[at].modified_ms),
    ]  # fmt: skip


def _session_columns(found: Scan) -> list[Column[int]]:
    """Of a table whose rows are the numbers of sessions."""
    sessions = found.sessions
    return [
        _column("Folder", lambda at: sessions[at].found.cwd or NOT_RECORDED, width=180),
        _column("Title", lambda at: _title(sessions[at]), stretch=True),
        _column("Changed", lambda at: moment(sessions[at].found.modified_ms), width=190,
                key=lambda at: sessions[at].found.modified_ms),
        _column("Size", lambda at: size(sessions[at].size), RIGHT, key=lambda at: sessions[at].size,
                width=90),
        _column("Agent", lambda at: sessions[at].agent, width=120),
        _column("State", lambda at: sessions[at].state, width=70),
        _column("File", lambda at: str(sessions[at].found.path), width=150),
    ]  # fmt: skip
