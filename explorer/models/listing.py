"""Models in the order in which a person looks for one: by provider, the newest first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from explorer.models.info import ModelInfo

_DATE = re.compile(r"20\d\d-?[01]\d-?[0-3]\d")
_VERSION = re.compile(r"\d+(?:[.-]\d{1,2}(?!\d))*")
_PLACEHOLDERS = ("ft:", "*", "container")
"""What the table of prices has rows for that name no model one can call: fine-tuned models of
whoever made them, patterns, and tools that are billed beside a model."""


def provider_of(model_id: str) -> str:
    """The part before the first slash: ``openai``."""
    return model_id.partition("/")[0]


def is_placeholder(model_id: str) -> bool:
    """Whether a row of the table stands for something else than a model that can be called."""
    name = model_id.partition("/")[2] or model_id
    return any(part == name or name.startswith(part) for part in _PLACEHOLDERS) or "*" in name


@lru_cache(maxsize=8192)
def newest_first(model_id: str) -> tuple[tuple[int, ...], int, str]:
    """A key that sorts newer versions first; a name without a date before its dated releases."""
    name = model_id.rpartition("/")[2]
    date = _DATE.search(name)
    bare = _DATE.sub("", name)
    version = _VERSION.search(bare)
    numbers = tuple(int(part) for part in re.split(r"[.-]", version[0])) if version else ()
    padded = (*numbers, 0, 0, 0)[:3]
    day = int(date[0].replace("-", "")) if date else 99_999_999
    return tuple(-number for number in padded), -day, name


def listed(models: Iterable[ModelInfo]) -> list[ModelInfo]:
    """The models that can be called: those of this program first, then provider by provider."""
    usable = [model for model in models if model.offline or not is_placeholder(model.id)]
    return sorted(
        usable, key=lambda model: (not model.offline, provider_of(model.id), *_rest(model))
    )


@dataclass(frozen=True, slots=True)
class ProviderModels:
    """One provider, or one server, and its models: the newest first."""

    provider: str
    models: tuple[ModelInfo, ...]


def grouped(models: Iterable[ModelInfo], search: str = "") -> list[ProviderModels]:
    """The models provider by provider, as ``listed`` sorts them.

    Of a ``search`` every word must be in the model's id or label, or name what it can: reasoning,
    images, tools.
    """
    words = search.casefold().split()
    groups: dict[str, list[ModelInfo]] = {}
    for model in listed(models):
        if not words or all(word in _searched(model) for word in words):
            groups.setdefault(model.provider, []).append(model)
    return [ProviderModels(provider, tuple(group)) for provider, group in groups.items()]


def _searched(model: ModelInfo) -> str:
    can = (name for name in ("reasoning", "images", "tools") if getattr(model, name))
    return " ".join((model.id, model.label, *can)).casefold()


def _rest(model: ModelInfo) -> tuple[tuple[int, ...], int, str]:
    return ((), 0, "") if model.offline else newest_first(model.id)
