"""The map under real keys and clicks: selection, walking, folds, filters, zoom, what is painted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QWheelEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QToolButton

from tests.ui.map.conftest import Branchy, Show, click, press, row_point
from tests.ui.sessions import MemoryDocument, Talk
from ui import theme
from ui.map.canvas import Level
from ui.map.pane import MapPane, Shown
from ui.map.rows import RowFilter
from ui.widgets.figures import short

Key, Mod = Qt.Key, Qt.KeyboardModifier


def picture(pane: MapPane) -> QImage:
    return pane.view.viewport().grab().toImage()


def colours(image: QImage, box: tuple[int, int, int, int]) -> set[str]:
    """The colours in a box: left, top, right, bottom."""
    left, top, right, bottom = box
    return {image.pixelColor(x, y).name() for x in range(left, right) for y in range(top, bottom)}


def row_box(pane: MapPane, entry: int, left: int, right: int) -> tuple[int, int, int, int]:
    rect = pane.view.row_rect(entry)
    return left, round(rect.top()), right, round(rect.bottom()) - 1


def wheel(pane: MapPane, steps: int, at: QPointF) -> None:
    port = pane.view.viewport()
    event = QWheelEvent(
        at, QPointF(port.mapToGlobal(at.toPoint())), QPoint(), QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton, Mod.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(port, event)


def test_opens_at_the_leaf_with_it_selected_and_filled(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    assert pane.selected == branchy.leaf
    assert pane.view.visible_rows()[-1] == branchy.leaf
    rect = pane.view.row_rect(branchy.leaf)
    geometry = pane.view.geometry_now()
    node = QPoint(round(geometry.lane_x(0)), round(rect.center().y()))
    assert picture(pane).pixelColor(node) == theme.theme().accent


def test_click_selects_and_highlights_the_row(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    spy = QSignalSpy(pane.selection_changed)
    entry = branchy.leaf - 3
    click(pane, entry)
    assert pane.selected == entry and spy.at(0) == [entry]
    now = theme.theme()
    assert now.sel.name() in colours(picture(pane), row_box(pane, entry, 30, 40))
    assert now.sel.name() not in colours(picture(pane), row_box(pane, entry - 1, 30, 40))


def test_walking_by_keys(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    last = branchy.leaf
    press(pane, Key.Key_Up)
    assert pane.selected == last - 1
    press(pane, Key.Key_Down)
    press(pane, Key.Key_Down)
    assert pane.selected == last
    press(pane, Key.Key_Home)
    assert pane.selected == 0 and pane.view.visible_rows()[0] == 0
    press(pane, Key.Key_PageDown)
    assert 5 < pane.selected < last
    press(pane, Key.Key_End)
    assert pane.selected == last
    press(pane, Key.Key_Up, Mod.ControlModifier)
    assert pane.selected == last - 3, "the user message that starts the last turn (A18)"
    press(pane, Key.Key_Down, Mod.ControlModifier)
    assert pane.selected == last - 3, "no later turn"


def test_brackets_lead_to_branch_points_and_right_to_siblings(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    press(pane, Key.Key_BracketLeft)
    assert pane.selected == branchy.fork
    click(pane, branchy.summary)
    press(pane, Key.Key_Right)
    assert pane.selected == branchy.abandoned[0]
    press(pane, Key.Key_Right)
    assert pane.selected == branchy.summary
    press(pane, Key.Key_Left)
    assert pane.selected == branchy.fork, "left leads to the parent"


def test_braces_lead_to_compactions(show: Show, branchy: Branchy) -> None:
    pane, shift = show(branchy.document), Mod.ShiftModifier
    press(pane, Key.Key_BraceRight, shift)
    assert pane.selected == branchy.leaf, "no later compaction"
    press(pane, Key.Key_BraceLeft, shift)
    assert pane.selected == branchy.compaction
    press(pane, Key.Key_BraceLeft, shift)
    assert pane.selected == branchy.compaction, "no earlier compaction"
    press(pane, Key.Key_Home)
    pane.select_compaction(1)
    assert pane.selected == branchy.compaction


def test_enter_and_double_click_activate(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    spy = QSignalSpy(pane.activated)
    press(pane, Key.Key_Up)
    press(pane, Key.Key_Return)
    assert spy.at(0) == [branchy.leaf - 1]
    entry = branchy.leaf - 4
    click(pane, entry)
    QTest.mouseDClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=row_point(pane, entry))
    assert spy.at(1) == [entry]


def test_context_menu_by_key_and_by_mouse(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    spy = QSignalSpy(pane.menu_requested)
    from PySide6.QtGui import QContextMenuEvent

    point = row_point(pane, branchy.leaf - 2)
    port = pane.view.viewport()
    for reason in (QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard):
        event = QContextMenuEvent(reason, point, port.mapToGlobal(point))
        QApplication.sendEvent(port, event)
    assert spy.count() == 2
    assert spy.at(0)[0] == spy.at(1)[0] == branchy.leaf - 2 == pane.selected


def test_left_and_right_fold_and_unfold_a_compaction(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    pane.select(branchy.compaction)
    assert "summarized" in pane.model.texts.line(branchy.compaction)
    press(pane, Key.Key_Left)
    assert pane.model.rows.row(0) == -1
    assert pane.model.rows.row(branchy.first_kept) == 0
    assert "20 entries folded" in pane.model.texts.line(branchy.compaction)
    assert pane.selected == branchy.compaction in pane.view.visible_rows()
    press(pane, Key.Key_Right)
    assert pane.model.rows.row(0) == 0


def test_the_handle_of_a_compaction_folds_by_click(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    pane.select(branchy.compaction)
    click(pane, branchy.compaction, pane.view.geometry_now().lane_x(0))
    assert pane.model.folded == {branchy.compaction}
    assert branchy.first_kept in pane.view.visible_rows()
    assert 0 not in pane.view.visible_rows()
    click(pane, branchy.compaction, pane.view.geometry_now().lane_x(0))
    assert pane.model.folded == set()


def test_selecting_what_is_folded_unfolds_it(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    QTest.mouseClick(pane.bar.fold, Qt.MouseButton.LeftButton)
    assert pane.model.rows.row(3) == -1
    pane.select(3)
    assert pane.selected == 3 in pane.view.visible_rows()
    assert not pane.bar.fold.isChecked()


def test_a_compaction_tells_its_time_and_tokens(show: Show, branchy: Branchy) -> None:
    show(branchy.document)
    pane = show(branchy.document)
    line = pane.model.texts.line(branchy.compaction)
    counted = short(sum(branchy.document.tree.columns.estimate[: branchy.compaction]))
    assert line.startswith("Compaction ") and f"{counted} → " in line and "20 entries" in line


def test_sizes_that_no_file_tells_have_a_mark_and_a_reason(show: Show, branchy: Branchy) -> None:
    """Read aloud as words; what this program recorded has none."""
    texts = show(branchy.document).model.texts
    sizes = texts.line(branchy.compaction).split(" · ")[1]
    assert sizes.count("≈") == 2 and sizes.startswith("entries ≈") and " → ≈" in sizes
    told = texts.describe(branchy.compaction)
    assert "about" in told and "≈" not in told
    tip = "\n".join(texts.tip(branchy.compaction))
    assert "Sizes: inferred. The entries of the context, counted here" in tip
    branchy.document.own.add(branchy.compaction)
    texts = show(branchy.document).model.texts
    assert texts.line(branchy.compaction).split(" · ")[1] == sizes.replace("≈", "")
    assert "inferred" not in "\n".join(texts.tip(branchy.compaction))


def test_a_line_that_would_turn_its_direction_does_not(show: Show) -> None:
    talk = Talk()
    at = talk.message("user", content="safe\u202efdp.exe and \x07bells")
    line = show(talk.document).model.texts.line(at)
    assert line == "safe\ufffdfdp.exe and \ufffdbells"


@pytest.mark.parametrize(
    ("title", "choice"),
    [("No tools", RowFilter.NO_TOOLS), ("User only", RowFilter.USER_ONLY),
     ("Labelled", RowFilter.LABELLED), ("Compactions", RowFilter.COMPACTIONS)],
)  # fmt: skip
def test_filter_buttons_change_the_rows(
    show: Show, branchy: Branchy, title: str, choice: RowFilter
) -> None:
    pane = show(branchy.document, labels={5: "here", 30: "there"})
    button = next(b for b in pane.bar.findChildren(QToolButton) if b.text() == title)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pane.model.filter is choice
    shown = [pane.model.rows.entry(row) for row in range(pane.model.rows.count)]
    kinds = [pane.model.tree.kind(entry).name for entry in shown]
    expected = {
        RowFilter.USER_ONLY: {"USER"},
        RowFilter.COMPACTIONS: {"COMPACTION"},
        RowFilter.NO_TOOLS: {"USER", "ASSISTANT", "COMPACTION", "BRANCH_SUMMARY"},
    }
    if choice is RowFilter.LABELLED:
        assert shown == [5, 30]
    else:
        assert set(kinds) == expected[choice]
    assert set(pane.view.visible_rows()) <= set(shown)


def test_a_filter_that_leaves_nothing_says_so(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    pane.set_filter(RowFilter.LABELLED)
    assert pane.view.visible_rows() == []
    image = picture(pane)
    assert len(colours(image, (200, 250, 650, 320))) > 4, "words in the middle"


def test_an_empty_map_says_what_to_do(app: QApplication, show: Show) -> None:
    pane = show(MemoryDocument())
    press(pane, Key.Key_Down)
    press(pane, Key.Key_Home)
    press(pane, Key.Key_0)
    assert pane.selected == -1
    assert len(colours(picture(pane), (200, 250, 650, 340))) > 4
    pane.clear()
    assert not pane.model.is_open


def test_zoom_keys_change_the_level_of_detail(show: Show) -> None:
    talk = Talk()
    talk.turns(400, size=20)
    pane = show(talk.document)
    assert pane.view.level is Level.ENTRIES and pane.view.zoom == 1
    seen = []
    for _ in range(30):
        press(pane, Key.Key_Minus)
        if pane.view.level not in seen:
            seen.append(pane.view.level)
    assert seen == [Level.ENTRIES, Level.TURNS, Level.SPANS]
    press(pane, Key.Key_0)
    assert pane.view.verticalScrollBar().maximum() == 0, "fit shows everything"
    assert len(pane.view.visible_rows()) == 1_600
    press(pane, Key.Key_1)
    assert pane.view.zoom == 1
    press(pane, Key.Key_Plus)
    assert pane.view.zoom > 1
    assert pane.bar.zoom.text() == "125 %"
    QTest.mouseClick(pane.bar.fit_button, Qt.MouseButton.LeftButton)
    assert pane.bar.zoom.text() == "branches"


def test_every_level_paints_the_session(show: Show) -> None:
    talk = Talk()
    talk.turns(400, size=20)
    pane = show(talk.document)
    for zoom in (2.0, 1.0, 0.3, 0.02):
        pane.view.set_zoom(zoom)
        found = colours(picture(pane), (40, 0, 400, 640))
        assert theme.theme().ink.name() in found, "the active path"
        assert len(found) > 6


def test_control_wheel_zooms_where_the_mouse_is(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    pane.select(15)
    at = row_point(pane, 14)
    wheel(pane, 2, QPointF(at))
    assert pane.view.zoom > 1.3
    rect = pane.view.row_rect(14)
    assert rect.top() <= at.y() <= rect.bottom()


def test_dragging_pans_and_does_not_select(show: Show) -> None:
    talk = Talk()
    talk.turns(40, size=20)
    pane = show(talk.document)
    before, selected = pane.view.visible_rows()[0], pane.selected
    port = pane.view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(300, 100))
    for y in (160, 260, 400):
        QTest.mouseMove(port, QPoint(300, y))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=QPoint(300, 400))
    assert pane.view.visible_rows()[0] < before - 5
    assert pane.selected == selected


def test_the_minimap_moves_the_map(show: Show) -> None:
    talk = Talk()
    talk.turns(200, size=20)
    pane = show(talk.document)
    QTest.mouseClick(pane.minimap, Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
    assert pane.view.visible_rows()[0] == 0
    image = pane.minimap.grab().toImage()
    found = {image.pixelColor(x, y).name() for x in range(48) for y in range(300)}
    assert theme.theme().accent.name() in found, "where one is"
    assert len(found) > 5, "bars"


def test_hits_are_marked_and_the_current_one_is_brought_on_screen(
    show: Show, branchy: Branchy
) -> None:
    pane = show(branchy.document)
    pane.set_filter(RowFilter.COMPACTIONS)
    pane.set_hits([2, 3], 3)
    assert pane.model.filter is RowFilter.ALL
    assert {2, 3} <= set(pane.view.visible_rows())
    accent = theme.theme().accent.name()
    left = round(pane.view.geometry_now().glyph_left - 14)
    image = picture(pane)
    assert accent in colours(image, row_box(pane, 2, left, left + 14))
    assert accent not in colours(image, row_box(pane, 4, left, left + 14))


def test_labels_are_drawn_as_tags(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document, labels={branchy.leaf - 2: "before the change"})
    accent = QColor(theme.theme().accent)
    geometry = pane.view.geometry_now()
    right = round(geometry.text_right)
    image = picture(pane)
    tagged = colours(image, row_box(pane, branchy.leaf - 2, right - 90, right))
    plain = colours(image, row_box(pane, branchy.leaf - 6, right - 90, right))
    assert accent.name() in tagged and accent.name() not in plain


def test_rows_are_named_by_their_index_where_it_has_room(show: Show, branchy: Branchy) -> None:
    """Beside the first line; where a second one fits it stands there."""
    pane = show(branchy.document)

    def has_ink() -> bool:
        right = round(pane.view.geometry_now().name_right)
        found = colours(picture(pane), row_box(pane, branchy.leaf - 6, right - 12, right))
        return len(found) > 1

    pane.resize(900, 700)
    QApplication.processEvents()
    left = pane.view.geometry_now().text_left
    assert pane.view.geometry_now().has_names and has_ink()
    pane.view.set_zoom(2.5)
    assert not pane.view.geometry_now().has_names
    pane.view.set_zoom(1)
    for width, is_narrow in ((470, False), (400, True), (340, True)):
        pane.resize(width, 700)
        QApplication.processEvents()
        geometry = pane.view.geometry_now()
        assert geometry.has_names and has_ink(), width
        assert geometry.has_numbers
        assert (geometry.text_left < left) is is_narrow, "no title is moved before it must be"
        assert geometry.text_right - geometry.text_left > 80
    least = replace(geometry, width=220)
    assert least.has_names and not least.has_numbers, "its tokens go before its number"


def test_tokens_on_a_narrow_map_are_rounded_and_stay_clear_of_the_number(show: Show) -> None:
    talk = Talk()
    talk.user("word " * 27_000)
    pane = show(talk.document)
    pane.resize(280, 700)
    QApplication.processEvents()
    geometry, inks = pane.view.geometry_now(), pane.view.inks
    tokens = pane.model.sizes[0]
    assert geometry.is_narrow and geometry.has_numbers and tokens > 10_000
    width = QFontMetricsF(inks.mono).horizontalAdvance(short(tokens))
    assert geometry.number_right - width > geometry.name_right + geometry.px(4)
    right = round(geometry.number_right)
    clear = round(geometry.number_right - width)
    image = picture(pane)
    # Rounded it ends there; with every digit it would reach further to the left.
    assert len(colours(image, row_box(pane, 0, clear, right))) > 2
    assert len(colours(image, row_box(pane, 0, round(geometry.name_right) + 1, clear - 1))) == 1


@pytest.mark.parametrize("last", [281, 99_999, 199_999])
def test_words_end_before_the_number_of_an_entry(show: Show, last: int) -> None:
    view = show(Talk().document).view
    geometry = replace(view.geometry_now(), rows=last + 1, digits=len(str(last)))
    number = QFontMetricsF(view.inks.small).horizontalAdvance(f"#{last}")
    assert geometry.name_right - number - geometry.text_right >= geometry.px(8)


def test_the_list_is_in_step_with_the_map(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    pane.show_as(Shown.BOTH)
    QApplication.processEvents()
    click(pane, branchy.leaf - 2)
    assert pane.outline.currentIndex().row() == branchy.leaf - 2
    pane.outline.setFocus()
    QTest.keyClick(pane.outline, Key.Key_Up)
    assert pane.selected == branchy.leaf - 3
    pane.set_filter(RowFilter.USER_ONLY)
    assert pane.outline.outline.rowCount() == pane.model.rows.count
    assert pane.outline.currentIndex().row() == pane.model.rows.row(pane.selected)
    QTest.keyClick(pane.outline, Key.Key_Home)
    assert pane.selected == 0
    spy = QSignalSpy(pane.activated)
    QTest.keyClick(pane.outline, Key.Key_Return)
    assert spy.at(0) == [0]


def test_the_list_and_the_map_tell_screen_readers_what_is_selected(
    show: Show, branchy: Branchy
) -> None:
    pane = show(branchy.document, labels={3: "start"})
    pane.show_as(Shown.LIST)
    pane.select(3)
    index = pane.outline.currentIndex()
    told = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "Assistant, entry 3" in told and "Step 0 is done" in told and "Label start" in told
    assert pane.view.accessibleDescription() == told
    assert pane.view.accessibleName() and pane.outline.accessibleName()


def test_the_bar_shows_map_list_or_both(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    QTest.mouseClick(pane.bar.shown.button(Shown.LIST), Qt.MouseButton.LeftButton)
    assert pane.outline.isVisible() and not pane.view.isVisible()
    assert pane.outline.hasFocus()
    QTest.mouseClick(pane.bar.shown.button(Shown.MAP), Qt.MouseButton.LeftButton)
    assert pane.view.isVisible() and not pane.outline.isVisible()


def test_a_narrow_bar_keeps_its_filters_in_a_list(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    assert not pane.bar.filter_list.isVisible()
    pane.resize(430, 500)
    QApplication.processEvents()
    assert pane.width() == 430 and pane.bar.filter_list.isVisible()
    pane.bar.filter_list.setFocus()
    QTest.keyClick(pane.bar.filter_list, Key.Key_Down)
    assert pane.model.filter is RowFilter.NO_TOOLS
    last = pane.bar.fit_button.geometry()
    assert last.right() <= pane.bar.width()
    pane.resize(900, 500)
    QApplication.processEvents()
    button = next(b for b in pane.bar.findChildren(QToolButton) if b.text() == "No tools")
    assert button.isVisible() and button.isChecked()


def test_every_control_has_a_name(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    for button in pane.bar.findChildren(QToolButton):
        assert button.accessibleName() or button.text(), button
        assert button.toolTip()


def test_focus_is_visible(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    accent = theme.theme().accent
    assert picture(pane).pixelColor(0, 300) == accent
    pane.bar.fit_button.setFocus()
    assert picture(pane).pixelColor(0, 300) != accent


def test_the_theme_reaches_the_map(app: QApplication, show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    theme.set_theme("dark", app)
    assert picture(pane).pixelColor(846, 3) == theme.DARK.paper
    theme.set_theme("light", app)
    assert picture(pane).pixelColor(846, 3) == theme.LIGHT.paper


def test_rows_grow_with_the_text(app: QApplication, show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    before = pane.view.geometry_now().row_height
    assert 27 <= before <= 32
    theme.set_text_scale(2.0)
    theme.set_theme("light", app)
    try:
        after = pane.view.geometry_now().row_height
        assert after == pytest.approx(2 * before, rel=0.06)
        picture(pane)
    finally:
        theme.set_text_scale(1.0)
        theme.set_theme("light", app)


def test_folding_keeps_the_selection_in_sight(show: Show, branchy: Branchy) -> None:
    """What stands for a folded entry is selected in its place, and says how much it hides."""
    pane = show(branchy.document)
    pane.select(3)
    QTest.mouseClick(pane.bar.fold, Qt.MouseButton.LeftButton)
    assert pane.selected == branchy.compaction in pane.view.visible_rows()
    assert pane.model.texts.short(branchy.compaction).endswith("20 folded")


def test_a_branch_summary_is_named_by_its_topic_and_size(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    number = len(branchy.abandoned)
    words = f"Branch summary ({number} entries): The fake clock, given up"
    assert pane.model.texts.line(branchy.summary) == words


def test_a_branch_summary_without_words_is_named_by_its_first_message(show: Show) -> None:
    talk = Talk()
    talk.turns(2)
    fork = talk.last
    first = len(talk.document.tree)
    talk.turns(1)
    left_at, talk.last = talk.last, fork
    summary = talk.entry("branch_summary", fromId=left_at, summary="## Goal\n- (none)")
    pane = show(talk.document)
    asked = talk.document.payloads.shown.previews([first])[0]
    number = summary - first
    assert pane.model.texts.line(summary) == f"Branch summary ({number} entries): {asked}"


def test_a_thread_is_drawn_only_where_one_of_its_ends_has_a_row(
    show: Show, branchy: Branchy
) -> None:
    """Else it would run from one entry to another that have nothing to do with each other."""
    pane = show(branchy.document)
    pane.set_filter(RowFilter.USER_ONLY)
    users = pane.view.visible_rows()
    above, below = users[-4] + 1, users[-2] + 1
    without = picture(pane)
    pane.set_threads(((above, below),))
    assert picture(pane) == without
    pane.set_threads(((users[-4], below),))
    assert picture(pane) != without


def test_a_compaction_that_was_undone_has_no_frame(show: Show) -> None:
    talk = Talk()
    talk.turns(2)
    above = talk.document.leaf
    kept = talk.document.tree.columns.ids[above]
    compaction = talk.entry("compaction", summary="All.", firstKeptEntryId=kept, tokensBefore=9)
    for leaf, is_framed in ((compaction, True), (above, False)):
        pane = show(talk.document, leaf)
        geometry = pane.view.geometry_now()
        # Above the words, and below the upper edge of the row.
        left, top = round(geometry.text_left + geometry.px(40)), geometry.middle(compaction)
        edge = (left, round(top - geometry.px(11)), left + 40, round(top - geometry.px(8)))
        assert (len(colours(picture(pane), edge)) > 1) is is_framed
