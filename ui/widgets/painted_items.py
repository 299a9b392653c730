"""Painted surfaces for screen readers: a list whose children are the items on screen.

Qt tells screen readers of widgets and of item views by itself, but not of what a widget paints.
Such items have a name, a place and a state, and no actions: whatever an item can do must be reached
by keys or a control as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, TypeVar

from PySide6 import QtCore
from PySide6.QtCore import QObject, QPoint, QRect, QRectF
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractScrollArea, QScrollArea, QWidget
from shiboken6 import isValid

Area = TypeVar("Area", bound=QAbstractScrollArea)


class PaintedItems(ABC):
    """What a surface has to tell of its items; each has a key that outlives scrolling."""

    @abstractmethod
    def shown(self) -> Sequence[Hashable]:
        """The items on screen, from the top."""

    @abstractmethod
    def name(self, key: Hashable) -> str | None:
        """What an item says; None when there is no such item any more."""

    @abstractmethod
    def rect(self, key: Hashable) -> QRectF:
        """Where an item is in the viewport; empty when it is not on screen."""

    @abstractmethod
    def current(self) -> Hashable | None:
        """The item that the keys go to."""


class _ItemAccess(QAccessibleInterface):
    """One item."""

    def __init__(self, owner: _ListAccess, key: Hashable) -> None:
        super().__init__()
        self._owner, self._key = owner, key

    def isValid(self) -> bool:
        return self._owner.items.name(self._key) is not None

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
        named = kind == QAccessible.Text.Name
        return (self._owner.items.name(self._key) or "") if named else ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be written to."""

    def rect(self) -> QRect:
        found = self._owner.items.rect(self._key).toAlignedRect()
        if found.isEmpty():
            return QRect()
        port = self._owner.area.viewport()
        return QRect(port.mapToGlobal(found.topLeft()), found.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        is_current = self._owner.items.current() == self._key
        state.focusable = state.selectable = state.readOnly = True
        state.selected = is_current
        state.focused = is_current and self._owner.area.hasFocus()
        return state


class _AreaAccess(QAccessibleInterface):
    """A scrolled area with its viewport and the scroll bars in sight.

    In the place of Qt's own, which reads behind the end of its list when a reader asks for a child
    that has gone since it counted them, such as a scroll bar that was hidden: the program died.
    """

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__()
        self.area = area
        area.destroyed.connect(self._drop)

    def _drop(self) -> None:
        """The area goes; Qt's binding holds this object to the end, and so nothing else may be."""
        vars(self).clear()

    def _widgets(self) -> list[QWidget]:
        bars = (self.area.horizontalScrollBar(), self.area.verticalScrollBar())
        # A bar stands in a box of its own, which is the area's child.
        boxes = [bar.parentWidget() for bar in bars if bar.isVisible()]
        return [self.area.viewport(), *(box for box in boxes if box is not None)]

    def isValid(self) -> bool:
        # Qt reports the end of a widget when the binding's half of it has gone already.
        return isValid(self.area)

    def object(self) -> QObject:
        return self.area

    def childCount(self) -> int:
        return len(self._widgets())

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        found = self._widgets()
        if not 0 <= index < len(found):
            return None
        return QAccessible.queryAccessibleInterface(found[index])

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        for widget in self._widgets():
            if widget.rect().contains(widget.mapFromGlobal(QPoint(x, y))):
                return QAccessible.queryAccessibleInterface(widget)
        return None

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        focus = self.area.focusWidget()
        return QAccessible.queryAccessibleInterface(focus) if focus is not None else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        found = self._widgets()
        widget = child.object()
        return found.index(widget) if widget in found else -1

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        above = self.area.parentWidget()
        return QAccessible.queryAccessibleInterface(above) if above is not None else None

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.Client

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self.area.accessibleName()
        if kind == QAccessible.Text.Description:
            return self.area.accessibleDescription()
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be written to."""

    def rect(self) -> QRect:
        return QRect(self.area.mapToGlobal(QPoint(0, 0)), self.area.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = self.area.focusPolicy() != QtCore.Qt.FocusPolicy.NoFocus
        state.focused = self.area.hasFocus()
        state.disabled = not self.area.isEnabled()
        state.invisible = not self.area.isVisible()
        return state


class _ListAccess(_AreaAccess):
    """A painted surface with its items."""

    def __init__(self, area: QAbstractScrollArea, items: PaintedItems) -> None:
        super().__init__(area)
        self.items = items
        self._made: dict[Hashable, _ItemAccess] = {}

    def _item(self, key: Hashable) -> QAccessibleInterface:
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = _ItemAccess(self, key)
            QAccessible.registerAccessibleInterface(found)
        return found

    def childCount(self) -> int:
        return len(self.items.shown())

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        keys = self.items.shown()
        return self._item(keys[index]) if 0 <= index < len(keys) else None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        at = self.area.viewport().mapFromGlobal(QPoint(x, y)).toPointF()
        for key in self.items.shown():
            if self.items.rect(key).contains(at):
                return self._item(key)
        return None

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        current = self.items.current()
        return self._item(current) if current is not None else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        keys = self.items.shown()
        return next((i for i, key in enumerate(keys) if self._made.get(key) is child), -1)

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.List

    def _drop(self) -> None:
        """The surface goes: so do its items, which Qt must not find any more."""
        for item in self._made.values():
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(item))
        super()._drop()


_tellers: dict[type[QAbstractScrollArea], Callable[[Any], PaintedItems]] = {}


def _make(_name: str, found: Any) -> QAccessibleInterface | None:
    """The interface of an object; Qt asks once, and its binding holds what is returned."""
    teller = next((tell for kind, tell in _tellers.items() if isinstance(found, kind)), None)
    if teller is not None:
        return _ListAccess(found, teller(found))
    return _AreaAccess(found) if isinstance(found, QScrollArea) else None


@cache
def install_accessibility() -> None:
    """Let screen readers see scrolled areas; called before the first one is made."""
    QAccessible.installFactory(_make)


def tell_items(kind: type[Area], teller: Callable[[Area], PaintedItems]) -> None:
    """Let screen readers see the items of a kind of surface; called before the first is made."""
    install_accessibility()
    _tellers[kind] = teller
