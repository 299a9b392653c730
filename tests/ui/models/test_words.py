"""Figures of models as they are written, and as they are typed."""

from __future__ import annotations

from datetime import date

import pytest

from explorer.models.catalogue import ModelInfo, PriceTier
from ui.models.words import (
    is_too_small,
    marks_of,
    name_of,
    parsed_price,
    parsed_tokens,
    price,
    spoken,
    tier_lines,
)


@pytest.mark.parametrize(
    ("per_token", "told"),
    [
        (3e-6, "3.00"), (1.25e-6, "1.25"), (7.5e-8, "0.075"), (0.0, "0"), (None, "–"),
        (3e-12, "3e-06"), (1.5e-4, "150.00"), (2.8e-7, "0.28"),
    ],
)  # fmt: skip
def test_prices_are_dollars_for_a_million_tokens(per_token: float | None, told: str) -> None:
    assert price(per_token) == told


@pytest.mark.parametrize(
    ("typed", "count"),
    [("200,000", 200_000), ("200k", 200_000), ("1M", 1_000_000), ("1.05m", 1_050_000), (" 7 ", 7)],
)
def test_tokens_are_typed_as_people_write_them(typed: str, count: int) -> None:
    assert parsed_tokens(typed) == count


@pytest.mark.parametrize("typed", ["0", "-3", "many", "1.5", "", "nan", "inf", "2000000k"])
def test_what_is_no_number_of_tokens_is_not_taken(typed: str) -> None:
    with pytest.raises(ValueError):
        parsed_tokens(typed)


def test_a_price_is_typed_for_a_million() -> None:
    assert parsed_price("$3") == pytest.approx(3e-6)
    for typed in ("-1", "free", "nan", "inf"):
        with pytest.raises(ValueError):
            parsed_price(typed)


def test_marks_are_words_and_a_model_that_ends_says_when() -> None:
    info = ModelInfo(
        "a/b/c", "a/b/c", 8_000, 1_000, reasoning=True, images=False, deprecated="2026-05-01"
    )
    assert [mark.word for mark in marks_of(info, date(2026, 4, 1))] == [
        "deprecated, ends 2026-05-01", "reasoning",
    ]  # fmt: skip
    assert marks_of(info, date(2026, 6, 1))[0].word == "deprecated, ended 2026-05-01"
    assert name_of(info) == "b/c"
    words = spoken(info, [])
    assert words.startswith("a/b/c: window 8k") and "reasoning" in words


def test_a_window_that_nobody_knows_is_not_too_small() -> None:
    assert not is_too_small(ModelInfo("a/b", "a/b", None, None), 50_000)
    assert is_too_small(ModelInfo("a/b", "a/b", 8_000, None), 8_001)
    assert not is_too_small(ModelInfo("a/b", "a/b", 8_000, None), 8_000)


def test_dearer_prices_of_long_prompts_are_told() -> None:
    tiers = (PriceTier(200_000, 6e-6, 2.25e-5),)
    info = ModelInfo("a/b", "a/b", 8_000, None, tiers=tiers)
    assert tier_lines(info) == ["Over 200k tokens: $6.00 in, $22.50 out"]
