"""The filters over the library: a line for words, the places, and a chip for each filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QLineEdit, QMenu, QPushButton, QWidget

from ui.library.filters import PLACES, SPANS, Filters, Place
from ui.theme import S4, S8, S12, bind_font, bind_icon, scaled, small_font
from ui.widgets.choice import ChoiceBox, show_checked
from ui.widgets.figures import full
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import LinkButton
from ui.widgets.panels import column_in, enable_unless, push_button, row
from ui.widgets.table import RIGHT, Column, Table, TableModel

PLACE_TITLES: Mapping[Place, str] = {
    "library": "&Library",
    "archive": "Arc&hive",
    "trash": "&Trash",
}
FEW = 10
"""Values up to which a list of them needs no line to find one."""
NO_NAME = "not recorded"


class Chip(QPushButton):
    """A filter. Checked: it lets only some sessions through."""

    def __init__(self, name: str, tip: str, parent: QWidget, opens: bool = True) -> None:
        """``opens``: it opens a list, else a press turns it on and off."""
        super().__init__(name, parent)
        self.name = name
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setToolTip(tip)
        bind_font(self, small_font)
        if opens:
            self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            bind_icon(self, "chevron-down", "dim")

    def sizeHint(self) -> QSize:
        return _as_high_as_chips(super().sizeHint())

    def show_value(self, value: str) -> None:
        """Name what is let through; empty for all."""
        plain = self.name.replace("&", "")
        words = value if len(value) <= 24 else f"{value[:23]}…"
        self.setText(f"{self.name}: {words.replace('&', '&&')}" if value else self.name)
        self.setAccessibleName(f"{plain}: {value or 'all'}")
        show_checked(self, bool(value))


class ChipLink(LinkButton):
    """Stands in the line of chips."""

    def sizeHint(self) -> QSize:
        return _as_high_as_chips(super().sizeHint())


def _as_high_as_chips(hint: QSize) -> QSize:
    """A size hint of at least the height of a chip with an icon."""
    return QSize(hint.width(), max(hint.height(), scaled(16) + S12))


class ValueList(QFrame):
    """The values of a filter with boxes to tick, over the window until a press beside it."""

    changed = Signal(object)
    """The ticked values, a frozenset."""

    def __init__(self, name: str, parent: QWidget) -> None:
        """``name``: of the filter, for screen readers."""
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("card", True)
        self._counts: Mapping[str, int] = {}
        self.line = QLineEdit(self)
        self.line.setPlaceholderText("Find")
        self.line.setAccessibleName(f"Find in {name}")
        self.line.textChanged.connect(lambda _text: self._fill())
        self.table = Table(
            TableModel(
                [
                    Column("", lambda value: value or NO_NAME, stretch=True),
                    Column("", lambda value: full(self._counts[value]), RIGHT),
                ],
                has_ticks=True,
            ),
            name,
            self,
        )
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.horizontalHeader().hide()
        self.table.rows.row_ticked.connect(lambda _row: self._tell())
        self.table.row_activated.connect(self._only)
        self.clear = LinkButton("Show &all", self)
        self.clear.clicked.connect(self._show_all)
        column = column_in(self, S4, (S8, S8, S8, S8))
        column.addWidget(self.line)
        column.addWidget(self.table)
        column.addWidget(self.clear)

    def open_below(self, chip: QWidget, counts: Mapping[str, int], chosen: frozenset[str]) -> None:
        """Offer values with the sessions that have each, the most frequent first."""
        self._counts = {**dict.fromkeys(chosen, 0), **counts}
        self.table.rows.ticked = set(chosen)
        self.line.clear()
        self.line.setVisible(len(self._counts) > FEW)
        self.table.restyle()
        self._fill()
        shown = min(FEW, max(1, len(self._counts)))
        self.table.setFixedHeight(shown * self.table.row_height() + S4)
        self.setFixedWidth(scaled(280))
        self.adjustSize()
        self.move(chip.mapToGlobal(QPoint(0, chip.height() + S4)))
        self.show()
        (self.table if self.line.isHidden() else self.line).setFocus()

    def _fill(self) -> None:
        words = self.line.text().casefold()
        found = [one for one in self._counts if words in (one or NO_NAME).casefold()]
        self.table.show_rows(sorted(found, key=lambda one: (-self._counts[one], one.casefold())))
        self.clear.setEnabled(bool(self.table.rows.ticked))

    def _tell(self) -> None:
        self.clear.setEnabled(bool(self.table.rows.ticked))
        self.changed.emit(frozenset(self.table.rows.ticked))

    def _only(self, value: str) -> None:
        """Let one value through, and nothing else."""
        self.table.rows.ticked = {value}
        self._tell()
        self.hide()

    def _show_all(self) -> None:
        self.table.rows.tick(list(self.table.rows.ticked), on=False)
        self._tell()
        self.hide()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        elif event.key() == Qt.Key.Key_Down and self.line.hasFocus():
            self.table.setFocus()
        else:
            super().keyPressEvent(event)


class FilterBar(QWidget):
    """Emits the filters whenever a person changes one."""

    changed = Signal(object)
    """``Filters``"""
    library_chosen = Signal(str)
    """The name of a team's library; empty for the person's own."""
    libraries_asked = Signal()
    """Libraries of teams are to be added or removed."""
    search_asked = Signal(str)
    """Look for the words of the line in the entries' texts."""
    open_asked = Signal()
    """Return in the line: open the first session that the filters let through."""
    table_asked = Signal()
    """The Down key in the line: go on in the sessions."""
    save_asked = Signal()
    saved_chosen = Signal(str)
    forget_asked = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.filters = Filters()
        self._counts: Mapping[str, Mapping[str, int]] = {}
        self._saved: list[str] = []
        self._lists: dict[str, ValueList] = {}
        """By field; made when they are first opened."""
        self.line = QLineEdit(self)
        self.line.setPlaceholderText("Filter by title, folder, note…")
        self.line.setAccessibleName("Filter the sessions; Enter opens the first of them")
        self.line.setClearButtonEnabled(True)
        self.line.textChanged.connect(lambda text: self._take(words=" ".join(text.split())))
        self.line.returnPressed.connect(self.open_asked)
        self.search = push_button(
            "Search te&xts", self, "Look for these words in the text of all entries (Ctrl+Enter)"
        )
        self.search.clicked.connect(self.search_texts)
        self.places = self._places()
        chips = self._chips()
        column = column_in(self, S8)
        self.libraries = ChoiceBox(self)
        self.libraries.setAccessibleName("Library")
        self.libraries.setToolTip("Whose sessions are shown: your own, or those of a team")
        self.libraries.activated.connect(
            lambda at: self.library_chosen.emit(self.libraries.itemData(at))
        )
        self.libraries.hide()
        parts = (self.libraries, self.line, self.search, *self.places.buttons())
        column.addLayout(row(*parts, spacing=S4, wide=self.line))
        column.addLayout(wrapping_row(*chips, across=S4))
        self.show_filters(self.filters)

    def _places(self) -> QButtonGroup:
        group = QButtonGroup(self)
        for at, place in enumerate(PLACES):
            button = QPushButton(PLACE_TITLES[place], self)
            button.setCheckable(True)
            button.setAutoDefault(False)
            group.addButton(button, at)
        group.idToggled.connect(self._take_place)
        return group

    def _take_place(self, at: int, on: bool) -> None:
        # The group reports as well what is only shown.
        if on and PLACES[at] != self.filters.place:
            self._take(place=PLACES[at])

    def _chips(self) -> list[QWidget]:
        self.agent = self._value_chip("&Agent", "agents", "Only sessions of these agents")
        self.project = self._value_chip("&Project", "projects", "Only sessions in these folders")
        self.model = self._value_chip(
            "&Model", "models", "Only sessions that these models answered"
        )
        self.label = self._value_chip("Label", "labels", "Only sessions with one of these labels")
        self.since = Chip("&Since", "Only sessions that were used lately", self)
        self.since.toggled.connect(self._open_spans)
        self.compacted = Chip("&Compacted", "Only sessions with a compaction", self, opens=False)
        self.compacted.toggled.connect(lambda on: self._take(compacted=on))
        self.started = Chip(
            "S&ub-agents", "With the sub-agents that other sessions started", self, opens=False
        )
        self.started.toggled.connect(lambda on: self._take(started=on))
        self.saved = Chip("Sa&ved", "Filters that were saved", self)
        self.saved.toggled.connect(self._open_saved)
        self.clear = ChipLink("Clea&r filters", self)
        self.clear.clicked.connect(self.clear_filters)
        self.teams = ChipLink("Team libraries…", self)
        self.teams.setToolTip("Add or remove a library that a team shares")
        self.teams.clicked.connect(self.libraries_asked)
        for link in (self.clear, self.teams):
            bind_font(link, small_font)
        return [
            self.agent, self.project, self.model, self.label, self.since, self.compacted,
            self.started, self.saved, self.clear, self.teams,
        ]  # fmt: skip

    def _value_chip(self, name: str, field: str, tip: str) -> Chip:
        chip = Chip(name, tip, self)
        chip.toggled.connect(lambda: self._open(chip, field))
        return chip

    # what is shown -------------------------------------------------------------------------------

    def show_libraries(self, names: Sequence[str], chosen: str) -> None:
        """Offer the libraries of teams beside the person's own; nothing where there are none.
        ``chosen``: the name of one, empty for the person's own."""
        offered = ["", *names]
        if offered != [self.libraries.itemData(at) for at in range(self.libraries.count())]:
            self.libraries.clear()
            for name in offered:
                self.libraries.addItem(name or "My library", name)
        self.libraries.setCurrentIndex(max(0, self.libraries.findData(chosen)))
        self.libraries.setVisible(bool(names))
        for button in self.places.buttons():
            button.setVisible(not chosen)
        self.started.setVisible(not chosen)
        self.saved.setVisible(not chosen)

    def show_values(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """The values that ``agents``, ``projects``, ``models`` and ``labels`` can have, each with
        the sessions that have it."""
        self._counts = counts
        self._show_label_chip()

    def _show_label_chip(self) -> None:
        """Only where there is a label, or one is chosen."""
        self.label.setVisible(bool(self._counts.get("labels") or self.filters.labels))

    @property
    def labels_there(self) -> list[str]:
        """The labels in use, sorted."""
        return sorted(self._counts.get("labels", ()), key=str.casefold)

    def show_saved(self, names: Iterable[str]) -> None:
        """Show the names of the filters that were saved."""
        self._saved = sorted(names, key=str.casefold)

    def show_filters(self, filters: Filters) -> None:
        """Show filters, which no signal reports."""
        self.filters = filters
        if " ".join(self.line.text().split()) != filters.words:
            self.line.blockSignals(True)
            self.line.setText(filters.words)
            self.line.blockSignals(False)
        show_checked(self.places.button(PLACES.index(filters.place)), True)
        for chip, chosen in (
            (self.agent, filters.agents), (self.project, filters.projects),
            (self.model, filters.models), (self.label, filters.labels),
        ):  # fmt: skip
            names = [one or NO_NAME for one in sorted(chosen, key=str.casefold)]
            chip.show_value(", ".join(names[:2]) if len(names) < 3 else f"{len(names)} chosen")
        self._show_label_chip()
        self.since.show_value(SPANS[filters.days] if filters.days else "")
        show_checked(self.compacted, filters.compacted)
        show_checked(self.started, filters.started)
        show_checked(self.saved, False)
        self.clear.setVisible(filters.is_narrowed)
        enable_unless(self.search, "" if filters.words else "Type what to look for first.")

    def focus_line(self) -> None:
        """Put the keyboard into the line."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def search_texts(self) -> None:
        """Look for the words of the line in the text of all entries."""
        if self.filters.words:
            self.search_asked.emit(self.filters.words)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        # The line itself has no use for it.
        if event.key() == Qt.Key.Key_Down and self.line.hasFocus():
            self.table_asked.emit()
        else:
            super().keyPressEvent(event)

    def clear_filters(self) -> None:
        """Let all sessions of the place through."""
        if self.clear.hasFocus():
            self.line.setFocus()
        self.choose(Filters(place=self.filters.place))

    def choose(self, filters: Filters) -> None:
        """Show filters, and report them."""
        self.show_filters(filters)
        self.changed.emit(filters)

    def _take(self, **values: object) -> None:
        self.choose(replace(self.filters, **values))

    # lists below chips ---------------------------------------------------------------------------

    def _open(self, chip: Chip, field: str) -> None:
        self.show_filters(self.filters)  # the press has checked the chip
        values = self._lists.get(field)
        if values is None:
            values = self._lists[field] = ValueList(chip.name.replace("&", ""), self)
            values.changed.connect(lambda chosen: self._take(**{field: chosen}))
        values.open_below(chip, self._counts.get(field, {}), getattr(self.filters, field))

    def _open_spans(self) -> None:
        menu = self._menu_below(self.since)
        group = QActionGroup(menu)
        for days, words in SPANS.items():
            action = menu.addAction(words[:1].upper() + words[1:])
            action.setCheckable(True)
            action.setChecked(days == self.filters.days)
            group.addAction(action)
            action.triggered.connect(self._taking(days))
        self._pop(menu, self.since)

    def _taking(self, days: int) -> Callable[[], None]:
        return lambda: self._take(days=days)

    def _open_saved(self) -> None:
        menu = self._menu_below(self.saved)
        for name in self._saved:
            menu.addAction(name.replace("&", "&&")).triggered.connect(
                lambda _checked=False, one=name: self.saved_chosen.emit(one)
            )
        if self._saved:
            menu.addSeparator()
        save = menu.addAction("&Save these filters…")
        save.setEnabled(self.filters != Filters())
        save.triggered.connect(self.save_asked)
        if self._saved:
            forget = menu.addMenu("&Forget")
            for name in self._saved:
                forget.addAction(name.replace("&", "&&")).triggered.connect(
                    lambda _checked=False, one=name: self.forget_asked.emit(one)
                )
        self._pop(menu, self.saved)

    def _menu_below(self, chip: Chip) -> QMenu:
        self.show_filters(self.filters)
        menu = QMenu(chip)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    @staticmethod
    def _pop(menu: QMenu, chip: Chip) -> None:
        menu.popup(chip.mapToGlobal(QPoint(0, chip.height() + S4)))
