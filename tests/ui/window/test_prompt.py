"""Copilot's way in the window: the prompt's tab, and a summary made ahead (A44, A47, A53)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from explorer.compaction.background import RunState
from explorer.compaction.profile import PROFILES, Settings
from explorer.session.kinds import Kind
from explorer.settings.paths import database_path
from explorer.store import Store
from tests.models.server import Answer, ChatServer, Stall
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.main_window import TABS
from ui.shell.command_palette import key_sections

PROMPT = TABS.index("prompt")
SUMMARY = "<analysis>hm</analysis>\n<summary>\n1. Conversation Overview: retries.\n</summary>"


async def copilot(house: House) -> RunningWindow:
    live = await house.start(sample_path())
    live.session.state.set_profile("copilot")
    await live.idle()
    return live


async def see_prompt(live: RunningWindow) -> None:
    live.window.inspector.setCurrentIndex(PROMPT)
    page = live.window.prompt
    await live.until(lambda: page.shown is not None, "the prompt")


def compactions(live: RunningWindow) -> int:
    tree = live.document.tree
    return sum(tree.kind(entry) is Kind.COMPACTION for entry in tree.path(live.document.leaf))


async def say(live: RunningWindow, text: str) -> None:
    live.keys("F7")
    live.type(f"{text}\n")
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


async def test_the_tab_is_there_for_profiles_that_keep_prompts_within_a_budget(
    house: House,
) -> None:
    live = await house.start(sample_path())
    registry = live.session.actions

    def is_listed() -> bool:
        keys = [key for section in key_sections(registry).values() for key, _ in section]
        is_in_menu = registry["tab_prompt"].isVisible()
        assert (f"Ctrl+{PROMPT + 1}" in keys) is is_in_menu
        return is_in_menu

    assert not live.window.inspector.isTabVisible(PROMPT) and not is_listed()
    live.session.state.set_profile("copilot")
    await live.idle()
    assert live.window.inspector.isTabVisible(PROMPT) and is_listed()
    live.keys(f"Ctrl+{PROMPT + 1}")
    assert live.window.inspector.currentIndex() == PROMPT
    await see_prompt(live)
    found = live.window.prompt.shown
    assert found is not None
    assert found.fits
    live.session.state.set_profile("pi")
    await live.idle()
    assert not live.window.inspector.isTabVisible(PROMPT) and not is_listed()
    # As where the window is opened that was closed on this tab.
    live.window.inspector.setCurrentIndex(PROMPT)
    live.session.state.set_profile("omp")
    await live.idle()
    assert live.tab == "entry", "no empty inspector"


async def test_the_gauge_shows_the_count_that_such_a_prompt_is_measured_by(house: House) -> None:
    """One metric per decision: a provider's earlier figure does not decide here."""
    live = await copilot(house)
    document, profile = live.document, live.session.state.profile
    assert document.tokens.context_size(profile).tokens != document.tokens.counted_size(profile)
    told = live.window.header.gauge.accessibleDescription()
    assert f"{document.tokens.counted_size(profile):,}" in told


async def test_a47_a_summary_made_ahead_is_seen_and_applied(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text=SUMMARY))
    live = await copilot(house)
    await see_prompt(live)
    page, state = live.window.prompt, live.session.state
    assert page.shown is not None
    window = int(page.shown.tokens / 0.93)
    state.set_settings(replace(Settings.of(PROFILES["copilot"]), context_window=window))
    before = compactions(live)
    await say(live, "Is it done?")
    await live.until(lambda: page.machine.state is RunState.COMPLETED, "the summary")
    assert page.states.state_words == "Ready"
    assert compactions(live) == before
    await say(live, "And now?")
    assert compactions(live) == before + 1
    assert page.states.state_words == "Idle"
    assert live.window.agent.automatic.words.startswith("Compacted (made ahead): ")
    # The order came after the very messages of the turn.
    asked = [r for r in server.requests if "Continuation Plan" in str(r["messages"][-1])]
    assert len(asked) == 1
    turn = next(r for r in server.requests if r not in asked)
    assert asked[0]["messages"][:-1] == turn["messages"]


@pytest.mark.parametrize("way", ["the button", "closing the window"])
async def test_e21_a_summary_that_hangs_can_be_ended(
    house: House, server: ChatServer, way: str
) -> None:
    """Nothing is left running, and the draft does not say for ever that it is on its way."""
    server.plan(Stall(after=1))
    live = await copilot(house)
    await see_prompt(live)
    page, state = live.window.prompt, live.session.state
    assert page.shown is not None
    window = int(page.shown.tokens / 0.93)
    state.set_settings(replace(Settings.of(PROFILES["copilot"]), context_window=window))
    live.keys("F7")
    live.type("Is it done?\n")
    await live.until(lambda: page.machine.state is RunState.IN_PROGRESS, "the summary's beginning")
    await live.until(server.started.is_set, "the first words")
    if way == "the button":
        live.press_button("Stop", page)
        await live.until(lambda: page.machine.state is RunState.IDLE, "the stop")
        await live.until(lambda: not page.stop.isVisible(), "nothing to stop")
    await live.close()
    store = Store.open(database_path())
    try:
        assert [row.status for row in store.drafts(store.sessions()[0].key)] == ["cancelled"]
    finally:
        store.close()


async def test_a53_compact_now_asks_copilots_way(house: House, server: ChatServer) -> None:
    server.plan(Answer(text=SUMMARY))
    live = await copilot(house)
    await see_prompt(live)
    before = compactions(live)
    live.press_button("Compact now", live.window.prompt)
    await live.until(lambda: compactions(live) == before + 1, "the compaction")
    await live.idle()
    summary = live.document.payloads.shown.entry(live.document.leaf).summary
    assert summary.startswith("1. Conversation Overview: retries.")
    assert "transcripts" in summary
