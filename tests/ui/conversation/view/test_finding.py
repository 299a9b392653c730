"""What is found, in which order, and what of a part can be found at all."""

from __future__ import annotations

import pytest

from tests.ui.conversation.view.talks import Opened, Talk, call, thinking
from ui.conversation.view.find import Hits, Search, SearchProgress, TextHit, shown_words
from ui.conversation.view.items import PathItems
from ui.conversation.view.parts import Prose


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("It is **very** `fast`.", "It is very fast."),
        ("a [link](https://x.org/y) and ![picture](file:///z)", "a link and picture"),
        ("## Heading\n\n- [x] point\n2. next", "Heading\n\npoint\nnext"),
        ("snake_case and 2 * 3 * 4 stay", "snake_case and 2 * 3 * 4 stay"),
        ("~~gone~~ *soon*", "gone soon"),
        ("a | b\n--- | :--:\n1 | 2", "a | b\n\n1 | 2"),
        # A pattern that tries every way to share the dashes out would not end.
        (f"{'-' * 200}x", f"{'-' * 200}x"),
    ],
)
def test_marks_that_are_not_shown_are_not_found(text: str, read: str) -> None:
    assert shown_words(Prose(key="t", text=text)) == read


def search(talk: Talk, query: str) -> tuple[list[TextHit], list[SearchProgress]]:
    opened, items = Opened(talk), PathItems()
    items.show(opened.tree, opened.leaf)
    told: list[SearchProgress] = []
    found = Search(opened, items.snapshot(), query, told.append).run()
    assert found.looked_at == found.of == len(items)
    return [found.hits[at] for at in range(len(found.hits))], told


def test_hits_are_in_the_order_of_reading_whatever_is_folded() -> None:
    talk = Talk()
    talk.user("One needle, two Needles.")
    talk.reply(thinking("a needle"), "no hay", call("a", "bash", command="find needle"))
    talk.result("a", "bash", "x\nneedle\n")
    talk.reply("```\nneedle\n```")
    hits, _ = search(talk, "needle")
    assert [(hit.entry, hit.key.partition(".")[0], hit.number) for hit in hits] == [
        (0, "t0", 0), (0, "t0", 1), (1, "k0", 0), (1, "c2", 0), (1, "c2", 0),
        (1, "c2", 0), (3, "t0", 0),
    ]  # fmt: skip
    assert search(talk, "größer")[0] == []


def test_going_from_hit_to_hit_while_more_come() -> None:
    hits = Hits()
    assert hits.beside(None, 1) is None
    late = [TextHit(5, "t", 0), TextHit(5, "t", 1)]
    hits.add(late)
    assert hits.beside(None, 1) == late[0]
    assert hits.beside(None, -1) == late[1]
    early = TextHit(2, "t", 0)
    hits.add([early])
    assert [hits[at] for at in range(3)] == [early, *late]
    assert hits.number(late[0]) == 1
    assert hits.beside(late[0], -1) == early
    assert hits.beside(late[1], 1) == early, "round at the end"
    assert hits.last_until(4) == early
    assert hits.last_until(1) == early
    assert hits.last_until(9) == late[1]
