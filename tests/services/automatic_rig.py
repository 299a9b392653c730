"""A session that is compacted by itself, with its rules at hand, over real HTTP.

The agent and the summarizer are two models of one provider, so that each can fail by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from explorer.agent.turn_interface import TurnEvent, TurnResult
from explorer.agent.workspace import Workspace
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import CancelToken, ModelClient, ModelClientConfig, ModelInfo
from explorer.models.retry import RetryPolicy
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.changes import (
    Change,
    CompactionEnded,
    CompactionStarted,
)
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.workbench import Workbench
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.services.conftest import SAMPLE, Clock

T = TypeVar("T")
MODEL, SUMMARIZER = "openai/test-model", "openai/summary-model"
FULL = {"prompt_tokens": 41_000, "completion_tokens": 500, "total_tokens": 41_500}
ROOM = {"prompt_tokens": 9_000, "completion_tokens": 20, "total_tokens": 9_020}
SETTINGS = Settings(context_window=45_000, reserve_tokens=5_000, keep_recent_tokens=2_000)
QUICK = RetryPolicy(tries=3, first_wait_s=0.01, jitter=0)


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    """One client for all tests: litellm takes seconds to import."""
    models = (ModelInfo(MODEL, "agent", 400_000, 700), ModelInfo(SUMMARIZER, "sum", 200_000, 4_000))
    opened = ModelClient(
        ModelClientConfig(models=models, api_base=server.url, timeout_s=20, idle_timeout_s=20)
    )
    yield opened
    opened.close()


@dataclass
class Desk:
    """A session with its automatic compaction, the rules at hand, and what was told."""

    document: Document
    rules: EffectiveRules
    told: list[Change] = field(default_factory=list)
    events: list[TurnEvent] = field(default_factory=list)
    workspace: Workspace | None = None
    automatic: AutomaticCompaction = field(init=False)

    def __post_init__(self) -> None:
        self.automatic = AutomaticCompaction(self.document, lambda: self.rules)
        self.document.shared.hub.subscribe(self.told.append)

    async def say(self, text: str, cancel: CancelToken | None = None) -> TurnResult:
        return await SessionTurns(
            self.document, MODEL, self.workspace, cancel or CancelToken(),
            self.events.append, self.automatic, QUICK,
        ).say(text)  # fmt: skip

    def change(self, **rules: Any) -> None:
        self.rules = replace(self.rules, **rules)

    @property
    def started(self) -> list[CompactionStarted]:
        return [change for change in self.told if isinstance(change, CompactionStarted)]

    @property
    def ended(self) -> list[CompactionEnded]:
        return [change for change in self.told if isinstance(change, CompactionEnded)]

    @property
    def compactions(self) -> int:
        """On the active path."""
        tree = self.document.tree
        return sum(tree.kind(entry) is Kind.COMPACTION for entry in tree.path(self.document.leaf))


@pytest.fixture
def desk(server: ChatServer, client: ModelClient, database: Path) -> Iterator[Desk]:
    server.forget()
    server.plan(Answer(text=GOOD), model="summary-model")
    server.plan(Answer(text="Yes.", usage=ROOM), model="test-model")
    bench = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    document = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    explorer = replace(PROFILES["explorer"], pruning=None)
    yield Desk(document, EffectiveRules.of(explorer, SUMMARIZER, SETTINGS))
    bench.store.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "ports.txt").write_text("The server listens on 8431.\n")
    return Workspace(tmp_path / "project")


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


async def until(condition: Callable[[], object]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


def asked(server: ChatServer, model: str) -> list[dict[str, Any]]:
    return [body for body in server.requests if body["model"] == model]


def state(document: Document) -> tuple[Any, ...]:
    stored = document.shared.store.load(document.key)
    return (len(document.tree), document.leaf, document.context().messages, stored.leaf)
