"""Summaries beside each other: sections, findings of one alone, another try, the commit."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QMenu

from explorer.session.kinds import Kind
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.ui.window.conftest import MODEL
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import draft
from tests.ui.window.test_audit import compaction, reply, user, write
from ui.audit.compare.actions import fill_menu
from ui.audit.compare.pages import UNMARKED
from ui.audit.compare.subjects import SummaryKey
from ui.audit.compare.window import (
    DRIFT,
    FIGURES,
    FINDINGS,
    SIDES,
    CompareDraftsWindow,
)
from ui.branching.difference import DifferenceWindow


async def compared(live: RunningWindow) -> CompareDraftsWindow:
    """The window, what is checked in it compared."""
    live.keys("Ctrl+Alt+M")
    window = await live.dialog(CompareDraftsWindow)
    await whole(live, window)
    return window


async def whole(live: RunningWindow, window: CompareDraftsWindow) -> None:
    """Wait for the comparison of what is checked."""
    await live.until(
        lambda: (
            window.compared is not None
            and list(window.compared.keys) == window.checked()
            and window.progress.isHidden()
            and window.sections.is_whole
        ),
        "the comparison",
    )
    await live.idle()


async def test_two_compactions_stand_side_by_side(house: House) -> None:
    live = await house.start(sample_path())
    live.click_entry(197)
    window = await compared(live)
    found = window.compared
    assert found is not None and found.difference is not None
    assert {key.number for key in found.keys} == {105, 197}
    assert "in other words" in window.facts.text() and "differ" not in window.facts.text()
    numbers = [sum(row.has(at) for row in found.difference.findings) for at in (0, 1)]
    having = [f"{one.name} has {n}" for one, n in zip(found.difference.candidates, numbers,
              strict=True)]  # fmt: skip
    assert f"Findings that not all have: {', '.join(having)}" in window.facts.text()
    assert [block.title.text() for block in window.sections.blocks] == [
        row.title for row in found.difference.sections
    ]
    marked = [
        piece for block in window.sections.blocks for cell in block.cells for piece in cell.pieces
    ]
    assert any(piece.differs for piece in marked) and not all(piece.differs for piece in marked)
    window.pages.setCurrentIndex(FINDINGS)
    await live.settle()
    assert window.findings.rows.rowCount() == len(found.difference.findings) > 0
    window.findings.setFocus()
    live.keys("Return", to=window.findings)
    first = found.difference.findings[0].first.fact
    assert live.window.map.selected == (first.last if first.sources else 197)
    assert not window.commit.isEnabled(), "stored ones are not to be committed again"
    live.keys("Esc", to=window)
    await live.back()


async def test_summaries_with_nothing_in_common_are_not_marked_all_over(
    house: House, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "apart.jsonl",
        [
            user("Begin."),  # 0
            compaction(0, "## Goal\nKeep the port open."),  # 1
            user("Go on."),  # 2
            compaction(2, "**Request**\nShip invoices."),  # 3
            reply("Done."),
        ],
    )
    live = await house.start(path)
    live.click_entry(3)
    window = await compared(live)
    assert window.sections.caption.text() == UNMARKED
    assert not window.sections.only_apart.isVisible()
    (block,) = window.sections.blocks
    assert not any(piece.differs for cell in block.cells for piece in cell.pieces)
    assert "section" not in window.facts.text() and "0" not in window.facts.text()
    live.keys("Esc", to=window)
    await live.back()


async def test_drift_is_told_step_by_step(house: House) -> None:
    live = await house.start(sample_path())
    window = await compared(live)
    window.pages.setCurrentIndex(DRIFT)
    await live.settle()
    assert window.drift.tree.topLevelItemCount() == 1
    item = window.drift.tree.topLevelItem(0)
    assert item is not None and "things added" in item.text(1) and item.childCount() > 0
    window.drift.tree.setFocus()
    live.keys("Return", to=window.drift.tree)
    await whole(live, window)
    assert window.pages.currentIndex() == 0
    assert [key.number for key in window.checked()] == [197, 105]
    live.keys("Esc", to=window)
    await live.back()


async def test_another_try_costs_nothing_and_is_committed(house: House) -> None:
    """The offline summarizer beside a draft; both with figures; the better one is stored."""
    live = await house.start(sample_path())
    entries = len(live.document.tree)
    await draft(live)
    live.press_button("Compare", live.window.compaction)
    window = await live.dialog(CompareDraftsWindow)
    await whole(live, window)
    assert window.title.text() == "Draft 1"
    assert window.facts.text() == (
        "Make another draft below, or check a second summary in the list, to compare."
    )
    assert window.pages.currentIndex() == SIDES, "no model can be asked: its text is shown"
    assert not window.pages.isTabEnabled(FIGURES)
    (_, _, text), *_ = live.session.fidelity.drafts()
    shown = [cell for block in window.sections.blocks for cell in block.cells]
    assert shown and all(cell.isVisible() for cell in shown[:1])
    pieces = [piece for cell in shown for piece in cell.pieces]
    assert all(piece.text.strip() in text and not piece.differs for piece in pieces)
    assert not any(block.note.text() for block in window.sections.blocks)
    assert not window.sections.caption.text() and not window.sections.only_apart.isVisible()
    assert window.trying.model.currentData() == "offline/extractive"
    assert "free" in window.trying.button.text()
    window.trying.instructions.setFocus()
    live.type("Keep every constraint of the user, and what was given up.")
    live.click(window.trying.button)
    await live.until(lambda: len(live.session.fidelity.drafts()) == 2, "the second draft")
    second = live.session.fidelity.drafts()[1][0]
    assert second.instructions.startswith("Keep every constraint")
    await live.until(lambda: SummaryKey("draft", second.id) in window.checked(), "it in the list")
    await whole(live, window)
    assert len(live.document.tree) == entries, "nothing is stored before a commit"
    assert window.pages.currentIndex() == SIDES, "there is a difference to be seen"
    window.pages.setCurrentIndex(FIGURES)
    await live.settle()
    heads = [window.figures.grid.layout().itemAtPosition(0, at).widget() for at in (1, 2)]
    assert [one.text() for one in heads] == ["draft 1", "draft 2"]
    values = {name: [label.text() for label in row] for name, row in window.figures.values.items()}
    assert window.compared is not None
    at = window.compared.keys.index(SummaryKey("draft", second.id))
    assert values["Cost"][at] == "$0"
    assert "Instructions" in values and "none" in values["Instructions"]
    live.choose(window.taken, SummaryKey("draft", second.id).code)
    live.click(window.commit)
    await live.until(lambda: len(live.document.tree) > entries, "the compaction")
    await live.idle()
    stored = live.document.payloads.shown.entry(live.document.leaf)
    assert stored.kind is Kind.COMPACTION and stored.summary == second.summary
    live.keys("Esc", to=window)
    await live.back()


async def test_a_model_is_asked_only_by_a_click_that_names_the_price(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    live.click_entry(197)
    window = await compared(live)
    live.choose(window.trying.model, MODEL)
    await live.settle()
    assert "$" in window.trying.button.text()
    assert not server.requests, "looking costs nothing"
    live.click(window.trying.button)
    await live.until(lambda: server.requests, "the call")
    await live.until(lambda: not window.trying.is_running, "the draft")
    await live.idle()
    held = live.session.fidelity.drafts()
    assert [one.model for one, _, _ in held] == [MODEL]
    assert held[0][1].preparation.leaf == live.document.tree.columns.parent[197]
    await whole(live, window)
    assert window.commit.text().replace("&", "") == "Go to #196 and commit draft 1"
    assert "The 85 entries since #196 stay" in window.committing.message.text()
    leaf = live.document.leaf
    live.click(window.commit)
    await live.until(lambda: live.document.leaf > leaf, "the compaction")
    assert live.document.tree.columns.parent[live.document.leaf] == 196
    await live.idle()
    live.keys("Esc", to=window)
    await live.back()


async def test_a_try_that_fails_changes_nothing(house: House, server: ChatServer) -> None:
    server.plan(Answer(text=""))
    live = await house.start(sample_path())
    window = await compared(live)
    live.choose(window.trying.model, MODEL)
    live.click(window.trying.button)
    await live.until(lambda: server.requests and not window.trying.is_running, "the end")
    await live.idle()
    assert window.trying.message.text().startswith("No draft")
    assert not live.session.fidelity.drafts()
    live.keys("Esc", to=window)
    await live.back()


async def test_what_is_checked_is_compared_and_the_reference_chosen(house: House) -> None:
    live = await house.start(sample_path())
    window = await compared(live)
    window.list.setFocus()
    live.keys("Home", "Space", to=window.list)
    await whole(live, window)
    assert window.list.rows.rows[0] not in window.checked()
    assert window.compared is not None and window.compared.difference is None
    assert "second summary" in window.facts.text()
    live.keys("Space", to=window.list)
    await whole(live, window)
    live.choose(window.reference, SummaryKey("entry", 105).code)
    window.reference.activated.emit(window.reference.currentIndex())
    await whole(live, window)
    found = window.compared.difference
    assert found is not None and found.candidates[found.reference].name == "compaction #105"
    live.keys("Esc", to=window)
    await live.back()


async def test_branches_lead_to_their_summaries(house: House) -> None:
    live = await house.start(sample_path())
    end = live.document.tree.deepest_leaf(58)
    live.session.differences.compare(live.document.leaf, end)
    branches = await live.dialog(DifferenceWindow)
    await live.until(lambda: branches.found is not None, "the branches")
    live.press_button("Their summaries", branches)
    window = await live.dialog(CompareDraftsWindow)
    await whole(live, window)
    assert window.checked() == [SummaryKey("entry", 59)]
    window.close()
    branches.close()
    await live.back()


async def test_a_summary_on_the_map_joins_the_comparison(house: House) -> None:
    live = await house.start(sample_path())
    live.session.draft_comparison.compare_entry(105)
    window = await live.dialog(CompareDraftsWindow)
    await whole(live, window)
    assert SummaryKey("entry", 105) in window.checked()
    menu = QMenu()
    fill_menu(live.session, menu, 59)
    words = [action.text() for action in menu.actions()]
    assert "Add to the comparison" in words and "What this summary lacks" not in words
    menu.actions()[words.index("Add to the comparison")].trigger()
    await whole(live, window)
    assert SummaryKey("entry", 59) in window.checked()
    menu.clear()
    fill_menu(live.session, menu, 60)
    assert not menu.actions(), "other entries have no summary"
    menu.deleteLater()
    window.close()
    await live.back()


async def test_the_only_summary_asks_for_another_draft(house: House, tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_text("\n".join(sample_path().read_text().splitlines()[:60]) + "\n")
    live = await house.start(plain)
    assert not live.document.tree.columns.compactions
    await draft(live)
    live.press_button("Compare", live.window.compaction)
    window = await live.dialog(CompareDraftsWindow)
    await whole(live, window)
    assert window.facts.text() == "Make another draft below to compare."
    live.keys("Esc", to=window)
    await live.back()
