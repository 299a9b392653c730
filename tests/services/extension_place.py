"""A workbench with extensions, and what is asked of it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.extensions.answers import HookRecord, records_of
from explorer.extensions.manager import (
    Extensions,
    TrustStore,
)
from explorer.models.client import (
    CancelToken,
    ModelClient,
)
from explorer.services.changes import Change, ExtensionsActed
from explorer.services.document import Document
from explorer.services.draft_records import Draft, SummaryOrder
from explorer.store import Store
from explorer.workbench import Workbench
from tests.extensions.making import handler, wait, write
from tests.services.clock import SAMPLE, Clock

EXPLORER = PROFILES["explorer"]
SETTINGS = replace(Settings.of(EXPLORER), keep_recent_tokens=5000)
NOBODY = "offline/there-is-no-such-model"
"""A model that cannot be called: whoever succeeds with it has not called it."""
MODEL = "openai/test-model"
SECRET = "AKIAIOSFODNN7EXAMPLE"
BEFORE = "session_before_compact"


class Place:
    """A workbench with a folder of extensions, and what was told."""

    def __init__(self, folder: Path, client: ModelClient | None = None) -> None:
        self.folder = folder
        self.own = folder / "extensions"
        self.limit_s = 10.0
        self.extensions = Extensions(
            self.own, TrustStore(folder / "trust.json"), lambda: self.limit_s
        )
        self.told: list[Change] = []
        self._client = client
        self.open()

    def open(self) -> None:
        store = Store.open(self.folder / "sessions.db")
        self.bench = Workbench(
            store, self._client or ModelClient(), clock_ms=Clock(), random=Random(7),
            extensions=self.extensions,
        )  # fmt: skip
        self.bench.subscribe(self.told.append)

    def close(self) -> None:
        if self._client is None:
            self.bench.client.close()
        self.bench.store.close()
        self.extensions.close()

    def document(self, file: Path = SAMPLE) -> Document:
        return self.bench.open_blocking(self.bench.import_blocking(file).key)

    def handle(self, event: str, body: str, name: str = "mine", head: str = "def") -> None:
        write(self.own, name, handler(event, body, head))

    def records(self, event: str) -> list[HookRecord]:
        """What was published of an event."""
        changes = [c for c in self.told if isinstance(c, ExtensionsActed) and c.event == event]
        return [record for change in changes for record in change.records]

    def log(self, name: str = "mine") -> list[str]:
        return [line for row in self.extensions.listing() if row.name == name for line in row.log]


def order(model: str = "offline/extractive", instructions: str = "") -> SummaryOrder:
    return SummaryOrder(instructions, model, lambda _purpose, _text: None, CancelToken())


def draft(document: Document, model: str = "offline/extractive", instructions: str = "") -> Draft:
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    return wait(document.compaction.summarize(shown, order(model, instructions)))


def recorded(document: Document) -> tuple[str, list[HookRecord]]:
    """Status and extension records of the latest draft in the database."""
    row = document.shared.store.drafts(document.key)[-1]
    return row.status, records_of(row.facts)


def state(document: Document) -> tuple[Any, ...]:
    return len(document.tree), document.leaf, document.shared.store.load(document.key).leaf
