"""Sessions that grow while they are shown, leaves that move, and very large sessions."""

from __future__ import annotations

import random
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from explorer.session.columns import SessionColumns
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree
from tests.ui.map.conftest import Branchy, Show, press
from tests.ui.map.test_map_view import colours, picture
from tests.ui.sessions import NumberedLines, Talk
from ui import theme
from ui.map.canvas import Level
from ui.map.layout import Skeleton, arrange
from ui.map.pane import MapPane
from ui.map.rows import RowFilter


def go_on(pane: MapPane, talk: Talk, text: str) -> int:
    entry = talk.reply(text)
    pane.entries_appended(entry, 1)
    pane.set_leaf(entry)
    return entry


def test_the_map_follows_a_growing_session_when_it_is_at_the_end(show: Show) -> None:
    talk = Talk()
    talk.turns(30, size=20)
    pane = show(talk.document)
    for number in range(5):
        entry = go_on(pane, talk, f"more {number}")
        assert pane.view.visible_rows()[-1] == entry
        assert pane.model.lanes.is_active(entry)
    lanes = pane.model.lanes
    fresh = arrange(Skeleton(pane.model.tree.columns.parent), entry)
    assert [lanes.lane_at(at) for at in range(lanes.count)] == [
        fresh.lane_at(at) for at in range(fresh.count)
    ]


def test_the_next_reply_tells_what_a_compaction_left(show: Show) -> None:
    talk = Talk()
    first = talk.user("Go.")
    talk.reply("Done.")
    kept = talk.document.tree.columns.ids[first]
    at = talk.entry("compaction", summary="All.", firstKeptEntryId=kept, tokensBefore=184_200)
    pane = show(talk.document)
    assert "entries" in pane.model.texts.line(at)
    reply = talk.reply("On.", usage={"input": 23_700, "output": 100, "totalTokens": 23_800})
    pane.entries_appended(reply, 1)
    assert "184.2k → 23.8k" in pane.model.texts.line(at)


def test_the_map_stays_where_a_person_reads(show: Show) -> None:
    talk = Talk()
    talk.turns(30, size=20)
    pane = show(talk.document)
    pane.select(10)
    before = pane.view.visible_rows()[:5]
    go_on(pane, talk, "more")
    assert pane.view.visible_rows()[:5] == before and pane.selected == 10


def test_following_does_not_lay_out_anew(show: Show) -> None:
    talk = Talk()
    talk.turns(30, size=20)
    pane = show(talk.document)
    lanes = pane.model.lanes
    go_on(pane, talk, "more")
    assert pane.model.lanes is lanes


def test_a_growing_session_passes_the_filter(show: Show) -> None:
    talk = Talk()
    talk.turns(10, size=20)
    pane = show(talk.document)
    pane.set_filter(RowFilter.USER_ONLY)
    count = pane.model.rows.count
    go_on(pane, talk, "an answer")
    assert pane.model.rows.count == count
    entry = talk.user("a question")
    pane.entries_appended(entry, 1)
    pane.set_leaf(entry)
    assert pane.model.rows.count == count + 1
    assert pane.view.visible_rows()[-1] == entry


def test_moving_the_leaf_fades_what_was_left(show: Show, branchy: Branchy) -> None:
    pane = show(branchy.document)
    pane.set_leaf(branchy.abandoned[-1])
    lanes = pane.model.lanes
    assert lanes.is_active(branchy.abandoned[0]) and not lanes.is_active(branchy.summary)
    assert lanes.is_active(branchy.fork)
    pane.select(branchy.abandoned[-1])
    rect = pane.view.row_rect(branchy.abandoned[-1])
    x = round(pane.view.geometry_now().lane_x(0))
    assert picture(pane).pixelColor(x, round(rect.center().y())) == theme.theme().accent


