"""The bands of the partition and the cut that is dragged over them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QSignalSpy, QTest

from explorer.compaction.partition import Partition, Verdict
from tests.ui.map.conftest import Branchy, Show, divided, drag, press
from tests.ui.map.test_map_view import colours, picture
from tests.ui.sessions import Talk
from tests.ui.waiting import settle
from ui import theme
from ui.map.pane import MapPane
from ui.map.rows import RowFilter

Key, Mod = Qt.Key, Qt.KeyboardModifier


def with_cut(show: Show, branchy: Branchy) -> tuple[MapPane, Partition]:
    """A map of the session, divided by its preparation, as the window keeps it up to date."""
    pane = show(branchy.document)
    tree, leaf = branchy.document.tree, branchy.leaf
    first = divided(tree, leaf)
    assert first.cut > 0 and len(first.valid_cuts) > 3
    pane.set_partition(first)
    pane.cut_dragged.connect(lambda cut: pane.set_partition(divided(tree, leaf, cut=cut)))
    pane.cut_dropped.connect(lambda cut: pane.set_partition(divided(tree, leaf, cut=cut)))
    return pane, first


def test_the_cut_is_drawn_above_the_first_kept_entry(show: Show, branchy: Branchy) -> None:
    """A14, A16: the line lies where the preparation cuts."""
    pane, first = with_cut(show, branchy)
    kept = first.path[first.cut]
    y = pane.view.cut_line()
    assert abs(y - pane.view.row_rect(kept).top()) <= 1
    image = picture(pane)
    assert theme.theme().accent.name() in colours(image, (200, round(y) - 2, 210, round(y) + 2))


def test_bands_show_the_verdicts_beside_their_rows(show: Show, branchy: Branchy) -> None:
    pane, first = with_cut(show, branchy)
    pane.select(branchy.leaf)
    left, width = pane.view.geometry_now().band
    box = round(left) + 2, round(left + width) - 2
    image = picture(pane)

    def band(entry: int) -> set[str]:
        rect = pane.view.row_rect(entry)
        return colours(image, (box[0], round(rect.top()) + 6, box[1], round(rect.bottom()) - 6))

    assert first.verdicts[first.path.position(branchy.leaf)] == Verdict.KEPT
    assert band(branchy.leaf) == {theme.theme().kept.name()}, "kept is solid"
    before = first.path[first.cut - 1]
    assert first.verdicts[first.cut - 1] in (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX)
    assert len(band(before)) > 2, "what is summarized is hatched"
    assert band(branchy.abandoned[1]) == {theme.theme().paper.name()}, "not on the path"


def test_the_handle_goes_from_one_valid_cut_to_the_next(show: Show, branchy: Branchy) -> None:
    """A16: the cut never rests at a tool result."""
    pane, first = with_cut(show, branchy)
    dragged, dropped = QSignalSpy(pane.cut_dragged), QSignalSpy(pane.cut_dropped)
    start = pane.view.pill_rect().center().toPoint()
    steps = [QPoint(start.x(), start.y() - 7 * step) for step in range(1, 30)]
    drag(pane, start, *steps)
    places = [dragged.at(at)[0] for at in range(dragged.count())]
    assert len(places) > 2 and places == sorted(places, reverse=True)
    assert set(places) <= set(first.valid_cuts)
    assert dropped.count() == 1 and dropped.at(0)[0] == places[-1]
    assert pane.view.cut_now() == places[-1] == pane.model.partition.cut
    entry = pane.model.partition.path[places[-1]]
    assert abs(pane.view.cut_line() - pane.view.row_rect(entry).top()) <= 1
    assert not any(pane.model.tree.kind(first.path[cut]).name == "TOOL_RESULT" for cut in places)


def test_the_line_itself_can_be_taken_hold_of(show: Show, branchy: Branchy) -> None:
    pane, first = with_cut(show, branchy)
    spy = QSignalSpy(pane.cut_dropped)
    y = round(pane.view.cut_line())
    drag(pane, QPoint(150, y), QPoint(150, y - 80), QPoint(150, y - 160))
    assert spy.count() == 1 and spy.at(0)[0] in first.valid_cuts
    assert spy.at(0)[0] < first.cut


def test_escape_ends_a_drag_where_it_began(show: Show, branchy: Branchy) -> None:
    pane, first = with_cut(show, branchy)
    dropped = QSignalSpy(pane.cut_dropped)
    y = round(pane.view.cut_line())
    drag(pane, QPoint(150, y), QPoint(150, y - 160), release=False)
    assert pane.view.cut_now() != first.cut
    press(pane, Key.Key_Escape)
    QTest.mouseRelease(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(150, y - 160))
    assert pane.view.cut_now() == first.cut == pane.model.partition.cut
    assert dropped.count() == 0


def test_the_cut_moves_by_keys(show: Show, branchy: Branchy) -> None:
    pane, first = with_cut(show, branchy)
    place = first.valid_cuts.index(first.cut)
    press(pane, Key.Key_Up, Mod.AltModifier)
    assert pane.model.partition.cut == first.valid_cuts[place - 1]
    press(pane, Key.Key_Down, Mod.AltModifier)
    assert pane.model.partition.cut == first.cut
    for _ in range(len(first.valid_cuts) + 3):
        press(pane, Key.Key_Up, Mod.AltModifier)
    useful = [cut for cut in first.valid_cuts if cut > first.boundary]
    assert pane.model.partition.cut == useful[0], "stays where there is something to summarize"
    assert 0 <= pane.view.cut_line() <= pane.view.viewport().height()


def test_a_refused_cut_can_be_dragged_back(show: Show, branchy: Branchy) -> None:
    """A14: where nothing would be summarized, there is no preparation."""
    pane, first = with_cut(show, branchy)
    tree, leaf = branchy.document.tree, branchy.leaf
    refused = divided(tree, leaf, cut=first.valid_cuts[0])
    assert refused.cut == -1
    pane.view.drop_cut(first.valid_cuts[0])
    pane.set_partition(refused)
    assert pane.view.cut_now() == first.valid_cuts[0]
    press(pane, Key.Key_Down, Mod.AltModifier)
    assert pane.model.partition.cut == first.valid_cuts[1]


def test_a_refusal_draws_no_cut(show: Show) -> None:
    """A14: a session that is too small has nothing to cut."""
    talk = Talk()
    talk.turns(1, size=8)
    pane = show(talk.document)
    pane.set_partition(divided(talk.document.tree, talk.document.leaf))
    assert pane.view.cut_now() == -1
    press(pane, Key.Key_Up, Mod.AltModifier)
    image = picture(pane)
    assert theme.theme().kept.name() in colours(image, (12, 10, 22, 60)), "all is kept"


def test_bands_and_cut_are_there_at_every_zoom(show: Show, branchy: Branchy) -> None:
    pane, _ = with_cut(show, branchy)
    left, width = pane.view.geometry_now().band
    for zoom in (1.0, 0.3, 0.04):
        pane.view.set_zoom(zoom)
        pane.select(branchy.leaf)
        height = pane.view.viewport().height()
        found = colours(picture(pane), (round(left) + 2, 0, round(left + width) - 2, height))
        assert theme.theme().kept.name() in found
        y = pane.view.cut_line()
        assert 0 <= y <= height


def test_no_partition_draws_nothing(show: Show, branchy: Branchy) -> None:
    pane, _ = with_cut(show, branchy)
    pane.set_partition(None)
    assert pane.view.cut_now() == -1
    left, width = pane.view.geometry_now().band
    found = colours(picture(pane), (round(left) + 2, 10, round(left + width) - 2, 600))
    assert theme.theme().kept.name() not in found


def test_tips_tell_the_verdict_and_its_reason(show: Show, branchy: Branchy) -> None:
    pane, first = with_cut(show, branchy)
    tip = pane.model.texts.tip(branchy.leaf)
    assert tip[0].startswith(f"#{branchy.leaf} · ")
    assert "kept" in tip and tip[-1] == first.reason(len(first.path) - 1)


def test_the_handle_lies_below_the_last_row(show: Show, branchy: Branchy) -> None:
    pane, first = with_cut(show, branchy)
    pane.resize(900, 600)
    pane.view.set_zoom(1)
    assert pane.view.pill_rect().top() < pane.view.cut_line()
    pane.model.set_filter(RowFilter.LABELLED)
    settle()
    rows = pane.model.rows
    assert rows.floor(first.path[first.cut]) == rows.count
    assert pane.view.pill_rect().top() >= pane.view.cut_line() - 1


def test_the_handle_covers_no_words(show: Show, branchy: Branchy) -> None:
    """At the actual size it lies between the words of two rows, which it shortens no more than
    those farther away; where rows are lower, those beside the cut end their words before it."""
    pane, first = with_cut(show, branchy)
    kept = first.path[first.cut]
    for width in (900, 420, 330):
        pane.resize(width, 600)
        pane.view.set_zoom(1)
        geometry, pill = pane.view.geometry_now(), pane.view.pill_rect()
        half = pane.view.inks.metrics.height() / 2
        above, below = (pane.model.rows.row(entry) for entry in (first.path[first.cut - 1], kept))
        assert geometry.middle(above) + half <= pill.top()
        assert geometry.middle(below) - half >= pill.bottom()
        pane.view.set_zoom(0.8)
        pane.view.reveal(kept, centre=True)
        settle()
        now = theme.theme()
        pill = pane.view.pill_rect()
        image = picture(pane)
        geometry = pane.view.geometry_now()
        # Between the words' end and the handle there is nothing but paper and the line.
        gap = round(pill.left()) - round(geometry.px(7)), round(pill.left()) - 2
        for entry in (first.path[first.cut - 1], kept):
            rect = pane.view.row_rect(entry)
            middle = round(rect.center().y())
            box = (gap[0], middle - 4, gap[1], middle + 4)
            assert colours(image, box) <= {now.paper.name(), now.sel.name()}, (width, entry)
