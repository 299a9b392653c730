"""The drawings of a report: inline SVG, each with its words for who does not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explorer.audit.findings import Fate, RecencyBand
from explorer.audit.report.markup import Markup, join, tag
from explorer.audit.report.model import CompactionPart, StripLane
from explorer.audit.report.style import fill_class
from explorer.audit.words import FATE_TITLES, percent
from explorer.compaction.reasons import count_text

BAR = (Fate.KEPT, Fate.EXACT, Fate.NORMALIZED, Fate.RECOVERABLE, Fate.LOST)
"""What a bar is made of, from left to right."""
MOST_LANES = 40
_STATES = {"verbatim": "kept", "told": "exact", "lost": "lost", "aside": "aside"}
_WIDTH = 880


def bar(counts: Mapping[Fate, int]) -> Markup:
    """What became of things, as shares of all of them."""
    total = sum(counts.get(fate, 0) for fate in BAR)
    parts, start = [], 0.0
    for fate in BAR:
        share = 100 * counts.get(fate, 0) / total if total else 0.0
        if share:
            parts.append(
                tag("rect", x=f"{start:.2f}%", y=1, width=f"{share:.2f}%", height=12,
                    class_=fill_class(fate.value))
            )  # fmt: skip
        start += share
    return tag("svg", *parts, class_="bar", role="img", aria_label=fate_words(counts))


def fate_words(counts: Mapping[Fate, int]) -> str:
    """``12 exact in the summary, 3 lost``."""
    parts = [f"{counts[fate]:,} {FATE_TITLES[fate]}" for fate in BAR if counts.get(fate)]
    return ", ".join(parts) or "nothing"


def legend() -> Markup:
    """The textures of a bar with their words."""
    return _legend([(FATE_TITLES[fate], fate.value) for fate in BAR])


def strip_legend() -> Markup:
    """The textures of the strip with their words."""
    words = (
        ("word for word in the context", "kept"), ("told by summaries only", "exact"),
        ("neither kept nor summarized", "lost"), ("before a new start", "aside"),
    )  # fmt: skip
    return _legend(words)


def _legend(words: Sequence[tuple[str, str]]) -> Markup:
    return tag(
        "ul",
        *(
            tag(
                "li",
                tag("svg", tag("rect", x=1, y=1, width=22, height=10, class_=fill_class(fill)),
                    aria_hidden="true"),
                title,
            )
            for title, fill in words
        ),
        class_="legend",
    )  # fmt: skip


def generations(parts: Sequence[CompactionPart]) -> Markup:
    """The share that survives each compaction, as a line."""
    high, left, top = 150, 44, 14
    step = (_WIDTH - left - 16) / max(1, len(parts))
    dots = [
        (left + step * (at + 0.5), top + high * (1 - part.fidelity.survival))
        for at, part in enumerate(parts)
    ]
    drawn: list[Markup] = []
    for share in (0, 50, 100):
        y = top + high * (1 - share / 100)
        drawn.append(tag("line", x1=left, x2=_WIDTH, y1=f"{y:.1f}", y2=f"{y:.1f}",
                         class_="rule"))  # fmt: skip
        drawn.append(tag("text", f"{share} %", x=left - 6, y=f"{y + 4:.1f}", text_anchor="end"))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    drawn.append(tag("polyline", points=line, class_="curve"))
    every = max(1, round(46 / step))
    for at, (part, (x, y)) in enumerate(zip(parts, dots, strict=True)):
        drawn.append(tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3.5,
                         class_="dot"))  # fmt: skip
        if at % every:
            continue
        drawn.append(tag("text", f"#{part.entry.index}", x=f"{x:.1f}", y=top + high + 18,
                         text_anchor="middle"))  # fmt: skip
        below = 18 if y < top + 14 else -8
        drawn.append(tag("text", percent(part.fidelity.survival), x=f"{x:.1f}",
                         y=f"{y + below:.1f}", text_anchor="middle"))  # fmt: skip
    words = "; ".join(f"{part.name}: {percent(part.fidelity.survival)}" for part in parts)
    return _figure(drawn, top + high + 26, f"Survival at each compaction. {words}")


def recency(bands: Sequence[RecencyBand]) -> Markup:
    """What survives, by when it was said last: the oldest stretch first."""
    high, top, drawn = 72, 16, []
    step = min(120.0, _WIDTH / max(1, len(bands)))
    for at, band in enumerate(bands):
        if not band.total:
            continue
        x, kept = step * at + 4, high * band.rate
        for y, height, fill in ((top, high - kept, "lost"), (top + high - kept, kept, "exact")):
            if height > 0.5:
                drawn.append(tag("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{step - 8:.1f}",
                                 height=f"{height:.1f}", class_=fill_class(fill)))  # fmt: skip
        middle = f"{x + step / 2 - 4:.1f}"
        drawn.append(tag("text", percent(band.rate), x=middle, y=top - 4, text_anchor="middle"))
        name = f"#{band.first}–{band.last}" if band.last > band.first else f"#{band.first}"
        drawn.append(tag("text", name, x=middle, y=top + high + 14, text_anchor="middle"))
    words = "; ".join(
        f"#{band.first} to #{band.last}: {percent(band.rate)} of {count_text(band.total, 'thing')}"
        for band in bands
        if band.total
    )
    return _figure(drawn, top + high + 20, f"Survival by when a thing was said last. {words}")


def strip(lanes: Sequence[StripLane]) -> Markup:
    """The path before the first compaction and after each, from top to bottom."""
    chosen = lanes
    if len(lanes) > MOST_LANES:
        last = len(lanes) - 1
        wanted = sorted({round(at * last / (MOST_LANES - 1)) for at in range(MOST_LANES)})
        chosen = [lanes[at] for at in wanted]
    length = max((run.stop for lane in lanes for run in lane.runs), default=1)
    left, tall = 64, 18
    scale = (_WIDTH - left - 2) / max(1, length)
    drawn: list[Markup] = []
    for at, lane in enumerate(chosen):
        y = at * tall + 2
        drawn.append(tag("text", lane.name, x=left - 8, y=y + 11, text_anchor="end"))
        runs = sorted(lane.runs, key=lambda run: run.state == "lost")
        for run in runs:
            least = 4.0 if run.state == "lost" else 0.0
            width = max(least, (run.stop - run.start) * scale)
            drawn.append(tag("rect", x=f"{left + run.start * scale:.2f}", y=y, height=tall - 5,
                             width=f"{width:.2f}",
                             class_=fill_class(_STATES[run.state])))  # fmt: skip
    words = "The path after each compaction; the table below tells the same."
    return _figure(drawn, len(chosen) * tall + 4, words)


def _figure(parts: Sequence[Markup], height: float, words: str) -> Markup:
    box = f"0 0 {_WIDTH} {height:.0f}"
    return tag("svg", join(parts), viewBox=box, role="img", aria_label=words)
