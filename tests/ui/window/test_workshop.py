"""The prompt workshop and the check of a draft, by keys and the mouse, in the real window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import (
    PromptTemplates,
    file_stamps,
    load_prompt,
    shipped_prompt,
    user_prompts_dir,
)
from tests.models.server import Answer, ChatServer, Stall
from tests.models.summaries import GOOD
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.compaction.request_window import RequestWindow
from ui.workshop.dialog import TABS, WorkshopDialog
from ui.workshop.mend_window import MendWindow

UPDATE = "history-update"


async def opened(live: RunningWindow, name: str = "") -> WorkshopDialog:
    """The workshop, opened by its key, at a text."""
    live.keys("Ctrl+Alt+T")
    dialog = await live.dialog(WorkshopDialog)
    if name:
        dialog.list.select(name)
    await live.settle()
    return dialog


def rows(dialog: WorkshopDialog) -> list[str]:
    model = dialog.list.rows
    texts = [
        model.index(at, 0).data(Qt.ItemDataRole.AccessibleTextRole) for at in range(len(model.rows))
    ]
    return [str(text) for row, text in zip(model.rows, texts, strict=True) if row.name]


async def test_a_text_is_changed_saved_with_a_note_and_reset(house: House) -> None:
    live = await house.start(sample_path())
    panel = live.window.compaction
    live.keys("Ctrl+3")
    assert "Prompts" in panel.setup.following.prompts.text()
    dialog = await opened(live)
    assert dialog.name == UPDATE, "the text that the profile asks with at this entry"
    assert not dialog.save.isEnabled() and not dialog.reset.isEnabled()
    assert dialog.save.toolTip() == "Nothing was changed."
    assert dialog.reset.toolTip() == "This is the text that came with the program."
    dialog.editor.text.setFocus()
    live.keys("Ctrl+Home", to=dialog.editor.text)
    live.type("Be brief. ", to=dialog.editor.text)
    await live.settle()
    assert "Summary brought up to date — not saved" in rows(dialog)
    dialog.note.setFocus()
    live.type("shorter\n", to=dialog.note)
    await live.until(lambda: load_prompt(UPDATE).startswith("Be brief. "), "the text in force")
    assert "Summary brought up to date — yours" in rows(dialog)
    assert PromptTemplates().history(UPDATE)[1].note == "shorter"
    requests = live.document.compaction.requests(live.partition)
    assert "Be brief. The conversation above" in requests[0].prompt
    # The panel says that the profile is not what it came as.
    assert panel.setup.following.prompts.text() == "Prompt changed ▸"
    live.press_button("Reset to shipped", dialog)
    asked = await live.dialog(QMessageBox)
    live.press_button("Reset", asked)
    await live.until(lambda: load_prompt(UPDATE) == shipped_prompt(UPDATE), "the shipped text")
    await live.until(lambda: "Prompts" in panel.setup.following.prompts.text(), "the panel's word")
    live.keys("Esc", to=dialog)
    await live.back()


async def test_what_breaks_a_text_is_said_at_once_and_cannot_be_saved(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live, "reminder")
    assert "{{problems}}" in live.words(dialog), "the variable is explained"
    live.keys("Ctrl+A", to=dialog.editor.text)
    live.type("Again {{problem}}", to=dialog.editor.text)
    await live.settle()
    told = dialog.editor.problems.text()
    assert "{{problem}} is not known" in told and "{{problems}} is missing" in told
    assert not dialog.save.isEnabled() and "put right first" in dialog.save.toolTip()
    live.keys("Ctrl+S", to=dialog.editor.text)
    await live.settle()
    assert len(PromptTemplates().history("reminder")) == 1
    live.press_button("Undo changes", dialog)
    assert dialog.text == shipped_prompt("reminder") and not dialog.editor.problems.isVisible()
    live.keys("Esc", to=dialog)
    await live.back()


async def test_what_is_not_saved_is_there_after_the_window_was_closed(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live, "short")
    live.keys("Ctrl+Home", to=dialog.editor.text)
    live.type("Three words. ", to=dialog.editor.text)
    await live.settle()
    live.keys("Esc", to=dialog)
    await live.back()
    await live.close()
    assert load_prompt("short") == shipped_prompt("short"), "nothing is sent of it"
    again = await house.start(sample_path())
    dialog = await opened(again, "short")
    assert dialog.text.startswith("Three words. ") and dialog.is_edited
    again.press_button("Undo changes", dialog)
    again.keys("Esc", to=dialog)
    await again.back()


async def test_the_request_is_built_with_the_text_as_it_stands(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    live.keys("Ctrl+End", to=dialog.editor.text)
    live.type(" Name every file twice.", to=dialog.editor.text)
    dialog.tabs.setCurrentIndex(TABS.index("request"))
    await live.until(lambda: "more than with the text" in dialog.preview.sizes.text(), "its size")
    assert dialog.preview.text.text().endswith("Name every file twice.")
    assert "<conversation>" in dialog.preview.text.text()
    assert not file_stamps(), "nothing was stored"
    live.press_button("Undo changes", dialog)
    live.keys("Esc", to=dialog)
    await live.back()


async def test_versions_are_compared_and_an_old_one_is_taken_again(house: House) -> None:
    live = await house.start(sample_path())
    assert live.session.state.bench is not None
    prompts = live.session.state.bench.prompts
    prompts.save("short", "One sentence.", "one")
    prompts.save("short", "Two sentences.", "two")
    dialog = await opened(live, "short")
    dialog.tabs.setCurrentIndex(TABS.index("versions"))
    await live.settle()
    page = dialog.versions
    shown = [cells[2] for cells in page.list.cells()]
    assert shown == ["", "two", "one", "Came with the program"]
    page.list.setFocus()
    live.keys("Home", "Down", "Down", to=page.list)
    live.choose(page.against, 2)
    await live.settle()
    assert page.diff is not None and page.diff.summary == "+1 −1"
    assert "Version 2 → Version 1" in page.message.text()
    live.press_button("Put into the editor", dialog)
    assert dialog.text == "One sentence." and dialog.is_edited
    live.press_button("Save", dialog)
    await live.until(lambda: load_prompt("short") == "One sentence.", "the old version")
    live.keys("Esc", to=dialog)
    await live.back()


async def test_a_broken_text_is_told_at_the_start_and_the_shipped_one_is_sent(house: House) -> None:
    folder = user_prompts_dir()
    folder.mkdir(parents=True)
    (folder / f"{UPDATE}.md").write_text(" \n")
    live = await house.start(sample_path())
    await live.until(lambda: "prompt of your own cannot be used" in live.notice, "the notice")
    request = live.document.compaction.requests(live.partition)[0]
    assert shipped_prompt(UPDATE) in request.prompt
    live.press_button("Prompt workshop", live.window.notices)
    dialog = await live.dialog(WorkshopDialog)
    assert dialog.name == UPDATE and "Broken, and not sent" in dialog.standing.text()
    live.keys("Esc", to=dialog)
    await live.back()


async def test_two_versions_are_tried_on_the_places_of_a_session(house: House) -> None:
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    dialog = await opened(live)
    text = shipped_prompt(UPDATE)
    dialog.editor.text.setPlainText("Only this:\n\n## Goal\n[the goal]\n\n## Next Steps\n1. [one]")
    dialog.tabs.setCurrentIndex(TABS.index("try"))
    page = dialog.trial
    await live.until(lambda: len(page.points()) == 3, "the places")
    assert page.texts()[0] == text and page.texts()[1].startswith("Only this")
    live.press_button("Try", dialog)
    await live.until(lambda: "compared" in page.message.text(), "the trial")
    kinds = {row[0]: row for row in page.table.cells()}
    assert "stated wrongly" in kinds and kinds["tokens"][1] != kinds["tokens"][2]
    assert len(live.document.tree) == entries and not live.document.drafts.waiting()
    live.press_button("Undo changes", dialog)
    live.keys("Esc", to=dialog)
    await live.back()


async def test_a_model_is_tried_only_after_its_cost_was_shown(
    house: House, server: ChatServer
) -> None:
    server.plan(Stall(after=1))
    live = await house.start(sample_path())
    dialog = await opened(live, "system")
    dialog.editor.text.setPlainText("You are brief.")
    dialog.tabs.setCurrentIndex(TABS.index("try"))
    page = dialog.trial
    await live.until(lambda: bool(page.points()), "the places")
    live.choose(page.model, "openai/gpt-4o-mini")
    live.press_button("Try", dialog)
    await live.until(lambda: page.confirm.isVisible(), "the question")
    assert "$" in page.message.text() and "Nothing was sent yet" in page.message.text()
    assert not server.requests
    live.click(page.confirm)
    await live.until(lambda: bool(server.requests), "the first call")
    live.press_button("Cancel", dialog)
    await live.until(lambda: "Stopped" in page.message.text(), "the end")
    live.press_button("Undo changes", dialog)
    live.keys("Esc", to=dialog)
    await live.back()


# a draft checked and mended ------------------------------------------------------------------


async def checked(live: RunningWindow) -> MendWindow:
    """A draft without the rules of the user, checked by its button."""
    live.keys("Ctrl+Shift+K")
    await live.until(lambda: live.window.compaction.has_drafts, "a draft")
    editor = live.window.compaction.draft.editor
    head, _, rest = editor.toPlainText().partition("## Constraints & Preferences\n")
    editor.setPlainText(
        f"{head}## Constraints & Preferences\n- (none)\n\n## {rest.partition('## ')[2]}"
    )
    live.press_button("Check and mend", live.window.compaction)
    window = await live.dialog(MendWindow)
    await live.until(lambda: window.mend.isVisible(), "what was found")
    return window


async def test_a_draft_is_checked_mended_and_taken_beside_the_first(house: House) -> None:
    live = await house.start(sample_path())
    window = await checked(live)
    page = live.window.compaction.draft
    first = page.drafts()[0][0].summary
    assert "2 of 11 standing" in window.title.text() and window.lacks.rows.rowCount() == 2
    assert "nothing is charged" in window.cost.text()
    live.press_button("The exact request", window)
    requests = await live.dialog(RequestWindow)
    assert "<findings>" in requests.tabs.widget(0).request.prompt  # type: ignore[union-attr]
    live.keys("Esc", to=requests)
    live.press_button("Mend it", window)
    await live.until(lambda: window.take.isVisible(), "the change")
    assert "regained" in window.title.text() and window.after.marked
    assert len(page.drafts()) == 1, "nothing is taken yet"
    live.press_button("Take it", window)
    await live.until(lambda: len(page.drafts()) == 2, "the second draft")
    assert page.drafts()[0][0].summary == first
    assert page.editor.toPlainText() == page.drafts()[1][0].summary != first
    leaf = live.document.leaf
    live.press_button("Commit", live.window.compaction)
    await live.until(lambda: live.document.leaf != leaf, "the compaction")
    entry = live.document.payloads.shown.entry(live.document.leaf)
    assert entry.kind is Kind.COMPACTION and entry.summary != first


async def test_a_compaction_is_mended_and_committed_where_it_was_made(house: House) -> None:
    live = await house.start(sample_path())
    live.click_entry(105)
    live.window.map.setFocus()
    live.keys("Ctrl+Alt+C")
    window = await live.dialog(MendWindow)
    await live.until(lambda: window.mend.isVisible(), "what was found")
    assert window.lacks.rows.rowCount() == 1
    live.press_button("Mend it", window)
    await live.until(lambda: window.take.isVisible(), "the change")
    assert "Compaction #105 stays as it is" in window.message.text()
    before = live.document.payloads.shown.entry(105)
    live.press_button("Take it", window)
    page = live.window.compaction.draft
    await live.until(lambda: page.isVisible() and page.drafts(), "the draft")
    await live.back()
    leaf = live.document.leaf
    live.press_button("Go to #104 and commit", page)
    await live.until(lambda: live.document.leaf > leaf, "the compaction")
    entry, compactions = (
        live.document.payloads.shown.entry(live.document.leaf),
        live.document.tree.columns.compactions,
    )
    assert compactions[live.document.leaf].first_kept_id == compactions[105].first_kept_id
    assert entry.summary != before.summary == live.document.payloads.shown.entry(105).summary
    await live.idle()


async def test_a_mended_draft_that_is_left_is_discarded(house: House) -> None:
    live = await house.start(sample_path())
    window = await checked(live)
    live.press_button("Mend it", window)
    await live.until(lambda: window.take.isVisible(), "the change")
    live.press_button("Leave it", window)
    await live.back()
    await live.idle()
    assert len(live.window.compaction.draft.drafts()) == 1
    store = live.document.shared.store
    assert [row.status for row in store.drafts(live.document.key)] == ["done", "discarded"]


async def test_a_stopped_and_a_useless_answer_leave_the_draft(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text=GOOD), Answer(text=GOOD), Stall(after=1), Answer(text=""))
    live = await house.start(sample_path())
    window = await checked(live)
    asked = len(server.requests)
    live.press_button("Mend it", window)
    await live.until(lambda: len(server.requests) > asked, "the call")
    live.press_button("Cancel", window)
    await live.until(lambda: window.mend.isVisible(), "what was found")
    assert "Stopped" in live.words(window)
    live.press_button("Mend it", window)
    await live.until(lambda: window.mend.isVisible(), "what was found again")
    assert window.notice.notice is not None and "empty" in window.notice.notice.what
    assert len(live.window.compaction.draft.drafts()) == 1
    live.keys("Esc", to=window)
    await live.back()


async def test_the_list_is_gone_through_by_keys(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live, "custom-instructions")
    dialog.list.setFocus()
    live.keys("Down", to=dialog.list)
    assert dialog.name == "branch", "the title of a group is stepped over"
    live.keys("Up", to=dialog.list)
    assert dialog.name == "custom-instructions"
    assert dialog.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    first, last = next(row for row in dialog.list.rows.rows if row.name), dialog.list.rows.rows[-1]
    for key, row in (
        ("End", last),
        ("Home", first),
        ("Up", first),
        ("PgDown", None),
        ("PgUp", None),
    ):
        live.keys(key, to=dialog.list)
        assert dialog.list.name and dialog.list.name == dialog.name
        assert row is None or dialog.name == row.name
    live.keys("Esc", to=dialog)
    await live.back()
