"""The workshop's actions: the words sent to models, and a summary checked."""

from __future__ import annotations

from ui.actions import AUDIT, NO_DATABASE, TOOLS, ActionRegistry, ActionSpec, MenuEntry
from ui.session import WindowSession


def workshop_actions(session: WindowSession) -> list[MenuEntry]:
    """For menus and the palette."""
    return [
        (ActionSpec("check_mend", "Chec&k and mend a summary…",
                    "What the draft, else the selected compaction, lost, and one more call to put "
                    "it back, if you want that",
                    AUDIT, ("Ctrl+Alt+C",)), session.summary_check.open),
        (ActionSpec("workshop", "Prompt &workshop…",
                    "See, change, compare and try the words that are sent to models",
                    TOOLS, ("Ctrl+Alt+T",)), lambda: session.workshop.open()),
    ]  # fmt: skip


def follow(session: WindowSession, registry: ActionRegistry) -> None:
    """Disable what cannot be done now."""
    registry.enable(("workshop",), session.state.bench is not None, NO_DATABASE)
    no_summary = "There is no draft or compaction to check."
    registry.enable(("check_mend",), session.summary_check.can_check, no_summary)
