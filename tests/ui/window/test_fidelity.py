"""What a summary lacks, from the window: findings, their sources, and what is done about them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QMenu, QPlainTextEdit, QTextEdit

from explorer.audit.findings import Finding
from tests.services.test_unreadable_compaction import rollout
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path, visible
from tests.ui.window.steps import commit, draft
from tests.ui.window.test_audit import compaction, reply, user, write
from ui.audit.compare.actions import fill_menu
from ui.audit.compare.subjects import NOW, SummaryKey
from ui.audit.fidelity.findings import NoneFound, NotCarriedHeading
from ui.audit.fidelity.page import FINDINGS, SUMMARY, FidelityPage
from ui.widgets.choice import ChoiceBox
from ui.widgets.marked import marked


async def fidelity(live: RunningWindow, entry: int = 105) -> FidelityPage:
    """The page of a compaction's findings, its audit done."""
    live.click_entry(entry)
    live.session.fidelity.look_at_entry(entry)
    page = live.session.fidelity.page
    await live.until(
        lambda: page.isVisible() and page.shown is not None and page.shown.entry == entry,
        "the audit",
    )
    await live.idle()
    return page


async def test_groups_with_findings_and_one_folded_line(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+Alt+L")
    page = live.session.fidelity.page
    await live.until(lambda: page.isVisible() and page.shown is not None, "the audit")
    assert page.shown is not None and live.tab == "audit"
    assert page.shown.entry == 197, "the newest compaction of the path"
    await live.until(page.list.hasFocus, "the keyboard on the findings")
    said = "9 of 11 standing instructions found in the summary or the kept tail; 2 not clear."
    assert page.headline.text() == said
    standing = page.shown.fidelity.standing
    first = min(one.fact.sources[0] for one in standing)
    assert len(standing) == 11 and page.given.accessibleName().endswith(" 8 more.")
    page.given.setFocus()
    live.keys("Tab", "Return", to=page.given)
    await live.until(lambda: live.window.map.selected == first, "the entry of the first of them")
    page.given.linkActivated.emit("more:")
    assert len(page.given.text().split("<br>")) == 11
    assert "“No new dependencies.”: found in “No new dependencies.”" in page.given.text()
    none, _carried = page.list.findings.rows
    assert isinstance(none, NoneFound)
    assert (none.title, none.note) == ("No open work unnamed", "No contradiction")
    page = await fidelity(live)
    said = "1 of 8 standing instructions not found in the summary or the kept tail; 2 not clear."
    assert page.headline.text() == said
    assert isinstance(none := page.list.findings.rows[2], NoneFound)
    assert (none.title, none.note) == ("No open work unnamed", "No contradiction")
    first = page.list.current()
    assert first is page.list.findings.rows[1] and isinstance(first, Finding)
    assert first.text == "Never retry a 409, whatever the header says."
    folded = page.list.findings.rows[-1]
    assert isinstance(folded, NotCarriedHeading) and not folded.is_open
    page.list.select_row(len(page.list.findings.rows) - 1)
    rows = len(page.list.findings.rows)
    live.keys("Return", to=page.list)
    assert len(page.list.findings.rows) > rows
    live.keys("Return", to=page.list)
    assert len(page.list.findings.rows) == rows
    page.list.setFocus()
    page.pages.setCurrentIndex(SUMMARY)
    await live.settle()
    assert "A 409 is a conflict" in page.reading.toPlainText()
    live.keys("Escape", to=page.reading)
    assert page.pages.currentIndex() == FINDINGS and page.list.hasFocus()


async def test_one_choice_of_the_compaction_holds_for_every_page(house: House) -> None:
    """It is the only box of its kind, on whichever page it is changed."""
    live = await house.start(sample_path())
    page = await fidelity(live, 197)
    tab, first = live.window.audit, SummaryKey("entry", 105).code
    assert visible_names(live) == ["Moment of the session", "Judged by the rules of"]
    live.choose(tab.moment, first)
    await live.until(lambda: page.shown is not None and page.shown.entry == 105, "the findings")
    await live.until(lambda: "#105" in tab.figure.text(), "the sizes of that compaction")
    live.press_button("Ledger", tab)
    await live.until(lambda: tab.ledger.isVisible() and len(tab.ledger.model.rows) < 200, "then")
    live.choose(tab.moment, NOW.code)
    await live.until(lambda: len(tab.ledger.model.rows) > 200, "the ledger of now")
    live.press_button("Findings", tab)
    await live.until(
        lambda: page.shown is not None and page.shown.entry == 197, "the newest compaction"
    )
    live.click_entry(105)
    await live.until(
        lambda: page.shown is not None and page.shown.entry == 105, "the one that is selected"
    )
    assert tab.moment.currentData() == first
    await live.idle()


def visible_names(live: RunningWindow) -> list[str]:
    """The names of the boxes to choose from that the tab Audit shows."""
    return [box.accessibleName() for box in visible(live.window.audit, ChoiceBox)]


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
    page = await fidelity(live)
    row = page.list.findings.first_finding()
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


async def test_a_finding_goes_into_the_instructions_and_its_entry_is_pinned(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    finding = page.list.current()
    assert finding is not None
    entries = len(live.document.tree)
    live.click(page.detail.buttons["pin"])
    await live.until(lambda: len(live.document.tree) > entries, "the pin")
    await live.idle()
    assert finding.fact.last in live.document.edits.shape().pinned
    page = await fidelity(live)
    live.click(page.detail.buttons["instruct"])
    await live.settle()
    assert live.tab == "compaction"
    words = live.window.compaction.instructions()
    assert " ".join(finding.fact.text[:300].split()) in words


async def test_a_draft_is_audited_before_its_commit(house: House) -> None:
    live = await house.start(sample_path())
    await draft(live)
    live.press_button("What is lacking", live.window.compaction)
    page = live.session.fidelity.page
    await live.until(lambda: page.shown is not None and page.shown.entry < 0, "the draft's audit")
    assert live.tab == "audit"
    assert page.shown is not None and page.shown.name == "draft 1"
    moment = live.window.audit.moment
    assert moment.currentText().startswith("Now, with draft 1")
    assert page.name.text() == "Draft 1"
    live.keys("Ctrl+3")
    entry = await commit(live)
    live.keys("Ctrl+4")
    await live.until(lambda: page.shown is not None and page.shown.entry == entry, "its audit")
    offered = [moment.itemText(at) for at in range(moment.count())]
    assert moment.currentText() == f"After #{entry}, compaction 3 of 3"
    assert not any("draft" in name for name in offered)


async def test_the_head_names_a_draft_of_an_earlier_entry_and_no_later_compaction(
    house: House,
) -> None:
    live = await house.start(sample_path())
    earlier = live.document.tree.columns.parent[197]
    live.window.map.select(earlier)
    live.keys("Ctrl+Alt+E")
    await draft(live)
    live.press_button("What is lacking", live.window.compaction)
    page, tab = live.session.fidelity.page, live.window.audit
    await live.until(lambda: page.shown is not None and page.shown.entry < 0, "the draft's audit")
    assert tab.moment.currentText().startswith(f"At #{earlier}, with draft 1")
    await live.until(lambda: tab.figure.text().startswith("Draft 1, not in force"), "the head")
    assert "compaction" not in tab.figure.text()
    assert not tab.badge.isVisible()
    live.choose(tab.moment, NOW.code)
    await live.until(lambda: tab.figure.text().startswith("In force: compaction"), "now")


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


async def test_findings_follow_to_a_newer_compaction(house: House) -> None:
    """Whoever looked at the newest one sees what was made since, and its predecessor after undo."""
    live = await house.start(sample_path())
    live.keys("Ctrl+Alt+L")
    page = live.session.fidelity.page
    await live.until(lambda: page.shown is not None and page.shown.entry == 197, "the newest")
    live.keys("Ctrl+3")
    await draft(live)
    entry = await commit(live)
    live.keys("Ctrl+Alt+L")
    await live.until(lambda: page.shown is not None and page.shown.entry == entry, "the newer one")
    assert page.name.text() == f"Compaction #{entry}"
    live.keys("Ctrl+Z")
    await live.until(lambda: page.name.text() == "Compaction #197", "the one before")
    assert live.window.audit.moment.currentText() == "Now, at #281"
    await live.idle()


async def test_what_cannot_be_read_is_said_and_nothing_seems_to_run(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(rollout(tmp_path))
    live.keys("Ctrl+Alt+L")
    page = live.session.fidelity.page
    await live.until(lambda: "cannot be read" in page.waiting.words.text(), "the words")
    await live.until(page.waiting.isVisible, "the page")
    await live.idle()
    assert not page.waiting.progress.isVisible() and not page.waiting.stop.isVisible()


async def test_what_a_draft_lacks_is_asked_at_its_side_and_read_by_keys(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await draft(live)
    page = live.session.fidelity.page
    live.press_button("What is lacking", live.window.compaction)
    await live.until(
        lambda: page.has_findings and page.list.hasFocus(), "the keyboard on the findings"
    )
    assert page.shown is not None and page.shown.name.startswith("draft")
    assert live.tab == "audit"


async def test_a_summary_without_a_cut_offers_no_mending(house: House, tmp_path: Path) -> None:
    """What its agent kept is named nowhere: the button says so instead of a refusal."""
    live = await house.start(
        write(
            tmp_path / "kept-nothing.jsonl",
            [
                user("Never touch the port 8443."),
                reply("The port stays as it is."),
                {**compaction(0, "Something was done."), "firstKeptEntryId": ""},
                user("Go on."),
            ],
        )
    )
    page = await fidelity(live, 2)
    assert page.current is not None
    mend = page.detail.buttons["mend"]
    assert mend.isVisible() and not mend.isEnabled()
    assert "#2 cannot be mended" in mend.toolTip() and "no cut" in mend.toolTip()
    assert page.detail.buttons["instruct"].isEnabled()
    menu = QMenu()
    fill_menu(live.session, menu, 2)
    (check,) = [each for each in menu.actions() if each.text().startswith("Check and mend")]
    assert not check.isEnabled() and check.toolTip() == mend.toolTip()


async def test_a_summary_with_a_cut_can_be_mended(house: House) -> None:
    live = await house.start(sample_path())
    page = await fidelity(live)
    assert page.detail.buttons["mend"].isEnabled()
