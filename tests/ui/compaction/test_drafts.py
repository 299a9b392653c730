"""From the request to the draft, the commit and the undo, as a person goes through them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.catalogue import ModelInfo
from explorer.tokens.estimate import estimate_text
from tests.audit.texts import assistant
from tests.ui.compaction.previews import Previewed, Written
from tests.ui.sessions import Talk
from tests.ui.waiting import Heard, button, settle, shown_texts, wait_for
from ui.compaction.panel import CompactionPanel
from ui.compaction.sources_view import entry_words
from ui.widgets.entry_table import ENTRY
from ui.widgets.figures import full, short

Left = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(app: QApplication) -> CompactionPanel:
    talk = Talk()
    talk.turns(40)
    widget = CompactionPanel()
    widget.set_models([ModelInfo("offline/extractive", "Extractive", None, None, True, 0.0, 0.0)])
    widget.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 3_000))
    widget.set_document(Previewed(talk.document))
    widget.resize(460, 860)
    widget.show()
    settle()
    return widget


def _start(panel: CompactionPanel) -> None:
    QTest.mouseClick(panel.setup.summarize, Left)
    panel.draft_started()
    settle()


def test_summarize_asks_for_what_is_shown(panel: CompactionPanel) -> None:
    spy = Heard(panel.summarize_requested)
    panel.setup.instructions.setPlainText("  Keep the rules.  ")
    QTest.mouseClick(panel.setup.summarize, Left)
    assert spy.at(0) == [panel.partition, "Keep the rules.", "offline/extractive"]


def test_the_answer_streams_with_its_progress_and_can_be_stopped(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_text("## Goal\n")
    panel.draft_text("Make it work.")
    wait_for(lambda: "21 characters" in shown_texts(panel.draft), "the progress")
    cancel = Heard(panel.cancel_requested)
    assert panel.draft.streaming.cancel.hasFocus()
    QTest.keyClick(panel.draft.streaming.cancel, Qt.Key.Key_Space)
    assert cancel.count() == 1
    assert not panel.draft.streaming.cancel.isEnabled()
    panel.setup.instructions.setPlainText("still here")
    panel.draft_cancelled()
    settle()
    assert panel.setup.isVisible()
    assert "Nothing was stored" in shown_texts(panel.notice)
    assert panel.instructions() == "still here"


def test_a_failure_says_what_was_kept_and_has_details(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_text("half an answer")
    panel.draft_failed("The provider refused the call.", "401 Unauthorized")
    settle()
    words = shown_texts(panel.notice)
    assert "The provider refused the call." in words
    assert "The session is as it was" in words
    assert "Try again" in words
    QTest.mouseClick(button(panel.notice, "Copy details"), Left)
    assert "401 Unauthorized" in QApplication.clipboard().text()
    assert panel.setup.summarize.isEnabled()


def test_a_draft_is_edited_beside_its_sources_and_committed(panel: CompactionPanel) -> None:
    _start(panel)
    shown = panel.partition
    assert shown is not None and isinstance(shown.preparation, Preparation)
    draft = Written("## Goal\nMake it work.\n" * 20)
    panel.draft_finished(draft)
    settle()
    page = panel.draft
    assert page.editor.toPlainText() == draft.summary
    assert page.sources.model.rowCount() == len(shown.preparation.history)
    after = shown.tokens_kept + estimate_text(draft.summary)
    wait_for(lambda: f"{short(shown.context_estimate)} → {short(after)}" in page.sizes.text())
    for part in ("offline/extractive", "1.2 s", f"{full(after - shown.tokens_kept)} tokens"):
        assert part in page.facts.text()
    assert "321 tokens written" in page.facts.toolTip()
    first = page.sources.model.index(0, 0)
    where = page.sources.table.visualRect(first).center()
    QTest.mouseClick(page.sources.table.viewport(), Left, pos=where)
    assert "Do step 0 of the work" in page.sources.text.toPlainText()
    asked = Heard(panel.entry_requested)
    QTest.mouseClick(page.sources.go, Left)
    assert asked.at(0)[0] == first.data(ENTRY)
    page.editor.setFocus()
    QTest.keyClicks(page.editor, "EDITED ")
    assert "edited" in page.facts.text()
    spy = Heard(panel.commit_requested)
    QTest.mouseClick(page.commit, Left)
    assert spy.at(0)[0] is draft
    assert spy.at(0)[1] == "EDITED " + draft.summary


def test_a_source_is_read_from_its_first_words_on() -> None:
    """The pane is a few lines high: blank ones would be all that is seen of it."""
    assert entry_words(assistant("\n\n  \n    return 1\n\n# Done")) == "    return 1\n\n# Done"


def test_a_draft_is_counted_anew_when_a_tokenizer_has_counted(panel: CompactionPanel) -> None:
    """One token metric: the sizes of a draft and its sources are those of the map."""
    _start(panel)
    shown = panel.partition
    assert shown is not None
    panel.draft_finished(Written("## Goal\nMake it work."))
    settle()
    page = panel.draft
    document = panel._document
    assert isinstance(document, Previewed)
    first = page.sources.model.index(0, 1)
    entry = first.data(ENTRY)
    assert first.data() == full(document.tree.columns.estimate[entry])
    wait_for(lambda: "(estimate)" in page.facts.text())
    document.inner.count_by(2)
    panel.refresh()
    assert page.sources.model.index(0, 1).data() == full(2 * document.tree.columns.estimate[entry])
    wait_for(lambda: page.sizes.text().startswith(f"{short(2 * shown.context_estimate)} → "))
    assert "(tokenizer)" in page.facts.text()


def test_an_empty_or_broken_draft_cannot_be_committed(panel: CompactionPanel) -> None:
    """E5: an empty answer must not replace the history."""
    _start(panel)
    panel.draft_finished(Written("cut sho", problem="The answer was cut short."))
    settle()
    page = panel.draft
    assert not page.commit.isEnabled()
    assert "cut short" in shown_texts(page)
    page.editor.setFocus()
    QTest.keyClicks(page.editor, "completed by hand ")
    assert page.commit.isEnabled()
    page.editor.selectAll()
    QTest.keyClick(page.editor, Qt.Key.Key_Delete)
    assert not page.commit.isEnabled()
    assert "nothing" in page.problem.text()


def test_several_drafts_stand_beside_each_other(panel: CompactionPanel) -> None:
    _start(panel)
    first, second = Written("first text"), Written("second text", "provider/large")
    panel.draft_finished(first)
    settle()
    panel.draft.editor.setFocus()
    QTest.keyClicks(panel.draft.editor, "my ")
    QTest.mouseClick(panel.draft.again, Left)
    assert panel.setup.isVisible()
    _start(panel)
    panel.draft_finished(second)
    settle()
    assert [draft for draft, _, _ in panel.drafts()] == [first, second]
    assert panel.draft.editor.toPlainText() == "second text"
    tab = panel.draft.tabs.tabRect(0).center()
    QTest.mouseClick(panel.draft.tabs, Left, pos=tab)
    assert panel.draft.editor.toPlainText() == "my first text"
    gone = Heard(panel.discard_requested)
    QTest.mouseClick(panel.draft.discard, Left)
    assert gone.at(0)[0] is first
    assert panel.draft.editor.toPlainText() == "second text"
    QTest.mouseClick(panel.draft.discard, Left)
    assert panel.setup.isVisible()


def test_a_cancelled_second_draft_leaves_the_first(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_finished(Written("first text"))
    QTest.mouseClick(panel.draft.again, Left)
    _start(panel)
    panel.draft_cancelled()
    settle()
    assert panel.draft.isVisible()
    assert panel.draft.editor.toPlainText() == "first text"


def test_after_the_commit_there_is_an_undo(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_finished(Written("text"))
    panel.committed(1019, "121.4k → 36.9k tokens")
    settle()
    assert panel.setup.isVisible()
    words = shown_texts(panel.notice)
    assert "Compacted as #1019: 121.4k → 36.9k tokens." in words
    assert panel.draft.drafts() == []
    assert panel.notice.notice is not None and panel.notice.notice.is_passing
    spy = Heard(panel.undo_requested)
    QTest.mouseClick(button(panel.notice, "Undo"), Left)
    assert spy.count() == 1
    panel.undone(1019, 1017, 1019, made_here=True)
    words = shown_texts(panel.notice)
    assert "Compaction #1019 was taken back; the leaf is #1017 again." in words
    assert panel.notice.notice is not None and panel.notice.notice.is_passing
    assert "Redo comes back" not in words, "to the compaction, as ever"
    panel.undone(900, 899, 1017, made_here=False)
    words = shown_texts(panel.notice)
    assert "Compaction #900, which its own agent made, was taken back" in words
    assert "Redo comes back to #1017" in words
    spy = Heard(panel.redo_requested)
    QTest.mouseClick(button(panel.notice, "Redo"), Left)
    assert spy.count() == 1


def test_a_commit_that_failed_keeps_the_draft(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_finished(Written("text"))
    panel.commit_failed("The session has moved on since this draft was made.")
    settle()
    assert "moved on" in shown_texts(panel.notice)
    assert panel.draft.editor.toPlainText() == "text"


def test_another_document_forgets_the_drafts(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_finished(Written("text"))
    other = Talk()
    other.turns(30)
    panel.set_document(Previewed(other.document))
    settle()
    assert panel.draft.drafts() == []
    assert panel.setup.isVisible()


def test_sources_and_text_stand_side_by_side_where_there_is_room(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_finished(Written("text"))
    settle()
    assert panel.draft.split.orientation() == Qt.Orientation.Vertical
    panel.resize(1000, 700)
    settle()
    assert panel.draft.split.orientation() == Qt.Orientation.Horizontal
    panel.resize(320, 520)
    settle()
    assert panel.width() == 320
    assert panel.draft.commit.isVisible()


def test_a_draft_tried_at_an_earlier_entry_is_committed_there_in_one_click(
    panel: CompactionPanel,
) -> None:
    """What becomes of the leaf is said before, beside the button that moves it."""
    panel.set_at(100)
    _start(panel)
    panel.draft_finished(Written("tried words"))
    settle()
    page, leaf = panel.draft, panel._document.leaf  # type: ignore[union-attr]
    assert page.editor.toPlainText() == "tried words"
    assert page.commit.text().replace("&", "") == "Go to #100 and commit"
    assert f"The {leaf - 100} entries since #100 stay in the session" in page.place_note.text()
    assert f"comes back to #{leaf}" in page.place_note.text() and page.place_note.isVisible()
    spy = Heard(panel.commit_requested)
    QTest.mouseClick(button(page, "Go to #100 and commit"), Left)
    assert spy.count() == 1 and page.leaving == leaf


def test_a_draft_that_the_session_left_behind_says_where_it_is_of(panel: CompactionPanel) -> None:
    _start(panel)
    panel.draft_finished(Written("text"))
    settle()
    assert panel.draft.leaving is None and not panel.draft.place_note.isVisible()
    document = panel._document
    assert isinstance(document, Previewed)
    before = document.leaf
    last = document.tree.columns.ids[before]
    document.inner.add({"type": "custom", "id": "later", "parentId": last})
    panel.refresh()
    assert panel.draft.commit.text().replace("&", "") == f"Go to #{before} and commit"
    assert "The 1 entry since" in panel.draft.place_note.text()