def test_a_new_branch_gets_a_lane(show: Show, branchy: Branchy) -> None:
    talk = Talk()
    talk.document, talk.last = branchy.document, branchy.document.tree.columns.ids[5]
    pane = show(branchy.document)
    entry = talk.user("another way")
    pane.entries_appended(entry, 1)
    pane.set_leaf(entry)
    assert pane.model.lanes.lane_at(entry) == 0
    assert pane.model.lanes.lane_at(branchy.leaf) > 0
    assert 5 in pane.model.lanes.branch_points()


def test_a_branch_summary_that_arrives_gets_its_bridge(show: Show, branchy: Branchy) -> None:
    """A35: from where the branch was abandoned."""
    talk = Talk()
    tree = branchy.document.tree
    talk.document, talk.last = branchy.document, tree.columns.ids[branchy.leaf - 4]
    pane = show(branchy.document)
    left_at = tree.columns.ids[branchy.leaf]
    entry = talk.entry("branch_summary", fromId=left_at, summary="Left behind")
    pane.entries_appended(entry, 1)
    pane.set_leaf(entry)
    assert (entry, branchy.leaf, True) in pane.model.lanes.bridges
    pane.select(entry)
    geometry = pane.view.geometry_now()
    rect = pane.view.row_rect(entry)
    box = round(geometry.lane_x(0)) + 9, round(rect.top()) - 10
    found = colours(picture(pane), (*box, round(geometry.lane_x(1)) + 2, round(rect.bottom())))
    hue = theme.theme().branch.hue()
    from PySide6.QtGui import QColor

    assert any(abs(QColor(c).hue() - hue) < 12 and QColor(c).saturation() > 90 for c in found)


@pytest.mark.parametrize("motion", [False, True])
def test_the_leaf_arrives_at_once_or_soon(show: Show, motion: bool) -> None:
    talk = Talk()
    talk.turns(5, size=20)
    pane = show(talk.document)
    theme.set_motion(motion)
    QApplication.setEffectEnabled(Qt.UIEffect.UI_General, True)
    entry = go_on(pane, talk, "more")
    assert pane.view._motion.duration() <= 200
    assert (pane.view._leaf_from is not None) is motion
    deadline = time.monotonic() + 5
    while pane.view._leaf_from is not None and time.monotonic() < deadline:
        QApplication.processEvents()
    rect = pane.view.row_rect(entry)
    x = round(pane.view.geometry_now().lane_x(0))
    assert picture(pane).pixelColor(x, round(rect.center().y())) == theme.theme().accent


@pytest.mark.parametrize("motion", [False, True])
def test_a_fold_closes_over_what_it_summarized(show: Show, branchy: Branchy, motion: bool) -> None:
    pane = show(branchy.document)
    pane.select(branchy.compaction)
    theme.set_motion(motion)
    QApplication.setEffectEnabled(Qt.UIEffect.UI_General, True)
    pane.model.toggle_fold(branchy.compaction)
    assert pane.view.fold_motion.is_running is motion
    deadline = time.monotonic() + 5
    while pane.view.fold_motion.is_running and time.monotonic() < deadline:
        QApplication.processEvents()
    assert not pane.view.fold_motion.is_running
    pane.model.toggle_fold(branchy.compaction)
    assert not pane.view.fold_motion.is_running, "it opens at once"


# very large sessions -------------------------------------------------------------------------


def large(count: int, share: float = 0.01) -> SessionTree:
    dice = random.Random(7)
    columns = SessionColumns()
    for at in range(count):
        jump = at > 0 and dice.random() < share
        columns.ids.append(f"{at:08x}")
        columns.parent.append(max(0, at - 1 - dice.randrange(60)) if jump else at - 1)
        columns.kind.append(Kind.USER if at % 12 == 0 else 2 + at % 2)
        columns.flags.append(Flag.HAS_TEXT)
        columns.time.append(1.7e12 + at * 1000)
        columns.estimate.append(dice.randrange(1, 2_000))
        columns.usage.append(-1)
        columns.model.append(0)
    return SessionTree(columns)


def settle(pane: MapPane) -> None:
    deadline = time.monotonic() + 60
    while pane.model.is_laying_out and time.monotonic() < deadline:
        QApplication.processEvents()
        time.sleep(0.002)
    QApplication.processEvents()
    assert pane.model.is_complete


