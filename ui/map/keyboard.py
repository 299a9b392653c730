"""The keys of the map: one table from key to deed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from ui.map import keys

if TYPE_CHECKING:
    from ui.map.view import MapView

Key, Mod = Qt.Key, Qt.KeyboardModifier
_IGNORED = Mod.KeypadModifier | Mod.ShiftModifier
"""Shift is part of how some layouts write + and the brackets."""

KEY_HELP = (
    ("↑ ↓", "previous and next row"),
    ("Home End", "first and last row"),
    ("Page Up, Page Down", "a screen up and down"),
    ("Ctrl+↑ Ctrl+↓", "previous and next turn"),
    ("[ ]", "previous and next branch point"),
    ("←", "fold a compaction, or go to the parent"),
    ("→", "unfold a compaction, or go to the next branch"),
    ("Enter", "go there"),
    ("Alt+↑ Alt+↓", "move the cut to the next valid place"),
    ("P", "pin, or unpin"),
    ("O", "omit, or take in again"),
    ("+ − 0 1", "zoom in, out, fit all, actual size"),
)


def _select(target: Callable[[MapView], int]) -> Callable[[MapView], None]:
    def deed(view: MapView) -> None:
        entry = target(view)
        if entry >= 0:
            view.model.select(entry)
        if view.model.selected >= 0:
            view.reveal(view.model.selected, centre=False)

    return deed


def _activate(view: MapView) -> None:
    if view.model.selected >= 0:
        view.activated.emit(view.model.selected)


def _shape(view: MapView, how: str) -> None:
    if view.model.selected >= 0:
        view.shape_asked.emit(how, view.model.selected)


def _page(view: MapView, direction: int) -> int:
    geometry = view.geometry_now()
    rows = max(1, int(geometry.height / max(geometry.row_height, 1e-5)) - 1)
    return keys.step(view.model, direction * rows)


_DEEDS: dict[tuple[Qt.Key, Qt.KeyboardModifier], Callable[[MapView], None]] = {
    (Key.Key_Up, Mod.NoModifier): _select(lambda view: keys.step(view.model, -1)),
    (Key.Key_Down, Mod.NoModifier): _select(lambda view: keys.step(view.model, 1)),
    (Key.Key_Home, Mod.NoModifier): _select(lambda view: keys.edge(view.model, False)),
    (Key.Key_End, Mod.NoModifier): _select(lambda view: keys.edge(view.model, True)),
    (Key.Key_PageUp, Mod.NoModifier): _select(lambda view: _page(view, -1)),
    (Key.Key_PageDown, Mod.NoModifier): _select(lambda view: _page(view, 1)),
    (Key.Key_Up, Mod.ControlModifier): _select(lambda view: keys.turn(view.model, -1)),
    (Key.Key_Down, Mod.ControlModifier): _select(lambda view: keys.turn(view.model, 1)),
    (Key.Key_BracketLeft, Mod.NoModifier): _select(lambda view: keys.branch_point(view.model, -1)),
    (Key.Key_BracketRight, Mod.NoModifier): _select(lambda view: keys.branch_point(view.model, 1)),
    (Key.Key_Left, Mod.NoModifier): _select(lambda view: keys.left(view.model)),
    (Key.Key_Right, Mod.NoModifier): _select(lambda view: keys.right(view.model)),
    (Key.Key_Return, Mod.NoModifier): _activate,
    (Key.Key_Enter, Mod.NoModifier): _activate,
    (Key.Key_Up, Mod.AltModifier): lambda view: view.move_cut(-1),
    (Key.Key_Down, Mod.AltModifier): lambda view: view.move_cut(1),
    (Key.Key_Plus, Mod.NoModifier): lambda view: view.zoom_in(),
    (Key.Key_Equal, Mod.NoModifier): lambda view: view.zoom_in(),
    (Key.Key_Minus, Mod.NoModifier): lambda view: view.zoom_out(),
    (Key.Key_P, Mod.NoModifier): lambda view: _shape(view, "pin"),
    (Key.Key_O, Mod.NoModifier): lambda view: _shape(view, "omit"),
    (Key.Key_0, Mod.NoModifier): lambda view: view.fit(),
    (Key.Key_1, Mod.NoModifier): lambda view: view.actual(),
}


def _deed(event: QKeyEvent) -> Callable[[MapView], None] | None:
    return _DEEDS.get((Key(event.key()), event.modifiers() & ~_IGNORED))


def is_map_key(event: QKeyEvent) -> bool:
    """Whether a key means something on the map."""
    return _deed(event) is not None


def press_key(view: MapView, event: QKeyEvent) -> bool:
    """Do what a key stands for; False when it stands for nothing here."""
    deed = _deed(event)
    if deed is None:
        return False
    deed(view)
    return True
