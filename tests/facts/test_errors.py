"""Which lines of an output report a failure: how many, how much of each, and where."""

from __future__ import annotations

import pytest

from explorer.facts.errors import (
    beginning,
    error_lines,
    error_lines_among,
    has_failed,
    is_cut,
    listed_test,
    reports_failure,
    whole_lines,
)
from explorer.formats.pi.entries import read_entry


def test_a_line_is_kept_up_to_a_length() -> None:
    line = "error: " + "x" * 593
    assert error_lines(line) == [(0, line)] == error_lines(line + "y")
    assert error_lines("x" * 593 + " failed") == [(0, "x" * 593 + " failed")]
    assert error_lines("x" * 594 + " failed") == [], "what is said behind it is not seen"


@pytest.mark.parametrize("count", [40, 41, 55])
def test_forty_failures_are_kept_half_of_them_from_the_end(count: int) -> None:
    lines = [f"error: {at:02}" for at in range(count)]
    kept = lines if count == 40 else [*lines[:20], *lines[-20:]]
    found = error_lines("\n".join(lines))
    assert [line for _, line in found] == kept
    assert [start for start, _ in found] == [10 * lines.index(line) for line in kept]


def test_each_line_is_named_once_where_it_is_first() -> None:
    assert error_lines("ok\n  error: a\nfine\n  error: a\nerror: a") == [(5, "error: a")]
    assert error_lines("") == [] and error_lines("err") == []
    assert error_lines_among([(7, "error: a"), (30, "all is well")]) == [(7, "error: a")]


def test_after_a_line_that_only_names_a_place_comes_the_message() -> None:
    where = "thread 'main' panicked at src/main.rs:4:5:"
    assert error_lines(f"{where}\n  all gone \nnote: run") == [
        (0, where), (len(where) + 3, "all gone"),
    ]  # fmt: skip
    assert error_lines(f"{where}\n\nnote: run") == [(0, where)]
    long = "y" * 700
    assert error_lines(f"{where}\n{long}")[1] == (len(where) + 1, "y" * 600)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1\terror: a\n2\terror: b", []),
        ("1\terror: a\n3\terror: b", ["1\terror: a", "3\terror: b"]),
        ("1\terror: a", ["1\terror: a"]),
        ("0\tno such file", ["0\tno such file"]),
        ("x\n1\terror: a", ["1\terror: a"]),
        ("7→error: a", []),
        (f"{' ' * 12}7→error: a", []),
        (f"{' ' * 13}7→error: a", ["7→error: a"]),
        ("1\terror: a\nbetween\n2\terror: b", ["1\terror: a", "2\terror: b"]),
    ],
)
def test_the_text_of_a_listed_file_is_no_output(text: str, found: list[str]) -> None:
    assert [line for _, line in error_lines(text)] == found


PASSED = """
tests/test_x.py::TestDatadogApiError::test_attributes PASSED [ 10%]
tests/test_x.py::TestError::test_y SKIPPED (needs an Error) [ 10%]
tests/test_x.py::TestError::test_y[no such file] XFAIL (known Error: x)
[gw0] [ 10%] PASSED tests/test_x.py::TestError::test_y
PASSED tests/test_x.py::TestApiError::test_y
test error::tests::not_found ... ok
test_error (mod.TestError.test_error) ... skipped 'not found'
    --- PASS: TestError/ERROR (0.00s)
ok  \texample.com/ERROR\t0.01s
ok 1 - fails with TypeError: x
[       OK ] Suite.RaisesError (0 ms)
PASS src/ApiError.test.js
  ✓ throws TypeError when invalid (3 ms)
OrderTest > raisesValidationError() PASSED
1/3 Test #1: ApiError .......   Passed    0.00 sec
"""
FAILED = r"""
FAILED tests/test_x.py::TestError::test_y - AssertionError: x
tests/test_x.py::TestError::test_y FAILED [ 10%]
tests/test_x.py::TestError::test_y ERROR [ 10%]
=== 2 failed, 76 passed in 0.35s ===
not ok 1 - it failed
--- FAIL: TestError (0.00s)
test error::tests::not_found ... FAILED
E   AssertionError: a::b FAILED is not a::b PASSED
AssertionError: expected FAIL, got PASS
Error: cannot open ok
"""


