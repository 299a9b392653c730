"""What a lesson moves in the window, taken before it and put back after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtWidgets import QSplitter

from ui.app_state import AppState
from ui.map.pane import Shown
from ui.map.rows import RowFilter

if TYPE_CHECKING:
    from ui.main_window import MainWindow


class SessionPlace(Struct, frozen=True):
    """Of one session: what is selected, previewed and seen."""

    key: int
    selected: int
    at: int | None
    cut: int | None
    zoom: float
    scrolled: int
    folded: tuple[int, ...]
    filter: RowFilter
    instructions: str


class WindowPlace(Struct, frozen=True):
    """Of the window: tab, map or list, sizes of panes, and the session, if one was open."""

    tab: str
    shown: Shown
    sizes: tuple[tuple[int, ...], ...]
    last_session: int
    session: SessionPlace | None


def _splitters(window: MainWindow) -> tuple[QSplitter, ...]:
    return window.upper, window.left, window.whole


def take_place(state: AppState) -> WindowPlace:
    """The place that the window has now."""
    window, document = state.window, state.document
    pane, session = window.map, None
    if document is not None:
        session = SessionPlace(
            document.key,
            pane.selected,
            window.compaction.at,
            window.compaction.cut,
            pane.view.zoom,
            pane.view.verticalScrollBar().value(),
            tuple(pane.folded),
            pane.filter,
            window.compaction.instructions(),
        )
    sizes = tuple(tuple(splitter.sizes()) for splitter in _splitters(window))
    return WindowPlace(window.tab, pane.shown, sizes, state.preferences.last_session, session)


def put_back_session(state: AppState, place: SessionPlace) -> None:
    """Give the session that is shown the place that it had; another one is left alone."""
    window, document = state.window, state.document
    if document is None or document.key != place.key:
        return
    pane, panel = window.map, window.compaction
    panel.set_at(place.at)
    panel.set_cut(place.cut)
    if panel.instructions() != place.instructions:
        panel.set_instructions(place.instructions)
    if pane.filter != place.filter:
        pane.set_filter(place.filter)
    if set(pane.folded) != set(place.folded):
        pane.set_folded(place.folded)
    pane.select(place.selected, reveal=False)
    pane.view.set_zoom(place.zoom)
    pane.view.scroll_to(place.scrolled)


def put_back_window(state: AppState, place: WindowPlace) -> None:
    """Give the window its tab, its map or list, and the sizes of its panes."""
    window = state.window
    if window.map.shown is not place.shown:
        window.map.show_as(place.shown)
    window.show_tab(place.tab)
    for splitter, sizes in zip(_splitters(window), place.sizes, strict=True):
        splitter.setSizes(list(sizes))
