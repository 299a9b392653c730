"""Walks of recorded sessions: sizes, decisions, what is sent, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.audit.simulation import (
    Assumptions,
    KnownRun,
    Past,
    Policy,
    Prices,
    RequestMark,
    Simulation,
    Tier,
    WalkStopped,
    past_of,
    simulate,
)
from explorer.audit.simulation.policy import measure_of, summary_size
from explorer.audit.simulation.simulated_compactor import SimulatedCompactor
from explorer.audit.simulation.track import track_of
from explorer.audit.simulation.walk import _Walk, axes, sweep
from explorer.audit.simulation.walked_tree import Overlay
from explorer.compaction.context_size import context_size, counted_size
from explorer.compaction.partition import partition
from explorer.compaction.preparation import prepare
from explorer.compaction.profile import PROFILES, VARIANTS, Settings
from explorer.compaction.pruning import plan_pruning
from explorer.compaction.triggers import Guards
from explorer.formats.registry import open_source
from explorer.session.context import context_at
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree
from explorer.settings import paths
from tests.compaction.sessions import Session
from tests.formats.codex_rollouts import Rollout
from tests.generated import write_session
from tests.pruned_sample import write_much_output

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
ALL = [*PROFILES.values(), *VARIANTS.values()]
WINDOW = 30_000


def read(path: Path) -> tuple[SessionTree, int]:
    source, tree = open_source(path), SessionTree()
    for batch in source.batches():
        for record in batch:
            tree.append(record.entry_id, record.parent, record.facts, record.estimate)
    leaf = source.report.leaf
    return tree, len(tree) - 1 if leaf is None else leaf


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SessionTree, int]]:
    folder = tmp_path_factory.mktemp("made")
    yield read(write_session(folder / "made.jsonl", 900, seed=5, branches=False))


@pytest.fixture(scope="module")
def sample() -> tuple[SessionTree, int]:
    return read(SAMPLE)


def small(
    profile_name: str, window: int = WINDOW, keep: int = 4_000, reserve: int = 8_000
) -> Policy:
    profile = next(each for each in ALL if each.name == profile_name)
    sizes = replace(
        Settings.of(profile), context_window=window, keep_recent_tokens=keep, reserve_tokens=reserve
    )
    return Policy(profile, sizes)


def weights_of(tree: SessionTree) -> list[int]:
    """Another count than the estimate; some entries are not counted yet."""
    return [
        -1 if at % 17 == 3 else value * 5 // 4 for at, value in enumerate(tree.columns.estimate)
    ]


def with_operations(overlay: Overlay) -> SessionTree:
    """The tree with what only the engine's own pruning asks of it."""
    track, columns = overlay.track, overlay.tree.columns
    theirs, mine = track.tree.columns.ops, columns.ops
    mine.paths, mine.parts = theirs.paths, theirs.parts
    here = {entry: overlay.entry_of(position) for position, entry in enumerate(track.entries)}
    for row, recorded in enumerate(theirs.entry):
        entry = here.get(recorded, -1)
        if entry < 0:
            continue
        mine.entry.append(entry)
        mine.result.append(here.get(theirs.result[row], -1))
        for name in ("kind", "path", "failed", "part", "known", "wide"):
            getattr(mine, name).append(getattr(theirs, name)[row])
    for recorded, mark in track.tree.columns.errors.items():
        if here.get(recorded, -1) >= 0:
            columns.errors[here[recorded]] = mark
    return overlay.tree


