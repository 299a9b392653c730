"""The Audit tab alone: pages, badges, empty states, large rows, looks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from explorer.audit.difference import Candidate, difference
from explorer.audit.findings import Fidelity
from explorer.audit.ledger import TEXTURES, LedgerVerdict
from explorer.audit.needed_again import NeededAgain
from explorer.audit.overview import Overview, overview
from explorer.audit.provenance import (
    Known,
    Provenance,
    content_known,
    context_known,
    cost_known,
    elapsed_known,
    model_known,
    sizes_known,
    time_known,
    tokens_before_known,
    tokens_known,
    usage_known,
    weight_known,
    window_known,
)
from explorer.audit.rules import rule_of
from explorer.compaction.profile import BASES
from explorer.formats.pi.entries import read_entry
from explorer.session.usage_sums import UNCOUNTED, PartUsage, UsageSum
from tests.audit.test_ledger import twice
from tests.compaction.sessions import Session
from tests.ui.sessions import NumberedLines
from tests.ui.waiting import settle, shown_texts, wait_for
from tests.ui.window.running import visible
from ui.audit.compare.pages import UNKNOWN, figures_of
from ui.audit.known import (
    ProvenanceBadge,
    around_words,
    marked,
    reason,
    recorded_words,
    spoken,
)
from ui.audit.needed.page import NeededPage
from ui.audit.tab import (
    BRANCHES,
    FINDINGS,
    LEDGER,
    LOSSES,
    NEEDED,
    SURVIVAL,
    AuditTab,
    PageBar,
)
from ui.audit.verdict_line import VerdictLine
from ui.audit.words import LEADS, MEANINGS, VERDICTS
from ui.conversation.usage_label import label_of, tip_of
from ui.theme import theme
from ui.widgets.entry_table import LEAD, STRONG, VERDICT
from ui.widgets.swatch import LegendItem
from ui.widgets.terms import meaning


def shown(made: Session, rules: str = "pi-0.58") -> Overview:
    return overview(
        made.tree,
        made.leaf,
        BASES[rules],
        read=lambda ix: [read_entry(made.entries[i]) for i in ix],
    )


@pytest.fixture
def tab(app: QApplication) -> AuditTab:
    tab = AuditTab()
    tab.resize(452, 800)
    tab.show()
    return tab


def test_without_a_session_the_tab_says_what_to_do(tab: AuditTab) -> None:
    assert tab.empty.isVisible()
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    assert not tab.empty.isVisible()
    tab.ledger.search.setText("only in this session")
    tab.clear()
    assert tab.empty.isVisible() and not tab.ledger.search.text()


def test_an_entry_beyond_the_moment_of_the_ledger_is_said_to_be(tab: AuditTab) -> None:
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.show_entry(10_000)
    assert "#10000 is not in the ledger" in tab.ledger.part.rule.text()
    tab.show_entry(-1)
    assert "Choose an entry" in tab.ledger.part.rule.text()


def test_pages_can_be_added_and_turned_to_by_keys(tab: AuditTab) -> None:
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    mine = QLabel("mine")
    tab.add_page("Mine", mine)
    assert tab.titles() == (NEEDED, FINDINGS, LEDGER, LOSSES, SURVIVAL, BRANCHES, "Mine")
    tab.show_page("Mine")
    assert (tab.page(), mine.isVisible(), tab.ledger.isVisible()) == ("Mine", True, False)
    button = tab.bar.button(6)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Left)
    QTest.keyClick(tab.bar.button(5), Qt.Key.Key_Space)
    assert tab.page() == BRANCHES
    assert "No branch summary on this path" in {
        label.text() for label in tab.branches.findChildren(QLabel) if label.isVisible()
    }


def test_entries_that_were_left_have_the_tokens_that_they_have_everywhere(tab: AuditTab) -> None:
    made = Session()
    root = made.user(10)
    left = made.reply(10)
    summary = {"type": "branch_summary", "fromId": f"e{left}", "summary": "Left."}
    made.add({**summary, "details": {"readFiles": [], "modifiedFiles": []}}, under=root)
    weights = [3 * tokens + 1 for tokens in made.tree.columns.estimate]
    found = overview(made.tree, made.leaf, BASES["pi-0.58"], weights=weights)
    tab.show_overview(found, NumberedLines())
    rows = tab.branches.model
    shown_tokens = {str(rows.index(0, column).data()) for column in range(rows.columnCount())}
    assert f"{weights[left]:,}" in shown_tokens


def test_pages_and_rows_keep_their_place_when_words_above_change(tab: AuditTab) -> None:
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.show_page(LEDGER)
    places = set()
    for words in ("Short.", "Compaction #197: recorded by the agent 29,128 tokens before"):
        tab.figure.setText(words)
        settle()
        origin = QPoint(0, 0)
        places.add((tab.bar.mapTo(tab, origin), tab.ledger.mapTo(tab, origin)))
    assert len(places) == 1
    tab.headline.setText("More words than before, and then even more of them. " * 3)
    settle()
    assert tab.bar.mapTo(tab, QPoint(0, 0)) == places.pop()[0]


@pytest.mark.parametrize(("width", "lines"), [(452, 1), (324, 2)])
def test_the_pages_stand_in_one_line_with_their_counts(
    tab: AuditTab, width: int, lines: int
) -> None:
    """In a narrow tab in two lines of as many."""
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.resize(width, 800)
    for title in (FINDINGS, LOSSES, BRANCHES):
        tab.set_count(title, 12)
    settle()
    buttons = [tab.bar.button(at) for at in range(6)]
    tops = [button.y() for button in buttons]
    assert len(set(tops)) == lines
    assert {tops.count(top) for top in tops} == {6 // lines}
    for button in buttons:
        assert button.width() > button.fontMetrics().horizontalAdvance(button.text())


def test_a_page_with_the_keyboard_does_not_look_chosen(tab: AuditTab) -> None:
    """It has a frame; a line in the accent colour stands below the chosen one alone."""
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.show_page(FINDINGS)
    tab.bar.button(2).setFocus()
    wait_for(tab.bar.button(2).hasFocus, "the keyboard", 3_000)
    lined = []
    for at in range(6):
        button = tab.bar.button(at)
        picture, accent = button.grab().toImage(), theme().accent
        row = picture.height() - 1
        lined.append(picture.pixelColor(picture.width() // 2, row) == accent)
        frame = picture.pixelColor(0, picture.height() // 2)
        assert frame != accent, at
    assert lined == [False, True, False, False, False, False]
    plain, focused = (tab.bar.button(at).grab().toImage() for at in (3, 2))
    assert plain.pixelColor(3, 3) == focused.pixelColor(3, 3), "it is not filled"


def test_a_lost_row_is_told_by_texture_and_by_words(tab: AuditTab) -> None:
    made, old, kept, _, second = twice()
    tab.show_overview(shown(made), NumberedLines())
    model = tab.ledger.model
    row = model.index(model.row_of_entry(kept), 0)
    assert row.data(VERDICT) == 6
    assert row.data(LEAD).strip() == "lost"
    assert row.data(STRONG)
    assert f"Lost at compaction #{second}" in row.data(Qt.ItemDataRole.AccessibleTextRole)
    assert row.siblingAtColumn(model.column("Since")).data() == f"#{second}"
    told = model.index(model.row_of_entry(old), 0)
    assert told.data(VERDICT) == 0
    assert told.data(LEAD).strip() == "earlier"
    tab.ledger.show_entry(old)
    assert tab.ledger.part.lives.accessibleName().startswith("Summarized by #4, then by #")
    assert "2 entries are neither kept nor summarized" in tab.headline.text()


def test_a_hand_that_holds_still_chooses_one_row(tab: AuditTab) -> None:
    """What is told of the row takes room, and other rows come below the hand meanwhile."""
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.resize(480, 800)
    tab.show()
    settle()
    table, row = tab.ledger.table, tab.ledger.model.index(1, 0)
    here, below = table.visualRect(row).center(), table.visualRect(row.siblingAtRow(3)).center()
    QTest.mousePress(table.viewport(), Qt.MouseButton.LeftButton, pos=here)
    held = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(below), QPointF(table.viewport().mapToGlobal(below)),
        Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(table.viewport(), held)
    assert table.currentIndex().row() == 1
    assert [index.row() for index in table.selectionModel().selectedRows()] == [1]
    QTest.mouseRelease(table.viewport(), Qt.MouseButton.LeftButton, pos=below)


def test_in_a_low_window_the_head_is_one_line_and_the_rest_is_folded(tab: AuditTab) -> None:
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.show_page(LEDGER)
    tab.resize(440, 420)
    settle()
    assert not tab.rules.isVisible() and not tab.figure.isVisible()
    items = visible(tab.ledger.legend, LegendItem)
    assert tab.moment.isVisible() and "earlier" in [item.text() for item in items]
    assert all("tokens" in item.accessibleName() for item in items), "their figures are told"
    assert tab.headline.text() == f"2 entries are neither kept nor summarized: see {LOSSES}."
    QTest.mouseClick(tab.head.fold, Qt.MouseButton.LeftButton)
    assert tab.rules.isVisible() and tab.figure.isVisible()
    tab.resize(440, 800)
    settle()
    assert tab.rules.isVisible() and not tab.head.fold.isVisible()
    assert all(item.text() != "earlier" for item in visible(tab.ledger.legend, LegendItem))


def test_in_a_narrow_window_words_come_before_figures(tab: AuditTab) -> None:
    made, *_ = twice()
    tab.show_overview(shown(made), NumberedLines())
    tab.show_page(LEDGER)
    settle()
    table = tab.ledger.table
    figures = [tab.ledger.model.column(title) for title in ("Since", "Tokens")]
    assert not any(map(table.isColumnHidden, figures))
    for width, hidden in ((300, figures[:1]), (230, figures)):
        tab.resize(width, 500)
        settle()
        # What the parts of the tab need at least goes before; the table is asked itself.
        table.resize(width, table.height())
        assert [column for column in figures if table.isColumnHidden(column)] == hidden
    head = tab.head
    head.resize(310, head.height())
    settle()
    assert head.report.mapTo(head, QPoint()).y() > head.moment.geometry().bottom()
    chain = [head.moment, head.fold, head.report]
    for before, after in pairwise(chain):
        now = before.nextInFocusChain()
        while now is not None and now.focusPolicy() == Qt.FocusPolicy.NoFocus:
            now = now.nextInFocusChain()
        assert now is after


def test_in_a_low_pane_the_rule_of_a_verdict_is_a_tip(app: QApplication) -> None:
    made, *_ = twice()
    ledger = shown(made).ledger
    entry, rule = ledger.entries[0], rule_of(ledger, 0)
    line = VerdictLine()
    line.show_verdict(ledger, entry)
    whole = line.words.text()
    line.set_low(True)
    assert len(line.words.text()) < len(whole) and "See it in the ledger" in line.words.text()
    assert line.words.toolTip() == rule and rule in line.words.accessibleName()
    line.set_low(False)
    assert line.words.text() == whole and not line.words.toolTip()


def test_a_badge_of_an_entry_says_what_of_and_none_stands_where_it_is_exact(
    app: QApplication,
) -> None:
    made, *_ = twice()
    ledger = shown(made).ledger
    line = VerdictLine()

    def words(row: int) -> list[str]:
        line.show_verdict(ledger, ledger.entries[row])
        line.show_figures(made.tree, ledger.entries[row], is_measured=True)
        return [one.word.text() for one in line.findChildren(ProvenanceBadge) if one.known]

    exact = len(ledger) - 1
    assert ledger.known(exact).provenance is Provenance.EXACT
    assert words(exact) == ["tokens inferred", "time not recorded"]
    inferred = next(
        at for at in range(len(ledger)) if ledger.known(at).provenance is Provenance.INFERRED
    )
    assert words(inferred)[0] == "verdict inferred"


def test_every_verdict_has_its_words_and_texture() -> None:
    assert len(TEXTURES) == len(LedgerVerdict)
    assert set(VERDICTS) == set(MEANINGS) == set(LedgerVerdict)
    assert set(LEADS) == set(LedgerVerdict) - {LedgerVerdict.VERBATIM, LedgerVerdict.NEVER_SENT}


def test_the_size_after_a_compaction_is_the_next_replys_where_none_is_recorded(
    tab: AuditTab,
) -> None:
    made, _, _, first, second = twice()
    facts = made.tree.columns.compactions
    for at in (first, second):
        facts[at] = facts[at]._replace(tokens_before=9_000)
    made.reply(5, usage=2_345)
    found = shown(made)
    tab.show_overview(found, NumberedLines())
    assert "by the agent: 9,000 → 2,345 tokens with the next reply" in tab.figure.text()
    # What the provider counted after a later compaction says nothing of an earlier one.
    assert overview(made.tree, made.leaf, found.profile, moment=first).reported_after == 0


def test_recorded_sizes_come_before_those_that_are_counted_here(tab: AuditTab) -> None:
    made, _, _, _, second = twice()
    made.entries[second] |= {"tokensBefore": 297_190, "tokensAfter": 16_970}
    # The columns hold what was before when the entry was added.
    facts = made.tree.columns.compactions[second]
    made.tree.columns.compactions[second] = facts._replace(tokens_before=297_190)
    found = shown(made)
    assert found.recorded_after == 16_970
    tab.show_overview(found, NumberedLines())
    before, after = found.generations.sizes_around(second)
    assert tab.figure.text() == (
        f"In force: compaction #{second} · recorded by the agent: 297,190 → 16,970 tokens"
    )
    assert f"Its entries, counted here: {before} → {after} tokens." in tab.figure.toolTip()
    tab.show_overview(found, NumberedLines(), lambda entry: entry == second)
    assert tab.figure.text() == (
        f"In force: compaction #{second}, made here · recorded: 297,190 → 16,970 tokens"
    )
    assert tab.badge.word.text() == "exact"
    tab.show_overview(found, NumberedLines())
    tip = tab.figure.toolTip()
    assert f"{297_190 - before:,} tokens more than the entries counted here" in tip
    assert "its system prompt and the descriptions of its tools" in tip
    assert tip.partition("\n")[0] in tab.badge.toolTip()
    assert recorded_words(0, None) == recorded_words(0, 5) == ""
    assert recorded_words(4_321, None) == "4,321 tokens before"
    assert around_words(6_778, None) == "6,778 tokens before, its summary not recorded"


def test_that_nothing_was_compacted_is_said_once(tab: AuditTab) -> None:
    made = Session()
    made.user(10)
    tab.show_overview(shown(made), NumberedLines())
    for page in (NEEDED, LOSSES):
        tab.show_page(page)
        settle()
        lines = shown_texts(tab).splitlines()
        words = [line for line in lines if "compacted" in line or "has none" in line]
        assert words == ["Nothing was compacted here"]


def test_a_badge_says_how_a_figure_is_known(app: QApplication) -> None:
    badge = ProvenanceBadge(of="Tokens before")
    assert not badge.isVisible()
    badge.set_known(Known(Provenance.INFERRED, "Because."))
    assert badge.word.text() == "inferred"
    assert badge.accessibleName() == "Tokens before: inferred. Because."
    assert badge.toolTip() == f"{badge.accessibleName()}\n{meaning('inferred')}"
    labelled = ProvenanceBadge(of="tokens", labelled=True)
    labelled.set_known(Known(Provenance.EXACT, "So."))
    assert labelled.word.text() == "tokens exact"
    labelled.set_unless_exact(Known(Provenance.EXACT, "So."))
    assert labelled.isHidden()


def test_a_figure_in_running_words_is_calm() -> None:
    shown = {one: marked("1.2k", Known(one, "Because.")) for one in Provenance}
    assert list(shown.values()) == ["1.2k", "≈1.2k", "not recorded"]
    assert spoken("≈1.2k of ≈3k") == "about 1.2k of about 3k"
    assert reason("Cost", Known(Provenance.INFERRED, "Because.")) == "Cost: inferred. Because."


def test_a_sum_says_what_is_not_in_it() -> None:
    """The status bar's figures."""
    priced = UsageSum(input=900, output=100, cost=1.5, calls=2)
    assert label_of(priced) == ("$1.50 · 1k tokens", "$1.50")
    some = priced + UsageSum(input=500, calls=1, unpriced=1)
    assert label_of(some) == ("≈$1.50 · 1.5k tokens", "≈$1.50")
    assert label_of(some + UNCOUNTED) == ("≥$1.50 · ≥1.5k tokens", "≥$1.50")
    assert label_of(UsageSum(input=2_000, uncounted=2)) == ("≥2k tokens", "≥2k")
    assert spoken("≥1.5k") == "at least 1.5k"
    here = UsageSum(input=900, output=100, calls=2, estimated=2)
    assert label_of(here) == ("≈1k tokens", "≈1k")
    tip = tip_of(PartUsage(here), PartUsage(), PartUsage(), UsageSum())
    assert tip.startswith("As counted here:") and "Counted here for 2 of 2 calls" in tip
    assert label_of(UNCOUNTED) == ("tokens not recorded", "not recorded")
    tip = tip_of(PartUsage(some), PartUsage(), PartUsage(), UsageSum())
    assert "Cost: inferred. As recorded, without 1 of 3 calls that tell no cost." in tip
    assert "Tokens: " not in tip
    tip = tip_of(
        PartUsage(UsageSum(input=2_000, uncounted=2)), PartUsage(), PartUsage(), UsageSum()
    )
    assert "This session, all branches: ≥2,000 tokens in 2 calls" in tip
    assert "2 calls reported no tokens, or only the first count: there are more" in tip
    assert "Tokens: inferred. At least so many: 2 of 2 calls tell no tokens" in tip


