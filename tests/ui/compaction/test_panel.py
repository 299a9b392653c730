"""The compaction panel: what it shows of a preview, and what it asks for."""

from __future__ import annotations

import re
from itertools import cycle

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from explorer.audit.ledger import ledger_at
from explorer.compaction.partition import Verdict
from explorer.compaction.preparation import Preparation, PreparationRefusal
from explorer.compaction.profile import (
    POLICY_SWITCHES,
    PROFILES,
    SIZES,
    SWITCHES,
    Profile,
    Settings,
)
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning
from explorer.compaction.reasons import RATIO_REASON, ratio_text
from explorer.session.edits import pruned_at
from tests.compaction.pruned_sessions import prune, used
from tests.compaction.sessions import EXPLORER, Session
from tests.ui.compaction.conftest import MODELS, set_keep
from tests.ui.compaction.previews import Previewed, Written
from tests.ui.sessions import Talk
from tests.ui.waiting import Heard, button, settle, shown_texts
from ui.audit.ledger_view import shares_of as ledger_shares
from ui.compaction.panel import CompactionPanel
from ui.compaction.setup_parts import shares_of
from ui.compaction.words import entry_links, sum_words
from ui.profiles.rule_words import GROUPS
from ui.widgets.figures import full, short
from ui.widgets.notice import Notice, NoticeStrip

Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton


def test_without_a_document_it_says_what_to_do(app: QApplication) -> None:
    panel = CompactionPanel()
    panel.show()
    settle()
    assert "Open a session" in shown_texts(panel)
    spy = Heard(panel.partition_changed)
    panel.set_document(None)
    assert spy.at(0)[0] is None


def test_every_figure_is_the_partitions_own(panel: CompactionPanel) -> None:
    """One token metric: heading, legend, ledger and outcome show the same numbers."""
    shown = panel.partition
    assert shown is not None and isinstance(shown.preparation, Preparation)
    setup = panel.setup
    assert f"{short(shown.context_estimate)} of 200k tokens" in setup.heading.text()
    assert shown.counted_by in setup.heading.text()
    assert short(shown.context_estimate) in setup.outcome.text()
    assert not setup.budget.provider.isVisible(), "nobody else has counted"
    for verdict in (Verdict.TO_SUMMARIZE, Verdict.KEPT):
        item = setup.legend.item(str(int(verdict)))
        assert full(shown.tokens[verdict]) in item.accessibleName()
    words = setup.outcome.accessibleName()
    assert full(shown.context_estimate) in words
    assert full(shown.tokens_after_estimate) in words
    first = setup.ledger.index(shown.cut, setup.ledger.column("To end"))
    assert first.data() == full(shown.tokens_kept)


def test_what_a_provider_counted_beyond_the_entries_is_not_freed(app: QApplication) -> None:
    """One token metric: entries are counted alike before and after, and the rest stays."""
    talk = Talk()
    talk.turns(40)
    usage = {"input": 150_000, "output": 10, "cacheRead": 0, "cacheWrite": 0}
    talk.message("assistant", [{"type": "text", "text": "Done."}], usage=usage, stopReason="stop")
    panel = CompactionPanel()
    panel.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 3_000))
    panel.set_document(Previewed(talk.document))
    panel.resize(460, 860)
    panel.show()
    settle()
    shown = panel.partition
    assert shown is not None and shown.tokens_before == 150_010
    counted = sum(talk.document.tree.columns.estimate)
    assert shown.context_estimate == counted
    assert f"{short(counted)} of 200k" in panel.setup.heading.text()
    told = panel.setup.budget.provider.text()
    assert panel.setup.budget.provider.isVisible()
    assert short(150_010) in told and short(150_010 - counted) in told
    beyond = panel.setup.legend.item("beyond")
    assert full(150_010 - counted) in beyond.accessibleName()
    freed = counted - shown.tokens_after_estimate
    assert full(freed) in panel.setup.outcome.accessibleName()
    # What is freed is of the entries; what lies beyond them is there before and after.
    assert full(150_010) in panel.setup.outcome.accessibleName()
    assert full(150_010 - freed) in panel.setup.outcome.accessibleName()
    assert "150,010" in panel.setup.outcome.toolTip()
    guess = shown.tokens_after_estimate - shown.tokens_kept
    assert panel.setup.outcome_part.caption.text() == (
        f"If you compact now: kept {short(shown.tokens_kept)} + summary ≈{short(guess)} + "
        f"{short(150_010 - counted)} beyond the entries"
    )
    assert f"<b>≈{short(150_010 - freed)}</b>" in panel.setup.outcome_part.figures.text()
    assert "150,010" in panel.setup.outcome_part.caption.toolTip()
    # Where the provider counts more for each token, some of what lies beyond goes with them.
    prepared = replace(
        shown.preparation, size=shown.preparation.size._replace(ratio=1.5, usage_tokens=150_010)
    )
    weighed = sum_words(replace(shown, preparation=prepared), guess)
    assert weighed.endswith(f" of the {short(150_010 - counted)} beyond the entries")
    figures = panel.setup.outcome_part.figures
    assert figures.text().startswith(short(150_010)), "a provider counted it"
    for more in ({"usage_tokens": 0, "beyond": 9}, {"trailing_tokens": 9}):
        size = prepared.size._replace(**more)
        not_counted = replace(shown, preparation=replace(prepared, size=size))
        panel.setup.outcome_part.show_partition(not_counted)
        assert figures.text().startswith("≈"), more
    # What the provider took shows that the window that is set is not the session's.
    panel.set_rules(PROFILES["explorer"], Settings(100_000, 16_384, 3_000))
    settle()
    heading = panel.setup.heading.text()
    assert "window unknown, 100k set here" in heading and "of 100k" not in heading


