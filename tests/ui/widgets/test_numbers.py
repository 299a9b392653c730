"""The slider with its number, the gauge, the bar and the legend."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.compaction.profile import PROFILES, Settings
from explorer.services.effective_rules import next_mark
from tests.ui.waiting import Heard, settle
from ui.theme import theme
from ui.widgets.figures import count, full, short
from ui.widgets.gauge import ContextGauge
from ui.widgets.number_slider import NumberSlider
from ui.widgets.swatch import BudgetBar, Legend, Share

Key = Qt.Key


@pytest.fixture
def slider(app: QApplication) -> NumberSlider:
    widget = NumberSlider("&Window", 8_000, 2_000_000)
    widget.resize(420, 30)
    widget.show()
    settle()
    return widget


def test_typing_a_number_takes_it_exactly(slider: NumberSlider) -> None:
    spy = Heard(slider.changed)
    slider.box.setFocus()
    slider.box.selectAll()
    QTest.keyClicks(slider.box, "123456")
    QTest.keyClick(slider.box, Key.Key_Return)
    assert slider.value() == 123_456
    assert spy.at(0)[0] == 123_456
    assert slider.box.text() == "123,456"
    assert slider.box.lineEdit().width() > 40


def test_a_number_beyond_the_range_is_held_at_its_end(slider: NumberSlider) -> None:
    slider.set_value(99_000_000)
    assert slider.value() == 2_000_000
    slider.set_value(1)
    assert slider.value() == 8_000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (Key.Key_Right, 205_000),
        (Key.Key_Left, 195_000),
        (Key.Key_PageUp, 250_000),
        (Key.Key_Home, 8_000),
        (Key.Key_End, 2_000_000),
    ],
)
def test_keys_move_in_round_steps(slider: NumberSlider, key: Key, value: int) -> None:
    slider.set_value(200_000)
    QTest.keyClick(slider.track, key)
    assert slider.value() == value


def test_every_key_step_changes_the_value_over_the_whole_range(slider: NumberSlider) -> None:
    slider.set_value(8_000)
    last = slider.value()
    for _ in range(300):
        QTest.keyClick(slider.track, Key.Key_Right)
        assert slider.value() > last or slider.value() == 2_000_000
        last = slider.value()


def test_a_click_on_the_track_goes_there(slider: NumberSlider) -> None:
    spy = Heard(slider.changed)
    middle = slider.track.rect().center()
    QTest.mouseClick(slider.track, Qt.MouseButton.LeftButton, pos=middle)
    assert spy.count() >= 1
    # Half way on a logarithmic scale from 8k to 2M is near their geometric mean, 126k.
    assert 90_000 < slider.value() < 180_000


def test_setting_a_value_tells_nobody(slider: NumberSlider) -> None:
    spy = Heard(slider.changed)
    slider.set_value(16_384)
    slider.set_maximum(500_000)
    assert spy.count() == 0
    assert slider.value() == 16_384


def test_the_wheel_over_an_unfocused_slider_changes_nothing(slider: NumberSlider) -> None:
    slider.set_value(200_000)
    slider.box.setFocus()
    from PySide6.QtCore import QPointF
    from PySide6.QtGui import QWheelEvent

    event = QWheelEvent(
        QPointF(30, 8), QPointF(30, 8), QPoint(0, 0), QPoint(0, 120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase,
        False,
    )  # fmt: skip
    QApplication.sendEvent(slider.track, event)
    assert slider.value() == 200_000


def test_the_label_leads_to_the_box_and_everything_has_a_name(slider: NumberSlider) -> None:
    assert slider.label.buddy() is slider.box
    assert slider.track.accessibleName() == "Window"
    assert "tokens" in slider.box.accessibleName()


def test_gauge_says_what_it_shows(app: QApplication) -> None:
    gauge = ContextGauge()
    gauge.set_context(121_400, 200_000, 183_616, "tokenizer o200k")
    assert gauge.text() == "≈121.4k / 200k"
    assert "121,400 of 200,000" in gauge.accessibleDescription()
    assert "tokenizer o200k" in gauge.toolTip()
    assert "no provider reported it" in gauge.toolTip()
    gauge.set_context(121_400, 200_000, 183_616, "provider")
    assert gauge.text() == "121.4k / 200k"
    gauge.set_context(190_000, 200_000, 183_616, "estimate")
    assert gauge.text().endswith("!")
    assert "compaction is due" in gauge.accessibleDescription()
    assert "larger window" not in gauge.toolTip()
    gauge.set_context(230_000, 200_000, 183_616, "provider")
    assert "its model has a larger window than is set" in gauge.toolTip()
    assert gauge.text().endswith("due !")
    gauge.set_context(230_000, 200_000, 183_616, "provider", is_window_known=False)
    assert gauge.text() == "230k / window unknown"
    assert "did not record the window" in gauge.toolTip() and "due" not in gauge.toolTip()
    gauge.set_context(190_000, 200_000, 183_616, "provider", is_window_known=False)
    assert gauge.text().endswith("due !") and "this one is set here" in gauge.toolTip()


def test_gauge_bar_grows_and_warns(app: QApplication) -> None:
    gauge = ContextGauge()
    gauge.resize(gauge.sizeHint())
    gauge.set_context(20_000, 200_000, 180_000, "estimate")
    low = gauge.grab().toImage()
    gauge.set_context(199_000, 200_000, 180_000, "estimate")
    high = gauge.grab().toImage()
    at = QPoint(100, gauge.height() // 2)
    assert low.pixelColor(at).blue() > 200  # the empty track
    assert high.pixelColor(at).red() > high.pixelColor(at).blue()  # the warning colour
    gauge.set_context(230_000, 200_000, 180_000, "provider", is_window_known=False)
    unknown = gauge.grab().toImage()
    assert unknown.pixelColor(20, at.y()) == low.pixelColor(at), "no share of an unknown window"


@pytest.mark.parametrize("name", PROFILES)
def test_gauge_is_coloured_where_it_says_when_a_compaction_is_due(
    app: QApplication, name: str
) -> None:
    settings = Settings.of(PROFILES[name])
    window, mark = settings.context_window, next_mark(PROFILES[name], settings, None).tokens
    gauge = ContextGauge()
    for tokens, says in ((mark // 2, ""), (mark * 84 // 100, ""), (mark * 86 // 100, "due in"),
                         (mark, "due in 0"), (mark + 1, "due !")):  # fmt: skip
        gauge.set_context(tokens, window, mark, "provider")
        gauge.resize(gauge.sizeHint())
        image = gauge.grab().toImage()
        row = {image.pixelColor(x, image.height() // 2).name() for x in range(image.width() // 4)}
        assert (theme().accent.name() in row) == (not says)
        assert says in gauge.text() and ("due" in gauge.text()) == bool(says)


SHARES = [
    Share("1", "to summarize", 75_100, 1),
    Share("2", "turn prefix", 8_100, 2),
    Share("3", "kept", 20_300, 3),
]


def test_bar_tells_each_share_the_free_room_and_the_reserve(app: QApplication) -> None:
    bar = BudgetBar()
    bar.resize(400, 24)
    bar.set_budget(SHARES, 200_000, 16_384)
    rects = {share.key: rect for share, rect in bar.segments()}
    assert rects["1"].width() == pytest.approx(399 * 75_100 / 200_000, abs=1)
    assert "to summarize: 75,100" in bar.tip_at(rects["1"].center().x())
    assert "free: 80,116" in bar.tip_at(rects["3"].right() + 5)
    assert "reserve: 16,384" in bar.tip_at(398)
    assert "turn prefix 8,100" in bar.accessibleDescription()


def test_bar_beyond_the_window_still_shows_every_share(app: QApplication) -> None:
    bar = BudgetBar()
    bar.resize(400, 24)
    bar.set_budget([*SHARES, Share("x", "more", 300_000, 0)], 200_000, 16_384)
    assert bar.segments()[-1][1].right() <= 401
    assert "over the threshold" in bar.accessibleDescription()


def test_legend_filters_by_one_share_at_a_time(app: QApplication) -> None:
    legend = Legend()
    legend.set_shares([*SHARES, Share("s", "system", 10, filterable=False)])
    legend.resize(400, 60)
    legend.show()
    settle()
    spy = Heard(legend.filter_changed)
    QTest.mouseClick(legend.item("1"), Qt.MouseButton.LeftButton)
    QTest.keyClick(legend.item("3"), Key.Key_Space)
    assert legend.filter_key() == "3"
    assert not legend.item("1").isChecked()
    QTest.mouseClick(legend.item("3"), Qt.MouseButton.LeftButton)
    assert [spy.at(at)[0] for at in range(spy.count())] == ["1", "3", ""]
    QTest.mouseClick(legend.item("s"), Qt.MouseButton.LeftButton)
    assert legend.filter_key() == ""


def test_legend_wraps_and_keeps_the_filter_when_figures_change(app: QApplication) -> None:
    legend = Legend()
    legend.resize(160, 100)
    legend.set_shares(SHARES)
    legend.show()
    settle()
    assert legend.item("3").y() > legend.item("1").y()
    QTest.mouseClick(legend.item("2"), Qt.MouseButton.LeftButton)
    legend.set_shares([share._replace(tokens=share.tokens + 1000) for share in SHARES])
    assert legend.filter_key() == "2"
    assert legend.item("2").text() == "turn prefix 9.1k"
    spy = Heard(legend.filter_changed)
    legend.set_shares(SHARES[2:])
    assert spy.at(0)[0] == ""


def test_figures_are_written_as_people_read_them() -> None:
    assert [short(n) for n in (0, 999, 1000, 121_449, 999_949, 1_050_000)] == [
        "0", "999", "1k", "121.4k", "999.9k", "1.05M",
    ]  # fmt: skip
    assert short(-84_500) == "-84.5k"
    assert short(200_000) == "200k"
    assert full(1_204_000) == "1,204,000"
    assert (count(1, "entry", "entries"), count(2, "entry", "entries")) == ("1 entry", "2 entries")
