"""The cut on the map: dragged or stepped, only to valid places, and everything follows."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSplitterHandle

from explorer.compaction.partition import Verdict
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, on_screen, sample_path, visible
from tests.ui.window.steps import commit, draft, prepared
from ui.widgets.figures import short
from ui.widgets.swatch import LegendItem

LEFT = Qt.MouseButton.LeftButton


async def take_hold(live: RunningWindow) -> QPoint:
    """Bring the cut on screen and press the mouse on its handle."""
    live.keys("Ctrl+3")
    shown = live.partition
    live.window.map.view.reveal(shown.path[shown.cut], centre=True)
    await live.settle()
    at = live.cut_point()
    QTest.mousePress(live.window.map.view.viewport(), LEFT, pos=at)
    return at


async def test_a_preview_that_is_asked_for_again_brings_the_cut_into_sight(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+K")
    shown, view = live.partition, live.window.map.view
    cut = shown.path[shown.cut]

    def is_in_sight() -> bool:
        return view.viewport().rect().contains(view.row_rect(cut).center().toPoint())

    await live.until(is_in_sight, "the cut in sight")
    live.window.map.setFocus()
    live.keys("Home")
    await live.until(lambda: not is_in_sight(), "the start of the session")
    live.keys("Ctrl+K")
    await live.until(is_in_sight, "the cut in sight again")


def follows(live: RunningWindow) -> None:
    """Panel, ledger and map agree on the partition."""
    shown, window = live.partition, live.window
    assert shown.cut in shown.valid_cuts
    assert window.map.view.cut_now() == shown.cut
    ledger = window.compaction.setup.ledger
    row = ledger.row_of(shown.cut)
    told = ledger.index(row, 0)
    assert told.data(int(Qt.ItemDataRole.UserRole)) == shown.path[shown.cut]
    kept = short(shown.tokens[Verdict.KEPT])
    assert kept in "".join(share.text() for share in _legend(live)), "the legend's figure"


def _legend(live: RunningWindow) -> list[object]:
    from PySide6.QtWidgets import QAbstractButton

    return list(live.window.compaction.setup.legend.findChildren(QAbstractButton))


async def test_dragging_the_cut_moves_everything(house: House) -> None:
    """Between press and release the preview follows, from one valid cut to the next (A10)."""
    live = await house.start(sample_path())
    first = live.partition.cut
    at = await take_hold(live)
    surface = live.window.map.view.viewport()
    seen = set()
    for step in range(1, 40):
        QTest.mouseMove(surface, at - QPoint(0, 6 * step))
        await live.settle(1)
        seen.add(live.partition.cut)
        assert live.partition.cut in live.partition.valid_cuts
    assert len(seen) > 1
    assert live.partition.cut < first
    follows(live)
    last = live.partition.cut
    QTest.mouseRelease(surface, LEFT, pos=at - QPoint(0, 6 * 39))
    await live.idle()
    assert live.partition.cut == last
    assert "chosen by hand" in live.window.compaction.setup.why.accessibleName()
    follows(live)
    assert prepared(live).first_kept == live.partition.path[last]


async def test_escape_while_dragging_puts_the_cut_back(house: House) -> None:
    live = await house.start(sample_path())
    first = live.partition.cut
    at = await take_hold(live)
    surface = live.window.map.view.viewport()
    for step in range(1, 30):
        QTest.mouseMove(surface, at - QPoint(0, 10 * step))
        await live.settle(1)
    assert live.partition.cut != first
    live.keys("Esc", to=live.window.map.view)
    await live.settle()
    assert live.partition.cut == first
    QTest.mouseRelease(surface, LEFT, pos=at)
    await live.idle()
    assert live.partition.cut == first


async def test_the_cut_steps_by_keys_and_returns_to_where_the_rules_put_it(house: House) -> None:
    """Alt+Up and Alt+Down go from one valid cut to the next."""
    live = await house.start(sample_path())
    automatic, valid = live.partition.cut, live.partition.valid_cuts
    live.keys("F6", "Alt+Up")
    await live.settle()
    place = valid.index(automatic)
    assert live.partition.cut == valid[place - 1]
    assert live.tab == "compaction", "the panel comes forward"
    follows(live)
    live.keys("Alt+Up", "Alt+Down", "Alt+Down", "Alt+Down")
    await live.settle()
    assert live.partition.cut == valid[place + 1]
    live.window.compaction.setup.automatic_cut_asked.emit()
    await live.settle()
    assert live.partition.cut == automatic
    follows(live)


async def test_a_hand_made_cut_is_what_is_committed(house: House) -> None:
    """What the map shows is what the compaction entry says."""
    live = await house.start(sample_path())
    live.keys("F6", "Alt+Up", "Alt+Up")
    await live.settle()
    first_kept = live.document.tree.columns.ids[prepared(live).first_kept]
    live.keys("Ctrl+Shift+K")
    panel = live.window.compaction
    await live.until(lambda: panel.draft.drafts(), "the draft")
    live.press_button("Commit", panel)
    await live.until(lambda: live.document.context().compaction == live.document.leaf, "it")
    assert live.document.tree.columns.compactions[live.document.leaf].first_kept_id == first_kept


async def test_undo_gives_the_hand_made_cut_back_and_redo_takes_it_again(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("F6", "Alt+Up", "Alt+Up")
    await live.settle()
    panel, cut = live.window.compaction, live.partition.cut
    assert panel.cut == cut
    await draft(live)
    entry = await commit(live)
    before = live.document.tree.columns.parent[entry]
    assert panel.cut is None, "the settings cut what comes next"
    for _ in range(2):
        live.keys("Ctrl+Z")
        await live.until(lambda: live.document.leaf == before, "the undo")
        await live.idle()
        assert panel.cut == live.partition.cut == cut
        assert "by hand" in prepared(live).reason
        follows(live)
        live.keys("Ctrl+Shift+Z")
        await live.until(lambda: live.document.leaf == entry, "the redo")
        await live.idle()
        assert panel.cut is None
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf == before, "the undo")
    await live.idle()
    track = panel.setup.keep.track
    track.setFocus()
    live.keys("Left", to=track)
    await live.settle()
    assert panel.cut is None, "who moves a slider wants its cut"


async def test_opening_the_tab_brings_the_cut_and_the_instructions_into_sight(
    house: House,
) -> None:
    live = await house.start(sample_path(), size=(1440, 900))
    await live.until(lambda: live.window.compaction.partition, "the preview")
    live.keys("Ctrl+1")
    view, shown = live.window.map.view, live.partition
    cut = shown.path[shown.cut]
    assert cut not in view.visible_rows()
    live.keys("Ctrl+3")
    await live.until(lambda: cut in view.visible_rows(), "the cut on the map")
    setup = live.window.compaction.setup
    await live.settle(8)
    box = setup.instructions
    assert box.visibleRegion().boundingRect().size() == box.size()
    assert on_screen(box).bottom() < on_screen(setup.summarize).top()
    boxes = [box for box in (live.window.header.profile, setup.profile) if box.isVisible()]
    assert len(boxes) == 1
    high = setup.legend.height()
    setup.keep.track.setFocus()
    for key in ("Home", "End"):
        live.keys(key)
        await live.settle(4)
        assert setup.legend.height() == high


async def test_the_legend_says_what_of_it_is_not_in_the_bar(house: House) -> None:
    """What an earlier compaction summarized has its colour on the map, and no room in the bar."""
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await live.settle()
    setup = live.window.compaction.setup
    drawn = {share.key for share, _ in setup.bar.segments()}
    items = visible(setup.legend, LegendItem)
    assert items[-1].share.verdict == Verdict.SUMMARIZED_EARLIER
    for item in items:
        is_in_bar = item.share.key in drawn or not item.share.tokens
        assert ("not in the bar" in item.text()) is not is_in_bar, item.text()


async def test_the_map_follows_the_cut_once_the_slider_is_let_go(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    view, setup = live.window.map.view, live.window.compaction.setup

    def cut_is_seen() -> bool:
        return 0 < view.cut_line() < view.viewport().height()

    await live.until(cut_is_seen, "the cut in sight")
    await live.settle(20)
    start, track = view.verticalScrollBar().value(), setup.keep.track
    before, links = live.partition.cut, on_screen(setup.rules)
    held = QPoint(round(track.width() * track.value() / 1000), track.height() // 2)
    QTest.mousePress(track, LEFT, pos=held)
    for step in range(1, 4):
        QTest.mouseMove(track, held + QPoint(step * track.width() // 45, 0))
        await live.settle(4)
    assert 0 <= live.partition.cut < before and not cut_is_seen()
    assert view.verticalScrollBar().value() == start, "it stays while the slider moves"
    assert on_screen(setup.rules) == links, "whatever the sentence has to say"
    QTest.mouseRelease(track, LEFT, pos=held + QPoint(track.width() // 15, 0))
    around = 3 * view.geometry_now().actual_row

    def has_rows_around() -> bool:
        at = view.cut_line()
        # There is nothing to scroll to beyond the end.
        is_end = view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
        return at > around and (is_end or view.viewport().height() - at > around)

    await live.until(has_rows_around, "the cut in sight again, with rows above and below it")
    live.keys("Home", to=track)
    await live.until(lambda: live.partition.cut > before, "the cut at the other end")
    await live.until(has_rows_around, "the cut in sight, by keys")


async def test_the_ledger_is_made_larger_by_its_line(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await live.idle()
    setup = live.window.compaction.setup
    before, top = setup.table.height(), setup.summarize.mapTo(setup, QPoint(0, 0))
    line = next(one for one in setup.findChildren(QSplitterHandle) if one.isVisible())
    start = line.rect().center()
    end = start - QPoint(0, 200)
    QTest.mousePress(line, LEFT, pos=start)
    QTest.mouseMove(line, end)
    QTest.mouseRelease(line, LEFT, pos=end)
    await live.settle()
    larger = setup.table.height()
    assert larger >= before + 150, "what stands above it scrolls"
    live.click_entry(20)
    await live.idle()
    assert setup.table.height() > before + 100, "it stays so"
    assert setup.summarize.mapTo(setup, QPoint(0, 0)) == top, "no control moves"
