"""The geometry of a report's drawings, and each drawing in words. Templates make SVG of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from explorer.audit.findings import Fate, RecencyBand
from explorer.audit.report.model import CompactionPart, StripLane
from explorer.audit.words import FATE_TITLES, percent
from explorer.compaction.reasons import count_text

BAR = (Fate.KEPT, Fate.EXACT, Fate.NORMALIZED, Fate.RECOVERABLE, Fate.LOST)
"""What a bar is made of, from left to right."""
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


@dataclass(frozen=True, slots=True)
class RectChart:
    """A drawing of rectangles."""

    rects: Sequence[Rect]
    labels: Sequence[ChartLabel]
    height: int
    words: str
    width: int = WIDTH


@dataclass(frozen=True, slots=True)
class CurveChart:
    """A curve over horizontal rules."""

    rules: Sequence[str]
    """Their heights."""
    curve: str
    """The points of the curve, as SVG has them."""
    dots: Sequence[tuple[str, str]]
    labels: Sequence[ChartLabel]
    left: int
    height: int
    words: str
    width: int = WIDTH


def bar(counts: Mapping[Fate, int]) -> list[Rect]:
    """What became of things, as shares of all of them."""
    total = sum(counts.get(fate, 0) for fate in BAR)
    rects, start = [], 0.0
    for fate in BAR:
        share = 100 * counts.get(fate, 0) / total if total else 0.0
        if share:
            rects.append(Rect(f"{start:.2f}%", "1", f"{share:.2f}%", "12", fate.value))
        start += share
    return rects


def fate_words(counts: Mapping[Fate, int]) -> str:
    """``12 exact in the summary, 3 lost``."""
    parts = [f"{counts[fate]:,} {FATE_TITLES[fate]}" for fate in BAR if counts.get(fate)]
    return ", ".join(parts) or "nothing"


def generations(parts: Sequence[CompactionPart]) -> CurveChart:
    """The share that survives each compaction, as a curve."""
    high, left, top = 150, 44, 14
    step = (WIDTH - left - 16) / max(1, len(parts))
    dots = [
        (left + step * (at + 0.5), top + high * (1 - part.fidelity.survival))
        for at, part in enumerate(parts)
    ]
    heights = {share: top + high * (1 - share / 100) for share in (0, 50, 100)}
    labels = [
        ChartLabel(f"{share} %", str(left - 6), f"{y + 4:.1f}", "end")
        for share, y in heights.items()
    ]
    every = max(1, round(46 / step))
    for part, (x, y) in list(zip(parts, dots, strict=True))[::every]:
        labels.append(ChartLabel(f"#{part.entry.index}", f"{x:.1f}", str(top + high + 18)))
        below = 18 if y < top + 14 else -8
        labels.append(ChartLabel(percent(part.fidelity.survival), f"{x:.1f}", f"{y + below:.1f}"))
    words = "; ".join(f"{part.name}: {percent(part.fidelity.survival)}" for part in parts)
    return CurveChart(
        [f"{y:.1f}" for y in heights.values()],
        " ".join(f"{x:.1f},{y:.1f}" for x, y in dots),
        [(f"{x:.1f}", f"{y:.1f}") for x, y in dots],
        labels,
        left,
        top + high + 26,
        f"Survival at each compaction. {words}",
    )


def recency(bands: Sequence[RecencyBand]) -> RectChart:
    """What survives, by its last mention: the oldest stretch first."""
    high, top = 72, 16
    rects, labels = [], []
    step = min(120.0, WIDTH / max(1, len(bands)))
    for at, band in enumerate(bands):
        x, kept = step * at + 4, high * band.rate
        for y, height, fill in ((top, high - kept, "lost"), (top + high - kept, kept, "exact")):
            if height > 0.5:
                rects.append(Rect(f"{x:.1f}", f"{y:.1f}", f"{step - 8:.1f}", f"{height:.1f}", fill))
        middle = f"{x + step / 2 - 4:.1f}"
        labels.append(ChartLabel(percent(band.rate), middle, str(top - 4)))
        name = f"#{band.first}–{band.last}" if band.last > band.first else f"#{band.first}"
        labels.append(ChartLabel(name, middle, str(top + high + 14)))
    words = "; ".join(
        f"#{band.first} to #{band.last}: {percent(band.rate)} of {count_text(band.total, 'thing')}"
        for band in bands
    )
    description = f"Survival by when a thing was said last. {words}"
    return RectChart(rects, labels, top + high + 20, description)


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
    words = "The path after each compaction; the table below tells the same."
    return RectChart(rects, labels, len(chosen) * tall + 4, words)
