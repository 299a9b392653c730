"""Drafts that are stopped, fail or come back wrong change nothing, and say why."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QInputDialog, QLineEdit

from explorer.session.kinds import Kind
from tests.models.server import Answer, ChatServer, HttpFailure, Plan, Stall
from tests.models.summaries import GOOD
from tests.ui.window.conftest import MODEL
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, on_screen, sample_path
from tests.ui.window.steps import commit, draft, open_sample
from ui.widgets.entry_table import ENTRY

# A provider that asks for more patience than anybody has is not waited for.
RATE_LIMIT = HttpFailure(429, "Rate limit reached for requests", retry_after="600")


async def summarize(live: RunningWindow) -> None:
    """Press Summarize with an instruction in the box."""
    live.keys("Ctrl+3")
    box = live.window.compaction.setup.instructions
    await live.tab_to(box)
    live.type("Word for word, please.")
    live.keys("Ctrl+Return")


def status(live: RunningWindow) -> str:
    return live.document.shared.store.drafts(live.document.key)[-1].status


async def test_cancelling_a_draft_changes_nothing(house: House, server: ChatServer) -> None:
    """E21: afterwards everything can be done again, and the instructions are still there."""
    server.plan(Stall(after=1, text="Half of a summary"))
    live = await house.start(sample_path())
    entries, leaf = len(live.document.tree), live.document.leaf
    await summarize(live)
    panel = live.window.compaction
    await live.until(server.started.is_set, "the answer")
    await live.until(lambda: "is writing" in live.words(panel), "the page of the draft")
    assert MODEL in live.words(panel)
    assert not live.session.actions["summarize"].isEnabled(), "one draft at a time"
    live.press_button("Cancel", panel)
    await live.until(lambda: not live.session.compaction.running, "the end of the draft")
    await live.until(server.gone.is_set, "the end of the call")
    await live.idle()
    assert (len(live.document.tree), live.document.leaf) == (entries, leaf)
    assert status(live) == "cancelled"
    assert "Stopped" in live.words(panel)
    assert panel.instructions() == "Word for word, please."
    assert live.session.actions["summarize"].isEnabled()
    server.plan(Answer(text=GOOD))
    live.press_button("Summarize", panel)
    await live.until(lambda: panel.draft.drafts(), "another draft")


async def test_instructions_are_for_one_compaction_and_come_back_with_its_undo(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    await summarize(live)
    panel = live.window.compaction
    await live.until(lambda: panel.draft.drafts(), "the draft")
    assert panel.instructions() == "Word for word, please.", "another draft has them too"
    await commit(live)
    assert panel.instructions() == ""
    assert "Its instructions are no longer in the box" in live.words(panel)
    live.keys("Ctrl+Z")
    await live.until(lambda: panel.instructions() == "Word for word, please.", "they are back")
    live.press_button("Redo", panel)
    await live.until(lambda: not panel.instructions(), "used again")
    live.keys("Ctrl+3")
    await live.tab_to(panel.setup.instructions)
    live.type("Other words.")
    live.window.map.setFocus()
    live.keys("Ctrl+Z")
    await live.until(lambda: "was taken back" in live.words(panel), "the undo")
    assert panel.instructions() == "Other words.", "what was written since stays"


async def test_an_answer_that_is_asked_for_again_takes_the_place_of_the_first(
    house: House, server: ChatServer
) -> None:
    """C7: what was written before the reminder is void, and what is waited for is told."""
    server.plan(Answer(text="## Goal\nHalf of it"), Stall(after=1, text="From the beginning"))
    live = await house.start(sample_path())
    await summarize(live)
    streaming = live.window.compaction.draft.streaming
    # The turn is split: which of its two requests comes first at the server is left to chance.
    await live.until(
        lambda: (
            "From the beginning" in streaming.written()
            and "Asking once more" in streaming.progress.text()
            and "Half of it" not in streaming.written()
        ),
        "the second answer",
    )
    live.press_button("Cancel", live.window.compaction)
    await live.until(lambda: not live.session.compaction.running, "the end of the draft")
    await live.idle()


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (Answer(text=""), "empty"),
        (HttpFailure(401, "Incorrect API key provided"), "key"),
    ],
    ids=["empty", "key"],
)
async def test_an_answer_that_is_no_good_changes_nothing(
    house: House, server: ChatServer, plan: Plan, reason: str
) -> None:
    """B12, E5, E14, E16: neither the log nor the leaf; the reason is told, the words are kept."""
    server.plan(plan)
    live = await house.start(sample_path())
    entries, leaf = len(live.document.tree), live.document.leaf
    await summarize(live)
    panel = live.window.compaction
    await live.until(panel.notice.isVisible, "the reason")
    await live.idle()
    assert panel.notice.notice is not None
    assert panel.notice.notice.level == "error"
    assert reason in panel.notice.notice.what.casefold()
    assert "none" not in panel.notice.notice.details.split(), "the key is told to nobody"
    assert (len(live.document.tree), live.document.leaf) == (entries, leaf)
    assert status(live) == "failed"
    assert panel.instructions() == "Word for word, please."
    assert not panel.draft.drafts(), "nothing is there to be committed"
    assert panel.setup.summarize.isEnabled(), "and it can be tried again"


async def test_what_was_sent_is_what_was_shown(house: House, server: ChatServer) -> None:
    """The request that goes out is the one of the request window, character by character."""
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    shown = live.document.compaction.requests(live.partition, "Word for word, please.")
    await summarize(live)
    panel = live.window.compaction
    await live.until(lambda: panel.draft.drafts(), "the draft")
    sent = [
        tuple(str(message["content"]) for message in request["messages"])
        for request in server.requests
    ]
    assert sorted(sent) == sorted((one.system, one.prompt) for one in shown)
    assert GOOD.splitlines()[1] in panel.draft.editor.toPlainText()


async def test_two_drafts_are_held_side_by_side(house: House) -> None:
    """Another draft does not replace the first one; each keeps its own edited text."""
    live = await house.start(sample_path())
    panel = live.window.compaction
    await draft(live)
    live.keys("Ctrl+Home")
    live.type("First. ")
    live.press_button("Another", panel)
    live.press_button("Summarize", panel)
    await live.until(lambda: len(panel.draft.drafts()) == 2, "the second draft")
    assert not panel.draft.editor.toPlainText().startswith("First. ")
    tabs = panel.draft.tabs
    live.click(tabs, tabs.tabRect(0).center())
    await live.settle()
    assert panel.draft.editor.toPlainText().startswith("First. ")
    compaction = await commit(live)
    assert live.document.payloads.shown.entry(compaction).summary.startswith("First. ")


async def test_an_emptied_draft_cannot_be_committed(house: House) -> None:
    """B12: an empty summary would replace the history with nothing."""
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    await draft(live)
    live.keys("Ctrl+A", "Del")
    await live.settle()
    page = live.window.compaction.draft
    assert not page.commit.isEnabled()
    assert page.problem.isVisible()
    live.press_button("Discard", page)
    await live.idle()
    assert len(live.document.tree) == entries
    assert status(live) == "discarded"


async def test_a_draft_waits_for_the_next_start(house: House) -> None:
    """Closing the window loses neither a draft nor what was written into it."""
    live = await house.start()
    await open_sample(live)
    await draft(live)
    live.keys("Ctrl+Home")
    live.type("Mine. ")
    await live.settle()
    await live.close()
    again = await house.start()
    await again.idle()
    again.keys("Ctrl+3")
    page = again.window.compaction.draft
    assert page.editor.isVisible()
    assert page.editor.toPlainText().startswith("Mine. ")
    compaction = await commit(again)
    assert again.document.payloads.shown.entry(compaction).summary.startswith("Mine. ")


async def test_a_draft_of_where_the_session_went_on_waits_too(house: House) -> None:
    """It tells where it would be committed, and one press does so."""
    live = await house.start()
    await open_sample(live)
    await draft(live)
    made_at = live.document.leaf
    live.window.map.setFocus()
    live.keys("Ctrl+B")
    asked: QInputDialog = await live.dialog(QInputDialog)
    live.type("later\n", to=asked.findChild(QLineEdit))
    await live.until(lambda: live.document.leaf != made_at, "the label, which moves the leaf")
    left = live.document.leaf
    await live.close()
    again = await house.start()
    await again.until(lambda: again.window.compaction.has_drafts, "the draft of earlier")
    assert again.window.map.isAncestorOf(again.receiver()), "it does not take the keyboard"
    assert f"A draft of #{made_at}" in again.said
    again.keys("Ctrl+3")
    page = again.window.compaction.draft
    assert f"the leaf is #{left}: the commit goes there" in page.place_note.text()
    assert page.sources.model.rowCount()
    again.press_button(f"Go to #{made_at} and commit", page)
    await again.until(lambda: again.document.leaf != left, "the compaction")
    document = again.document
    assert document.tree.kind(document.leaf) is Kind.COMPACTION
    assert document.tree.columns.parent[document.leaf] == made_at
    await again.idle()


async def test_settings_and_draft_can_be_used_in_a_small_window(house: House) -> None:
    """What the sliders change, and enough of a draft to read it, without scrolling."""
    live = await house.start(sample_path(), size=(1024, 700))
    live.keys("Ctrl+3")
    await live.idle()
    setup = live.window.compaction.setup
    seen = on_screen(setup.area.viewport())
    for part in (setup.keep, setup.reserve, setup.window_size, setup.why):
        assert seen.contains(on_screen(part)), part
    rows = setup.table.viewport().height() // setup.table.row_height()
    assert rows >= 5, "and of the ledger more than the first kept entry"
    before = setup.why.accessibleName()
    live.click(setup.keep.track)
    assert setup.why.accessibleName() != before
    assert seen.contains(on_screen(setup.keep)) and seen.contains(on_screen(setup.why))
    await draft(live)
    page = live.window.compaction.draft
    text = on_screen(page.editor.viewport())
    assert on_screen(page._area.viewport()).contains(text)
    assert text.height() >= 8 * page.editor.fontMetrics().lineSpacing()
    # Without room for its text, a source is shown in the other views.
    assert not page.sources.text.isVisible()
    row = page.sources.table.visualRect(page.sources.model.index(1, 0)).center()
    live.click(page.sources.table.viewport(), row)
    assert live.window.map.selected == page.sources.model.index(1, 0).data(ENTRY)


async def test_what_the_offline_summarizer_cannot_follow_is_said_above_the_buttons(
    house: House,
) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await live.tab_to(live.window.compaction.setup.instructions)
    live.type("Write it in Latin.")
    await draft(live)
    page = live.window.compaction.draft
    assert page.not_met.text() == (
        "No line was picked for “Write it in Latin”; rules without a model do no more."
    )
    assert page.not_met.isVisible()
    live.press_button("Another", live.window.compaction)
    live.window.compaction.setup.instructions.selectAll()
    live.type("Keep the constraints.", to=live.window.compaction.setup.instructions)
    live.keys("Ctrl+Return")
    await live.until(lambda: len(page.drafts()) == 2, "another draft")
    await live.idle()
    assert not page.not_met.isVisible()
