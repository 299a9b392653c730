"""Where a navigation leads, before anything happens (A31, A37, B16)."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.formats.pi.entries import read_entry
from explorer.models.request import ImagePart
from explorer.services.navigation import NavigationPlan, plan_move, plan_navigation
from explorer.session.describe import describe
from explorer.session.tree import SessionTree


def entry(name: str, parent: str | None, kind: str = "user", **fields: Any) -> dict[str, Any]:
    if kind in ("user", "assistant"):
        message = {"role": kind, "content": [{"type": "text", "text": f"text of {name}"}]}
        return {"type": "message", "id": name, "parentId": parent, "message": message}
    return {"type": kind, "id": name, "parentId": parent, **fields}


def tree_of(*entries: dict[str, Any]) -> SessionTree:
    tree = SessionTree()
    for item in entries:
        parent = tree.index_of(item["parentId"]) if item["parentId"] else -1
        tree.append(item["id"], parent, describe(read_entry(item)), 1)
    return tree


FORKED = (
    entry("u1", None),
    entry("a1", "u1", "assistant"),
    entry("u2", "a1"),
    entry("a2", "u2", "assistant"),
    entry("u3", "a1"),
    entry("a3", "u3", "assistant"),
)


def plan(target: str, leaf: str = "a2", entries: tuple[dict[str, Any], ...] = FORKED) -> Any:
    tree = tree_of(*entries)
    payload = next(item for item in entries if item["id"] == target)
    return plan_navigation(tree, tree.index_of(leaf), tree.index_of(target), read_entry(payload))


@pytest.mark.parametrize(
    ("made", "is_noop", "writes"),
    [
        (NavigationPlan(3, 3, 3, "", [], 3), True, False),
        (NavigationPlan(3, 3, 3, "said", [], 3), False, True),
        (NavigationPlan(3, 3, 3, "", [], 3, (ImagePart("image/png", "AA"),)), False, True),
        (NavigationPlan(3, 3, 3, "", [], 4), False, False),
        (NavigationPlan(3, 2, 2, "", [3], 3), False, False),
    ],
)
def test_a_plan_that_changes_nothing_is_none(
    made: NavigationPlan, is_noop: bool, writes: bool
) -> None:
    assert (made.is_noop, made.writes_anew) == (is_noop, writes)
    assert made.leaves_branch is bool(made.left_behind)


def test_a_move_writes_nothing_anew() -> None:
    tree = tree_of(*FORKED)
    assert plan_move(tree, 5, 2) == NavigationPlan(5, 2, 2, "", [4, 5], 5)
    assert plan_move(tree, -1, 2) == NavigationPlan(-1, 2, 2, "", [], -1)
    assert plan_move(tree, 3, -1).left_behind == [0, 1, 2, 3]


def test_b16_a_reply_becomes_the_leaf_itself() -> None:
    found = plan("a3")
    assert (found.new_leaf, found.composer_text) == (5, "")
    assert found.left_behind == [2, 3]
    assert found.leaves_branch


def test_b16_a_user_message_goes_to_the_composer_and_its_parent_is_the_leaf() -> None:
    found = plan("u2")
    assert (found.new_leaf, found.composer_text) == (1, "text of u2")
    assert found.left_behind == [2, 3]


def test_what_a_program_put_in_becomes_the_leaf_itself() -> None:
    """Nobody typed it, so nobody writes it anew."""
    put_in = entry("s1", "a1")
    put_in["message"]["synthetic"] = True
    found = plan("s1", entries=(*FORKED, put_in))
    assert (found.new_leaf, found.composer_text) == (6, "")


def test_b16_the_first_message_leads_before_everything() -> None:
    found = plan("u1")
    assert (found.new_leaf, found.composer_text) == (-1, "text of u1")
    assert found.left_behind == [0, 1, 2, 3]


def test_b16_the_same_leaf_is_no_navigation() -> None:
    assert plan("a2").is_noop
    assert plan("u2", leaf="u2").is_noop


def test_b16_going_on_down_the_same_path_leaves_nothing_behind() -> None:
    found = plan("a2", leaf="a1")
    assert not found.is_noop
    assert not found.leaves_branch


def test_a31_metadata_alone_is_nothing_to_summarize() -> None:
    entries = (*FORKED[:2], entry("l1", "a1", "label", targetId="u1", label="x"))
    found = plan("a1", leaf="l1", entries=entries)
    assert not found.leaves_branch
    assert found.new_leaf == 1
