"""What a result says in short: nothing found, a new file, the same error again."""

from __future__ import annotations

import pytest

from explorer.session.describe import error_mark, result_flags
from explorer.session.kinds import Flag


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "(no output)", "No matches found", "No matches found for pattern: x", "0 results",
     "No files found.", "Found 0 matches", "No files found matching pattern"],
)  # fmt: skip
def test_c5_a_result_that_found_nothing(text: str) -> None:
    assert result_flags(text) == Flag.FOUND_NOTHING


@pytest.mark.parametrize(
    "text",
    ["no results were lost", "src/a.py:1: None", "No matches found in a.py, 3 in b.py:\nb.py:1: x",
     "none of the tests failed", "ok", "no " * 100],
)  # fmt: skip
def test_c5_a_result_that_tells_something(text: str) -> None:
    assert not result_flags(text) & Flag.FOUND_NOTHING


def test_an_image_without_text_is_something() -> None:
    assert not result_flags("", has_image=True)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("File created successfully at: /a/b.py", True),
        ("New file created: a.py", True),
        ("File a.py has been created", True),
        ("Successfully created file a.py", True),
        ("Successfully wrote 12 bytes to a.py", False),
        ("The file a.py has been updated.", False),
        ("def created(): ...", False),
    ],
)
def test_a28_a_result_says_that_its_file_is_new(text: str, new: bool) -> None:
    assert bool(result_flags(text) & Flag.CREATED) is new


def test_c5_errors_that_differ_in_numbers_alone_are_the_same() -> None:
    assert error_mark("failed in 12 ms at 0x7f") == error_mark("failed in 7 ms\n at 0x7f")
    assert error_mark("a") != error_mark("b")
