"""The actions of the map: zoom, filters, folds, and what is shown beside it."""

from __future__ import annotations

from functools import partial

from ui.actions import BELOW, MAP, ActionSpec, MenuEntry
from ui.map.pane import Shown
from ui.map.rows import FILTER_TITLES, RowFilter
from ui.session import WindowSession

SHOWN_TITLES = {
    Shown.MAP: ("Show the &map", "The map alone"),
    Shown.BOTH: ("Show map an&d list", "The map and a list of the same entries"),
    Shown.LIST: ("Show the li&st", "A list of the entries, for keyboard and screen reader"),
}
NEEDS_SESSION = (
    *("zoom_in", "zoom_out", "fit", "actual"),
    *(f"filter_{choice.name.lower()}" for choice in RowFilter),
    *(f"shown_{shown.name.lower()}" for shown in Shown),
)
NEEDS_COMPACTIONS = ("fold_all", "unfold_all", "previous_compaction", "next_compaction")


def map_actions(session: WindowSession) -> list[MenuEntry]:
    """Zoom, filters, folds, what is shown beside the map, and the way to compactions."""
    pane = session.window.map
    found: list[MenuEntry] = [
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
                       f"Show on the map and in the list: {title.lower()}",
                       MAP + BELOW + "Fil&ter"),
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
        (ActionSpec("previous_compaction", "&Previous compaction",
                    "Select the compaction before the selected entry ({ on the map)", MAP),
         partial(pane.select_compaction, -1)),
        (ActionSpec("next_compaction", "&Next compaction",
                    "Select the compaction after the selected entry (} on the map)", MAP),
         partial(pane.select_compaction, 1)),
    ]  # fmt: skip
    return found
