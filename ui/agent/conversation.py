"""The conversation of the active path: what was said last, and what is being said now.

Only the newest messages are laid out; older ones are added on request. Text that arrives while
the agent answers is gathered and shown 30 times a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QTextBrowser, QWidget

from explorer.session.describe import blocks_of, call_title, summary_line, text_of
from explorer.session.kinds import Flag, Kind
from explorer.tokens.estimate import utf16_units
from ui import theme
from ui.agent.marked import Run, Style, runs

SHOWN_AT_ONCE = 40
LONGEST = 2000
FLUSH_MS = 33

RENDERED_LIVE = 8_000
"""Characters up to which a reply is rendered anew with every piece that arrives."""

_MARKED = frozenset(
    {Kind.USER, Kind.ASSISTANT, Kind.CUSTOM_MESSAGE, Kind.COMPACTION, Kind.BRANCH_SUMMARY}
)
"""Who writes Markdown."""


@dataclass(frozen=True, slots=True)
class Said:
    """One line of the conversation: who, what, and the entry that it comes from."""

    who: str
    text: str
    entry: int
    kind: Kind
    flags: int = 0
    mono: bool = False


def lines_of(index: int, kind: Kind, flags: int, entry: Mapping[str, Any]) -> list[Said]:
    """How an entry reads in the conversation; nothing for entries that are not said."""
    message = entry.get("message") if isinstance(entry.get("message"), Mapping) else {}
    assert isinstance(message, Mapping)
    if kind is Kind.USER:
        return [Said("You", text_of(message.get("content")) or "(image)", index, kind, flags)]
    if kind is Kind.ASSISTANT:
        return _reply(index, flags, message)
    if kind is Kind.TOOL_RESULT:
        text = text_of(message.get("content"))
        count = text.count("\n") + 1
        shown = text if count <= 3 else f"{count:,} lines"
        word = "failed" if flags & Flag.ERROR else "result"
        return [Said(word, shown, index, kind, flags, mono=True)]
    if kind is Kind.BASH_EXECUTION:
        return [Said("Shell", str(message.get("command", "")), index, kind, flags, mono=True)]
    if kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        who = "Compacted" if kind is Kind.COMPACTION else "Branch"
        return [Said(who, summary_line(str(entry.get("summary", ""))), index, kind, flags)]
    if kind is Kind.CUSTOM_MESSAGE and not flags & Flag.HIDDEN:
        return [Said("Note", text_of(entry.get("content")), index, kind, flags)]
    return []


def _reply(index: int, flags: int, message: Mapping[str, Any]) -> list[Said]:
    said: list[Said] = []
    for block in blocks_of(message.get("content")):
        if block.get("type") == "text" and str(block.get("text", "")).strip():
            said.append(Said("Agent", str(block["text"]).strip(), index, Kind.ASSISTANT, flags))
        elif block.get("type") == "toolCall":
            name = str(block.get("name", ""))
            title = call_title(name, block.get("arguments")).removeprefix(name).strip()
            said.append(
                Said(name, title, index, Kind.ASSISTANT, int(Flag.HAS_TOOL_CALL), mono=True)
            )
    if flags & (Flag.ERROR | Flag.ABORTED):
        word = "Failed" if flags & Flag.ERROR else "Stopped"
        reason = str(message.get("errorMessage") or "The reply was stopped.")
        said.append(Said(word, reason, index, Kind.ASSISTANT, flags))
    return said


class Conversation(QTextBrowser):
    """Shows lines, then what streams in. Clicking the name of a line shows its entry."""

    entry_requested = Signal(int)
    earlier_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Conversation at the leaf")
        self.setOpenLinks(False)
        # Tab would stop at every line's name; the arrow keys of the map lead to the same entries.
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
        )
        self.setUndoRedoEnabled(False)
        self.setProperty("plain", True)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.document().setDocumentMargin(theme.S16)
        self.anchorClicked.connect(self._clicked)
        self._pending: list[str] = []
        self._streamed, self._streamed_from = "", 0
        self._streamed_runs: list[Run] = []
        self._streaming = False
        self._has_earlier = False
        self._timer = QTimer(self)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self.flush)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing outside the text is ever fetched: session text is not trusted."""
        return None

    def show_lines(self, said: list[Said], earlier: int) -> None:
        """Replace everything; ``earlier`` counts the messages above that are not shown."""
        self._pending.clear()
        self._streaming = False
        self._timer.stop()
        self.clear()
        self._has_earlier = earlier > 0
        # One edit is laid out once.
        edit = self._cursor()
        edit.beginEditBlock()
        if earlier:
            self._paragraph()
            self._insert(f"{earlier:,} earlier messages", href="earlier:")
        for line in said:
            self.add(line)
        edit.endEditBlock()
        self.to_end()

    def add(self, line: Said) -> None:
        """One more line at the end."""
        self.flush()
        self._streaming = False
        self._paragraph()
        color = theme.role_color(line.kind, line.flags)
        self._insert(line.who, href=f"entry:{line.entry}", color=color)
        self._insert("\t")
        text = line.text if len(line.text) <= LONGEST else line.text[:LONGEST] + " …"
        if line.mono or line.kind not in _MARKED:
            self._insert(text, mono=line.mono)
        else:
            self._insert_marked(text)

    def begin(self) -> None:
        """A reply starts to arrive."""
        self._paragraph()
        self._insert("Agent", color=theme.role_color(Kind.ASSISTANT, int(Flag.HAS_TEXT)))
        self._insert("\t")
        self._streaming = True
        self._streamed, self._streamed_from = "", self._cursor().position()
        self._streamed_runs = []

    def feed(self, text: str) -> None:
        """A piece of the reply; shown at the next flush."""
        if not self._streaming:
            follows = self._at_end()
            self.begin()
            if follows:
                self.to_end()
        self._pending.append(text)
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        self._timer.stop()
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()
        at_end = self._at_end()
        self._streamed += text
        if len(self._streamed) <= RENDERED_LIVE:
            self._show_streamed()
        else:
            self._insert(text)
        if at_end:
            self.to_end()

    def _show_streamed(self) -> None:
        """Show what came in from the first character on that looks different now: the rest of a
        long reply is neither taken out nor laid out again."""
        now, same = runs(self._streamed), 0
        place = self._streamed_from
        for old, new in zip(self._streamed_runs, now, strict=False):
            if old != new:
                break
            same += 1
            place += utf16_units(new.text)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.setPosition(place)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._insert_runs(cursor, now[same:])
        cursor.endEditBlock()
        self._streamed_runs = now

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Who reads the end goes on reading the end."""
        at_end = self._at_end()
        super().resizeEvent(event)
        if at_end:
            self.to_end()

    def to_end(self) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 4

    def _cursor(self) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _paragraph(self) -> None:
        cursor = self._cursor()
        form = QTextBlockFormat()
        indent = self.fontMetrics().horizontalAdvance("Compacted") + theme.S16
        form.setLeftMargin(indent)
        form.setTextIndent(-indent)
        form.setBottomMargin(theme.S4)
        if self.document().isEmpty():
            cursor.setBlockFormat(form)
        else:
            cursor.insertBlock(form)
        if self.tabStopDistance() != indent:
            self.setTabStopDistance(indent)

    def _insert_marked(self, text: str) -> None:
        """Insert a text with its code and its bold words shown as such."""
        self._insert_runs(self._cursor(), runs(text))

    def _insert_runs(self, cursor: QTextCursor, found: list[Run]) -> None:
        now = theme.theme()
        for run in found:
            form = QTextCharFormat()
            form.setForeground(now.ink)
            if run.style in (Style.CODE, Style.BLOCK):
                form.setFont(theme.mono_font())
                form.setBackground(now.panel)
            elif run.style is Style.BOLD:
                form.setFontWeight(QFont.Weight.Bold)
            cursor.insertText(run.text.replace("\n", "\u2028"), form)

    def _insert(self, text: str, *, href: str = "", color: Any = None, mono: bool = False) -> None:
        form = QTextCharFormat()
        form.setForeground(color or (theme.theme().accent if href else theme.theme().ink))
        if mono:
            form.setFont(theme.mono_font())
        if href:
            form.setAnchor(True)
            form.setAnchorHref(href)
            form.setFontUnderline(False)
        cursor = self._cursor()
        cursor.insertText(text.replace("\n", "\u2028"), form)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Going up from the top asks for what was said before."""
        bar = self.verticalScrollBar()
        upwards = (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home)
        if event.key() in upwards and self._has_earlier and bar.value() == bar.minimum():
            self.earlier_requested.emit()
            return
        super().keyPressEvent(event)

    def _clicked(self, url: QUrl) -> None:
        scheme, _, rest = url.toString().partition(":")
        if scheme == "entry":
            self.entry_requested.emit(int(rest))
        elif scheme == "earlier":
            self.earlier_requested.emit()
