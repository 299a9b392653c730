"""The actions of branching with the agent."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QMenu

from ui.actions import (
    AGENT,
    GO,
    NO_LEAF,
    NO_SESSION,
    SESSION,
    ActionRegistry,
    ActionSpec,
    MenuEntry,
    add_change,
)
from ui.session import WindowSession


def go_actions(session: WindowSession) -> list[MenuEntry]:
    """What is done with the selected entry."""
    window = session.window
    return [
        (ActionSpec("edit_again", "&Edit and send again",
                    "Write the message of the selected turn anew; it becomes a branch of its own",
                    GO, ("Ctrl+E",)),
         lambda: session.navigation.edit_again(_pointed_at(session))),
        (ActionSpec("compare_branches", "&Compare branches…",
                    "The branch of the selected entry beside the active path", GO,
                    ("Ctrl+D",)),
         lambda: session.differences.compare_with_active(window.map.selected)),
    ]  # fmt: skip


def _pointed_at(session: WindowSession) -> int:
    """The message with the keyboard in the conversation, else what is selected on the map."""
    focused = session.window.agent.focused_entry
    return focused if focused >= 0 else session.window.map.selected


def connect(session: WindowSession) -> None:
    """Offer them where entries are shown, too."""
    offer = partial(fill_menu, session)
    session.session_views.menu_opening.connect(offer)
    session.window.agent.menu_opening.connect(offer)
    session.window.entry.edit_requested.connect(session.navigation.edit_again)


def session_actions(session: WindowSession) -> list[MenuEntry]:
    """Forks, and the sessions one step away."""
    window = session.window
    return [
        (ActionSpec("fork", "&Fork to a new session…",
                    "The path to the selected entry, or all branches, as a session of its own",
                    SESSION, ("Ctrl+Shift+B",)),
         lambda: session.forks.ask(window.map.selected)),
        (ActionSpec("parent_session", "Open the session a&bove",
                    "The session that this one was forked from or started by, where that was",
                    GO, ("Ctrl+Alt+Up",), separator=True), session.related.go_to_parent),
        (ActionSpec("child_session", "Open the session belo&w",
                    "The sub-agent that the selected entry started, or the first fork",
                    GO, ("Ctrl+Alt+Down",)),
         lambda: session.related.open_started(window.map.selected)),
    ]  # fmt: skip


def agent_actions(session: WindowSession) -> list[MenuEntry]:
    """What is done with the agent."""
    return [
        (ActionSpec("side_by_side", "Ask se&veral models…",
                    "The same message to several models at once, each on a branch of its own",
                    AGENT, ("Ctrl+Shift+E",)), session.runs.ask),
    ]  # fmt: skip


def fill_menu(session: WindowSession, menu: QMenu, entry: int) -> None:
    """Fill in what the menu of an entry on the map offers."""
    menu.addSeparator()
    navigation = session.navigation
    refused = session.state.read_only
    if navigation.message_of(entry) >= 0:
        add_change(menu, "Edit and send again", lambda: navigation.edit_again(entry), refused)
    session.related.fill_menu(menu, entry)
    add_change(menu, "Fork to a new session…", lambda: session.forks.ask(entry), refused)
    document = session.state.document
    if document is not None and not document.tree.is_ancestor(entry, document.leaf):
        menu.addAction("Compare with the active path").triggered.connect(
            lambda: session.differences.compare_with_active(entry)
        )


def follow(session: WindowSession, registry: ActionRegistry) -> None:
    """Disable what cannot be done now."""
    document, selected = session.state.document, session.window.map.selected
    is_message = session.navigation.message_of(selected) >= 0
    registry.enable(("edit_again",), is_message, "Select an entry of a turn on the map first.")
    has_leaf = document is not None and document.leaf >= 0
    registry.enable(("fork", "compare_branches"), has_leaf, NO_LEAF)
    registry.enable(("side_by_side",), document is not None, NO_SESSION)
    no_parent = "No session is known from which this one came."
    registry.enable(("parent_session",), session.related.has_parent, no_parent)
    has_child = bool(session.related.related.children)
    registry.enable(("child_session",), has_child, "No session is known that came from this one.")
