"""The window of a session is the one that its agent recorded, wherever sizes are shown."""

from __future__ import annotations

from pathlib import Path

from tests.formats.claude_lines import Lines
from tests.formats.codex_rollouts import Rollout
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow
from ui.profiles.compare_window import CompareWindow


def said_of_the_window(live: RunningWindow) -> tuple[bool, bool]:
    """Whether Context and Compaction say that it is inferred."""
    badge = live.window.context.badges["window"]
    heading = live.window.compaction.setup.heading.text()
    return badge.word.text() == "window inferred" and badge.known is not None, (
        "window inferred" in heading
    )


async def test_a_window_that_is_inferred_is_said_to_be_wherever_it_decides(
    house: House, tmp_path: Path
) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(100_000, 10)
    live = await house.start(made.write(tmp_path))
    live.keys("Ctrl+3")
    await live.idle()
    live.keys("Ctrl+2")
    await live.idle()
    await live.until(lambda: said_of_the_window(live) == (True, True), "the same words")
    live.keys("Ctrl+Shift+M")
    window = await live.dialog(CompareWindow)
    await live.until(lambda: "(window inferred)" in window.facts.text(), "the words for profiles")
    live.keys("Esc", to=window)
    await live.back()


async def test_the_window_that_codex_recorded_is_shown(house: House, tmp_path: Path) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(214_000, 10, window=258_400)
    live = await house.start(made.write(tmp_path))
    await live.until(
        lambda: live.window.header.gauge.text() == "214k / 258.4k · due in 28k", "the window"
    )
    live.keys("Ctrl+3")
    await live.idle()
    assert live.window.compaction.setup.window_size.value() == 258_400
    assert "of 258,400 tokens" in live.window.header.gauge.toolTip()
    assert said_of_the_window(live) == (False, False)
    live.keys("Ctrl+Shift+M")
    window = await live.dialog(CompareWindow)
    await live.until(lambda: "258.4k tokens for all; " in window.facts.text(), "the facts")
    live.keys("Esc", to=window)
    await live.back()


async def test_a_window_that_nobody_recorded_is_never_said_to_be_passed(
    house: House, tmp_path: Path
) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(350_000, 10)
    live = await house.start(made.write(tmp_path))
    gauge = live.window.header.gauge
    await live.until(lambda: gauge.text() == "350k / window unknown", "the gauge")


async def test_the_window_that_a_session_of_claude_outgrew_is_not_taken_for_its_own(
    house: House, tmp_path: Path
) -> None:
    spent = {"input_tokens": 401_800, "output_tokens": 10}
    lines = Lines().user("u", "hi").reply("a", "m", "Hi.", model="claude-opus-5", usage=spent)
    live = await house.start(lines.write(tmp_path / "session.jsonl"))
    gauge = live.window.header.gauge
    await live.until(lambda: gauge.text() == "401.8k / 1M", "the larger window")
    live.keys("Ctrl+3")
    await live.idle()
    assert live.window.compaction.setup.window_size.value() == 1_000_000


async def test_a_window_that_a_person_chose_counts(house: House, tmp_path: Path) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(100_000, 10, window=258_400)
    live = await house.start(made.write(tmp_path))
    live.keys("Ctrl+3")
    await live.idle()
    box = live.window.compaction.setup.window_size.box
    box.setFocus()
    box.selectAll()
    live.type("150000\n", box)
    gauge = live.window.header.gauge
    await live.until(lambda: gauge.text() == "100k / 150k", "the chosen window")
