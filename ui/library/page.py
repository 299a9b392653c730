"""The window of all stored sessions: filters, the table, what can be done, and the totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QSplitter, QStackedWidget, QWidget

from explorer.services.library import LibraryRow, LibrarySums
from ui.actions import Keys, sequences_of, shown_keys
from ui.library.filter_bar import FilterBar
from ui.library.filters import Filters, Place
from ui.library.hits import HitsPanel
from ui.library.needed import NeededPanel
from ui.library.table import LibraryTable
from ui.library.totals import TotalsStrip
from ui.theme import S4, S8, S12, S16, set_tone
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.figures import count
from ui.widgets.flow import wrapping_row
from ui.widgets.notice import NoticeStrip
from ui.widgets.panels import (
    EmptyState,
    column_in,
    column_of,
    push_button,
)

Standard = QKeySequence.StandardKey


_PUT_AWAY: Mapping[Place, tuple[str, str]] = {
    "library": ("Every session is put away", "They are in the archive or in the trash."),
    "archive": (
        "The archive is empty",
        "Select sessions in the library and press Ctrl+E: they wait here, out of the list.",
    ),
    "trash": (
        "The trash is empty",
        "What you move to the trash waits here until you put it back or delete it for good.",
    ),
}
"""By place: what it says without a session."""


class LibraryPage(Dialog):
    """Does not block the window behind it, and can be used when ``building`` is done; what is done
    to sessions is asked for by signals that have a list of ``LibraryRow``."""

    open_asked = Signal(int, int)
    """(session key, entry index or -1)"""
    archive_asked = Signal(list)
    trash_asked = Signal(list)
    put_back_asked = Signal(list)
    delete_asked = Signal(list)
    note_asked = Signal(list)
    label_asked = Signal(list, str, bool)
    """A label, empty for a new one that is to be asked for; whether it is put on or taken away."""
    copy_ids_asked = Signal(list)
    copy_commands_asked = Signal(list)
    show_files_asked = Signal(list)
    import_again_asked = Signal(list)
    undo_asked = Signal()
    import_asked = Signal()
    find_asked = Signal()
    hits_hidden = Signal()
    needed_asked = Signal()
    needed_stop_asked = Signal()
    needed_go_on_asked = Signal()
    needed_folder_asked = Signal(bool)
    """Whether the audits of a folder are to be shown, or those of the sessions that are listed."""
    needed_opened = Signal(object)
    """``Worst``: a compaction is to be shown in its session."""
    needed_hidden = Signal()
    publish_asked = Signal(list)
    withdraw_asked = Signal(list)
    try_again_asked = Signal()
    """The server of the team's library that is shown is to be looked for."""

    open_action: QAction
    archive_action: QAction
    trash_action: QAction
    put_back_action: QAction
    delete_action: QAction
    note_action: QAction
    ids_action: QAction
    commands_action: QAction
    folder_action: QAction
    import_action: QAction
    publish_action: QAction
    withdraw_action: QAction

    def __init__(self, parent: QWidget) -> None:
        super().__init__("All sessions", parent, is_modal=False)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self._is_empty = True
        self.team = ""
        """The name of the team's library that is shown; empty for the person's own."""
        self._person, self._can_publish, self._is_steward = "", False, False

    def building(self) -> Iterator[None]:
        """Make its parts, in steps between which the window behind it answers."""
        self.notice = NoticeStrip(self)
        self.filters = FilterBar(self)
        yield
        self.table = LibraryTable(self)
        yield
        self.totals = TotalsStrip(self)
        self.totals.needed_asked.connect(self.needed_asked)
        yield
        self._make_actions()
        yield
        self._lay_out_parts()
        self.table.row_activated.connect(lambda one: self.open_asked.emit(one.session.key, -1))
        self.table.choice_changed.connect(self._follow)
        self.table.menu_asked.connect(self._menu)
        self.filters.table_asked.connect(self._go_to_first)
        self._follow()
        yield
        fit(self, 1180, 820)
        self.filters.line.setFocus()

    # parts ---------------------------------------------------------------------------------------

    # These are made when they are first shown: the window opens sooner without them.

    @cached_property
    def hits(self) -> HitsPanel:
        """The entries that were found, below the table."""
        panel = HitsPanel(self)
        panel.opened.connect(self.open_asked)
        panel.closed.connect(self.hide_hits)
        self._add_below(panel)
        return panel

    @cached_property
    def needed(self) -> NeededPanel:
        """What was needed again after compactions, below the table."""
        panel = NeededPanel(self)
        panel.stop_asked.connect(self.needed_stop_asked)
        panel.go_on_asked.connect(self.needed_go_on_asked)
        panel.folder_asked.connect(self.needed_folder_asked)
        panel.opened.connect(self.needed_opened)
        panel.closed.connect(self.hide_needed)
        self._add_below(panel)
        return panel

    def _add_below(self, panel: QWidget) -> None:
        """Put a panel below the table."""
        self.parts.addWidget(panel)
        self.parts.setStretchFactor(self.parts.count() - 1, 2)

    @cached_property
    def nothing(self) -> EmptyState:
        state = EmptyState(
            "session", "No session yet",
            "Import a session file, drop one on the window, or look for those of the agents on "
            "this computer.",
            "&Import…", self, "&Find on this computer…",
        )  # fmt: skip
        state.pressed.connect(self.import_asked)
        state.other_pressed.connect(self.find_asked)
        self.stack.addWidget(state)
        return state

    @cached_property
    def no_match(self) -> EmptyState:
        state = EmptyState("filter", "", "", "Clear filters", self, "Search texts")
        state.pressed.connect(self.filters.clear_filters)
        state.other_pressed.connect(self.filters.search_texts)
        self.stack.addWidget(state)
        return state

    @cached_property
    def put_away(self) -> EmptyState:
        state = EmptyState("session", "", "", parent=self)
        self.stack.addWidget(state)
        return state

    @cached_property
    def lost(self) -> EmptyState:
        state = EmptyState("error", "", "", "&Try again", self)
        state.pressed.connect(self.try_again_asked)
        self.stack.addWidget(state)
        return state

    def _make_actions(self) -> None:
        for name, text, tip, signal, keys in (
            ("archive", "Arch&ive", "Put the sessions away, out of the list",
             self.archive_asked, ("Ctrl+E",)),
            ("trash", "Move to trash", "Put the sessions into the trash; the agents' files stay",
             self.trash_asked, (Standard.Delete,)),
            ("put_back", "Put &back", "Put the sessions back into the library",
             self.put_back_asked, ("Ctrl+E",)),
            ("delete", "&Delete for good…",
             "Take the sessions out of the database; the agents' files stay",
             self.delete_asked, ()),
            ("note", "&Note…", "Write a note on the sessions", self.note_asked, ("F2",)),
            ("ids", "Copy i&d", "Copy the sessions' ids", self.copy_ids_asked, ()),
            ("commands", "Copy the command to res&ume",
             "Copy the command by which the agent goes on", self.copy_commands_asked, ()),
            ("folder", "Show in &folder", "Show the folder of the session's file",
             self.show_files_asked, ()),
            ("import", "Import a&gain", "Take in what the file has now",
             self.import_again_asked, ()),
            ("publish", "Publish…", "Put the sessions into a team's library, secrets masked",
             self.publish_asked, ()),
            ("withdraw", "&Withdraw…", "Take the sessions out of the team's library",
             self.withdraw_asked, ()),
        ):  # fmt: skip
            action = self._action(text, tip, self._with_chosen(signal), keys)
            setattr(self, f"{name}_action", action)
        self.open_action = self._action("&Open", "Open the session", self._open)
        context = Qt.ShortcutContext.WidgetWithChildrenShortcut
        for action in (
            self.archive_action,
            self.trash_action,
            self.put_back_action,
            self.note_action,
        ):
            # In the line above, Delete and the others are keys of the text.
            self.removeAction(action)
            action.setShortcutContext(context)
            self.table.addAction(action)
        self.undo_action = self._action(
            "&Undo", "Take back what was done last", self.undo_asked.emit
        )
        for text, sequences, run in (
            ("Filter", ("Ctrl+F",), self.filters.focus_line),
            ("Search texts", ("Ctrl+Return", "Ctrl+Enter"), self.filters.search_texts),
            ("Sessions", ("F6",), self._focus_table),
        ):
            self._action(text, "", run, sequences)

    def _with_chosen(self, signal: Any) -> Callable[[], None]:
        """Emits a signal with the chosen rows."""
        return lambda: signal.emit(self.table.chosen)

    def _action(self, text: str, tip: str, run: Callable[[], object], keys: Keys = ()) -> QAction:
        action = QAction(text, self)
        action.setShortcuts(sequences_of(keys))
        shown = shown_keys(action)
        action.setToolTip(f"{tip} ({shown})" if shown else tip)
        action.triggered.connect(lambda _checked=False: run())
        self.addAction(action)
        return action

    def _button(self, action: QAction) -> QPushButton:
        button = push_button(action.text(), self, action.toolTip())
        button.clicked.connect(action.trigger)

        def follow() -> None:
            button.setEnabled(action.isEnabled())
            button.setVisible(action.isVisible())
            button.setToolTip(action.toolTip())

        action.changed.connect(follow)
        return button

    def _lay_out_parts(self) -> None:
        self.chosen = QLabel(self)
        set_tone(self.chosen, "dim")
        actions = (
            self.open_action,
            self.archive_action,
            self.put_back_action,
            self.trash_action,
            self.delete_action,
            self.note_action,
            self.publish_action,
            self.withdraw_action,
        )
        buttons = [self._button(action) for action in actions]
        self.more = push_button("Mor&e", self, "More to do with the selected sessions")
        self.more.clicked.connect(
            lambda: self._menu(self.more.mapToGlobal(QPoint(0, 0)), above=True)
        )
        for before, after in pairwise((self.table, *buttons, self.more)):
            self.setTabOrder(before, after)
        bar = wrapping_row(*buttons, self.more, self.chosen, margins=(S16, 0, S16, 0))
        reading = QLabel("Reading the sessions…", self)
        reading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_tone(reading, "dim")
        self.stack = QStackedWidget(self)
        for part in (reading, self.table):
            self.stack.addWidget(part)
        upper = QWidget(self)
        column = column_in(upper, S8)
        # The table gives it its room at the end: nothing that one aims at moves.
        column.addWidget(self.stack, 1)
        column.addWidget(self.notice)
        column.addLayout(bar)
        self.parts = QSplitter(Qt.Orientation.Vertical, self)
        self.parts.setChildrenCollapsible(False)
        self.parts.addWidget(upper)
        self.parts.setStretchFactor(0, 3)
        top = column_of(self.filters, spacing=0, margins=(S16, S12, S16, S8))
        foot = column_of(self.totals, spacing=0)
        self.lay_out(top, self.parts, foot)
        foot.setContentsMargins(0, S8, 0, S12)

    # what is shown -------------------------------------------------------------------------------

    def show_library(
        self, names: Sequence[str], team: str, person: str, *, is_steward: bool = False
    ) -> None:
        """Show the person's own library, or the one of a team. ``names``: those that were added;
        ``person``: who reads it, as its server knows them; ``is_steward``: whether they may
        withdraw what others published."""
        self._person, self._can_publish, self._is_steward = person, bool(names), is_steward
        self.filters.show_libraries(names, team)
        if team != self.team:
            self.team, self.table.is_team = team, bool(team)
            self.table.arrange_columns()
            # Sessions of both may have the same numbers: what was selected stays in its library.
            self.table.show_sessions(())
            self.totals.show_usage(not team)
            self.stack.setCurrentIndex(0)
        self._follow()

    def show_lost(self, what: str, reason: str) -> None:
        """Say that the server of the team's library is gone, before anything of it was read."""
        self.totals.hide()
        self.lost.set_words(what, reason)
        self.stack.setCurrentWidget(self.lost)

    def show_sessions(self, rows: Sequence[LibraryRow], is_empty: bool) -> None:
        """Show the sessions that the filters let through. ``is_empty``: there are none at all."""
        self._is_empty = is_empty
        had_focus = self.table.hasFocus()
        self.totals.show()
        self.table.show_sessions(rows)
        if rows:
            self.stack.setCurrentWidget(self.table)
        elif is_empty and not self.team:
            self.stack.setCurrentWidget(self.nothing)
        else:
            self.stack.setCurrentWidget(self._empty_page(self.filters.filters))
        if had_focus and not rows:
            self._focus_what_is_left()
        self._follow()

    def _focus_what_is_left(self) -> None:
        """Not the line of the filters where a button will do: there Ctrl+Z takes letters back, and
        not what emptied the list."""
        empty = self.stack.currentWidget()
        if isinstance(empty, EmptyState) and empty.button.isVisibleTo(empty):
            empty.button.setFocus()
        else:
            self.filters.line.setFocus()

    def _empty_page(self, filters: Filters) -> EmptyState:
        """What says why there is no row, and what to do next."""
        if filters.is_narrowed:
            self.no_match.other.setVisible(bool(filters.words))
            self.no_match.set_words(
                "No session passes these filters",
                "Clear them, or look for the words in the text of all entries."
                if filters.words
                else "Clear them, or choose others above.",
            )
            return self.no_match
        if self.team:
            self.put_away.set_words(
                f"Nothing is published in {self.team}",
                "Select sessions in your own library and publish them.",
            )
            return self.put_away
        self.put_away.set_words(*_PUT_AWAY[filters.place])
        return self.put_away

    def show_sums(self, sums: LibrarySums | None) -> None:
        """Show what the filtered sessions came to; None: it is being added up."""
        self.totals.show_sums(sums)

    def show_undo(self, words: str) -> None:
        """What Ctrl+Z would take back; empty for nothing."""
        self.undo_action.setEnabled(bool(words))
        self.undo_action.setText(f"&Undo: {words}" if words else "&Undo")

    def _follow(self) -> None:
        """What can be done with the chosen rows."""
        rows, place = self.table.chosen, self.filters.filters.place
        some = bool(rows)
        self.open_action.setEnabled(len(rows) == 1)
        own = not self.team
        self.archive_action.setVisible(own and place == "library")
        self.put_back_action.setVisible(own and place != "library")
        self.trash_action.setVisible(own and place != "trash")
        self.delete_action.setVisible(own and place == "trash")
        self.publish_action.setVisible(own and self._can_publish and place == "library")
        self.withdraw_action.setVisible(not own)
        for action in (self.commands_action, self.folder_action, self.import_action):
            action.setVisible(own)
        for action in (
            self.archive_action,
            self.put_back_action,
            self.trash_action,
            self.delete_action,
            self.note_action,
            self.ids_action,
            self.commands_action,
            self.publish_action,
        ):
            action.setEnabled(some)
        others = sorted({one.publisher for one in rows} - {self._person})
        self.withdraw_action.setEnabled(some and (self._is_steward or not others))
        tip = "Take the sessions out of the team's library"
        if others:
            tip = f"Published by {', '.join(others)}"
            if not self._is_steward:
                tip += ": only they or a steward withdraw it"
        self.withdraw_action.setToolTip(tip)
        has_files = any(one.session.path for one in rows)
        self.folder_action.setEnabled(has_files)
        self.import_action.setEnabled(has_files)
        self.more.setEnabled(some)
        all_of = count(self.table.rows.rowCount(), "session")
        self.chosen.setText(f"{len(rows):,} of {all_of} selected" if some else "Nothing selected")
        self.chosen.setMinimumHeight(self.more.sizeHint().height())

    # what is done --------------------------------------------------------------------------------

    def _open(self) -> None:
        rows = self.table.chosen
        if len(rows) == 1:
            self.open_asked.emit(rows[0].session.key, -1)

    def _focus_table(self) -> None:
        if self.stack.currentWidget() is self.table:
            self.table.setFocus()

    def _go_to_first(self) -> None:
        if self.stack.currentWidget() is self.table:
            self.table.selectRow(0)
            self.table.setFocus()

    def open_first(self) -> None:
        """Open the first session that is listed; where none is, the way on has the keyboard."""
        if self.stack.currentWidget() is self.table and (row := self.table.rows.at(0)) is not None:
            self.open_asked.emit(row.session.key, -1)
        else:
            self._focus_what_is_left()

    @property
    def shows_hits(self) -> bool:
        """Whether it is shown where words were found."""
        return "hits" in self.__dict__ and self.hits.isVisible()

    @property
    def shows_needed(self) -> bool:
        """Whether it is shown what was needed again."""
        return "needed" in self.__dict__ and not self.needed.isHidden()

    def hide_needed(self) -> None:
        """Put away what was needed again."""
        had_focus = self.needed.isAncestorOf(self.focusWidget())
        self.needed.hide()
        self.needed_hidden.emit()
        if had_focus:
            self.totals.needed.setFocus()

    def hide_hits(self) -> None:
        """End a search over the entries: all sessions that pass the filters are shown again."""
        had_focus = self.hits.isAncestorOf(self.focusWidget())
        self.hits.hide()
        self.hits_hidden.emit()
        if had_focus:
            self.filters.line.setFocus()

    def _menu(self, at: QPoint, above: bool = False) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        groups = (
            (self.open_action,),
            (self.archive_action, self.put_back_action, self.trash_action, self.delete_action),
            (self.note_action, self.ids_action, self.commands_action),
            (self.publish_action, self.withdraw_action),
            (self.folder_action, self.import_action),
            (self.undo_action,),
        )
        for number, group in enumerate(groups):
            if number:
                menu.addSeparator()
            for action in group:
                menu.addAction(action)
                if action is self.note_action:
                    self._add_labels(menu)
        if above:
            at -= QPoint(0, menu.sizeHint().height() + S4)
        menu.popup(at)

    def _add_labels(self, menu: QMenu) -> None:
        """The labels that there are, those of all chosen sessions ticked, and a new one."""
        rows = self.table.chosen
        labels = menu.addMenu("&Labels")
        labels.setEnabled(bool(rows))
        for label in self.filters.labels_there:
            action = labels.addAction(label.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(all(label in one.session.labels for one in rows))
            action.triggered.connect(lambda on, label=label: self.label_asked.emit(rows, label, on))
        if self.filters.labels_there:
            labels.addSeparator()
        labels.addAction("&New label…").triggered.connect(
            lambda: self.label_asked.emit(rows, "", True)
        )

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.matches(Standard.Undo):
            self.undo_action.trigger()
        elif event.key() == Qt.Key.Key_Escape and self.shows_hits:
            self.hide_hits()
        elif event.key() == Qt.Key.Key_Escape and self.shows_needed:
            self.hide_needed()
        elif event.key() == Qt.Key.Key_Escape and self.notice.isVisible():
            self.notice.dismiss()
        else:
            super().keyPressEvent(event)
