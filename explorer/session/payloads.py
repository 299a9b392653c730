"""Where the JSON of the entries comes from, on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from explorer.session.json_values import read_json


class Payloads(Protocol):
    """Reads payloads by entry index. Implementations may be called from any thread."""

    def raw(self, index: int) -> str:
        """The line of the entry as it was read."""

    def entry(self, index: int) -> Mapping[str, Any]:
        """The entry's JSON object."""

    def entries(self, indices: Sequence[int]) -> list[Mapping[str, Any]]:
        """Several entries, in the order asked for."""

    def raws(self, indices: Sequence[int]) -> Iterable[tuple[int, str]]:
        """The lines of several entries, given in ascending order; those that are there."""

    def previews(self, indices: Sequence[int]) -> list[str]:
        """First lines for lists and the map."""


class MemoryPayloads:
    """Payloads of a session that is wholly in memory, as raw lines with their first lines."""

    def __init__(self) -> None:
        self._raw: list[str] = []
        self._previews: list[str] = []

    def append(self, raw: str, preview: str) -> None:
        self._raw.append(raw)
        self._previews.append(preview)

    def raw(self, index: int) -> str:
        return self._raw[index]

    def entry(self, index: int) -> Mapping[str, Any]:
        loaded: Mapping[str, Any] = read_json(self._raw[index])
        return loaded

    def entries(self, indices: Sequence[int]) -> list[Mapping[str, Any]]:
        return [self.entry(index) for index in indices]

    def raws(self, indices: Sequence[int]) -> list[tuple[int, str]]:
        return [(index, self._raw[index]) for index in indices]

    def previews(self, indices: Sequence[int]) -> list[str]:
        return [self._previews[index] for index in indices]
