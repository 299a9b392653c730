"""Swatches of the textures, their legend, and the bar of a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QToolTip, QWidget

from ui.theme import bind_font, on_theme_changed, paint_verdict, scaled, small_font, theme
from ui.widgets.figures import full, short, widest
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import elided
from ui.widgets.panels import reach_behind
from ui.widgets.terms import OF_SHARES, meaning


def swatch_size() -> tuple[int, int]:
    """Width and height of a texture's sign, in logical pixels."""
    return scaled(13), scaled(11)


class Share(NamedTuple):
    """A part of a budget: what fills it, its name, and how many tokens it takes."""

    key: str
    title: str
    tokens: int
    verdict: int = -1
    """The verdict whose texture fills it, or -1 for the colour of ``token``."""
    token: str = "dim"
    filterable: bool = True
    note: str = ""
    """What the legend adds to its figure."""
    label: str = ""
    """What the legend shows in place of name and figure where it has little room."""
    is_lined: bool = False
    """Whether it is filled with lying lines of its colour, which no verdict has."""
    most: int = 0
    """Tokens that it may come to beside the same others: the legend has room for that figure, so
    that nothing moves in it meanwhile."""


def paint_share(painter: QPainter, rect: QRectF, share: Share, *, radius: float = 2.0) -> None:
    """Fill a rectangle as the share asks."""
    if share.verdict >= 0:
        paint_verdict(painter, rect, share.verdict, radius=radius, outline=radius > 0)
        return
    colour: QColor = getattr(theme(), share.token)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme().line, 1) if radius else Qt.PenStyle.NoPen)
    painter.setBrush(theme().paper if share.is_lined else colour)
    inset = 0.5 if radius else 0.0
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)
    if share.is_lined:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(QPen(colour, 1))
        left, right = round(rect.left() + inset), round(rect.right() - inset) - 1
        for y in range(round(rect.top()) + 1, round(rect.bottom()), _LINE_STEP):
            painter.drawLine(left, y, right, y)
    painter.restore()


_LINE_STEP = 3
"""Pixels from one lying line to the next."""


