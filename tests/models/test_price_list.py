"""The cost of recorded calls by the list of prices: names that agents write, and what stays
unknown."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.models.catalogue import (
    Catalogue,
    ModelInfo,
    PriceTier,
    listed_cost,
    listed_ids,
    listed_model,
)
from explorer.session.entries import TokenUsage
from explorer.session.usage_sums import NOT_LISTED

PRICED = {
    "anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-5-20251101", "openai/gpt-5-codex",
    "gemini/gemini-2.5-pro",
}  # fmt: skip


def prices(model_id: str) -> ModelInfo:
    known = (2e-6, 1e-5) if model_id in PRICED else (None, None)
    return ModelInfo(model_id, model_id, None, None, False, *known)


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"),
        ("claude-opus-4-5-20251101", "anthropic/claude-opus-4-5-20251101"),
        ("anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5[1m]", "anthropic/claude-sonnet-4-5"),
        ("gpt-5-codex", "openai/gpt-5-codex"),
        ("openai/gpt-5-codex-2025-09-15", "openai/gpt-5-codex"),
        ("gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("google/gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("copilot/claude-sonnet-4.5", None),
        ("github-copilot/gpt-5-codex", None),
        ("openrouter/anthropic/claude-sonnet-4-5", None),
        ("claude-sonnet-9", None),
        ("a-model-of-nobody", None),
        ("claude-", None),
        ("/", None),
        ("", None),
    ],
)
def test_a_name_is_found_as_the_list_has_it(written: str, listed: str | None) -> None:
    found = listed_model(written, prices)
    assert (found.id if found else None) == listed


def test_what_is_written_comes_before_what_is_guessed() -> None:
    assert list(listed_ids("claude-opus-4.5-20251101")) == [
        "anthropic/claude-opus-4.5-20251101", "anthropic/claude-opus-4-5-20251101",
        "anthropic/claude-opus-4.5", "anthropic/claude-opus-4-5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["claude-sonnet-4-5-20250929", "gpt-5-codex", "gemini-2.5-pro", "google/gemini-2.5-pro"]
)
def test_the_names_of_today_are_in_the_list_that_comes_with_the_program(name: str) -> None:
    info = listed_model(name, Catalogue().info)
    assert info is not None and info.input_price and info.output_price


def test_only_what_is_not_recorded_is_worked_out() -> None:
    usage = TokenUsage(1_000, 100, context=1_100)
    assert listed_cost(usage, "gpt-5-codex", prices) == (pytest.approx(0.003), 0)
    assert listed_cost(usage, "mock/mock-model", prices) == NOT_LISTED
    for other in (
        None,
        TokenUsage(1_000, 100, context=1_100, cost=0.5),
        TokenUsage(1_000, 100, context=1_100, costs=(0.0, 0.0, 0.0, 0.0)),
        TokenUsage(context=1_100),
    ):
        assert listed_cost(other, "gpt-5-codex", prices) == NOT_LISTED


WRITTEN = TokenUsage(0, 0, 0, 1_000_000, 1_000_000, cache_write_1h=400_000)


@pytest.mark.parametrize(
    ("model", "listed", "dollars", "low"),
    [
        ("vertex_ai/claude-x", {"cache_write_1h_price": 2e-6}, 0.6 * 1.25 + 0.4 * 2, 0),
        ("anthropic/claude-x", {"cache_write_1h_price": 3e-6}, 0.6 * 1.25 + 0.4 * 3, 0),
        ("anthropic/claude-x", {}, 0.6 * 1.25 + 0.4 * 2, 0),
        ("anthropic/of-another-maker", {}, 1.25, 400_000),
        ("vertex_ai/claude-x", {}, 1.25, 400_000),
        ("vertex_ai/claude-x", {"cache_write_price": None}, 1.0, 400_000),
        ("vertex_ai/claude-x",
         {"cache_write_1h_price": 2e-6, "tiers": (PriceTier(200_000, cache_write_price=3e-6),)},
         3.0, 400_000),
        ("vertex_ai/claude-x",
         {"cache_write_1h_price": 2e-6,
          "tiers": (PriceTier(200_000, cache_write_price=3e-6, cache_write_1h_price=5e-6),)},
         0.6 * 3 + 0.4 * 5, 0),
    ],
)  # fmt: skip
def test_a_cache_of_an_hour_has_its_own_price_or_what_is_known_is_too_low(
    model: str, listed: dict[str, Any], dollars: float, low: int
) -> None:
    figures = {"input_price": 1e-6, "output_price": 1e-6, "cache_write_price": 1.25e-6} | listed
    info = ModelInfo(model, model, None, None, **figures)
    assert listed_cost(WRITTEN, model, lambda _: info) == (pytest.approx(dollars), low)


def test_the_list_that_comes_with_the_program_has_the_price_of_an_hour() -> None:
    info = Catalogue().info("anthropic/claude-opus-4-5")
    assert info.input_price and info.cache_write_1h_price == pytest.approx(2 * info.input_price)
    long = Catalogue().info("vertex_ai/claude-sonnet-4-5")
    assert [one.cache_write_1h_price for one in long.tiers] == [pytest.approx(1.2e-5)]
