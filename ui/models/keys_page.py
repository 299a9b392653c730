"""The page of keys: provider by provider where its key is; one is set, tested or removed here."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.models.catalogue import PROVIDER_KEYS, provider_of
from explorer.models.client import (
    CancelToken,
    KeyringUnavailable,
    KeyState,
    KeyTest,
    ModelClient,
    UserModelsError,
)
from explorer.models.keys import variables_of
from ui.models.busy import Busy
from ui.models.models_page import Start
from ui.theme import S8, S12, S16, bind_font, ui_font
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, MessageLine
from ui.widgets.panels import beside, column_in, enable_unless, scroll_area
from ui.widgets.table import Column, Table, TableModel

STATES = {"environment": "environment", "keyring": "keyring", "none": "no key"}


class ApiKeysPage(QWidget):
    """A key goes from the field into the keyring, and is never shown again."""

    changed = Signal()
    """Another key is there, or one less."""

    def __init__(self, client: ModelClient, start: Start, parent: QWidget) -> None:
        super().__init__(parent)
        self._client, self._start = client, start
        self._states: dict[str, KeyState] = {}
        self._every: list[str] = []
        self._problem = ""
        self._wanted = self._shown = ""
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find a provider")
        self.search.setAccessibleName("Find a provider")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda _words: self._list())
        self.list = self._make_list()
        self._make_panel()
        self._lay_out()
        self._show_provider()

    def _make_list(self) -> Table:
        columns: list[Column[str]] = [
            Column("Provider", str, fits=True),
            Column(
                "Key", lambda name: STATES[self._place(name)], stretch=True, detail=self._state_text
            ),
        ]
        made = Table(TableModel(columns), "Providers and where their keys are", self)
        made.current_changed.connect(lambda _now: self._show_provider())
        made.row_activated.connect(lambda _name: self.field.setFocus())
        made.restyle()
        return made

    def _make_panel(self) -> None:
        self.area = scroll_area(self)
        self.panel = QWidget(self.area)
        self.name = QLabel(self.panel)
        bind_font(self.name, lambda: ui_font(1, bold=True))
        self.state = QLabel(self.panel)
        self.field = QLineEdit(self.panel)
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText("Paste or type the key")
        self.field.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.field.textChanged.connect(lambda _text: self._enable())
        self.field.returnPressed.connect(self._keep_by_return)
        self.keep = QPushButton("Put it into the &keyring", self.panel)
        self.keep.setProperty("kind", "primary")
        self.keep.clicked.connect(self._keep)
        self.test = QPushButton("&Test", self.panel)
        self.test.setToolTip("Make the smallest real request with it")
        self.test.clicked.connect(self._test)
        self.remove = QPushButton("Re&move", self.panel)
        self.remove.setToolTip("Take the key out of the keyring")
        self.remove.clicked.connect(self._remove)
        for button in (self.keep, self.test, self.remove):
            button.setAutoDefault(False)
        self.busy = Busy(self.panel)
        self.busy.changed.connect(self._enable)
        self.message = MessageLine(self.panel)
        self.about = Caption(parent=self.panel)
        for label in (self.name, self.state, self.about):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)

    def _lay_out(self) -> None:
        buttons = wrapping_row(self.keep, self.test, self.remove, down=S8)
        details = QVBoxLayout(self.panel)
        details.setContentsMargins(S16, 0, S16, S12)
        details.setSpacing(S8)
        for part in (self.name, self.state, self.field):
            details.addWidget(part)
        details.addLayout(buttons)
        for below in (self.busy, self.message, self.about):
            details.addWidget(below)
        details.addStretch(1)
        self.area.setWidget(self.panel)
        left = QWidget(self)
        column = column_in(left, S8, (S16, 0, 0, 0))
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        self.split = beside(left, self.area, (400, 600), self)
        whole = column_in(self, margins=(0, S12, 0, 0))
        whole.addWidget(self.split, 1)

    # what is shown -------------------------------------------------------------------------------

    def show_provider(self, provider: str) -> None:
        """Choose a provider, also one that is not listed at first."""
        self._wanted = provider
        self.search.clear()
        self._list()
        self.field.setFocus()

    def refresh(self) -> None:
        """Look anew where the keys are; the keyring is asked on a thread."""
        self._start("Looking for keys", self._refresh())

    async def _refresh(self) -> None:
        self._problem = await asyncio.to_thread(self._client.keys.unavailable_reason)
        self._every = await asyncio.to_thread(self._providers)
        self._states = await asyncio.to_thread(self._find)
        self._list()

    def _providers(self) -> list[str]:
        found = dict.fromkeys(provider_of(model.id) for model in self._client.every_model())
        return [name for name in found if name not in ("offline", "remote", "replay")]

    def _find(self) -> dict[str, KeyState]:
        """Of the providers that are listed without a search, where the key is."""
        user_models = self._client.user_models
        servers = [server.name for server in user_models.servers()]
        usual = [name for name, _variables in PROVIDER_KEYS]
        others = [name for name in self._every if self._client.keys.has(name)]
        names = dict.fromkeys((*usual, *others, *servers, *sorted(user_models.in_keyring())))
        return {name: self._state(name) for name in names}

    def _state(self, provider: str) -> KeyState:
        try:
            return self._client.keys.state(provider)
        except KeyringUnavailable:
            # The keyring is locked; that a key should be there is known all the same.
            return KeyState(provider, "keyring", variable=variables_of(provider)[0])

    @property
    def provider(self) -> str:
        """The provider that is chosen; empty for none."""
        return str(self.list.current or "")

    def _list(self) -> None:
        chosen = self._wanted or self.provider
        words = self.search.text().casefold().split()
        names = list(self._states)
        if chosen and chosen not in names and not words:
            names.append(chosen)
        if words:
            found = dict.fromkeys((*names, *self._every))
            names = [name for name in found if all(word in name.casefold() for word in words)]
        # Those with a key come first.
        names.sort(key=lambda name: self._place(name) == "none")
        self._wanted = ""
        self.list.show_rows(names, chosen)

    def _place(self, provider: str) -> str:
        state = self._states.get(provider)
        return state.place if state is not None else "none"

    def _state_text(self, provider: str) -> str:
        state = self._states.get(provider)
        if state is None:
            state = KeyState(provider, "none", variable=variables_of(provider)[0])
        return state.sentence

    def _show_provider(self) -> None:
        provider = self.provider
        self.panel.setVisible(bool(provider))
        if provider != self._shown:
            self._shown = provider
            self.busy.stop()
            self.field.clear()
            self.message.say("")
        self.name.setText(provider)
        self.field.setAccessibleName(f"Key of {provider}")
        self.state.setText(self._state_text(provider) if provider else "")
        self.about.setText(self._about(provider))
        self._enable()

    def _about(self, provider: str) -> str:
        if self._problem:
            return (
                f"{self._problem} Set the variable {variables_of(provider)[0]} before you start the"
                " window instead. A key in the field can be tested all the same."
            )
        lines = ["A key is kept by the system's keyring alone, and is never shown again."]
        if self._place(provider) == "environment":
            lines.append("One in the keyring goes before the one of the environment.")
        return " ".join(lines)

    def _enable(self) -> None:
        typed, free = bool(self.field.text().strip()), not self.busy.running
        has_key = self._place(self.provider) != "none"
        is_server = self._client.user_models.server(self.provider) is not None
        busy = "" if free else "Wait until the key has been tested."
        missing = "" if typed else "Paste a key into the field first."
        none = "" if typed or has_key or is_server else missing
        in_keyring = self._place(self.provider) == "keyring"
        enable_unless(self.keep, busy or self._problem or missing)
        enable_unless(self.test, busy or none)
        enable_unless(self.remove, busy or ("" if in_keyring else "No key is kept here."))

    # what is done --------------------------------------------------------------------------------

    def _keep_by_return(self) -> None:
        if self.keep.isEnabled():
            self._keep()

    def _keep(self) -> None:
        provider, key = self.provider, self.field.text()
        self.field.clear()
        self._start("Keeping the key", self._keep_now(provider, key))

    async def _keep_now(self, provider: str, key: str) -> None:
        try:
            await asyncio.to_thread(self._client.keys.keep, provider, key)
        except (KeyringUnavailable, UserModelsError) as error:
            self.message.say(f"Not kept. {error}", failed=True)
            return
        await self._refresh()
        self.message.say("The keyring keeps it now.")
        self.changed.emit()

    def _remove(self) -> None:
        self._start("Removing the key", self._remove_now(self.provider))

    async def _remove_now(self, provider: str) -> None:
        try:
            await asyncio.to_thread(self._client.keys.forget, provider)
        except (KeyringUnavailable, UserModelsError) as error:
            self.message.say(f"Not removed. {error}", failed=True)
            return
        await self._refresh()
        left = "; the environment's counts again" if self._place(provider) != "none" else ""
        self.message.say(f"The key is out of the keyring{left}.")
        self.changed.emit()

    def _test(self) -> None:
        key = self.field.text().strip() or None
        self._start("Testing the key", self._test_now(self.provider, key))

    async def _test_now(self, provider: str, key: str | None) -> None:
        self.message.say("")

        async def ask(cancel: CancelToken) -> KeyTest:
            return await self._client.test_key(provider, key, cancel)

        tried = await self.busy.run(f"Asking {provider}…", ask)
        if provider != self.provider:
            return
        if tried is None:
            self.message.say("The test was cancelled.")
        else:
            self.message.say(tried.sentence, failed=not tried.works)
