"""Entry cards, one row per entry, and farther away one box per turn."""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain, pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen

from explorer.session.kinds import Kind
from ui.audit.known import NOT_RECORDED, entry_figure
from ui.map.canvas import Canvas, bar_share, mix
from ui.map.layout import composition
from ui.map.rows import TURN_START, RowCategory
from ui.theme import RADIUS, role_name, role_token, verdict_brush
from ui.theme.verdicts import OMITTED, PRUNED
from ui.widgets.figures import full, short
from ui.widgets.row_lines import is_of_tool


def paint_rows_below(canvas: Canvas) -> None:
    """Paint the background below lanes and text: selected row, hovered row, search hits."""
    painter, geometry, model = canvas.painter, canvas.geometry, canvas.model
    now = canvas.inks.theme
    right = geometry.width - geometry.px(4 if geometry.is_narrow else 8)
    for row in range(geometry.first, geometry.stop):
        entry = model.rows.entry(row)
        rect = QRectF(0, geometry.y(row), right, geometry.y(row + 1) - geometry.y(row) - 1)
        if entry == model.selected:
            painter.fillRect(rect, now.sel)
        elif row == canvas.hovered:
            painter.fillRect(rect, mix(now.ink, now.paper, 0.04))
        if model.hits and model.is_hit(entry):
            _hit(canvas, row, rect, entry == model.current_hit)


def _hit(canvas: Canvas, row: int, rect: QRectF, current: bool) -> None:
    """A search hit: a tint behind the text and a diamond before it, outlined on the current one."""
    painter, geometry, now = canvas.painter, canvas.geometry, canvas.inks.theme
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    left = geometry.glyph_left - geometry.px(6)
    box = QRectF(left, rect.top() + 1, geometry.text_right - left, rect.height() - 2)
    painter.setPen(QPen(now.accent, 1.5) if current else Qt.PenStyle.NoPen)
    painter.setBrush(mix(now.accent, now.paper, 0.16))
    painter.drawRoundedRect(box, RADIUS, RADIUS)
    size, y = geometry.px(4), geometry.middle(row)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(now.accent)
    corners = ((0, -size), (size, 0), (0, size), (-size, 0))
    painter.drawPolygon([QPointF(left + x, y + down) for x, down in corners])


def paint_entries(canvas: Canvas) -> None:
    """Paint the visible cards and their nodes."""
    geometry, model = canvas.geometry, canvas.model
    shown = [(row, model.rows.entry(row)) for row in range(geometry.first, geometry.stop)]
    # As much as is visible, above it and below: what is scrolled to next.
    ahead = range(geometry.stop, min(2 * geometry.stop - geometry.first, model.rows.count))
    before = range(max(0, 2 * geometry.first - geometry.stop), geometry.first)
    near = map(model.rows.entry, chain(ahead, reversed(before)))
    model.texts.fetch([entry for _, entry in shown], near)
    canvas.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    cards = [_Card(canvas, row, entry) for row, entry in shown]
    for card in cards:
        card.node()
    _bars(canvas, cards)
    for card in cards:
        card.text()
    if geometry.has_numbers:
        _numbers(canvas, cards)
    if geometry.has_names:
        _names(canvas, cards)


