"""The published schema: generated from the table, and of one mind with the program's own check."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from explorer.settings import paths
from explorer.settings.keys import KEYS, schema_text, settings_schema

SCHEMA = Draft202012Validator(settings_schema())

numbers = (
    st.sampled_from([-1, 0, 1, 2, 99, 100, 101, 0.5, 1.0, 1.5, 99.0, 99.5, 150.5, 999, 1000])
    | st.integers(-20, 20_000_000)
    | st.floats(allow_nan=False, allow_infinity=False)
)
texts = st.sampled_from(
    ["", "pi", "omp", "auto", "a/b", "a/b\n", " a/b", "https://x/y", "http://a b", "http://u@x"]
) | st.text(max_size=12)
scalars = st.none() | st.booleans() | numbers | texts
values = scalars | st.lists(texts, max_size=3) | st.lists(scalars, max_size=3)


def test_the_published_schema_is_current() -> None:
    """After a change of the table: ``session-explorer settings schema > resources/...``."""
    published = paths.resource("settings.schema.json").read_text(encoding="utf-8")
    assert published == schema_text()
    Draft202012Validator.check_schema(json.loads(published))


@given(st.sampled_from(sorted(KEYS)), values)
def test_schema_and_check_agree_about_every_value(name: str, value: Any) -> None:
    """A54: among it that the gap between a share and 100 tokens is an error for both."""
    fits = not KEYS[name].kind.problem(value)
    assert SCHEMA.is_valid({name: value}) == fits
    group, _, rest = name.partition(".")
    assert SCHEMA.is_valid({group: {rest: value}}) == fits
    nested: Any = value
    for part in reversed(name.split(".")):
        nested = {part: nested}
    assert SCHEMA.is_valid(nested) == fits


def test_unknown_names_are_no_fault_of_a_file() -> None:
    assert SCHEMA.is_valid({"$schema": "./settings.schema.json", "of.tomorrow": 1, "x": {}})


def test_every_setting_has_a_sentence_of_its_own() -> None:
    sentences = [key.sentence for key in KEYS.values()]
    assert len(set(sentences)) == len(sentences)
    assert all(said.endswith(".") and said.count(". ") == 0 for said in sentences)