class Checked(_Walk):
    """Holds every size, and every plan, to the engine's own functions."""

    requests = plans = 0

    def __init__(self, past: Past, policy: Policy, taken: Assumptions | None = None) -> None:
        super().__init__(past, policy, taken or Assumptions(), None)

    def _went_out(self, at: int, prompt: int, mark: int) -> None:
        self.check()
        self.requests += 1
        super()._went_out(at, prompt, mark)

    def check(self) -> None:
        compactor = self._compactor
        context, profile = compactor.context, compactor.profile
        for whole in (False, True):
            overlay = compactor.overlay(whole)
            tree, leaf = overlay.tree, overlay.leaf
            if leaf < 0:
                return
            real = context_at(tree, leaf)
            assert context.counted == counted_size(tree, real, profile, overlay.weights)
            assert context.size == context_size(tree, real, profile, overlay.weights).tokens
        if profile.pruning is not None and compactor.pruner is not None:
            self._check_plan(compactor, overlay)

    def _check_plan(self, compactor: SimulatedCompactor, overlay: Overlay) -> None:
        policy, pruner, context = compactor.profile.pruning, compactor.pruner, compactor.context
        assert policy is not None and pruner is not None
        tree = with_operations(overlay)
        for needed in (None, 10_000):
            plan = plan_pruning(tree, overlay.leaf, policy, weights=overlay.weights, needed=needed)
            mine = pruner.plan(context.end, context.start, needed)
            positions = [compactor.track.position(one.entry) for one in mine.results]
            assert list(map(overlay.entry_of, positions)) == [one.entry for one in plan.results]
            assert (mine.saved, mine.reason) == (plan.saved, plan.reason)
            assert pruner.may_save(context.end, context.start) or not plan.results
            self.plans += bool(plan.results)


@pytest.mark.parametrize("measured", [False, True], ids=["estimate", "tokenizer"])
@pytest.mark.parametrize("name", [profile.name for profile in ALL])
def test_every_size_is_the_engines_own(
    sample: tuple[SessionTree, int], made: tuple[SessionTree, int], name: str, measured: bool
) -> None:
    """E13: what is drawn is what would have triggered."""
    for tree, leaf in (sample, made):
        known = KnownRun(weights=weights_of(tree) if measured else None)
        window = WINDOW if tree is sample[0] else 60_000
        policy = small(name, window)
        walk = Checked(past_of(tree, leaf, known=known), policy)
        found = walk.done()
        assert walk.requests == len(found.requests) > 50
        assert found.compactions


