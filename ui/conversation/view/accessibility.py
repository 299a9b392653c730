"""The conversation for screen readers: a list whose children are the parts on screen."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleInterface

from ui.conversation.view.surface import Surface

_NAME_UNITS = 600
"""Characters of a part that its name has; the rest is read by characters."""


def part_name(surface: Surface, item: int, part: int) -> str:
    """What a part says, with who says it."""
    laid = surface.flow.laid(item)
    shown = laid.parts[part]
    role = next((p.role for p in reversed(laid.parts[: part + 1]) if p.role is not None), None)
    words = shown.words
    if role is not None and not words.startswith(role.name):
        words = f"{role.name}: {words}"
    return words[:_NAME_UNITS]


class _PartAccess(QAccessibleInterface):
    """One part on screen."""

    def __init__(self, surface: Surface, entry: int, key: str, owner: _ListAccess) -> None:
        super().__init__()
        self._surface, self._entry, self._key, self._owner = surface, entry, key, owner

    def _place(self) -> tuple[int, int]:
        item = self._surface.flow.item_of(self._entry)
        laid = self._surface.flow.known(item) if item >= 0 else None
        return (item, laid.places.get(self._key, -1)) if laid is not None else (-1, -1)

    def isValid(self) -> bool:
        return self._place()[1] >= 0

    def object(self) -> QObject | None:  # type: ignore[override]
        return None

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        return self._owner

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def text(self, kind: QAccessible.Text) -> str:
        item, part = self._place()
        if kind != QAccessible.Text.Name or part < 0:
            return ""
        return part_name(self._surface, item, part)

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be written to."""

    def rect(self) -> QRect:
        item, part = self._place()
        for placed in self._surface.placed:
            if (placed.item, placed.part) == (item, part):
                port = self._surface.viewport()
                corner = port.mapToGlobal(QPoint(0, round(placed.top)))
                return QRect(corner.x(), corner.y(), port.width(), round(placed.height))
        return QRect()

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self._surface.focused == (self._entry, self._key)
        state.readOnly = True
        return state


class _ListAccess(QAccessibleInterface):
    """The surface."""

    def __init__(self, surface: Surface) -> None:
        super().__init__()
        self._surface = surface
        self._parts: dict[tuple[int, str], _PartAccess] = {}

    def _child(self, entry: int, key: str) -> QAccessibleInterface:
        found = self._parts.get((entry, key))
        if found is None:
            found = self._parts[entry, key] = _PartAccess(self._surface, entry, key, self)
            QAccessible.registerAccessibleInterface(found)
        return found

    def isValid(self) -> bool:
        return True

    def object(self) -> QObject:
        return self._surface

    def childCount(self) -> int:
        return len(self._surface.placed)

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        if not 0 <= index < len(self._surface.placed):
            return None
        placed = self._surface.placed[index]
        laid = self._surface.flow.laid(placed.item)
        return self._child(laid.entry, laid.parts[placed.part].key)

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        at = self._surface.viewport().mapFromGlobal(QPoint(x, y)).y()
        for index, placed in enumerate(self._surface.placed):
            if placed.top <= at < placed.top + placed.height:
                return self.child(index)
        return None

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        focused = self._surface.focused
        return self._child(*focused) if focused is not None else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return next((i for i in range(self.childCount()) if self.child(i) is child), -1)

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        above = self._surface.parentWidget()
        return QAccessible.queryAccessibleInterface(above) if above is not None else None

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.List

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._surface.accessibleName()
        if kind == QAccessible.Text.Description:
            return self._surface.accessibleDescription()
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be written to."""

    def rect(self) -> QRect:
        return QRect(self._surface.mapToGlobal(QPoint(0, 0)), self._surface.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self._surface.hasFocus()
        state.readOnly = True
        return state

    def drop(self) -> None:
        """The surface goes: so do its children, which Qt must not find any more."""
        for part in self._parts.values():
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(part))
        self._parts.clear()


_alive: list[_ListAccess] = []
"""Qt asks for an interface once and keeps it; nobody else holds it."""


def _made(_name: str, found: Any) -> QAccessibleInterface | None:
    if not isinstance(found, Surface):
        return None
    access = _ListAccess(found)
    _alive.append(access)

    def gone() -> None:
        access.drop()
        _alive.remove(access)

    found.destroyed.connect(gone)
    return access


class _Factory:
    installed = False


def install_accessibility() -> None:
    """Let screen readers see conversations; called before the first one is made."""
    if not _Factory.installed:
        _Factory.installed = True
        QAccessible.installFactory(_made)
