"""Entry cards: one row per entry with node, glyph, first line, label, token bar and number."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen

from explorer.session.kinds import Kind
from ui.audit.known import NOT_RECORDED
from ui.map.canvas import Canvas
from ui.map.inks import bar_share, mix
from ui.theme import RADIUS, role_name, role_token, verdict_brush
from ui.theme.verdicts import OMITTED, PRUNED


def paint_rows_below(canvas: Canvas) -> None:
    """What lies under lanes and text: the selected row, the row under the mouse, search hits."""
    painter, geometry, model = canvas.painter, canvas.geometry, canvas.model
    now = canvas.inks.theme
    right = geometry.width - geometry.px(8)
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
    """The visible cards and their nodes."""
    geometry, model = canvas.geometry, canvas.model
    shown = [(row, model.rows.entry(row)) for row in range(geometry.first, geometry.stop)]
    model.texts.fetch([entry for _, entry in shown])
    canvas.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    cards = [_Card(canvas, row, entry) for row, entry in shown]
    for card in cards:
        card.node()
    _bars(canvas, cards)
    for card in cards:
        card.text()
    if geometry.has_numbers:
        _numbers(canvas, cards)


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
            right -= self._label(label, right)
        if self.mark:
            right -= self._mark(right)
        line = canvas.model.texts.line(self.entry)
        baseline = round(self.middle + inks.metrics.ascent() / 2 - inks.metrics.descent() / 2)
        is_dim = self.faded or self.is_pruned or self.mark == "omit"
        colour = inks.theme.dim if is_dim else inks.theme.ink
        if self.kind == Kind.COMPACTION:
            colour = inks.token("dim" if self.faded else "comp")
            line = self._frame(line, left, right)
        else:
            line = inks.elide(line, right - left)
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
        """The sign and the word of a pin or an omission; returns the room that they take."""
        canvas = self.canvas
        painter, inks, geometry = canvas.painter, canvas.inks, canvas.geometry
        word, token = ("pinned", "kept") if self.mark == "pin" else ("omitted", "dim")
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

    def _label(self, label: str, right: float) -> float:
        """A small tag at the right end of the text; returns the room that it takes."""
        canvas = self.canvas
        painter, inks, geometry = canvas.painter, canvas.inks, canvas.geometry
        room = max(geometry.px(48), (right - geometry.text_left) * 0.35)
        shown = inks.small_metrics.elidedText(label, Qt.TextElideMode.ElideRight, room)
        width = inks.small_metrics.horizontalAdvance(shown) + geometry.px(14)
        height = geometry.px(18)
        box = QRectF(right - width, round(self.middle - height / 2) + 0.5, width, height)
        painter.setPen(QPen(mix(inks.theme.accent, inks.theme.paper, 0.55), 1))
        painter.setBrush(inks.theme.card)
        painter.drawRoundedRect(box, height / 2, height / 2)
        painter.setFont(inks.small)
        painter.setPen(inks.theme.accent)
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
    if not geometry.has_bars:
        return
    height, width = geometry.px(5), geometry.bar_width
    weights, told = canvas.model.weights, canvas.model.told
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(inks.theme.line)
    fills: dict[tuple[str, bool], list[QRectF]] = {}
    for card in cards:
        rect = QRectF(geometry.bar_left, round(card.middle - height / 2), width, height)
        if card.is_pruned or card.mark == "omit":
            texture = PRUNED if card.is_pruned else OMITTED
            _gone_bar(canvas, rect, bar_share(weights[card.entry]), texture)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(inks.theme.line)
        else:
            painter.drawRoundedRect(rect, height / 2, height / 2)
        share = bar_share(told(card.entry))
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
    told = canvas.model.told
    painter.setFont(inks.mono)
    painter.setPen(inks.theme.dim)
    width, height = geometry.px(60), geometry.px(20)
    align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for card in cards:
        box = QRectF(geometry.number_right - width, card.middle - height / 2, width, height)
        painter.drawText(box, align, f"{told(card.entry):,}")
