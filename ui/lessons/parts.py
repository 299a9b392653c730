"""The parts of the window that a step can light, by the names that lessons use."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QScrollArea, QWidget

from ui.main_window import MainWindow


class Part(Struct, frozen=True):
    """Widgets that are lit together, and the inspector's tab that holds them."""

    widgets: Callable[[MainWindow], tuple[QWidget, ...]]
    tab: str = ""
    """Empty: not in the inspector."""
    with_map: bool = False
    """Whether the map is lit too, where what is done in the part is to be watched."""


PARTS: dict[str, Part] = {
    "map": Part(lambda window: (window.map,)),
    "gauge": Part(lambda window: (window.header.gauge,)),
    "profile": Part(lambda window: (window.header.profile,)),
    "conversation": Part(lambda window: (window.agent,)),
    "entry": Part(lambda window: (window.entry,), "entry"),
    "context": Part(lambda window: (window.context,), "context"),
    "compaction": Part(lambda window: (window.compaction,), "compaction"),
    "budget": Part(lambda window: (window.compaction.setup.budget,), "compaction"),
    "sizes": Part(
        lambda window: (
            window.compaction.setup.keep,
            window.compaction.setup.rounds,
            window.compaction.setup.reserve,
            window.compaction.setup.window_size,
        ),
        "compaction",
        with_map=True,
    ),
    "ledger": Part(lambda window: (window.compaction.setup.table,), "compaction"),
    "instructions": Part(lambda window: (window.compaction.setup.instructions,), "compaction"),
    "request": Part(
        lambda window: (
            window.compaction.setup.request,
            window.compaction.setup.instructions,
        ),
        "compaction",
    ),
    "findings": Part(lambda window: (window.audit,), "audit"),
}
"""As many as ``lesson.PARTS`` names."""


def shown_rect(widget: QWidget, within: QWidget) -> QRect:
    """Where what can be seen of a widget is in another one; empty where nothing can."""
    if not widget.isVisible():
        return QRect()
    # Not its visible region, which leaves out what lies over it.
    rect = widget.rect().translated(widget.mapTo(within, QPoint(0, 0)))
    above = widget.parentWidget()
    while above is not None and above is not within:
        rect &= above.rect().translated(above.mapTo(within, QPoint(0, 0)))
        above = above.parentWidget()
    return rect & within.rect()


def bring_into_sight(widget: QWidget) -> None:
    """Scroll the area around a widget so that it is seen."""
    area = widget.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    if isinstance(area, QScrollArea):
        area.ensureWidgetVisible(widget, 0, 24)
