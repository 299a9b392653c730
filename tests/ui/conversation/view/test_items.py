"""Which entries are items, and the heights of very many of them."""

from __future__ import annotations

from random import Random

import pytest

from tests.ui.conversation.view.talks import Opened, Talk, call, long
from ui.conversation.view.calls import CallAnswer, CallStates, call_parts
from ui.conversation.view.items import CHUNK, Heights, PathItems
from ui.conversation.view.parts import Row
from ui.widgets.message_blocks import CallBlock, ResultBlock


def test_results_belong_to_the_reply_above_them() -> None:
    talk = Talk()
    talk.user("go")
    talk.reply(call("a", "read", path="x"), call("b", "ls"))
    talk.result("a", "read", "one")
    talk.add("label", targetId="e0000000", label="here")
    talk.result("b", "ls", "two")
    talk.user("on")
    opened = Opened(talk)
    items = PathItems()
    items.show(opened.tree, opened.leaf)
    assert items.heads == [0, 1, 5]
    assert items.results(1) == [2, 4]
    assert items.results(2) == []
    assert [items.item_of(at) for at in range(6)] == [0, 1, 1, 1, 1, 2]
    assert items.snapshot()[1] == (1, [2, 4])


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("", "no output"),
        ("<persisted-output>\nOutput too large", "<persisted-output>"),
        ("one\ntwo", "2 lines"),
    ],
)
def test_only_a_result_without_a_text_is_no_output(text: str, tail: str) -> None:
    block = CallBlock("read", "read a.py", {"path": "a.py"}, "c")
    answer = CallAnswer(1, "c", 0, ResultBlock("read", text, 1))
    row = call_parts("k", block, answer, CallStates(), lambda key: False)[0]
    assert isinstance(row, Row) and row.tail == tail


def test_a_result_without_its_reply_and_a_hidden_note() -> None:
    talk = Talk()
    talk.user("go")
    talk.result("a", "read", "from nowhere")
    talk.add("custom_message", customType="x", content="shh", display=False)
    talk.add("custom_message", customType="x", content="heard", display=True)
    opened = Opened(talk)
    items = PathItems()
    items.show(opened.tree, opened.leaf)
    assert items.heads == [0, 1, 3]


def test_results_that_come_one_by_one_belong_to_their_reply() -> None:
    talk, items = Talk(), PathItems()
    talk.result("z", "read", "from nowhere")
    talk.result("z", "read", "from nowhere either")
    talk.reply(call("a", "ls"), call("b", "ls"), call("c", "ls"))
    for name in "abc":
        talk.result(name, "ls", name)
    opened = Opened(talk)
    for leaf in range(6):
        items.show(opened.tree, leaf)
    assert items.heads == [0, 1, 2]
    assert items.results(2) == [3, 4, 5]


def test_a_growing_path_is_the_same_as_one_shown_at_once() -> None:
    talk, whole = long(200), PathItems()
    opened = Opened(talk)
    whole.show(opened.tree, opened.leaf)
    grown = PathItems()
    for leaf in range(0, opened.leaf + 1, 3):
        before = len(grown)
        assert grown.show(opened.tree, leaf) == before
    grown.show(opened.tree, opened.leaf)
    assert grown.heads == whole.heads
    assert grown.show(opened.tree, opened.leaf) == len(whole)
    assert grown.show(opened.tree, 20) < len(whole)


def test_heights_are_found_by_position_wherever_they_are_corrected() -> None:
    chance, heights = Random(4), Heights()
    plain = [float(chance.randint(1, 40)) for _ in range(CHUNK * 3 + 7)]
    heights.extend(plain)
    for _ in range(200):
        at = chance.randrange(len(plain))
        plain[at] = float(chance.randint(0, 90))
        heights.set(at, plain[at])
    assert heights.total == sum(plain)
    for at in (0, 1, CHUNK - 1, CHUNK, CHUNK * 2 + 3, len(plain) - 1, len(plain)):
        assert heights.top(at) == sum(plain[:at])
    for y in (-5.0, 0.0, 17.0, sum(plain) / 2, sum(plain) - 1, sum(plain) + 50):
        at = heights.at(y)
        assert 0 <= at < len(plain)
        if 0 <= y < sum(plain):
            assert heights.top(at) <= y < heights.top(at) + plain[at]
    heights.truncate(CHUNK + 1)
    heights.extend([3.0])
    assert heights.total == sum(plain[: CHUNK + 1]) + 3
