"""One family of icons: 16 by 16, strokes of 1.5, round ends, tinted from the tokens."""

from __future__ import annotations

from typing import Any

from PySide6 import QtCore
from PySide6.QtCore import QByteArray, QObject, QRectF, QSize
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from ui.theme.manager import theme, theme_signals
from ui.theme.tokens import blend, scaled

# Path data only; the frame around it gives every icon the same stroke. "F" starts a filled part.
_PATHS: dict[str, str] = {
    "user": "M5 3l6 5-6 5z",
    "assistant": "M8 1.8c.6 3.7 2.5 5.6 6.2 6.2-3.7.6-5.6 2.5-6.2 6.2-.6-3.7-2.5-5.6-6.2-6.2 "
    "3.7-.6 5.6-2.5 6.2-6.2z",
    "thinking": "M8 2.2h.01M12.1 3.9h.01M13.8 8h.01M12.1 12.1h.01M8 13.8h.01M3.9 12.1h.01"
    "M2.2 8h.01M3.9 3.9h.01M6.6 8h2.8",
    "tool": "M13.5 4.4a3.4 3.4 0 0 1-4.6 4.1l-4.6 4.9a1.3 1.3 0 0 1-1.8-1.8l4.9-4.6a3.4 3.4 0 0 1 "
    "4.1-4.6L9.4 4.5l2 2z",
    "result": "M6 4.5L2.5 8 6 11.5M2.5 8h8a3 3 0 0 0 3-3V3.5",
    "shell": "M2.5 4l4 4-4 4M8 12.5h5.5",
    "python": "M5 3.5L2 8l3 4.5M11 3.5L14 8l-3 4.5M9.3 3l-2.6 10",
    "note": "M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.5 8.5h5M5.5 11h3.5",
    "compaction": "M8 1.5v4.5M5.8 4L8 6.2 10.2 4M8 14.5V10M5.8 12L8 9.8l2.2 2.2M2 8h12",
    "branch": "M4.5 5v6M4.5 11a1.6 1.6 0 1 0 .01 0M4.5 5a1.6 1.6 0 1 1 .01 0M11.5 5.2"
    "a1.6 1.6 0 1 1 .01 0c0 3-2 3.6-7 4.3",
    "unknown": "M6 6a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M8 11.7h.01M8 1.8a6.2 6.2 0 1 0 .01 0",
    "prune": "M2.5 4h11M2.5 8h.01M6.2 8h.01M9.8 8h.01M13.5 8h.01M2.5 12h11",
    "omit": "M8 2.2a5.8 5.8 0 1 0 .01 0M4 12L12 4",
    "label": "M4 14V2.5M4 3h8l-2 3 2 3H4",
    "model": "M2.5 5.5h10M10 3l2.5 2.5L10 8M13.5 10.5h-10M6 8l-2.5 2.5L6 13",
    "reset": "M2.5 8h11M5 4.5h6M5 11.5h6",
    "settings": "M2 4.5h6M12 4.5h2M8 4.5a2 2 0 1 0 4 0 2 2 0 1 0-4 0M2 11.5h2M8 11.5h6"
    "M4 11.5a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
    "file": "M4 1.8h5.5L13 5.3v8.9H4zM9.3 1.8v3.7H13",
    "folder": "M1.8 4h4.4l1.5 1.8h6.5v7.2H1.8z",
    "session": "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
    "search": "M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3L14 14",
    "copy": "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
    "close": "M4 4l8 8M12 4l-8 8",
    "check": "M3 8.5L6.5 12 13 4.5",
    "plus": "M8 3v10M3 8h10",
    "minus": "M3 8h10",
    "warning": "M8 2.2L14.3 13.3H1.7zM8 6.5v3.2M8 11.5h.01",
    "info": "M8 1.8a6.2 6.2 0 1 0 .01 0M8 7.3v4M8 4.9h.01",
    "error": "M8 1.8a6.2 6.2 0 1 0 .01 0M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
    "pause": "M5 3v10M11 3v10",
    "play": "M4.5 2.8v10.4l8.5-5.2z",
    "stop": "M4 4h8v8H4z",
    "send": "M2 8l12-5.5-4 11L7.5 9zM7.5 9L14 2.5",
    "undo": "M5.5 3L2.5 6l3 3M2.5 6h7a3.8 3.8 0 0 1 0 7.5H6",
    "redo": "M10.5 3l3 3-3 3M13.5 6h-7a3.8 3.8 0 0 0 0 7.5H10",
    "refresh": "M13.2 6.5A5.5 5.5 0 1 0 13 10M13.5 3v3.7H9.8",
    "chevron-down": "M4 6.2l4 4 4-4",
    "chevron-up": "M4 9.8l4-4 4 4",
    "chevron-right": "M6.2 4l4 4-4 4",
    "chevron-left": "M9.8 4l-4 4 4 4",
    "arrow-right": "M2.5 8h11M9.5 4l4 4-4 4",
    "arrow-up": "M8 13.5v-11M4 6.5l4-4 4 4",
    "external": "M9.5 2.5h4v4M13.5 2.5L7.5 8.5M11.5 9v4.5h-9v-9H7",
    "filter": "M2 3h12L9.5 8.5v5l-3-1.8V8.5z",
    "zoom-in": "M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3L14 14M7 5v4M5 7h4",
    "zoom-out": "M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3L14 14M5 7h4",
    "fit": "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
    "trash": "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",
    "edit": "M3 13l.6-3L11 2.6 13.4 5 6 12.4zM9.4 4.2l2.4 2.4",
    "keyboard": "M1.5 4h13v8.5h-13zM4 6.7h.01M6.7 6.7h.01M9.3 6.7h.01M12 6.7h.01M4.5 9.8h7",
    "command": "M1.5 3h13v10h-13zM4 6l2 2-2 2M8 10.2h4",
    "sun": "M8 5.2a2.8 2.8 0 1 0 .01 0M8 1.2v1.3M8 13.5v1.3M1.2 8h1.3M13.5 8h1.3M3.2 3.2l.9.9"
    "M11.9 11.9l.9.9M12.8 3.2l-.9.9M4.1 11.9l-.9.9",
    "moon": "M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7z",
    "eye": "M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8z"
    "M8 6a2 2 0 1 0 .01 0",
    "raw": "M5.5 2.5C3.5 2.5 5 7.5 2.5 8 5 8.5 3.5 13.5 5.5 13.5M10.5 2.5c2 0 .5 5 3 5.5-2.5.5-1 "
    "5.5-3 5.5",
    "diff": "M8 2.5v5M5.5 5h5M5.5 12h5",
    "image": "M2 3h12v10H2zM2 11l3.5-3.5L9 11l2-2 3 3M10.5 6h.01",
    "pin": "M6 2h4M7 2v4L4.5 9h7L9 6V2M8 9v5",
    "lock": "M3.5 7h9v6.5h-9zM5.5 7V4.8a2.5 2.5 0 0 1 5 0V7",
    "history": "M2.7 6A5.6 5.6 0 1 1 2.4 9M2.2 3v3.2h3.2M8 5v3.2l2.2 1.4",
    "target": "M8 2.2a5.8 5.8 0 1 0 .01 0M8 5.6a2.4 2.4 0 1 0 .01 0M8 .8v2"
    "M8 13.2v2M.8 8h2M13.2 8h2",
    "download": "M8 2v8M4.7 7L8 10.3 11.3 7M2.5 13.5h11",
    "upload": "M8 10.5v-8M4.7 5.5L8 2.2l3.3 3.3M2.5 13.5h11",
    "save": "M2.5 2.5h9l2 2v9h-11zM5 2.5v3.5h5V2.5M5 13.5V9h6v4.5",
    "book": "M8 4C6.5 2.8 4.5 2.5 2 2.5v10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v-10c-2.5 0-4.5.3"
    "-6 1.5zM8 4v10",
    "compare": "M2.5 2.5h4.5v11H2.5zM9 2.5h4.5v11H9z",
    "list": "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
    "map": "M4.5 1.5v13M4.5 5c4.5 0 6.5 1 6.5 4v5.5M4.5 11.5h.01",
    "cut": "M2 8h3M7 8h2M11 8h3M8 2v3M6.3 3.7L8 2l1.7 1.7M8 14v-3M6.3 12.3L8 14l1.7-1.7",
    "more": "M3.5 8h.01M8 8h.01M12.5 8h.01",
    "panel-left": "M2 3h12v10H2zM6 3v10",
    "panel-right": "M2 3h12v10H2zM10 3v10",
    "panel-bottom": "M2 3h12v10H2zM2 9.5h12",
}

