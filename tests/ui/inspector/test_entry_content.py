"""What is read for an entry, and work that a pane waits for."""

from __future__ import annotations

import logging

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning
from explorer.session.entries import TextBlock, ThinkingBlock
from tests.compaction.pruned_sessions import prune, take_back, used
from tests.compaction.sessions import Session
from tests.ui.sessions import Talk, call_block
from tests.ui.waiting import wait_for
from ui.inspector.block_views import FactsView
from ui.inspector.entry_content import (
    caller_of,
    gather,
    pruned_facts,
    related_entries,
    results_after,
)
from ui.widgets.loader import Loader
from ui.widgets.message_blocks import CallBlock, FactsBlock, NamedValue


def test_what_nobody_expected_is_told_too(
    app: QApplication, caplog: pytest.LogCaptureFixture
) -> None:
    loader, told = Loader(), list[str]()
    loader.failed.connect(told.append)
    with caplog.at_level(logging.ERROR):
        loader.load(lambda: 1 / 0)
        wait_for(lambda: bool(told))
    assert told == ["ZeroDivisionError: division by zero"]
    assert "ZeroDivisionError" in caplog.text


def test_a_reply_is_shown_in_its_own_order_with_results_by_call_id() -> None:
    talk = Talk()
    talk.user("go")
    at = talk.reply(
        {"type": "thinking", "thinking": "hm"},
        "text",
        call_block("a", "read", path="x.py"),
        call_block("b", "bash", command="ls"),
    )
    second = talk.result("b", "listing", "bash")
    first = talk.result("a", "print(1)")
    talk.reply("later")
    tree = talk.document.tree
    assert sorted(results_after(tree, at)) == [second, first]
    shown = gather(talk.document.payloads.shown, at, related_entries(tree, at)).blocks
    assert [type(block) for block in shown] == [ThinkingBlock, TextBlock, CallBlock, CallBlock]
    read, bash = shown[2], shown[3]
    assert isinstance(read, CallBlock) and isinstance(bash, CallBlock)
    assert [(r.entry, r.text) for r in read.results] == [(first, "print(1)")]
    assert [(r.entry, r.text) for r in bash.results] == [(second, "listing")]
    assert read.results[0].path == "x.py"


def test_a_result_is_shown_with_the_call_that_it_answers() -> None:
    talk = Talk()
    call = talk.reply(call_block("a", "read", path="x.py"), call_block("b", "bash", command="ls"))
    talk.result("a", "text")
    result = talk.result("b", "listing", "bash", isError=True)
    tree = talk.document.tree
    assert caller_of(tree, result) == call
    gathered = gather(talk.document.payloads.shown, result, related_entries(tree, result))
    assert gathered.copy_text == "listing"
    (block,) = gathered.blocks
    assert isinstance(block, CallBlock)
    assert (block.tool, block.entry) == ("bash", call)
    assert block.results[0].is_error


def test_a_call_answered_on_two_branches_shows_both() -> None:
    talk = Talk()
    at = talk.reply(call_block("a", "bash", command="ls"))
    branch = talk.last
    talk.result("a", "one", "bash")
    talk.last = branch
    talk.result("a", "two", "bash")
    tree = talk.document.tree
    (block,) = gather(talk.document.payloads.shown, at, related_entries(tree, at)).blocks
    assert isinstance(block, CallBlock)
    assert sorted(result.text for result in block.results) == ["one", "two"]


def test_a_pruned_result_names_the_prune_and_what_took_it_back() -> None:
    session = Session()
    result, *_ = (used(session, "bash", 300), used(session, "bash", 200))
    policy = Pruning(protect_tokens=100, minimum_savings=1)
    pruned = prune(session, plan_pruning(session.tree, session.leaf, policy))
    (told,) = pruned_facts(session.tree, result)
    assert isinstance(told, FactsBlock)
    assert [fact.value for fact in told.facts][::2] == [f"#{pruned}", "300 tokens, its note 8"]
    undo = take_back(session, pruned)
    (told,) = pruned_facts(session.tree, result)
    assert isinstance(told, FactsBlock) and told.facts[-1].value == f"#{undo}"
    assert pruned_facts(session.tree, result + 2) == []


def test_a_long_value_has_all_its_lines(app: QApplication) -> None:
    words = "its agent records that it happened, and not in words what it says"
    view = FactsView(FactsBlock((NamedValue("Tokens before (recorded)", words),)))
    view.resize(300, view.heightForWidth(300))
    view.show()
    (label,) = [one for one in view.findChildren(QLabel) if one.text() == words]
    assert label.height() >= label.heightForWidth(label.width()) > label.fontMetrics().height() * 2
    assert label.alignment() & Qt.AlignmentFlag.AlignTop, "beside its name"
