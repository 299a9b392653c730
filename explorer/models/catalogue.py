"""What is known of each model: window, output limit, prices.

The table comes from the litellm wheel, read as a file: importing litellm takes seconds,
and the window wants these figures before any model is called.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.models.info import FIGURES, ModelInfo, PriceTier

TABLE_FILE = "model_prices_and_context_window_backup.json"
EXTRACTIVE = "offline/extractive"
DEMO = "offline/demo"
REMOTE = "remote/endpoint"
"""A service of one's own that summarizes (A29)."""

_PRICES = {
    "input_price": "input_cost_per_token",
    "output_price": "output_cost_per_token",
    "cache_read_price": "cache_read_input_token_cost",
    "cache_write_price": "cache_creation_input_token_cost",
}
_EFFORTS = {
    "none": "supports_none_reasoning_effort",
    "minimal": "supports_minimal_reasoning_effort",
    "adaptive": "supports_adaptive_thinking",
}
_PRICE_NAMES = {key: name for name, key in _PRICES.items()}
_TIER = re.compile(r"(\w+?)_above_(\d+)k_tokens")

# Which environment variable says that a provider can be called.
PROVIDER_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("anthropic", ("ANTHROPIC_API_KEY",)),
    ("openai", ("OPENAI_API_KEY",)),
    ("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    ("mistral", ("MISTRAL_API_KEY",)),
    ("deepseek", ("DEEPSEEK_API_KEY",)),
    ("groq", ("GROQ_API_KEY",)),
    ("xai", ("XAI_API_KEY",)),
    ("openrouter", ("OPENROUTER_API_KEY",)),
    ("together_ai", ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY")),
    ("fireworks_ai", ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY")),
    ("cerebras", ("CEREBRAS_API_KEY",)),
    ("azure", ("AZURE_API_KEY",)),
)


OFFLINE_MODELS = (
    ModelInfo(EXTRACTIVE, "Extractive summary (offline)", 4_000_000, 32_000, True, 0.0, 0.0),
    ModelInfo(
        DEMO,
        "Demonstration agent (offline)",
        200_000,
        8_000,
        True,
        0.0,
        0.0,
        reasoning=False,
        images=False,
        tools=True,
    ),
)

REMOTE_MODEL = ModelInfo(REMOTE, "Remote endpoint", None, None)
"""Its window and its limit are its own."""


def price_table_path() -> Path | None:
    """Where the wheel of litellm keeps its table; None where litellm is not installed."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / TABLE_FILE
    return path if path.is_file() else None


class Catalogue:
    """Looks models up; the table is read at the first question (about 25 ms) and kept."""

    def __init__(self, declared: tuple[ModelInfo, ...] = ()) -> None:
        self._declared = {info.id: _said_by_person(info) for info in (*OFFLINE_MODELS, *declared)}
        self._table: Mapping[str, Any] | None = None
        self._by_provider: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None
        self._made: dict[str, ModelInfo] = {}

    def info(self, model_id: str) -> ModelInfo:
        """What is known of `model_id`; unknown figures are None, never a guess."""
        declared = self._declared.get(model_id)
        if declared is not None:
            return declared
        if model_id == REMOTE:
            return REMOTE_MODEL
        row = self._row(model_id)
        if row is None:
            return ModelInfo(model_id, model_id, None, None)
        return self._of_row(model_id, row)

    def known(self, has_key: Callable[[str], bool]) -> list[ModelInfo]:
        """Declared models, then the chat models of the providers that have a key."""
        result = dict(self._declared)
        for provider, rows in self._chat().items():
            if not has_key(provider):
                continue
            for model_id, row in rows.items():
                if model_id not in result:
                    result[model_id] = self._of_row(model_id, row)
        return list(result.values())

    def _chat(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """The rows of chat models by provider and id: the table is too long to be gone through
        whenever models are listed."""
        if self._by_provider is None:
            found: dict[str, dict[str, Mapping[str, Any]]] = {}
            for name, row in self._load().items():
                provider = row.get("litellm_provider")
                if row.get("mode") == "chat" and isinstance(provider, str):
                    model_id = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
                    found.setdefault(provider, {}).setdefault(model_id, row)
            self._by_provider = found
        return self._by_provider

    def _of_row(self, model_id: str, row: Mapping[str, Any]) -> ModelInfo:
        """Made once: a list of models is asked for at every change of one."""
        made = self._made.get(model_id)
        if made is None:
            made = self._made[model_id] = _from_row(model_id, row)
        return made

    def _row(self, model_id: str) -> Mapping[str, Any] | None:
        table = self._load()
        provider, _, bare = model_id.partition("/")
        for name in (model_id, bare):
            row = table.get(name)
            if isinstance(row, dict) and (
                name == model_id or row.get("litellm_provider") == provider
            ):
                return row
        return None

    def _load(self) -> Mapping[str, Any]:
        if self._table is None:
            path = price_table_path()
            table = json.loads(path.read_text("utf-8")) if path is not None else {}
            table.pop("sample_spec", None)
            self._table = table
        return self._table


def _said_by_person(info: ModelInfo) -> ModelInfo:
    """A model that was declared: its figures are whoever's declared it."""
    if info.offline or info.sources:
        return info
    given = [name for name in FIGURES if getattr(info, name) is not None]
    return replace(info, sources=dict.fromkeys(given, "you"))


def _from_row(model_id: str, row: Mapping[str, Any]) -> ModelInfo:
    prices = {name: _price(row.get(key)) for name, key in _PRICES.items()}
    known = ModelInfo(
        id=model_id,
        label=model_id,
        window=_count(row.get("max_input_tokens") or row.get("max_tokens")),
        output_limit=_count(row.get("max_output_tokens") or row.get("max_tokens")),
        reasoning=_ability(row, "supports_reasoning"),
        images=_ability(row, "supports_vision"),
        tools=_ability(row, "supports_function_calling"),
        deprecated=str(row.get("deprecation_date") or ""),
        tiers=_tiers(row),
        efforts=frozenset(word for word, key in _EFFORTS.items() if row.get(key) is True),
    )
    return replace(known, **prices)  # type: ignore[arg-type]


def _tiers(row: Mapping[str, Any]) -> tuple[PriceTier, ...]:
    found: dict[int, dict[str, float | None]] = {}
    for key, value in row.items():
        named = _TIER.fullmatch(key)
        if named is not None and named[1] in _PRICE_NAMES:
            above = int(named[2]) * 1000
            found.setdefault(above, {})[_PRICE_NAMES[named[1]]] = _price(value)
    return tuple(PriceTier(above, **found[above]) for above in sorted(found))


def _ability(row: Mapping[str, Any], key: str) -> bool | None:
    """The table names what a model can; of a model of which it names nothing nobody knows."""
    if isinstance(row.get(key), bool):
        return bool(row[key])
    return False if any(name.startswith("supports_") for name in row) else None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _price(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
