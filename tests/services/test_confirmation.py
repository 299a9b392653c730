"""Compactions that ask first: a turn waits for a person's word and nothing is sent meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from explorer.agent.turn_interface import TurnResult
from explorer.models.client import CancelToken
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.auto_compaction.guards import Answer as Word
from explorer.services.auto_compaction.guards import CompactHere, NotNow
from explorer.services.draft_records import SummaryOrder
from explorer.session.kinds import Kind
from tests.models.server import OVERFLOW, Answer, ChatServer
from tests.services.automatic_rig import (
    FULL,
    ROOM,
    SUMMARIZER,
    Desk,
    asked,
    client,
    desk,
    server,
    state,
    until,
    wait,
)

__all__ = ["client", "desk", "server"]


@pytest.fixture
def asking(desk: Desk) -> Desk:
    """A session whose person wants to be asked, and sits before it."""
    desk.change(ask_first=True)
    desk.automatic.confirmation.attended = True
    return desk


async def answered(desk: Desk, text: str, word: Word) -> TurnResult:
    """A turn whose question gets this answer."""
    turn = asyncio.ensure_future(desk.say(text))
    await until(lambda: desk.automatic.confirmation.question)
    desk.automatic.confirmation.answer(word)
    return await turn


def test_nothing_is_sent_while_it_asks_and_a_word_lets_it_go_on(
    asking: Desk, server: ChatServer
) -> None:
    """The question has the figures that are shown; instructions of the moment count."""
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")

    async def story() -> TurnResult:
        turn = asyncio.ensure_future(asking.say("Is it done?"))
        await until(lambda: asking.automatic.confirmation.question)
        question = asking.automatic.confirmation.question
        assert question is not None
        assert (question.trigger, question.tokens) == ("threshold", 41_500)
        assert (question.window, question.threshold) == (45_000, 40_000)
        before = state(asking.document)
        await asyncio.sleep(0.05)
        assert not asked(server, "summary-model")
        assert state(asking.document) == before
        asking.automatic.confirmation.answer(CompactHere(instructions="Name every port."))
        return await turn

    assert wait(story()).end == "done"
    (ended,) = asking.ended
    assert asking.document.tree.kind(asking.document.leaf) is Kind.COMPACTION
    assert ended.entry == asking.document.leaf
    assert "Name every port." in str(asked(server, "summary-model")[-1]["messages"])
    assert asking.automatic.confirmation.question is None


def test_a_cut_that_was_moved_while_it_asked_is_the_one_that_counts(
    asking: Desk, server: ChatServer
) -> None:
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")

    async def story() -> tuple[int, int]:
        turn = asyncio.ensure_future(asking.say("Is it done?"))
        await until(lambda: asking.automatic.confirmation.question)
        document, rules = asking.document, asking.rules
        shown = document.compaction.preview(None, rules.profile, rules.settings)
        earlier = shown.valid_cuts[shown.valid_cuts.index(shown.cut) - 3]
        asking.automatic.confirmation.answer(CompactHere(cut=earlier))
        await turn
        return shown.path[earlier], shown.path[shown.cut]

    moved, own = wait(story())
    kept = asking.document.payloads.shown.entry(asking.document.leaf).recorded["firstKeptEntryId"]
    assert asking.document.tree.columns.ids[moved] == kept
    assert moved != own


def test_not_now_lasts_until_the_next_message_or_for_so_many_tokens(
    asking: Desk, server: ChatServer
) -> None:
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    result = wait(answered(asking, "Is it done?", NotNow()))
    assert result.end == "done"
    assert not asking.started
    assert asking.document.leaf == result.entries[-1]
    grown = {"prompt_tokens": 42_000, "completion_tokens": 100, "total_tokens": 42_100}
    server.plan(Answer(text="Yes.", usage=grown), model="test-model")
    wait(answered(asking, "And now?", NotNow(tokens=2_000)))
    assert wait(asking.say("And then?")).end == "done", "42,100 are not 2,000 more: nobody asks"
    assert not asking.started
    above = {"prompt_tokens": 44_000, "completion_tokens": 100, "total_tokens": 44_100}
    server.plan(Answer(text="Yes.", usage=above), model="test-model")
    wait(answered(asking, "Once more?", CompactHere()))
    assert [change.trigger for change in asking.started] == ["threshold"]


def test_not_now_to_an_overflow_fails_the_turn_with_words(asking: Desk, server: ChatServer) -> None:
    server.plan(OVERFLOW, model="test-model")
    result = wait(answered(asking, "Where is it?", NotNow()))
    assert result.end == "failed"
    assert "left for now" in result.error
    assert asking.document.leaf == result.entries[-1], "the refused reply is the leaf again"
    assert state(asking.document)[3] == result.entries[-1]
    server.plan(Answer(text="There.", usage=ROOM), model="test-model")
    assert wait(answered(asking, "And now?", CompactHere())).end == "done", (
        "asked before it is sent"
    )


def test_what_a_person_commits_meanwhile_is_an_answer(asking: Desk, server: ChatServer) -> None:
    """The ordinary way, with its draft, in the middle of a turn that waits."""
    server.plan(OVERFLOW, Answer(text="There.", usage=ROOM), model="test-model")

    async def story() -> TurnResult:
        turn = asyncio.ensure_future(asking.say("Where is it?"))
        await until(lambda: asking.automatic.confirmation.question)
        document, rules = asking.document, asking.rules
        shown = document.compaction.preview(None, rules.profile, rules.settings)
        order = SummaryOrder("", SUMMARIZER, lambda _purpose, _text: None, CancelToken())
        draft = await document.compaction.summarize(shown, order)
        await document.compaction.commit(draft, "What I say it was.")
        return await turn

    result = wait(story())
    assert (result.end, result.error) == ("done", "")
    assert not asking.started, "nothing was made besides"
    assert "What I say it was." in str(asked(server, "test-model")[-1]["messages"])


@pytest.mark.parametrize("plan", [Answer(text="Yes.", usage=FULL), OVERFLOW], ids=["after", "over"])
def test_a_turn_that_is_stopped_while_it_asks_leaves_all_as_it_was(
    asking: Desk, server: ChatServer, plan: Any
) -> None:
    server.plan(plan, model="test-model")

    async def story() -> TurnResult:
        cancel = CancelToken()
        turn = asyncio.ensure_future(asking.say("Is it done?", cancel))
        await until(lambda: asking.automatic.confirmation.question)
        cancel.cancel()
        return await turn

    result = wait(story())
    assert asking.automatic.confirmation.question is None
    assert asking.automatic.running is None
    assert not asked(server, "summary-model")
    assert asking.document.leaf == result.entries[-1]
    assert state(asking.document)[3] == result.entries[-1]
    assert not asking.automatic.guards.failures


def test_where_nobody_attends_nobody_is_asked(desk: Desk, server: ChatServer) -> None:
    desk.change(ask_first=True)
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    assert wait(desk.say("Is it done?")).end == "done"
    assert [change.trigger for change in desk.ended] == ["threshold"]


def opened(desk: Desk) -> AutomaticCompaction:
    """As another window finds it; what was kept is stored by then."""
    document = desk.document
    document.shared.store.set_session_setting(document.key, "nothing", None).result()
    return AutomaticCompaction(document, lambda: desk.rules)


def test_c3_a_rest_outlasts_the_program_and_a_wait_does_not(desk: Desk, server: ChatServer) -> None:
    """What was taken back stays so until it is reset, in another window too, which knows what the
    last step was."""
    server.plan(Answer(text="Yes.", usage=FULL), model="test-model")
    wait(desk.say("Is it done?"))
    desk.automatic.close()
    again = opened(desk)
    assert not again.resting
    wait(desk.document.edits.undo_compaction())
    assert "taken back" in again.resting
    assert "taken back" in opened(desk).resting
    again.reset()
    assert not opened(desk).resting
    again.guards = again.guards.failed("The summary is empty.", 1_000)
    assert not opened(desk).guards.failures
    again.guards = again.guards.failed("Again.", 2_000).failed("And again.", 3_000)
    kept = opened(desk).resting
    assert "3 failures" in kept and "And again." in kept
