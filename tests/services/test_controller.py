"""What the watch over one session notes of what happens in it, without a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import Cancelled, CancelToken
from explorer.services.auto_compaction.controller import AutomaticCompaction, SessionBusy
from explorer.services.auto_compaction.guards import SETTING
from explorer.services.changes import (
    AutomaticChanged,
    CompactionEnded,
    CompactionRequested,
    CompactionStarted,
    LeafMoved,
    SessionsChanged,
)
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.session.kinds import Kind

RESTS = "Automatic compaction rests, since its last step was taken back."
FIRST, SECOND = 105, 197
"""Compactions of the bundled session."""


@pytest.fixture
def automatic(document: Document) -> Iterator[AutomaticCompaction]:
    settings = Settings(context_window=50_000, reserve_tokens=5_000)
    rules = EffectiveRules.of(PROFILES["explorer"], "offline/extractive", settings)
    made = AutomaticCompaction(document, lambda: rules)
    yield made
    made.close()


def stored(automatic: AutomaticCompaction) -> Any:
    return automatic.document.choices.all().get(SETTING)


def publish(automatic: AutomaticCompaction, *changes: Any) -> None:
    for change in changes:
        automatic.document.shared.hub.publish(change)


def test_only_steps_that_were_made_ahead_or_in_prompts_are_noted_as_they_end(
    automatic: AutomaticCompaction,
) -> None:
    key = automatic.document.key
    for trigger in ("threshold", "overflow", "manual", "requested"):
        publish(automatic, CompactionEnded(key, trigger, FIRST))
    publish(
        automatic, CompactionEnded(key, "background"), CompactionEnded(key + 1, "prompt", FIRST)
    )
    assert stored(automatic) is None
    ids = automatic.document.tree.columns.ids
    for trigger, entry in (("background", FIRST), ("prompt", SECOND), ("prompt", 0)):
        publish(automatic, CompactionEnded(key, trigger, entry))
        assert stored(automatic) == {"last": ids[entry]}


def test_a_step_that_is_taken_back_rests_it_until_it_is_reset(
    automatic: AutomaticCompaction,
) -> None:
    key, parent = automatic.document.key, automatic.document.tree.columns.parent[FIRST]
    publish(automatic, CompactionEnded(key, "background", FIRST))
    for change in (
        LeafMoved(key, FIRST, parent - 1), LeafMoved(key + 1, FIRST, parent),
        LeafMoved(key, parent, parent), LeafMoved(key, parent - 1, parent), SessionsChanged(),
    ):  # fmt: skip
        publish(automatic, change)
        assert automatic.resting == ""
    publish(automatic, LeafMoved(key, FIRST, parent))
    assert automatic.resting == RESTS and stored(automatic) == {"reason": RESTS, "held": True}
    automatic.reset()
    assert automatic.resting == "" and stored(automatic) is None
    publish(automatic, LeafMoved(key, FIRST, parent))
    assert automatic.resting == "", "it is taken back once"


def test_what_is_asked_for_waits_for_the_end_of_the_turn(automatic: AutomaticCompaction) -> None:
    key, seen = automatic.document.key, list[object]()
    forget = automatic.document.shared.hub.subscribe(seen.append)
    publish(automatic, CompactionRequested(key + 1, "other"))
    assert not automatic.is_requested
    publish(automatic, CompactionRequested(key, "Keep ports."))
    assert automatic.is_requested
    automatic.forget_request()
    assert not automatic.is_requested and seen.count(AutomaticChanged(key)) == 2
    forget()
    automatic.request_compaction()

    async def stopped() -> bool:
        return await automatic.after_turn("offline/demo", "stopped", True, CancelToken())

    assert asyncio.run(stopped()) is False and not automatic.is_requested
    automatic.close()
    publish(automatic, CompactionRequested(key, "late"))
    assert not automatic.is_requested


def test_limits_are_those_of_the_rules_and_the_model(automatic: AutomaticCompaction) -> None:
    assert automatic.running is None and automatic.resting == ""
    limits = automatic.limits("offline/extractive")
    window = automatic.document.models.info("offline/extractive").window
    assert limits == automatic.rules.limits(window)


def test_nobody_compacts_by_hand_while_a_turn_runs(automatic: AutomaticCompaction) -> None:
    before = len(automatic.document.tree)

    async def order() -> int:
        return await automatic.compact_now("", "offline/demo", CancelToken(), turn_running=True)

    with pytest.raises(SessionBusy):
        asyncio.run(order())
    assert len(automatic.document.tree) == before


# a compaction that is stopped ---------------------------------------------------------------------


def started(
    automatic: AutomaticCompaction, trigger: str, stop: Callable[[CancelToken], None]
) -> tuple[list[Any], list[bool]]:
    """A compaction that is stopped as it begins: how it ended, and what ran meanwhile."""
    ended: list[Any] = []
    running: list[bool] = []
    cancel = CancelToken()

    def watch(change: object) -> None:
        if isinstance(change, CompactionStarted):
            running.append(automatic.running is not None and automatic.running.trigger == trigger)
            assert change.trigger == trigger and change.purposes
            stop(cancel)
        elif isinstance(change, CompactionEnded):
            ended.append(change)

    async def work() -> None:
        forget = automatic.document.shared.hub.subscribe(watch)
        try:
            if trigger == "manual":
                await automatic.compact_now("", "offline/demo", cancel)
            else:
                await automatic.after_turn("offline/demo", "went-well", True, cancel)
        except Cancelled:
            running.append(False)
        finally:
            forget()

    asyncio.run(work())
    assert automatic.running is None
    return ended, running


@pytest.fixture
def full(document: Document) -> Iterator[AutomaticCompaction]:
    """A session that is over its threshold."""
    settings = Settings(context_window=6_000, reserve_tokens=1_000, keep_recent_tokens=1_000)
    rules = EffectiveRules.of(PROFILES["explorer"], "offline/extractive", settings)
    made = AutomaticCompaction(document, lambda: rules)
    yield made
    made.close()


def test_one_by_the_threshold_that_is_stopped_is_left_until_the_next_message(
    full: AutomaticCompaction,
) -> None:
    before = len(full.document.tree)
    (ended,), running = started(full, "threshold", lambda _cancel: full.cancel())
    assert (ended.cancelled, ended.entry, ended.problem, running) == (True, -1, "", [True])
    assert full.guards.is_left(10**9) and len(full.document.tree) == before
    assert started(full, "threshold", lambda _cancel: full.cancel()) == ([], [])
    full.person_spoke()
    assert not full.guards.is_left(10**9)


def test_one_that_ends_with_its_turn_is_not_left(full: AutomaticCompaction) -> None:
    (ended,), _ = started(full, "threshold", lambda cancel: cancel.cancel())
    assert ended.cancelled and not full.guards.is_left(10**9)


def test_one_by_hand_that_is_stopped_says_so(full: AutomaticCompaction) -> None:
    (ended,), running = started(full, "manual", lambda _cancel: full.cancel())
    assert ended.cancelled and running == [True, False]
    assert not full.guards.is_left(10**9)


@pytest.mark.parametrize(("trigger", "last"), [("threshold", True), ("manual", False)])
def test_one_that_is_made_is_noted_where_it_was_made_by_itself(
    full: AutomaticCompaction, trigger: str, last: bool
) -> None:
    (ended,), _ = started(full, trigger, lambda _cancel: None)
    tree = full.document.tree
    assert not ended.problem and tree.kind(ended.entry) is Kind.COMPACTION
    assert ended.tokens_after < ended.tokens_before
    wanted = {"last": tree.columns.ids[ended.entry]} if last else None
    assert stored(full) == wanted
