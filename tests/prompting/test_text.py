"""Texts cut to a size without harm to what is read (A44, A49, E11)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.prompting.text import (
    fitting_start,
    shortened,
    truncate_middle,
    whole_from,
    whole_until,
)
from explorer.tokens.estimate import estimate_text

FAMILY = "👨‍👩‍👧"
FLAGS = "🇫🇷🇩🇪"
HALVES = "\ud83d\ude00"


@pytest.mark.parametrize(
    ("text", "at", "until", "start"),
    [
        ("plain", 3, 3, 3),
        ("a\r\nb", 2, 1, 3),
        ("e\u0301x", 1, 0, 2),
        (FAMILY, 3, 0, len(FAMILY)),
        ("👍🏽!", 1, 0, 2),
        (FLAGS, 1, 0, 2),
        (FLAGS, 2, 2, 2),
        (FLAGS, 3, 2, 4),
        (HALVES, 1, 0, 2),
        ("ab", 9, 2, 2),
    ],
)
def test_e11_no_character_is_cut_in_two(text: str, at: int, until: int, start: int) -> None:
    assert whole_until(text, at) == until
    assert whole_from(text, at) == start


def test_a44_lines_first_then_words_then_characters() -> None:
    assert fitting_start("one two\nthree", 9, len) == "one two"
    assert fitting_start("one two\nthree", 5, len) == "one"
    assert fitting_start("unbroken", 4, len) == "unbr"
    assert fitting_start(FAMILY * 2, 7, len) == FAMILY
    assert fitting_start("anything", 0, len) == ""
    assert fitting_start("it fits", 7, len) == "it fits"
    assert fitting_start("a b c", 3, len, "space") == "a b"


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300), st.integers(0, 80))
def test_a44_a_start_never_takes_more_than_it_may(text: str, limit: int) -> None:
    start = fitting_start(text, limit, estimate_text)
    assert text.startswith(start)
    assert estimate_text(start) <= limit or not start


@settings(max_examples=80, deadline=None)
@given(st.text(min_size=40, max_size=2000), st.integers(20, 120))
def test_a49_the_middle_goes_and_both_ends_stay(text: str, limit: int) -> None:
    cut = truncate_middle(text, limit, estimate_text)
    if estimate_text(text) <= limit:
        assert cut == text
        return
    # The parts are rounded up one by one, and a halved character goes to neither.
    assert estimate_text(cut) <= limit + 3
    head, _, tail = cut.partition("\n\n[... ")
    assert text.startswith(head)
    assert text.endswith(tail.partition(" ...]\n\n")[2])


def test_a49_two_fifths_are_the_head_and_three_fifths_the_tail() -> None:
    text = "h" * 5000 + "t" * 5000
    cut = truncate_middle(text, 1000, len)
    note = cut.strip("ht")
    room = 1000 - len(note)
    assert cut.count("h") - note.count("h") == int(room * 0.4)
    assert cut.count("t") - note.count("t") == room - int(room * 0.4)
    assert "9000 tokens and more" in note


def test_b19_arguments_are_cut_at_a_number_of_characters() -> None:
    assert shortened("x" * 200, 200) == "x" * 200
    assert shortened("x" * 201, 200) == "x" * 200 + "…"
    assert shortened(FAMILY, 3) == "…"
