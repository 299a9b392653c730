"""What if: lines over the session, figures in words, signs that lead to the map, sizes taken."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt

from explorer.audit.simulation import Policy, simulate
from explorer.compaction.profile import PROFILES
from explorer.services.recorded_session import assumptions_for, prices_of, read_past
from tests.formats.claude_lines import SESSION, USAGE, Lines
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.audit.what_if.chart import place_of
from ui.audit.what_if.lines import RECORDED
from ui.audit.what_if.window import WhatIfWindow, in_window

SMALL = 40_000


async def opened(live: RunningWindow, window: int = SMALL) -> WhatIfWindow:
    live.keys("Ctrl+Alt+W")
    view = await live.dialog(WhatIfWindow)
    await live.until(lambda: view.drawing is not None, "the lines")
    if window:
        before = view.drawing
        box = view.window_box.box
        box.setFocus()
        box.selectAll()
        live.type(f"{window}\n", to=box)
        await live.until(lambda: view.drawing is not before, "the lines in a smaller window")
    return view


def column(view: WhatIfWindow, head: str) -> list[str]:
    rows = view.totals.rows
    return [rows.index(row, rows.column(head)).data() for row in range(rows.rowCount())]


async def test_every_profile_is_drawn_beside_what_was_recorded(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live, 0)
    assert "Nothing would be compacted" in view.facts.text()
    assert "shrink" not in view.note.text() and "after a turn alone" not in view.note.text()
    walked = len(view.totals.rows.rows) - 1
    assert view.title.text().endswith(f", as recorded and walked under {walked} sets of rules")
    live.keys("Esc", to=view)
    await live.back()
    view = await opened(live)
    assert "Nothing was sent to any model" in view.facts.text()
    drawing, document = view.drawing, live.document
    assert drawing is not None
    assert [line.key for line in drawing.lines] == [RECORDED, *PROFILES]
    own = in_window(Policy(live.session.state.profile, live.session.state.settings), SMALL)
    taken = assumptions_for(document, own.profile)
    past = read_past(document, document.leaf, own, taken)
    for line in drawing.lines[1:]:
        policy = own
        if line.key != own.profile.name:
            policy = in_window(Policy.of(PROFILES[line.key]), SMALL)
        theirs = assumptions_for(document, policy.profile)
        expected = simulate(document.tree, document.leaf, policy, assumptions=theirs, past=past)
        assert line.found.compactions == expected.compactions
        assert list(line.found.requests.sent) == list(expected.requests.sent)
    compactions = [str(len(line.found.compactions)) for line in drawing.lines]
    assert column(view, "Compacted") == compactions
    assert len(set(column(view, "Sent"))) >= 4, "the rules differ here"
    header, rows = view.totals.horizontalHeader(), view.totals.rows
    for width in (1400, 960, 600):
        view.resize(width, 640)
        await live.settle(4)
        assert header.length() <= view.totals.viewport().width(), width
        assert view.totals.isColumnHidden(rows.column("Threshold")) is (width < 1400)
        assert not view.totals.isColumnHidden(rows.column("Too large"))
    looks = {(line.stroke.token, line.stroke.dashes) for line in drawing.lines}
    patterns = {(line.stroke.dashes, line.stroke.width) for line in drawing.lines}
    assert len(looks) == len(patterns) == len(drawing.lines), "told apart without colour"
    live.keys("Esc", to=view)
    await live.back()


async def test_arrows_tell_the_figures_turn_by_turn(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    chart, drawing = view.chart, view.drawing
    assert drawing is not None
    chart.setFocus()
    live.keys("Home", to=chart)
    live.keys("Right", "Right", "Right", to=chart)
    turn = drawing.turn_at(chart.position)
    assert f"Turn {turn} of {len(drawing.turns)}" in view.words.text()
    assert "Explorer" in view.words.text()
    live.keys("Right", to=chart)
    assert drawing.turn_at(chart.position) == turn + 1
    assert chart.accessibleDescription() == view.words.text()
    live.keys("Home", "Ctrl+Right", to=chart)
    line = chart.chosen
    assert line is not None and chart.position == line.signs[0].x
    assert "compacted after" in view.words.text() and "inside turn" in view.words.text()
    live.keys("Return", to=chart)
    assert live.window.map.selected == line.signs[0].entry
    live.keys("Down", to=chart)
    assert chart.chosen is not line
    live.keys("Esc", to=view)
    await live.back()


async def test_a_click_on_a_sign_selects_its_entry_on_the_map(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    assert view.drawing is not None
    line = view.drawing.line("copilot")
    assert line is not None and len(line.signs) >= 2
    sign = line.signs[0]
    live.click(view.chart, place_of(sign, view.chart.scale()).toPoint())
    assert live.window.map.selected == sign.entry
    assert view.chart.chosen is line
    assert view.totals.currentIndex().row() == [each.key for each in view.drawing.lines].index(
        "copilot"
    )
    live.keys("Esc", to=view)
    await live.back()


async def test_lines_are_left_out_and_others_added(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    live.click(view.legend.chips["pi"])
    assert "pi" not in [line.key for line in view.chart.shown]
    assert "pi 0.73" not in view.words.text()
    before = view.drawing
    rules = view.added_rules
    assert rules.keep.maximum() == view.window_box.box.value() - rules.reserve.value()
    rules.keep.setValue(9_000)
    live.click(rules.add)
    await live.until(lambda: view.drawing is not before, "another line")
    assert view.drawing is not None
    added = view.drawing.lines[-1]
    assert "keep 9k" in added.title and added.found.policy.settings.keep_recent_tokens == 9_000
    assert "pi" not in [line.key for line in view.chart.shown], "what was left out stays so"
    before = view.drawing
    live.click(view.added_rules.clear)
    await live.until(lambda: view.drawing is not before, "the profiles alone")
    assert view.drawing.lines[-1].key == "copilot"
    live.keys("Esc", to=view)
    await live.back()


async def test_the_cost_is_counted_with_the_prices_of_a_model(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    assert "Cost" not in [each.title for each in view.totals.rows.columns]
    model = "anthropic/claude-opus-4-5"
    await live.until(lambda: view.models.findData(model) >= 0, "the models of the session")
    live.choose(view.models, model)
    view.models.activated.emit(view.models.currentIndex())
    assert not view.totals.isColumnHidden(view.totals.rows.column("Cost"))
    bench = live.session.state.bench
    assert bench is not None and view.drawing is not None
    prices = prices_of(bench.client.info(model))
    assert prices is not None
    expected = [f"${line.found.cost(prices).total:,.2f}" for line in view.drawing.lines]
    assert column(view, "Cost") == expected
    assert len(set(expected)) >= 4 and all(float(cost.removeprefix("$")) > 0.5 for cost in expected)
    live.keys("Esc", to=view)
    await live.back()


async def test_sizes_of_the_map_are_taken_when_asked_and_given_back(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    state = live.session.state
    before = state.profile, state.settings
    view.pages.setCurrentIndex(1)
    page = view.sweep
    live.click(page.start)
    await live.until(lambda: page.sweep is not None, "the map")
    assert page.sweep is not None and len(page.sweep.cells) == 144
    assert "sizes in force" in page.words.text()
    own = page.heat.cell
    live.keys("Right", "Down", to=page.heat)
    cell = page.heat.cell
    assert cell is not None and own is not None and cell != own
    assert f"Keep {cell.keep:,}, reserve {cell.reserve:,}" in page.words.text()
    live.keys("Return", to=page.heat)
    assert (state.profile, state.settings) == before, "nothing is taken before the answer"
    live.click(page.yes)
    assert state.settings.keep_recent_tokens == cell.keep
    assert state.settings.reserve_tokens == cell.reserve
    live.click(page.undo)
    assert (state.profile, state.settings) == before
    live.keys("Esc", to=view)
    await live.back()


async def test_a_click_on_a_cell_goes_there_and_no_means_no(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    view.pages.setCurrentIndex(1)
    page = view.sweep
    live.click(page.start)
    await live.until(lambda: page.sweep is not None, "the map")
    await live.settle()
    live.click(page.heat, page.heat.rect_of(2, 9).center().toPoint())
    assert page.sweep is not None and page.heat.cell == page.sweep.cells[2 * 12 + 9]
    before = live.session.state.settings
    live.click(page.use)
    live.click(page.no)
    assert live.session.state.settings == before and not page.undo.isVisible()
    live.keys("Esc", to=view)
    await live.back()


async def test_a_sweep_of_a_long_session_can_be_stopped(house: House, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    write_session(file, 10_000, branches=False)
    live = await house.start(file)
    await live.idle()
    view = await opened(live, 0)
    view.pages.setCurrentIndex(1)
    page = view.sweep
    live.click(page.start)
    await live.until(lambda: page.progress.value() > 1, "the first cells")
    live.click(page.stop)
    assert page.start.isVisible() and "Stopped" in page.words.text()
    assert page.sweep is None
    live.keys("Esc", to=view)
    await live.back()


async def test_the_rules_of_the_session_move_its_line(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    before = view.drawing
    live.session.state.set_profile("pi")
    await live.until(lambda: view.drawing is not before, "the lines under other rules")
    assert view.added_rules.policy().settings.context_window == SMALL
    live.keys("Esc", to=view)
    await live.back()


async def test_the_sizes_of_another_line_begin_as_they_are_set(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    state = live.session.state
    state.set_settings(replace(state.settings, keep_recent_tokens=9_000, reserve_tokens=8_000))
    view = await opened(live, 0)
    rules, own = view.added_rules, state.profile
    assert rules.profile.currentData() == own.name
    assert (rules.keep.value(), rules.reserve.value()) == (9_000, 8_000)
    live.choose(rules.profile, "pi")
    theirs = PROFILES["pi"].keep_recent_tokens
    assert rules.keep.value() == theirs
    live.choose(rules.profile, own.name)
    assert rules.keep.value() == 9_000
    state.set_settings(replace(state.settings, keep_recent_tokens=7_000))
    assert rules.keep.value() == 7_000, "they are followed"
    live.keys("Esc", to=view)
    await live.back()


async def test_a_kept_size_says_why_it_is_smaller_in_a_smaller_window(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    view = await opened(live)
    rows = view.totals.rows
    at, key = rows.column("Keeps"), view.drawing.lines[1].key if view.drawing else ""
    row = next(row for row in range(rows.rowCount()) if rows.rows[row].key == key)
    tip = rows.index(row, at).data(int(Qt.ItemDataRole.ToolTipRole))
    kept = view.drawing.lines[1].found.policy.settings.keep_recent_tokens if view.drawing else 0
    assert tip.startswith(f"{kept:,} tokens, ")
    assert "of a window of 40,000. Sizes shrink in proportion" in tip
    assert "Keep and reserve shrink with the window, here from 200k to 40k." in view.note.text()
    assert "look at the threshold after a turn alone" in view.note.text()
    live.keys("Esc", to=view)
    await live.back()


async def test_a_cache_that_was_written_for_an_hour_is_paid_so(
    house: House, tmp_path: Path
) -> None:
    lines = Lines().user("u1", "Build it")
    parts = {"ephemeral_1h_input_tokens": 400_000}
    usage = {**USAGE, "cache_creation_input_tokens": 400_000, "cache_creation": parts}
    model = "claude-sonnet-4-5"
    lines.reply("r0", "m0", "done", model=model, usage=usage).user("u2", "And test it")
    lines.reply("r1", "m1", "done", model=model, usage=usage)
    live = await house.start(lines.write(tmp_path / f"{SESSION}.jsonl"))
    await live.idle()
    view = await opened(live, 0)
    listed = f"anthropic/{model}"
    await live.until(lambda: view.models.findData(listed) >= 0, "the models of the session")
    live.choose(view.models, listed)
    view.models.activated.emit(view.models.currentIndex())
    bench = live.session.state.bench
    assert bench is not None
    info = bench.client.info(listed)
    assert view.prices == prices_of(info, 1.0) != prices_of(info)
    live.keys("Esc", to=view)
    await live.back()