def test_what_a_provider_counts_for_a_token_is_one_number_with_its_reason(
    app: QApplication,
) -> None:
    talk = Talk()
    usage = {"output": 10, "cacheRead": 0, "cacheWrite": 0}
    first = [{"type": "text", "text": "Begun."}]
    talk.message("assistant", first, usage={"input": 10_000, **usage}, stopReason="stop")
    talk.turns(40)
    counted = sum(talk.document.tree.columns.estimate)
    last = {"input": 10_000 + round(1.664 * counted), **usage}
    talk.message("assistant", first, usage=last, stopReason="stop")
    panel = CompactionPanel()
    panel.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 3_000))
    panel.set_document(Previewed(talk.document))
    panel.resize(460, 860)
    panel.show()
    settle()
    shown, budget = panel.partition, panel.setup.budget
    assert shown is not None
    said = f"counts ≈{ratio_text(shown.preparation.size.ratio)} for each token here"
    tip = " ".join(budget.provider.toolTip().split())
    assert said in budget.provider.text() and said in tip and RATIO_REASON in tip
    entries, summarized = short(shown.context_estimate), short(shown.tokens_summarized)
    tip = panel.setup.request.toolTip()
    assert f"of {entries} tokens of entries the {summarized} that are to be summarized" in tip


def test_tokens_of_notes_are_not_read_as_a_number_of_results() -> None:
    session = Session()
    session.user(10)
    result = used(session, "bash", 500)
    prune(session, plan_pruning(session.tree, session.leaf, Pruning(0, minimum_savings=1)))
    note = pruned_at(session.tree, session.leaf)[result].note_tokens
    shown = {one.title: one.tokens for one in shares_of(session.partition(100))}
    assert shown["pruned to notes"] == note
    ledger = ledger_at(session.tree, session.leaf, None, EXPLORER)
    assert {one.title: one.tokens for one in ledger_shares(ledger)}["pruned to notes (1)"] == note


def test_typing_and_keys_move_the_cut_at_once(panel: CompactionPanel) -> None:
    spy = Heard(panel.partition_changed)
    chosen = Heard(panel.settings_changed)
    before = panel.partition
    set_keep(panel, 6_000)
    after = panel.partition
    assert before is not None and after is not None
    assert after.cut < before.cut
    assert chosen.at(0)[0] == Settings(200_000, 16_384, 6_000)
    QTest.keyClick(panel.setup.keep.track, Key.Key_Right)
    assert chosen.at(1)[0].keep_recent_tokens > 6_000
    assert spy.count() == 2
    settle()
    assert panel.partition is not None
    assert short(panel.partition.tokens_kept) in panel.setup.legend.item("3").text()


