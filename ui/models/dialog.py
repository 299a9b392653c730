"""The dialog of models: choose one, set keys, add servers. What is changed holds at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.models.catalogue import cannot_summarize, only_summarizes
from explorer.models.client import ModelClient
from explorer.models.servers import USUAL_ADDRESSES
from ui.models.keys_page import ApiKeysPage
from ui.models.model_table import ModelRow
from ui.models.models_page import ModelsPage, Start
from ui.models.servers_page import ServersPage
from ui.theme import set_tone
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.labels import ElidedLabel
from ui.widgets.panels import row as line_of
from ui.widgets.tabs import Tabs

Purpose = Literal["agent", "summary", "setting"]
Page = Literal["models", "keys", "servers"]
TABS: Mapping[Page, str] = {"models": "&Models", "keys": "&Keys", "servers": "Ser&vers"}
PAGES: tuple[Page, ...] = tuple(TABS)
TITLES: Mapping[Purpose, str] = {
    "agent": "Models",
    "summary": "Models",
    "setting": "Choose a model",
}


class ModelsSurroundings(Struct, frozen=True):
    """What the dialog needs to know of the window."""

    purpose: Purpose = "agent"
    """What a model is chosen for at first."""
    agent: str = ""
    """The model that answers now."""
    summary: str = ""
    """The model that is asked for summaries now."""
    context: int = 0
    """Tokens of the session shown, that a model's window should hold; 0 for none."""
    addresses: Sequence[str] = USUAL_ADDRESSES
    """Where servers are looked for."""

    @property
    def in_use(self) -> dict[str, str]:
        """By model: what it does now."""
        found = {self.agent: "answers", self.summary: "summarizes"}
        if self.agent == self.summary:
            found[self.agent] = "answers and summarizes"
        return {model: words for model, words in found.items() if model}


