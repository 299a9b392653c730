"""Compactions that happen by themselves, and what holds them back."""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from tests.models.server import OVERFLOW, Answer, HttpFailure, Stall
from tests.models.summaries import GOOD
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow

FULL = {"prompt_tokens": 114_300, "completion_tokens": 700, "total_tokens": 115_000}
NEAR = {"prompt_tokens": 104_300, "completion_tokens": 700, "total_tokens": 105_000}
AGENT, SUMMARIZER = "openai/gpt-4o-mini", "openai/gpt-4o"


async def ask(scene: Scene) -> RunningWindow:
    """A turn that fills the window; agent and summarizer are two models."""
    live = scene.live
    live.session.state.choose_model("summary_model", SUMMARIZER)
    live.session.state.set_rules(replace(PROFILES["explorer"], pruning=None))
    live.session.state.set_settings(Settings(128_000, 16_384, 4_000))
    words = "The clock is looked at in three tests; I would begin with the one that waits longest."
    scene.server.forget()
    scene.server.plan(Answer(text=GOOD), model="gpt-4o")
    scene.server.plan(Answer(text=words, usage=FULL), model="gpt-4o-mini")
    return live


async def said(live: RunningWindow) -> None:
    live.keys("F7")
    live.type("Which tests still look at the clock?\n")
    await live.settle()


async def over(live: RunningWindow) -> None:
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()


@state("automatic-compacting", main=True, provider=True)
async def compacting(scene: Scene) -> AsyncIterator[None]:
    live = await ask(scene)
    scene.server.plan(Stall(after=1), model="gpt-4o")
    await said(live)
    await live.until(lambda: "Compacting" in live.window.agent.automatic.words, "it")
    yield
    live.keys("Esc")


@state("automatic-near", main=True, provider=True)
async def near(scene: Scene) -> AsyncIterator[None]:
    """The turn went well, and the next one may be the last before a compaction."""
    live = await ask(scene)
    words = "Three tests look at the clock; the one that waits longest is in test_wake.py."
    scene.server.plan(Answer(text=words, usage=NEAR), model="gpt-4o-mini")
    await said(live)
    await over(live)
    yield


async def asking(scene: Scene) -> RunningWindow:
    live = await ask(scene)
    live.window.agent.bar.ask_switch.click()
    await said(live)
    await live.until(lambda: live.session.automatic_progress.asks, "the question")
    await live.settle(20)
    return live


@state("automatic-asks", main=True, provider=True, doubled=True)
async def asks(scene: Scene) -> AsyncIterator[None]:
    live = await asking(scene)
    yield
    live.keys("Esc")


@state("automatic-asks-beside", dark=True, provider=True)
async def asks_beside(scene: Scene) -> AsyncIterator[None]:
    """The person reads in the inspector: the tab is marked and does not come forward."""
    live = await ask(scene)
    live.window.agent.bar.ask_switch.click()
    live.keys("F7")
    live.type("Which tests still look at the clock?\n")
    live.keys("Ctrl+1")
    live.window.inspector.tabBar().setFocus()
    await live.until(lambda: live.session.automatic_progress.asks, "the question")
    await live.settle(20)
    yield
    live.keys("F7", "Esc")


@state("automatic-undone-too-large", provider=True)
async def undone_too_large(scene: Scene) -> AsyncIterator[None]:
    """Taken back, the context is larger than the window: it is said, and nothing is sent."""
    live = await ask(scene)
    scene.server.plan(
        OVERFLOW, Answer(text="The clock is looked at in three tests."), model="gpt-4o-mini"
    )
    await said(live)
    await over(live)
    live.session.state.set_settings(Settings(30_000, 4_000, 2_000))
    live.keys("Ctrl+Alt+Z")
    await over(live)
    yield


@state("automatic-compacted", main=True, provider=True, doubled=True)
async def compacted(scene: Scene) -> AsyncIterator[None]:
    live = await ask(scene)
    await said(live)
    await over(live)
    yield


@state("automatic-failed", provider=True)
async def failed(scene: Scene) -> AsyncIterator[None]:
    live = await ask(scene)
    scene.server.plan(Answer(text=GOOD, finish="length"), model="gpt-4o")
    await said(live)
    await over(live)
    yield


@state("automatic-resting", dark=True, provider=True)
async def resting(scene: Scene) -> AsyncIterator[None]:
    live = await ask(scene)
    automatic = live.session.agent.automatic.of(live.document)
    scene.server.plan(Answer(text=""), model="gpt-4o")
    await said(live)
    await over(live)
    automatic.guards = replace(automatic.guards, failures=2, failed_at_ms=-1)
    await said(live)
    await over(live)
    live.window.notices.dismiss()
    yield


@state("agent-waiting", dark=True, provider=True)
async def waiting(scene: Scene) -> AsyncIterator[None]:
    live = await ask(scene)
    limit = HttpFailure(429, "Rate limit reached for requests", retry_after="12")
    scene.server.plan(limit, model="gpt-4o-mini")
    await said(live)
    await live.until(lambda: "Trying again in" in live.window.agent.automatic.words, "it")
    yield
    live.keys("Esc")


SUMMARY = (
    "<analysis>Retries and clocks.</analysis>\n<summary>\n1. Conversation Overview: the retry test"
    " is made reliable.\n2. Technical Foundation: pushes wait on an event.\n</summary>"
)


async def ahead(scene: Scene) -> RunningWindow:
    """Under Copilot's profile, with a prompt that is nearly full."""
    live = scene.live
    live.session.state.set_profile("copilot")
    live.window.agent.bar.ask_switch.click()
    await live.idle()
    live.window.inspector.setCurrentIndex(3)
    page = live.window.prompt
    await live.until(lambda: page.shown is not None, "the prompt")
    assert page.shown is not None
    window = int(page.shown.tokens / 0.93)
    live.session.state.set_settings(
        replace(Settings.of(PROFILES["copilot"]), context_window=window)
    )
    live.window.inspector.setCurrentIndex(0)
    scene.server.forget()
    return live


@state("automatic-ahead", main=True, provider=True)
async def made_ahead(scene: Scene) -> AsyncIterator[None]:
    """The summary is written while the agent works; the tab says so and stays where it is."""
    live = await ahead(scene)
    words = "Three tests look at the clock; the one that waits longest is in test_wake.py."
    scene.server.plan(
        Answer(text=words), Stall(after=2, text="1. Conversation Overview: retries. ")
    )
    await said(live)
    await live.until(lambda: "being made ahead" in live.window.agent.automatic.words, "it")
    await over(live)
    yield


@state("automatic-ahead-asks", dark=True, provider=True)
async def ahead_asks(scene: Scene) -> AsyncIterator[None]:
    """What was made ahead is read and edited before it is applied."""
    live = await ahead(scene)
    scene.server.plan(Answer(text=SUMMARY))
    await said(live)
    await over(live)
    await live.until(lambda: "takes its place" in live.window.agent.automatic.words, "it")
    await said(live)
    await live.until(lambda: live.session.automatic_progress.asks, "the question")
    live.press_button("Change", live.window.agent)
    await live.settle(40)
    yield
    live.keys("F7", "Esc")
