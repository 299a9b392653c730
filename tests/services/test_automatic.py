"""Compactions that nobody reviews, over HTTP: by the threshold, after an overflow, on a word."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from explorer.agent.turn_interface import TurnEvent, TurnResult
from explorer.compaction.profile import PROFILES, Profile
from explorer.models.client import CancelToken
from explorer.services.auto_compaction.controller import SessionBusy
from explorer.services.changes import (
    LeafMoved,
)
from explorer.services.effective_rules import EffectiveRules
from tests.models.server import OVERFLOW, Answer, ChatServer, Cut, HttpFailure, Plan, Stall
from tests.models.summaries import GOOD
from tests.services.automatic_rig import (
    FULL,
    MODEL,
    ROOM,
    SETTINGS,
    SUMMARIZER,
    Desk,
    asked,
    client,
    desk,
    server,
    state,
    until,
    wait,
    workspace,
)

__all__ = ["client", "desk", "server", "workspace"]

# the threshold ----------------------------------------------------------------------------------


def test_a8_a_turn_that_fills_the_context_is_followed_by_a_compaction(
    desk: Desk, server: ChatServer
) -> None:
    """A30, A43: told as a start and an end, recorded as a draft, stored, and the model's context
    from then on."""
    server.plan(Answer(text="Yes.", usage=FULL), Answer(text="On.", usage=ROOM), model="test-model")
    before = desk.compactions
    assert wait(desk.say("Is it done?")).end == "done"
    (started,), (ended,) = desk.started, desk.ended
    assert (started.trigger, started.tokens, started.window) == ("threshold", 41_500, 45_000)
    assert (ended.trigger, ended.problem, ended.cancelled) == ("threshold", "", False)
    assert ended.entry == desk.document.leaf
    assert ended.tokens_after < ended.tokens_before
    assert desk.compactions == before + 1
    assert desk.document.payloads.shown.entry(ended.entry).recorded["summary"].startswith(GOOD)
    draft = desk.document.shared.store.drafts(desk.document.key)[-1]
    assert (draft.status, draft.model) == ("committed", SUMMARIZER)
    assert draft.requests
    assert desk.automatic.running is None
    wait(desk.say("Go on."))
    first = asked(server, "test-model")[-1]["messages"][1]["content"]
    assert "Make the retry test reliable." in str(first)
    assert len(desk.ended) == 1, "the size is counted anew: nothing is compacted again (E7)"


def test_a8_at_the_threshold_nothing_happens_and_one_token_above_it_does(
    desk: Desk, server: ChatServer
) -> None:
    at = {"prompt_tokens": 39_990, "completion_tokens": 10, "total_tokens": 40_000}
    server.plan(Answer(text="Yes.", usage=at), model="test-model")
    wait(desk.say("Is it done?"))
    assert not desk.started
    above = at | {"completion_tokens": 11, "total_tokens": 40_001}
    server.plan(Answer(text="Yes.", usage=above), model="test-model")
    wait(desk.say("And now?"))
    assert [change.tokens for change in desk.started] == [40_001]


def test_e7_a_reply_without_usage_is_counted_and_triggers(desk: Desk, server: ChatServer) -> None:
    """The provider never reports: what is counted on this side decides."""
    server.plan(Answer(text="word " * 14_000, usage=None), model="test-model")
    wait(desk.say("Say much."))
    assert [change.trigger for change in desk.started] == ["threshold"]
    assert not desk.ended[0].problem


def test_a12_a_rule_that_changed_in_the_middle_of_a_turn_counts_at_its_end(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")

    class Switching(list[TurnEvent]):
        def append(self, event: TurnEvent) -> None:
            desk.change(enabled=False)

    desk.events = Switching()
    wait(desk.say("Is it done?"))
    assert not desk.started
    desk.change(enabled=True, settings=replace(SETTINGS, context_window=1_000_000))
    wait(desk.say("And now?"))
    assert not desk.started


def test_e18_off_stops_what_happens_by_itself_and_a_person_still_compacts(
    desk: Desk, server: ChatServer
) -> None:
    """A9, A12."""
    desk.change(enabled=False)
    server.plan(Answer(text="Yes.", usage=FULL), OVERFLOW, model="test-model")
    wait(desk.say("Is it done?"))
    result = wait(desk.say("And this?"))
    assert result.end == "failed"
    assert not desk.started
    entry = wait(desk.automatic.compact_now("Name every port.", MODEL, CancelToken()))
    assert desk.document.leaf == entry
    assert [change.trigger for change in desk.ended] == ["manual"]
    assert "Name every port." in str(asked(server, "summary-model")[-1]["messages"])


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize(
    ("plan", "told"),
    {
        "cut short": (Answer(text=GOOD, finish="length"), "cut short"),
        "empty": (Answer(text=""), "empty"),
        "cut off": (Cut(2), "before the answer was complete"),
        "no key": (HttpFailure(401, "who are you"), "who are you"),
        "too large": (Answer(text="word " * 50_000), "nothing is gained"),
    }.values(),
    ids=["cut short", "empty", "cut off", "no key", "larger than its input"],
)
def test_e14_a_compaction_that_fails_changes_nothing_and_says_so(
    desk: Desk, server: ChatServer, plan: Plan, told: str
) -> None:
    """A43, B12, E5, E16."""
    server.plan(plan, model="summary-model")
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    result = wait(desk.say("Is it done?"))
    assert result.end == "done", "the turn itself went well"
    (ended,) = desk.ended
    assert ended.entry == -1
    assert ended.problem.startswith("Auto-compaction failed: ")
    assert told in ended.problem
    assert desk.document.leaf == result.entries[-1]
    assert state(desk.document)[3] == result.entries[-1]
    assert desk.automatic.guards.failures == 1
    assert desk.automatic.running is None


def test_a8_a_request_in_mid_turn_waits_for_its_end(desk: Desk, server: ChatServer) -> None:
    """It is honoured below the threshold too, and only once."""
    server.plan(Answer(text="Yes.", usage=ROOM), model="test-model")

    class Asking(list[TurnEvent]):
        def append(self, event: TurnEvent) -> None:
            if not self:
                desk.automatic.request_compaction("Keep the ports.")
                assert desk.automatic.is_requested
            super().append(event)

    desk.events = Asking()
    result = wait(desk.say("Is it done?"))
    (ended,) = desk.ended
    assert (ended.trigger, ended.problem) == ("requested", "")
    assert desk.document.tree.columns.parent[ended.entry] == result.entries[-1]
    assert "Keep the ports." in str(asked(server, "summary-model")[-1]["messages"])
    assert not desk.automatic.is_requested


def test_a9_a_compaction_by_hand_is_refused_while_a_turn_runs(desk: Desk) -> None:
    """pyagent's rule. Under oh-my-pi's the caller stops the turn first: see the window."""
    before = state(desk.document)
    with pytest.raises(SessionBusy):
        wait(desk.automatic.compact_now("", MODEL, CancelToken(), turn_running=True))
    assert state(desk.document) == before
    assert not desk.started


def test_a14_e15_a_second_compaction_without_a_new_message_is_refused(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    wait(desk.say("Is it done?"))
    wait(desk.automatic.before_message(MODEL, CancelToken()))
    assert len(desk.started) == 1
    with pytest.raises(ValueError, match="Compaction failed"):
        wait(desk.automatic.compact_now("", MODEL, CancelToken()))


# cancelling -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["the turn", "the compaction"])
def test_e21_a_cancel_in_the_middle_of_a_compaction_leaves_all_as_it_was(
    desk: Desk, server: ChatServer, by: str
) -> None:
    """A43; and the session is worked on as before."""
    server.plan(Stall(after=1), model="summary-model")
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")

    async def story() -> TurnResult:
        cancel = CancelToken()
        turn = asyncio.ensure_future(desk.say("Is it done?", cancel))
        await until(lambda: desk.automatic.running and asked(server, "summary-model"))
        (cancel if by == "the turn" else desk.automatic).cancel()
        return await turn

    result = wait(story())
    assert server.gone.wait(10), "the connection was let go"
    (ended,) = desk.ended
    assert (ended.cancelled, ended.entry, ended.problem) == (True, -1, "")
    assert desk.document.leaf == result.entries[-1]
    assert desk.automatic.running is None
    assert desk.automatic.guards.failures == 0
    assert desk.document.shared.store.drafts(desk.document.key)[-1].status == "cancelled"
    server.plan(Answer(text=GOOD), model="summary-model")
    wait(desk.say("Again."))
    assert desk.ended[-1].entry >= 0


def test_e21_a_cancelled_recovery_gives_the_refused_reply_back(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(Stall(after=0), model="summary-model")
    server.plan(OVERFLOW, model="test-model")

    async def story() -> TurnResult:
        cancel = CancelToken()
        turn = asyncio.ensure_future(desk.say("Where?", cancel))
        await until(lambda: asked(server, "summary-model"))
        cancel.cancel()
        return await turn

    result = wait(story())
    assert result.end in ("stopped", "failed")
    assert desk.document.leaf == result.entries[-1]
    assert desk.automatic.running is None


def test_e21_a_task_that_is_cancelled_is_told_and_leaves_nothing_running(
    desk: Desk, server: ChatServer
) -> None:
    """As when the window closes."""
    server.plan(Stall(after=1), model="summary-model")
    server.plan(OVERFLOW, model="test-model")

    async def story() -> None:
        turn = asyncio.ensure_future(desk.say("Where?"))
        await until(lambda: asked(server, "summary-model"))
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    wait(story())
    assert [change.cancelled for change in desk.ended] == [True]
    assert desk.automatic.running is None
    leaf = desk.document.leaf
    assert desk.document.payloads.shown.entry(leaf).recorded["message"]["errorKind"] == "overflow"


# continuing -------------------------------------------------------------------------------------


def omp(desk: Desk) -> Profile:
    made = replace(PROFILES["omp"], pruning=None, short_summary=False)
    desk.rules = replace(EffectiveRules.of(made, SUMMARIZER, SETTINGS))
    return made


def test_a11_oh_my_pi_prompts_the_agent_to_go_on_once(desk: Desk, server: ChatServer) -> None:
    """A marked message that nobody typed; never a second one for one message (E13)."""
    omp(desk)
    server.plan(Answer(text="word " * 2_000, usage=FULL), model="test-model")
    result = wait(desk.say("Is it done?"))
    synthetic = [
        entry for entry in result.entries
        if desk.document.payloads.shown.entry(entry).recorded["message"].get("synthetic")
    ]  # fmt: skip
    assert len(synthetic) == 1
    assert len(asked(server, "test-model")) == 2
    desk.change(auto_continue=False)
    server.requests.clear()
    wait(desk.say("And now?"))
    assert len(asked(server, "test-model")) == 1


def test_e17_a_finished_task_is_not_taken_up_again(desk: Desk, server: ChatServer) -> None:
    server.plan(Answer(text="Done.", usage=FULL), model="test-model")
    desk.change(auto_continue=True)
    wait(desk.say("Ship it."))
    assert desk.ended[0].entry == desk.document.leaf
    assert len(asked(server, "test-model")) == 1


def test_a11_a_turn_that_was_left_open_goes_on_where_continuing_is_on(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(
        Answer(text="First,", usage=FULL, finish="length"), Answer(text="Done.", usage=ROOM),
        model="test-model",
    )  # fmt: skip
    desk.change(auto_continue=True)
    assert wait(desk.say("Ship it.")).end == "done"
    assert len(asked(server, "test-model")) == 2


def test_every_move_of_the_leaf_is_told(desk: Desk, server: ChatServer) -> None:
    """Views follow the changes alone."""
    server.plan(OVERFLOW, Answer(text="There it is.", usage=ROOM), model="test-model")
    at = desk.document.leaf
    wait(desk.say("Where is it?"))
    for change in desk.told:
        if isinstance(change, LeafMoved):
            assert change.old == at
            at = change.new
    assert at == desk.document.leaf


def test_c3_what_a_person_takes_back_does_not_happen_again_until_it_is_reset(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    wait(desk.say("Is it done?"))
    wait(desk.document.edits.undo())
    assert "taken back" in desk.automatic.resting
    wait(desk.say("And now?"))
    assert len(desk.ended) == 1
    desk.automatic.reset()
    wait(desk.say("And then?"))
    assert len(desk.ended) == 2


# the summarizer ---------------------------------------------------------------------------------


def test_a43_the_next_model_is_asked_when_one_fails_for_good(
    desk: Desk, server: ChatServer
) -> None:
    server.plan(HttpFailure(401, "who are you"), model="summary-model")
    server.plan(Answer(text=GOOD), model="other-model")
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    desk.change(fallbacks=("openai/other-model",))
    wait(desk.say("Is it done?"))
    assert desk.ended[0].entry >= 0
    assert desk.document.shared.store.drafts(desk.document.key)[-1].model == "openai/other-model"


def test_what_led_to_a_draft_is_recorded_with_it(desk: Desk, server: ChatServer) -> None:
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    wait(desk.say("Is it done?"))
    assert desk.document.shared.store.drafts(desk.document.key)[-1].facts["trigger"] == "threshold"
