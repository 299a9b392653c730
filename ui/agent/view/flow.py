"""Everything that is said, as items with heights: read, laid out and forgotten as it is needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from explorer.session.kinds import Kind
from ui import theme
from ui.agent.view.background import Background
from ui.agent.view.calls import CallStates
from ui.agent.view.heights import Heights
from ui.agent.view.inks import Inks
from ui.agent.view.items import PathItems
from ui.agent.view.laid import Laid
from ui.agent.view.live import LiveReply
from ui.agent.view.parts import Note, Part
from ui.agent.view.pictures import Pictures
from ui.agent.view.reader import ShownDocument, read_item
from ui.agent.view.reading import ItemRead, parts_of
from ui.inspector.gather import READ_ERRORS

KEPT = 240
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

    def __init__(self, inks: Inks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document: ShownDocument | None = None
        self.items = PathItems()
        self.heights = Heights()
        self.states = CallStates()
        self.live: LiveReply | None = None
        self.inks = inks
        self.pictures = Pictures(self)
        self.pictures.ready.connect(self._picture_ready)
        self._laid: OrderedDict[int, Laid] = OrderedDict()
        """By entry; the arriving reply by ``LIVE``."""
        self._opened: set[tuple[int, str]] = set()
        self._large: dict[int, ItemRead] = {}
        self._background = Background(self)
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

    def show(self, document: ShownDocument | None) -> None:
        """Take another session, or none."""
        self.document = document
        self.items.clear()
        self.heights = Heights()
        self.states = CallStates()
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
        kept = self.items.show(self.document.tree, self.document.leaf)
        heads, kinds = self.items.heads, self.document.tree.columns.kind
        grown = kept == before
        if (
            self.live is not None
            and grown
            and any(kinds[at] == Kind.ASSISTANT for at in heads[kept:])
        ):
            self._live_stored(next(at for at in heads[kept:] if kinds[at] == Kind.ASSISTANT))
        self.heights.truncate(kept)
        self.heights.extend(map(self._guesses().__getitem__, map(kinds.__getitem__, heads[kept:])))
        if self.live is not None:
            self.heights.extend([0.0])
            self.live_changed()
        if kept and kept <= before:
            # Results may have come to the last item that stayed.
            self.reread(kept - 1)
        return kept

    def _guesses(self) -> list[float]:
        line = self.inks.metrics.height()
        return [theme.S12 + line * _LINES.get(Kind(kind), 1) if kind < len(Kind) else line
                for kind in range(256)]  # fmt: skip

    def _live_stored(self, entry: int) -> None:
        """The arriving reply is an entry now: what was opened in it stays open."""
        self._opened |= {(entry, key) for at, key in self._opened if at == LIVE}
        self._drop_live()

    # the arriving reply -------------------------------------------------------------------------

    def begin_live(self) -> LiveReply:
        """The arriving reply, made where there is none."""
        if self.live is None:
            self.live = LiveReply()
            self.heights.extend([0.0])
        return self.live

    def end_live(self) -> None:
        """What was arriving is void."""
        self._drop_live()

    def _drop_live(self) -> None:
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
            laid = self._laid[LIVE] = Laid(LIVE, parts, self.inks)
        else:
            laid.set_parts(parts)
        self.heights.set(item, laid.height)

    # items laid out -----------------------------------------------------------------------------

    def laid(self, item: int) -> Laid:
        """An item with its parts, read now where it was not."""
        entry = self.entry(item)
        found = self._laid.get(entry)
        if found is None:
            found = self._laid[entry] = Laid(entry, self._parts(item), self.inks)
            self.heights.set(item, found.height)
            while len(self._laid) > KEPT:
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

    def known(self, item: int) -> Laid | None:
        """An item if it is laid out at the width in force."""
        found = self._laid.get(self.entry(item))
        return found if found is not None and found.inks is self.inks else None

    def measure(self, item: int, part: int) -> float:
        """The exact height of a part with its gap."""
        laid = self.laid(item)
        height = laid.measure(part, self.pictures)
        self.heights.set(item, laid.height)
        return height

    def _parts(self, item: int) -> list[Part]:
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
        """Tokens are counted otherwise: compactions that are laid out tell their sizes anew."""
        if self.document is None:
            return
        kinds = self.document.tree.columns.kind
        laid = [entry for entry in self._laid if entry >= 0 and kinds[entry] == Kind.COMPACTION]
        for item in map(self.item_of, laid):
            if item >= 0:
                self.reread(item)

    def set_inks(self, inks: Inks) -> None:
        """Another width or look; heights known so far stay as guesses."""
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


def _with_entry(
    document: ShownDocument, entry: int, results: list[int], states: CallStates
) -> ItemRead:
    """The item with its large entry, its large results still left out."""
    whole = read_item(document, entry, [], states, whole=True)
    rest = read_item(document, entry, results, states)
    return replace(rest, data=whole.data)


Opener = Callable[[int, str], bool]
