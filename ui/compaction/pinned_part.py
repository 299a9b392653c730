"""What a person pinned, omitted or keeps: with its tokens, and one click to end it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from explorer.services.edits import ShapedRow
from ui.theme import S4, S8, bind_icon
from ui.widgets.figures import count, full, short
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.number_slider import NumberSlider
from ui.widgets.panels import column_in, row_in

MOST_SHOWN = 6
"""Rows shown at once; the rest is behind a link."""
MOST_TOKENS = 200_000
_HOW = {
    "in place": "where it stands",
    "again": "again, after the summary",
    "not": "not repeated",
}
EMPTY = (
    "Pin on the map (P) what must stay word for word; omit (O) what no model needs. Both are"
    " entries of their own, and can be undone."
)
_ENDS = {"pinned": "unpin", "omitted": "take in"}


class ShapingPart(QWidget):
    """Shows rows; emits what is to end, and how much of the user's messages to keep."""

    entry_requested = Signal(int)
    unpin_asked = Signal(int)
    take_in_asked = Signal(int)
    budget_chosen = Signal(int)
    """Tokens of the user's messages that stay word for word; 0: none."""
    summed = Signal(str)
    """All of it in a line."""
    emptied = Signal()
    """The row that had the keyboard was the last one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[ShapedRow] = []
        self._texts: list[str] = []
        self._all = False
        self.heading = Caption(parent=self, wraps=True)
        self.list = QWidget(self)
        self._column = QVBoxLayout(self.list)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.more = LinkButton(parent=self)
        self.more.clicked.connect(self._toggle)
        self.budget = NumberSlider("&Own messages", 0, MOST_TOKENS, self)
        self.budget.setToolTip(
            "Tokens of your own messages that stay word for word after a summary, the newest"
            " first; 0 keeps none. It is a rule of this session, and goes before the profile's."
        )
        self.budget.changed.connect(self._budget_moved)
        self.taken = Caption(parent=self, wraps=True)
        self.keep = LinkButton("Keep them ▸", self)
        self.keep.setAccessibleName("Make this the rule for your own messages in this session")
        self.keep.clicked.connect(lambda: self.budget_chosen.emit(self.budget.value()))
        self._rule = 0
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.taken, 1)
        line.addWidget(self.keep)
        column = column_in(self, S4)
        for part in (self.heading, self.list, self.more, self.budget):
            column.addWidget(part)
        column.addLayout(line)
        self._fill()

    def show_rows(self, rows: Sequence[ShapedRow], texts: Sequence[str], rule: int) -> None:
        """Show what holds. ``texts``: the first line of each row's entry; ``rule``: tokens of the
        person's messages that are kept now."""
        same = (list(rows), list(texts)) == (self._rows, self._texts)
        self._rows, self._texts = list(rows), list(texts)
        if rule != self._rule:
            self.budget.set_value(rule)
        self._rule = rule
        self._tell_budget()
        if not same:
            self._fill()

    def row_of(self, entry: int) -> QWidget | None:
        """The number of an entry's row, which shows it on the map; None where it has no row."""
        at = next((at for at, one in enumerate(self._rows) if one.entry == entry), -1)
        if at >= MOST_SHOWN and not self._all:
            self._toggle()
        item = self._column.itemAt(at) if at >= 0 else None
        line = item.widget() if item is not None else None
        return line.findChild(LinkButton) if line is not None else None

    def _toggle(self) -> None:
        self._all = not self._all
        self._fill()

    def _fill(self) -> None:
        focused = self.focusWidget()
        had_keyboard = (
            focused is not None and focused.hasFocus() and self.list.isAncestorOf(focused)
        )
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        shown = self._rows if self._all else self._rows[:MOST_SHOWN]
        for one, text in zip(shown, self._texts, strict=False):
            self._column.addWidget(self._line(one, text))
        hidden = len(self._rows) - len(shown)
        self.more.setVisible(len(self._rows) > MOST_SHOWN)
        self.more.setText("fewer ▴" if self._all else f"{count(hidden, 'more', 'more')} ▾")
        self.list.setVisible(bool(self._rows))
        self.heading.setText(EMPTY)
        self.heading.setVisible(not self._rows)
        self.summed.emit(self._summed())
        if not self._rows:
            self._all = False
        if had_keyboard:
            self._take_keyboard()

    def _take_keyboard(self) -> None:
        """The keyboard stays in the list, and does not fall into a box that takes its keys."""
        first = self._column.itemAt(0)
        row = first.widget() if first is not None else None
        button = row.findChild(LinkButton) if row is not None else None
        if button is not None:
            button.setFocus()
        else:
            self.emptied.emit()

    def _summed(self) -> str:
        if not self._rows:
            return "Pinned, omitted, kept: nothing"
        parts = []
        for how in ("pinned", "kept", "omitted"):
            found = [row for row in self._rows if row.how == how]
            if found:
                tokens = sum(row.tokens for row in found)
                parts.append(f"{len(found):,} {how}, {short(tokens)} tokens")
        return " · ".join(parts)

    def _line(self, one: ShapedRow, text: str) -> QWidget:
        line = QWidget(self.list)
        layout = row_in(line, S8)
        go = LinkButton(f"#{one.entry}", line)
        go.setToolTip(f"Show #{one.entry} on the map")
        go.clicked.connect(lambda: self.entry_requested.emit(one.entry))
        bind_icon(go, "omit" if one.how == "omitted" else "pin")
        what = ElidedLabel(text, line)
        tokens = Caption(f"{full(one.tokens)}", line)
        tokens.setToolTip(f"{full(one.tokens)} tokens, repeated {_HOW[one.sent]}")
        for part in (go, what, tokens):
            layout.addWidget(part, 1 if part is what else 0)
        go.setAccessibleName(f"#{one.entry}, {one.how}, {full(one.tokens)} tokens: {text}")
        if one.how in _ENDS:
            end = LinkButton(_ENDS[one.how], line)
            end.setAccessibleName(f"{_ENDS[one.how].capitalize()} #{one.entry}")
            asked = self.unpin_asked if one.how == "pinned" else self.take_in_asked
            end.clicked.connect(lambda: asked.emit(one.entry))
            layout.addWidget(end)
        else:
            layout.addWidget(Caption("by the rule", line))
        return line

    def _budget_moved(self, _tokens: int) -> None:
        self._tell_budget()

    def _tell_budget(self) -> None:
        by_rule = [row for row in self._rows if row.how == "kept"]
        tokens = self.budget.value()
        is_new = tokens != self._rule
        sentence = "Your own messages are summarized like all others."
        if self._rule:
            taken = sum(row.tokens for row in by_rule)
            most, number = short(self._rule), f"{len(by_rule):,}"
            sentence = f"Up to {most} tokens: {number} repeated, {short(taken)}."
        self.taken.setText(sentence)
        self.keep.setVisible(is_new)
        self.keep.setText("Keep none ▸" if not tokens else f"Keep up to {short(tokens)} ▸")
