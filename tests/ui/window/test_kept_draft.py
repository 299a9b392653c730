"""A draft is there again, as it was edited, when another session was looked at meanwhile."""

from __future__ import annotations

from pathlib import Path

from tests.formats.claude_lines import Lines
from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from tests.ui.window.steps import draft

PLACE = 252


async def test_a_draft_of_a_place_where_one_was_taken_back_is_kept_with_its_edits(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(sample_path())
    sample, panel = live.document.key, live.window.compaction
    live.click_entry(PLACE)
    live.keys("Ctrl+Alt+E")
    await draft(live)
    entries = len(live.document.tree)
    live.click(panel.draft.commit)
    await live.until(lambda: len(live.document.tree) > entries, "the compaction")
    await live.idle()
    live.keys("Ctrl+Z")
    await live.until(lambda: "taken back" in live.words(panel), "the undo")
    await live.idle()
    live.click_entry(PLACE)
    live.keys("Ctrl+Alt+E")
    await draft(live)
    live.type("My own words. ", panel.draft.editor)
    other = Lines().user("u", "Hello.").reply("a", "m", "Hello!").write(tmp_path / "other.jsonl")
    live.session.sessions.import_files([other])
    await live.until(lambda: live.document.key != sample, "the other session")
    await live.idle()
    assert not panel.draft.drafts()
    live.session.sessions.open(sample)
    await live.until(lambda: live.document.key == sample, "the first session")
    await live.until(lambda: panel.draft.drafts(), "its draft")
    assert panel.draft.editor.toPlainText().startswith("My own words. ")
    assert "Draft, kept" in live.words(panel)
