"""The scrolled and zoomed surface of the map: what is on screen, and how to bring it there."""

from __future__ import annotations

import math

from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from ui.map.canvas import MOST_ZOOM, TOP, Geometry, Level, MapInks
from ui.map.cut_handle import cut_y, handle_rect
from ui.map.model import MapModel

_ZOOM_STEP = 1.25

_CONTEXT_ROWS = 5
"""Rows shown around an entry that another view asked for."""


class ZoomedArea(QAbstractScrollArea):
    """Rows of a ``MapModel`` at any height, with one place for every measure of the frame."""

    view_changed = Signal()
    """Scrolled or zoomed."""

    def __init__(self, model: MapModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.inks = MapInks.make(self.devicePixelRatioF())
        self._zoom = 1.0
        self._cut = -1
        self._at_end = True
        self._looked_at: tuple[float, float, int] | None = None
        """After a change of the look: a row, its share of the height, and the scroll bar's value
        with which it is there; the panes around get their new sizes later."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        # The minimap beside the map is its scroll bar.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)

    # measures --------------------------------------------------------------------------------

    def geometry_now(self) -> Geometry:
        """The measures of the frame that would be painted now."""
        size = self.viewport().size()
        scale = self.inks.scale
        geometry = Geometry(
            size.width(), size.height(), 1.0, self.verticalScrollBar().value(),
            self.model.rows.count, scale, self.model.lane_count,
            max(3, len(str(len(self.model.tree) - 1))),
        )  # fmt: skip
        return replace(geometry, row_height=max(1e-5, self._zoom * geometry.actual_row))

    @property
    def zoom(self) -> float:
        """1 is the actual size."""
        return self._zoom

    @property
    def level(self) -> Level:
        return self.geometry_now().level

    def visible_rows(self) -> list[int]:
        """The entries whose rows are on screen, from the top."""
        geometry = self.geometry_now()
        return [self.model.rows.entry(row) for row in range(geometry.first, geometry.stop)]

    def row_rect(self, entry: int) -> QRectF:
        """Where an entry's row is in the viewport; empty when it has none."""
        row = self.model.rows.row(entry)
        if row < 0:
            return QRectF()
        geometry = self.geometry_now()
        top = geometry.y(row)
        return QRectF(0, top, geometry.width, max(1.0, geometry.y(row + 1) - top))

    def cut_line(self) -> float:
        """The height of the cut's line in the viewport, -1 when there is none."""
        cut = self.cut_now()
        return cut_y(self.geometry_now(), self.model, cut) if cut >= 0 else -1.0

    def cut_now(self) -> int:
        """The position of the cut as drawn, -1 for none."""
        partition = self.model.partition
        if partition is None:
            return -1
        cut = self._cut if self._cut >= 0 else partition.cut
        return cut if 0 <= cut < len(partition.path) else -1

    def pill_rect(self) -> QRectF:
        """The handle of the cut in the viewport."""
        metrics = self.inks.small_metrics
        return handle_rect(self.model, self.cut_now(), self.geometry_now(), metrics)

    # scrolling and zoom ----------------------------------------------------------------------

    def _update_bar(self) -> None:
        geometry = self.geometry_now()
        bar = self.verticalScrollBar()
        bar.setPageStep(max(1, int(geometry.height - geometry.actual_row)))
        bar.setSingleStep(max(1, round(min(geometry.row_height, geometry.actual_row))))
        bar.setRange(0, max(0, int(geometry.content_height - geometry.height + 0.5)))

    def scroll_to(self, offset: float) -> None:
        """Bring this height of the whole map to the upper edge."""
        self.verticalScrollBar().setValue(round(offset))

    def scroll_to_row(self, row: float) -> None:
        """Bring a row to the middle."""
        geometry = self.geometry_now()
        self.scroll_to(row * geometry.row_height + TOP - geometry.height / 2)

    def _scrolled(self) -> None:
        bar = self.verticalScrollBar()
        self._at_end = bar.value() >= bar.maximum() - self.geometry_now().actual_row
        self.viewport().update()
        self.view_changed.emit()

    def set_zoom(self, zoom: float, anchor: float | None = None) -> None:
        """Zoom to a factor (1: actual size) keeping the row at ``anchor`` in place."""
        geometry = self.geometry_now()
        smallest = min(self.fit_zoom(), 0.25)
        zoom = min(MOST_ZOOM, max(smallest, zoom))
        if anchor is None:
            anchor = self._anchor()
        row = (anchor + geometry.offset - TOP) / geometry.row_height
        self._zoom = zoom
        self._update_bar()
        self.scroll_to(row * self.geometry_now().row_height + TOP - anchor)
        self.viewport().update()
        self.view_changed.emit()

    def _anchor(self) -> float:
        """The selected row where it is on screen, else the middle."""
        rect = self.row_rect(self.model.selected)
        middle = rect.center().y()
        height = self.viewport().height()
        return middle if not rect.isEmpty() and 0 <= middle <= height else height / 2

    def _row_looked_at(self) -> tuple[float, float]:
        """Where the cut or the selected row is in sight, or the middle: as a row of the whole map,
        and as a share of the height."""
        geometry, at = self.geometry_now(), self.cut_line()
        if not 0 < at < geometry.height:
            at = self._anchor()
        row = (at + geometry.offset - TOP) / geometry.row_height
        return row, at / max(1.0, geometry.height)

    def _look_at(self, row: float, share: float) -> None:
        geometry = self.geometry_now()
        self.scroll_to(row * geometry.row_height + TOP - share * geometry.height)
        self._looked_at = row, share, self.verticalScrollBar().value()

    def fit_zoom(self) -> float:
        """The factor at which everything is on screen, at most 1."""
        geometry = self.geometry_now()
        room = max(1.0, geometry.height - 2 * TOP)
        return min(1.0, room / max(1, geometry.rows) / geometry.actual_row)

    def zoom_in(self) -> None:
        self.set_zoom(self._zoom * _ZOOM_STEP)

    def zoom_out(self) -> None:
        self.set_zoom(self._zoom / _ZOOM_STEP)

    def fit(self) -> None:
        self.set_zoom(self.fit_zoom())

    def actual(self) -> None:
        self.set_zoom(1.0)

    def reveal(self, entry: int, *, centre: bool) -> None:
        """Scroll so that an entry's row is on screen."""
        rect = self.row_rect(entry)
        if rect.isNull():
            return
        geometry = self.geometry_now()
        rows = _CONTEXT_ROWS if centre else 1
        margin = min(rows * geometry.actual_row, geometry.height / 4)
        if rect.top() >= margin and rect.bottom() <= geometry.height - margin:
            return
        if centre and not -geometry.height < rect.top() < 2 * geometry.height:
            self.scroll_to(rect.center().y() + geometry.offset - geometry.height / 2)
        elif rect.top() < margin:
            self.scroll_to(geometry.offset + rect.top() - margin)
        else:
            self.scroll_to(geometry.offset + rect.bottom() - geometry.height + margin)

    def bring(self, entry: int) -> None:
        """Scroll by as little as shows the whole of an entry's row: what is in sight already, and
        not too far away, stays there."""
        rect, geometry = self.row_rect(entry), self.geometry_now()
        if rect.isNull():
            return
        if rect.top() < 0:
            self.scroll_to(geometry.offset + math.floor(rect.top()))
        elif rect.bottom() > geometry.height:
            self.scroll_to(geometry.offset + math.ceil(rect.bottom()) - geometry.height)