class _Card:
    """One visible entry."""

    __slots__ = (
        "canvas", "entry", "faded", "flags", "is_pruned", "kind", "lane", "mark", "middle", "row",
        "token",
    )  # fmt: skip

    def __init__(self, canvas: Canvas, row: int, entry: int) -> None:
        columns = canvas.model.tree.columns
        self.canvas, self.row, self.entry = canvas, row, entry
        self.kind, self.flags = columns.kind[entry], columns.flags[entry]
        self.lane = canvas.model.lanes.lane_at(entry)
        self.faded = not canvas.model.lanes.is_active(entry)
        self.is_pruned = entry in canvas.model.pruned
        shape = canvas.model.shape
        self.mark = "pin" if entry in shape.pinned else "omit" if entry in shape.omitted else ""
        self.middle = canvas.geometry.middle(row)
        self.token = role_token(self.kind, self.flags)

    def node(self) -> None:
        canvas = self.canvas
        painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
        if self.kind == Kind.COMPACTION:
            self._fold_node()
            return
        painter.setPen(inks.pen(self.token, 2.2, faded=self.faded))
        is_leaf = self.entry == canvas.model.leaf and canvas.leaf_y is None
        painter.setBrush(inks.theme.accent if is_leaf else inks.theme.card)
        radius = min(5.5 * inks.scale, max(3.0, geometry.lane_step / 2 - 1))
        painter.drawEllipse(QPointF(geometry.lane_x(self.lane), self.middle), radius, radius)

    def _fold_node(self) -> None:
        """The dashed square with plus or minus that folds what the compaction summarized."""
        canvas = self.canvas
        painter, inks, geometry = canvas.painter, canvas.inks, canvas.geometry
        box = geometry.fold_handle(self.row, self.lane)
        pen = QPen(inks.pen("comp", 2, faded=self.faded))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([1.6, 1.1])
        is_leaf = self.entry == canvas.model.leaf and canvas.leaf_y is None
        painter.setPen(pen)
        painter.setBrush(inks.theme.accent if is_leaf else inks.theme.card)
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), geometry.px(4), geometry.px(4))
        arm, centre = geometry.px(4), box.center()
        painter.setPen(QPen(inks.theme.on_accent if is_leaf else pen.color(), 1.6 * inks.scale))
        painter.drawLine(centre - QPointF(arm, 0), centre + QPointF(arm, 0))
        if self.entry in canvas.model.folded:
            painter.drawLine(centre - QPointF(0, arm), centre + QPointF(0, arm))

    def text(self) -> None:
        canvas = self.canvas
        painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
        indent = geometry.indent(self.lane)
        icon = inks.icon(self.kind, self.flags, faded=self.faded)
        side = icon.height() / icon.devicePixelRatio()
        painter.drawPixmap(
            QPointF(round(geometry.glyph_left + indent + geometry.px(1)),
                    round(self.middle - side / 2)), icon
        )  # fmt: skip
        half = inks.metrics.height() / 2
        left = geometry.text_left + indent
        right = canvas.clear_of_handle(geometry.text_right, self.middle - half, self.middle + half)
        label = canvas.model.labels.get(self.entry)
        if label:
            right -= self._label(label, right, "accent")
        if self.mark:
            right -= self._mark(right)
        line = canvas.model.texts.line(self.entry)
        badge = canvas.model.texts.badge(self.entry)
        if badge and "folded" not in inks.elide(line, right - left - geometry.px(4)):
            right -= self._label(badge, right, "comp")
        baseline = round(self.middle + inks.metrics.ascent() / 2 - inks.metrics.descent() / 2)
        is_dim = self.faded or self.is_pruned or self.mark == "omit"
        colour = inks.theme.dim if is_dim else inks.theme.ink
        if self.kind == Kind.COMPACTION:
            colour = inks.token("dim" if self.faded else "comp")
            # What was taken back stays in sight without drawing the eye.
            is_undone = canvas.model.tree.is_undone(self.entry, canvas.model.leaf)
            line = inks.elide(line, right - left) if is_undone else self._frame(line, left, right)
        else:
            keep_end = is_of_tool(self.kind, self.flags)
            line = inks.elide(line, right - left, keep_end=keep_end)
        painter.setFont(inks.text)
        painter.setPen(colour)
        painter.drawText(QPointF(left, baseline), line)
        if self.mark == "omit":
            middle = round(self.middle) + 0.5
            painter.setPen(QPen(inks.theme.dim, 1))
            end = left + inks.metrics.horizontalAdvance(line)
            painter.drawLine(QPointF(left, middle), QPointF(end, middle))
        if geometry.has_details:
            self._details(left, baseline)

    def _frame(self, line: str, left: float, right: float) -> str:
        """The dashed box around a compaction's line; returns what fits into it."""
        canvas = self.canvas
        painter, inks, geometry = canvas.painter, canvas.inks, canvas.geometry
        line = inks.elide(line, right - left - geometry.px(4))
        pen = QPen(inks.token("comp", faded=self.faded), 1)
        pen.setDashPattern([3, 2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        width = inks.metrics.horizontalAdvance(line) + geometry.px(14)
        height = geometry.px(20)
        top = round(self.middle - height / 2) + 0.5
        painter.drawRoundedRect(
            QRectF(round(left - geometry.px(7)) + 0.5, top, width, height), RADIUS, RADIUS
        )
        return line

    def _mark(self, right: float) -> float:
        """The sign and the word of a pin or an omission, in a narrow map the sign alone; returns
        the room that they take."""
        canvas = self.canvas
        painter, inks, geometry = canvas.painter, canvas.inks, canvas.geometry
        word, token = ("pinned", "kept") if self.mark == "pin" else ("omitted", "dim")
        word = "" if geometry.is_narrow else word
        icon = inks.sign(self.mark, token, faded=self.faded)
        side = icon.height() / icon.devicePixelRatio()
        width = inks.small_metrics.horizontalAdvance(word)
        left = right - width - side - geometry.px(4)
        painter.drawPixmap(QPointF(round(left), round(self.middle - side / 2)), icon)
        painter.setFont(inks.small)
        painter.setPen(inks.token(token, faded=self.faded))
        metrics = inks.small_metrics
        baseline = round(self.middle + metrics.ascent() / 2 - metrics.descent() / 2)
        painter.drawText(QPointF(right - width, baseline), word)
        return right - left + geometry.px(8)

    def _label(self, label: str, right: float, token: str) -> float:
        """A small tag at the right end of the text; returns the room that it takes."""
        canvas = self.canvas
        painter, inks, geometry = canvas.painter, canvas.inks, canvas.geometry
        room = max(geometry.px(48), (right - geometry.text_left) * 0.35)
        shown = inks.small_metrics.elidedText(label, Qt.TextElideMode.ElideRight, room)
        width = inks.small_metrics.horizontalAdvance(shown) + geometry.px(14)
        height = geometry.px(18)
        box = QRectF(right - width, round(self.middle - height / 2) + 0.5, width, height)
        painter.setPen(QPen(mix(inks.token(token), inks.theme.paper, 0.55), 1))
        painter.setBrush(inks.theme.card)
        painter.drawRoundedRect(box, height / 2, height / 2)
        painter.setFont(inks.small)
        painter.setPen(inks.token(token))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, shown)
        return width + geometry.px(8)

    def _details(self, left: float, baseline: float) -> None:
        """The second line at high zoom: index, role, time, model."""
        canvas = self.canvas
        columns, inks = canvas.model.tree.columns, canvas.inks
        parts = [f"#{self.entry}", role_name(self.kind, self.flags)]
        parts.append(canvas.model.texts.moment(self.entry))
        if columns.model[self.entry]:
            parts.append(columns.models[columns.model[self.entry]])
        elif self.kind == Kind.ASSISTANT:
            parts.append(f"model {NOT_RECORDED}")
        line = " · ".join(parts)
        height = inks.small_metrics.height()
        down = height + canvas.geometry.px(3)
        low = baseline + down
        right = canvas.clear_of_handle(canvas.geometry.text_right, low - height, low)
        room = right - left
        shown = inks.small_metrics.elidedText(line, Qt.TextElideMode.ElideRight, room)
        canvas.painter.setFont(inks.small)
        canvas.painter.setPen(inks.theme.dim)
        canvas.painter.drawText(QPointF(left, round(baseline + down)), shown)


def _bars(canvas: Canvas, cards: list[_Card]) -> None:
    """The token bars: one colour after the other, so that the pen changes rarely."""
    geometry, inks, painter = canvas.geometry, canvas.inks, canvas.painter
    if not geometry.has_bars or canvas.model.sums:
        return
    height, width = geometry.px(5), geometry.bar_width
    sizes = canvas.model.sizes
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(inks.theme.line)
    fills: dict[tuple[str, bool], list[QRectF]] = {}
    for card in cards:
        rect = QRectF(geometry.bar_left, round(card.middle - height / 2), width, height)
        if card.is_pruned or card.mark == "omit":
            texture = PRUNED if card.is_pruned else OMITTED
            _gone_bar(canvas, rect, bar_share(sizes.in_place(card.entry)), texture)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(inks.theme.line)
        else:
            painter.drawRoundedRect(rect, height / 2, height / 2)
        share = 0.0 if card.mark == "omit" else bar_share(sizes[card.entry])
        if share > 0:
            rect.setWidth(max(height, width * share))
            fills.setdefault((card.token, card.faded), []).append(rect)
    for (token, faded), rects in fills.items():
        colour = inks.token(token)
        painter.setBrush(QBrush(mix(colour, inks.theme.line, 0.4 if faded else 0.75)))
        for rect in rects:
            painter.drawRoundedRect(rect, height / 2, height / 2)


def _gone_bar(canvas: Canvas, rect: QRectF, share: float, verdict: int) -> None:
    """The bar of what is pruned or omitted: what it took is dotted, and the note that stands for a
    pruned result lies over its start; or it is crossed out."""
    geometry, inks, painter = canvas.geometry, canvas.inks, canvas.painter
    height = geometry.px(9)
    box = QRectF(rect.left(), rect.center().y() - height / 2, rect.width(), height)
    box.setWidth(max(height, rect.width() * share))
    painter.setBrush(inks.theme.line)
    painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    painter.setBrush(inks.theme.paper)
    painter.drawRoundedRect(box, height / 2, height / 2)
    painter.setBrushOrigin(box.topLeft())
    painter.setBrush(verdict_brush(verdict, inks.dpr))
    painter.setPen(QPen(inks.theme.faint, 1))
    painter.drawRoundedRect(box, height / 2, height / 2)


def _numbers(canvas: Canvas, cards: list[_Card]) -> None:
    geometry, inks, painter = canvas.geometry, canvas.inks, canvas.painter
    columns, sizes = canvas.model.tree.columns, canvas.model.sizes
    # The tip has every digit.
    figure = short if geometry.is_narrow else full
    painter.setFont(inks.mono)
    painter.setPen(inks.theme.dim)
    width, height = geometry.px(60), geometry.px(20)
    align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for card in cards:
        box = QRectF(geometry.number_right - width, card.middle - height / 2, width, height)
        if added := canvas.model.sums.get(card.entry):
            tokens, total = added
            painter.setPen(inks.theme.ink)
            painter.drawText(box, align, figure(total))
            painter.setPen(inks.theme.dim)
            if geometry.has_bars:
                # The bar gives its room.
                box.setRect(geometry.bar_left, box.top(), geometry.bar_width, height)
                painter.drawText(box, align, f"+{full(tokens)}")
            continue
        text = entry_figure(columns, card.entry, sizes[card.entry], figure)
        painter.drawText(box, align, text)


def _names(canvas: Canvas, cards: list[_Card]) -> None:
    """The index of each entry, as all texts name it."""
    geometry, inks, painter = canvas.geometry, canvas.inks, canvas.painter
    painter.setFont(inks.small)
    painter.setPen(inks.theme.dim)
    width, height = geometry.px(60), geometry.px(20)
    align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for card in cards:
        box = QRectF(geometry.name_right - width, card.middle - height / 2, width, height)
        painter.drawText(box, align, f"#{card.entry}")


_SEARCHED = 4_000
"""Rows above and below the view in which the first turn's start and the last one's end are
looked for."""


_BOX_START = bytes(
    1 if start or value == RowCategory.COMPACTION else 0 for value, start in enumerate(TURN_START)
)
"""Translates categories into 1 where a box starts: a turn, and a landmark."""


def turn_boxes(canvas: Canvas) -> list[tuple[int, int]]:
    """(first row, one past the last) of the visible turns; a turn ends where its branch does."""
    geometry, rows, lanes = canvas.geometry, canvas.model.rows, canvas.model.lanes
    if geometry.stop <= geometry.first:
        return []
    low = max(0, geometry.first - _SEARCHED)
    starts = rows.categories[low : geometry.stop + _SEARCHED].translate(_BOX_START)
    begin = low + max(0, starts.rfind(1, 0, geometry.first - low + 1))
    segment = bisect_right(lanes.starts, rows.entry(geometry.first)) - 1
    if segment >= 0:
        begin = max(begin, min(rows.floor(lanes.starts[segment]), geometry.first))
    end = starts.find(1, geometry.stop - low)
    end = low + (len(starts) if end < 0 else end)
    edges = {begin, end}
    at = starts.find(1, begin - low)
    while at >= 0:
        edges.add(low + at)
        at = starts.find(1, at + 1)
    last = rows.entry(min(end, rows.count) - 1)
    edges.update(rows.floor(start) for start in lanes.starts_between(rows.entry(begin), last))
    ordered = sorted(edge for edge in edges if begin <= edge <= end)
    return [
        (first, stop) for first, stop in pairwise(ordered)
        if first < geometry.stop and stop > geometry.first
    ]  # fmt: skip


def worded_rows(canvas: Canvas) -> frozenset[int]:
    """The first rows of the boxes that are tall enough for their words."""
    geometry, readable = canvas.geometry, canvas.inks.small_metrics.height()
    return frozenset(
        first
        for first, stop in turn_boxes(canvas)
        if geometry.y(stop) - geometry.y(first) >= readable + 2
    )


def paint_turns(canvas: Canvas) -> None:
    """Paint a box per turn: first line where it fits, and what the turn is made of as a stacked
    bar."""
    painter, geometry, model = canvas.painter, canvas.geometry, canvas.model
    boxes = turn_boxes(canvas)
    readable = canvas.inks.small_metrics.height()
    tall = [
        model.rows.entry(first)
        for first, stop in boxes
        if geometry.y(stop) - geometry.y(first) >= readable
    ]
    model.texts.fetch(tall)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for first, stop in boxes:
        _box(canvas, first, stop, readable)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _marks(canvas, boxes)


def _box(canvas: Canvas, first: int, stop: int, readable: float) -> None:
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    entry = model.rows.entry(first)
    faded = not model.lanes.is_active(entry)
    indent = geometry.indent(model.lanes.lane_at(entry))
    left, right = geometry.glyph_left + indent, geometry.width - geometry.px(8)
    top, bottom = geometry.y(first), geometry.y(stop)
    gap = 2 if bottom - top >= 8 else (1 if bottom - top >= 3 else 0)
    rect = QRectF(left, top, right - left, max(1, bottom - top - gap))
    chosen = model.rows.row(model.selected)
    selected = first <= chosen < stop
    lines_up = rect.height() >= readable
    if lines_up:
        painter.fillRect(
            rect, inks.theme.sel if selected else mix(inks.theme.ink, inks.theme.paper, 0.035)
        )
    elif selected:
        painter.fillRect(QRectF(0, top, right, rect.height()), inks.theme.sel)
    _stack(canvas, first, stop, rect, faded, beside_text=lines_up)
    if lines_up:
        _words(canvas, first, stop, rect, faded)


def _stack(
    canvas: Canvas, first: int, stop: int, rect: QRectF, faded: bool, *, beside_text: bool
) -> None:
    """What the turn is made of: at the left edge beside words, over the whole width without."""
    painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
    parts = composition(canvas.model.rows, first, stop)
    total = sum(tokens for _, tokens in parts)
    if not total:
        return
    colours = inks.faded if faded else inks.categories
    if beside_text:
        x, y = rect.left(), rect.top()
        for group, tokens in parts:
            height = rect.height() * tokens / total
            painter.fillRect(QRectF(x, y, geometry.px(5), height), colours[group])
            y += height
        return
    x = rect.left()
    height = min(rect.height(), round(geometry.px(5)))
    y = round(rect.center().y() - height / 2) if rect.height() > height else rect.top()
    room = rect.width() * min(1.0, bar_share(total) * 0.9)
    for group, tokens in parts:
        width = room * tokens / total
        painter.fillRect(QRectF(x, y, width, height), colours[group])
        x += width


def _words(canvas: Canvas, first: int, stop: int, rect: QRectF, faded: bool) -> None:
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    line_height = min(rect.height(), geometry.px(24))
    middle = rect.top() + line_height / 2
    is_low = rect.height() < inks.metrics.height() + 1
    metrics = inks.small_metrics if is_low else inks.metrics
    baseline = round(middle + metrics.ascent() / 2 - metrics.descent() / 2)
    left = rect.left() + geometry.px(16)
    right = rect.right() - geometry.px(16)
    entry = model.rows.entry(first)
    sums = model.rows.sums
    if geometry.has_sums:
        painter.setFont(inks.mono)
        painter.setPen(inks.theme.dim)
        text = f"{stop - first:,} · {sums[stop] - sums[first]:,}"
        box = QRectF(right - geometry.px(130), rect.top(), geometry.px(130), line_height)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        right -= geometry.px(138)
    right = canvas.clear_of_handle(
        right, middle - metrics.height() / 2, middle + metrics.height() / 2
    )
    painter.setFont(inks.small if is_low else inks.text)
    compaction = model.rows.categories[first] == RowCategory.COMPACTION
    ink = inks.theme.comp if compaction else inks.theme.ink
    painter.setPen(inks.theme.dim if faded else ink)
    line = model.texts.line(entry)
    shown = inks.fit_small(line, right - left)[0] if is_low else inks.elide(line, right - left)
    painter.drawText(QPointF(left, baseline), shown)


def _marks(canvas: Canvas, boxes: list[tuple[int, int]]) -> None:
    """A small node where a turn starts, and the leaf's."""
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    lanes = model.lanes
    radius = inks.scale * 3.2
    for first, stop in boxes:
        if geometry.y(stop) - geometry.y(first) < 3 * radius:
            continue
        entry = model.rows.entry(first)
        faded = not lanes.is_active(entry)
        colour = (inks.faded if faded else inks.categories)[model.rows.categories[first]]
        painter.setPen(QPen(colour, 1.8 * inks.scale))
        painter.setBrush(inks.theme.card)
        painter.drawEllipse(
            QPointF(geometry.lane_x(lanes.lane_at(entry)), geometry.middle(first)), radius, radius
        )
