"""The cost of recorded calls by the list of prices: names that agents write, and what stays
unknown."""

from __future__ import annotations

import pytest

from explorer.models.catalogue import Catalogue, ModelInfo, listed_cost, listed_ids, listed_model
from explorer.session.entries import TokenUsage

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
    assert listed_cost(usage, "gpt-5-codex", prices) == pytest.approx(0.003)
    assert listed_cost(usage, "mock/mock-model", prices) == 0
    for other in (
        None,
        TokenUsage(1_000, 100, context=1_100, cost=0.5),
        TokenUsage(1_000, 100, context=1_100, costs=(0.0, 0.0, 0.0, 0.0)),
        TokenUsage(context=1_100),
    ):
        assert listed_cost(other, "gpt-5-codex", prices) == 0
