"""The pane for the context at an entry."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.audit.provenance import weight_known
from explorer.compaction.context_size import context_size
from explorer.compaction.profile import PROFILES, Settings
from explorer.session.context import context_at
from tests.ui.sessions import Talk, load_file
from tests.ui.waiting import Heard, settle, shown_texts
from ui.inspector import ContextPane
from ui.inspector.context import counted_words
from ui.widgets.entry_table import ENTRY, LEAD
from ui.widgets.figures import full, short


@pytest.fixture
def pane(app: QApplication) -> ContextPane:
    widget = ContextPane()
    widget.resize(460, 700)
    widget.show()
    return widget


def test_shows_the_messages_that_the_model_sees(pane: ContextPane, conformance_dir: Path) -> None:
    """A5: the compaction first, then what it kept, then what followed."""
    document = load_file(conformance_dir / "compacted-often.jsonl")
    context = context_at(document.tree, document.leaf)
    pane.show_context(document, document.leaf)
    settle()
    model = pane.model
    assert [model.index(row, 0).data(ENTRY) for row in range(model.rowCount())] == context.messages
    assert model.index(0, 0).data(ENTRY) == context.compaction >= 0
    assert f"compaction #{context.compaction} in force" in shown_texts(pane)
    size = context_size(document.tree, context, PROFILES["explorer"])
    assert f"{short(size.tokens)} of 200k" in pane.title.text()
    assert size.source in pane.title.text()
    running = model.index(model.rowCount() - 1, pane.model.column("So far")).data()
    assert running == full(sum(share.tokens for share in model.shares()))


def test_what_no_file_tells_is_marked_beside_its_figure(pane: ContextPane) -> None:
    """Size and window; nothing of a context that was sent from here."""
    talk = Talk()
    talk.message("user", content="Is it done? " * 40)
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    words = {name: badge.word.text() for name, badge in pane.badges.items() if badge.isVisible()}
    assert words == {
        "size": "size inferred",
        "window": "window inferred",
    }
    assert ": ≈" in pane.title.text() and "about" in pane.title.accessibleName()
    assert "model not recorded" in pane.facts.text() and "thinking" not in pane.facts.text()
    assert "no provider reported it" in pane.badges["size"].toolTip()
    talk.entry("thinking_level_change", thinkingLevel="high")
    talk.reply("Yes.", usage={"totalTokens": 900})
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    assert [name for name, one in pane.badges.items() if one.isVisible()] == ["window"]
    assert "thinking high" in pane.facts.text()
    assert "≈900" not in pane.title.text() and "900 of" in pane.title.text()
    talk.document.own.add(talk.document.leaf)
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    assert not any(badge.isVisible() for badge in pane.badges.values())
    talk.message("user", content="And now?")
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    assert pane.title.text().endswith("(provider + estimate)"), "the rest is in the badge's tip"
    assert "estimate of 1 newer" in pane.title.accessibleName()
    assert "1 newer" in pane.badges["size"].toolTip()


def test_each_count_says_what_it_is_of() -> None:
    known = weight_known(True)
    assert counted_words("tokenizer", 110_372, 104_308, known) == (
        "counted here (tokenizer): entries ≈110,372, as sent ≈104,308"
    )
    assert counted_words("estimate", 900, 900, None) == "counted here (estimate): entries 900"


def test_roles_are_those_that_are_sent(pane: ContextPane) -> None:
    talk = Talk()
    talk.turns(1)
    talk.message("bashExecution", command="ls", output="x", exitCode=0)
    talk.entry("custom_message", customType="note", content="note", display=True)
    pane.show_context(talk.document, talk.document.leaf)
    leads = [pane.model.index(row, 0).data(LEAD) for row in range(pane.model.rowCount())]
    assert leads == [
        "user: ", "assistant: ", "tool result: ", "assistant: ", "user: ", "user: ",
    ]  # fmt: skip


def test_the_bar_and_its_legend_filter_the_list(pane: ContextPane) -> None:
    talk = Talk()
    talk.turns(5)
    pane.show_context(talk.document, talk.document.leaf, Settings(100_000, 10_000, 5_000))
    settle()
    assert "of 100k" in pane.title.text()
    assert pane.model.rowCount() == 20
    QTest.mouseClick(pane.legend.item("results"), Qt.MouseButton.LeftButton)
    assert pane.model.rowCount() == 5
    assert "tool results" in pane.bar.accessibleDescription()
    QTest.mouseClick(pane.legend.item("results"), Qt.MouseButton.LeftButton)
    assert pane.model.rowCount() == 20


def test_click_and_return_ask_for_the_entry_and_the_list_stays(pane: ContextPane) -> None:
    talk = Talk()
    talk.turns(3)
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    spy = Heard(pane.entry_requested)
    # As the window does: what was asked for is selected, and the panes follow the selection.
    pane.entry_requested.connect(lambda at: pane.show_context(talk.document, at))
    pane.table.scrollToTop()
    settle()
    where = pane.table.visualRect(pane.model.index(1, 0)).center()
    QTest.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert spy.at(0)[0] == 1
    assert pane.model.rowCount() == 12
    QTest.keyClick(pane.table, Qt.Key.Key_Down)
    QTest.keyClick(pane.table, Qt.Key.Key_Return)
    assert spy.at(1)[0] == 2
    pane.show_context(talk.document, 2)
    assert pane.model.rowCount() == 3


def test_thousands_of_messages_read_only_what_is_seen(pane: ContextPane) -> None:
    talk = Talk()
    talk.turns(1500, 40)
    asked: list[int] = []
    previews = talk.document.payloads.shown.previews

    def counted(indices: list[int]) -> list[str]:
        asked.extend(indices)
        return previews(indices)

    talk.document.payloads.shown.previews = counted  # type: ignore[method-assign, assignment]
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    pane.grab()
    assert pane.model.rowCount() == 6000
    assert 0 < len(asked) < 1000
    last = pane.model.index(5999, 0)
    assert last.data() == "Step 1499 is done. " + "y" * 40
    assert last.data(ENTRY) == 5999


def test_the_end_stays_in_sight_when_the_head_grows(pane: ContextPane) -> None:
    talk = Talk()
    talk.turns(40)
    pane.resize(324, 400)
    pane.show_context(talk.document, talk.document.leaf)
    settle()
    bar = pane.table.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    pane.facts.setText("words " * 60)
    settle()
    assert bar.value() == bar.maximum()


def test_nothing_sent_says_so(pane: ContextPane) -> None:
    pane.show_context(None, -1)
    settle()
    assert "Nothing is sent here" in shown_texts(pane)


def test_figures_give_way_in_a_narrow_pane(pane: ContextPane) -> None:
    talk = Talk()
    talk.turns(3)
    pane.show_context(talk.document, talk.document.leaf)
    row = pane.model.index(pane.model.rowCount() - 1, 0)
    for width, has_sum, has_role in ((280, False, False), (324, True, False), (600, True, True)):
        pane.resize(width, 500)
        settle()
        assert pane.width() == width
        assert pane.table.isColumnHidden(pane.model.column("So far")) is not has_sum
        assert bool(row.data(LEAD)) is has_role
