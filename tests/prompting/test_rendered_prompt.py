"""Prompts rendered to a budget: what is dropped first, what never is (A44, A45)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.prompting.elements import (
    CachePoint,
    Chunk,
    Element,
    ElementGroup,
    MessageElement,
    PrioritizedList,
    Sized,
    Sizing,
    TextChunk,
    TextElement,
    TokenLimit,
)
from explorer.prompting.rendered_prompt import BudgetExceededError, RenderedPrompt, render
from explorer.prompting.turns import ToolUse


def count(text: str) -> int:
    """One token per character: sizes can be read off."""
    return len(text)


def user(text: str, **ranks: int) -> MessageElement:
    return MessageElement("user", [TextElement(text)], **ranks)  # type: ignore[arg-type]


def texts(rendering: RenderedPrompt) -> list[str]:
    return [message.text for message in rendering.messages]


def tree(*children: Element, priority: int | None = None) -> ElementGroup:
    return ElementGroup(children, priority=priority)


def order_of_loss(*elements: Element) -> list[str]:
    """What goes, in order, until nothing more may."""
    budget = 10_000
    while True:
        try:
            budget = render(elements, budget, count).tokens - 1
        except BudgetExceededError as error:
            return [gone.title for gone in error.dropped]


def test_a44_the_lowest_priority_goes_first() -> None:
    prompt = [user("system"), user("old", priority=1), user("new", priority=2)]
    assert texts(render(prompt, 12, count)) == ["system", "old", "new"]
    found = render(prompt, 11, count)
    assert texts(found) == ["system", "new"]
    (gone,) = found.dropped
    assert (gone.priority, gone.tokens, gone.why) == (None, 3, "priority")
    assert "priority 1" in gone.reason
    assert "11 tokens" in gone.reason


def test_a44_ties_go_in_the_order_of_declaration() -> None:
    named = [TextElement(name * 4, name=name) for name in "abc"]
    prompt = [MessageElement("user", [text], priority=5) for text in named]
    assert order_of_loss(*prompt) == ["a", "b"]


def test_a44_priorities_count_among_siblings_only() -> None:
    """The example of the renderer that this follows: A1, A2, B1, then B2."""
    prompt = [
        tree(
            MessageElement("user", [TextElement("xx", name="A1")], priority=50),
            MessageElement("user", [TextElement("xx", name="A2")], priority=200),
            priority=1,
        ),
        tree(
            MessageElement("user", [TextElement("xx", name="B1")], priority=0),
            MessageElement("user", [TextElement("xx", name="B2")], priority=100),
            priority=2,
        ),
    ]
    assert order_of_loss(*prompt) == ["A1", "A2", "B1"]


def test_a44_between_equals_the_one_with_the_lowest_child_goes() -> None:
    def pair(name: str, low: int, high: int) -> Element:
        return tree(
            MessageElement("user", [TextElement("xx", name=f"{name}1")], priority=low),
            MessageElement("user", [TextElement("xx", name=f"{name}2")], priority=high),
            priority=7,
        )

    assert order_of_loss(pair("A", 50, 200), pair("B", 0, 100)) == ["B1", "A1", "B2"]


def test_a_priority_that_is_passed_on_ranks_the_children_outside() -> None:
    inside = PrioritizedList([user("one"), user("two")], priority=11, pass_priority=True)
    prompt = [inside, user("three", priority=10)]
    assert texts(render(prompt, 8, count)) == ["two", "three"]
    assert texts(render(prompt, 5, count)) == ["three"]
    held = PrioritizedList([user("one"), user("two")], priority=9)
    assert texts(render([held, user("three", priority=10)], 8, count)) == ["two", "three"]


@pytest.mark.parametrize(("descending", "left"), [(False, "c"), (True, "a")])
def test_a44_a_list_ranks_its_children_by_their_place(descending: bool, left: str) -> None:
    rows = PrioritizedList([user(t) for t in "abc"], priority=9, descending=descending)
    assert texts(render([rows], 1, count)) == [left]


def test_a44_a_limit_caps_a_part_before_anything_else_is_dropped() -> None:
    limited = TokenLimit(4, [user("aaa", priority=1), user("bbb", priority=2)], name="part")
    found = render([user("system"), limited], 1000, count)
    assert texts(found) == ["system", "bbb"]
    assert [gone.why for gone in found.dropped] == ["limit"]
    assert "part holds 4" in found.dropped[0].reason


def test_a44_an_element_sees_its_budget_and_counts() -> None:
    seen: list[int] = []

    def show(sizing: Sizing) -> list[Element]:
        seen.append(sizing.budget)
        return [user("y" * sizing.count("four"))]

    found = render([user("x" * 30), Sized(show, flex_grow=1)], 100, count)
    assert seen == [70]
    assert texts(found)[1] == "yyyy"


def test_a44_flex_grow_decides_who_is_asked_first() -> None:
    """Without one first, then the highest number; the lower one gets what is left."""
    seen: dict[str, int] = {}

    def part(name: str, takes: int, grow: int | None, reserve: int = 0) -> Element:
        def show(sizing: Sizing) -> list[Element]:
            seen[name] = sizing.budget
            return [user("x" * takes)]

        return Sized(show, flex_grow=grow, flex_reserve=reserve)

    rows = [part("history", 10, 1, reserve=5), part("current", 20, 2), part("fixed", 30, None)]
    render(rows, 100, count)
    assert seen == {"fixed": 95, "current": 65, "history": 50}


def test_flex_basis_shares_a_group() -> None:
    seen: list[int] = []

    def show(sizing: Sizing) -> list[Element]:
        seen.append(sizing.budget)
        return []

    render([Sized(show), Sized(show, flex_basis=2)], 90, count)
    assert seen == [30, 60]


def test_a44_a_text_chunk_keeps_what_fits() -> None:
    chunk = TextChunk("one two\nthree four\nfive")
    found = render([MessageElement("user", [chunk])], 20, count)
    assert texts(found) == ["one two\nthree four"]


def test_a_chunk_is_kept_or_dropped_as_one() -> None:
    pair = Chunk([user("aa"), user("bb")], priority=1, name="pair")
    found = render([pair, user("cc", priority=2)], 5, count)
    assert texts(found) == ["cc"]
    assert [gone.title for gone in found.dropped] == ["pair"]


def call_and_result(number: int, priority: int) -> list[Element]:
    call = ToolUse(f"c{number}", "read")
    return [
        MessageElement(
            "assistant", [TextElement("say")], [call], [3], priority=priority, source=number
        ),
        MessageElement(
            "tool", [TextElement("result!", source=number + 50)], call_id=call.id, keep=call.id,
            priority=priority + 1,
        ),
    ]  # fmt: skip


def test_a_call_and_its_result_are_never_torn() -> None:
    prompt = [*call_and_result(1, 1), *call_and_result(2, 10), user("now", priority=99)]
    for budget in range(3, 40):
        found = render(prompt, budget, count)
        called = {call.id for message in found.messages for call in message.calls}
        answered = {message.call_id for message in found.messages if message.role == "tool"}
        assert called == answered
    kept = render(prompt, 17, count)
    assert [gone.why for gone in kept.dropped] == ["priority", "priority", "kept-together"]


def test_a45_what_may_not_go_is_told_when_it_does_not_fit() -> None:
    prompt = [user("system"), user("old", priority=1), user("question", priority=900)]
    assert texts(render(prompt, 14, count)) == ["system", "question"]
    with pytest.raises(BudgetExceededError) as caught:
        render(prompt, 13, count)
    assert (caught.value.needed, caught.value.budget) == (14, 13)
    assert [gone.tokens for gone in caught.value.dropped] == [3]
    assert "14" in str(caught.value)


def test_nothing_before_a_cache_point_is_dropped() -> None:
    """What a cache holds stays as it was sent: the prompt overflows instead."""
    prompt = [user("a", priority=1), CachePoint(), user("b", priority=2), user("c", priority=3)]
    assert texts(render(prompt, 2, count)) == ["a", "c"]
    with pytest.raises(BudgetExceededError):
        render(prompt, 1, count)


def test_messages_bear_their_sources_and_every_part_its_budget() -> None:
    message = MessageElement(
        "user", [TextElement("one", source=3), TextElement("two", source=4)], source=3
    )
    found = render([message], 100, count)
    assert found.messages[0].sources == (3, 4)
    assert found.messages[0].text == "one\ntwo"
    assert found.messages[0].tokens == 7
    assert found.root.budget == 100
    assert [node.budget for node in found.root.children] == [100]


# any tree at all ---------------------------------------------------------------------------------

ranks = st.none() | st.integers(-5, 5)
# (kind, priority, numbers, children): what ``built`` makes elements of.
leaf = st.tuples(
    st.sampled_from(["message", "pair"]),
    ranks,
    st.lists(st.integers(0, 30), min_size=2, max_size=3),
    st.just(()),
)
specs = st.recursive(
    leaf,
    lambda inner: st.tuples(
        st.sampled_from(["group", "list", "descending", "chunk", "limit", "passed"]),
        ranks,
        st.lists(st.integers(0, 60), min_size=1, max_size=1),
        st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def built(spec: Any, names: Iterator[int]) -> Element:
    kind, rank, numbers, children = spec
    if kind == "message":
        texts = [TextElement("x" * n, priority=n % 4 or None, source=next(names)) for n in numbers]
        return MessageElement("user", texts, priority=rank, overhead=numbers[0] % 3)
    if kind == "pair":
        call = ToolUse(f"call-{next(names)}", "read")
        said, given = (TextElement("x" * n) for n in numbers[:2])
        result = MessageElement("tool", [given], call_id=call.id, keep=call.id)
        return ElementGroup(
            [MessageElement("assistant", [said], [call], [4]), result], priority=rank
        )
    rows = [built(child, names) for child in children]
    if kind in ("list", "descending"):
        return PrioritizedList(rows, kind == "descending", priority=rank)
    if kind == "chunk":
        return Chunk(rows, priority=rank)
    if kind == "limit":
        return TokenLimit(numbers[0], rows, priority=rank)
    return ElementGroup(rows, priority=rank, pass_priority=kind == "passed")


def prompt_of(tree_specs: list[Any]) -> list[Element]:
    names = itertools.count()
    return [built(spec, names) for spec in tree_specs]


@settings(max_examples=150, deadline=None)
@given(st.lists(specs, max_size=3), st.integers(0, 150))
def test_a44_never_over_budget_and_nothing_lost_without_a_word(
    tree_specs: list[Any], budget: int
) -> None:
    try:
        found = render(prompt_of(tree_specs), budget, count)
    except BudgetExceededError as error:
        assert error.needed > error.budget == budget
        return
    assert found.tokens <= budget
    left = {node.source for node in found.root.walk() if node.alive} - {-1}
    assert {source for m in found.messages for source in m.sources} == left
    sizes = sum(len(m.text) + sum(4 for _ in m.calls) for m in found.messages)
    assert sizes <= found.tokens
    assert found.tokens == found.root.tokens == _alive(found)
    lost = {id(node) for gone in found.dropped for node in gone.node.walk()}
    assert lost >= {id(n) for n in found.root.walk() if n.kind == "text" and not n.alive}
    called = {call.id for m in found.messages for call in m.calls}
    answered = {m.call_id for m in found.messages if m.role == "tool"}
    assert called == answered


def _alive(found: RenderedPrompt) -> int:
    return sum(
        node.own_tokens
        for node in found.root.walk()
        if node.alive and node.kind in ("text", "image", "message")
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(specs, min_size=1, max_size=3), st.integers(0, 150))
def test_a45_what_has_no_priority_and_the_highest_of_the_rest_survive(
    tree_specs: list[Any], budget: int
) -> None:
    highest = user("the question", priority=1000)
    try:
        lower = tree(*prompt_of(tree_specs), priority=7)
        found = render([user("the rules"), lower, highest], budget, count)
    except BudgetExceededError:
        return
    assert found.messages[0].text == "the rules"
    assert found.messages[-1].text == "the question"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(-3, 3)), min_size=1, max_size=12),
       st.integers(0, 120))  # fmt: skip
def test_a44_flat_prompts_lose_the_lowest_in_order(
    rows: list[tuple[int, int]], budget: int
) -> None:
    """Against the plain definition: sort by priority, then by place, and drop until it fits."""
    prompt = [
        MessageElement("user", [TextElement("x" * size, source=at)], priority=rank)
        for at, (size, rank) in enumerate(rows)
    ]
    prompt.append(MessageElement("user", [TextElement("!")], priority=99))
    expected: list[int] = []
    left = sum(size for size, _ in rows) + 1
    for at, (size, _) in sorted(enumerate(rows), key=lambda row: (row[1][1], row[0])):
        if left <= budget:
            break
        expected.append(at)
        left -= size
    try:
        dropped = render(prompt, budget, count).dropped
    except BudgetExceededError as error:
        dropped = error.dropped
    assert [source for gone in dropped for source in gone.sources] == expected
