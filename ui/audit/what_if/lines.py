"""Simulated runs as lines over the path of a session, and how lines differ."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from explorer.audit.simulation import RequestMark, Simulation
from explorer.audit.words import size_text
from explorer.compaction.reasons import share_text
from explorer.session.tree import SessionTree
from ui.audit.known import MARK
from ui.theme import scaled, theme
from ui.widgets.figures import count, full, short

RECORDED = "recorded"


class Stroke(NamedTuple):
    """One line's look. Dashes in widths of the pen; none is a whole line."""

    token: str
    dashes: tuple[float, ...]
    width: float
    words: str
    """The pattern in words."""

    @property
    def colour(self) -> QColor:
        found: QColor = getattr(theme(), self.token)
        return found

    def pen(self, *, strong: bool = False) -> QPen:
        """The pen of the line. ``strong``: the one that the cursor follows."""
        pen = QPen(self.colour, (self.width + (0.8 if strong else 0.0)) * max(1.0, scaled(10) / 10))
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if self.dashes:
            pen.setDashPattern(list(self.dashes))
        return pen


_STROKES = {
    RECORDED: Stroke("ink", (), 2.4, "thick, whole"),
    "explorer": Stroke("accent", (), 1.5, "whole"),
    "pi": Stroke("tool", (6, 3), 1.5, "long dashes"),
    "omp": Stroke("comp", (2, 2), 1.6, "short dashes"),
    "pyagent": Stroke("think", (8, 3, 2, 3), 1.5, "dash and dot"),
    "copilot": Stroke("branch", (8, 2, 2, 2, 2, 2), 1.5, "dash and two dots"),
}
_OTHERS = (
    Stroke("shell", (12, 4), 1.6, "very long dashes"),
    Stroke("asst", (1, 2), 1.8, "dots"),
    Stroke("user", (4, 2, 1, 2, 1, 2, 1, 2), 1.5, "dash and three dots"),
)


def stroke_of(key: str, number: int) -> Stroke:
    """The look of a line. ``number``: which it is of those that are no system's."""
    return _STROKES.get(key) or _OTHERS[number % len(_OTHERS)]


SignKind = Literal["compacted", "split", "pruned", "stuck"]


class Sign(NamedTuple):
    """Something that happened, at its place on a line."""

    kind: SignKind
    x: int
    """Position on the path."""
    y: int
    """Tokens."""
    entry: int
    """The entry that a click on it selects."""
    words: str


class WalkLine(Struct, frozen=True):
    """One walk as it is drawn. Positions count on the path; a size is a whole prompt in tokens, as
    a provider counts it, before and after a compaction alike."""

    key: str
    title: str
    stroke: Stroke
    found: Simulation
    xs: array[int]
    ys: array[int]
    signs: tuple[Sign, ...]
    _asked: array[int]
    """Position of every request."""

    @property
    def is_recorded(self) -> bool:
        return self.found.is_recorded

    def tokens_at(self, position: int) -> int:
        """The latest prompt up to a position; -1 before the first."""
        at = bisect_right(self._asked, position) - 1
        return self.found.requests.sent[at] if at >= 0 else -1

    def is_exact_at(self, position: int) -> bool:
        """Whether the provider counted the latest request up to a position."""
        at = bisect_right(self._asked, position) - 1
        return at >= 0 and bool(self.found.requests.marks[at] & RequestMark.EXACT)


class Drawing(Struct, frozen=True):
    """All lines of one session's path."""

    entries: tuple[int, ...]
    """The entry at every position."""
    turns: tuple[int, ...]
    """The position at which each turn starts, the first entry's before all."""
    lines: tuple[WalkLine, ...]

    def turn_at(self, position: int) -> int:
        """The number of the turn at a position; 0 before the first."""
        return bisect_right(self.turns, position)

    def line(self, key: str) -> WalkLine | None:
        return next((line for line in self.lines if line.key == key), None)


def drawing_of(tree: SessionTree, leaf: int, walks: Sequence[tuple[str, Simulation]]) -> Drawing:
    """The walks, each with its key, as lines. For a worker thread."""
    path = tree.path(leaf)
    turns = tuple(at for at, starts in enumerate(path.turn_starts(tree.columns)) if starts)
    entries = tuple(path.indices())
    place = {entry: at for at, entry in enumerate(entries)}
    lines, others = [], 0
    for key, found in walks:
        in_force = key == RECORDED or key == found.policy.profile.name
        lines.append(_line(key, found, place, stroke_of(key, others)))
        others += not in_force
    return Drawing(entries, turns, tuple(lines))


