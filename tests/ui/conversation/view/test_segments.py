"""How a text is cut, whole and while it arrives."""

from __future__ import annotations

import pytest

from ui.conversation.view.parts import (
    CODE_LINES,
    PROSE_UNITS,
    Segment,
    Splitter,
    code_segments,
    segments,
)

TEXT = """Two paragraphs
that mean it.

Another one.

- a point

  with more to it
- the next

```python
def f():

    return 1
```
1. first

   ~~~
   inside a list
   ~~~
After."""


def test_paragraphs_lists_and_code_are_pieces_of_their_own() -> None:
    found = segments(TEXT)
    assert [(one.is_code, one.text) for one in found] == [
        (False, "Two paragraphs\nthat mean it."),
        (False, "Another one."),
        (False, "- a point\n\n  with more to it\n- the next"),
        (True, "def f():\n\n    return 1"),
        (False, "1. first"),
        (True, "inside a list"),
        (False, "After."),
    ]
    assert found[3].language == "python"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_a_text_that_arrives_in_pieces_is_cut_as_the_whole_one(size: int) -> None:
    splitter = Splitter()
    for at in range(0, len(TEXT), size):
        splitter.feed(TEXT[at : at + size])
        assert all(one.text.strip() or one.is_code for one in splitter.tail())
    assert splitter.end() == segments(TEXT)


def test_what_is_done_is_never_cut_again() -> None:
    splitter = Splitter()
    seen: list[Segment] = []
    for line in (TEXT * 5).split("\n"):
        splitter.feed(line + "\n")
        assert splitter.done[: len(seen)] == seen
        seen = list(splitter.done)


def test_long_code_is_one_box_of_several_pieces() -> None:
    lines = "\n".join(f"line {at}" for at in range(CODE_LINES * 2 + 5))
    pieces = segments(f"```\n{lines}\n```")
    assert [one.opens for one in pieces] == [True, False, False]
    assert [one.closes for one in pieces] == [False, False, True]
    assert "\n".join(one.text for one in pieces) == lines
    assert [one.text for one in code_segments(lines)] == [one.text for one in pieces]


def test_no_piece_of_prose_is_too_long_to_be_laid_out_at_once() -> None:
    text = "word " * 20_000
    assert max(len(one.text) for one in segments(text)) <= PROSE_UNITS + 10
    assert "".join(one.text for one in segments(text)).count("word") == 20_000
    lines = "a line of words\n" * 4_000
    assert max(len(one.text) for one in segments(lines)) <= 2 * PROSE_UNITS


def test_a_fence_that_never_closes_goes_on_to_the_end() -> None:
    assert segments("```js\nlet a") == [Segment("let a", True, "js")]
    splitter = Splitter()
    splitter.feed("Look:\n```js")
    assert splitter.end() == [Segment("Look:"), Segment("", True, "js")]
