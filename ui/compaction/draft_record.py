"""How a draft was made: every call and its reason, waits, reminders, and what extensions did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from explorer.extensions.answers import TITLES, HookRecord, records_of
from explorer.models.catalogue import REMOTE
from explorer.services.draft_records import Attempt, Draft
from ui.theme import S4, S8, S16, set_tone
from ui.widgets.figures import count, full
from ui.widgets.labels import Caption
from ui.widgets.panels import CollapsibleSection, column_in

PURPOSES = {
    "history": "History",
    "turn_prefix": "Split turn",
    "branch": "Branch",
    "short": "Short summary",
    "verify": "Check and mend",
}
WHY = {
    "first": "asked",
    "retry": "asked again",
    "next-model": "asked another model",
    "reminder": "reminded of what was missing",
    "window": "asked about a part",
    "halved": "asked about a smaller part",
}
TRIGGERS = {
    "manual": "A person asked for it.",
    "requested": "A person asked for it while the agent was answering.",
    "threshold": "The context had grown beyond the threshold.",
    "overflow": "The model had refused a context that was too large.",
    "background": "It was made ahead, while the agent worked on.",
    "foreground": "The prompt did not fit its budget any more.",
}


class RecordedCall(NamedTuple):
    """A call as it is shown."""

    what: str
    by: str
    took: str
    problem: str


def asker(model: str) -> str:
    """The name of the model that was called, for people."""
    return "the service of your own" if model == REMOTE else model


def step(made: Attempt) -> RecordedCall:
    """A call in words."""
    part = f", part {made.window}" if made.window else ""
    waited = f" after {made.waited_s:.1f} s" if made.waited_s >= 0.05 else ""
    what = f"{PURPOSES.get(made.purpose, made.purpose)}{part}: {WHY.get(made.why, made.why)}"
    took = [f"{made.elapsed_ms / 1000:.1f} s"]
    if made.usage is not None:
        took.append(f"{full(made.usage.input)} in, {full(made.usage.output)} out")
    return RecordedCall(what + waited, asker(made.model), " · ".join(took), made.problem)


def headline(attempts: Sequence[Attempt], asked_of_extensions: int = 0) -> str:
    """All of it in a line, for where it is folded."""
    parts = [count(len(attempts), "call")] if attempts else []
    again = sum(each.why == "retry" for each in attempts)
    reminded = sum(each.why == "reminder" for each in attempts)
    models = len({each.model for each in attempts})
    windows = max((each.window for each in attempts), default=0)
    if again:
        parts.append(f"{full(again)} again")
    if reminded:
        parts.append(f"{full(reminded)} reminded")
    if models > 1:
        parts.append(count(models, "model"))
    if windows > 1:
        parts.append(f"in {full(windows)} parts")
    if asked_of_extensions:
        parts.append("extensions asked")
    return "How it was made" + (f": {', '.join(parts)}" if parts else "")


def origin(facts: Mapping[str, Any]) -> str:
    """What set it off, and who wrote it when no model did; empty when nothing is recorded."""
    words = [TRIGGERS.get(str(facts.get("trigger", "")), "")]
    if by := facts.get("from_extension"):
        words.append(f"The extension {by} wrote it; no model was asked.")
    return " ".join(word for word in words if word)


MOST_ROWS = 40
"""Calls that are shown one by one at most."""


def summary_of(records: Sequence[HookRecord]) -> str:
    """All of it in a line, what matters first."""
    failed = [r for r in records if r.failed]
    acted = [r for r in records if not r.failed and r.did != "nothing" and r.used]
    parts = []
    for number, word in ((len(failed), "failed"), (len(acted), "acted")):
        if number:
            parts.append(f"{number} {word}")
    if not parts:
        return f"Extensions: {count(len(records), 'call')}, nothing done"
    return f"Extensions: {count(len(records), 'call')}, {', '.join(parts)}"


class HandlerCallsView(QWidget):
    """Shows nothing where no extension was asked; opens by itself when one failed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QWidget(self)
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(S16, 0, 0, 0)
        self._grid.setHorizontalSpacing(S8)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self.section = CollapsibleSection("Extensions", self._rows, parent=self)
        column = column_in(self)
        column.addWidget(self.section)
        self._shown: tuple[HookRecord, ...] | None = None
        self.show_records(())

    def show_records(self, records: Sequence[HookRecord]) -> None:
        """Show these calls, in the order in which they were made."""
        if self._shown == tuple(records):
            return
        self._shown = tuple(records)
        self.setVisible(bool(records))
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.section.set_title(summary_of(records))
        for row, record in enumerate(records[:MOST_ROWS]):
            self._add(row, record)
        if len(records) > MOST_ROWS:
            more = Caption(f"and {count(len(records) - MOST_ROWS, 'more call')}", self._rows)
            self._grid.addWidget(more, MOST_ROWS, 0, 1, 3)
        self.section.set_expanded(any(record.failed for record in records))

    def lines(self) -> list[str]:
        """The rows as they are read out."""
        return [line_of(record) for record in self._shown or ()]

    def _add(self, row: int, record: HookRecord) -> None:
        tone = "lost" if record.failed else "dim"
        name = Caption(record.extension, self._rows)
        caption = Caption(
            f"{TITLES.get(record.event, record.event)}: {record.sentence}", self._rows, wraps=True
        )
        caption.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        taken = Caption(f"{record.elapsed_ms:,.0f} ms", self._rows)
        for at, label in enumerate((name, caption, taken)):
            set_tone(label, tone)
            label.setAccessibleName(line_of(record) if at == 0 else label.text())
            self._grid.addWidget(label, row, at, Qt.AlignmentFlag.AlignTop)


