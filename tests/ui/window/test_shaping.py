"""Pins, omissions and ranges in the window: on map, ledger and panel, by keys, and taken back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt

from explorer.compaction.partition import Verdict
from tests.pruned_sample import write_much_output
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.compaction.entry_edits import NOTHING
from ui.map.navigation import LeavingDialog

RESULT = 4
"""A tool result whose call is the entry before it."""


async def opened(house: House, folder: Path) -> RunningWindow:
    live = await house.start(session=write_much_output(folder / "much-output.jsonl"))
    await live.idle()
    return live


async def press(live: RunningWindow, entry: int, key: str) -> None:
    """Press a key on an entry of the map, and wait for the entry that it makes."""
    live.window.map.select(entry)
    live.window.map.view.setFocus()
    before = len(live.document.tree)
    live.keys(key, to=live.window.map.view)
    await live.until(lambda: len(live.document.tree) > before, f"what {key} makes")
    await live.idle()


async def test_a_pin_is_shown_listed_with_its_tokens_and_ended_with_one_click(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    before = live.document.leaf
    await press(live, 0, "P")
    assert list(live.document.edits.shape().pinned) == [0]
    assert "Pinned by" in live.window.map.model.texts.describe(0)
    live.keys("Ctrl+3")
    await live.idle()
    setup = live.window.compaction.setup
    assert "1 pinned" in setup.shaped.header.accessibleName()
    shown = live.window.compaction.partition
    assert shown is not None and shown.verdicts[0] == Verdict.PINNED
    assert "word for word" in shown.reason(0)
    setup.shaped.set_expanded(True)
    await live.idle()
    live.press_button("unpin", setup.shaping)
    await live.until(lambda: not live.document.edits.shape().pinned, "the pin's end")
    # Undo takes back that it was ended, then the pin itself.
    live.keys("Ctrl+Z")
    await live.until(lambda: list(live.document.edits.shape().pinned) == [0], "the pin again")
    await live.idle()
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf == before, "the leaf of before")
    assert not live.document.edits.shape()


async def test_an_omitted_result_takes_its_call_along_everywhere(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    sent = live.document.context().messages
    await press(live, RESULT, "O")
    assert list(live.document.edits.shape().omitted) == [RESULT - 1, RESULT]
    assert live.document.context().messages == [at for at in sent if at not in (RESULT - 1, RESULT)]
    live.keys("Ctrl+3")
    await live.idle()
    shown = live.window.compaction.partition
    assert shown is not None and shown.verdicts[RESULT] == Verdict.OMITTED
    assert shown.verdicts[RESULT - 1] == Verdict.OMITTED
    assert live.window.map.model.sizes[RESULT] == shown.weight(RESULT) > 0
    legend = live.window.compaction.setup.legend
    assert "omitted" in legend.item(str(int(Verdict.OMITTED))).accessibleName()
    await press(live, RESULT - 1, "O")
    assert not live.document.edits.shape() and live.document.context().messages == sent


async def test_the_menu_of_an_entry_and_of_the_ledger_offer_what_can_be_done(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    offers = live.session.entry_edits.offers
    assert not offers(0).why_not and not offers(0).pinned
    assert offers(-1) == NOTHING
    ledger = live.window.compaction.setup.table
    assert ledger.contextMenuPolicy() == Qt.ContextMenuPolicy.CustomContextMenu
    await press(live, 0, "P")
    assert offers(0).pinned
    assert offers(live.document.leaf).why_not == f"#{live.document.leaf} is never sent to a model."
    # The pin entry itself is nothing that a model is told: the key says so and does nothing.
    before = len(live.document.tree)
    live.window.map.select(live.document.leaf)
    live.window.map.view.setFocus()
    live.keys("P", to=live.window.map.view)
    await live.idle()
    assert len(live.document.tree) == before
    for name in ("pin", "omit", "up_to_here", "from_here"):
        action = live.session.actions[name]
        assert not action.isEnabled()
        assert action.statusTip() == action.toolTip() == offers(live.document.leaf).why_not
    live.click_entry(0)
    await live.idle()
    assert "word for word" in live.session.actions["pin"].toolTip()


async def test_a_letter_that_writes_says_so_where_it_can_be_taken_back(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    before = live.document.leaf
    await press(live, 0, "P")
    by_key = live.notice
    assert by_key.startswith("#0 pinned") and "word for word" in live.words(live.window.notices)
    live.press_button("Undo", live.window.notices)
    await live.until(lambda: live.document.leaf == before, "the leaf of before")
    assert not live.document.edits.shape()
    await live.until(lambda: not live.notice, "the end of the notice")
    live.window.map.select(0)
    await live.idle()
    live.session.actions["pin"].trigger()
    await live.until(lambda: live.notice == by_key, "the same sentence by the menu")
    await press(live, RESULT, "O")
    assert live.notice.startswith(f"#{RESULT - 1} and #{RESULT} omitted, a call and its result")
    live.keys("Ctrl+Z")
    await live.until(lambda: not live.notice, "what was omitted is not any more")


async def test_a_notice_of_a_session_goes_with_it(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    await press(live, 0, "P")
    assert live.notice
    live.drop(sample_path())
    await live.until(lambda: len(live.document.tree) > 200, "another session")
    assert not live.notice


async def test_whatever_is_grey_says_why(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    for _ in ("with a selection", "without"):
        grey = [bound for bound in live.session.actions.all() if not bound.action.isEnabled()]
        assert len(grey) > 5
        for bound in grey:
            if bound.exists:
                said = bound.action.toolTip()
                assert said not in ("", bound.spec.tip), bound.spec.id
        live.window.map.select(-1)
        await live.idle()


async def test_your_own_messages_are_kept_by_a_rule_of_the_session(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    live.keys("Ctrl+3")
    setup = live.window.compaction.setup
    setup.shaped.set_expanded(True)
    await live.idle()
    box = setup.shaping.budget.box
    box.setFocus()
    box.selectAll()
    live.type("20000", to=box)
    live.keys("Tab", to=box)
    await live.idle()
    live.press_button(setup.shaping.keep.text(), setup.shaping)
    await live.until(lambda: live.document.edits.shape().user_budget is not None, "the rule")
    rule = live.document.edits.shape().user_budget
    assert rule is not None and rule.tokens == 20_000
    shown = live.window.compaction.partition
    assert shown is not None
    kinds = live.document.tree.columns.kind
    pinned = [shown.path[at] for at, one in enumerate(shown.verdicts) if one == Verdict.PINNED]
    assert pinned and all(kinds[at] == 1 for at in pinned)


async def test_up_to_here_puts_the_cut_after_the_entry(house: House, tmp_path: Path) -> None:
    live = await opened(house, tmp_path)
    live.window.map.select(RESULT)
    await live.idle()
    live.keys("Ctrl+Alt+U")
    await live.until(lambda: live.window.compaction.cut is not None, "the cut")
    shown = live.window.compaction.partition
    assert shown is not None
    assert shown.path[shown.cut] > RESULT
    assert shown.verdicts[RESULT] in (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX)
    assert shown.valid_cuts[0] < shown.cut


async def test_from_here_keeps_what_is_before_and_tells_the_rest_by_a_summary(
    house: House, tmp_path: Path
) -> None:
    live = await opened(house, tmp_path)
    await press(live, 0, "P")
    last = live.document.leaf
    start = live.document.navigation.plan_from(10, live.session.state.profile).left_behind[0]
    kept = [at for at in live.document.context().messages if at < start]
    live.window.map.select(10)
    await live.idle()
    live.keys("Ctrl+Alt+H")
    dialog = await live.dialog(LeavingDialog)
    assert f"Summarize from #{start}" in live.words(dialog)
    assert "pi and oh-my-pi" in live.words(dialog)
    live.click(dialog.go)
    await live.until(lambda: dialog.pages.currentIndex() == 2, "the summary")
    live.press_button("Store and go on from there", dialog)
    await live.until(lambda: live.document.leaf > last, "the summary's entry")
    await live.back()
    context = live.document.context()
    assert context.messages[: len(kept)] == kept
    assert len(context.messages) == len(kept) + 1
    # What held where the branch was left holds here too.
    await live.until(
        lambda: list(live.document.edits.shape().pinned) == [0], "the pin, said once more"
    )
