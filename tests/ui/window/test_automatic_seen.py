"""A compaction that happens by itself, in plain sight: before, at its trigger, and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.audit.findings import Severity
from explorer.compaction.profile import PROFILES, Settings
from explorer.session.entries import UserMessage
from explorer.session.kinds import Kind
from tests.models.server import OVERFLOW, Answer, ChatServer, Stall
from tests.models.summaries import GOOD
from tests.ui.window.automatic import (
    FULL,
    ROOM,
    answered,
    compactions,
    say,
    small,
    strip,
    tab_words,
)
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.widgets.gauge import ContextGauge


def gauge(live: RunningWindow) -> ContextGauge:
    return live.window.header.gauge


def reads(live: RunningWindow) -> str:
    """What the panel shows of a summary as it is written."""
    return live.window.compaction.draft.streaming.written()


# before -----------------------------------------------------------------------------------------


async def test_the_gauge_nears_its_mark_in_words_and_says_where_it_compacts(
    house: House, provider: ChatServer
) -> None:
    """A7, E13: the figure that is shown is the one that triggers."""
    near = {"prompt_tokens": 38_400, "completion_tokens": 100, "total_tokens": 38_500}
    provider.plan(Answer(text="Yes.", usage=near), model="gpt-4o-mini")
    live = await small(house)
    live.session.state.set_settings(Settings(60_000, 5_000, 2_000))
    assert gauge(live).text() == "37.3k / 60k"
    live.session.state.set_settings(Settings(45_000, 5_000, 2_000))
    say(live, "Is it done?")
    await answered(live)
    assert gauge(live).text() == "38.5k / 45k · due in 1.5k"
    told = gauge(live).accessibleDescription()
    assert "38,500 of 45,000 tokens" in told and "1,500 left" in told
    assert "Compacts at 40,000." in told
    live.window.agent.bar.automatic_switch.click()
    assert "does not happen by itself" in gauge(live).accessibleDescription()


async def test_a47_the_gauge_of_a_profile_that_works_ahead_says_about_where(
    house: House, provider: ChatServer
) -> None:
    live = await small(house, "copilot")
    assert "Compacts at about 36,000." in gauge(live).accessibleDescription()


# at the trigger ---------------------------------------------------------------------------------


async def test_a_summary_is_read_as_it_is_written_beside_its_cut(
    house: House, provider: ChatServer
) -> None:
    """The tab comes forward, the map goes to the cut; selection and keyboard stay."""
    provider.plan(Stall(after=2, text="It goes on. "), model="gpt-4o")
    live = await small(house)
    live.keys("Ctrl+1")
    live.click_entry(12)
    say(live, "Is it done?")
    await live.until(lambda: "It goes on. It goes on." in reads(live), "the words")
    panel = live.window.compaction
    assert live.tab == "compaction"
    assert panel.draft.streaming.isVisible()
    assert panel.draft.streaming.title.text() == "openai/gpt-4o is writing"
    assert "threshold" in panel.draft.streaming.why.text()
    assert live.window.map.selected == 12
    assert live.window.agent.composer.hasFocus()
    cut = live.partition.path[live.partition.cut]
    assert live.window.map.view.viewport().rect().contains(live.map_point(cut))
    leaf = live.document.leaf
    live.press_button("Cancel", panel)
    await answered(live)
    assert live.document.leaf == leaf
    assert not panel.draft.isVisible()
    assert "cancelled" in live.words(panel)


async def test_who_works_in_the_inspector_is_not_disturbed_and_finds_it_marked(
    house: House, provider: ChatServer
) -> None:
    provider.plan(Stall(after=1, text="It goes on. "), model="gpt-4o")
    live = await small(house)
    live.keys("Ctrl+1")
    say(live, "Is it done?")
    live.window.inspector.tabBar().setFocus()
    await live.until(lambda: tab_words(live) == "Compaction (writing)", "the mark")
    assert live.tab == "entry"
    await live.until(lambda: "It goes on." in reads(live), "the words")
    live.keys("Ctrl+3")
    assert tab_words(live) == "Compaction"
    live.press_button("Cancel", live.window.compaction)
    await answered(live)


async def test_drafts_that_are_being_read_are_left_alone_until_they_are_put_aside(
    house: House, provider: ChatServer
) -> None:
    """What is written by itself can be watched all the same."""
    live = await small(house)
    live.keys("Ctrl+3", "Ctrl+Shift+K")
    panel = live.window.compaction
    await live.until(lambda: panel.has_drafts, "a draft")
    provider.plan(Stall(after=1, text="It goes on. "), model="gpt-4o")
    say(live, "Is it done?")
    await live.until(lambda: "being written by itself" in live.words(panel), "the bar")
    assert panel.draft.editor.isVisible()
    await live.until(provider.started.is_set, "the first words")
    live.press_button("Watch", panel)
    await live.until(lambda: "It goes on." in reads(live), "the words")
    live.press_button("Cancel", panel)
    await answered(live)
    assert panel.draft.editor.isVisible(), "the draft is there as before"


# after ------------------------------------------------------------------------------------------


async def test_what_was_taken_back_after_a_finished_turn_is_said_and_rests(
    house: House, provider: ChatServer
) -> None:
    """One press; the figures stand on line, map and tab; it rests in the next window too."""
    live = await small(house)
    before = compactions(live)
    say(live, "Is it done?")
    await answered(live)
    entry = live.document.leaf
    figures = strip(live).split(": ")[1].rstrip(".").removesuffix(" tokens")
    assert figures.startswith("41.5k → ≈"), "of the whole context"
    assert figures in live.words(live.window.compaction)
    assert figures.replace("≈", "about ") in live.window.map.model.texts.describe(entry)
    live.press_button("Undo and go on", live.window.agent)
    await answered(live)
    assert compactions(live) == before
    assert "the turn was complete" in live.notice
    assert "taken back" in strip(live)
    await live.close()
    again = await house.start()
    await again.until(lambda: again.has_document, "the session")
    await again.idle()
    assert "taken back" in strip(again)
    again.press_button("Reset", again.window.agent)
    assert strip(again) == ""


async def test_what_a_compaction_by_itself_lost_is_said_where_it_is_told(
    house: House, provider: ChatServer
) -> None:
    """By rules that drop what the compaction before it kept."""
    live = await small(house)
    rules = replace(PROFILES["explorer"], pruning=None, boundary="faithful-0.58")
    live.session.state.set_rules(rules)
    await live.idle()
    say(live, "Is it done?")
    await answered(live)
    entry, panel = live.document.leaf, live.window.compaction
    await live.until(lambda: "neither kept nor summarized" in live.words(panel), "the loss")
    told = live.session.audit.overview
    assert told is not None
    (loss,) = (one for one in told.losses if one.at == entry and one.severity is Severity.LOST)
    notice = panel.notice.notice
    assert notice is not None and notice.todo.endswith("The tab Audit tells more.")
    assert f"{len(loss.entries)} entries" in notice.todo and loss.title.lower() in notice.todo
    assert notice.what.startswith("Compacted")


async def test_a10_a_turn_goes_on_without_the_compaction_that_is_taken_back_in_its_middle(
    house: House, provider: ChatServer
) -> None:
    """By one key: the turn is stopped, the leaf moves back, and the same question is asked with
    the whole context, which nothing compacts any more."""
    provider.plan(OVERFLOW, Stall(after=1, text="Let me see. "), model="gpt-4o-mini")
    live = await small(house)
    before = compactions(live)
    say(live, "Where is it?")
    await live.until(lambda: strip(live).startswith("Compacted (overflow)"), "the compaction")
    await live.until(lambda: len(provider.requests) == 4, "the question, asked again")
    provider.plan(Answer(text="Here it is.", usage=FULL), model="gpt-4o-mini")
    sent = len(provider.requests)
    live.keys("Ctrl+Alt+Z")
    await live.until(lambda: len(provider.requests) > sent, "the request")
    await answered(live)
    assert compactions(live) == before
    last = str(provider.requests[-1]["messages"])
    assert "Where is it?" in last
    assert GOOD.splitlines()[1] not in last
    path = live.document.tree.path(live.document.leaf)
    assert live.document.tree.kind(path[-1]) is Kind.ASSISTANT
    assert "Here it is." in str(live.document.payloads.shown.entry(path[-1]))
    assert "taken back" in strip(live)
    assert len(provider.requests) == sent + 1, "41,500 tokens are over the threshold: it rests"


async def test_a_message_that_followed_a_compaction_is_asked_again_without_it(
    house: House, provider: ChatServer
) -> None:
    """Room was made before it was sent."""
    live = await small(house)
    switch = live.window.agent.bar.automatic_switch
    switch.click()
    say(live, "Is it done?")
    await answered(live)
    switch.click()
    before = compactions(live)
    provider.plan(Answer(text="With less.", usage=ROOM), model="gpt-4o-mini")
    say(live, "And now?")
    await answered(live)
    assert compactions(live) == before + 1
    provider.plan(Answer(text="With everything.", usage=ROOM), model="gpt-4o-mini")
    live.press_button("Undo and go on", live.window.agent)
    await answered(live)
    assert compactions(live) == before
    path = live.document.tree.path(live.document.leaf)
    assert [live.document.tree.kind(at) for at in path[-2:]] == [Kind.USER, Kind.ASSISTANT]
    assert "And now?" in str(live.document.payloads.shown.entry(path[-2]))
    assert "With everything." in str(live.document.payloads.shown.entry(path[-1]))


async def test_a_context_that_is_over_the_window_is_said_and_sent_only_on_a_word(
    house: House, provider: ChatServer
) -> None:
    provider.plan(OVERFLOW, Answer(text="Here.", usage=ROOM), model="gpt-4o-mini")
    live = await small(house)
    say(live, "Where is it?")
    await answered(live)
    live.session.state.set_settings(Settings(20_000, 2_000, 2_000))
    sent = len(provider.requests)
    live.keys("Ctrl+Alt+Z")
    await live.idle()
    assert "more than the window of 20,000" in live.notice
    assert len(provider.requests) == sent
    live.press_button("Go on all the same")
    await answered(live)
    assert len(provider.requests) == sent + 1


async def test_why_the_agent_did_not_go_on_is_void_once_it_works_again(
    house: House, provider: ChatServer
) -> None:
    provider.plan(OVERFLOW, Answer(text="Here.", usage=ROOM), model="gpt-4o-mini")
    live = await small(house)
    say(live, "Where is it?")
    await answered(live)
    live.session.state.set_settings(Settings(20_000, 2_000, 2_000))
    live.keys("Ctrl+Alt+Z")
    await live.idle()
    assert "more than the window of 20,000" in live.notice
    say(live, "Look again.")
    await answered(live)
    assert "more than the window of 20,000" not in live.notice


# every profile ----------------------------------------------------------------------------------


async def test_a11_oh_my_pi_compacts_and_prompts_the_agent_to_go_on(
    house: House, provider: ChatServer
) -> None:
    provider.plan(
        Answer(text="Yes.", usage=FULL), Answer(text="On I go.", usage=ROOM), model="gpt-4o-mini"
    )
    live = await small(house, "omp")
    before = compactions(live)
    say(live, "Is it done?")
    await answered(live)
    assert compactions(live) == before + 1
    assert strip(live).startswith("Compacted (threshold): ")
    path = live.document.tree.path(live.document.leaf)
    asked = live.document.payloads.shown.entry(path[-2]).body
    assert isinstance(asked, UserMessage) and asked.synthetic
    assert "On I go." in str(live.document.payloads.shown.entry(path[-1]))


async def test_a8_a_long_turn_is_compacted_between_its_rounds_in_sight(
    house: House, provider: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "ports.txt").write_text("8431\n")
    provider.plan(
        Answer(text="Let me look.", tool_calls=(("c1", "read", '{"path": "ports.txt"}'),),
               finish="tool_calls", usage=FULL),
        Answer(text="Port 8431.", usage=ROOM), model="gpt-4o-mini",
    )  # fmt: skip
    live = await small(house)
    live.session.agent.folder.choose(str(tmp_path / "work"))
    before = compactions(live)
    say(live, "Which port?")
    await answered(live)
    assert compactions(live) == before + 1
    path = live.document.tree.path(live.document.leaf)
    kinds = [live.document.tree.kind(at) for at in path[-3:]]
    assert kinds == [Kind.TOOL_RESULT, Kind.COMPACTION, Kind.ASSISTANT]


@pytest.mark.parametrize("key", ["Ctrl+Alt+Z", "Ctrl+Alt+N"])
async def test_keys_of_what_is_not_offered_do_nothing(
    house: House, provider: ChatServer, key: str
) -> None:
    live = await small(house)
    leaf = live.document.leaf
    live.window.map.setFocus()
    live.keys(key)
    await live.idle()
    assert live.document.leaf == leaf


async def test_offline_models_are_compacted_in_sight_and_taken_back_without_a_key(
    house: House,
) -> None:
    """Nobody needs a provider to see it."""
    live = await house.start(sample_path())
    live.session.state.set_rules(replace(PROFILES["explorer"], pruning=None))
    live.session.state.set_settings(Settings(40_000, 5_000, 2_000))
    await live.idle()
    before = compactions(live)
    say(live, "Which tests look at the clock?")
    await live.until(lambda: reads(live), "the words of the summary")
    await answered(live)
    assert compactions(live) == before + 1
    assert strip(live).startswith("Compacted (threshold): ")
    live.keys("Ctrl+Alt+Z")
    await answered(live)
    assert compactions(live) == before
    assert "taken back" in strip(live)
    kind = live.document.tree.kind(live.document.leaf)
    assert kind is Kind.ASSISTANT, "the question was asked again, and answered"
