"""What is done with summaries: their findings, and one beside another."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu

from explorer.session.kinds import Kind
from ui.actions import AUDIT, NO_SESSION, ActionRegistry, ActionSpec, MenuEntry, add_change
from ui.audit.compare.subjects import SummaryKey
from ui.session import WindowSession


def compare_actions(session: WindowSession) -> list[MenuEntry]:
    """For menus and the palette."""
    return [
        (ActionSpec("compare_summaries", "Compare s&ummaries…",
                    "Drafts, compactions and branch summaries side by side, section by section",
                    AUDIT, ("Ctrl+Alt+M",)),
         lambda: session.draft_comparison.compare_entry(session.window.map.selected)),
        (ActionSpec("fidelity", "What a summary &lacks",
                    "What a compaction should have kept, and what it states wrongly",
                    AUDIT, ("Ctrl+Alt+L",)), session.fidelity.show_page),
        (ActionSpec("recall_test", "Rec&all test…",
                    "Questions on what the selected compaction summarized, to a model that sees "
                    "what the agent sees after it", AUDIT, ("Ctrl+Alt+Q",)),
         session.recall.open_selected),
    ]  # fmt: skip


def follow(session: WindowSession, registry: ActionRegistry) -> None:
    """Disable what cannot be done now."""
    is_open = session.state.document is not None
    registry.enable(("compare_summaries", "fidelity", "recall_test"), is_open, NO_SESSION)


def fill_menu(session: WindowSession, menu: QMenu, entry: int) -> None:
    """Fill in what the menu of a summary on the map offers."""
    document = session.state.document
    if document is None:
        return
    kind = document.tree.kind(entry)
    if kind not in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        return
    menu.addSeparator()
    if kind is Kind.COMPACTION:
        lost = menu.addAction("What this summary lacks")
        lost.triggered.connect(lambda: session.fidelity.look_at_entry(entry))
        refused, key = session.state.read_only, SummaryKey("entry", entry)
        add_change(menu, "Recall test…", lambda: session.recall.open(key), refused)
        check = "Check and mend this summary…"
        no_mending = refused or document.compaction.why_not_mended(entry)
        add_change(menu, check, lambda: session.summary_check.open_compaction(entry), no_mending)
    window = session.draft_comparison.window
    is_open = window is not None and window.isVisible()
    words = "Add to the comparison" if is_open else "Compare this summary…"
    menu.addAction(words).triggered.connect(lambda: session.draft_comparison.compare_entry(entry))
