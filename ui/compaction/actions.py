"""The actions of compaction: preview, draft, undo, pins and omissions, the cut, profiles."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from ui.actions import AUDIT, BELOW, COMPACTION, TOOLS, ActionSpec, MenuEntry
from ui.session import WindowSession

NEEDS_DATABASE = ("extensions",)
NEEDS_SESSION = (
    "compact",
    "instructions",
    "prune",
    "save_report",
    "rules",
    "compare_profiles",
    "what_if",
)
NEEDS_CUT = ("show_cut", "request")
HERE = COMPACTION + BELOW + "At the selected &entry"
NEEDS_SELECTED_ENTRY = ("compact_here",)
NEEDS_ENTRY_ON_PATH = ("pin", "omit", "up_to_here", "from_here")


def compaction_actions(session: WindowSession) -> list[MenuEntry]:
    """Preview, draft, prune, undo and redo, report and extensions."""
    return [
        (ActionSpec("compact", "&Preview", "See what a compaction would summarize and keep",
                    COMPACTION, ("Ctrl+K",)), session.compaction.preview),
        (ActionSpec("summarize", "&Summarize", "Make a draft of the summary",
                    COMPACTION, ("Ctrl+Shift+K",)), session.compaction.start_from_action),
        (ActionSpec("instructions", "&Write instructions",
                    "Say what the next summary must not lose", COMPACTION, ("Ctrl+I",)),
         session.compaction.write_instructions),
        (ActionSpec("prune", "P&rune tool output…",
                    "See which old tool results could give way to notes, and why",
                    COMPACTION, ("Ctrl+Alt+P",)), session.pruning.ask),
        (ActionSpec("undo", "&Undo the latest compaction, prune, pin or omission",
                    "Take it back on the active path; its entry stays in the session",
                    COMPACTION, (QKeySequence.StandardKey.Undo,)), session.compaction.undo),
        (ActionSpec("redo", "Re&do what was taken back", "Go back to where the latest undo left",
                    COMPACTION, ("Ctrl+Shift+Z",)), session.compaction.redo),
        (ActionSpec("save_report", "Save a rep&ort…",
                    "Write what was kept and lost to a web page, Markdown or JSON",
                    AUDIT, ("Ctrl+Alt+S",)), session.report.choose),
        (ActionSpec("extensions", "&Extensions…",
                    "See which extensions are loaded, and why others are not",
                    TOOLS), session.extensions.open),
    ]  # fmt: skip


def shaping_actions(session: WindowSession) -> list[MenuEntry]:
    """What is done at or with the selected entry."""
    shaping, pane = session.entry_edits, session.window.map
    return [
        (ActionSpec("compact_here", "Pre&view a compaction here",
                    "See what a compaction at the selected entry would do; the leaf stays",
                    HERE, ("Ctrl+Alt+E",)),
         lambda: session.session_views.preview_at(pane.selected)),
        (ActionSpec("pin", "P&in or unpin",
                    "Keep the selected entry word for word through every compaction (P on the map)",
                    HERE, ("Ctrl+Alt+I",)),
         lambda: shaping.toggle_pin(pane.selected)),
        (ActionSpec("omit", "&Omit or take in again",
                    "Leave the selected entry out of the context and of summaries (O on the map)",
                    HERE, ("Ctrl+Alt+O",)), lambda: shaping.toggle_omission(pane.selected)),
        (ActionSpec("up_to_here", "Summarize up to &here…",
                    "A compaction whose cut falls after the selected entry", HERE,
                    ("Ctrl+Alt+U",)), lambda: shaping.up_to(pane.selected)),
        (ActionSpec("from_here", "Summarize &from here…",
                    "Keep what stands before the selected entry, and tell the rest by a summary",
                    HERE, ("Ctrl+Alt+H",)), lambda: shaping.from_here(pane.selected)),
    ]  # fmt: skip


def cut_actions(session: WindowSession) -> list[MenuEntry]:
    """What the compaction panel offers besides its main buttons."""
    panel = session.window.compaction

    def show_cut() -> None:
        shown = panel.partition
        if shown is not None and shown.cut >= 0:
            session.window.map.select(shown.path[shown.cut])
            session.window.map.setFocus()

    def open_tab(then: str) -> None:
        session.window.show_tab("compaction")
        if then == "rules":
            panel.show_rules_page()
        else:
            panel.show_requests()

    return [
        (ActionSpec("compare_profiles", "Co&mpare profiles…",
                    "What every profile would do at the selected entry, side by side",
                    TOOLS, ("Ctrl+Shift+M",)), session.profile_comparison.compare),
        (ActionSpec("what_if", "&What if…",
                    "What the session would have come to under other rules: sizes, tokens, cost",
                    AUDIT, ("Ctrl+Alt+W",)), session.what_if.open),
        (ActionSpec("profiles", "&Profiles…",
                    "What each profile stands for, and where its numbers come from",
                    TOOLS), session.profiles.show_profiles),
        (ActionSpec("show_cut", "Show the &cut", "Select the first entry that is kept, on the map",
                    COMPACTION, separator=True), show_cut),
        (ActionSpec("request", "Show the exact re&quest", "What would be sent to the summarizer",
                    COMPACTION), lambda: open_tab("request")),
        (ActionSpec("rules", "Ru&les of the profile", "The rules that compaction follows",
                    COMPACTION), lambda: open_tab("rules")),
    ]  # fmt: skip
