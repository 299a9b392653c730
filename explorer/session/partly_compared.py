"""Values of which a field or two says nothing about whether they are equal."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class PartlyCompared(Struct, frozen=True):
    """Equal to another of its class when all fields but those in ``UNCOMPARED`` are."""

    UNCOMPARED: ClassVar[frozenset[str]] = frozenset()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[object, ...]:
        names = self.__struct_fields__
        return tuple(getattr(self, name) for name in names if name not in self.UNCOMPARED)
