"""The filters over the library as a person sets and saves them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from explorer.services.library import LibraryFilter

Place = Literal["library", "archive", "trash"]
PLACES: tuple[Place, ...] = ("library", "archive", "trash")
DAY_MS = 86_400_000
SPANS: Mapping[int, str] = {
    0: "any time",
    1: "the last 24 hours",
    7: "the last 7 days",
    30: "the last 30 days",
    365: "the last year",
}
"""Days back from now, and what they are called; 0: no limit."""


class Filters(Struct, frozen=True):
    """What a person chose; what is empty lets all sessions through."""

    agents: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    days: int = 0
    """Days back from now of the last activity; one of ``SPANS``."""
    compacted: bool = False
    started: bool = False
    """With the sub-agents that other sessions started."""
    words: str = ""
    place: Place = "library"

    def rule(self, now_ms: float) -> LibraryFilter:
        """The same as a filter over rows at a moment, in milliseconds since 1970."""
        return LibraryFilter(
            self.agents,
            self.projects,
            self.models,
            now_ms - self.days * DAY_MS if self.days else 0.0,
            self.compacted,
            self.words,
            self.place,
            self.started,
            self.labels,
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the place is chosen."""
        return replace(self, place="library") != Filters()

    def to_json(self) -> dict[str, Any]:
        """What is chosen, as it is stored."""
        default = asdict(Filters())
        return {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in asdict(self).items()
            if value != default[name]
        }


def filters_from(stored: object) -> Filters:
    """What ``Filters.to_json`` stored. Raises ValueError for anything else."""
    if not isinstance(stored, dict):
        raise ValueError("a saved filter is an object")
    values: dict[str, Any] = {}
    default = asdict(Filters())
    for name in Filters.__struct_fields__:
        if name not in stored:
            continue
        value = stored[name]
        if isinstance(default[name], frozenset) and isinstance(value, list):
            value = frozenset(each for each in value if isinstance(each, str))
        if type(value) is not type(default[name]):
            raise ValueError(f"{name} is not usable")
        values[name] = value
    found = Filters(**values)
    if found.place not in PLACES or found.days not in SPANS:
        raise ValueError("a value that there is not")
    return found
