"""Bugs of others around the moment of a compaction, each shown absent on a real session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.agent.turn_interface import TooLarge, TurnResult
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.triggers import MOST_FAILURES
from explorer.models.client import (
    CancelToken,
    Event,
    Finished,
    ModelClient,
    ModelRequest,
    TextDelta,
    Usage,
    UsageReport,
)
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.changes import Change, CompactionEnded
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.session.context import context_at
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.workbench import Workbench
from tests.models.summaries import GOOD
from tests.pi_json import entry_body
from tests.services.conftest import SAMPLE, Clock

EXPLORER = replace(PROFILES["explorer"], pruning=None)
SETTINGS = Settings(context_window=45_000, reserve_tokens=5_000, keep_recent_tokens=2_000)
TURNS = 1_000
AGENT = "hostile/agent"


class Hostile(ModelClient):
    """Says what it is told to say, and reports what it is told to report."""

    def __init__(self) -> None:
        super().__init__()
        self.usage: int | None = None
        self.answer = "Yes."
        self.summary = GOOD
        self.summaries = 0
        self.calls = 0

    async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        is_summary = request.model == "hostile/summarizer"
        self.summaries += is_summary
        self.calls += 1
        yield TextDelta(self.summary if is_summary else self.answer)
        if self.usage is not None and not is_summary:
            yield UsageReport(Usage(self.usage, 10, total=self.usage + 10))
        yield Finished("stop")


class Talk:
    """A session, its automatic compaction, and how often it was compacted."""

    def __init__(self, bench: Workbench, document: Document) -> None:
        self.bench, self.document = bench, document
        self.rules = EffectiveRules.of(EXPLORER, "hostile/summarizer", SETTINGS)
        self.automatic = AutomaticCompaction(document, lambda: self.rules)
        self.ended: list[CompactionEnded] = []
        bench.subscribe(self._changed)

    def _changed(self, change: Change) -> None:
        if isinstance(change, CompactionEnded):
            self.ended.append(change)

    @property
    def stored(self) -> int:
        return sum(change.entry >= 0 for change in self.ended)

    async def say(self, text: str = "Go on.") -> TurnResult:
        return await SessionTurns(
            self.document, AGENT, None, CancelToken(), lambda _: None,
            self.automatic,
        ).say(text)  # fmt: skip

    async def turn(self, usage: int) -> None:
        """What a turn does to the session, without rendering a context that nobody reads."""
        automatic, cancel = self.automatic, CancelToken()
        automatic.person_spoke()
        await automatic.before_message(AGENT, cancel)
        await self._store({"role": "user", "content": "Go on."})
        for _ in range(2):
            reply = await self._store(
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Yes."}],
                    "provider": "hostile",
                    "model": "agent",
                    "stopReason": "stop",
                    "usage": {"input": usage, "output": 10, "totalTokens": usage + 10},
                }
            )
            room = await automatic.make_room(AGENT, TooLarge(reply, "answered", usage), cancel)
            if not room.made:
                break
        await automatic.after_turn(AGENT, "went-well", True, cancel)

    async def _store(self, message: dict[str, Any]) -> int:
        return await self.document.writer.append(
            entry_body("message", message=message), self.document.leaf
        )

    def turns(self, count: int, usage: int) -> None:
        async def work() -> None:
            for _ in range(count):
                await self.turn(usage)

        asyncio.run(work())


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    client = Hostile()
    yield client
    client.close()


@pytest.fixture
def talk(database: Path, hostile: Hostile) -> Iterator[Talk]:
    bench = Workbench(Store.open(database), hostile, clock_ms=Clock(), random=Random(7))
    yield Talk(bench, bench.open_blocking(bench.import_blocking(SAMPLE).key))
    bench.store.close()


# E8: a fork loses the boundary ------------------------------------------------------------------


def test_e8_a_fork_keeps_the_boundary_of_its_own_path(
    talk: Talk, hostile: Hostile, tmp_path: Path
) -> None:
    """A branch from after the compaction starts with its summary, one from before it does not;
    in the session itself and in a copy of it that was exported and opened again."""
    hostile.usage = 41_000
    before = talk.document.leaf
    asyncio.run(talk.say())
    compaction = talk.document.leaf
    assert talk.document.tree.kind(compaction) is Kind.COMPACTION
    hostile.usage = 9_000
    asyncio.run(talk.say("One way."))
    one = talk.document.leaf
    asyncio.run(talk.document.writer.move_leaf(compaction))
    asyncio.run(talk.say("Another way."))
    other = talk.document.leaf
    for leaf in (one, other):
        assert talk.document.context(leaf).messages[0] == compaction
    assert compaction not in talk.document.context(before).messages
    assert talk.stored == 1, "the fork is as small as the path that it came from"
    target = tmp_path / "fork.jsonl"
    asyncio.run(talk.bench.export(talk.document.key, target, "pi-v3", leaf=one))
    copy = talk.bench.open_blocking(talk.bench.import_blocking(target).key)
    ids = copy.tree.columns.ids
    at = copy.tree.index_of(talk.document.tree.columns.ids[one])
    context = context_at(copy.tree, at)
    assert ids[context.compaction] == talk.document.tree.columns.ids[compaction]
    names = [talk.document.tree.columns.ids[e] for e in talk.document.context(one).messages]
    assert [ids[entry] for entry in context.messages] == names


# E13: two token metrics -------------------------------------------------------------------------


def test_e13_what_triggers_is_what_is_tested_and_shown(talk: Talk, hostile: Hostile) -> None:
    hostile.usage = 41_000
    asyncio.run(talk.say())
    (ended,) = talk.ended
    size = talk.document.tokens.context_size(EXPLORER).tokens
    assert size == talk.document.tokens.counted_size(EXPLORER) == ended.tokens_after
    assert size <= talk.automatic.limits(AGENT).threshold


def test_e13_continuing_by_itself_comes_to_an_end(talk: Talk, hostile: Hostile) -> None:
    """oh-my-pi's loop: every reply reports a full window, every compaction asks to continue."""
    omp = replace(PROFILES["omp"], pruning=None, short_summary=False)
    talk.rules = EffectiveRules.of(omp, "hostile/summarizer", SETTINGS)
    hostile.usage = 44_000
    asyncio.run(talk.say())
    assert hostile.calls - hostile.summaries == 2, "the answer, and one continuation"
    assert len(talk.ended) <= 2


