"""The page of servers: looked for on request, added by address, renamed, tested, removed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.models.client import (
    CancelToken,
    FoundServers,
    KeyringUnavailable,
    KeyTest,
    ModelClient,
    ModelError,
    Server,
    UserModelsError,
)
from explorer.models.servers import title_of
from ui.models.busy import Busy, Result
from ui.models.models_page import Start
from ui.models.words import tokens
from ui.theme import S8, S12, S16, set_tone
from ui.widgets.figures import count
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, MessageLine
from ui.widgets.panels import EmptyState, beside, column_in, enable_unless, push_button
from ui.widgets.panels import row as line_of
from ui.widgets.table import Column, Table, TableModel

MOST_NAMED = 40
"""Models that are named one by one."""


class ServerPanel(QScrollArea):
    """Asks by signals only."""

    add_asked = Signal()
    test_asked = Signal()
    again_asked = Signal()
    remove_asked = Signal()
    key_asked = Signal()
    rename_asked = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._server: Server | None = None
        self._added = False
        body = QWidget(self)
        self.nothing = EmptyState(
            "search", "No server yet",
            "Let this machine be searched for one, or type the address of one below.",
            parent=body,
        )  # fmt: skip
        self.name = QLineEdit(body)
        self.name.setAccessibleName("Name of the server")
        self.name.setToolTip("Its models are called by it: name/model")
        self.name.returnPressed.connect(self._rename)
        self.name.textChanged.connect(lambda _text: self._enable())
        self.where = QLabel(body)
        self.models = Caption(parent=body)
        for label in (self.where, self.models):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_tone(self.models, "dim")
        self._make_buttons(body)
        self._lay_out(body)
        self.setWidget(body)
        self._free = True
        self.show_server(None, False)

    def _make_buttons(self, body: QWidget) -> None:
        self.rename = push_button("&Rename", body, "Its models are called by the new name then")
        self.rename.clicked.connect(self._rename)
        self.add = push_button("&Add it", body, "Its models can be chosen then")
        self.add.setProperty("kind", "primary")
        self.add.clicked.connect(self.add_asked)
        self.test = push_button("&Test", body, "Make the smallest real request")
        self.test.clicked.connect(self.test_asked)
        self.again = push_button("Ask again &what it has", body, "Its models, as they are now")
        self.again.clicked.connect(self.again_asked)
        self.key = push_button("&Key…", body, "Set or test the key that it wants")
        self.key.clicked.connect(self.key_asked)
        self.remove = push_button("Re&move", body, "Forget the server, and its key with it")
        self.remove.clicked.connect(self.remove_asked)

    def _lay_out(self, body: QWidget) -> None:
        column = column_in(body, S8, (S16, 0, S16, S12))
        column.addWidget(self.nothing, 1)
        column.addLayout(line_of(self.name, self.rename, wide=self.name))
        column.addWidget(self.where)
        buttons = wrapping_row(self.add, self.test, self.again, self.key, self.remove, down=S8)
        column.addLayout(buttons)
        column.addWidget(self.models)
        column.addStretch(0)

    def show_server(self, server: Server | None, added: bool) -> None:
        """Show a server; ``added``: the user added it already."""
        self._server, self._added = server, added
        self.nothing.setVisible(server is None)
        for part in (self.name, self.where, self.models):
            part.setVisible(server is not None)
        for button in (self.rename, self.test, self.again, self.key, self.remove):
            button.setVisible(server is not None and added)
        self.add.setVisible(server is not None and not added)
        self.name.setReadOnly(not added)
        if server is not None:
            self.name.setText(server.name)
            self.where.setText(f"{title_of(server.kind)} at {server.address}")
            self.models.setText(models_words(server))
        self._enable()

    def set_free(self, free: bool) -> None:
        """While something is asked, nothing else can be."""
        self._free = free
        self._enable()

    def _enable(self) -> None:
        for button in (self.add, self.test, self.again, self.key, self.remove):
            button.setEnabled(self._free)
        if self._server is not None:
            self.test.setEnabled(self._free and bool(self._server.models))
            new = self.name.text().strip()
            self.rename.setEnabled(self._free and bool(new) and new != self._server.name)

    def _rename(self) -> None:
        if self.rename.isEnabled():
            self.rename_asked.emit(self.name.text().strip())


def models_words(server: Server) -> str:
    """The models of a server with their windows, one per line."""
    if not server.models:
        return "It has no model. Load one there, and ask again what it has."
    lines = []
    for model in server.models[:MOST_NAMED]:
        can = [name for name in ("reasoning", "images", "tools") if getattr(model, name)]
        size = f"window {tokens(model.window)}" if model.window else "window not reported"
        lines.append(" · ".join((model.id, size, *can)))
    more = len(server.models) - MOST_NAMED
    if more > 0:
        lines.append(f"and {more} more")
    return "\n".join(lines)


class ListedServer(NamedTuple):
    """A row of the list: a server that is added, or was only found."""

    server: Server
    is_added: bool

    def models_text(self) -> str:
        """How many models it has."""
        words = count(len(self.server.models), "model")
        return words if self.is_added else f"{words}, not added"


class ServersPage(QWidget):
    """Lists the servers that are added, and those that were found."""

    changed = Signal()
    """Other models may be there to ask."""
    renamed = Signal(str, str)
    """(old name, new name)"""
    key_asked = Signal(str)

    def __init__(
        self, client: ModelClient, start: Start, addresses: Sequence[str], parent: QWidget
    ) -> None:
        """``addresses``: where servers are looked for."""
        super().__init__(parent)
        self._client, self._start, self._addresses = client, start, addresses
        self._found: dict[str, Server] = {}
        """By address, what was found and is not added."""
        self.look = push_button("&Look for servers on this machine", self)
        self.look.setToolTip(
            "Asks at the usual ports of Ollama, llama.cpp, vLLM and LM Studio, here and nowhere"
            " else"
        )
        self.look.clicked.connect(lambda: self._start("Looking for servers", self._look()))
        self.busy = Busy(self)
        self.busy.changed.connect(self._enable)
        self.message = MessageLine(self)
        self.list = self._make_list()
        self.panel = ServerPanel(self)
        self.panel.add_asked.connect(lambda: self._keep(self.server))
        self.panel.test_asked.connect(lambda: self._run("Testing a server", self._test))
        self.panel.again_asked.connect(lambda: self._run("Asking a server", self._again))
        self.panel.remove_asked.connect(lambda: self._run("Removing a server", self._remove))
        self.panel.rename_asked.connect(self._rename)
        self.panel.key_asked.connect(lambda: self.key_asked.emit(self.name))
        self._make_address_line()
        self._lay_out()
        self.refresh()

    def _make_list(self) -> Table:
        columns: list[Column[ListedServer]] = [
            Column("Server", lambda row: row.server.name, width=160,
                   detail=lambda row: row.server.address),
            Column("Models", ListedServer.models_text, stretch=True),
        ]  # fmt: skip
        made = Table(TableModel(columns), "Servers", self)
        made.current_changed.connect(self._show_server)
        made.row_activated.connect(self._add_found)
        made.restyle()
        return made

    def _make_address_line(self) -> None:
        self.address = QLineEdit(self)
        self.address.setPlaceholderText("Address, such as http://localhost:11434")
        self.address.setAccessibleName("Address of a server")
        self.key = QLineEdit(self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText("Key, if it wants one")
        self.key.setAccessibleName("Key of the server, if it wants one")
        self.add = push_button("A&dd", self)
        self.add.clicked.connect(self._add)
        for field in (self.address, self.key):
            field.returnPressed.connect(self._add)
            field.textChanged.connect(lambda _text: self._enable())

    def _lay_out(self) -> None:
        left = QWidget(self)
        list_column = column_in(left, margins=(S16, 0, 0, 0))
        list_column.addWidget(self.list)
        self.split = beside(left, self.panel, (450, 550), self)
        head = QVBoxLayout()
        head.setContentsMargins(S16, 0, S16, 0)
        head.setSpacing(S8)
        top = line_of(self.look, self.busy, wide=self.busy)
        top.addStretch(0)
        head.addLayout(top)
        head.addWidget(self.message)
        foot = line_of(self.address, self.key, self.add)
        foot.setContentsMargins(S16, 0, S16, 0)
        foot.setStretchFactor(self.address, 3)
        foot.setStretchFactor(self.key, 2)
        column = column_in(self, S8, (0, S12, 0, S8))
        column.addLayout(head)
        column.addWidget(self.split, 1)
        column.addLayout(foot)

    # what is shown -------------------------------------------------------------------------------

    @property
    def server(self) -> Server | None:
        """The server that is chosen."""
        row = self.list.current
        return row.server if row is not None else None

    @property
    def name(self) -> str:
        """The name of the chosen server; empty for none."""
        return server.name if (server := self.server) is not None else ""

    def refresh(self, wanted: str = "") -> None:
        """List the servers anew; ``wanted``: the name of the one to choose."""
        wanted = wanted or self.name
        added = self._client.user_models.servers()
        known = {server.address for server in added}
        rows = [ListedServer(server, True) for server in added]
        rows += [
            ListedServer(server, False)
            for address, server in self._found.items()
            if address not in known
        ]
        last = next((row for row in reversed(rows) if row.server.name == wanted), None)
        self.list.show_rows(rows, last)

    def _show_server(self, row: ListedServer | None) -> None:
        self.panel.show_server(*(row or (None, False)))
        self._enable()

    def _enable(self) -> None:
        free = not self.busy.running
        self.look.setVisible(free)
        self.panel.set_free(free)
        missing = "" if self.address.text().strip() else "Write the server's address first."
        enable_unless(self.add, missing if free else "Wait until the server has answered.")

    # looking -------------------------------------------------------------------------------------

    async def _look(self) -> None:
        async def search(cancel: CancelToken) -> FoundServers:
            return await self._client.find_servers(cancel, self._addresses)

        self.message.say("")
        found = await self.busy.run("Looking at the usual ports of this machine…", search)
        if found is None:
            self.message.say("The search was cancelled; nothing was added.")
            return
        self._found = {server.address: self._free(server) for server in found.servers}
        known = {server.address for server in self._client.user_models.servers()}
        new = [server for server in self._found.values() if server.address not in known]
        self.message.say(found.sentence)
        self.refresh(new[0].name if new else "")
        self.list.setFocus()

    def _free(self, server: Server) -> Server:
        """The server under a name that none of the added ones has."""
        taken = {one.name for one in self._client.user_models.servers()}
        name, number = server.name, 2
        while name in taken:
            name, number = f"{server.name}-{number}", number + 1
        return replace(server, name=name)

    def _add(self) -> None:
        if self.add.isEnabled():
            address, key = self.address.text().strip(), self.key.text().strip()
            self.key.clear()
            self._start("Adding a server", self._add_now(address, key))

    async def _add_now(self, address: str, key: str) -> None:
        async def look(cancel: CancelToken) -> Server:
            return await self._client.probe_server(address, cancel, key)

        found = await self._asked(f"Asking {address}…", look)
        if found is None:
            return
        self.address.clear()
        known = {one.address: one.name for one in self._client.user_models.servers()}
        server = replace(found, name=known.get(found.address, found.name))
        await self._keep_now(server, key)

    def _add_found(self, row: ListedServer) -> None:
        if not row.is_added:
            self._keep(row.server)

    def _keep(self, server: Server | None) -> None:
        if server is not None:
            self._start("Adding a server", self._keep_now(server, ""))

    async def _keep_now(self, server: Server, key: str) -> None:
        try:
            await asyncio.to_thread(self._client.user_models.save_server, server)
            sentence = f"{server.name} is added: {title_of(server.kind)} at {server.address} with"
            self.message.say(f"{sentence} {count(len(server.models), 'model')}.")
            if key:
                await asyncio.to_thread(self._client.keys.keep, server.name, key)
        except UserModelsError as error:
            self.message.say(f"Not added. {error}", failed=True)
            return
        except KeyringUnavailable as error:
            self.message.say(
                f"{server.name} is added, but its key is not kept. {error}", failed=True
            )
        self.refresh(server.name)
        self.changed.emit()

    # what is done with one -----------------------------------------------------------------------

    def _run(self, what: str, work: Callable[[Server], Awaitable[None]]) -> None:
        server = self.server
        if server is not None:

            async def run() -> None:
                await work(server)

            self._start(what, run())

    async def _asked(
        self, what: str, work: Callable[[CancelToken], Awaitable[Result]]
    ) -> Result | None:
        """What a server answered; None where it did not, which is reported."""
        self.message.say("")
        try:
            answer = await self.busy.run(what, work)
        except ModelError as error:
            self.message.say(error.sentence, failed=True)
            return None
        if answer is None:
            self.message.say("Cancelled; nothing was changed.")
        return answer

    async def _test(self, server: Server) -> None:
        async def ask(cancel: CancelToken) -> KeyTest:
            return await self._client.test_key(server.name, None, cancel)

        tried = await self._asked(f"Asking {server.name} for an answer…", ask)
        if tried is not None:
            self.message.say(tried.sentence, failed=not tried.works)

    async def _again(self, server: Server) -> None:
        key = await asyncio.to_thread(self._client.keys.key, server.name)

        async def look(cancel: CancelToken) -> Server:
            return await self._client.probe_server(server.address, cancel, key or "")

        found = await self._asked(f"Asking {server.name} what it has…", look)
        if found is not None:
            await self._keep_now(replace(found, name=server.name), "")

    async def _remove(self, server: Server) -> None:
        had_key = server.name in self._client.user_models.in_keyring()
        try:
            if had_key:
                await asyncio.to_thread(self._client.keys.forget, server.name)
            await asyncio.to_thread(self._client.user_models.remove_server, server.name)
        except (UserModelsError, KeyringUnavailable) as error:
            self.message.say(f"Not removed. {error}", failed=True)
            return
        self._found[server.address] = server
        more = " Its key is out of the keyring." if had_key else ""
        self.message.say(f"{server.name} is removed; it can be added again.{more}")
        self.refresh(server.name)
        self.changed.emit()

    def _rename(self, new: str) -> None:
        server = self.server
        if server is not None and new != server.name:
            self._start("Renaming a server", self._rename_now(server.name, new))

    async def _rename_now(self, old: str, new: str) -> None:
        try:
            await asyncio.to_thread(self._client.rename_server, old, new)
        except (UserModelsError, KeyringUnavailable) as error:
            self.message.say(f"Not renamed. {error}", failed=True)
            self._show_server(self.list.current)
            return
        self.message.say(f"{old} is called {new} now; so are its models.")
        self.refresh(new)
        self.renamed.emit(old, new)
        self.changed.emit()
