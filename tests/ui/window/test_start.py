"""Opening and closing the window."""

from __future__ import annotations

from tests.ui.window.house import House
from tests.ui.window.running import sample_path


async def test_window_opens_on_the_welcome_page_and_closes(house: House) -> None:
    live = await house.start()
    assert "a summary takes the place of older messages" in live.words()
    assert await live.close() == 0


async def test_sample_opens_from_the_welcome_page(house: House) -> None:
    live = await house.start()
    live.press_button("Look at an example")
    await live.until(lambda: live.has_document, "the bundled session")
    await live.idle()
    assert len(live.document.tree) == 282
    assert live.window.map.selected == live.document.leaf


async def test_session_file_named_on_the_command_line_opens(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    assert live.window.windowTitle().startswith(live.document.title)
