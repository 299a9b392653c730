"""Extensions are asked before a navigation and its summary, and hear of it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.extensions.answers import records_of
from explorer.services.document import Document
from explorer.services.extension_review import (
    CancelledByExtension,
    SummaryDeclined,
)
from explorer.services.navigation import NavigationPlan, plan_move
from tests.extensions.making import wait
from tests.models.server import ChatServer
from tests.services.extension_place import (
    EXPLORER,
    MODEL,
    NOBODY,
    SETTINGS,
    Place,
    order,
    state,
)


def leaving(document: Document) -> NavigationPlan:
    target = document.tree.index_of("e3")
    plan = document.navigation.plan(target)
    assert plan.leaves_branch
    return plan


@pytest.mark.parametrize("wants", [True, False])
def test_a41_before_and_after_a_navigation_whatever_is_wanted(
    place: Place, chain: Path, wants: bool
) -> None:
    """Fired once, with the way as the person chose it, and told afterwards."""
    place.handle(
        "session_before_tree",
        "ctx.log(event.target, event.old_leaf, event.common_ancestor, event.user_wants_summary,"
        " len(event.entries))",
    )
    place.handle(
        "session_tree",
        "ctx.log(event.new_leaf, event.old_leaf, bool(event.summary_entry))",
        "after",
    )
    document = place.document(chain)
    plan = document.navigation.plan(document.tree.index_of("e4"))
    made = None
    if wants:
        prepared = document.branches.preparation(plan, EXPLORER, SETTINGS)
        made = wait(document.branches.summarize(plan, prepared, order()))
    leaf = wait(document.navigation.navigate(plan, made))
    ids = document.tree.columns.ids
    assert place.log() == [f"e4 e20 e4 {wants} 16"]
    assert place.log("after") == [f"{ids[leaf]} e20 {wants}"]
    assert [r.event for r in place.records("session_tree")] == ["session_tree"]


def test_a41_the_start_of_a_session_has_no_name(place: Place, chain: Path) -> None:
    """Going before the first message, and on from that message itself."""
    place.handle("session_tree", "ctx.log(repr(event.new_leaf), repr(event.old_leaf))")
    document = place.document(chain)
    first = document.tree.roots()[0]
    wait(document.navigation.navigate(document.navigation.plan(first)))
    wait(document.navigation.navigate(plan_move(document.tree, document.leaf, first)))
    name = document.tree.columns.ids[first]
    assert place.log() == ["'' 'e20'", f"'{name}' ''"]


def test_a41_a_navigation_is_cancelled_by_name(place: Place, chain: Path) -> None:
    place.handle("session_before_tree", "event.cancel('Stay.')")
    document = place.document(chain)
    before, plan = state(document), leaving(document)
    with pytest.raises(CancelledByExtension, match="Cancelled by the extension mine: Stay"):
        wait(document.navigation.navigate(plan))
    prepared = document.branches.preparation(plan, EXPLORER, SETTINGS)
    with pytest.raises(CancelledByExtension):
        wait(document.branches.summarize(plan, prepared, order(NOBODY)))
    assert state(document) == before


SUMMARY = "return {'summary': {'summary': 'What was tried.', 'details': {'mine': 1}}}"


def test_a41_a_summary_is_used_without_a_model_when_one_is_wanted(
    place: Place, chain: Path
) -> None:
    place.handle("session_before_tree", SUMMARY)
    document = place.document(chain)
    plan = leaving(document)
    prepared = document.branches.preparation(plan, EXPLORER, SETTINGS)
    made = wait(document.branches.summarize(plan, prepared, order(NOBODY)))
    assert (made.summary, made.model) == ("What was tried.", "extension/mine")
    index = wait(document.navigation.navigate(plan, made))
    entry = document.payloads.shown.entry(index).recorded
    assert (entry["type"], entry["fromHook"]) == ("branch_summary", True)
    assert entry["details"] == {"mine": 1} and entry["fromId"] == "e20"
    assert document.tree.columns.branches[index].from_extension


def test_a41_a_summary_nobody_wants_is_not_used(place: Place, chain: Path) -> None:
    place.handle("session_before_tree", SUMMARY)
    document = place.document(chain)
    plan, size = leaving(document), len(document.tree)
    assert wait(document.navigation.navigate(plan)) == plan.new_leaf
    assert len(document.tree) == size
    (record,) = place.records("session_before_tree")
    assert (record.did, record.used) == ("result", False)


@pytest.mark.parametrize("instead", [True, False])
def test_a36_a41_instructions_take_the_place_of_the_prompt_or_follow_it(
    online: Place, server: ChatServer, chain: Path, instead: bool
) -> None:
    body = f"event.setCustomInstructions('Focus on ports'); event.setReplaceInstructions({instead})"
    online.handle("session_before_tree", body)
    document = online.document(chain)
    plan = leaving(document)
    prepared = document.branches.preparation(plan, EXPLORER, SETTINGS)
    made = wait(document.branches.summarize(plan, prepared, order(MODEL, "Theirs")))
    sent = server.requests[0]["messages"][1]["content"].rsplit("</conversation>", 1)[1]
    assert "Focus on ports" in sent and "Theirs" not in sent
    assert (sent.strip() == "Focus on ports") is instead
    assert [r.did for r in records_of(made.facts)] == ["instructions"]


def test_a41_an_extension_may_decline_the_summary(place: Place, chain: Path) -> None:
    place.handle("session_before_tree", "event.set_summarize(False)")
    document = place.document(chain)
    plan, before = leaving(document), state(document)
    prepared = document.branches.preparation(plan, EXPLORER, SETTINGS)
    with pytest.raises(SummaryDeclined, match="mine wants no summary"):
        wait(document.branches.summarize(plan, prepared, order(NOBODY)))
    assert state(document) == before
    assert wait(document.navigation.navigate(plan)) == plan.new_leaf
