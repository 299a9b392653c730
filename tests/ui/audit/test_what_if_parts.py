"""The chart's scale, its thinned lines, and the map's words."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.audit.simulation import Policy, past_of, simulate
from explorer.audit.simulation.walk import Sweep, sweep
from explorer.compaction.profile import PROFILES
from explorer.formats.registry import open_source
from explorer.session.tree import SessionTree
from explorer.settings import paths
from tests.compaction.sessions import Session
from tests.ui.waiting import wait_for
from ui.audit.what_if.chart import Chart, ChartScale, thinned, ticks
from ui.audit.what_if.heat_map import FIGURES, HeatMap, words_of
from ui.audit.what_if.lines import RECORDED, Drawing, drawing_of, limits_of, words_at
from ui.audit.what_if.window import beyond_words, in_window, looks_late
from ui.theme.tokens import THEMES, blend, contrast
from ui.widgets.figures import short

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


def read(path: Path) -> tuple[SessionTree, int]:
    source, tree = open_source(path), SessionTree()
    for batch in source.batches():
        for record in batch:
            tree.append(record.entry_id, record.parent, record.facts, record.estimate)
    leaf = source.report.leaf
    return tree, len(tree) - 1 if leaf is None else leaf


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    tree, leaf = read(SAMPLE)
    past = past_of(tree, leaf)
    walks = [(RECORDED, past.recorded)]
    for name, profile in PROFILES.items():
        policy = in_window(Policy.of(profile), 40_000)
        walks.append((name, simulate(tree, leaf, policy, past=past)))
    return drawing_of(tree, leaf, walks)


@pytest.fixture
def shorter() -> Drawing:
    made = Session()
    for _ in range(3):
        made.user(10)
        made.reply(10)
    return drawing_of(made.tree, made.leaf, [(RECORDED, past_of(made.tree, made.leaf).recorded)])


@pytest.fixture(scope="module")
def swept() -> Sweep:
    tree, leaf = read(SAMPLE)
    policy = in_window(Policy.of(PROFILES["explorer"]), 40_000)
    return sweep(past_of(tree, leaf), policy, steps=5)


def test_a_line_falls_to_the_prompt_that_a_compaction_leaves_and_not_to_its_entries_alone() -> None:
    made, system = Session(), 30_000
    for turn in range(40):
        made.user(500)
        made.reply(500, usage=system + 1_000 * (turn + 1))
    past = past_of(made.tree, made.leaf)
    policy = in_window(Policy.of(PROFILES["explorer"]), 60_000)
    walked = simulate(made.tree, made.leaf, policy, past=past)
    assert walked.compactions
    _, line = drawing_of(made.tree, made.leaf, [(RECORDED, past.recorded), ("w", walked)]).lines
    assert min(line.ys) > system


def test_a_thinned_line_keeps_what_is_lowest_and_highest(drawing: Drawing) -> None:
    line = drawing.lines[1]
    scale = ChartScale(QRectF(0, 0, 40, 200), len(drawing.entries), line.found.largest)
    points = thinned(line, scale)
    assert len(points) < 4 * 41
    heights = [point.y() for point in points]
    assert min(heights) == pytest.approx(scale.y(max(line.ys)))
    assert max(heights) == pytest.approx(scale.y(min(line.ys)))
    columns = [point.x() for point in points]
    assert columns == sorted(columns)


def test_a_size_after_an_assumed_summary_has_the_mark_of_a_guess(drawing: Drawing) -> None:
    made = [
        sign.words for line in drawing.lines for sign in line.signs if " tokens, " in sign.words
    ]
    assert made and all((" to ≈" in words) != ("As it was recorded" in words) for words in made)


def test_a_line_above_its_threshold_says_so_and_which_rules_look_there_late(
    drawing: Drawing,
) -> None:
    late = [line.key for line in drawing.lines if looks_late(line.found)]
    assert late and set(late) <= {
        name for name, profile in PROFILES.items() if profile.threshold_check == "after-turn"
    }
    line = next(line for line in drawing.lines if line.key == late[0])
    over = next(
        at for at in range(len(drawing.entries)) if line.tokens_at(at) > line.found.threshold
    )
    assert ", above its threshold" in words_at(drawing, [line], None, over)
    assert "above" not in words_at(drawing, [line], None, 0)
    recorded = drawing.lines[0]
    assert "above" not in words_at(drawing, [recorded], None, len(drawing.entries) - 1)


def test_rules_that_count_for_themselves_are_named_where_a_provider_counts_more() -> None:
    def walked(ratio: float) -> Drawing:
        made = Session()
        for turn in range(40):
            made.user(500)
            made.reply(500, usage=round(ratio * 1_000 * (turn + 1)))
        past = past_of(made.tree, made.leaf)
        policy = in_window(Policy.of(PROFILES["copilot"]), 36_000)
        walk = simulate(made.tree, made.leaf, policy, past=past)
        assert walk.largest > walk.threshold
        return drawing_of(made.tree, made.leaf, [(RECORDED, past.recorded), ("copilot", walk)])

    title = PROFILES["copilot"].title
    (words,) = beyond_words(walked(1.4).lines)
    assert words == (
        f"{title} goes by a count of the messages, smaller than a provider's, which is drawn."
    )
    assert not beyond_words(walked(1.0).lines)


def test_the_threshold_that_is_drawn_is_named_with_its_rules(drawing: Drawing) -> None:
    line = next(line for line in drawing.lines if line.key == "pi")
    _, (words, tokens) = limits_of(line)
    assert words == f"threshold {short(line.found.threshold)}, {PROFILES['pi'].title}"
    assert tokens == line.found.threshold


def test_a_line_falls_where_it_was_compacted(drawing: Drawing) -> None:
    line = drawing.lines[1]
    sign = next(sign for sign in line.signs if sign.kind in ("compacted", "split"))
    before = line.tokens_at(sign.x)
    after = next(y for x, y in zip(line.xs, line.ys, strict=True) if x > sign.x and y < before)
    assert after < before / 2
    # The line falls straight down, at the request that is the first to be smaller.
    at = array("i", line.ys).index(after)
    assert line.xs[at] == line.xs[at - 1]


def test_a_stretch_that_is_zoomed_into_holds_the_cursor(
    app: QApplication, drawing: Drawing
) -> None:
    chart = Chart()
    chart.resize(600, 260)
    chart.show_drawing(drawing)
    last = len(drawing.entries) - 1
    assert chart.position == last and chart.scale().span == last
    QTest.keyClick(chart, Qt.Key.Key_Plus)
    QTest.keyClick(chart, Qt.Key.Key_Plus)
    near = chart.scale()
    assert near.span < last / 2 and near.shows(last) and not near.shows(0)
    QTest.keyClick(chart, Qt.Key.Key_Home)
    assert chart.scale().shows(0) and chart.scale().span == near.span
    x = chart.scale().x(20)
    assert chart.scale().position(x) == 20
    for _ in range(4):
        QTest.keyClick(chart, Qt.Key.Key_Minus)
    assert chart.scale().span == last
    assert not chart.grab().isNull()


def test_a_shorter_session_is_described_where_the_pointer_was_beyond_its_end(
    app: QApplication, drawing: Drawing, shorter: Drawing
) -> None:
    chart = Chart()
    chart.resize(600, 260)
    chart.show()
    chart.show_drawing(drawing)
    far = len(shorter.entries) + 40
    told = chart.words
    QTest.mouseMove(chart, QPoint(round(chart.scale().x(far)), 100))
    wait_for(lambda: chart.words != told, "the words at the pointer")
    chart.show_drawing(shorter)
    assert f"#{shorter.entries[-1]}." in chart.words


def test_figures_of_the_scale_are_round() -> None:
    assert ticks(42_000, 5) == [0, 10_000, 20_000, 30_000, 40_000]
    assert ticks(1, 5) == [0, 1]


def test_a_chart_of_nothing_says_so(app: QApplication) -> None:
    chart = Chart()
    chart.resize(400, 200)
    assert not chart.grab().isNull()
    chart.show_drawing(Drawing((), (), ()))
    assert chart.words == "Nothing is drawn."


def test_every_cell_is_told_in_words(app: QApplication, swept: Sweep) -> None:
    heat = HeatMap()
    heat.resize(500, 300)
    heat.show_sweep(swept, *[getattr(swept.policy.settings, name) for name in
                             ("keep_recent_tokens", "reserve_tokens")])  # fmt: skip
    told = heat.accessibleDescription()
    assert "compaction" in told and "sizes in force" in told and "of the turns" in told
    for cell in swept.cells:
        assert f"{cell.keep:,}" in words_of(cell)
        if cell.asked:
            sent = f"{short(cell.sent)} tokens sent and {short(cell.asked)} for summaries"
            assert sent in words_of(cell)
    assert any(cell.asked for cell in swept.cells)
    assert heat.place_at(heat.rect_of(3, 2).center()) == (3, 2)
    for figure in FIGURES:
        heat.show_figure(figure)
        assert not heat.grab().isNull()


def test_text_is_readable_on_the_darkest_cell() -> None:
    for theme in THEMES.values():
        share = 0.62 * (0.8 if theme.is_dark else 1.0)
        assert contrast(theme.ink, blend(theme.comp, theme.card, share)) >= 4.5