def test_a_test_that_passed_is_no_failure_whatever_its_name_says() -> None:
    assert error_lines(PASSED) == []
    assert [line for _, line in error_lines(FAILED)] == FAILED.strip().split("\n")


@pytest.mark.parametrize(
    "line",
    [
        '{"status": "ok", "error": {}, "details": {"database": {"status": "up"}}}',
        'apps/desktop build: 34 |     #[error("Invalid size")]',
        "web build:    = note: `SizeError` has a derived impl for the trait `Debug`",
        "   = help: `SizeError` can be boxed",
    ],
)
def test_what_is_well_and_what_stands_beside_a_message_is_no_failure(line: str) -> None:
    assert error_lines(line) == []


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", []),
        (" \n ", []),
        ("one", [(0, "one")]),
        ("\n  one  \n", [(3, "one")]),
        ("one\ntwo\n  three \n", [(0, "one"), (10, "three")]),
        ("same\nother\nsame", [(0, "same")]),
        ("x" * 601 + "\n" + "y" * 601, [(0, "x" * 600), (602, "y" * 600)]),
    ],
)
def test_of_a_failed_call_that_names_no_failure_the_ends_count(
    text: str, ends: list[tuple[int, str]]
) -> None:
    assert error_lines(text, is_error=True) == ends and error_lines(text) == []


def test_a_verdict_is_a_failure_itself() -> None:
    assert reports_failure("ok\nFAILED tests/a.py::b") and reports_failure("== 1 failed in 2 s")
    assert not reports_failure("the request failed to arrive") and not reports_failure("0 failed")


@pytest.mark.parametrize(
    ("printed", "command", "call", "is_error", "fails"),
    [
        ("1 passed", "pytest | tail", "c1", False, False),
        ("FAILED a.py::b", "pytest | tail", "c1", False, True),
        ("1 passed", "pytest | tail", "c1", True, True),
        # What a command shows of a file is not what went wrong with it.
        ("FAILED a.py::b", "cat log", "c1", False, False),
        ("FAILED a.py::b", "cat log", "c1", True, True),
        ("FAILED a.py::b", "pytest | tail", "another", False, False),
    ],
)
def test_a_command_has_failed_where_it_says_so(
    printed: str, command: str, call: str, is_error: bool, fails: bool
) -> None:
    content = [{"type": "text", "text": printed}]
    result = {"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content}
    asked = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": command}}
    entry = read_entry({"type": "message", "message": {**result, "isError": is_error}})
    reply = read_entry({"type": "message", "message": {"role": "assistant", "content": [asked]}})
    assert has_failed(entry, reply) is fails
    assert has_failed(entry) is is_error, "it is not known what was called"
    said = read_entry({"type": "message", "message": {"role": "user", "content": printed}})
    assert not has_failed(said, reply) and not has_failed(reply, reply)


def test_a_cut_line_is_that_of_the_whole_one_near_it() -> None:
    assert is_cut("E   assert the thing ...") and is_cut("a…") and not is_cut("a .. b")
    assert beginning("E   assert the…") == beginning("assert the")
    assert listed_test("FAILED a.py::b - assert x") == "a.py::b" and listed_test("a - b") == ""

    def mapped(cut: str, whole: str, *far: int) -> bool:
        lines = {"k": (cut, [5]), "w": (whole, list(far))}
        return whole_lines(lines) == {"k": "w"}

    assert mapped("E   assert wholly …", "assert wholly so", 7)
    assert mapped("assert wholly …", "assert wholly so", 3)
    assert not mapped("assert wholly …", "assert wholly so", 8)
    assert not mapped("assert wholly …", "assert wholly so", 2)
    assert mapped("assert wholly …", "assert wholly so", 90, 6)
    assert mapped("FAILED a.py::b - assert wholly...", "assert wholly so", 5)
    assert not mapped("assert other …", "assert wholly so", 5)
    assert mapped("asser…", "assert", 5) and not mapped("asse…", "assert", 5)
    assert whole_lines({"w": ("assert", [1])}) == {}
    several = {
        "k": ("assert wholly …", [5]), "a": ("assert wholly as", [50]),
        "b": ("assert wholly be", [6]), "c": ("assert wholly cold", [5]),
    }  # fmt: skip
    assert whole_lines(several) == {"k": "b"}