@pytest.mark.parametrize(
    ("known", "provenance"),
    [
        (tokens_before_known(120, 100), Provenance.EXACT),
        (tokens_before_known(0, 100), Provenance.INFERRED),
        (tokens_before_known(0), Provenance.UNREADABLE),
        (context_known("provider"), Provenance.EXACT),
        (context_known("provider + estimate of 3 newer"), Provenance.INFERRED),
        (context_known("tokenizer"), Provenance.INFERRED),
        (context_known("nobody counted"), Provenance.UNREADABLE),
        (weight_known(True), Provenance.INFERRED),
        (usage_known(10), Provenance.EXACT),
        (usage_known(-1), Provenance.UNREADABLE),
        (usage_known(0), Provenance.UNREADABLE),
        (cost_known(2, 0), Provenance.EXACT),
        (cost_known(2, 1), Provenance.INFERRED),
        (cost_known(2, 2), Provenance.UNREADABLE),
        (cost_known(2, 2, by_price_list=True), Provenance.INFERRED),
        (tokens_known(UsageSum(input=9, calls=3)), Provenance.EXACT),
        (tokens_known(UsageSum(input=9, calls=2, uncounted=1)), Provenance.INFERRED),
        (tokens_known(UsageSum(input=9, uncounted=3)), Provenance.INFERRED),
        (tokens_known(UsageSum(uncounted=3)), Provenance.UNREADABLE),
        (sizes_known(9, made_here=False), Provenance.INFERRED),
        (sizes_known(0, made_here=True), Provenance.EXACT),
        (window_known(made_here=False), Provenance.INFERRED),
        (elapsed_known(made_here=False), Provenance.INFERRED),
        (time_known(0), Provenance.UNREADABLE),
        (time_known(1), Provenance.EXACT),
    ],
)
def test_how_each_figure_is_known(known: Known, provenance: Provenance) -> None:
    assert known.provenance is provenance
    assert known.basis.endswith(".")


