"""JSON of session files: read as JavaScript reads it, whatever its nesting and numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from explorer.session.json_values import (
    MAX_COUNT,
    MAX_DEPTH,
    is_too_deep,
    read_json,
    read_patiently,
    recorded_count,
    time_ms,
    token_count,
    without_depths,
)

PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5)
VALUES = st.recursive(
    PLAIN | st.sampled_from(["[[[[", "{{{{"]),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=3)
    ),
    max_leaves=12,
)


def depth(value: object) -> int:
    """How many objects and lists are in each other."""
    members = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, members), default=0) if isinstance(value, dict | list) else 0


def cut(value: Any, most: int) -> Any:
    """With null in place of what is deeper."""
    if isinstance(value, dict | list) and not most:
        return None
    if isinstance(value, dict):
        return {key: cut(member, most - 1) for key, member in value.items()}
    return [cut(one, most - 1) for one in value] if isinstance(value, list) else value


@given(VALUES, st.integers(1, 6), st.integers(0, 9_000))
@example([[[1]], {"a": [[]]}], 3, 0)
@example([[]], 1, 8_192)
def test_a_value_is_read_and_its_depth_is_known(value: Any, most: int, blanks: int) -> None:
    text = json.dumps(value, ensure_ascii=False) + " " * blanks
    for given_text in (text, text.encode()):
        assert read_json(given_text) == read_patiently(given_text) == value
        assert is_too_deep(given_text, value, most) is (depth(value) > most)


@pytest.mark.parametrize("more", [-1, 0, 1, 40])
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}"), ('[0,{"b":[1],"a":', "}]")])
def test_what_is_deeper_than_may_be_is_null(start: str, end: str, more: int) -> None:
    count = (MAX_DEPTH + more) // (2 if start.startswith("[0") else 1)
    text = start * count + "[]" + end * count
    value = read_json(text)
    assert without_depths(text, json.loads(text)) == cut(value, MAX_DEPTH)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (str(2**63), 2**63), (str(2**64 - 1), 2**64 - 1), (str(2**64), float(2**64)),
        (str(-(2**63)), -(2**63)), (str(-(2**63) - 1), float(-(2**63) - 1)),
        ("1" + "0" * 5_000, float("inf")), ("1" + "0" * 20, 1e20), ("Infinity", float("inf")),
        ("1.5", 1.5), ('"\\ud83d"', "\ud83d"), ('"\\ud83d\\ude42"', "🙂"),
    ],
)  # fmt: skip
def test_numbers_beyond_64_bits_are_those_of_javascript(text: str, value: object) -> None:
    for found in (read_json(text), read_patiently(text)):
        assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", ["", "{", "nothing", "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        read_json(text)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0), (7, 7), (7.0, 7), (MAX_COUNT, MAX_COUNT), (MAX_COUNT + 1, None), (-1, None),
        (7.5, None), (True, None), ("7", None), (None, None), (float("nan"), None),
        (float("inf"), None), (1e300, None),
    ],
)  # fmt: skip
def test_a_count_of_tokens_is_one_that_a_context_may_hold(value: object, count: int | None) -> None:
    assert recorded_count(value) == count and token_count(value) == (count or 0)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("1970-01-01T00:00:01Z", 1_000), ("1970-01-01T00:00:01", 1_000),
        ("1970-01-01T01:00:00.250+01:00", 250), ("soon", 0), ("", 0), (12, 12), (-12.5, -12.5),
        (8.64e15, 8.64e15), (-8.64e15, -8.64e15), (8.65e15, 0), (True, 0), (None, 0), ([], 0),
        (float("nan"), 0),
    ],
)  # fmt: skip
def test_a_time_is_in_milliseconds(value: object, moment: float) -> None:
    assert time_ms(value) == moment and type(time_ms(value)) is float