@pytest.mark.parametrize("name", ["keep", "window_size"])
def test_no_slider_moves_from_under_the_pointer(app: QApplication, name: str) -> None:
    """At no width and height, whatever the figures above it come to."""
    talk = Talk()
    talk.turns(300)
    usage = {"input": 100_000, "output": 10, "cacheRead": 0, "cacheWrite": 0}
    talk.message("assistant", [{"type": "text", "text": "Done."}], usage=usage, stopReason="stop")
    panel = CompactionPanel()
    panel.set_model_window(200_000)
    panel.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 20_000))
    panel.set_document(Previewed(talk.document))
    panel.resize(400, 860)
    panel.show()
    slider = getattr(panel.setup, name)
    for width, height in zip(range(380, 520, 12), cycle((700, 780, 820, 860)), strict=False):
        panel.resize(width, height)
        settle()
        places = set()
        track, middle = slider.track, slider.track.height() // 2
        QTest.mousePress(track, LEFT, pos=QPoint(track.width() // 2, middle))
        for at in range(4, track.width() - 4, 12):
            QTest.mouseMove(track, QPoint(at, middle))
            settle()
            places.add((slider.mapTo(panel, QPoint(0, 0)).y(), track.width()))
        QTest.mouseRelease(track, LEFT, pos=QPoint(at, middle))
        assert len(places) == 1, f"{width}: {places}"


def test_the_reason_of_the_cut_stays_in_sight_below_it_rows_give_room(app: QApplication) -> None:
    talk = Talk()
    talk.turns(200)
    usage = {"input": 100_000, "output": 10, "cacheRead": 0, "cacheWrite": 0}
    talk.message("assistant", [{"type": "text", "text": "Done."}], usage=usage, stopReason="stop")
    panel = CompactionPanel()
    panel.set_models(MODELS, "offline/extractive")
    panel.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 20_000))
    panel.set_document(Previewed(talk.document))
    panel.setup.show_entry(100)
    panel.resize(440, 780)
    panel.show()
    panel.set_instructions(
        "Keep every decision about the layout of the modules and why they are so"
    )
    settle(20)
    setup = panel.setup
    assert setup.note.isVisible() and setup.note.height() < 2 * setup.note.fontMetrics().height()
    assert setup.why.visibleRegion().boundingRect().size() == setup.why.size()
    assert setup.table.height() >= setup.table.height_of(2)
    panel.undone(801, 800, 801, made_here=True)
    settle(20)
    prompts = setup.following.prompts
    assert prompts.visibleRegion().boundingRect().size() == prompts.size()
    assert panel.notice.height() < 4 * panel.fontMetrics().height(), "a sentence and a button"


def test_the_window_holds_the_reserve(panel: CompactionPanel) -> None:
    box = panel.setup.window_size.box
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "10000")
    QTest.keyClick(box, Key.Key_Return)
    assert panel.setup.reserve.value() == 10_000
    # In a small window a quarter of it is held back at most.
    assert "reserve 2,500" in panel.setup.bar.accessibleDescription()
    assert "threshold 7.5k" in shown_texts(panel.setup)


def test_no_more_is_kept_than_the_window_and_the_reserve_leave(panel: CompactionPanel) -> None:
    setup = panel.setup
    QTest.keyClick(setup.keep.track, Key.Key_End)
    assert setup.keep.value() == setup.keep.box.maximum() == 200_000 - 16_384
    reserve = setup.reserve.box
    reserve.setFocus()
    reserve.selectAll()
    QTest.keyClicks(reserve, "50000")
    QTest.keyClick(reserve, Key.Key_Return)
    assert setup.keep.value() == 150_000
    assert panel.partition is not None
    assert panel.partition.preparation.settings.keep_recent_tokens == 150_000


def test_the_reason_is_said_and_its_entries_can_be_followed(panel: CompactionPanel) -> None:
    shown = panel.partition
    assert shown is not None
    assert panel.setup.why.accessibleName() == shown.preparation.reason
    spy = Heard(panel.entry_requested)
    why = panel.setup.why
    why.setFocus()
    QTest.keyClick(why, Key.Key_Tab)
    QTest.keyClick(why, Key.Key_Return)
    assert spy.count() == 1
    assert f"#{spy.at(0)[0]}" in shown.preparation.reason


def test_links_are_made_of_escaped_text() -> None:
    assert entry_links("see <b>#12") == 'see &lt;b&gt;<a href="entry:12">#12</a>'
    assert "<b>inside turn 41</b>" in entry_links("The cut falls inside turn 41, so")


