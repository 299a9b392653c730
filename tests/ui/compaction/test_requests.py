"""The exact requests, what they cost, and how they are asked for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.compaction.partition import Verdict
from explorer.compaction.profile import PROFILES, Settings
from tests.ui.compaction.conftest import MODELS
from tests.ui.compaction.previews import Previewed
from tests.ui.sessions import Talk, call_block
from tests.ui.waiting import Heard, button, settle, wait_for
from ui.compaction.panel import CompactionPanel
from ui.compaction.words import price_text

Key = Qt.Key


def test_the_exact_requests_are_shown_with_their_sources(
    panel: CompactionPanel, document: Previewed
) -> None:
    """A20, A22, and the provenance of every line."""
    panel.setup.instructions.setFocus()
    QTest.keyClicks(panel.setup.instructions, "Keep the rule about 409.")
    wait_for(lambda: "tokens" in panel.setup.request.text(), "the size of the request")
    QTest.mouseClick(panel.setup.request, Qt.MouseButton.LeftButton)
    wait_for(lambda: panel.requests.tabs.count() > 0, "the requests")
    assert panel.partition is not None
    sent = document.requests(panel.partition, "Keep the rule about 409.")
    assert panel.requests.tabs.count() == len(sent)
    page = panel.requests.tabs.widget(0)
    wait_for(lambda: not page.prompt.is_loading, "the prompt")
    assert page.prompt.text() == sent[0].prompt
    assert "Keep the rule about 409." in page.prompt.text()
    assert page.system.text() == sent[0].system
    assert page.prompt.isReadOnly()
    span = sent[0].sources[2]
    cursor = page.prompt.textCursor()
    cursor.setPosition(span.start + 1)
    page.prompt.setTextCursor(cursor)
    assert page.source.text() == f"This comes from #{span.entry}."
    spy = Heard(panel.entry_requested)
    QTest.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] == span.entry
    cursor.setPosition(0)
    page.prompt.setTextCursor(cursor)
    assert "own words" in page.source.text()
    assert not page.go.isVisible()
    QTest.mouseClick(button(page, "Copy the prompt"), Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == sent[0].prompt


def test_the_source_is_right_behind_long_lines_and_beyond_the_basic_plane(
    panel: CompactionPanel,
) -> None:
    talk = Talk()
    talk.user("👩‍👩‍👧‍👦" * 300 + "x" * 2500)
    talk.reply("y" * 3000)
    wanted = talk.user("find me")
    talk.turns(30)
    panel.set_document(Previewed(talk.document))
    panel.show_requests()
    wait_for(lambda: panel.requests.tabs.count() > 0, "the requests")
    page = panel.requests.tabs.widget(0)
    wait_for(lambda: not page.prompt.is_loading, "the prompt")
    found = page.prompt.document().find("find me")
    page.prompt.setTextCursor(found)
    assert page.source_at(page.caret_offset() - 1) == wanted


def test_what_a_model_costs_is_said_where_it_is_known(panel: CompactionPanel) -> None:
    assert panel.setup.price.text() == "$0"
    wait_for(lambda: "tokens" in panel.setup.request.text())
    spy = Heard(panel.model_chosen)
    panel.setup.model.setFocus()
    QTest.keyClick(panel.setup.model, Key.Key_Down)
    assert spy.at(0)[0] == "provider/large"
    assert panel.setup.price.text().startswith("about $")
    assert panel.setup.price.text() != "$0"
    assert price_text(1000, 10, None, None) == ""


def test_e19_the_request_allows_no_more_than_the_chosen_model_can_write(
    panel: CompactionPanel,
) -> None:
    QTest.mouseClick(panel.setup.request, Qt.MouseButton.LeftButton)
    wait_for(lambda: panel.requests.tabs.count() > 0, "the requests")
    assert "answer at most 13,107 tokens" in panel.requests.tabs.widget(0).facts.text()
    panel.setup.model.setFocus()
    QTest.keyClick(panel.setup.model, Key.Key_Down)
    wait_for(
        lambda: (
            panel.requests.tabs.count() > 0
            and "answer at most 4,000 tokens" in panel.requests.tabs.widget(0).facts.text()
        ),
        "the requests to the other model",
    )


def test_split_turn_is_drawn_and_asked_for_apart(app: QApplication) -> None:
    """A19, A20: one long turn is split; its first part gets a request of its own."""
    talk = Talk()
    talk.turns(5)
    talk.user("one long turn")
    for number in range(40):
        talk.reply(call_block(f"t{number}", "read", path=f"f{number}.py"))
        talk.result(f"t{number}", "z" * 800)
    panel = CompactionPanel()
    panel.set_models(MODELS)
    panel.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 2_000))
    panel.set_document(Previewed(talk.document))
    panel.resize(460, 860)
    panel.show()
    settle()
    shown = panel.partition
    assert shown is not None and shown.tokens[Verdict.TURN_PREFIX] > 0
    assert "<b>inside turn 6</b>" in panel.setup.why.text()
    assert "turn prefix" in panel.setup.legend.item("2").text()
    panel.show_requests()
    wait_for(lambda: panel.requests.tabs.count() == 2, "two requests")
    panel.summarize()
    panel.draft_started()
    settle()
    assert panel.draft.streaming.tabs.count() == 2
    panel.draft_text("prefix words", "turn_prefix")
    panel.draft_text("history words", "history")
    panel.draft.streaming.end()
    assert panel.draft.streaming.written() == "history words\n\nprefix words"


def test_ctrl_return_in_the_instructions_summarizes(panel: CompactionPanel) -> None:
    spy = Heard(panel.summarize_requested)
    box = panel.setup.instructions
    box.setFocus()
    QTest.keyClicks(box, "Mind the rule.")
    QTest.keyClick(box, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert spy.count() == 1
    assert spy.at(0)[1:] == ["Mind the rule.", "offline/extractive"]
    QTest.keyClick(box, Key.Key_Tab)
    assert not box.hasFocus()


def test_ctrl_return_summarizes_from_anywhere_on_the_page(panel: CompactionPanel) -> None:
    spy = Heard(panel.summarize_requested)
    panel.activateWindow()
    settle()
    for count, place in enumerate((panel.setup.keep.track, panel.setup.table), 1):
        place.setFocus()
        QTest.keyClick(place, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert spy.count() == count
