"""What a summary lost, from the window: findings, their sources, and what is done about them."""

from __future__ import annotations

from explorer.audit.severity import grouped
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from explorer.audit.findings import Fate, Finding
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import commit, draft
from ui.audit.fidelity.findings import GroupHeading
from ui.audit.fidelity.page import FINDINGS, SUMMARY, FidelityPage
from ui.widgets.marked import marked


async def fidelity(live: RunningWindow) -> FidelityPage:
    """The page, its audit done."""
    live.keys("Ctrl+Alt+L")
    page = live.session.fidelity.page
    await live.until(lambda: page.isVisible() and page.shown is not None, "the audit")
    await live.idle()
    return page


async def test_the_gravest_findings_come_first(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    assert page.shown is not None
    assert live.tab == "audit"
    assert page.shown.audited.entry == 197, "the newest compaction of the path"
    rows = page.list.findings.rows
    headings = [row.group.title for row in rows if isinstance(row, GroupHeading)]
    assert headings == [group.title for group in grouped(page.shown.audited.fidelity)]
    assert headings.index("Constraints lost") < headings.index("Kept verbatim")
    folded = next(
        r for r in rows if isinstance(r, GroupHeading) and r.group.title == "Kept verbatim"
    )
    assert not folded.is_open
    assert "upper bound" in page.bound.text() and "Lost in Compaction" in page.bound.text()
    first = page.list.current()
    assert first is not None and first is rows[1], "the gravest has the keyboard"
    assert page.headline.text().startswith("At most")
    await live.settle()


async def test_a_source_is_one_click_away_and_one_key_back(house: House) -> None:
    """The place itself is marked in the inspector and lies in sight; nothing else is."""
    live = await house.start(sample_path())
    page = await fidelity(live)
    finding = page.list.current()
    assert finding is not None
    await live.until(page.detail.excerpt.isVisible, "the words of the source")
    live.click(page.detail.links[0])
    await live.until(lambda: marks(live), "the mark")
    await live.settle()
    assert live.tab == "entry" and live.window.map.selected == finding.fact.last
    assert marks(live) == [finding.fact.text]
    (view,) = marked_views(live)
    top = view.cursorRect(view.textCursor()).topLeft()
    at = view.viewport().mapTo(live.window.entry.area.viewport(), top)
    assert live.window.entry.area.viewport().rect().contains(at), "in sight"
    live.keys("Escape")
    assert live.tab == "audit" and page.list.hasFocus() and page.list.current() is finding
    live.keys("Return")
    await live.until(lambda: marks(live) == [finding.fact.text], "the mark")
    assert live.window.entry.place.back.hasFocus()
    live.click_entry(3)
    await live.settle()
    assert not live.window.entry.place.isVisible() and not marks(live)
    live.keys("Ctrl+Alt+L")
    await live.settle()
    row = page.list.findings.rows.index(finding)
    rect = page.list.visualRect(page.list.findings.index(row, 0))
    number = page.list._paints.number_rect(rect, finding)
    live.click(page.list.viewport(), number.center())
    assert live.window.map.selected == finding.fact.last and live.tab == "entry"


def marked_views(live: RunningWindow) -> list[QTextEdit | QPlainTextEdit]:
    inside = live.window.entry
    views: list[QTextEdit | QPlainTextEdit] = [*inside.findChildren(QTextEdit)]
    return [view for view in [*views, *inside.findChildren(QPlainTextEdit)] if marked(view)]


def marks(live: RunningWindow) -> list[str]:
    """What is marked in the entry that the inspector shows."""
    return [text for view in marked_views(live) for text in marked(view)]


async def test_a_place_in_the_summary_is_marked(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    rows = page.list.findings.rows
    folded = next(
        at for at, one in enumerate(rows)
        if isinstance(one, GroupHeading) and one.group.title == "In the summary, letter for letter"
    )  # fmt: skip
    page.list.setFocus()
    page.list.select_row(folded)
    live.keys("Return", "Down", to=page.list)
    finding = page.list.current()
    assert finding is not None and finding.places
    live.keys("Shift+Return")
    await live.settle()
    assert page.pages.currentIndex() == SUMMARY and page.reading.hasFocus()
    live.keys("Escape")
    assert page.list.hasFocus() and page.list.current() is finding
    live.click(page.detail.in_summary)
    await live.settle()
    assert page.pages.currentIndex() == SUMMARY
    units = page.reading.toPlainText().encode("utf-16-le")
    place = finding.places[0]
    marked = units[place.start * 2 : place.end * 2].decode("utf-16-le")
    assert page.reading.marked[0].replace("\u2029", "\n") == marked


async def test_findings_of_one_kind_alone(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    page.pages.setCurrentIndex(1)
    await live.settle()
    kind, button = next(iter(page.kinds.buttons.items()))
    live.click(button)
    await live.settle()
    assert page.pages.currentIndex() == FINDINGS
    found = [row for row in page.list.findings.rows if isinstance(row, Finding)]
    assert found and {one.fact.kind for one in found} == {kind}
    page.kind.setFocus()
    live.choose(page.kind, None)
    page.kind.activated.emit(page.kind.currentIndex())
    assert len(page.list.findings.rows) > len(found)


async def test_a_finding_goes_into_the_instructions_and_its_entry_is_pinned(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    row = next(
        at
        for at, one in enumerate(page.list.findings.rows)
        if isinstance(one, Finding) and one.fate is Fate.LOST
    )
    page.list.select_row(row)
    finding = page.list.current()
    assert finding is not None
    entries = len(live.document.tree)
    live.click(page.detail.buttons["pin"])
    await live.until(lambda: len(live.document.tree) > entries, "the pin")
    await live.idle()
    assert finding.fact.last in live.document.edits.shape().pinned
    page = await fidelity(live)
    page.list.select_row(page.list.findings.rows.index(finding))
    live.click(page.detail.buttons["instruct"])
    await live.settle()
    assert live.tab == "compaction"
    words = live.window.compaction.instructions()
    assert " ".join(finding.fact.text[:300].split()) in words


async def test_a_draft_is_audited_before_its_commit(house: House) -> None:
    live = await house.start(sample_path())
    await draft(live)
    live.press_button("What is lost", live.window.compaction)
    page = live.session.fidelity.page
    await live.until(
        lambda: page.shown is not None and page.shown.audited.entry < 0, "the draft's audit"
    )
    assert live.tab == "audit"
    assert page.shown is not None and page.shown.audited.name == "draft 1"
    assert page.choice.currentText().startswith("draft 1")
    live.keys("Ctrl+3")
    entry = await commit(live)
    live.keys("Ctrl+4")
    await live.until(
        lambda: page.shown is not None and page.shown.audited.entry == entry, "its audit"
    )
    offered = [page.choice.itemText(at) for at in range(page.choice.count())]
    assert page.choice.currentText() == f"compaction #{entry}"
    assert not any(name.startswith("draft") for name in offered)


async def test_an_audit_can_be_stopped(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+Alt+L")
    page = live.session.fidelity.page
    await live.until(page.isVisible, "the page")
    page.waiting.stop.click()
    await live.until(
        lambda: "Stopped" in page.waiting.words.text() or page.shown is not None, "the end"
    )
    await live.idle()


async def test_survival_over_time_is_told_in_words(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    page.pages.setCurrentIndex(2)
    await live.settle()
    assert "compaction #105" in page.over_generations.accessibleName()
    assert "compaction #197" in page.over_generations.accessibleName()
    page.over_generations.setFocus()
    live.keys("Right", to=page.over_generations)
    assert "#197" not in page.over_generations.accessibleName()
    assert "%" in page.by_recency.accessibleName()