# E15: hundreds of compactions in a row ----------------------------------------------------------


@pytest.mark.parametrize(("usage", "turns"), [(44_000, TURNS), (9 * 10**8, 150)])
def test_e15_a_thousand_turns_with_a_hostile_provider_end_in_few_compactions(
    talk: Talk, usage: int, turns: int
) -> None:
    """Whatever it reports, each failed or needless attempt counts, and three end the row."""
    talk.turns(turns, usage)
    assert 1 <= len(talk.ended) <= MOST_FAILURES + 2
    assert "in a row" in talk.automatic.resting
    before = len(talk.ended)
    talk.automatic.reset()
    assert not talk.automatic.resting
    talk.turns(1, usage)
    assert len(talk.ended) > before


def test_e15_a_summarizer_that_only_babbles_is_asked_three_times(
    talk: Talk, hostile: Hostile
) -> None:
    """E16: what it gives is larger than what it stands for."""
    hostile.summary = "word " * 60_000
    talk.turns(200, 44_000)
    assert len(talk.ended) == MOST_FAILURES
    assert not talk.stored
    assert "3 failures in a row" in talk.automatic.resting


def test_e15_settings_that_leave_no_room_end_in_words(talk: Talk, hostile: Hostile) -> None:
    """More is kept than the threshold allows: no compaction could ever help."""
    talk.rules = replace(talk.rules, settings=replace(SETTINGS, keep_recent_tokens=44_000))
    talk.turns(200, 44_000)
    assert hostile.summaries <= MOST_FAILURES
    assert talk.automatic.resting


# E16: larger than the input ---------------------------------------------------------------------


@pytest.mark.parametrize("answers", ["checked", "stored"])
def test_e16_a_summary_larger_than_its_input_is_refused_under_every_profile(
    talk: Talk, hostile: Hostile, answers: str
) -> None:
    """C3: counted as a failure; the draft is kept for looking at, not for taking up."""
    profile = replace(EXPLORER, answers=answers)  # type: ignore[arg-type]
    talk.rules = replace(talk.rules, profile=profile)
    hostile.usage, hostile.summary = 41_000, "word " * 60_000
    result = asyncio.run(talk.say())
    (ended,) = talk.ended
    assert (ended.entry, talk.document.leaf) == (-1, result.entries[-1])
    assert ended.problem.startswith("Auto-compaction failed: ")
    assert talk.automatic.guards.failures == 1
    assert not talk.document.drafts.waiting()
