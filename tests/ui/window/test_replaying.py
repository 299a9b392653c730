"""A recorded session is played in the window: steered, watched, and its result a session."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.session.kinds import Kind
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path

AT_ONCE = 3


async def begin(live: RunningWindow, speed: int, window: int) -> None:
    """Open the dialog from the keyboard's action, choose, and play."""
    live.session.actions["replay"].trigger()
    dialog = live.session.replay.dialog
    assert dialog is not None and dialog.isVisible()
    dialog.window_size.box.setValue(window)
    dialog.speed.setCurrentIndex(speed)
    QTest.keyClick(dialog.play, Qt.Key.Key_Space)
    await live.until(live.session.replay.strip.isVisible, "the line that steers it")


async def test_a_replay_is_compacted_where_one_sees_it_and_stays_a_session(house: House) -> None:
    live = await house.start(sample_path())
    source = live.document
    entries = len(source.tree)
    await begin(live, AT_ONCE, 30_000)
    strip = live.session.replay.strip
    assert live.document is not source
    await live.until(lambda: not live.session.agent.running, "the end of the replay", 60)
    stage = live.document
    assert stage.title.startswith("Replay of")
    kinds = [stage.tree.kind(at) for at in range(len(stage.tree))]
    assert Kind.COMPACTION in kinds
    assert kinds.count(Kind.USER) == sum(
        source.tree.kind(at) is Kind.USER for at in source.tree.path(source.leaf).indices()
    )
    assert len(source.tree) == entries, "the recorded session is as it was"
    assert not strip.isVisible()
    assert "compaction" in live.window.statusBar().currentMessage()
    # Whoever goes on here talks to a model that is there.
    assert not live.session.state.agent_model().startswith("replay/")


async def test_it_pauses_steps_and_ends_on_esc(house: House) -> None:
    live = await house.start(sample_path())
    await begin(live, 0, 200_000)
    strip = live.session.replay.strip
    live.click(strip.pause)
    assert strip.pause.text() == "Play on"
    await live.until(lambda: len(live.document.tree) > 0, "something played")
    before = strip.words.text()
    live.click(strip.step)
    live.session.replay._set_speed(0)
    await live.until(lambda: strip.words.text() != before, "the next message")
    await live.until(lambda: strip.pause.text() == "Play on", "standing still again")
    assert live.session.agent.running
    live.keys("Escape", to=live.window.agent.composer)
    await live.until(lambda: not live.session.agent.running, "the end")
    assert "Replayed until" in live.window.statusBar().currentMessage()