def test_what_its_own_agent_pruned_is_unreadable() -> None:
    made = Session()
    made.reply()
    result = made.message(
        role="toolResult", content=[{"type": "text", "text": "[Output truncated - 900 tokens]"}],
        prunedAt=1,
    )  # fmt: skip
    assert content_known(made.tree, result).provenance is Provenance.UNREADABLE
    assert content_known(made.tree, 0).provenance is Provenance.EXACT
    assert model_known(made.tree, 0).provenance is Provenance.UNREADABLE


def test_a_path_that_is_still_looked_through_is_not_said_to_have_nothing(
    app: QApplication,
) -> None:
    page = NeededPage()
    page.show_looking()
    page.show()
    settle()
    assert "being read" in shown_texts(page) and "Nothing" not in shown_texts(page)
    page.show_needed(NeededAgain(), None)
    assert "Nothing was compacted here" in shown_texts(page)
    page.close()


def test_without_losses_a_summary_that_cannot_be_read_leaves_it_open(tab: AuditTab) -> None:
    losses = tab.losses
    losses.show_losses((), None, [7])
    labels = losses.empty.findChildren(QLabel)
    (sign,) = [one for one in labels if not one.pixmap().isNull()]
    open_sign, words = sign.pixmap().toImage(), " ".join(one.text() for one in labels)
    assert "The summary of #7 is encrypted or was not recorded" in words
    assert "may or may not be in it" in words and "No entry" not in words
    losses.show_losses((), None)
    assert "No entry was dropped without a summary" in [one.text() for one in labels]
    assert sign.pixmap().toImage() != open_sign


def test_of_a_summary_that_cannot_be_read_no_findings_are_counted() -> None:
    closed = Candidate("closed", "", fidelity=Fidelity(is_readable=False))
    read = Candidate("read", "All was done.", 4, fidelity=Fidelity())
    rows = {row.title: tuple(row.values) for row in figures_of(difference([closed, read]))}
    assert rows["Instructions missing"] == (UNKNOWN, "0")
    assert rows["Tokens of the summary"] == (UNKNOWN, "4")


def test_the_keyboard_goes_with_the_page_that_is_shown(app: QApplication) -> None:
    bar = PageBar()
    first, second = bar.add("Needed again"), bar.add("Findings")
    bar.show()
    bar.activateWindow()
    settle()
    QTest.mouseClick(first, Qt.MouseButton.LeftButton)
    first.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.mouseClick(second, Qt.MouseButton.LeftButton)
    assert second.isChecked() and second.hasFocus()
    bar.deleteLater()
