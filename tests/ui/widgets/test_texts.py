"""Long texts in pieces, streamed texts, notices, links, folds."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from tests.ui.waiting import Heard, button, settle, shown_texts, wait_for
from ui.widgets.labels import ElidedLabel, LinkButton, elided
from ui.widgets.notice import AddressStrip, Notice, NoticeStrip
from ui.widgets.panels import CollapsibleSection, EmptyState, WholeArea, column_in
from ui.widgets.plain_text import LINE, PIECE, PlainTextView, StreamView, split_lines

TITLE = "bash python scripts/replay_log.py --all --verbose…, 7 lines"


@pytest.mark.parametrize("letters", range(8, 60, 3))
def test_a_title_has_one_mark_where_something_is_missing(app: QApplication, letters: int) -> None:
    metrics = QFontMetrics(app.font())
    width = metrics.averageCharWidth() * letters
    for text in (TITLE, TITLE.replace("…", ""), "It was cut before…"):
        for keep_end in (True, False):
            shown = elided(metrics, text, width, keep_end=keep_end)
            assert metrics.horizontalAdvance(shown) <= width
            assert shown == text or shown.count("…") == 1 or (text == TITLE and not keep_end)
            assert "……" not in shown


def test_what_came_of_a_call_stays_in_its_title(app: QApplication) -> None:
    metrics = QFontMetrics(app.font())
    width = metrics.horizontalAdvance(TITLE) - 1
    assert elided(metrics, TITLE, width, keep_end=True).endswith("…, 7 lines")
    assert elided(metrics, "read a/very/long/way.py", width - 250, keep_end=True).endswith(".py")


def test_a_page_that_scrolls_ends_between_two_lines(app: QApplication) -> None:
    area, page = WholeArea(), QWidget()
    column = column_in(page, 0)
    column.addWidget(QLabel("\n".join("one line after the other" for _ in range(9)), wordWrap=True))
    for _ in range(20):
        column.addWidget(QLabel("a row"))
    area.setWidget(page)
    area.show()
    for height in range(150, 260, 7):
        area.resize(240, height)
        settle()
        low, lines = area.viewport().height(), list[int]()
        assert height - 30 < low <= height, "no more than a line is left out"
        for label in page.findChildren(QLabel):
            count = label.text().count("\n") + 1
            line, top = label.height() // count, label.mapTo(page, QPoint(0, 0)).y()
            lines += range(top, top + count * line, line)
        assert not [top for top in lines if top < low < top + line], height


@pytest.mark.parametrize("is_mono", [True, False])
def test_a_text_that_scrolls_ends_between_two_lines(app: QApplication, is_mono: bool) -> None:
    view = PlainTextView(mono=is_mono)
    view.set_text("\n".join(f"line {number}" for number in range(40)))
    view.show()
    bar, margin = view.verticalScrollBar(), view.document().documentMargin()
    for height in range(120, 160, 7):
        view.resize(240, height)
        settle()
        low = view.viewport().height()
        for value in (0, 7, bar.maximum()):
            bar.setValue(value)
            settle()
            block, cut = view.firstVisibleBlock(), list[int]()
            while block.isValid():
                lines = view.blockBoundingGeometry(block).translated(view.contentOffset())
                if lines.top() < -margin < lines.bottom() - margin:
                    cut.append(block.blockNumber())
                if lines.top() < low - margin and lines.bottom() > low + margin:
                    cut.append(block.blockNumber())
                block = block.next()
            assert not cut, (height, value)
    view.resize(240, 800)
    settle()
    assert view.viewport().height() == 800, "nothing is left out of a text that fits"


def test_lines_are_split_whatever_the_pieces() -> None:
    text = "short\n" + "x" * 2500 + "\nend"
    whole, column = split_lines(text)
    assert [len(line) for line in whole.split("\n")] == [5, 1000, 1000, 500, 3]
    assert column == 3
    first, column = split_lines(text[:1300])
    second, _ = split_lines(text[1300:], column)
    assert first + second == whole


def test_an_unbroken_megabyte_is_shown_in_short_lines(app: QApplication) -> None:
    view = PlainTextView()
    view.show()
    text = "y" * 1_000_000
    view.set_text(text)
    assert view.is_loading
    assert 0 < view.document().characterCount() <= PIECE * 1.1
    wait_for(lambda: not view.is_loading, "the whole text")
    block = view.document().begin()
    longest = 0
    while block.isValid():
        longest = max(longest, block.length())
        block = block.next()
    assert longest <= LINE + 1
    assert view.toPlainText().replace("\n", "") == text
    assert view.text() == text


def test_a_new_text_replaces_a_loading_one(app: QApplication) -> None:
    view = PlainTextView()
    view.set_text("a\n" * 200_000)
    view.set_text("only this")
    settle(20)
    assert view.toPlainText() == "only this"


def test_leaving_a_text_of_many_lines_frees_it_and_shows_the_next(app: QApplication) -> None:
    view = PlainTextView()
    view.show()
    view.set_text("line\n" * 30_000)
    wait_for(lambda: not view.is_loading)
    old = view.document()
    gone = Heard(old.destroyed)
    view.set_text("next")
    assert view.toPlainText() == "next"
    assert view.document().defaultFont() == view.font()
    wait_for(lambda: gone.count() == 1, "the old document's end")


def test_a_fitting_view_is_as_high_as_its_text_up_to_a_limit(app: QApplication) -> None:
    view = PlainTextView(fit=200)
    view.resize(300, 50)
    view.show()
    view.set_text("one line")
    settle()
    low = view.height()
    view.set_text("\n".join(["line"] * 100))
    settle()
    assert low < 40
    assert view.height() == 200


def test_reveal_selects_by_the_texts_own_characters(app: QApplication) -> None:
    view = PlainTextView()
    view.set_text("z" * 2300 + "needle" + "z" * 50)
    view.reveal(2300, 6)
    assert view.textCursor().selectedText() == "needle"


def test_streamed_text_arrives_whole_and_follows_its_end(app: QApplication) -> None:
    view = StreamView()
    view.resize(200, 100)
    view.show()
    view.begin()
    for number in range(300):
        view.add(f"piece {number} ")
    assert view.characters() == sum(len(f"piece {n} ") for n in range(300))
    wait_for(lambda: "piece 299" in view.toPlainText(), "the last piece")
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(0)
    view.add("more\n" * 50)
    view.finish()
    assert bar.value() == 0
    assert view.text().endswith("more\n")


def test_notice_tells_what_happened_what_was_kept_and_what_to_do(app: QApplication) -> None:
    pressed: list[bool] = []
    strip = NoticeStrip()
    strip.resize(420, 120)
    strip.show_notice(
        Notice(
            "error", "The file is damaged.", "312 entries were kept.", "Import it again.",
            "line 313: Expecting value", "Show it", lambda: pressed.append(True),
        )
    )  # fmt: skip
    settle()
    words = shown_texts(strip)
    for part in ("The file is damaged.", "312 entries were kept.", "Import it again."):
        assert part in words
    details = strip.findChild(PlainTextView)
    assert details is not None and not details.isVisible()
    QTest.mouseClick(button(strip, "Details"), Qt.MouseButton.LeftButton)
    assert details.isVisible()
    QTest.mouseClick(button(strip, "Copy details"), Qt.MouseButton.LeftButton)
    assert "line 313" in QApplication.clipboard().text()
    QTest.mouseClick(button(strip, "Show it"), Qt.MouseButton.LeftButton)
    assert pressed == [True]
    QTest.keyClick(strip, Qt.Key.Key_Escape)
    assert not strip.isVisible()


def test_a_links_address_is_shown_before_it_is_opened(app: QApplication) -> None:
    opened: list[str] = []
    strip = AddressStrip(opened.append)
    strip.resize(420, 160)
    strip.ask("https://example.org/a", True)
    settle()
    view = strip.findChild(PlainTextView)
    assert view is not None and view.toPlainText() == "https://example.org/a"
    assert opened == []
    QTest.mouseClick(button(strip, "Open"), Qt.MouseButton.LeftButton)
    assert opened == ["https://example.org/a"]
    assert not strip.isVisible()
    strip.ask("file:///etc/passwd", False)
    settle()
    with pytest.raises(AssertionError):
        button(strip, "Open")
    assert "not opened" in shown_texts(strip)


def test_elided_label_has_all_of_it_in_tool_tip_and_name(app: QApplication) -> None:
    label = ElidedLabel("a rather long line of words that does not fit")
    label.resize(80, 20)
    label.show()
    label.grab()
    assert label.shown_text().endswith("…")
    assert label.toolTip() == label.accessibleName() == label.text()
    label.resize(600, 20)
    label.grab()
    assert label.toolTip() == ""


def test_link_button_follows_return(app: QApplication) -> None:
    link = LinkButton("go")
    spy = Heard(link.clicked)
    link.show()
    QTest.keyClick(link, Qt.Key.Key_Return)
    assert spy.count() == 1


def test_section_folds_by_key_and_says_so(app: QApplication) -> None:
    inner = QLabel("inside")
    section = CollapsibleSection("thinking", inner)
    section.show()
    assert not inner.isVisible()
    QTest.keyClick(section.header, Qt.Key.Key_Space)
    assert inner.isVisible()
    assert section.header.accessibleDescription() == "expanded"


def test_empty_state_offers_the_next_step(app: QApplication) -> None:
    state = EmptyState("session", "Nothing open", "Open a session.", "Open the sample")
    state.resize(400, 300)
    state.show()
    spy = Heard(state.pressed)
    QTest.mouseClick(button(state, "Open the sample"), Qt.MouseButton.LeftButton)
    assert spy.count() == 1
