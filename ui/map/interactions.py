"""Moving on the map: where the keys lead, and each gesture of the mouse as an object that lives
from press to release."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Protocol

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from ui.map.canvas import Geometry
from ui.map.cut_handle import cut_y
from ui.map.model import MapModel


def row_of_selection(model: MapModel) -> int:
    """The row of the selected entry, or where it would be; -1 when nothing is selected."""
    if model.selected < 0 or not model.rows.count:
        return -1
    return min(model.rows.floor(model.selected), model.rows.count - 1)


def entry_at_offset(model: MapModel, rows: int) -> int:
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


def edge_entry(model: MapModel, last: bool) -> int:
    """The first or the last entry that is shown."""
    count = model.rows.count
    return model.rows.entry(count - 1 if last else 0) if count else -1


def turn_entry(model: MapModel, direction: int) -> int:
    """The previous or next entry that starts a turn (A18)."""
    row = row_of_selection(model)
    if row < 0:
        return -1
    found = model.rows.next_turn(row) if direction > 0 else model.rows.previous_turn(row)
    return model.rows.entry(found) if found >= 0 else -1


def branch_point_entry(model: MapModel, direction: int) -> int:
    """The previous or next entry with several children that is shown."""
    return _next_shown(model, model.lanes.branch_points(), direction)


def compaction_entry(model: MapModel, direction: int) -> int:
    """The previous or next compaction that is shown."""
    return _next_shown(model, list(model.tree.columns.compactions), direction)


def _next_shown(model: MapModel, entries: list[int], direction: int) -> int:
    """Of entries in their order, the next one before or after the selected one; -1 for none."""
    if direction > 0:
        near = entries[bisect_right(entries, model.selected) :]
    else:
        near = entries[: bisect_left(entries, model.selected)][::-1]
    return next((entry for entry in near if model.rows.row(entry) >= 0), -1)


def entry_to_left(model: MapModel) -> int:
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


def entry_to_right(model: MapModel) -> int:
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


EDGE = 24
"""Pixels from the edge of the view at which a dragged cut scrolls it."""

SCROLL_STEP = 16


class GestureSurface(Protocol):
    """What gestures need of the view."""

    model: MapModel

    def geometry_now(self) -> Geometry: ...
    def scroll_to(self, offset: float) -> None: ...
    def show_cut(self, cut: int, *, dragging: bool) -> None: ...
    def drop_cut(self, cut: int) -> None: ...
    def click(self, at: QPointF) -> None: ...


class Gesture(Protocol):
    """Something that the mouse does between press and release."""

    def move(self, at: QPointF) -> None: ...
    def release(self, at: QPointF) -> None: ...
    def cancel(self) -> None: ...


class PanGesture:
    """A press that selects when it ends where it began, and moves the map when it does not."""

    def __init__(self, view: GestureSurface, at: QPointF, *, clicks: bool) -> None:
        self._view, self._from, self._clicks = view, at, clicks
        self._offset = view.geometry_now().offset
        self.is_panning = False

    def move(self, at: QPointF) -> None:
        distance = (at - self._from).manhattanLength()
        if self.is_panning or distance >= QApplication.startDragDistance():
            self.is_panning = True
            self._view.scroll_to(self._offset - (at.y() - self._from.y()))

    def release(self, at: QPointF) -> None:
        if self._clicks and not self.is_panning:
            self._view.click(at)

    def cancel(self) -> None:
        self._view.scroll_to(self._offset)


class FoldGesture:
    """A click on the handle of a compaction; leaving the handle before the release cancels it."""

    def __init__(self, view: GestureSurface, compaction: int, row: int) -> None:
        self._view, self._compaction, self._row = view, compaction, row

    def move(self, at: QPointF) -> None:
        """Do nothing: the release decides."""

    def release(self, at: QPointF) -> None:
        geometry = self._view.geometry_now()
        if geometry.row_at(at.y()) == self._row:
            self._view.model.toggle_fold(self._compaction)

    def cancel(self) -> None:
        """Nothing was changed yet."""


class CutGesture:
    """Drags the cut from one valid place to the next."""

    def __init__(self, view: GestureSurface, cut: int) -> None:
        self._view, self._first, self.cut = view, cut, cut
        view.show_cut(cut, dragging=True)

    def move(self, at: QPointF) -> None:
        geometry = self._view.geometry_now()
        if at.y() < EDGE:
            self._view.scroll_to(geometry.offset - SCROLL_STEP)
        elif at.y() > geometry.height - EDGE:
            self._view.scroll_to(geometry.offset + SCROLL_STEP)
        cut = nearest_cut(self._view.model, self._view.geometry_now(), at.y())
        if cut >= 0 and cut != self.cut:
            self.cut = cut
            self._view.show_cut(cut, dragging=True)

    def release(self, at: QPointF) -> None:
        self._view.drop_cut(self.cut)

    def cancel(self) -> None:
        """Escape: back to where it was."""
        self._view.show_cut(self._first, dragging=True)
        self._view.show_cut(self._first, dragging=False)


def useful_cuts(model: MapModel) -> list[int]:
    """The valid cuts that leave something to summarize: those after the boundary."""
    partition = model.partition
    if partition is None:
        return []
    cuts: list[int] = partition.valid_cuts
    return cuts[bisect_right(cuts, partition.boundary) :]


def nearest_cut(model: MapModel, geometry: Geometry, y: float) -> int:
    """The valid cut whose line is nearest to a height, -1 when there is none."""
    cuts = useful_cuts(model)
    if not cuts:
        return -1
    row = geometry.row_at(y)
    at = model.places.floor(model.rows.entry(row)) if row >= 0 else 0
    place = bisect_left(cuts, at)
    near = cuts[max(0, place - 1) : place + 3]
    return int(min(near, key=lambda cut: abs(cut_y(geometry, model, cut) - y)))


def next_cut(model: MapModel, cut: int, step: int) -> int:
    """The valid cut above (-1) or below (1) one, -1 when there is none."""
    cuts = useful_cuts(model)
    place = bisect_left(cuts, cut)
    if step > 0:
        place += place < len(cuts) and cuts[place] == cut
    else:
        place -= 1
    return int(cuts[place]) if 0 <= place < len(cuts) else -1
