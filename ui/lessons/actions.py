"""The actions of the lessons."""

from __future__ import annotations

from ui.actions import HELP, NO_DATABASE, ActionRegistry, ActionSpec, MenuEntry
from ui.session import WindowSession


def lesson_actions(session: WindowSession) -> list[MenuEntry]:
    """For the menu Help and the palette."""
    return [
        (ActionSpec("lessons.open", "&Learn",
                    "Show or leave the lessons on how compaction works", HELP,
                    ("F4",)), session.lessons.toggle),
        (ActionSpec("lessons.file", "Open a l&esson…",
                    "Open a lesson file, with the session in it", HELP),
         session.lesson_files.choose),
    ]  # fmt: skip


def follow(session: WindowSession, registry: ActionRegistry) -> None:
    """Disable what cannot be done now."""
    registry.enable(("lessons.open", "lessons.file"), session.state.bench is not None, NO_DATABASE)
