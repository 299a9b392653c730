"""What was chosen in the window is on disk before it is closed."""

from __future__ import annotations

import json

from explorer.settings.paths import preferences_path
from tests.ui.window.house import House
from tests.ui.window.running import sample_path


async def test_a_program_that_is_ended_begins_where_it_was(house: House) -> None:
    live = await house.start(sample_path())

    def kept() -> object:
        path = preferences_path()
        return json.loads(path.read_text("utf-8")).get("last_session") if path.exists() else None

    await live.until(lambda: kept() == live.document.key, "the session on disk")