@pytest.mark.parametrize("name", [profile.name for profile in ALL])
def test_what_is_left_away_decides_nothing(
    made: tuple[SessionTree, int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Long stretches of nothing, a window that is too small, a breaker that opens."""
    tree, leaf = made
    past = past_of(tree, leaf)
    policies = [small(name, 60_000), small(name, 20_000, 4_000, 1), small(name, 20_000, 15_000)]
    found = [simulate(tree, leaf, policy, past=past) for policy in policies]
    assert len(found[0].compactions) >= 3
    part = SimulatedCompactor.overlay
    monkeypatch.setattr(
        SimulatedCompactor, "overlay", lambda self, whole=True: part(self, whole=True)
    )
    assert [simulate(tree, leaf, policy, past=past) for policy in policies] == found


def test_a_walk_whose_breaker_is_open_shortens_prompts_and_summarizes_none(
    sample: tuple[SessionTree, int],
) -> None:
    """As a live session does: what failed or was undone is not made again."""
    tree, leaf = sample
    walk = _Walk(past_of(tree, leaf), small("copilot", 20_000), Assumptions(), None)
    walk._compactor.guards = Guards().rest("It was undone.")
    found = walk.done()
    assert not found.compactions
    assert any(mark & RequestMark.SHORTENED for mark in found.requests.marks)


def test_tool_output_is_pruned_before_anything_is_compacted(tmp_path: Path) -> None:
    """A13: the results, the notes, and what the context holds afterwards."""
    tree, leaf = read(write_much_output(tmp_path / "much.jsonl"))
    found = simulate(tree, leaf, Policy.of(PROFILES["omp"], 200_000))
    assert found.prunes and not found.compactions
    first = found.prunes[0]
    assert all(tree.columns.kind[entry] == Kind.TOOL_RESULT for entry in first.results)
    tools = {tree.columns.tools[tree.columns.tool[entry]] for entry in first.results}
    assert "read" not in tools
    assert first.before - first.after == first.saved >= 20_000


def test_a_session_that_repeats_its_origin_is_walked(tmp_path: Path) -> None:
    origin = Rollout(1).turn(2).exchange("One?", "One.")
    fork = Rollout(5, forked_from_id=origin.thread)
    fork.lines += origin.lines
    tree, leaf = read(fork.turn(6).exchange("Two?", "Two.").write(tmp_path))
    flags = track_of(tree, leaf).flags
    assert bool(flags[0] & Flag.INHERITED) and not flags[-1] & Flag.INHERITED


def test_the_session_itself_is_not_touched(sample: tuple[SessionTree, int]) -> None:
    tree, leaf = sample
    before = len(tree), bytes(tree.columns.kind), dict(tree.columns.compactions)
    simulate(tree, leaf, small("explorer"))
    assert before == (len(tree), bytes(tree.columns.kind), dict(tree.columns.compactions))


def test_what_was_recorded_is_told_as_it_was(sample: tuple[SessionTree, int]) -> None:
    tree, leaf = sample
    found = past_of(tree, leaf).recorded
    path = tree.path(leaf)
    kept = [
        tree.index_of(tree.columns.compactions[at].first_kept_id)
        for at in path
        if tree.columns.kind[at] == Kind.COMPACTION
    ]
    assert [one.first_kept for one in found.compactions] == kept
    assert all(one.cause == "recorded" for one in found.compactions)
    told = [tree.columns.usage[entry] for entry in found.requests.entries]
    for prompt, reply, total, mark in zip(
        found.requests.sent, found.requests.written, told, found.requests.marks, strict=True
    ):
        assert (prompt + reply == total) == bool(mark & RequestMark.EXACT)
    assert found.exact > 60


def test_a_policy_that_never_compacts_sends_what_was_sent_until_the_first_compaction(
    sample: tuple[SessionTree, int],
) -> None:
    tree, leaf = sample
    past = past_of(tree, leaf)
    found = simulate(tree, leaf, Policy.of(PROFILES["explorer"], 1_000_000), past=past)
    assert not found.compactions and not found.prunes
    assert 0 < found.exact < len(found.requests)
    # From the first compaction on the recorded context is another one: sizes are estimated.
    first, usage = tree.columns.kind.index(Kind.COMPACTION), tree.columns.usage
    then = zip(found.requests.sent, past.recorded.requests.sent, strict=True)
    for entry, mark, (now, before) in zip(
        found.requests.entries, found.requests.marks, then, strict=True
    ):
        assert bool(mark & RequestMark.EXACT) == (entry < first and usage[entry] > 0)
        assert now == before or not mark & RequestMark.EXACT


@pytest.mark.parametrize("turns", [1, 20])
def test_what_is_called_exact_is_what_the_provider_counted(turns: int) -> None:
    """Of replies after the end of their turn too: nobody asked for those, and they were sent."""
    session = Session()
    usage = session.tree.columns.usage
    for turn in range(turns):
        session.user(100)
        for reply in (session.reply(50), session.reply(50)):
            usage[reply] = 10_000 + 1_000 * turn + reply
    past = past_of(session.tree, session.leaf)
    found = simulate(session.tree, session.leaf, Policy.of(PROFILES["explorer"]), past=past)
    assert found.exact == len(found.requests) == 2 * turns
    assert list(found.requests.sent) == list(past.recorded.requests.sent)
    assert list(found.requests.cached) == list(past.recorded.requests.cached)
    for entry, sent, written in zip(
        found.requests.entries, found.requests.sent, found.requests.written, strict=True
    ):
        assert sent + written == usage[entry]


def long_turns(pause_minutes: float = 1.0) -> Session:
    """Six turns of a question, a call and an answer, of 1,000 tokens each."""
    session = Session()
    for _turn in range(6):
        session.user(1_000)
        session.called("read", "a.py")
        session.reply(1_000)
    for at in range(len(session.tree)):
        session.tree.columns.time[at] = 1_000 + at * pause_minutes * 60_000
    return session


def test_the_cache_holds_the_prompt_before_until_it_is_changed_or_too_old() -> None:
    session = long_turns()
    policy = Policy.of(PROFILES["explorer"], 1_000_000)
    found = simulate(session.tree, session.leaf, policy).requests
    assert found.cached[0] == 0
    assert list(found.cached[1:]) == list(found.sent[:-1])
    slow = long_turns(pause_minutes=20)
    assert sum(simulate(slow.tree, slow.leaf, policy).requests.cached) == 0
    forever = Assumptions(cache_minutes=0)
    assert sum(simulate(slow.tree, slow.leaf, policy, assumptions=forever).requests.cached) > 0


def test_a_compaction_leaves_only_what_is_before_the_entries_in_the_cache(
    sample: tuple[SessionTree, int],
) -> None:
    tree, leaf = sample
    forever = Assumptions(cache_minutes=0)
    found = simulate(tree, leaf, small("explorer"), assumptions=forever)
    for made in found.compactions:
        if made.request < len(found.requests):
            assert found.requests.cached[made.request] == found.measure.beyond
    assert found.measure.beyond > 0


def test_a_request_that_is_too_large_is_recovered_from_or_told(
    sample: tuple[SessionTree, int],
) -> None:
    """A10: pi recovers from an overflow, the Python agent does not."""
    tree, leaf = sample
    late = small("pi", 20_000, 4_000, 1)
    found = simulate(tree, leaf, late)
    assert "overflow" in {one.cause for one in found.compactions}
    stuck = simulate(tree, leaf, small("pyagent", 20_000, 4_000, 1))
    assert stuck.too_large > 0
    assert "does not recover" in stuck.not_done[0].reason
    for prompt, mark in zip(stuck.requests.sent, stuck.requests.marks, strict=True):
        assert (prompt > stuck.window) == bool(mark & RequestMark.TOO_LARGE)


def test_no_compaction_happens_by_itself_where_that_is_off(sample: tuple[SessionTree, int]) -> None:
    """E18."""
    tree, leaf = sample
    policy = small("explorer")
    off = replace(policy, profile=replace(policy.profile, enabled=False))
    assert not simulate(tree, leaf, off).compactions


def test_summaries_are_as_large_as_chosen_or_as_those_of_the_session(
    sample: tuple[SessionTree, int],
) -> None:
    tree, leaf = sample
    own = simulate(tree, leaf, small("explorer"))
    large = simulate(tree, leaf, small("explorer"), assumptions=Assumptions(summary_share=0.5))
    assert "session's own 2 compactions" in own.summaries.words
    assert "50 %" in large.summaries.words
    assert large.compactions[0].summary > 3 * own.compactions[0].summary
    assert all(one.assumed for one in own.compactions)
    known = KnownRun(summaries=[777])
    told = simulate(tree, leaf, small("explorer"), known=known).compactions
    assert (told[0].summary, told[0].assumed) == (777, False)
    assert told[1].assumed
    assert "preview" in summary_size((), None).words


def test_a_walk_expects_summaries_of_the_size_that_a_preview_expects(tmp_path: Path) -> None:
    file = write_session(tmp_path / "plain.jsonl", 300, branches=False, compactions=False)
    tree, leaf = read(file)
    policy = small("explorer")
    found = simulate(tree, leaf, policy)
    first = found.compactions[0]
    shown = partition(prepare(tree, first.entry, policy.profile, policy.settings))
    assert first.summary == shown.tokens_after_estimate - shown.tokens_kept > 0
    assert "2 %" in found.summaries.words


def test_the_line_through_what_providers_counted() -> None:
    found = measure_of([(1_000, 3_200), (2_000, 4_400), (4_000, 6_800), (5_000, 0)], 1.2)
    assert (found.beyond, found.ratio, found.reports) == (2_000, 1.2, 3)
    assert found.prompt(10_000) == 14_000
    # Where the ratio alone gives more than was reported, the entries are counted all the same.
    less = measure_of([(1_000, 900), (9_000, 9_100)], 1.25)
    assert (less.beyond, less.prompt(400), less.prompt(9_000)) == (0, 400, 10_000)
    assert measure_of([(1_000, 500)], 0.75).prompt(400) == 300
    assert measure_of([], 1.5).prompt(500) == 500
    assert "Nobody counted" in measure_of([(10, 0)], 1.5).words


def test_walks_go_by_the_ratio_of_the_preview(sample: tuple[SessionTree, int]) -> None:
    """One figure of a session, in the tab Compaction and in What if."""
    tree, leaf = sample
    for name in ("explorer", "omp"):
        size = context_size(tree, context_at(tree, leaf), PROFILES[name])
        past = past_of(tree, leaf, policy=small(name))
        assert past.measure.ratio == size.ratio != 1
        assert f"{size.ratio:.2f} for each token" in past.measure.words
        assert "beyond" not in past.measure.words, "the tab has another figure of that name"


def test_what_an_offline_model_counted_is_no_count_of_a_provider() -> None:
    made = Session()
    for tokens in (500, 700):
        made.user(tokens)
        made.reply(5, usage=tokens + 3_000, model="offline/demo")
    past = past_of(made.tree, made.leaf)
    walked = simulate(made.tree, made.leaf, Policy.of(PROFILES["explorer"]), past=past)
    for requests in (past.recorded.requests, walked.requests):
        assert list(requests.marks) == [0, 0] and list(requests.sent) == [500, 1_205]
    assert "Nobody counted" in past.measure.words


PRICES = Prices(read=1.0, write=5.0, cached=0.1, into_cache=1.25)


def test_costs_are_those_of_every_token_once(sample: tuple[SessionTree, int]) -> None:
    tree, leaf = sample
    found = simulate(tree, leaf, small("explorer"))
    costs = found.cost(PRICES)
    new = found.sent - found.cached
    assert costs.replies == pytest.approx(found.cached * 0.1 + new * 1.25 + found.written * 5.0)
    assert costs.summaries == pytest.approx(found.asked + found.summarized * 5.0)
    assert costs.total == costs.replies + costs.summaries


def test_long_prompts_are_paid_at_their_tier() -> None:
    dear = replace(PRICES, tiers=(Tier(200, replace(PRICES, into_cache=2.5, write=10.0)),))
    assert dear.of_all([100, 201], [0, 0], [1, 1]) == 100 * 1.25 + 5 + 201 * 2.5 + 10


def test_a_sweep_has_the_sizes_in_force_and_can_be_stopped(sample: tuple[SessionTree, int]) -> None:
    tree, leaf = sample
    past, policy = past_of(tree, leaf), small("explorer")
    keeps, reserves = axes(policy)
    assert len(keeps) == len(reserves) == 12
    assert 4_000 in keeps and 8_000 in reserves
    assert list(keeps) == sorted(keeps)
    seen: list[tuple[int, int]] = []
    found = sweep(
        past,
        policy,
        steps=4,
        prices=PRICES,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (16, 16) and len(seen) == 16
    cell = found.cell(4_000, 8_000)
    alone = simulate(tree, leaf, policy, past=past)
    assert cell.compactions == len(alone.compactions)
    assert (cell.sent, cell.asked) == (alone.sent, alone.asked) and cell.asked
    assert cell.cost == pytest.approx(alone.cost(PRICES).total)
    with pytest.raises(WalkStopped):
        sweep(past, policy, steps=4, cancelled=lambda: True)


def test_sizes_that_a_profile_does_not_go_by_are_named(sample: tuple[SessionTree, int]) -> None:
    tree, leaf = sample
    past = past_of(tree, leaf)
    copilot = sweep(past, small("copilot"), steps=3)
    assert not copilot.keep_matters and not copilot.reserve_matters
    assert len({cell.compactions for cell in copilot.cells}) == 1
    for cell in copilot.cells:
        walk = simulate(tree, leaf, small("copilot", WINDOW, cell.keep, cell.reserve), past=past)
        assert (cell.sent, cell.asked, cell.largest) == (walk.sent, walk.asked, walk.largest)
    explorer = sweep(past, small("explorer"), steps=3)
    assert explorer.keep_matters and explorer.reserve_matters
    assert len({cell.compactions for cell in explorer.cells}) > 2


@pytest.mark.parametrize("name", [profile.name for profile in ALL])
def test_an_empty_path_is_walked_too(name: str) -> None:
    found: Simulation = simulate(SessionTree(), -1, small(name))
    assert not found.requests.entries and found.sent == 0 and found.split_turns == 0.0


def test_one_past_serves_many_walks(sample: tuple[SessionTree, int]) -> None:
    tree, leaf = sample
    past: Past = past_of(tree, leaf)
    for profile in ALL:
        policy = small(profile.name)
        assert simulate(tree, leaf, policy, past=past) == simulate(tree, leaf, policy)
