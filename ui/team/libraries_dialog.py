"""The dialog in which a person adds libraries of teams, and takes them away again."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from explorer.settings.libraries import LibraryAddress, password_place
from ui.theme import S8, S12, S16
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.labels import Caption, Heading, MessageLine
from ui.widgets.panels import column_in, enable_unless, labelled, push_button, row
from ui.widgets.table import Column, Table, TableModel

CHECKED = (
    "Before a library is added it is checked that its server answers and knows you, by TLS unless "
    "it is reached by a socket, and that its tables are of a version that this program knows."
)
NO_PASSWORD = (
    "A password is never kept here. It is found in the system's keyring, where “session-explorer "
    "library add NAME ADDRESS --password” puts it, in a service file (postgresql:///?service=NAME)"
    " or in ~/.pgpass."
)


class Known(Struct, frozen=True):
    """A library that was added."""

    name: str
    address: LibraryAddress


class LibrariesDialog(Dialog):
    """Shows and asks; what is asked for is done by its signals."""

    add_asked = Signal(str, str)
    """The name and the address of a library."""
    remove_asked = Signal(str)
    """The name of one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Team libraries", parent)
        self.table = Table(TableModel(_columns(), self), "Libraries of teams", self)
        self.table.restyle()
        self.table.empty_text = "No library of a team yet."
        self.remove = push_button(
            "&Remove…", self, "Forget the library here; its server is left as it is"
        )
        self.remove.clicked.connect(lambda: self.remove_asked.emit(self.table.current.name))
        self.table.current_changed.connect(lambda _one: self._follow())
        self.name, self.address = QLineEdit(self), QLineEdit(self)
        self.name.setPlaceholderText("acme")
        self.address.setPlaceholderText("postgresql://ada@db.example.org/sessions")
        self.add = push_button("&Check and add", self, primary=True)
        self.add.clicked.connect(self._ask)
        for line in (self.name, self.address):
            line.textChanged.connect(lambda _text: self._follow())
            line.returnPressed.connect(self.add.click)
        self.words = MessageLine(self)
        self.close_button = push_button("Close", self)
        self.close_button.clicked.connect(self.close)
        self._is_checking = False
        self._lay_out()
        fit(self, 700, 520)
        self.show_libraries({})
        self.name.setFocus()

    def _lay_out(self) -> None:
        body = QWidget(self)
        column = column_in(body, S8, (S16, S12, S16, S12))
        column.addWidget(self.table, 1)
        column.addLayout(row(self.remove, 1))
        column.addSpacing(S8)
        heading = Heading(self)
        heading.setText("Add a library")
        column.addWidget(heading)
        lines = row(
            labelled("Name", self.name, self), labelled("Address", self.address, self), spacing=S12
        )
        lines.setStretch(0, 1)
        lines.setStretch(1, 3)
        column.addLayout(lines)
        column.addWidget(Caption(CHECKED, self, wraps=True))
        column.addWidget(Caption(NO_PASSWORD, self, wraps=True))
        column.addWidget(self.words)
        self.lay_out(None, body, row(1, self.add, self.close_button))

    def show_libraries(self, known: Mapping[str, LibraryAddress]) -> None:
        """Show those that were added."""
        self.table.show_rows([Known(name, one) for name, one in sorted(known.items())])
        self._follow()

    def show_checking(self) -> None:
        """It is being looked for."""
        self._is_checking = True
        self.words.say("Looking for the server…")
        self._follow()

    def show_end(self, words: str, *, failed: bool = False) -> None:
        """Say how it went; what was written stays where it failed."""
        self._is_checking = False
        self.words.say(words, failed=failed)
        if not failed:
            self.name.clear()
            self.address.clear()
        self._follow()

    def _ask(self) -> None:
        self.add_asked.emit(self.name.text().strip(), self.address.text().strip())

    def _follow(self) -> None:
        why = "The server is being looked for." if self._is_checking else ""
        if not self.name.text().strip() or not self.address.text().strip():
            why = why or "Write a name and an address first."
        enable_unless(self.add, why)
        self.remove.setEnabled(self.table.current is not None)


def _columns() -> tuple[Column[Known], ...]:
    return (
        Column("Name", lambda one: one.name, width=120),
        Column("Address", lambda one: one.address.address, stretch=True,
               detail=lambda one: one.address.address),
        Column("Password from", lambda one: password_place(one.address) or "–", width=150,
               tip="Where a password is found if the server asks for one"),
    )  # fmt: skip
