"""The words of a lesson: marks, terms, and what a glossary says of them."""

from __future__ import annotations

import pytest

from explorer.services.lessons.lesson import PARTS as NAMES
from ui.lessons.parts import PARTS
from ui.lessons.words import plain, rich, terms_of


@pytest.mark.parametrize(
    "text",
    [
        "## Cut point\nWhere it\nis cut.\n\nMore.\n\n## Turn\nTwo.",
        "### Cut point\n\nWhere it is cut.\n\n### Turn\n\nTwo.",
        "**Cut point**: Where it is cut.\n\n**Turn** — Two.",
        "**Cut point.** Where it is cut.\n\n**Turn.** Two.",
        "- **Cut point**: Where it is cut.\n- **Turn**: Two.",
        "| term | meaning |\n|---|---|\n| cut point | Where it is cut. |\n| **turn** | Two. |",
    ],
)
def test_terms_are_read_from_any_plain_glossary(text: str) -> None:
    found = terms_of(text)
    assert (found["cut point"], found["turn"]) == ("Where it is cut.", "Two.")


def test_words_are_escaped_and_marked() -> None:
    assert rich("a <b> & **c** *d* `e`") == "a &lt;b&gt; &amp; <b>c</b> <i>d</i> <code>e</code>"
    assert plain("a **c** *d* `e` [[cut|f]] [[no such term]]") == "a c d e f no such term"


def test_a_term_without_a_meaning_is_plain() -> None:
    assert rich("the [[no such term|words]]") == "the words"


def test_every_part_that_a_lesson_can_name_is_in_the_window() -> None:
    assert set(PARTS) == set(NAMES)
