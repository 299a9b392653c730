"""The Tab key in a small window with large text: every stop has a name and is in sight, in the
order in which the parts stand."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QScrollArea, QWidget

from explorer.settings.paths import ensure, preferences_path
from tests.ui.window.house import House
from tests.ui.window.library_steps import opened
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import commit, draft
from tests.ui.window.test_lessons import Pupil
from ui.widgets.labels import ClickLabel

SMALL = (1024, 700)


@pytest.fixture(autouse=True)
def large_text(explorer_home: object) -> None:
    """Text at 150 %."""
    ensure(preferences_path().parent)
    preferences_path().write_text(json.dumps({"scale": 150}), encoding="utf-8")


def name_of(stop: QWidget) -> str:
    text = getattr(stop, "text", None)
    return stop.accessibleName() or (text() if callable(text) else "")


def in_sight(stop: QWidget) -> bool:
    is_scrolled = isinstance(stop, QAbstractScrollArea) and not isinstance(stop, QScrollArea)
    part = stop.viewport() if is_scrolled else stop
    if isinstance(part, QScrollArea):
        return part.isVisible()
    return not part.visibleRegion().isEmpty()


def picture(stop: QWidget) -> QImage:
    around = QRect(stop.mapTo(stop.window(), QPoint(0, 0)), stop.size()).adjusted(-4, -4, 4, 4)
    return stop.window().grab(around).toImage()


async def round_trip(live: RunningWindow) -> list[QWidget]:
    """Press Tab until it comes back; the stops. Each is seen to have the keyboard."""
    stops: list[QWidget] = []
    links = 0
    while (stop := QApplication.focusWidget()) not in stops[:-1] and len(stops) < 120:
        assert stop is not None, f"the keyboard is nowhere behind {name_of(stops[-1])}"
        if stops and stop is stops[-1]:
            links += 1
            assert isinstance(stop, ClickLabel) and links < 12, f"stuck at {name_of(stop)}"
        else:
            stops.append(stop)
            links = 0
        await live.settle(2)
        assert name_of(stop), stop
        assert in_sight(stop), name_of(stop)
        before = picture(stop)
        live.keys("Tab")
        await live.settle(2)
        if QApplication.focusWidget() is not stop and in_sight(stop):
            assert picture(stop) != before, f"{name_of(stop)} does not show the keyboard"
    return stops


def sequence(stops: list[QWidget], *wanted: QWidget) -> None:
    for one in wanted:
        assert one in stops, (name_of(one), [name_of(stop) for stop in stops])
    places = [stops.index(one) for one in wanted]
    assert places == sorted(places), [name_of(one) for one in stops]


async def test_every_stop_of_the_tab_key_has_a_name_and_is_in_sight(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    window = live.window
    message = window.agent.composer
    for tab in ("Ctrl+1", "Ctrl+2", "Ctrl+4"):
        live.keys("F6", tab)
        await live.idle()
        stops = await round_trip(live)
        inner = [one for one in stops if window.inspector.isAncestorOf(one)]
        sequence(stops, window.map.view, *inner, message)
        if tab == "Ctrl+1":
            content = window.entry.area
            assert any(content.isAncestorOf(one) for one in inner), "its texts can be reached"
    live.keys("F6", "Ctrl+3")
    await live.idle()
    setup = window.compaction.setup
    stops = await round_trip(live)
    shares = [one for one in stops if setup.legend.isAncestorOf(one)]
    assert shares
    sequence(stops, setup.instructions, setup.request, setup.profile, setup.keep.track, *shares,
             setup.table, setup.summarize, message)  # fmt: skip
    await draft(live)
    page = window.compaction.draft
    stops = await round_trip(live)
    # The text of the draft has the keyboard first.
    sequence(stops, page.editor, page.commit, message, window.map.view)
    assert page.sources.table not in stops, "its text has the room here"
    await commit(live)
    stops = await round_trip(live)
    assert setup.why not in stops, "nothing in it can be followed"


async def test_the_tab_key_passes_over_what_a_lesson_covers(house: House) -> None:
    live = await house.start(sample_path())
    pupil = Pupil(live)
    await pupil.open()
    await pupil.begin("cut")
    live.window.map.setFocus()
    stops = await round_trip(live)
    assert not [one for one in stops if live.window.inspector.isAncestorOf(one)]
    assert pupil.pane.step.skip in stops


async def test_what_is_done_to_sessions_comes_behind_their_table(house: House) -> None:
    live = await house.start(sample_path(), size=SMALL)
    page = await opened(live)
    stops = await round_trip(live)
    buttons = [live.button(words, page) for words in ("Open", "Move to trash", "Note…", "More")]
    sequence(stops, page.filters.line, page.table, *buttons, page.totals.choice)
