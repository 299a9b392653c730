"""A walk comes to what a play through the agent's own loop comes to, decision by decision."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from explorer.audit.simulation import (
    Assumptions,
    KnownRun,
    Policy,
    ReportedUsage,
    Simulation,
    simulate,
)
from explorer.compaction.background import RunState
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import CancelToken, ModelClient
from explorer.services.changes import CompactionEnded
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.recorded_session import recorded_session
from explorer.services.session_replay import Pace, Player
from explorer.session.edits import prunes_on
from explorer.session.kinds import Kind
from explorer.settings import paths
from explorer.store import Store
from explorer.workbench import Workbench
from tests.pruned_sample import write_much_output

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    made = Workbench(Store.open(tmp_path / "sessions.db"), ModelClient(), random=Random(7))
    yield made
    made.client.close()
    made.store.close()


class _Patient(Pace):
    """Answers only once no summary is made ahead, so that each is there at the next request."""

    def __init__(self) -> None:
        super().__init__(0)
        self.busy: Callable[[], bool] = lambda: False

    def wait(self, tokens: float, cancelled: Callable[[], bool]) -> None:
        while self.busy() and not cancelled():
            time.sleep(0.002)


class _Middle:
    def random(self) -> float:
        return 0.5


def played(
    bench: Workbench, source: Document, rules: EffectiveRules, window: int | None = None
) -> tuple[Player, list[CompactionEnded]]:
    """The session played to its end. ``window``: what takes more tokens is refused."""
    ended: list[CompactionEnded] = []

    async def work() -> Player:
        stage = await bench.create("/work", "Replay")
        pace = _Patient()
        player = Player(recorded_session(source), stage, lambda: rules, pace, window)
        prompts = player.automatic.prompts
        prompts._prompts._draws = _Middle()
        if prompts.is_active:
            pace.busy = lambda: prompts.machine.state is RunState.IN_PROGRESS
        forget = bench.subscribe(lambda c: ended.append(c) if isinstance(c, CompactionEnded) else 0)
        result = await player.run(CancelToken(), lambda event: None)
        forget()
        assert result.end == "done", result
        return player

    return asyncio.run(work()), ended


def known_of(document: Document) -> KnownRun:
    """What the play's provider told, and how large its summaries were."""
    columns, path = document.tree.columns, document.tree.path(document.leaf).indices()
    reports = {}
    for entry in path:
        if columns.kind[entry] == Kind.ASSISTANT and columns.usage[entry] >= 0:
            usage = document.payloads.shown.entry(entry).usage
            assert usage is not None
            reports[entry] = ReportedUsage(usage.prompt, columns.usage[entry])
    summaries = [columns.estimate[at] for at in path if columns.kind[at] == Kind.COMPACTION]
    return KnownRun(reports, summaries)


def recorded_compactions(document: Document) -> list[tuple[int, int]]:
    """After which entry each happened, and from which on entries were kept."""
    columns, path = document.tree.columns, document.tree.path(document.leaf).indices()
    found = []
    for at, entry in enumerate(path):
        if columns.kind[entry] == Kind.COMPACTION:
            before = [
                one for one in path[:at]
                if columns.kind[one] != Kind.COMPACTION and one not in columns.prunes
            ]  # fmt: skip
            kept = document.tree.index_of(columns.compactions[entry].first_kept_id)
            # A prune that was pulled to the kept side stands for what follows it.
            while kept in columns.prunes:
                kept += 1
            found.append((before[-1], kept))
    return found


def walked(document: Document, rules: EffectiveRules, taken: Assumptions) -> Simulation:
    policy = Policy(rules.profile, rules.settings)
    known = known_of(document)
    return simulate(document.tree, document.leaf, policy, known=known, assumptions=taken)


def compare(player: Player, ended: list[CompactionEnded], found: Simulation) -> None:
    target = player.target
    assert [(one.entry, one.first_kept) for one in found.compactions] == recorded_compactions(
        target
    )
    went_well = [one for one in ended if one.entry >= 0]
    assert [one.before for one in found.compactions] == [one.tokens_before for one in went_well]
    assert [one.after for one in found.compactions] == [one.tokens_after for one in went_well]
    assert [one.cause for one in found.compactions] == [one.trigger for one in went_well]
    prunes = prunes_on(target.tree, target.tree.path(target.leaf))
    assert [one.results for one in found.prunes] == [
        tuple(sorted(target.tree.prune_results(at))) for at in prunes
    ]


def rules_for(name: str, window: int, keep: int, reserve: int) -> EffectiveRules:
    profile = PROFILES[name]
    sizes = replace(
        Settings.of(profile), context_window=window, keep_recent_tokens=keep, reserve_tokens=reserve
    )
    return EffectiveRules.of(profile, "offline/extractive", sizes)


@pytest.mark.parametrize("name", ["explorer", "pi", "omp", "pyagent"])
def test_a_walk_compacts_where_a_play_does(bench: Workbench, name: str) -> None:
    source = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    rules = rules_for(name, 80_000, 4_000, 56_000)
    player, ended = played(bench, source, rules)
    found = walked(player.target, rules, Assumptions())
    assert len(found.compactions) >= 2
    compare(player, ended, found)


def test_a_walk_summarizes_ahead_where_a_play_does(bench: Workbench) -> None:
    """A47 to A49: what fits a prompt, when a summary is begun, where it ends."""
    source = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    rules = rules_for("copilot", 40_000, 4_000, 4_000)
    player, ended = played(bench, source, rules)
    prepared = player.automatic.prompts.prepared
    assert prepared is not None
    system = prepared.prompt.count(prepared.prompt.system)
    taken = Assumptions(
        tool_tokens=prepared.budget.tool_tokens, system_tokens=system, ready_after=1
    )
    found = walked(player.target, rules, taken)
    assert len(found.compactions) >= 2
    compare(player, ended, found)


@pytest.mark.parametrize("window", [36_000, 24_000, 16_000])
def test_a_walk_of_the_recording_goes_as_a_play_of_it(bench: Workbench, window: int) -> None:
    """Nothing is known of the play but how large its summaries were."""
    source = bench.open_blocking(bench.import_blocking(SAMPLE).key)
    rules = rules_for("copilot", window, 4_000, 4_000)
    player, ended = played(bench, source, rules, window)
    known = KnownRun({}, known_of(player.target).summaries)
    found = simulate(source.tree, source.leaf, Policy(rules.profile, rules.settings), known=known)
    went_well = [one for one in ended if one.entry >= 0]
    assert [(one.cause, one.before, one.after) for one in found.compactions] == [
        (one.trigger, one.tokens_before, one.tokens_after) for one in went_well
    ]
    assert len(went_well) >= 2 and found.too_large == player.too_large == 0


@pytest.mark.parametrize("name", ["explorer", "omp"])
def test_a_walk_prunes_what_a_play_does(bench: Workbench, tmp_path: Path, name: str) -> None:
    file = write_much_output(tmp_path / "much.jsonl")
    source = bench.open_blocking(bench.import_blocking(file).key)
    rules = rules_for(name, 120_000, 20_000, 40_000)
    player, ended = played(bench, source, rules)
    found = walked(player.target, rules, Assumptions())
    assert found.prunes
    compare(player, ended, found)