def line_of(record: HookRecord) -> str:
    """A call in one line, for tool tips and readers."""
    when = TITLES.get(record.event, record.event)
    return f"{record.extension}, {when}: {record.sentence} ({record.elapsed_ms:,.0f} ms)"


MOST_STEPS = 40
"""Calls that are shown one by one at most."""


class DraftRecordView(QWidget):
    """Folded, it is one line; opens by itself where a call's answer was not taken."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content = QWidget(self)
        self.origin = Caption(parent=self._content, wraps=True)
        self.short = Caption(parent=self._content, wraps=True)
        self.short.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.did = HandlerCallsView(self._content)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(S8)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        column = QVBoxLayout(self._content)
        column.setContentsMargins(S16, 0, 0, 0)
        column.setSpacing(S4)
        column.addWidget(self.origin)
        column.addLayout(self._grid)
        column.addWidget(self.short)
        column.addWidget(self.did)
        self.section = CollapsibleSection("How it was made", self._content, parent=self)
        outer = column_in(self)
        outer.addWidget(self.section)
        self.steps: tuple[RecordedCall, ...] = ()
        self._shown: object = None

    def show_draft(self, draft: Draft) -> None:
        """Show what is recorded with a draft; one without a record shows nothing."""
        if draft is self._shown:
            return
        self._shown = draft
        facts, short = draft.facts, draft.short_summary
        records = records_of(facts)
        self.steps = tuple(step(each) for each in draft.attempts)
        self._fill()
        cause = origin(facts)
        self.origin.setText(cause)
        self.origin.setVisible(bool(cause))
        self.short.setText(f"Shown for it in the map: {short}" if short else "")
        self.short.setVisible(bool(short))
        self.did.show_records(records)
        self.section.set_title(headline(draft.attempts, len(records)))
        failed = any(each.problem for each in self.steps) or any(each.failed for each in records)
        self.section.set_expanded(failed)
        self.setVisible(bool(self.steps or records or cause or short))

    def _fill(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        at = 0
        for each in self.steps[:MOST_STEPS]:
            self._line(at, f"{each.what}, {each.by}", each.took)
            at += 1
            if each.problem:
                self._line(at, each.problem, "", "lost")
                at += 1
        if len(self.steps) > MOST_STEPS:
            self._line(at, f"and {count(len(self.steps) - MOST_STEPS, 'more call')}", "")

    def _line(self, at: int, words: str, took: str, tone: str = "dim") -> None:
        caption = Caption(words, self._content, tone=tone, wraps=True)
        caption.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(caption, at, 0, Qt.AlignmentFlag.AlignTop)
        if took:
            figure = Caption(took, self._content)
            self._grid.addWidget(
                figure, at, 1, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
            )
