"""The items of the conversation with their heights, read, laid out and forgotten as needed, and the
reply that is arriving."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from explorer.models.client import ToolCall
from explorer.services.document import Document
from explorer.session.entries import ToolCallBlock
from explorer.session.kinds import Kind
from ui import theme
from ui.conversation.view.boxes import BoxInks
from ui.conversation.view.calls import CallStates, call_parts
from ui.conversation.view.item_reader import (
    ItemRead,
    parts_of,
    read_item,
    thinking_parts,
)
from ui.conversation.view.items import Heights, PathItems
from ui.conversation.view.layout import LaidItem, Pictures
from ui.conversation.view.parts import (
    AGENT,
    ItemPart,
    Note,
    Role,
    Row,
    Segment,
    Splitter,
    piece_part,
)
from ui.widgets.loader import READ_ERRORS, BackgroundJobs
from ui.widgets.message_blocks import CallBlock, call_block

THINKING_SHOWN = 20_000
"""Characters of thinking, from the end, that are laid out while it goes on arriving."""


class _Words(Struct):
    splitter: Splitter = field(default_factory=Splitter)
    made: list[ItemPart] = field(default_factory=list)
    """Of the pieces that cannot change any more."""


class _Thoughts(Struct):
    text: str = ""


class LiveReply:
    """Takes what the model sends; its parts are those that the stored reply will have."""

    def __init__(self, shown: Callable[[str], str]) -> None:
        """``shown``: a text as it is shown."""
        self._shown = shown
        self._blocks: list[_Words | _Thoughts | CallBlock] = []
        self.waiting = ""
        """Why a call is made again, while that is waited for."""

    def add_text(self, text: str) -> None:
        if not self._blocks or not isinstance(self._blocks[-1], _Words):
            self._blocks.append(_Words())
            text = text.lstrip("\n")
        words = self._blocks[-1]
        assert isinstance(words, _Words)
        self.waiting = ""
        words.splitter.feed(text)

    def add_thinking(self, text: str) -> None:
        if not self._blocks or not isinstance(self._blocks[-1], _Thoughts):
            self._blocks.append(_Thoughts())
        thoughts = self._blocks[-1]
        assert isinstance(thoughts, _Thoughts)
        self.waiting = ""
        thoughts.text += text

    def add_call(self, call: ToolCall) -> None:
        arguments = json.loads(self._shown(json.dumps(call.arguments, ensure_ascii=False)))
        block = ToolCallBlock(call.id, call.name, arguments)
        self._blocks.append(call_block(block))
        self.waiting = ""

    def parts(self, states: CallStates, is_open: Callable[[str], bool]) -> list[ItemPart]:
        """What has arrived; finished pieces are the same objects from one call to the next."""
        found: list[ItemPart] = []
        role: Role | None = AGENT
        for at, block in enumerate(self._blocks):
            if isinstance(block, _Thoughts):
                found += self._thinking(f"k{at}", block.text, is_open)
            elif isinstance(block, _Words):
                found += _pieces(f"t{at}", block, role, self._shown)
                role = None
            else:
                found += call_parts(f"c{at}", block, None, states, is_open)
        if self.waiting:
            waits = Role("Waiting", "history", "lost")
            found.append(Row(key="wait", role=waits, text=self.waiting, tint="dim"))
        return found

    def _thinking(self, key: str, text: str, is_open: Callable[[str], bool]) -> list[ItemPart]:
        shown = self._shown(text[-THINKING_SHOWN:])
        if is_open(key):
            return thinking_parts(key, shown, is_open)
        last = next((line for line in reversed(shown[-600:].split("\n")) if line.strip()), "")
        role = Role("Thinking", "thinking", "think")
        return [Row(key=key, role=role, text=last.strip("#* "), tint="dim", opens=key)]


def _pieces(
    key: str, words: _Words, role: Role | None, shown: Callable[[str], str]
) -> list[ItemPart]:
    def part(at: int, piece: Segment) -> ItemPart:
        masked = replace(piece, text=shown(piece.text))
        return piece_part(f"{key}.{at}", masked, None if at else role)

    done = words.splitter.done
    for at in range(len(words.made), len(done)):
        words.made.append(part(at, done[at]))
    first = len(done)
    tail = [part(first + at, piece) for at, piece in enumerate(words.splitter.tail())]
    return words.made + tail


MOST_LAID_OUT = 240
"""Items that stay laid out; those that were looked at longest ago go first."""
LIVE = -1
"""Stands for the entry of the reply that is arriving."""

_LINES: dict[Kind, int] = {
    Kind.USER: 3, Kind.ASSISTANT: 4, Kind.COMPACTION: 2, Kind.BRANCH_SUMMARY: 2,
}  # fmt: skip


class Flow(QObject):
    """The items of the active path, and the reply that is arriving as the last one."""

    changed = Signal()
    """Something came of what was read or decoded in a thread."""

    def __init__(self, inks: BoxInks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document: Document | None = None
        self.items = PathItems()
        self.heights = Heights()
        self.states = CallStates()
        self.live: LiveReply | None = None
        self.inks = inks
        self.pictures = Pictures(self)
        self.pictures.ready.connect(self._picture_ready)
        self._laid: OrderedDict[int, LaidItem] = OrderedDict()
        """By entry; the arriving reply by ``LIVE``."""
        self._opened: set[tuple[int, str]] = set()
        self._large: dict[int, ItemRead] = {}
        self._background = BackgroundJobs(self)
        self._background.done.connect(self._large_read)

    # what there is -----------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Items, with the arriving reply."""
        return len(self.heights)

    def entry(self, item: int) -> int:
        """The entry of an item; ``LIVE`` for the arriving reply."""
        return self.items.heads[item] if item < len(self.items) else LIVE

    def item_of(self, entry: int) -> int:
        """The item of an entry that heads one, or -1."""
        if entry == LIVE:
            return len(self.items) if self.live is not None else -1
        item = self.items.item_of(entry)
        return item if item >= 0 and self.items.heads[item] == entry else -1

    def show(self, document: Document | None) -> None:
        """Take another session, or none."""
        self.document = document
        self.items.clear()
        self.heights = Heights()
        self.states = CallStates(shown=str if document is None else document.shared.privacy.shown)
        self.live = None
        self._laid.clear()
        self._opened.clear()
        self._large.clear()
        self._background.forget()
        if document is not None:
            self.refresh()

    def refresh(self) -> int:
        """Take the active path as it is now; the items from the first on that stayed."""
        if self.document is None:
            return 0
        before = len(self.items)
        unchanged = self.items.show(self.document.tree, self.document.leaf)
        heads, kinds = self.items.heads, self.document.tree.columns.kind
        if self.live is not None and unchanged == before:
            reply = next((at for at in heads[unchanged:] if kinds[at] == Kind.ASSISTANT), -1)
            if reply >= 0:
                self._live_stored(reply)
        self.heights.truncate(unchanged)
        self.heights.extend(
            map(self._guesses().__getitem__, map(kinds.__getitem__, heads[unchanged:]))
        )
        if self.live is not None:
            self.heights.extend([0.0])
            self.live_changed()
        if unchanged and unchanged <= before:
            # Results may have come to the last item that stayed.
            self.reread(unchanged - 1)
        return unchanged

    def _guesses(self) -> list[float]:
        line = self.inks.metrics.height()
        return [theme.S12 + line * _LINES.get(Kind(kind), 1) if kind < len(Kind) else line
                for kind in range(256)]  # fmt: skip

    def _live_stored(self, entry: int) -> None:
        """The arriving reply is an entry now: what was opened in it stays open."""
        self._opened |= {(entry, key) for at, key in self._opened if at == LIVE}
        self.end_live()

    # the arriving reply -------------------------------------------------------------------------

    def begin_live(self) -> LiveReply:
        """The arriving reply, made where there is none."""
        if self.live is None:
            self.live = LiveReply(self.states.shown)
            self.heights.extend([0.0])
        return self.live

    def end_live(self) -> None:
        """Drop the reply that was arriving."""
        if self.live is not None:
            self.live = None
            self.heights.truncate(len(self.items))
            self._laid.pop(LIVE, None)
            self._opened = {(at, key) for at, key in self._opened if at != LIVE}

    def live_changed(self) -> None:
        """Lay out what has come to the arriving reply."""
        if self.live is None:
            return
        item = len(self.items)
        parts = self.live.parts(self.states, lambda key: self.is_open(LIVE, key))
        laid = self._laid.get(LIVE)
        if laid is None:
            laid = self._laid[LIVE] = LaidItem(LIVE, parts, self.inks)
        else:
            laid.set_parts(parts)
        self.heights.set(item, laid.height)

    # items laid out -----------------------------------------------------------------------------

    def laid(self, item: int) -> LaidItem:
        """An item with its parts, read now where it was not."""
        entry = self.entry(item)
        found = self._laid.get(entry)
        if found is None:
            found = self._laid[entry] = LaidItem(entry, self._parts(item), self.inks)
            self.heights.set(item, found.height)
            while len(self._laid) > MOST_LAID_OUT:
                oldest = next(iter(self._laid))
                if oldest == LIVE:
                    self._laid.move_to_end(LIVE)
                    continue
                del self._laid[oldest]
        else:
            self._laid.move_to_end(entry)
        if found.inks is not self.inks:
            found.set_inks(self.inks)
            self.heights.set(item, found.height)
        return found

    def known(self, item: int) -> LaidItem | None:
        """An item if it is laid out at the width in force."""
        found = self._laid.get(self.entry(item))
        return found if found is not None and found.inks is self.inks else None

    def measure(self, item: int, part: int) -> float:
        """The exact height of a part with its gap."""
        laid = self.laid(item)
        height = laid.measure(part, self.pictures)
        self.heights.set(item, laid.height)
        return height

    def _parts(self, item: int) -> list[ItemPart]:
        entry = self.entry(item)
        assert self.document is not None
        if entry == LIVE:
            assert self.live is not None
            return self.live.parts(self.states, lambda key: self.is_open(LIVE, key))
        try:
            read = self._large.get(entry) or read_item(
                self.document, entry, self.items.results(item), self.states
            )
        except READ_ERRORS as error:
            words = f"#{entry} could not be read ({type(error).__name__}); it is kept as it is."
            return [Note(key="unread", text=words, tint="lost", icon="error")]
        if read.data is None:
            self._read_large(item)
        return parts_of(read, lambda key: self.is_open(entry, key))

    def reread(self, item: int) -> None:
        """Something of an item changed: show it anew where it is laid out."""
        if item >= len(self.items):
            self.live_changed()
            return
        entry = self.entry(item)
        laid = self._laid.get(entry)
        if laid is not None:
            self._large.pop(entry, None)
            laid.set_parts(self._parts(item))
            if laid.inks is self.inks:
                self.heights.set(item, laid.height)

    def recount(self) -> None:
        """Tokens are counted otherwise: show the sizes of compactions that are laid out again."""
        if self.document is None:
            return
        kinds = self.document.tree.columns.kind
        laid = [entry for entry in self._laid if entry >= 0 and kinds[entry] == Kind.COMPACTION]
        for item in map(self.item_of, laid):
            if item >= 0:
                self.reread(item)

    def set_inks(self, inks: BoxInks) -> None:
        """Set width and colours; known heights stay as estimates."""
        self.inks = inks

    # folds --------------------------------------------------------------------------------------

    def is_open(self, entry: int, key: str) -> bool:
        return (entry, key) in self._opened

    def set_open(self, item: int, key: str, opened: bool) -> None:
        """Open or fold what a row opens."""
        mark = self.entry(item), key
        if opened:
            self._opened.add(mark)
        else:
            self._opened.discard(mark)
        large = self._large.get(mark[0])
        self.reread(item)
        if large is not None:
            self._large[mark[0]] = large
        laid = self.known(item)
        if laid is not None:
            self.heights.set(item, laid.height)

    # what is read or decoded in threads -----------------------------------------------------------

    def _read_large(self, item: int) -> None:
        document, entry, results = self.document, self.entry(item), self.items.results(item)
        assert document is not None
        states = self.states
        self._background.run(entry, lambda: _with_entry(document, entry, results, states))

    def _large_read(self, entry: int, read: object) -> None:
        item = self.item_of(entry)
        if item < 0:
            return
        laid = self._laid.get(entry)
        if isinstance(read, ItemRead):
            self._large[entry] = read
            if len(self._large) > 8:
                del self._large[next(iter(self._large))]
            parts = parts_of(read, lambda key: self.is_open(entry, key))
        else:
            words = f"#{entry} could not be read; it is kept as it is."
            parts = [Note(key="unread", text=words, tint="lost", icon="error")]
        if laid is not None:
            laid.set_parts(parts)
            self.heights.set(item, laid.height)
            self.changed.emit()

    def _picture_ready(self) -> None:
        for entry, laid in self._laid.items():
            laid.forget_pictures()
            item = self.item_of(entry)
            if item >= 0 and laid.inks is self.inks:
                self.heights.set(item, laid.height)
        self.changed.emit()


def _with_entry(document: Document, entry: int, results: list[int], states: CallStates) -> ItemRead:
    """The item with its large entry, its large results still left out."""
    whole = read_item(document, entry, [], states, whole=True)
    rest = read_item(document, entry, results, states)
    return replace(rest, data=whole.data)