def test_a_refusal_says_why_and_what_to_do(panel: CompactionPanel) -> None:
    """E4: nothing to summarize."""
    set_keep(panel, 180_000)
    shown = panel.partition
    assert shown is not None and isinstance(shown.preparation, PreparationRefusal)
    words = panel.setup.why.accessibleName()
    assert shown.preparation.reason in words
    assert "Keep recent" in words
    assert not panel.setup.summarize.isEnabled()
    assert not panel.setup.request.isEnabled()
    spy = Heard(panel.summarize_requested)
    panel.summarize()
    assert spy.count() == 0
    set_keep(panel, 3_000)
    assert panel.setup.summarize.isEnabled()


def test_a_cut_from_the_map_is_kept_until_the_settings_change(panel: CompactionPanel) -> None:
    shown = panel.partition
    assert shown is not None
    automatic, cut = shown.cut, shown.valid_cuts[3]
    panel.set_cut(cut)
    assert panel.partition is not None and panel.partition.cut == cut
    assert "automatic cut" in panel.setup.why.text()
    assert "chosen by hand" in panel.setup.why.accessibleName()
    panel.setup.why.linkActivated.emit("cut:auto")
    assert panel.partition.cut == automatic
    panel.set_cut(cut)
    set_keep(panel, 2_500)
    assert panel.partition.cut != cut


def test_a_cut_that_is_not_valid_falls_back(panel: CompactionPanel) -> None:
    shown = panel.partition
    assert shown is not None
    bad = next(at for at in range(len(shown.path)) if at not in set(shown.valid_cuts))
    panel.set_cut(bad)
    assert panel.partition is not None
    assert panel.partition.cut == shown.cut
    assert "automatic cut" not in panel.setup.why.text()


def test_another_profile_brings_its_own_sizes(panel: CompactionPanel) -> None:
    spy = Heard(panel.profile_chosen)
    box = panel.setup.profile
    box.setFocus()
    QTest.keyClick(box, Key.Key_Down)
    assert spy.at(0)[0] == "pi"
    assert panel.setup.keep.value() == PROFILES["pi"].keep_recent_tokens
    assert panel.partition is not None
    assert panel.partition.preparation.profile == PROFILES["pi"]


def test_every_rule_is_told_in_words_and_can_be_changed(panel: CompactionPanel) -> None:
    QTest.mouseClick(panel.setup.rules, Qt.MouseButton.LeftButton)
    panel.rules.rules.show_all()
    settle()
    words = shown_texts(panel.rules)
    on = ("pruning",)
    inner = {**SIZES, **POLICY_SWITCHES}
    told = [rule for key, rule in inner.items() if key.partition(".")[0] in on or "." not in key]
    for rule in (*SWITCHES.values(), *told):
        assert rule.title in words
        assert rule.explanation in words
    assert not re.search(r"\b[A-E]\d{1,2}\b", words), "ids of a checklist mean nothing to a person"
    spy = Heard(panel.profile_changed)
    choice = panel.rules.rules.row("oversized_tail").choice
    assert choice is not None
    choice.setFocus()
    QTest.keyClick(choice, Key.Key_Down)
    assert spy.at(0)[0].oversized_tail == "first-cut"
    assert "(changed)" in shown_texts(panel.rules)
    assert panel.partition is not None
    assert panel.partition.preparation.profile.oversized_tail == "first-cut"
    QTest.mouseClick(button(panel.rules, "Restore"), Qt.MouseButton.LeftButton)
    assert panel.partition.preparation.profile == PROFILES["explorer"]
    QTest.mouseClick(panel.rules.back, Qt.MouseButton.LeftButton)
    assert panel.setup.isVisible()


def test_a_policy_is_switched_on_with_its_rules(panel: CompactionPanel) -> None:
    panel.show_rules_page()
    panel.rules.rules.show_all()
    ahead = panel.rules.rules.groups["Made ahead"]
    assert ahead.switch is not None and not ahead.switch.isChecked()
    assert not ahead.rows["background.cold"].isVisible()
    spy = Heard(panel.profile_changed)
    QTest.mouseClick(ahead.switch, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert spy.at(0)[0].background is not None
    settle()
    assert ahead.rows["background.cold"].isVisible()
    field = ahead.rows["background.cold"].field
    assert field is not None and field.text() == "0.9"
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "0.95")
    QTest.keyClick(field, Key.Key_Return)
    assert spy.at(1)[0].background.cold == 0.95


