"""How many tokens messages may take (A46, B19)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.prompting.agent_prompt import message_budget, resolve_threshold


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        (None, None), (0, None), (-1, None), (float("nan"), None), (float("inf"), None),
        (0.8, 160_000), (1, 200_000), (1e-9, 1), (100, 100), (60_000, 60_000),
        (999_999, 999_999),
    ],
)  # fmt: skip
def test_a46_a_threshold_is_a_share_or_tokens(value: float | None, tokens: int | None) -> None:
    assert resolve_threshold(value, 200_000) == tokens


@pytest.mark.parametrize("value", [1.01, 2, 80, 99.9])
def test_a46_the_gap_between_is_an_error(value: float) -> None:
    with pytest.raises(ValueError, match=f"{value:g} is neither"):
        resolve_threshold(value, 200_000)
    with pytest.raises(ValueError, match="neither"):
        message_budget(200_000, 10, value)


def test_b19_a_tenth_is_held_back_beside_tools_only() -> None:
    assert message_budget(200_000).messages == 200_000
    assert message_budget(200_000, 10_000).messages == 171_000
    assert message_budget(200_000, 10_001).messages == 170_999
    assert message_budget(200_000, 300_000).messages == 1
    assert message_budget(200_000, 10_000, margin=0.5).messages == 95_000


def test_a46_a_threshold_is_never_above_the_window() -> None:
    budget = message_budget(100_000, 10_000, 150_000)
    assert (budget.base, budget.messages) == (100_000, 81_000)
    assert message_budget(100_000, 0, 0.5).messages == 50_000


def test_a47_the_ratio_counts_tools_and_is_of_the_base() -> None:
    assert message_budget(100_000, 10_000, 0.5).ratio(30_000) == 0.8


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.floats(0.001, 1))
def test_a46_always_at_least_one_token_and_never_above_the_window(
    window: int, tools: int, share: float
) -> None:
    assert 1 <= message_budget(window, tools, share).messages <= window
