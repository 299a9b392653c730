"""The line below the message box: what it has no room for is in its menu."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from ui.conversation.agent_bar import AgentBar, lines_of


@pytest.mark.parametrize(
    ("widths", "lines"), [([], 0), ([50, 42], 1), ([50, 43], 2), ([300], 1), ([300, 10, 10], 2)]
)
def test_lines_of_parts(widths: list[int], lines: int) -> None:
    assert lines_of(widths, 100, 8) == lines


def titles(bar: AgentBar) -> set[str]:
    return {action.text() for action in bar.menu.actions() if action.isVisible()} - {""}


@pytest.mark.parametrize("thinks", [False, True])
def test_in_a_low_window_there_is_one_line_and_the_rest_is_in_the_menu(
    app: QApplication, thinks: bool
) -> None:
    bar = AgentBar()
    bar.models.set_models([("a/model-of-a-long-name", "model-of-a-long-name, the newest")], "")
    bar.set_thinking("low", thinks)
    bar.resize(540, 80)
    bar.show()
    app.processEvents()
    switches = (bar.automatic_switch, bar.ask_switch)
    assert any(switch.isVisible() for switch in switches) and bar.lines_needed() > 0
    bar.set_low(True)
    app.processEvents()
    assert bar.lines_needed() == 0
    assert not any(one.isVisible() for one in switches)
    assert bar.mode.isVisible(), "what it may do unasked stays in sight"
    assert {"Auto-c&ompact", "Ask &before compacting"} <= titles(bar)
    assert "Auto-compact · Ask before compacting" in bar.more.toolTip(), "where they are"
    assert ("Choose folder…" in titles(bar)) != bar.workspace.isVisible()
    assert ("&Thinking" in titles(bar)) == (thinks and not bar.thinking.isVisible())
    bar.set_low(False)
    assert any(switch.isVisible() for switch in switches)
    bar.deleteLater()


def test_a_wide_bar_has_one_line_beside_continue_too(app: QApplication) -> None:
    """The name of the model gives the room, as far as it can be read."""
    bar = AgentBar()
    bar.models.set_models([("a/model-of-a-long-name", "model-of-a-long-name, the newest")], "")
    bar.show()
    bar.offer_going_on("It was stopped.")
    bar.resize(940, 80)
    app.processEvents()
    assert bar.ask_switch.isVisible() and not bar.lines_needed()
    bar.deleteLater()