class LegendItem(QAbstractButton):
    """One share with its texture, name and figure. Checked: the view shows only this one."""

    def __init__(self, share: Share, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share = share
        self.setCheckable(share.filterable)
        bind_font(self, small_font)
        if share.filterable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_share(share)
        on_theme_changed(self.update)

    def set_share(self, share: Share) -> None:
        """Show other figures."""
        self.share = share
        figure = f" {short(share.tokens)}" if share.tokens else ""
        note = f", {share.note}" if share.note else ""
        self.setText(share.label or share.title + figure + note)
        self._room = f"{share.title} {widest(share.most)}{note}" if share.most else ""
        if not share.tokens:
            # A texture's name alone, where no figures belong to it.
            self.setAccessibleName(share.title)
            self.setToolTip(self._meaning())
            return
        self.setAccessibleName(f"{share.title}, {full(share.tokens)} tokens{note}")
        hint = " Click to show only these in the list." if share.filterable else ""
        figures = f"{share.title}: {full(share.tokens)} tokens.{hint}"
        self.setToolTip(f"{figures}\n{self._meaning()}".strip())
        self.updateGeometry()
        self.update()

    def _meaning(self) -> str:
        term = OF_SHARES.get(self.share.title)
        return meaning(term) if term else ""

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        sign, height = swatch_size()
        words = max(map(metrics.horizontalAdvance, (self.text(), self._room)))
        width = sign + 6 + words + 6
        return QSize(width, max(metrics.height(), height) + 4)

    def minimumSizeHint(self) -> QSize:
        """Room for a name and its figure; the tip has what is added to them."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), scaled(_LEAST)), hint.height())

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.hasFocus() or (self.underMouse() and self.isCheckable()):
            painter.setPen(QPen(now.accent, 1) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(now.sel if self.isChecked() else now.panel)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        width, height = swatch_size()
        top = (self.height() - height) / 2
        paint_share(painter, QRectF(2, top, width, height), self.share)
        painter.setPen(now.ink if self.isChecked() else now.dim)
        text = self.rect().adjusted(width + 7, 0, 0, 0)
        shown = elided(self.fontMetrics(), self.text(), text.width())
        painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter), shown)


_LEAST = 180
"""Pixels of an item at a text scale of 100 %."""


def beyond_share(tokens: int) -> Share:
    """What a provider counted beyond the entries, the error of the count with it."""
    return Share(
        "beyond", "beyond the entries", tokens, token="dim", filterable=False, is_lined=True
    )


class Legend(QWidget):
    """The shares of a budget. One at a time can be checked; checking it again frees it."""

    filter_changed = Signal(str)
    """The checked share's key, or an empty text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, across=6, down=2)
        self._items: dict[str, LegendItem] = {}
        self._place = QWidget(self)
        """Keeps the items' place in the order of the Tab key."""
        self._place.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._place.hide()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")

    def set_shares(self, shares: Sequence[Share]) -> None:
        """Show these shares in this order, keeping the items whose keys stay."""
        keys = [share.key for share in shares]
        if list(self._items) != keys:
            self._rebuild(shares)
            return
        for share in shares:
            self._items[share.key].set_share(share)

    def _rebuild(self, shares: Sequence[Share]) -> None:
        checked = self.filter_key()
        while (item := self._flow.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._items = {}
        for share in shares:
            button = self._items[share.key] = LegendItem(share, self)
            button.setChecked(share.key == checked)
            button.toggled.connect(lambda on, key=share.key: self._toggled(key, on))
            self._flow.addWidget(button)
            button.show()
        reach_behind(self._place, *self._items.values())
        self._flow.invalidate()
        self.updateGeometry()
        if checked and checked not in self._items:
            self.filter_changed.emit("")

    def _toggled(self, key: str, on: bool) -> None:
        if on:
            for other, item in self._items.items():
                if other != key and item.isChecked():
                    item.blockSignals(True)
                    item.setChecked(False)
                    item.blockSignals(False)
                    item.update()
        self.filter_changed.emit(key if on else "")

    def filter_key(self) -> str:
        """The checked share's key, or an empty text."""
        return next((key for key, item in self._items.items() if item.isChecked()), "")

    def item(self, key: str) -> LegendItem:
        """The item of a share. Raises KeyError when it is not shown."""
        return self._items[key]


_HEIGHT = 18
"""Logical pixels at a text scale of one."""


class BudgetBar(QWidget):
    """Shares in order from the left, the reserve at the right end, and the limit's tick.

    When the shares go beyond the window, the scale stretches so that all of them are seen, and the
    tick stands within the bar where the window ends.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: list[Share] = []
        self._limit = 1
        self._reserve = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Budget of the context window")
        on_theme_changed(self.update)

    def set_budget(self, shares: Sequence[Share], limit: int, reserve: int) -> None:
        """Set tokens per share, the window and what is reserved of it for the reply."""
        self._shares = [share for share in shares if share.tokens > 0]
        self._limit, self._reserve = max(1, limit), max(0, min(reserve, limit))
        used = sum(share.tokens for share in self._shares)
        parts = ", ".join(f"{share.title} {full(share.tokens)}" for share in self._shares)
        over = used - (self._limit - self._reserve)
        state = f"{full(over)} over the threshold" if over > 0 else f"{full(-over)} free"
        self.setAccessibleDescription(
            f"{full(used)} of {full(self._limit)} tokens: {parts or 'nothing'}; "
            f"reserve {full(self._reserve)}; {state}"
        )
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, scaled(_HEIGHT) + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, scaled(_HEIGHT) + 6)

    def _frame(self) -> QRectF:
        height = scaled(_HEIGHT)
        top = (self.height() - height) / 2
        return QRectF(0.5, top + 0.5, self.width() - 1, height - 1)

    def _scale(self) -> float:
        used = sum(share.tokens for share in self._shares)
        return self._frame().width() / max(self._limit, used, 1)

    def segments(self) -> list[tuple[Share, QRectF]]:
        """Each share with its rectangle, at least two pixels wide so that none disappears."""
        frame, scale = self._frame(), self._scale()
        x, found = frame.left(), []
        for share in self._shares:
            width = max(2.0, share.tokens * scale)
            found.append((share, QRectF(x, frame.top(), width, frame.height())))
            x += width
        return found

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter, frame = theme(), QPainter(self), self._frame()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = QPainterPath()
        shape.addRoundedRect(frame, 4, 4)
        painter.setClipPath(shape)
        limit_x = frame.left() + self._limit * self._scale()
        threshold_x = frame.left() + (self._limit - self._reserve) * self._scale()
        painter.fillRect(frame, now.paper)
        reserve = QRectF(threshold_x, frame.top(), limit_x - threshold_x, frame.height())
        painter.fillRect(reserve, now.line)
        for share, rect in self.segments():
            paint_share(painter, rect, share, radius=0)
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(now.line, 1))
        painter.drawPath(shape)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(now.ink, 2))
        x = round(threshold_x)
        painter.drawLine(QPointF(x, frame.top() - 2), QPointF(x, frame.bottom() + 3))

    def tip_at(self, x: float) -> str:
        """What the tool tip says at a horizontal position."""
        for share, rect in self.segments():
            if rect.left() <= x < rect.right():
                percent = 100 * share.tokens / self._limit
                return f"{share.title}: {full(share.tokens)} tokens, {percent:.1f} % of the window"
        if x >= self._frame().left() + (self._limit - self._reserve) * self._scale():
            return f"reserve: {full(self._reserve)} tokens kept free for the reply"
        used = sum(share.tokens for share in self._shares)
        threshold = self._limit - self._reserve
        return f"free: {full(threshold - used)} tokens before the threshold of {short(threshold)}"

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos().x()), self)
            return True
        return super().event(event)
