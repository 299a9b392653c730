"""Compactions that ask first, in the window: a turn waits, and every answer leads on."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.settings.paths import ensure, settings_path
from tests.models.server import OVERFLOW, Answer, ChatServer
from tests.ui.window.automatic import (
    ROOM,
    answered,
    asked,
    compactions,
    say,
    small,
    strip,
    tab_words,
)
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.main_window import TABS

SUMMARY = "<analysis>hm</analysis>\n<summary>\n1. Conversation Overview: retries.\n</summary>"


async def asking(house: House) -> RunningWindow:
    """A window that asks, with the question on the screen."""
    live = await small(house)
    switch = live.window.agent.bar.ask_switch
    switch.setFocus()
    live.keys("Space")
    assert switch.isChecked()
    say(live, "Is it done?")
    await asked(live)
    return live


def summaries(provider: ChatServer) -> list[str]:
    """What the summarizer was sent."""
    return [str(body["messages"]) for body in provider.requests if body["model"] == "gpt-4o"]


async def test_the_turn_waits_until_a_key_lets_it_compact(
    house: House, provider: ChatServer
) -> None:
    live = await asking(house)
    before = compactions(live)
    panel = live.window.compaction
    assert live.tab == "compaction" and tab_words(live) == "Compaction (asks)"
    assert "41.5k of 45k" in live.words(panel.automatic)
    assert "The turn waits" in strip(live)
    assert live.session.agent.running
    assert not summaries(provider)
    assert live.window.agent.composer.hasFocus(), "nothing takes the keyboard away"
    live.keys("Ctrl+Alt+K")
    await answered(live)
    assert compactions(live) == before + 1
    assert strip(live).startswith("Compacted (threshold): ")
    assert tab_words(live) == "Compaction"
    assert not panel.automatic.isVisible()


async def test_cut_and_instructions_of_the_moment_count(house: House, provider: ChatServer) -> None:
    live = await asking(house)
    live.window.map.setFocus()
    own = live.partition.cut
    live.keys("Alt+Up")
    assert live.partition.cut < own
    moved = live.partition.path[live.partition.cut]
    live.window.compaction.setup.instructions.setFocus()
    live.type("Name every port.")
    live.press_button("Compact", live.window.compaction.automatic)
    await answered(live)
    assert "Name every port." in summaries(provider)[-1]
    assert not live.window.compaction.instructions(), "they were for this one"
    live.window.map.setFocus()
    live.keys("Ctrl+Z")
    panel = live.window.compaction
    await live.until(lambda: panel.instructions() == "Name every port.", "they are back")
    live.keys("Ctrl+Shift+Z")
    await live.until(lambda: not panel.instructions(), "used again")
    kept = live.document.tree.columns.compactions[live.document.leaf]
    assert kept.first_kept_id == live.document.tree.columns.ids[moved]


async def test_not_now_leaves_it_until_the_next_message(house: House, provider: ChatServer) -> None:
    live = await asking(house)
    before = compactions(live)
    live.keys("Ctrl+Alt+N")
    await answered(live)
    assert compactions(live) == before
    assert not summaries(provider)
    assert not live.notice
    say(live, "And now?")
    await asked(live)
    again = live.window.compaction.automatic.again
    live.choose(again, 2_000)
    live.press_button("Not now", live.window.compaction)
    await answered(live)
    say(live, "And then?")
    await answered(live)
    assert not summaries(provider), "the context has not grown by 2,000 tokens"


async def test_with_changes_the_ordinary_review_is_the_answer(
    house: House, provider: ChatServer
) -> None:
    """Summarize, edit, commit; the turn goes on with what was committed."""
    live = await small(house)
    provider.plan(OVERFLOW, Answer(text="Here it is.", usage=ROOM), model="gpt-4o-mini")
    live.window.agent.bar.ask_switch.click()
    before = compactions(live)
    say(live, "Where is it?")
    await asked(live)
    live.press_button("Change", live.window.agent)
    panel = live.window.compaction
    assert panel.setup.instructions.hasFocus()
    live.press_button("Summarize", panel)
    await live.until(lambda: panel.has_drafts, "the draft")
    assert live.session.automatic_progress.asks, "it waits for the commit"
    panel.draft.editor.setFocus()
    live.keys("Ctrl+A")
    live.type("What I say it was.")
    live.press_button("Commit", panel)
    await answered(live)
    assert compactions(live) == before + 1
    assert "What I say it was." in str(provider.requests[-1]["messages"])
    assert "Here it is." in str(live.document.payloads.shown.entry(live.document.leaf))
    assert not live.notice


async def test_not_now_to_an_overflow_fails_the_turn_in_words(
    house: House, provider: ChatServer
) -> None:
    provider.plan(OVERFLOW, model="gpt-4o-mini")
    live = await small(house)
    live.window.agent.bar.ask_switch.click()
    say(live, "Where is it?")
    await asked(live)
    live.press_button("Not now", live.window.agent)
    await answered(live)
    assert "left for now" in live.notice
    assert not live.session.automatic_progress.asks


async def test_escape_while_it_asks_stops_the_turn_and_nothing_else(
    house: House, provider: ChatServer
) -> None:
    live = await asking(house)
    leaf, before = live.document.leaf, compactions(live)
    live.keys("F7", "Esc")
    await answered(live)
    assert (live.document.leaf, compactions(live)) == (leaf, before)
    assert strip(live) == "" and tab_words(live) == "Compaction"
    assert not live.window.compaction.automatic.isVisible()


async def test_a_window_that_is_closed_while_it_asks_opens_where_it_was(
    house: House, provider: ChatServer
) -> None:
    """The switch is kept with the session, and the question comes again before the next message."""
    live = await asking(house)
    leaf = live.document.leaf
    await live.close()
    assert not summaries(provider)
    again = await house.start()
    await again.until(lambda: again.has_document, "the session")
    await again.idle()
    assert again.document.leaf == leaf
    assert again.window.agent.bar.ask_switch.isChecked()
    assert not again.session.automatic_progress.asks
    again.session.state.set_settings(Settings(45_000, 5_000, 2_000))
    say(again, "And now?")
    await asked(again)
    again.keys("Ctrl+Alt+K")
    await answered(again)
    assert len(summaries(provider)) > 0


async def test_the_setting_asks_in_every_session_and_a_session_may_say_otherwise(
    house: House, provider: ChatServer
) -> None:
    ensure(settings_path().parent)
    settings_path().write_text('{"compaction.askFirst": true}', encoding="utf-8")
    live = await small(house)
    switch = live.window.agent.bar.ask_switch
    assert switch.isChecked()
    say(live, "Is it done?")
    await asked(live)
    live.keys("Ctrl+Alt+N")
    await answered(live)
    before = compactions(live)
    switch.click()
    say(live, "And now?")
    await answered(live)
    assert compactions(live) == before + 1


async def ahead(house: House) -> RunningWindow:
    """Under Copilot's profile, with a summary made ahead by the end of the first turn."""
    live = await house.start(sample_path())
    live.session.state.set_profile("copilot")
    live.window.agent.bar.ask_switch.click()
    await live.idle()
    live.window.inspector.setCurrentIndex(TABS.index("prompt"))
    page = live.window.prompt
    await live.until(lambda: page.shown is not None, "the prompt")
    assert page.shown is not None
    window = int(page.shown.tokens / 0.93)
    live.session.state.set_settings(
        replace(Settings.of(PROFILES["copilot"]), context_window=window)
    )
    say(live, "Is it done?")
    await answered(live)
    await live.until(lambda: "takes its place" in strip(live), "the summary")
    return live


@pytest.mark.parametrize("way", ["apply", "edit", "not now"])
async def test_a47_a_summary_made_ahead_asks_before_it_is_applied(
    house: House, server: ChatServer, way: str
) -> None:
    server.plan(Answer(text=SUMMARY))
    live = await ahead(house)
    before = compactions(live)
    say(live, "And now?")
    await asked(live)
    assert "made ahead is ready" in strip(live)
    if way == "apply":
        live.keys("Ctrl+Alt+K")
    elif way == "edit":
        live.press_button("Change", live.window.agent)
        panel = live.window.compaction
        assert "retries" in panel.draft.editor.toPlainText()
        panel.draft.editor.setFocus()
        live.keys("Ctrl+A")
        live.type("In my words.")
        live.press_button("Commit", panel)
    else:
        live.keys("Ctrl+Alt+N")
    await answered(live)
    assert compactions(live) == before + (way != "not now")
    if way == "edit":
        assert "In my words." in str(server.requests[-1]["messages"])
    if way != "not now":
        assert strip(live).startswith("Compacted (made ahead): ")
    assert not live.session.automatic_progress.asks
