"""The geometry of a report's drawings, and each drawing in words. Templates make SVG of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from explorer.audit.report.model import StripLane

MOST_LANES = 40
WIDTH = 880
_FILLS = {"verbatim": "kept", "told": "exact", "lost": "lost", "aside": "aside"}
"""The texture of each state of the strip."""


class Rect(NamedTuple):
    """A rectangle in user units; ``fill`` names a texture of the style sheet."""

    x: str
    y: str
    width: str
    height: str
    fill: str


class ChartLabel(NamedTuple):
    """A text at a place; ``anchor`` is that of SVG."""

    text: str
    x: str
    y: str
    anchor: str = "middle"


class RectChart(Struct, frozen=True):
    """A drawing of rectangles."""

    rects: Sequence[Rect]
    labels: Sequence[ChartLabel]
    height: int
    words: str
    width: int = WIDTH


def strip(lanes: Sequence[StripLane]) -> RectChart:
    """The path before the first compaction and after each, from top to bottom."""
    chosen = lanes
    if len(lanes) > MOST_LANES:
        last = len(lanes) - 1
        wanted = sorted({round(at * last / (MOST_LANES - 1)) for at in range(MOST_LANES)})
        chosen = [lanes[at] for at in wanted]
    length = max((run.stop for lane in lanes for run in lane.runs), default=1)
    left, tall = 64, 18
    scale = (WIDTH - left - 2) / max(1, length)
    rects, labels = [], []
    for at, lane in enumerate(chosen):
        y = at * tall + 2
        labels.append(ChartLabel(lane.name, str(left - 8), str(y + 11), "end"))
        for run in sorted(lane.runs, key=lambda run: run.state == "lost"):
            least = 4.0 if run.state == "lost" else 0.0
            width = max(least, (run.stop - run.start) * scale)
            x = left + run.start * scale
            rects.append(Rect(f"{x:.2f}", str(y), f"{width:.2f}", str(tall - 5), _FILLS[run.state]))
    words = "The path after each compaction."
    return RectChart(rects, labels, len(chosen) * tall + 4, words)
