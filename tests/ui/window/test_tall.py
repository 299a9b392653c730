"""The conversation takes most of the height when the work is with the agent."""

from __future__ import annotations

from tests.ui.window.house import House
from tests.ui.window.running import sample_path


async def test_the_conversation_is_made_tall_and_low_again_by_one_key(house: House) -> None:
    live = await house.start(sample_path())
    agent, middle = live.window.agent, live.window.map
    before = agent.height()
    assert before < middle.height()
    live.keys("Ctrl+F9")
    await live.settle(2)
    assert agent.height() > 1.4 * middle.height()
    live.keys("Ctrl+F9")
    await live.settle(2)
    assert abs(agent.height() - before) <= 4
