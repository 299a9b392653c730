"""Text and numbers as JavaScript writes and measures them (B8)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.tokens.estimate import js_json, js_number, utf16_prefix, utf16_units

# What node prints for JSON.stringify of the same value.
WRITTEN: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (0, "0"),
    (-0.0, "0"),
    (1.0, "1"),
    (100.5, "100.5"),
    (0.1 + 0.2, "0.30000000000000004"),
    (1e20, "100000000000000000000"),
    (123456789012345680000, "123456789012345680000"),
    (1e21, "1e+21"),
    (1.5e300, "1.5e+300"),
    (1e-6, "0.000001"),
    (1e-7, "1e-7"),
    (1.5e-7, "1.5e-7"),
    (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (-12.5e-9, "-1.25e-8"),
    (2**53 + 1, "9007199254740992"),
    (2**60, "1152921504606847000"),
    (10**400, "null"),
    (float("inf"), "null"),
    ([], "[]"),
    ({}, "{}"),
    ([1, [2.0, {}], "x"], '[1,[2,{}],"x"]'),
    ({"b": 1, "a": None}, '{"b":1,"a":null}'),
    (
        {"b": 1, "10": 2, "9": 3, "01": 4, "-1": 5, "4294967294": 6, "4294967295": 7},
        '{"9":3,"10":2,"4294967294":6,"b":1,"01":4,"-1":5,"4294967295":7}',
    ),
    ('"\\/\b\f\n\r\t', r'"\"\\/\b\f\n\r\t"'),
    ("\x00\x1f\x7f", '"\\u0000\\u001f\x7f"'),
    ("\u2028\u2029é日", '"\u2028\u2029é日"'),
    ("a\ud800", '"a\\ud800"'),
    ("\udfffz", '"\\udfffz"'),
    ("\U0001f680", '"\U0001f680"'),
    ({"\ud83d": "\ud83d\ude80"}, '{"\\ud83d":"\U0001f680"}'),
]


@pytest.mark.parametrize(("value", "expected"), WRITTEN)
def test_b8_values_are_written_as_json_stringify_writes_them(value: Any, expected: str) -> None:
    assert js_json(value) == expected


def test_nesting_may_be_deeper_than_the_stack() -> None:
    value: Any = 1.0
    for _ in range(50_000):
        value = [value]
    assert js_json(value) == "[" * 50_000 + "1" + "]" * 50_000


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_as_they_were(value: float) -> None:
    assert float(js_number(value)) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="abc-é"), inner),
        max_leaves=20,
    )
)
def test_without_fractions_and_number_keys_it_is_pythons_compact_json(value: Any) -> None:
    assert js_json(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("abc", 3), ("é日", 2), ("\U0001f680x", 3), ("\ud83d", 1)]
)
def test_b8_length_is_counted_in_utf16_units(text: str, units: int) -> None:
    assert utf16_units(text) == units


@given(st.text(), st.integers(0, 30))
def test_e11_a_prefix_never_ends_in_half_a_character(text: str, units: int) -> None:
    prefix = utf16_prefix(text, units)
    assert text.startswith(prefix)
    assert units - 1 <= utf16_units(prefix) <= units or prefix == text


def test_e11_a_prefix_cut_as_javascript_cuts_halves_the_pair() -> None:
    assert utf16_prefix("a\U0001f680b", 2, keep_pairs=False) == "a\ud83d"
    assert utf16_prefix("a\U0001f680b", 2) == "a"
