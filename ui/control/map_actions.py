"""The actions of the map, of the cut and of the agent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ui.actions import ActionSpec, Entry
from ui.control import conversing
from ui.main_window import TABS
from ui.map.bar import Shown
from ui.map.rows import FILTER_TITLES, RowFilter

if TYPE_CHECKING:
    from ui.session import WindowSession

MAP, COMPACTION, AGENT = "M&ap", "Com&paction", "Ag&ent"

SHOWN_TITLES = {
    Shown.MAP: ("Show the &map", "The map alone"),
    Shown.BOTH: ("Show map an&d list", "The map and a list of the same entries"),
    Shown.LIST: ("Show the li&st", "A list of the entries, for keyboard and screen reader"),
}
NEEDS_SESSION = (
    *("zoom_in", "zoom_out", "fit", "actual"),
    *(f"filter_{choice.name.lower()}" for choice in RowFilter),
    *(f"shown_{shown.name.lower()}" for shown in Shown),
    *("rules", "workspace", "compare_profiles", "what_if"),
    *conversing.NEEDS_SESSION,
)
NEEDS_COMPACTIONS = ("fold_all", "unfold_all")
NEEDS_CUT = ("show_cut", "request")
NEEDS_TOLD = ("pin", "omit", "up_to_here", "from_here")


def map_actions(session: WindowSession) -> list[Entry]:
    """Zoom, filters, folds, and what is shown beside the map."""
    pane = session.window.map
    found: list[Entry] = [
        (ActionSpec("zoom_in", "Zoom &in", "See less of the session, larger (+ on the map)", MAP),
         pane.zoom_in),
        (ActionSpec("zoom_out", "Zoom &out", "From entries to turns to branches (− on the map)",
                    MAP), pane.zoom_out),
        (ActionSpec("fit", "&Whole session", "The whole session on screen (0 on the map)", MAP),
         pane.fit),
        (ActionSpec("actual", "&Actual size", "One row per entry (1 on the map)", MAP),
         pane.actual),
    ]  # fmt: skip
    for choice, title in zip(RowFilter, FILTER_TITLES, strict=True):
        found.append((
            ActionSpec(f"filter_{choice.name.lower()}", f"Filter: {title}",
                       f"Show on the map and in the list: {title.lower()}", MAP,
                       separator=choice is RowFilter.ALL),
            partial(pane.set_filter, choice),
        ))  # fmt: skip
    for shown, (title, tip) in SHOWN_TITLES.items():
        found.append((
            ActionSpec(f"shown_{shown.name.lower()}", title, tip, MAP,
                       separator=shown is Shown.MAP),
            partial(pane.show_as, shown),
        ))  # fmt: skip
    found += [
        (ActionSpec("fold_all", "&Fold what was summarized", "Fold every compaction (← on one)",
                    MAP, separator=True), lambda: pane.fold_all(True)),
        (ActionSpec("unfold_all", "&Unfold what was summarized",
                    "Unfold every compaction (→ on one)", MAP), lambda: pane.fold_all(False)),
    ]  # fmt: skip
    return found


def shaping_actions(session: WindowSession) -> list[Entry]:
    """What is done with the selected entry, for every compaction to come."""
    shaping, pane = session.shaping, session.window.map
    return [
        (ActionSpec("pin", "P&in or unpin",
                    "Keep the selected entry word for word through every compaction (P on the map)",
                    COMPACTION, ("Ctrl+Alt+I",), separator=True),
         lambda: shaping.toggle_pin(pane.selected)),
        (ActionSpec("omit", "&Omit or take in again",
                    "Leave the selected entry out of the context and of summaries (O on the map)",
                    COMPACTION, ("Ctrl+Alt+O",)), lambda: shaping.toggle_omission(pane.selected)),
        (ActionSpec("up_to_here", "Summarize up to &here…",
                    "A compaction whose cut falls after the selected entry", COMPACTION,
                    ("Ctrl+Alt+U",)), lambda: shaping.up_to(pane.selected)),
        (ActionSpec("from_here", "Summarize &from here…",
                    "Keep what stands before the selected entry, and tell the rest by a summary",
                    COMPACTION, ("Ctrl+Alt+H",)), lambda: shaping.from_here(pane.selected)),
    ]  # fmt: skip


def cut_actions(session: WindowSession) -> list[Entry]:
    """What the compaction panel offers besides its main buttons."""
    panel = session.window.compaction

    def show_cut() -> None:
        shown = panel.partition
        if shown is not None and shown.cut >= 0:
            session.window.map.select(shown.path[shown.cut])
            session.window.map.setFocus()

    def open_tab(then: str) -> None:
        session.window.inspector.setCurrentIndex(TABS.index("compaction"))
        if then == "rules":
            panel.show_rules_page()
        else:
            panel.show_requests()

    return [
        (ActionSpec("compare_profiles", "Co&mpare profiles…",
                    "What every profile would do at the selected entry, side by side",
                    COMPACTION, ("Ctrl+Shift+M",)), session.comparing.compare),
        (ActionSpec("what_if", "&What if…",
                    "What the session would have come to under other rules: sizes, tokens, cost",
                    COMPACTION, ("Ctrl+Alt+W",)), session.what_if.open),
        (ActionSpec("profiles", "&Profiles…",
                    "What each profile stands for, and where its numbers come from",
                    COMPACTION), session.profiles.show_profiles),
        (ActionSpec("show_cut", "Show the &cut", "Select the first entry that is kept, on the map",
                    COMPACTION, separator=True), show_cut),
        (ActionSpec("request", "Show the exact re&quest", "What would be sent to the summarizer",
                    COMPACTION), lambda: open_tab("request")),
        (ActionSpec("rules", "Ru&les of the profile", "The rules that compaction follows",
                    COMPACTION), lambda: open_tab("rules")),
    ]  # fmt: skip


def agent_actions(session: WindowSession) -> list[Entry]:
    """Stop, continue, answer, compact, and the folder of the agent."""
    return [
        (ActionSpec("compact_now", "&Compact now",
                    "Compact at the leaf without a review (/compact in the message box)", AGENT,
                    ("Ctrl+Alt+K",)), session.agent.compact_now),
        (ActionSpec("compact_not_now", "Do not compact n&ow",
                    "Leave a compaction that asks first; the turn goes on without it", AGENT,
                    ("Ctrl+Alt+N",)), session.watching.not_now),
        (ActionSpec("undo_and_go_on", "&Undo the compaction and go on",
                    "Take back what happened by itself, and let the agent go on without it", AGENT,
                    ("Ctrl+Alt+Z",)), session.taking_back.undo_and_go_on),
        (ActionSpec("models", "&Models…",
                    "Choose a model, set keys, and add servers of your own", AGENT,
                    ("Ctrl+M",)), session.models.open),
        (ActionSpec("keys_of_models", "&Keys of models…",
                    "Where the keys of providers are; set, test and remove them", AGENT),
         lambda: session.models.open(page="keys")),
        (ActionSpec("replay", "&Replay a session…",
                    "Play a recorded session again, to watch when it is compacted", AGENT),
         session.replaying.ask),
        (ActionSpec("workspace", "Choose &folder…", "The folder that the agent may work in",
                    AGENT), session.window.agent.workspace_requested.emit),
        (ActionSpec("question", "Go to the agent's &question",
                    "Put the keyboard on the card that asks whether the agent may do something",
                    AGENT, ("Shift+F7",)), session.agent.permission.focus),
        (ActionSpec("continue", "Con&tinue", "Let the agent go on where it was interrupted"
                    " (/continue in the message box)", AGENT), session.agent.go_on_pressed),
        (ActionSpec("stop", "&Stop the answer", "Stop the agent; what has arrived is kept", AGENT),
         session.agent.stop),
        *conversing.actions(session),
    ]  # fmt: skip
