"""Pruning in the window: shown, asked about, followed everywhere, and taken back (A13)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt

from explorer.compaction.partition import Verdict
from explorer.compaction.pruning import prune_note
from tests.pruned_sample import write_much_output
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.compaction.prune_dialog import PruneDialog

FIRST = 2
"""The first tool result: an error that came again."""
SUPERSEDED = 4
"""The file that was changed and read again later."""


async def opened(house: House, folder: Path) -> RunningWindow:
    live = await house.start(session=write_much_output(folder / "much-output.jsonl"))
    await live.idle()
    return live


async def ask(live: RunningWindow) -> PruneDialog:
    live.keys("Ctrl+Alt+P")
    return await live.dialog(PruneDialog)


async def prune(live: RunningWindow) -> int:
    """Ask, and press the button; the prune entry."""
    dialog = await ask(live)
    before = len(live.document.tree)
    live.press_button("Prune", dialog)
    await live.until(lambda: len(live.document.tree) > before, "the prune entry")
    await live.back()
    return live.document.leaf


def rows(dialog: PruneDialog) -> list[tuple[int, str]]:
    """Of every row the entry and why it goes."""
    model = dialog.model
    return [
        (
            model.index(row, 0).data(int(Qt.ItemDataRole.UserRole)),
            model.index(row, model.column("Why")).data(),
        )
        for row in range(model.rowCount())
    ]


async def test_a13_the_plan_is_shown_first_and_escape_changes_nothing(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    before = len(live.document.tree), live.document.leaf
    dialog = await ask(live)
    shown = rows(dialog)
    assert [entry for entry, _ in shown[:2]] == [SUPERSEDED, FIRST]
    assert "Out of date" in shown[0][1] and "same error" in shown[1][1]
    words = live.words(dialog)
    assert "tool results give way to notes" in words and "tokens are saved" in words
    assert "1 superseded, 1 without use" in words
    # The limits decide it, and what is shown follows them.
    count = len(shown)
    dialog.protect.setFocus()
    dialog.protect.selectAll()
    live.type("80000", to=dialog.protect)
    live.keys("Tab", to=dialog.protect)
    await live.until(lambda: dialog.model.rowCount() < count, "fewer results")
    dialog.minimum.setFocus()
    dialog.minimum.selectAll()
    live.type("90000", to=dialog.minimum)
    live.keys("Tab", to=dialog.minimum)
    await live.until(lambda: not dialog.go.isEnabled(), "a plan that does nothing")
    assert "nothing is done" in live.words(dialog)
    live.keys("Esc", to=dialog)
    await live.back()
    assert (len(live.document.tree), live.document.leaf) == before


async def test_a13_a_prune_is_followed_by_map_ledger_context_and_inspector_and_undone(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    leaf, size = live.document.leaf, live.document.tokens.context_size(live.session.state.profile)
    gauge = live.window.header.gauge.accessibleName() + live.window.header.gauge.toolTip()
    entry = await prune(live)
    assert entry != leaf and live.window.map.selected == entry
    assert "tokens saved; undo takes it back" in live.said
    # The map: what a row says, and the dots on its bar.
    model = live.window.map.model
    assert FIRST in model.pruned and model.sizes[FIRST] < 20
    assert f"Pruned by #{entry}" in model.texts.describe(FIRST)
    assert "tool results" in model.texts.line(entry) and "tokens saved" in model.texts.line(entry)
    # The ledger.
    live.keys("Ctrl+3")
    await live.idle()
    shown = live.partition
    position = shown.path.position(FIRST)
    assert shown.verdicts[position] == Verdict.PRUNED
    ledger = live.window.compaction.setup.ledger
    tip = ledger.index(ledger.row_of(position), 0).data(int(Qt.ItemDataRole.ToolTipRole))
    assert "Pruned" in tip and f"by #{entry}" in tip and "tokens saved" in tip
    # The context tab.
    live.keys("Ctrl+2")
    await live.idle()
    context = live.window.context.model
    row = context.row_of_entry(FIRST)
    tokens = live.document.context().pruned[FIRST].tokens
    assert context.index(row, 0).data() == prune_note(tokens)
    assert int(context.index(row, context.column("Tokens")).data()) < 20
    # The gauge counts anew: what the provider reported was another context.
    now = live.document.tokens.context_size(live.session.state.profile)
    assert now.usage_tokens == 0 and now.tokens < size.tokens
    assert live.window.header.gauge.accessibleName() + live.window.header.gauge.toolTip() != gauge
    # The inspector: of the prune entry, and of a pruned result.
    live.keys("Ctrl+1")
    live.window.map.select(entry)
    await live.idle()
    words = live.words(live.window.entry)
    assert "Tool results pruned" in words and "Tokens saved" in words
    live.window.map.select(FIRST)
    await live.until(lambda: "Pruned by" in live.words(live.window.entry), "who pruned it")
    assert prune_note(tokens) in live.words(live.window.entry)
    # And back.
    live.window.map.setFocus()
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf == leaf, "the leaf of before")
    await live.idle()
    assert not model.pruned and model.sizes[FIRST] == tokens
    assert live.document.tokens.context_size(live.session.state.profile) == size
    assert not live.session.actions["undo"].isEnabled()


async def test_a13_a_pruned_row_has_dots_where_its_bar_was(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    before = await inks(live, FIRST)
    await prune(live)
    after = await inks(live, FIRST)
    assert before < 4 and after > 8, "changes of brightness along the bar"


async def inks(live: RunningWindow, entry: int) -> int:
    """How often the brightness changes along the bar of a row."""
    view = live.window.map.view
    view.reveal(entry, centre=True)
    await live.settle(20)
    geometry, image = view.geometry_now(), view.viewport().grab().toImage()
    ratio, middle = image.devicePixelRatio(), view.row_rect(entry).center().y()
    left, right = geometry.bar_left + 2, geometry.bar_left + geometry.bar_width
    changes = []
    for down in (-2, -1, 0, 1, 2):
        line = [
            image.pixelColor(int(x * ratio), int((middle + down) * ratio)).lightness()
            for x in range(int(left), int(right))
        ]
        changes.append(sum(1 for a, b in pairwise(line) if abs(a - b) > 12))
    return max(changes)


async def test_a13_what_there_is_not_to_prune_is_said(house: House, tmp_path: Path) -> None:
    file = write_much_output(tmp_path / "little.jsonl", tokens=100)
    live = await house.start(session=file)
    await live.idle()
    dialog = await ask(live)
    assert not dialog.go.isEnabled() and dialog.model.rowCount(QModelIndex()) == 0
    assert "Nothing would be pruned." in live.words(dialog)
    live.press_button("Close", dialog)
    await live.back()


async def test_where_nothing_is_pruned_the_limits_stand_below_the_sentence(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await ask(live)
    dialog.minimum.setValue(1_000_000)
    await live.settle(20)
    assert dialog.nothing.isVisible() and not dialog.table.isVisible()
    parts = (dialog.outcome, dialog.facts, dialog.protect, dialog.minimum)
    for part, below in pairwise(parts):
        assert 0 <= below.y() - part.geometry().bottom() < 24
    dialog.reject()
    await live.idle()
