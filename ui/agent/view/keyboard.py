"""The keys of the conversation: one table from key to deed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from ui.agent.view.view import ConversationView

Key, Mod = Qt.Key, Qt.KeyboardModifier

KEY_HELP = (
    ("↑ ↓", "scroll"),
    ("Page Up, Page Down", "a screen up and down"),
    ("Home End", "the first and the last words"),
    ("J K, Ctrl+↓ Ctrl+↑", "next and previous part"),
    ("Enter", "open or fold a line; show any other part on the map"),
    ("← →", "fold and open"),
    ("M", "show the part on the map"),
    ("C", "copy the part, or what is selected"),
    ("Ctrl+C Ctrl+Shift+C", "copy, copy as Markdown"),
    ("Ctrl+A", "select everything"),
    ("Ctrl+F F3 Shift+F3", "find, next and previous place"),
    ("Esc", "back to the message"),
)

Deed = Callable[["ConversationView"], None]

_DEEDS: dict[tuple[Qt.Key, Qt.KeyboardModifier], Deed] = {
    (Key.Key_Up, Mod.NoModifier): lambda view: view.scroll_lines(-1),
    (Key.Key_Down, Mod.NoModifier): lambda view: view.scroll_lines(1),
    (Key.Key_PageUp, Mod.NoModifier): lambda view: view.scroll_page(-1),
    (Key.Key_PageDown, Mod.NoModifier): lambda view: view.scroll_page(1),
    (Key.Key_Space, Mod.NoModifier): lambda view: view.scroll_page(1),
    (Key.Key_Space, Mod.ShiftModifier): lambda view: view.scroll_page(-1),
    (Key.Key_Home, Mod.NoModifier): lambda view: view.to_start(),
    (Key.Key_End, Mod.NoModifier): lambda view: view.to_end(),
    (Key.Key_Home, Mod.ControlModifier): lambda view: view.focus_edge(-1),
    (Key.Key_End, Mod.ControlModifier): lambda view: view.focus_edge(1),
    (Key.Key_Up, Mod.ControlModifier): lambda view: view.focus_step(-1),
    (Key.Key_Down, Mod.ControlModifier): lambda view: view.focus_step(1),
    (Key.Key_K, Mod.NoModifier): lambda view: view.focus_step(-1),
    (Key.Key_J, Mod.NoModifier): lambda view: view.focus_step(1),
    (Key.Key_Return, Mod.NoModifier): lambda view: view.act_on_focus(),
    (Key.Key_Enter, Mod.NoModifier): lambda view: view.act_on_focus(),
    (Key.Key_Left, Mod.NoModifier): lambda view: view.open_focus(False),
    (Key.Key_Right, Mod.NoModifier): lambda view: view.open_focus(True),
    (Key.Key_M, Mod.NoModifier): lambda view: view.show_focus(),
    (Key.Key_C, Mod.NoModifier): lambda view: view.copy(),
    (Key.Key_C, Mod.ControlModifier): lambda view: view.copy(),
    (Key.Key_C, Mod.ControlModifier | Mod.ShiftModifier): lambda view: view.copy(markdown=True),
    (Key.Key_A, Mod.ControlModifier): lambda view: view.select_all(),
    (Key.Key_F, Mod.ControlModifier): lambda view: view.ask_find(),
    (Key.Key_F3, Mod.NoModifier): lambda view: view.ask_step(1),
    (Key.Key_F3, Mod.ShiftModifier): lambda view: view.ask_step(-1),
    (Key.Key_Escape, Mod.NoModifier): lambda view: view.leave(),
}


def _deed(event: QKeyEvent) -> Deed | None:
    return _DEEDS.get((Key(event.key()), event.modifiers() & ~Mod.KeypadModifier))


def is_view_key(event: QKeyEvent) -> bool:
    """Whether a key means something in the conversation."""
    return _deed(event) is not None


def press_key(view: ConversationView, event: QKeyEvent) -> bool:
    """Do what a key stands for; False when it stands for nothing here."""
    deed = _deed(event)
    if deed is None:
        return False
    deed(view)
    return True
