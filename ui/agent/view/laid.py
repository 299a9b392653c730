"""One item laid out, part by part and only where it is looked at."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from ui import theme
from ui.agent.view.boxes import Box, NoteBox, ProseBox
from ui.agent.view.code_box import CodeBox
from ui.agent.view.inks import Inks
from ui.agent.view.parts import Code, Diff, Note, Part, Picture, Prose, Row
from ui.agent.view.pictures import PictureBox, Pictures
from ui.agent.view.rows import RowBox


def make_box(part: Part, inks: Inks, pictures: Pictures) -> Box:
    """Lay a part out."""
    if isinstance(part, Prose):
        return ProseBox(part, inks)
    if isinstance(part, Code | Diff):
        return CodeBox(part, inks)
    if isinstance(part, Picture):
        return PictureBox(part, inks, pictures)
    if isinstance(part, Note):
        return NoteBox(part, inks)
    assert isinstance(part, Row)
    return RowBox(part, inks)


def _gap(part: Part, before: Part | None) -> float:
    """Space above a part."""
    if before is None:
        if isinstance(part, Row):
            return theme.S12 if part.is_mark else theme.S8 if part.key[0] == "k" else 2
        return theme.S24 if isinstance(part, Prose) and part.said_by_user else theme.S12
    if isinstance(part, Code) and isinstance(before, Code) and not part.opens:
        return 0
    if isinstance(part, Row) and isinstance(before, Row):
        return 2
    if isinstance(part, Prose) and part.text.startswith("#"):
        return theme.S12
    if isinstance(part, Note):
        return theme.S4
    return theme.S8


def _below(part: Part) -> float:
    """Space below the last part of an item: what the person said stands on a ground of its own."""
    said = isinstance(part, Prose | Code | Picture) and part.said_by_user
    if isinstance(part, Row) and not part.is_mark:
        return 0
    return theme.S12 if said else theme.S4


def _guess(part: Part, inks: Inks) -> float:
    """About how high a part is, without laying it out."""
    if isinstance(part, Row):
        return inks.metrics.height() + theme.S4
    if isinstance(part, Note):
        return inks.small_metrics.height()
    if isinstance(part, Picture):
        return theme.scaled(180)
    if isinstance(part, Diff):
        return len(part.lines) * inks.mono_metrics.height() + theme.S12
    text = part.words
    metrics = inks.mono_metrics if isinstance(part, Code) else inks.metrics
    letters = max(10.0, inks.room / max(metrics.averageCharWidth(), 1))
    return (text.count("\n") + 1 + len(text) / letters / 2) * metrics.height()


class Laid:
    """The parts of an item with their heights, exact where a part was looked at."""

    def __init__(self, entry: int, parts: list[Part], inks: Inks) -> None:
        self.entry = entry
        self.parts: list[Part] = []
        self.places: dict[str, int] = {}
        self._boxes: list[Box | None] = []
        self._gaps: list[float] = []
        self._belows: list[float] = []
        self._heights: list[float] = []
        self._tops: list[float] | None = None
        self.inks = inks
        self.set_parts(parts)

    def set_parts(self, parts: list[Part]) -> None:
        """Show other parts; what is the same keeps its box."""
        same = 0
        for old, new in zip(self.parts, parts, strict=False):
            if old is not new and old != new:
                break
            same += 1
        boxes = {part.key: box for part, box in zip(self.parts, self._boxes, strict=True) if box}
        if len(parts) != len(self.parts):
            # Another part is the last one now: it is the last that has space below it.
            same = max(0, min(same, len(self.parts) - 1, len(parts) - 1))
        del self._boxes[same:], self._gaps[same:], self._heights[same:], self._belows[same:]
        for at in range(same, len(parts)):
            part = parts[at]
            gap = _gap(part, parts[at - 1] if at else None)
            box = boxes.get(part.key)
            keeps = box is not None and (box.part == part or box.grow(part))
            self._boxes.append(box if keeps else None)
            self._gaps.append(gap)
            below = _below(part) if at == len(parts) - 1 else 0
            self._belows.append(below)
            high = box.height if keeps and box else _guess(part, self.inks)
            self._heights.append(gap + high + below)
        self.parts, self._tops = parts, None
        self.places = {part.key: at for at, part in enumerate(parts)}

    def set_inks(self, inks: Inks) -> None:
        """Another width or look: everything is laid out anew when it is looked at."""
        self.inks = inks
        parts, self.parts, self._boxes = self.parts, [], []
        self._gaps, self._belows, self._heights = [], [], []
        self.set_parts(parts)

    @property
    def height(self) -> float:
        """Of all parts, as far as it is known."""
        return self._starts()[-1]

    def _starts(self) -> list[float]:
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0.0))
        return self._tops

    def top(self, part: int) -> float:
        """Where a part begins, its gap included."""
        return self._starts()[part]

    def part_at(self, y: float) -> int:
        """The part at a height."""
        return min(max(bisect_right(self._starts(), y) - 1, 0), len(self.parts) - 1)

    def gap(self, part: int) -> float:
        """Space above a part's box, which counts as the part's."""
        return self._gaps[part]

    def measure(self, part: int, pictures: Pictures) -> float:
        """The exact height of a part with its gap; lays it out where that was not done."""
        self.box(part, pictures)
        return self._heights[part]

    def is_exact(self, part: int) -> bool:
        return self._boxes[part] is not None

    def box(self, part: int, pictures: Pictures) -> Box:
        """A part laid out."""
        box = self._boxes[part]
        if box is None:
            box = self._boxes[part] = make_box(self.parts[part], self.inks, pictures)
            height = self._gaps[part] + box.height + self._belows[part]
            if height != self._heights[part]:
                self._heights[part] = height
                self._tops = None
        return box

    def known_box(self, part: int) -> Box | None:
        """A part's box if it is laid out."""
        return self._boxes[part]

    def forget_pictures(self) -> None:
        """A picture was decoded: those that waited are laid out anew."""
        for at, box in enumerate(self._boxes):
            if isinstance(box, PictureBox) and not box.is_decoded:
                self._boxes[at] = None
