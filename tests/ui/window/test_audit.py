"""The Audit tab in the whole window: from a loss to its cause, and to its repair."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollArea, QWidget

from explorer.audit.findings import LossKind, Repair, Severity
from explorer.audit.ledger import LedgerVerdict
from explorer.session.edit_entries import PIN_TYPE
from explorer.session.entries import CustomData
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import commit, draft, prepared
from ui.audit.compare.subjects import NOW
from ui.audit.tab import BRANCHES, FINDINGS, LEDGER, LOSSES, SURVIVAL

KEPT_ONLY = "What may never be changed is the port 8443."


def write(path: Path, entries: Sequence[dict[str, Any]]) -> Path:
    """A session of pi's; every entry follows the one before unless it names its parent."""
    header = {"type": "session", "version": 3, "id": "s", "timestamp": _time(0), "cwd": "/w"}
    lines = [json.dumps(header)]
    for at, entry in enumerate(entries):
        parent = f"e{at - 1}" if at else None
        told = {"id": f"e{at}", "parentId": parent, "timestamp": _time(at + 1), **entry}
        lines.append(json.dumps(told))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _time(at: int) -> str:
    return f"2026-01-05T09:{at // 60:02}:{at % 60:02}.000Z"


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def reply(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "stopReason": "stop"}
    return {"type": "message", "message": message}


def compaction(kept: int, summary: str) -> dict[str, Any]:
    return {
        "type": "compaction", "summary": summary, "firstKeptEntryId": f"e{kept}",
        "tokensBefore": 4321, "details": {"readFiles": ["new.py"], "modifiedFiles": []},
    }  # fmt: skip


def call(path: str, number: int) -> list[dict[str, Any]]:
    asked = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": path}}
    said = {"role": "assistant", "content": [asked], "stopReason": "toolUse"}
    told = {
        "role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "isError": False,
        "content": [{"type": "text", "text": "x = 1"}],
    }  # fmt: skip
    return [{"type": "message", "message": said}, {"type": "message", "message": told}]


def losing(tmp_path: Path) -> Path:
    """A session whose second compaction dropped what the first one had kept (entries 2 to 5)."""
    return write(
        tmp_path / "losing.jsonl",
        [
            user("Make the server start. " * 40),  # 0
            reply("It starts. " * 40),
            user(KEPT_ONLY),  # 2
            *call("only-here.py", 1),
            reply("Noted."),  # 5
            compaction(2, "## Goal\nA server that starts."),
            user("Now the tests. " * 30),  # 7
            *call("new.py", 2),
            reply("They pass. " * 30),
            user("Thank you."),  # 11
            compaction(11, "## Goal\nA server with tests."),
            user("And now?"),  # 13
        ],
    )


async def audited(live: RunningWindow) -> None:
    """Open the tab and wait for the audit of what is shown."""
    await live.idle()
    live.keys("Ctrl+4")
    assert live.tab == "audit"
    await settled(live)


async def settled(live: RunningWindow) -> None:
    """Wait until what is shown is the audit of the session as it is."""
    control = live.session.audit
    await live.until(lambda: not control.busy and control.overview is not None, "the audit")
    await live.settle()


def page_button(live: RunningWindow, title: str) -> None:
    at = list(live.window.audit.titles()).index(title)
    live.click(live.window.audit.bar.button(at))


