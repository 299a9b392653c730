"""The rows of the list of models, and which of them the typed words leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.models.catalogue import ModelInfo, provider_of
from explorer.models.client import ModelClient
from ui.models.words import Mark, marks_of, name_of, price, tokens


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model. ``has_way``: its key or its server is there."""

    info: ModelInfo
    provider: str
    has_way: bool
    searched: str
    """All that typed words are looked for in."""
    cells: tuple[str, ...]
    """Its name and its figures, as the columns of the list have them."""
    marks: tuple[Mark, ...]
    """What it can do, and that it ends."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Stands over the models of one provider, or one server."""

    provider: str
    count: int
    has_way: bool


Line = ModelRow | Heading


def rows_of(client: ModelClient) -> list[ModelRow]:
    """All models, those that can be called first; for a worker thread."""
    ways: dict[str, bool] = {}
    made: list[ModelRow] = []
    for info in client.every_model():
        provider = provider_of(info.id)
        if provider not in ways:
            ways[provider] = client.can_call(info.id)
        made.append(
            ModelRow(
                info, provider, ways[provider], _searched(info), _cells(info),
                tuple(marks_of(info)),
            )
        )  # fmt: skip
    return sorted(made, key=lambda row: not row.has_way)


def sift(rows: Sequence[ModelRow], words: str, only_with_way: bool) -> list[Line]:
    """The rows that hold every word, each provider's below a heading."""
    sought = words.casefold().split()
    lines: list[Line] = []
    group: list[ModelRow] = []
    for row in rows:
        if only_with_way and not row.has_way:
            continue
        if sought and not all(word in row.searched for word in sought):
            continue
        if group and group[0].provider != row.provider:
            _close(lines, group)
            group = []
        group.append(row)
    _close(lines, group)
    return lines


def _close(lines: list[Line], group: list[ModelRow]) -> None:
    if group:
        lines.append(Heading(group[0].provider, len(group), group[0].has_way))
        lines += group


def _cells(info: ModelInfo) -> tuple[str, ...]:
    return (
        name_of(info), tokens(info.window), tokens(info.output_limit),
        price(info.input_price), price(info.output_price), price(info.cache_read_price),
    )  # fmt: skip


def _searched(info: ModelInfo) -> str:
    can = [name for name in ("reasoning", "images", "tools") if getattr(info, name)]
    if info.deprecated:
        can.append("deprecated")
    return " ".join((info.id, info.label, *can)).casefold()
