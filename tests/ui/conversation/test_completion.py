"""What is completed, and which file is meant by a few letters."""

from __future__ import annotations

import pytest

from ui.conversation.completion import Wanted, best, mention, wanted_at


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("/", Wanted("command", "")),
        ("/com", Wanted("command", "com")),
        ("/model gpt", Wanted("argument", "gpt", "model")),
        ("see /com", None),
        ("/etc/ho", None),
        ("look at @src/re", Wanted("file", "src/re")),
        ("@", Wanted("file", "")),
        ('in @"my notes', Wanted("file", "my notes")),
        ("mail me@home", None),
        ("@done and", None),
    ],
)
def test_what_stands_before_the_cursor_says_what_is_wanted(
    before: str, wanted: Wanted | None
) -> None:
    assert wanted_at(before) == wanted


def test_a_name_with_spaces_is_quoted() -> None:
    assert mention("src/retry.py") == "@src/retry.py"
    assert mention("my notes.md") == '@"my notes.md"'


def test_the_best_fit_comes_first() -> None:
    names = ["docs/retrieval.md", "src/hub.py", "src/retry.py", "tests/test_retry.py"]
    assert best("retry", names)[:2] == ["src/retry.py", "tests/test_retry.py"]
    assert best("rtry", names)[0] == "src/retry.py"
    assert best("src/h", names) == ["src/hub.py"]
    assert best("zzz", names) == []
    assert best("RETRY", names)[0] == "src/retry.py"
    assert len(best("", names)) == 4


def test_a_question_that_nobody_asks_any_more_is_given_up() -> None:
    assert best("a", ["a"] * 10_000, cancelled=lambda: True) == []