ICON_NAMES = tuple(_PATHS)

_DOTTED = {"thinking", "more", "list", "keyboard"}
_SIZES = (16, 20, 24)
_RATIOS = (1.0, 2.0)

_icons: dict[tuple[str, str, str], QIcon] = {}
# Lists paint one per row and frame; there are few names, colours and sizes.
_pixmaps: dict[tuple[str, int, int, float], QPixmap] = {}


def _svg(name: str, colour: QColor) -> QByteArray:
    width = 1.9 if name in _DOTTED else 1.5
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
        f'<path d="{_PATHS[name]}" fill="none" stroke="{colour.name()}" stroke-width="{width}" '
        'stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )
    return QByteArray(text.encode())


def _colour(tint: str | QColor) -> QColor:
    if isinstance(tint, QColor):
        return tint
    colour: QColor = getattr(theme(), tint)
    return colour


def icon_pixmap(name: str, tint: str | QColor = "ink", size: int = 16, dpr: float = 1.0) -> QPixmap:
    """An icon as a picture. ``size`` in logical pixels, ``tint`` a token's name or a colour.

    Raises KeyError for an icon that is not in the family.
    """
    colour = _colour(tint)
    key = (name, colour.rgba(), size, dpr)
    found = _pixmaps.get(key)
    if found is not None:
        return found
    pixmap = QPixmap(round(size * dpr), round(size * dpr))
    pixmap.fill(QtCore.Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(_svg(name, colour))
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
    painter.end()
    pixmap.setDevicePixelRatio(dpr)
    _pixmaps[key] = pixmap
    return pixmap


def icon(name: str, tint: str | QColor = "ink") -> QIcon:
    """An icon in the theme in force, disabled look included (``bind_icon`` follows changes)."""
    colour = _colour(tint)
    key = (theme().name, name, colour.name())
    found = _icons.get(key)
    if found is None:
        quiet = blend(colour, theme().paper, 0.4)
        found = QIcon()
        for size in _SIZES:
            for ratio in _RATIOS:
                found.addPixmap(icon_pixmap(name, colour, size, ratio))
                faded = icon_pixmap(name, quiet, size, ratio)
                found.addPixmap(faded, QIcon.Mode.Disabled)
        _icons[key] = found
    return found


SIGN = 16
"""Side of the icon of a button at a text scale of 100 %, in logical pixels."""


class _Binding(QObject):
    """Sets the icon of its parent anew on every change of theme, and dies with it."""

    def __init__(self, target: Any, name: str, tint: str) -> None:
        super().__init__(target)
        self.setObjectName("icon-binding")
        self.name, self.tint = name, tint
        theme_signals.changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        target: Any = self.parent()
        if target is not None:
            target.setIcon(icon(self.name, self.tint))
            if isinstance(target, QAbstractButton):
                target.setIconSize(QSize(scaled(SIGN), scaled(SIGN)))


def bind_icon(target: Any, name: str, tint: str = "ink") -> None:
    """Give a button or an action an icon that follows the theme. A second call replaces it."""
    for old in target.findChildren(
        _Binding, options=QtCore.Qt.FindChildOption.FindDirectChildrenOnly
    ):
        old.name, old.tint = name, tint
        old.apply()
        return
    _Binding(target, name, tint)