def test_every_rule_of_a_profile_has_its_place() -> None:
    """A rule that stands in no group would be followed and never shown."""
    shown = {key for group in GROUPS for key in group.keys} | {g.policy for g in GROUPS if g.policy}
    fields = set(Profile.__struct_fields__) - {"name", "title"}
    inner = {key for key in (*SIZES, *POLICY_SWITCHES) if "." in key}
    assert shown == fields | inner


def test_narrow_and_low_nothing_is_clipped(panel: CompactionPanel) -> None:
    for page in ("setup", "rules"):
        panel._pages.setCurrentWidget(getattr(panel, page))
        panel.resize(320, 420)
        settle()
        assert panel.width() == 320
        for child in (panel.setup.summarize, panel.setup.outcome):
            if child.isVisible():
                corner = child.mapTo(panel, QPoint(child.width(), child.height()))
                assert corner.x() <= 320
                assert corner.y() <= 420


def test_every_control_has_a_name(panel: CompactionPanel) -> None:
    from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox, QSlider, QSpinBox

    for kind in (QAbstractButton, QAbstractItemView, QComboBox, QSlider, QSpinBox):
        for widget in panel.setup.findChildren(kind):
            if not widget.isVisibleTo(panel) or widget.parent().inherits("QComboBox"):
                continue
            if widget.metaObject().className() == "QTableCornerButton":
                continue
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            assert widget.accessibleName() or text, widget


def test_counts_change_the_figures_when_they_arrive(
    panel: CompactionPanel, document: Previewed
) -> None:
    before = panel.partition
    document.inner.count_by(1.5)
    panel.refresh()
    assert before is not None and panel.partition is not None
    assert panel.partition.tokens_before > before.tokens_before
    assert "tokenizer" in panel.setup.heading.text()


def test_preview_at_another_entry_is_named(panel: CompactionPanel) -> None:
    place = panel.setup.following.place
    panel.set_at(60)
    assert "Previewed at #60;" in place.text()
    panel.set_at(None)
    assert "At the leaf" in place.text()


def test_a_hand_made_draft_shows_up(panel: CompactionPanel) -> None:
    panel.draft_finished(Written("## Goal"))
    assert panel.draft.isVisible()


def test_a_notice_goes_with_the_page_and_is_gone_on_all_of_them(panel: CompactionPanel) -> None:
    panel.show_notice(Notice("done", "Undone.", action="&Redo"))
    for page in (panel.rules, panel.setup, panel.rules):
        panel._pages.setCurrentWidget(page)
        settle()
        (strip,) = [each for each in panel.findChildren(NoticeStrip) if each.isVisible()]
        assert strip is panel.notice and strip.notice is not None
        assert strip.accessibleName() == "done: Undone."
        above = strip.mapTo(panel, QPoint()).y() < page.mapTo(panel, QPoint()).y()
        assert above == (page is panel.rules), "below the controls, else above the page"
    panel.notice.dismiss()
    panel._pages.setCurrentWidget(panel.setup)
    settle()
    assert panel.notice.notice is None and not panel.notice.isVisible()


def test_mnemonics_do_not_clash_with_each_other_or_the_window(panel: CompactionPanel) -> None:
    """Alt with a letter that two controls share would only move the focus between them."""
    panel.notice.show_notice(Notice("error", "x", details="y", action="&Undo"))
    panel.draft_finished(Written("## Goal"))
    for page in (panel.setup, panel.rules, panel.draft):
        panel._pages.setCurrentWidget(page)
        settle()
        labels = [w.text() for w in panel.findChildren(QAbstractButton) if w.isVisible()]
        labels += [w.text() for w in panel.findChildren(QLabel) if w.isVisible() and w.buddy()]
        letters = [found[1].lower() for text in labels for found in re.findall(r"(&)(\w)", text)]
        # Menus and the inspector's tabs take these.
        taken = [*letters, *"gvhipexc"]
        assert len(taken) == len(set(taken)), sorted(labels)


def test_what_becomes_of_instructions_without_a_language_model_is_said_beside_them(
    panel: CompactionPanel,
) -> None:
    def says() -> bool:
        return "picks lines with these words" in shown_texts(panel)

    setup = panel.setup
    assert not says()
    QTest.keyClicks(setup.instructions, "Keep the port numbers")
    settle()
    assert says()
    panel.set_models(MODELS, "provider/large")
    settle()
    assert not says()
    panel.set_models(MODELS, "offline/extractive")
    setup.instructions.clear()
    settle()
    assert not says()