def _line(key: str, found: Simulation, place: dict[int, int], stroke: Stroke) -> WalkLine:
    requests = found.requests
    asked = array("i", (place[entry] for entry in requests.entries))
    xs, ys = array("i"), array("i")
    drops = {made.request for made in found.compactions} | {made.request for made in found.prunes}
    for number, (x, y) in enumerate(zip(asked, requests.sent, strict=True)):
        if number in drops and ys:
            # Straight down: a size between the two was never sent.
            xs.append(x)
            ys.append(ys[-1])
        xs.append(x)
        ys.append(y)
    title = "As recorded" if found.is_recorded else found.policy.title
    return WalkLine(key, title, stroke, found, xs, ys, _signs(found, place), asked)


def _signs(found: Simulation, place: dict[int, int]) -> tuple[Sign, ...]:
    sent, signs = found.requests.sent, []

    def height(request: int) -> int:
        """Where the line stands before it falls."""
        at = min(max(request - 1, 0), len(sent) - 1)
        return sent[at] if sent else 0

    for pruned in found.prunes:
        words = (
            f"pruned after #{pruned.entry}: {count(len(pruned.results), 'tool result')}, "
            f"{short(pruned.saved)} tokens saved. {pruned.reason}"
        )
        x, y = place.get(pruned.entry, 0), height(pruned.request)
        signs.append(Sign("pruned", x, y, pruned.results[0], words))
    for made in found.compactions:
        split = f", inside turn {made.split_turn}" if made.split_turn else ""
        tail = f"kept from #{made.first_kept}{split}" if made.first_kept >= 0 else "nothing kept"
        words = (
            f"compacted after #{made.entry}: entries from {full(made.before)} to "
            f"{MARK if made.assumed else ''}{size_text(made.after)} tokens, {tail}. {made.reason}"
        )
        kind: SignKind = "split" if made.split_turn else "compacted"
        x, y = place.get(made.entry, 0), height(made.request)
        signs.append(
            Sign(kind, x, y, made.first_kept if made.first_kept >= 0 else made.entry, words)
        )
    seen = set()
    for missing in found.not_done:
        if missing.turn not in seen:
            seen.add(missing.turn)
            words = f"nothing could be done after #{missing.entry}: {missing.reason}"
            x, y = place.get(missing.entry, 0), height(missing.request)
            signs.append(Sign("stuck", x, y, missing.entry, words))
    # At one place what was pruned was pruned before anything was compacted.
    return tuple(sorted(signs, key=lambda sign: sign.x))


def limits_of(line: WalkLine) -> tuple[tuple[str, int], tuple[str, int]]:
    """A line's window and threshold with their tokens; whose threshold it is, since each set of
    rules has its own."""
    found = line.found
    threshold = f"threshold {short(found.threshold)}, {found.policy.title}"
    return (f"window {short(found.window)}", found.window), (threshold, found.threshold)


def _above(line: WalkLine, tokens: int) -> str:
    """That a line is above its threshold; empty where it is not."""
    found = line.found
    if found.is_recorded or tokens <= found.threshold:
        return ""
    return ", above its threshold"


def words_at(
    drawing: Drawing, shown: Sequence[WalkLine], chosen: WalkLine | None, position: int
) -> str:
    """What all shown lines say at a position, the chosen one first and with what happened there."""
    if not drawing.entries or not shown:
        return "Nothing is drawn."
    turn, turns = drawing.turn_at(position), len(drawing.turns)
    stop = drawing.turns[turn] if turn < turns else len(drawing.entries)
    start = drawing.turns[turn - 1] if turn else 0
    where = f"Turn {turn:,} of {turns:,}, #{drawing.entries[position]}."
    first = [line for line in shown if line is chosen]
    sizes = []
    for line in first + [line for line in shown if line is not chosen]:
        tokens = line.tokens_at(position)
        if tokens < 0:
            sizes.append(f"{line.title} nothing yet")
            continue
        about = "" if line.is_exact_at(position) else "≈ "
        part = f", {share_text(tokens / line.found.window)} of its window" if line is chosen else ""
        sizes.append(f"{line.title} {about}{short(tokens)}{part}{_above(line, tokens)}")
    facts = [
        f"{line.title} {sign.words}"
        for line in first
        for sign in line.signs
        if start <= sign.x < stop
    ]
    return " ".join([where, "; ".join(sizes) + ".", *facts])
