"""A prompt gate at work on the sample session, with a provider on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from explorer.agent.tools.workspace_tools import READ_ONLY, specs_of
from explorer.agent.turn_interface import Outgoing
from explorer.compaction.background import RunState
from explorer.compaction.profile import PROFILES, Profile
from explorer.models.client import (
    CancelToken,
    ModelClient,
    ModelClientConfig,
    ModelInfo,
)
from explorer.services.auto_compaction.prompt_gate import PromptGate
from explorer.services.changes import Change
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.session.kinds import Kind
from explorer.store import DraftRow, Store
from explorer.workbench import Workbench
from tests.models.server import (
    Answer,
    ChatServer,
)
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE, Clock

T = TypeVar("T")
MODEL = "openai/test-model"
COPILOT = PROFILES["copilot"]
SECTIONS = "1. Conversation Overview: the retry test flakes."
SUMMARY = f"<analysis>\nhm\n</analysis>\n<summary>\n{SECTIONS}\n</summary>"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    config = ModelClientConfig(
        models=(
            ModelInfo(MODEL, "test", 200_000, 700),
            ModelInfo("openai/summarizer", "test", 200_000, 700),
            ModelInfo("openai/claude-opus-test", "test", 200_000, 700),
        ),
        api_base=server.url,
        timeout_s=20,
        idle_timeout_s=20,
    )
    opened = ModelClient(config)
    yield opened
    opened.close()


@pytest.fixture
def bench(server: ChatServer, client: ModelClient, database: Path) -> Iterator[Workbench]:
    server.plan(Answer(text=SUMMARY))
    server.requests.clear()
    server.gone.clear()
    server.started.clear()
    made = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    yield made
    made.store.close()


@pytest.fixture
def document(bench: Workbench) -> Document:
    return bench.open_blocking(bench.import_blocking(SAMPLE).key)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


class Half:
    def random(self) -> float:
        return 0.5


class Rig:
    """A prompt gate whose window can be set, and what it said."""

    def __init__(
        self, document: Document, fill: float, profile: Profile = COPILOT, **rules: Any
    ) -> None:
        """``fill``: how full the prompt of the session is to be."""
        self.document = document
        self.model = str(rules.pop("model", MODEL))
        # Beside tools a tenth is held back, and what fills nine tenths does not fit (B19).
        self.tools = () if 0.86 < fill < 1.2 else specs_of(READ_ONLY)
        self.rules = replace(EffectiveRules.of(profile, MODEL), **rules)
        self.set_window(1_000_000)
        self.gate = PromptGate(document, lambda: self.rules, Half())
        self.changes: list[Change] = []
        document.shared.hub.subscribe(self.changes.append)
        self.fill = fill
        self.compactions = self._compactions()

    def set_window(self, tokens: int) -> None:
        sizes = replace(self.rules.settings, context_window=tokens)
        self.rules = replace(self.rules, settings=sizes)

    def _compactions(self) -> int:
        return self.document.tree.columns.kind.count(Kind.COMPACTION)

    @property
    def untouched(self) -> bool:
        """No compaction was added to the sample's own."""
        return self._compactions() == self.compactions

    @property
    def outgoing(self) -> Outgoing:
        return Outgoing(self.model, "You are an agent.", self.tools)

    async def size(self) -> None:
        """Set the window so that the prompt fills as much of it as wanted."""
        prepared = await self.gate._prepare(self.outgoing)
        whole = await asyncio.to_thread(prepared.rendered, keep_cached=False)
        tokens = whole.tokens + prepared.budget.tool_tokens
        self.set_window(int(tokens / self.fill))

    async def send(self, cancel: CancelToken | None = None) -> tuple[Any, ...]:
        return await self.gate.messages(self.outgoing, cancel or CancelToken())

    async def idle(self) -> None:
        """Wait for the run under way."""
        if self.gate._task is not None:
            await asyncio.wait({self.gate._task})

    async def work_on(self, turn: bool = False) -> None:
        """The agent goes on by a round."""
        append = self.document.writer.append
        if turn:
            spoken = {"role": "user", "content": "And now?"}
            await append(entry_body("message", message=spoken), self.document.leaf)
        call = {"type": "toolCall", "id": f"c{len(self.document.tree)}", "name": "ls",
                "arguments": {}}  # fmt: skip
        reply = {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, call]}
        await append(entry_body("message", message=reply), self.document.leaf)
        result = {"role": "toolResult", "toolCallId": call["id"], "toolName": "ls",
                  "content": [{"type": "text", "text": "a.py"}]}  # fmt: skip
        await append(entry_body("message", message=result), self.document.leaf)

    @property
    def state(self) -> RunState:
        return self.gate.machine.state

    def drafts(self) -> list[DraftRow]:
        return self.document.shared.store.drafts(self.document.key)


def context_kinds(document: Document) -> list[Kind]:
    return [Kind(document.tree.columns.kind[at]) for at in document.context().messages]
