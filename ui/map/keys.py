"""Where the keys lead on the map: rows, turns, branch points, parents and siblings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from ui.map.model import MapModel


def row_of_selection(model: MapModel) -> int:
    """The row of the selected entry, or where it would be; -1 when nothing is selected."""
    if model.selected < 0 or not model.rows.count:
        return -1
    return min(model.rows.floor(model.selected), model.rows.count - 1)


def step(model: MapModel, rows: int) -> int:
    """The entry so many rows away; the first or last one at the ends. -1: there are no rows."""
    count = model.rows.count
    if not count:
        return -1
    row = row_of_selection(model)
    if row < 0:
        return model.rows.entry(0 if rows > 0 else count - 1)
    hidden = model.rows.entry(row) != model.selected
    if hidden and rows > 0:
        rows -= 1
    return model.rows.entry(min(count - 1, max(0, row + rows)))


def edge(model: MapModel, last: bool) -> int:
    """The first or the last entry that is shown."""
    count = model.rows.count
    return model.rows.entry(count - 1 if last else 0) if count else -1


def turn(model: MapModel, direction: int) -> int:
    """The previous or next entry that starts a turn (A18)."""
    row = row_of_selection(model)
    if row < 0:
        return -1
    found = model.rows.next_turn(row) if direction > 0 else model.rows.previous_turn(row)
    return model.rows.entry(found) if found >= 0 else -1


def branch_point(model: MapModel, direction: int) -> int:
    """The previous or next entry with several children that is shown."""
    points = model.lanes.branch_points()
    if direction > 0:
        place = bisect_right(points, model.selected)
        near = points[place:]
    else:
        near = points[: bisect_left(points, model.selected)][::-1]
    return next((point for point in near if model.rows.row(point) >= 0), -1)


def left(model: MapModel) -> int:
    """Folds an open compaction, else leads to the parent; -1 when it folded or cannot go on."""
    entry = model.selected
    if entry in model.tree.columns.compactions and entry not in model.folded:
        model.toggle_fold(entry)
        return -1
    parent = model.tree.columns.parent
    above = parent[entry] if entry >= 0 else -1
    while above >= 0 and model.rows.row(above) < 0:
        above = parent[above]
    return above


def right(model: MapModel) -> int:
    """Unfolds a folded compaction, else leads to the next branch of the same parent, in a round;
    without siblings to the first child; -1 when it unfolded or cannot go on."""
    entry = model.selected
    if entry < 0:
        return -1
    if entry in model.folded:
        model.toggle_fold(entry)
        return -1
    above = model.tree.columns.parent[entry]
    beside = model.tree.children(above) if above >= 0 else model.tree.roots()
    shown = [other for other in beside if model.rows.row(other) >= 0]
    if len(shown) > 1:
        place = shown.index(entry) if entry in shown else -1
        return shown[(place + 1) % len(shown)]
    below = [child for child in model.tree.children(entry) if model.rows.row(child) >= 0]
    return below[0] if below else -1
