"""What the model sees at an entry, against the plain way over whole entries (A5, B2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.session.context import (
    context_at,
    is_unsent_reply,
    latest_on_path,
    unsent_replies,
)
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from tests.compaction.sessions import Session
from tests.session.trees import grow, naive_path, parent_lists

Json = dict[str, Any]
NO_MESSAGES = ("custom", "label", "session_info", "model_change", "thinking_level_change")


def message(role: str, **fields: Any) -> Json:
    return {"type": "message", "message": {"role": role, "content": "x"} | fields}


def compaction(first_kept: str) -> Json:
    return {"type": "compaction", "summary": "s", "firstKeptEntryId": first_kept}


ENTRIES = st.one_of(
    st.sampled_from(["user", "toolResult", "bashExecution", "hookMessage", "odd"]).map(message),
    st.builds(lambda name: message("assistant", provider="p", model=name), st.sampled_from("ab")),
    st.integers(-1, 40).map(lambda at: compaction(f"e{at}" if at >= 0 else "")),
    st.sampled_from(["", "told"]).map(
        lambda text: {"type": "branch_summary", "summary": text, "fromId": "e0"}
    ),
    st.just({"type": "custom_message", "content": "c", "display": False}),
    st.just({"type": "reset_boundary"}),
    st.sampled_from(["high", "low"]).map(
        lambda level: {"type": "thinking_level_change", "thinkingLevel": level}
    ),
    st.just({"type": "model_change", "provider": "p", "modelId": "c"}),
    st.just({"type": "label", "targetId": "e0", "label": "l"}),
    st.just({"type": "of the future"}),
)


@dataclass
class Plain:
    """The context of a list of entries, by the words of the checklist."""

    sources: list[int]
    compaction: int
    thinking: str
    model: str


def plain_context(entries: list[Json], path: list[int]) -> Plain:
    thinking, model, at, reset = "off", "", -1, -1
    for place, index in enumerate(path):
        entry = entries[index]
        if entry["type"] == "thinking_level_change":
            thinking = entry["thinkingLevel"]
        elif entry["type"] == "model_change":
            model = f"{entry['provider']}/{entry['modelId']}"
        elif entry["type"] == "message" and "model" in entry["message"]:
            model = f"{entry['message']['provider']}/{entry['message']['model']}"
        elif entry["type"] == "compaction":
            at = place
        elif entry["type"] == "reset_boundary":
            reset = place

    def sent(index: int) -> bool:
        entry = entries[index]
        if entry["type"] == "branch_summary":
            return bool(entry["summary"])
        return entry["type"] in ("message", "custom_message")

    if at < reset:
        return Plain([one for one in path[reset + 1 :] if sent(one)], -1, thinking, model)
    if at < 0:
        return Plain([one for one in path if sent(one)], -1, thinking, model)
    sources = [path[at]]
    found = False
    for place, index in enumerate(path[:at]):
        found = found or f"e{index}" == entries[path[at]]["firstKeptEntryId"]
        if found and place > reset and sent(index):
            sources.append(index)
    sources += [one for one in path[at + 1 :] if sent(one)]
    return Plain(sources, path[at], thinking, model)


@given(parent_lists(), st.data())
def test_a5_b2_the_context_is_the_plain_one(parents: list[int], data: st.DataObject) -> None:
    size = len(parents)
    entries = data.draw(st.lists(ENTRIES, min_size=size, max_size=size))
    tree = SessionTree()
    for entry, parent in zip(entries, parents, strict=True):
        grow(tree, entry, parent)
    for leaf in range(size):
        path = naive_path(parents, leaf)
        expected, found = plain_context(entries, path), context_at(tree, leaf)
        assert found.messages == expected.sources
        assert found.compaction == expected.compaction
        assert found.thinking_level == expected.thinking
        assert found.model == expected.model
        assert found.leaf == leaf and found.path.indices() == path
        if found.kept_from >= 0:
            kept = tree.columns.compactions[found.compaction].first_kept_id
            assert tree.columns.ids[path[found.kept_from]] == kept


def _chain(*entries: Json) -> SessionTree:
    tree = SessionTree()
    for index, entry in enumerate(entries):
        grow(tree, entry, index - 1)
    return tree


def test_a5_a_compaction_comes_first_then_what_it_kept_then_what_followed() -> None:
    tree = _chain(
        message("user"),
        message("assistant"),
        message("user"),
        compaction("e2"),
        message("assistant"),
    )
    context = context_at(tree, 4)
    assert context.messages == [3, 2, 4]
    assert (context.compaction, context.kept_from) == (3, 2)
    assert context_at(tree, 2).messages == [0, 1, 2]


def test_b2_only_the_latest_compaction_speaks() -> None:
    tree = _chain(
        message("user"), compaction("e0"), message("user"), compaction("e0"), message("user")
    )
    assert context_at(tree, 4).messages == [3, 0, 2, 4]


@pytest.mark.parametrize("kept", ["", "gone", "e2", "e3", "e4"])
def test_b2_a_kept_id_that_is_not_before_the_compaction_keeps_nothing(kept: str) -> None:
    tree = _chain(message("user"), message("assistant"))
    grow(tree, message("user"), 0)
    grow(tree, compaction(kept), 1)
    grow(tree, message("user"), 3)
    context = context_at(tree, 4)
    assert context.messages == [3, 4]
    assert context.kept_from == -1


def test_b2_no_leaf_is_an_empty_context() -> None:
    context = context_at(_chain(message("user")), -1)
    assert context.messages == [] and len(context.path) == 0
    assert (context.thinking_level, context.model, context.compaction) == ("off", "", -1)


def test_b2_an_empty_branch_summary_is_skipped() -> None:
    summary = {"type": "branch_summary", "fromId": "e0"}
    tree = _chain(message("user"), summary | {"summary": ""}, summary | {"summary": "told"})
    assert context_at(tree, 2).messages == [0, 2]


def test_b2_model_and_thinking_level_come_from_the_whole_path() -> None:
    tree = _chain(
        {"type": "model_change", "model": "anthropic/claude"},
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        message("user"),
        compaction("e2"),
    )
    context = context_at(tree, 3)
    assert (context.model, context.thinking_level) == ("anthropic/claude", "high")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (("reset", "compaction"), [2, 1, 3]),
        (("compaction", "reset"), [3]),
    ],
)
def test_of_a_reset_and_a_compaction_the_later_wins(
    order: tuple[str, str], expected: list[int]
) -> None:
    made = {"reset": {"type": "reset_boundary"}, "compaction": compaction("e0")}
    if order[0] == "reset":
        tree = _chain(made["reset"], message("user"), compaction("e1"), message("user"))
    else:
        tree = _chain(message("user"), made["compaction"], made["reset"], message("user"))
    assert context_at(tree, 3).messages == expected


def test_what_a_compaction_keeps_does_not_reach_behind_a_reset() -> None:
    tree = _chain(message("user"), {"type": "reset_boundary"}, message("user"), compaction("e0"))
    assert context_at(tree, 3).messages == [3, 2]


@given(parent_lists(), st.data())
def test_the_latest_of_a_kind_on_a_path(parents: list[int], data: st.DataObject) -> None:
    size = len(parents)
    entries = data.draw(st.lists(ENTRIES, min_size=size, max_size=size))
    tree = SessionTree()
    for entry, parent in zip(entries, parents, strict=True):
        grow(tree, entry, parent)
    for leaf in range(-1, size):
        path = naive_path(parents, leaf)
        places = [at for at, one in enumerate(path) if entries[one]["type"] == "compaction"]
        found = latest_on_path(tree, tree.path(leaf), Kind.COMPACTION)
        assert found == (places[-1] if places else -1)


@pytest.mark.parametrize(
    ("fields", "unsent"),
    [
        ({"text": "said"}, False),
        ({"text": ""}, True),
        ({"text": "", "calls": [("read", "a")]}, False),
        ({"text": "said", "stop": "error"}, True),
        ({"text": "said", "stop": "aborted"}, True),
        ({"text": "said", "stop": "length"}, False),
    ],
)
def test_a6_a_reply_that_failed_or_says_nothing_is_sent_no_more(
    fields: dict[str, Any], unsent: bool
) -> None:
    session = Session()
    session.user()
    reply = session.reply(**fields)
    session.user(text="")
    columns = session.tree.columns
    assert is_unsent_reply(columns, reply) is unsent
    assert unsent_replies(columns, range(3)) == [reply] * unsent
    assert unsent_replies(columns, range(reply)) == []
