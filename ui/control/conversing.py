"""Between the conversation and the map: the keyboard, and an entry shown in the other of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from explorer.agent.tools.outputs import Outputs
from explorer.work.session_files import outputs_folder
from ui.actions import ActionSpec, Entry
from ui.control.desk import Desk

if TYPE_CHECKING:
    from ui.session import WindowSession

MENU = "Ag&ent"
NEEDS_SESSION = ("focus_conversation", "show_said", "find_said", "copy_said")


def show_said(desk: Desk, entry: int) -> None:
    """Show an entry of the map in the conversation, and put the keyboard there."""
    agent = desk.window.agent
    if entry < 0 or desk.document is None:
        return
    if agent.reveal(entry):
        agent.conversation.view.setFocus()
    else:
        desk.say(f"#{entry} is not on the active path, so it is not in the conversation")


def is_own_output(desk: Desk, path: Path) -> bool:
    """Whether a file is a whole output that this program's tools wrote for the open session."""
    document = desk.document
    if document is None:
        return False
    folder = outputs_folder(document.store.path, document.header.session_id)
    return Outputs(folder).is_own(path.resolve())


def menu_part(desk: Desk, menu: QMenu, entry: int) -> None:
    """What the menu of an entry offers of this."""
    document = desk.document
    action = menu.addAction("Show in the conversation")
    action.setEnabled(document is not None and entry in document.tree.path(document.leaf))
    action.triggered.connect(lambda: show_said(desk, entry))


def actions(session: WindowSession) -> list[Entry]:
    """To the conversation, and about in it."""
    desk, agent = session.desk, session.window.agent
    agent.conversation.is_own_file = lambda path: is_own_output(desk, path)
    return [
        (ActionSpec("focus_conversation", "Go to the con&versation",
                    "Put the keyboard on what was said", MENU, ("F9",), separator=True),
         agent.conversation.view.setFocus),
        (ActionSpec("show_said", "Show the entry in the conversat&ion",
                    "Scroll the conversation to what is selected on the map", MENU, ("Shift+F9",)),
         lambda: show_said(desk, session.window.map.selected)),
        (ActionSpec("find_said", "Fi&nd in the conversation…",
                    "Find words in what was said (Ctrl+F there)", MENU, ("Ctrl+Alt+F",)),
         agent.conversation.bar.open_bar),
        (ActionSpec("copy_said", "Copy the conversation as &Markdown",
                    "All that was said on the active path", MENU),
         agent.conversation.view.copy_all),
    ]  # fmt: skip
