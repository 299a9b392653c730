"""Compactions that happen by themselves, seen and steered in the window, over a real provider."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import Settings
from tests.generated import write_session
from tests.models.server import OVERFLOW, Answer, ChatServer, Cut, HttpFailure, Stall
from tests.models.summaries import GOOD
from tests.ui.window.automatic import FULL, ROOM, answered, compactions, say, small, strip
from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from ui.widgets.figures import short


async def test_a8_a_turn_that_fills_the_context_is_compacted_and_can_be_taken_back(
    house: House, provider: ChatServer
) -> None:
    """The figures, Show and Undo stand above the message box; an undo makes it rest (C3)."""
    live = await small(house)
    before = compactions(live)
    say(live, "Is it done?")
    await answered(live)
    assert compactions(live) == before + 1
    entry = live.document.leaf
    after = live.document.tokens.context_size(live.session.state.profile).shown
    sizes = f"41.5k → ≈{short(after)} tokens."
    assert strip(live) == f"Compacted (threshold): {sizes}", "of the whole, as it was triggered"
    notice = live.window.compaction.notice.notice
    assert notice is not None and notice.what == f"Compacted (threshold) as #{entry}: {sizes}"
    live.click_entry(270)
    live.press_button("Show", live.window.agent)
    assert live.window.map.selected == entry
    live.press_button("Undo", live.window.agent)
    await live.idle()
    assert compactions(live) == before
    assert "taken back" in strip(live)
    say(live, "And now?")
    await answered(live)
    assert compactions(live) == before
    live.press_button("Reset", live.window.agent)
    assert strip(live) == ""
    say(live, "And then?")
    await answered(live)
    assert compactions(live) == before + 1


async def test_a8_what_runs_is_told_with_its_figures_and_can_be_cancelled(
    house: House, provider: ChatServer
) -> None:
    """E21: the answer stays, nothing is half done, and the next turn works as before."""
    provider.plan(Stall(after=1), model="gpt-4o")
    live = await small(house)
    say(live, "Is it done?")
    await live.until(lambda: strip(live).startswith("Compacting…"), "the line")
    assert strip(live) == "Compacting… (threshold, 41.5k of 45k)"
    leaf = live.document.leaf
    await live.until(provider.started.is_set, "the summary's first words")
    live.press_button("Cancel", live.window.agent)
    await answered(live)
    assert live.document.leaf == leaf
    assert strip(live) == ""
    assert "cancelled" in live.said
    assert not live.notice
    provider.plan(Answer(text=GOOD), model="gpt-4o")
    say(live, "And now?")
    await answered(live)
    assert strip(live).startswith("Compacted")


async def test_a10_an_overflow_is_recovered_from_in_the_same_turn(
    house: House, provider: ChatServer
) -> None:
    provider.plan(OVERFLOW, Answer(text="Here it is.", usage=ROOM), model="gpt-4o-mini")
    live = await small(house)
    say(live, "Where is it?")
    await answered(live)
    assert not live.notice
    assert strip(live).startswith("Compacted (overflow): ")
    assert "Here it is." in live.window.agent.conversation.toPlainText()
    assert "maximum context" not in live.window.agent.conversation.toPlainText()


async def test_a43_a_recovery_that_fails_is_told_in_its_own_words(
    house: House, provider: ChatServer
) -> None:
    provider.plan(OVERFLOW, model="gpt-4o-mini")
    live = await small(house)
    say(live, "Where is it?")
    await answered(live)
    assert live.notice.startswith("Context overflow recovery failed: ")


@pytest.mark.usefixtures("quick_retries")
async def test_e14_a_bad_summary_changes_nothing_and_three_make_it_rest(
    house: House, provider: ChatServer
) -> None:
    """A43, C3: the reason is told, and the breaker shows itself with a button."""
    provider.plan(Cut(2), model="gpt-4o")
    live = await small(house)
    before = compactions(live)
    say(live, "Is it done?")
    await answered(live)
    assert live.notice.startswith("Auto-compaction failed: ")
    assert "before the answer was complete" in live.notice
    assert compactions(live) == before
    automatic = live.session.agent.automatic.of(live.document)
    automatic.guards = replace(automatic.guards, failures=2, failed_at_ms=-1)
    say(live, "And now?")
    await answered(live)
    assert "rests after 3 failures in a row" in strip(live)
    live.press_button("Reset", live.window.agent)
    assert not automatic.resting


async def test_e12_a_rate_limit_is_waited_for_in_sight_and_can_be_given_up(
    house: House, provider: ChatServer
) -> None:
    limit = HttpFailure(429, "Too many requests for the context", retry_after="30")
    provider.plan(limit, model="gpt-4o-mini")
    live = await small(house)
    leaf = live.document.leaf
    say(live, "Is it done?")
    await live.until(lambda: "Trying again in" in strip(live), "the countdown")
    assert "(2 of 4)" in strip(live)
    assert "Waiting" in live.window.agent.conversation.toPlainText()
    first = strip(live)
    await live.until(lambda: strip(live) != first, "a second less")
    live.press_button("Stop waiting", live.window.agent)
    await answered(live)
    assert strip(live) == ""
    parent = live.document.tree.columns.parent
    assert parent[parent[live.document.leaf]] == leaf, "the change of model, and the question"
    assert len(provider.requests) == 1


async def test_a_hanging_answer_and_an_empty_one_leave_the_window_usable(
    house: House, provider: ChatServer
) -> None:
    provider.plan(Stall(after=0), Answer(text="", usage=ROOM), Answer(text="Cut", finish="length",
                  usage=ROOM), Answer(text="Yes.", usage=ROOM), model="gpt-4o-mini")  # fmt: skip
    live = await small(house)
    say(live, "One?")
    await live.until(provider.started.is_set, "the call")
    live.keys("Esc")
    await answered(live)
    say(live, "Two?")
    await answered(live)
    assert "empty" in live.notice
    say(live, "Three?")
    await answered(live)
    assert "cut short" in live.notice
    say(live, "Four?")
    await answered(live)
    assert live.window.agent.conversation.toPlainText().rstrip().endswith("Yes.")


async def test_a12_e18_the_switch_is_kept_with_the_session_and_stops_what_is_automatic_only(
    house: House, provider: ChatServer
) -> None:
    live = await small(house)
    before = compactions(live)
    switch = live.window.agent.automatic_switch
    assert switch.isChecked()
    switch.setFocus()
    live.keys("Space")
    assert not switch.isChecked()
    say(live, "Is it done?")
    await answered(live)
    assert compactions(live) == before
    say(live, "/compact Name every port.")
    await answered(live)
    assert compactions(live) == before + 1
    assert strip(live).startswith("Compacted (by hand): ")
    assert "Name every port." in json.dumps(provider.requests[-1])
    await live.close()
    again = await house.start(sample_path())
    assert not again.window.agent.automatic_switch.isChecked()


async def test_a9_by_hand_while_the_agent_answers_is_refused_or_stops_it_as_the_profile_says(
    house: House, provider: ChatServer
) -> None:
    """A8: refused, it can be asked for after the turn."""
    slow = Stall(after=1, text="Let me see. ")
    provider.plan(slow, model="gpt-4o-mini")
    live = await small(house)
    before = compactions(live)
    say(live, "Is it done?")
    await live.until(provider.started.is_set, "the answer")
    live.keys("Ctrl+Alt+K")
    assert "still answering" in live.notice
    live.press_button("After this turn")
    assert strip(live) == "A compaction follows this turn."
    live.press_button("Do not", live.window.agent)
    assert strip(live) == ""
    rules = replace(live.session.state.profile, manual_while_running="abort")
    live.session.state.set_rules(rules)
    live.keys("Ctrl+Alt+K")
    await live.until(lambda: compactions(live) > before, "the compaction")
    await answered(live)
    assert strip(live).startswith("Compacted (by hand): ")


async def test_a8_a_compaction_that_was_asked_for_follows_the_turn(
    house: House, provider: ChatServer
) -> None:
    provider.plan(Cut(0), Answer(text="Yes.", usage=ROOM), model="gpt-4o-mini")
    live = await small(house)
    before = compactions(live)
    say(live, "Is it done?")
    await live.until(lambda: "Trying again" in strip(live), "the wait")
    live.keys("Ctrl+Alt+K")
    live.press_button("After this turn")
    await answered(live)
    assert compactions(live) == before + 1
    assert strip(live).startswith("Compacted (asked for during the turn): ")


async def test_a_session_that_is_opened_again_is_watched_anew(
    house: House, provider: ChatServer, tmp_path: Path
) -> None:
    """What was kept of the first time is not what is worked on now."""
    live = await small(house)
    say(live, "Is it done?")
    await answered(live)
    first = live.document
    other = tmp_path / "other.jsonl"
    write_session(other, 20)
    live.drop(other)
    await live.until(lambda: live.document is not first, "the other session")
    await live.idle()
    assert strip(live) == ""
    live.drop(sample_path())
    await live.until(lambda: live.document.key == first.key, "the first session")
    await live.idle()
    assert live.document is not first
    before = compactions(live)
    provider.plan(Answer(text="word " * 4_000, usage=FULL), model="gpt-4o-mini")
    say(live, "And now?")
    await answered(live)
    assert compactions(live) == before + 1


async def test_what_failed_is_no_longer_told_once_it_is_tried_again(
    house: House, provider: ChatServer
) -> None:
    refused = HttpFailure(401, "Incorrect API key provided")
    provider.plan(refused, Answer(text="Yes.", usage=ROOM), model="gpt-4o-mini")
    live = await small(house)
    say(live, "Is it done?")
    await answered(live)
    notices = live.window.notices
    assert notices.notice is not None and "API key" in notices.notice.what
    say(live, "Again?")
    await answered(live)
    assert notices.notice is None


async def test_a_compaction_that_is_left_behind_is_no_longer_offered_for_undo(
    house: House, provider: ChatServer
) -> None:
    live = await small(house)
    say(live, "Is it done?")
    await answered(live)
    assert strip(live).startswith("Compacted")
    await live.document.writer.move_leaf(270)
    await live.idle()
    assert strip(live) == ""


async def test_e13_a_window_larger_than_the_models_is_told_where_it_is_tried(
    house: House, provider: ChatServer
) -> None:
    """The gauge and what triggers go by the smaller one."""
    live = await small(house)
    live.keys("Ctrl+3")
    told = live.window.compaction.setup.budget.smaller
    assert not told.isVisible()
    live.session.state.set_settings(Settings(500_000, 5_000, 2_000))
    await live.idle()
    assert told.isVisible() and "128k" in told.text()
