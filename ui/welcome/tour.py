"""The callouts of the example: the tree, the cut, and what was lost, each at the thing itself."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QRect, QRectF
from PySide6.QtWidgets import QWidget

from ui.app_state import AppState
from ui.widgets.callout import Callout, Note

TREE, CUT, LOST = range(3)
TEXTS = (
    ("The tree", "Time runs down. The strong line is the active path, which the agent goes on "
     "from; where it was left, a branch stands beside it. Click an entry to read it, press Enter "
     "to go back to it."),
    ("The cut", "A compaction would summarize what is above this line and keep what is below it. "
     "Drag the line, or move the sliders at the right, and read what changes."),
    ("What was lost", "For every compaction of the session: what had to be done again after it, "
     "and what its summary left out or says wrongly, with the entries as evidence."),
)  # fmt: skip


class TourController(QObject):
    """Shows them once by itself, and again when it is asked to."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self.callout = Callout(state.window)
        self.callout.turned.connect(self._turned)
        self.callout.ended.connect(self._ended)
        state.document_changed.connect(self.callout.end)

    @property
    def is_due(self) -> bool:
        """Whether they were not shown yet."""
        return not self._state.preferences.tour_seen

    def begin(self) -> None:
        """Show them, at the session that is shown."""
        if self._state.document is None:
            return
        places = (self._tree, self._cut, self._lost)
        notes = (Note(*text, place) for text, place in zip(TEXTS, places, strict=True))
        self.callout.begin(tuple(notes))

    def _turned(self, at: int) -> None:
        """Bring into sight what is told of."""
        window, document = self._state.window, self._state.document
        assert document is not None
        if at == TREE:
            points = [p for p in document.tree.branch_points() if p in self._path()]
            if points:
                window.map.view.reveal(points[-1], centre=True)
        elif at == CUT:
            window.show_tab("compaction")
            window.map.show_cut()
        else:
            window.show_tab("audit")

    def _ended(self) -> None:
        self._state.preferences.tour_seen = True
        if self._state.document is not None:
            self._state.window.map.setFocus()

    # where the things are ------------------------------------------------------------------------

    def _path(self) -> set[int]:
        document = self._state.document
        return set(document.tree.path(document.leaf)) if document is not None else set()

    def _tree(self) -> QRect:
        """The lane of the last branch point on the active path that is on screen."""
        document, view = self._state.document, self._state.window.map.view
        if document is None:
            return QRect()
        lanes = view.geometry_now()
        for entry in reversed(document.tree.branch_points()):
            line = view.row_rect(entry)
            left = lanes.lane_x(0)
            dot = QRectF(left - 6, line.top(), lanes.lane_x(1) - left + 12, line.height())
            if not line.isNull() and view.viewport().rect().contains(dot.toRect()):
                return self._in_window(view.viewport(), dot)
        return self._in_window(view.viewport(), QRectF(view.viewport().rect()))

    def _cut(self) -> QRect:
        view = self._state.window.map.view
        handle = view.pill_rect()
        if view.cut_now() < 0 or not view.viewport().rect().contains(handle.toRect()):
            return QRect()
        return self._in_window(view.viewport(), handle)

    def _lost(self) -> QRect:
        bar = self._state.window.audit.bar
        return self._in_window(bar, QRectF(bar.rect()))

    def _in_window(self, widget: QWidget, rect: QRectF) -> QRect:
        """A part of a widget in the window's coordinates; empty where it is not shown."""
        if not widget.isVisible():
            return QRect()
        area = rect.toRect()
        at = widget.mapTo(self._state.window, QPoint(0, 0))
        return area.translated(at)
