"""An automatic compaction of an imported session that would go to a provider: it waits for the
person's answer, and after a "no" the turn goes on as without one (Trust)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES
from explorer.models.client import CancelToken, ModelClient, ModelClientConfig, ModelInfo
from explorer.services.effective_rules import EffectiveRules
from explorer.services.privacy import Sending
from explorer.store import Store
from explorer.workbench import Workbench
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.services.automatic_rig import (
    FULL,
    MODEL,
    SETTINGS,
    Desk,
    server,
    state,
    until,
    wait,
)
from tests.services.conftest import SAMPLE, Clock

__all__ = ["server"]

READS_S = 0.5
"""Nobody answers before both requests of a split turn wait for the answer."""
FAR, HOST = "anthropic/far-model", "models.example"


@pytest.fixture
def desk(
    server: ChatServer, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """An imported session whose agent is on this computer, and whose summarizer is not."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://{HOST}")
    server.forget()
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    server.plan(Answer(text=GOOD), model="summary-model")
    models = (ModelInfo(MODEL, "agent", 400_000, 700), ModelInfo(FAR, "sum", 200_000, 4_000))
    client = ModelClient(ModelClientConfig(models=models, timeout_s=20, idle_timeout_s=20))
    bench = Workbench(Store.open(database), client, clock_ms=Clock(), random=Random(7))
    path = tmp_path / "imported.jsonl"  # the sample itself comes with the program
    path.write_bytes(SAMPLE.read_bytes())
    document = bench.open_blocking(bench.import_blocking(path).key)
    explorer = replace(PROFILES["explorer"], pruning=None)
    yield Desk(document, EffectiveRules.of(explorer, FAR, SETTINGS))
    bench.store.close()
    client.close()


class Person:
    """Is asked, and answers "no"."""

    def __init__(self, waits: bool = False) -> None:
        self.questions: list[Sending] = []
        self._waits = waits

    async def answer(self, sending: Sending) -> bool:
        self.questions.append(sending)
        if self._waits:
            await asyncio.Event().wait()
        await asyncio.sleep(READS_S)
        return False


def test_after_a_no_the_turn_goes_on_as_without_a_compaction_and_says_why(
    desk: Desk, server: ChatServer
) -> None:
    person = Person()
    desk.document.shared.privacy.ask = person.answer
    before = desk.compactions
    result = wait(desk.say("Is it done?"))
    assert result.end == "done"
    (question,) = person.questions
    assert (question.host, question.model) == (HOST, FAR)
    assert desk.compactions == before
    (ended,) = desk.ended
    assert ended.entry == -1 and not ended.cancelled
    assert ended.problem == (
        "Auto-compaction failed: Nothing was sent: nobody agreed that text of this session goes to"
        f" {HOST}."
    )
    assert desk.document.payloads.shown.entry(desk.document.leaf).text == "Yes."
    assert wait(desk.say("And now?")).end == "done", "the next turn goes on too"
    assert len(person.questions) == 1, "it is not asked again at once"


def test_a_turn_that_is_stopped_takes_the_question_back(desk: Desk) -> None:
    person, cancel = Person(waits=True), CancelToken()
    desk.document.shared.privacy.ask = person.answer

    async def stop() -> None:
        turn = asyncio.ensure_future(desk.say("Is it done?", cancel))
        await until(lambda: person.questions)
        kept = state(desk.document)
        cancel.cancel()
        await turn
        assert state(desk.document) == kept

    wait(stop())
    (ended,) = desk.ended
    assert ended.cancelled and ended.entry == -1 and not ended.problem
    assert len(person.questions) == 1