def test_200_000_entries_open_with_their_end_first_and_paint_at_every_zoom(
    app: QApplication, show: Show
) -> None:
    tree = large(200_000)
    pane = show(Talk().document)
    lines = NumberedLines()
    pane.show_session(tree, lines, 199_999)
    assert pane.view.visible_rows()[-1] == 199_999
    assert len(colours(picture(pane), (40, 0, 400, 600))) > 6, "the end is painted at once"
    settle(pane)
    assert pane.model.lanes.first == 0 and pane.model.lanes.count == 200_000
    whole = arrange(Skeleton(tree.columns.parent), 199_999)
    assert all(pane.model.lanes.lane_at(at) == whole.lane_at(at) for at in range(0, 200_000, 997))
    press(pane, Qt.Key.Key_0)
    assert pane.view.level is Level.SPANS and len(pane.view.visible_rows()) == 200_000
    assert theme.theme().ink.name() in colours(picture(pane), (40, 100, 60, 500))
    press(pane, Qt.Key.Key_1)
    press(pane, Qt.Key.Key_Home)
    assert pane.view.visible_rows()[0] == 0
    picture(pane)
    assert len(lines.asked) < 3_000, "first lines are read for what is shown"


def test_a_large_session_may_grow_and_move_while_it_is_laid_out(show: Show) -> None:
    tree = large(30_000)
    pane = show(Talk().document)
    pane.show_session(tree, NumberedLines(), 29_999)
    template = Talk()
    template.user("more")
    facts_of = tree.columns
    from explorer.session.describe import describe

    for number in range(3):
        facts = describe(template.document.payloads.shown.entry(0))
        at = tree.append(f"late{number}", len(tree) - 1, facts, 10)
        pane.entries_appended(at, 1)
        pane.set_leaf(at)
        QApplication.processEvents()
    settle(pane)
    assert pane.model.rows.count == len(facts_of) == 30_003
    assert pane.model.lanes.is_active(30_002) and pane.model.leaf == 30_002
    assert list(pane.model.groups[-3:]) == [1, 1, 1]
    picture(pane)


def test_another_session_replaces_one_that_is_still_laid_out(show: Show, branchy: Branchy) -> None:
    pane = show(Talk().document)
    pane.show_session(large(30_000), NumberedLines(), 29_999)
    document = branchy.document
    pane.show_session(document.tree, document.payloads.shown, branchy.leaf)
    deadline = time.monotonic() + 10
    while pane.model._worker.is_busy and time.monotonic() < deadline:
        QApplication.processEvents()
    QApplication.processEvents()
    assert pane.model.rows.count == len(document.tree)
    assert pane.model.lanes.count == len(document.tree)


def test_a_closed_map_waits_for_its_layout(app: QApplication) -> None:
    pane = MapPane()
    pane.show_session(large(30_000), NumberedLines(), 29_999)
    pane.model._order()
    pane.shutdown()
    assert not pane.model._worker.is_busy
    pane.deleteLater()


def test_a25_a_compaction_says_in_short_what_it_tells(show: Show) -> None:
    """In its fold on the map, for screen readers, and in its tip."""
    talk = Talk()
    talk.turns(6)
    kept = talk.document.tree.columns.ids[10]
    told = talk.entry(
        "compaction", summary="## Goal\n- Long", shortSummary="I fixed the retry that flaked.",
        firstKeptEntryId=kept, tokensBefore=9_000,
    )  # fmt: skip
    without = talk.entry(
        "compaction", summary="## Goal\n- Plain words", firstKeptEntryId=kept, tokensBefore=9_000
    )
    pane = show(talk.document)
    texts = pane.model.texts
    assert texts.line(told).endswith("folded · I fixed the retry that flaked.") or texts.line(
        told
    ).endswith("summarized · I fixed the retry that flaked.")
    assert "I fixed the retry that flaked." in texts.tip(told)
    assert "I fixed the retry that flaked" in texts.describe(told)
    assert texts.line(without).endswith("Plain words"), "else the first that the summary says"