class ModelsDialog(Dialog):
    """Closed by Escape, and by choosing a model."""

    model_chosen = Signal(str, str)
    """(purpose, model)"""
    models_changed = Signal()
    """A key or a server is there that was not, or is no more."""
    renamed = Signal(str, str)
    """A server's (old name, new name)."""

    def __init__(
        self, client: ModelClient, start: Start, around: ModelsSurroundings, parent: QWidget
    ):
        super().__init__(TITLES[around.purpose], parent)
        self._around = around
        self._client, self._start = client, start
        self.pages = Tabs(self)
        self.pages.setDocumentMode(True)
        self.pages.setAccessibleName("Pages of the dialog")
        self.pages.tabBar().setAccessibleName("Models, keys and servers")
        self._places = {page: self._place(page, title) for page, title in TABS.items()}
        self.models = ModelsPage(client, start, self._places["models"])
        self._fill("models", self.models)
        self._keys: ApiKeysPage | None = None
        self._servers: ServersPage | None = None
        self.pages.currentChanged.connect(self._page_shown)
        self._make_foot()
        self._connect()
        self._lay_out()
        fit(self, 1000, 680)
        self.models.show_surroundings(self._first(), around.context, around.in_use)
        self.refresh()
        self._marked(None)
        self.models.search.setFocus()

    def _first(self) -> str:
        around = self._around
        return around.summary if around.purpose == "summary" else around.agent

    def _make_foot(self) -> None:
        self.message = ElidedLabel(parent=self)
        set_tone(self.message, "lost")
        self.agent = self.button("Use for the a&gent")
        self.agent.clicked.connect(lambda: self._choose("agent"))
        self.summary = self.button("Use for &summaries")
        self.summary.clicked.connect(lambda: self._choose("summary"))
        self.take = self.button("&Take it")
        self.take.clicked.connect(lambda: self._choose("setting"))
        self.done_button = self.button("Close")
        self.done_button.clicked.connect(self.reject)
        primary = {"agent": self.agent, "summary": self.summary, "setting": self.take}
        primary[self._around.purpose].setProperty("kind", "primary")

    # pages, each made when it is first needed ----------------------------------------------------

    def _place(self, page: Page, title: str) -> QWidget:
        place = QWidget(self.pages)
        self.pages.addTab(place, title)
        return place

    def _fill(self, page: Page, content: QWidget) -> None:
        column = QVBoxLayout(self._places[page])
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(content)
        # A layout shows what it is given later; the keyboard can be wanted there at once.
        content.show()

    @property
    def keys(self) -> ApiKeysPage:
        if self._keys is None:
            page = self._keys = ApiKeysPage(self._client, self._start, self._places["keys"])
            page.changed.connect(self.models_changed)
            self._fill("keys", page)
            page.refresh()
        return self._keys

    @property
    def servers(self) -> ServersPage:
        if self._servers is None:
            page = self._servers = ServersPage(
                self._client, self._start, self._around.addresses, self._places["servers"]
            )
            page.key_asked.connect(self.show_key)
            page.renamed.connect(self.renamed)
            page.changed.connect(self.models_changed)
            self._fill("servers", page)
        return self._servers

    def _connect(self) -> None:
        models = self.models
        models.marked.connect(self._marked)
        models.chosen.connect(lambda: self._choose(self._around.purpose))
        models.typed_chosen.connect(lambda name: self._take(self._around.purpose, name))
        models.failed.connect(self.message.setText)
        models.key_asked.connect(self.show_key)

    def _lay_out(self) -> None:
        foot = line_of(
            self.message, self.summary, self.agent, self.take, self.done_button, wide=self.message
        )
        self.lay_out(None, self.pages, foot)

    # what is shown -------------------------------------------------------------------------------

    @property
    def page(self) -> Page:
        """The page that is shown."""
        return PAGES[self.pages.currentIndex()]

    def show_page(self, page: Page) -> None:
        self.pages.setCurrentIndex(PAGES.index(page))

    def show_key(self, provider: str) -> None:
        """Show the page of keys at a provider."""
        self.show_page("keys")
        self.keys.show_provider(provider)

    def show_surroundings(self, around: ModelsSurroundings) -> None:
        """Something changed in the window."""
        self._around = around
        self.models.show_surroundings(self._first(), around.context, around.in_use)
        self._marked(self.models.row)

    def refresh(self) -> None:
        """Show models, keys and servers as they are now."""
        self.models.refresh()
        if self._keys is not None:
            self._keys.refresh()
        if self._servers is not None:
            self._servers.refresh()

    def stop(self) -> None:
        """End what is asked at the moment."""
        for page in (self._keys, self._servers):
            if page is not None:
                page.busy.stop()

    def _page_shown(self) -> None:
        self.message.setText("")
        self._marked(self.models.row)
        first: QWidget = self.models.search
        if self.page == "keys":
            first = self.keys.list
        elif self.page == "servers":
            first = self.servers.look
        # Whoever goes from tab to tab by the arrows goes on with them.
        if not self.pages.tabBar().hasFocus():
            first.setFocus()

    def _marked(self, row: ModelRow | None) -> None:
        """What can be done with the marked model can be pressed."""
        models, setting = self.page == "models", self._around.purpose == "setting"
        self.agent.setVisible(models and not setting)
        self.summary.setVisible(models and not setting)
        self.take.setVisible(models and setting)
        model = row.info.id if row is not None else ""
        for purpose, button in (("agent", self.agent), ("summary", self.summary)):
            why_not = _why_not(purpose, model)
            button.setEnabled(bool(model) and not why_not)
            button.setToolTip(why_not)
        self.take.setEnabled(bool(model))

    # what is done --------------------------------------------------------------------------------

    def _choose(self, purpose: str) -> None:
        row = self.models.row
        if row is not None:
            self._take(purpose, row.info.id)

    def _take(self, purpose: str, model: str) -> None:
        why_not = _why_not(purpose, model)
        if why_not:
            self.message.setText(why_not)
            return
        self.model_chosen.emit(purpose, model)
        self.accept()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        """Return does what the control under the keyboard does; it presses no other button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return
        super().keyPressEvent(event)


def _why_not(purpose: str, model: str) -> str:
    """Why a model cannot do a job, in words; empty when it can."""
    if purpose == "agent" and only_summarizes(model):
        return f"{model} writes summaries alone; it answers nobody."
    if purpose == "summary" and cannot_summarize(model):
        return f"{model} follows rules of its own; it has no summary to give."
    return ""