async def test_a_loss_is_found_with_its_cause_and_shown_on_the_map(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(losing(tmp_path))
    await audited(live)
    tab = live.window.audit
    assert "4 entries are neither kept nor summarized" in tab.headline.text()
    page_button(live, LOSSES)
    loss = tab.losses.chosen()
    assert loss is not None
    assert (loss.kind, loss.at) == (LossKind.KEPT_RANGE_DROPPED, 12)
    part = tab.losses.part
    assert "it neither summarized nor kept them" in part.cause.accessibleName()
    assert "only-here.py" in part.basis.text()
    assert part.badge.word.text() == "inferred"
    live.press_button("Show", part)
    await live.until(lambda: live.window.map.selected == 2, "the entry on the map")
    page_button(live, LEDGER)
    assert tab.ledger.part.rule.accessibleName().startswith("#2: Lost. Lost at compaction #12")
    assert tab.ledger.table.currentIndex().row() == tab.ledger.model.row_of_entry(2)
    live.keys("Ctrl+1")
    assert "Lost at compaction #12" in live.window.entry.verdict.words.accessibleName()
    assert live.window.entry.verdict.isVisible()


async def test_the_moment_follows_the_map_and_the_chooser(house: House, tmp_path: Path) -> None:
    live = await house.start(losing(tmp_path))
    await audited(live)
    tab = live.window.audit
    assert tab.moment.currentData() == NOW.code
    live.window.map.select(6)
    await live.until(lambda: len(_ledger(live)) == 7, "that moment")
    assert tab.moment.currentText() == "After #6, compaction 1 of 2"
    row = _ledger(live).row(2)
    assert _ledger(live).verdict(row) is LedgerVerdict.VERBATIM, "it was kept then"
    assert tab.figure.text() == (
        "In force: compaction #6 · recorded by the agent: 4,321 tokens before · "
        "its entries, counted here: 350 → 36 tokens"
    )
    assert tab.badge.word.text() == "inferred"
    live.choose(tab.moment, NOW.code)
    await live.until(lambda: len(_ledger(live)) == 14, "now again")


def in_sight(area: QScrollArea, part: QWidget) -> bool:
    """Whether a part is within what a scroll area shows, from top to bottom."""
    port = area.viewport()
    top = part.mapTo(port, QPoint(0, 0)).y()
    return top >= 0 and top + part.height() <= port.height()


def _ledger(live: RunningWindow) -> Any:
    ledger = live.window.audit.ledger.shown
    assert ledger is not None
    return ledger


async def test_the_ledger_is_filtered_searched_and_walked_by_keys(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(losing(tmp_path))
    await audited(live)
    page_button(live, LEDGER)
    view = live.window.audit.ledger
    live.click(view.legend.item(str(int(LedgerVerdict.LOST))))
    assert [_ledger(live).entries[row] for row in view.model.rows] == [2, 3, 4, 5]
    view.search.setFocus()
    live.type("port 8443", to=view.search)
    await live.until(lambda: len(view.model.rows) == 1, "what was searched")
    view.table.setFocus()
    view.table.selectRow(0)
    live.keys("Return", to=view.table)
    await live.until(lambda: live.window.map.selected == 2, "the entry on the map")
    view.search.setFocus()
    live.type(" nowhere", to=view.search)
    await live.until(lambda: view.nothing.isVisible(), "that nothing is like this")


async def test_survival_is_told_under_the_mouse_and_the_cursor(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(losing(tmp_path))
    await audited(live)
    page_button(live, SURVIVAL)
    view = live.window.audit.strip
    canvas = view.canvas
    assert canvas.strip is not None
    assert len(canvas.strip.lanes) == 3
    lane = canvas.lane_rect(2)
    at = QPoint(round(canvas.x_of(0)) + 3, round(lane.center().y()))
    QTest.mouseMove(canvas, at)
    await live.until(lambda: "After compaction #12: #0" in view.words.text(), "the words")
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    await live.until(lambda: live.window.map.selected == 0, "the entry on the map")
    canvas.setFocus()
    live.keys("Right", to=canvas)
    assert "#2" in view.words.text()
    assert "Lost since #12" in view.words.text()
    live.keys("Up", to=canvas)
    assert "After compaction #6: #2 word for word" in view.words.text()
    live.keys("Return", to=canvas)
    await live.until(lambda: live.window.map.selected == 2, "the entry on the map")


async def test_other_rules_tell_another_story(house: House, tmp_path: Path) -> None:
    file = losing(tmp_path)
    text = file.read_text(encoding="utf-8").replace("only-here.py", "new.py")
    file.write_text(text, encoding="utf-8")
    live = await house.start(file)
    await audited(live)
    tab = live.window.audit
    assert not _ledger(live).counts[LedgerVerdict.LOST], "nothing tells, so its own rules hold"
    live.choose(tab.rules, "pi-0.58")
    tab.rules.activated.emit(tab.rules.currentIndex())
    await live.until(lambda: _ledger(live).counts[LedgerVerdict.LOST] == 4, "the older rules")


async def test_a_cut_that_keeps_what_was_lost_is_previewed_where_it_was_made(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(losing(tmp_path))
    await audited(live)
    page_button(live, LOSSES)
    live.press_button("Try another cut", live.window.audit.losses.part)
    await live.until(lambda: live.tab == "compaction", "the preview")
    assert live.window.map.selected == 11, "above the compaction that lost it"
    assert prepared(live).leaf == 11
    assert live.partition.path[live.partition.cut] == 11, "where it was"
    assert prepared(live).history[:2] == [2, 3], "and what was lost is told"
    assert "would tell of #2" in live.said
    assert live.window.map.view.hasFocus(), "the cut's keys work at once"
    notice = live.window.compaction.notice
    assert "To mend #12, “kept, then dropped" in live.words(notice)
    await live.settle()
    view = live.window.map.view
    assert view.viewport().rect().contains(live.cut_point()), "the cut is on screen"
    live.press_button("Back to it", notice)
    assert live.tab == "audit" and live.window.audit.losses.table.hasFocus()


async def test_words_for_what_was_lost_make_another_summary_where_it_was_made(
    house: House, tmp_path: Path
) -> None:
    """The whole way: the words, the draft of an older place, its commit in one click, the undo."""
    live = await house.start(losing(tmp_path))
    await audited(live)
    page_button(live, LOSSES)
    live.press_button("Add to the instructions", live.window.audit.losses.part)
    await live.until(lambda: live.tab == "compaction", "the preview")
    assert f"- {KEPT_ONLY}" in live.window.compaction.instructions()
    setup = live.window.compaction.setup
    assert setup.outcome_part.summarize.isEnabled(), "cut where it was"
    assert setup.instructions.hasFocus()
    await live.until(
        lambda: setup.instructions.visibleRegion().boundingRect() == setup.instructions.rect(),
        "the box in sight",
    )
    assert KEPT_ONLY in setup.instructions.textCursor().selectedText(), "what is new is marked"
    assert "To mend #12" in live.words(live.window.compaction.notice)
    entries, leaf = len(live.document.tree), live.document.leaf
    await draft(live)
    page = live.window.compaction.draft
    assert "the leaf is #13: the commit goes there" in page.place_note.text()
    live.press_button("Go to #11 and commit", page)
    await live.until(lambda: len(live.document.tree) > entries, "the compaction")
    await live.idle()
    made = live.document.leaf
    assert live.document.tree.columns.parent[made] == 11
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf == leaf, "the leaf that was left")
    await live.idle()
    assert f"the leaf is #{leaf} again" in live.words(live.window.compaction.notice)


async def test_a_pin_brings_back_what_was_lost(house: House, tmp_path: Path) -> None:
    live = await house.start(losing(tmp_path))
    await audited(live)
    page_button(live, LOSSES)
    live.press_button("Pin", live.window.audit.losses.part)
    await live.until(lambda: len(live.document.tree) == 15, "the pin")
    await live.idle()
    await live.until(lambda: len(_ledger(live)) == 15, "the ledger after it")
    pin = live.document.payloads.shown.entry(14).body
    assert isinstance(pin, CustomData) and pin.name == PIN_TYPE
    assert 2 in live.document.context().messages
    assert _ledger(live).verdict(_ledger(live).row(2)) is LedgerVerdict.PINNED
    found = live.session.audit.overview
    assert found is not None
    assert not [one for one in found.losses if one.severity is Severity.LOST]
    assert "neither kept nor" not in live.window.audit.headline.text()
    setup, focus = live.window.compaction.setup, live.receiver()
    assert live.tab == "compaction" and setup.shaping.isAncestorOf(focus)
    assert focus.accessibleName().startswith("#2, pinned")
    await live.until(lambda: in_sight(setup.area, focus), "the pin in sight")
    assert "To mend #12" in live.words(live.window.compaction.notice)


async def test_a_branch_summary_is_looked_at_again(house: House, tmp_path: Path) -> None:
    file = write(
        tmp_path / "left.jsonl",
        [
            user("Try both ways."),
            reply("The first way. " * 10),
            user("Does it work?"),
            *call("a.py", 1),
            reply("No."),  # 5
            {
                "type": "branch_summary", "parentId": "e0", "fromId": "e5",
                "summary": "## Goal\nThe first way does not work.",
            },
            user("The other way."),
        ],
    )  # fmt: skip
    live = await house.start(file)
    await audited(live)
    live.window.map.select(6)
    tab = live.window.audit
    await live.until(lambda: tab.page() == BRANCHES, "the page of branch summaries")
    words = tab.branches.words.accessibleName()
    assert "Both branches share all up to #0. Abandoned: 5 entries, down to #5." in words
    assert "The new branch sees #0, #6." in tab.branches.sees.accessibleName()
    assert tab.branches.model.fate(1)[0] == "summarized"
    assert tab.branches.model.fate(4)[0] == "left out"
    assert tab.branches.minimumSizeHint().width() < 240, "as narrow as the inspector may be"
    row = _ledger(live).row(1)
    assert _ledger(live).verdict(row) is LedgerVerdict.IN_BRANCH_SUMMARY


async def test_a_session_without_losses_says_so(house: House) -> None:
    live = await house.start(sample_path())
    await audited(live)
    tab = live.window.audit
    page_button(live, LOSSES)
    found = live.session.audit.overview
    assert found is not None and not found.losses
    assert "No entry was dropped without a summary" in live.words(tab.losses)
    live.press_button("Show findings", tab.losses)
    await live.settle()
    assert tab.page() == FINDINGS
    assert tab.bar.button(tab.titles().index(FINDINGS)).hasFocus()
    assert {Repair.CUT, Repair.INSTRUCTION, Repair.RULES, Repair.GO_THERE} <= tab.losses.offered


async def test_no_letter_of_the_tab_is_taken_twice_or_by_a_menu(
    house: House, tmp_path: Path
) -> None:
    """A letter that two things have only moves the keyboard, and presses neither."""
    live = await house.start(losing(tmp_path))
    await audited(live)
    for title in live.window.audit.titles():
        page_button(live, title)
        await live.settle()
        parts = live.window.audit.findChildren(QAbstractButton)
        words = [part.text() for part in parts if part.isVisible()]
        words += [label.text() for label in live.window.audit.findChildren(QLabel)
                  if label.isVisible() and label.buddy() is not None]  # fmt: skip
        words += [action.text() for action in live.window.menuBar().actions()]
        letters = [QKeySequence.mnemonic(text).toString() for text in words]
        taken = [letter for letter in letters if letter]
        assert len(taken) == len(set(taken)), (title, sorted(taken))


async def test_the_ledger_opens_with_the_selected_entry_whole(house: House) -> None:
    live = await house.start(sample_path(), size=(1024, 700))
    await audited(live)
    page_button(live, LEDGER)
    await live.settle(20)
    table = live.window.audit.ledger.table
    row = table.visualRect(table.currentIndex())
    assert table.currentIndex().row() == table.rows.rowCount() - 1
    assert table.whole_rows().contains(row)


async def test_the_lines_of_page_names_begin_below_each_other(house: House) -> None:
    live = await house.start(sample_path(), size=(1024, 700))
    await audited(live)
    bar = live.window.audit.bar
    await live.settle(20)
    buttons = [bar.button(at) for at in range(len(live.window.audit.titles()))]
    tops = sorted({button.y() for button in buttons})
    assert len(tops) > 1
    lines = [[one for one in buttons if one.y() == top] for top in tops]
    for above, below in pairwise(lines):
        for one, other in zip(above, below, strict=False):
            assert one.x() == other.x()
            assert other.width() <= other.sizeHint().width(), "its words begin at its left edge"


async def test_a_compaction_that_was_undone_is_in_no_context(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await draft(live)
    made, words = await commit(live), live.window.entry.verdict.words
    live.keys("Ctrl+1")
    live.window.map.select(made)
    await live.until(lambda: "summary in force" in words.accessibleName(), "its verdict")
    live.session.actions["undo"].trigger()
    await live.until(lambda: live.document.leaf != made, "the undo")
    live.window.map.select(made)
    await live.until(lambda: words.accessibleName().startswith("Undone."), "what became of it")
    assert "no context has it" in words.accessibleName()
    assert "in force" not in words.accessibleName()
    live.keys("Ctrl+4")
    live.window.audit.show_ledger()
    await live.idle()
    live.window.map.select(made)
    figure, rule = live.window.audit.figure, live.window.audit.ledger.part.rule
    await live.until(lambda: figure.text().startswith(f"Undone: compaction #{made}"), "the same")
    assert f"As it was at #{made}, which was undone: " in rule.accessibleName()
