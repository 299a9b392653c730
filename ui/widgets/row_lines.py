"""The words of entries' rows: what is stored of them at once, what is made of payloads from a
thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.session.kinds import Flag, Kind
from explorer.session.records import Previews
from explorer.session.text import legible
from ui.widgets.loader import BackgroundJobs

MOST_LINES = 4_096
"""Lines in the cache; a session that is scrolled through stays this small."""
_AT_ONCE = 12
"""Rows made before the window's thread has a turn: both need the interpreter's lock."""
_MOST_WANTED = 400
"""Rows that wait to be made; those that were asked for before these are out of sight."""


_CALLED, _SAID = int(Flag.HAS_TOOL_CALL), int(Flag.HAS_TOOL_CALL | Flag.HAS_TEXT)


def is_of_tool(kind: int, flags: int) -> bool:
    """Whether an entry's first line is what a tool did: its end tells more than its middle, as a
    file's name and the outcome."""
    return kind == Kind.TOOL_RESULT or flags & _SAID == _CALLED


class RowLines(QObject):
    """The lines of one session at a time, for one view or several that show the same.

    A line that needs a payload begins with the stored first words; ``arrived`` has the entries of
    which more is known now.
    """

    arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader: Previews | None = None
        self._lines: dict[int, str] = {}
        self._unmade: set[int] = set()
        """Entries in ``_lines`` of which the payload says more."""
        self._wanted: dict[int, None] = {}
        """Entries to be made, the next one first."""
        self._under_way: set[int] = set()
        self._is_busy = False
        self._jobs = BackgroundJobs(self)
        self._jobs.done.connect(self._made)
        self._turn = QTimer(self)
        """Work starts after a paint, not in the middle of it."""
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._start)

    def use(self, reader: Previews | None, *, is_other: bool = True) -> None:
        """Read by this from now on. ``is_other``: what was read is of another session."""
        self._reader = reader
        if is_other:
            self._jobs.forget()
            self._lines, self._unmade, self._wanted = {}, set(), {}
            self._under_way, self._is_busy = set(), False

    def fetch(self, entries: Sequence[int], near: Iterable[int] = ()) -> None:
        """Have the lines of these entries ready. ``near``: entries that may be shown next; theirs
        are read when there is time."""
        self._load(entries)
        busy = self._under_way
        self._want([at for at in entries if at in self._unmade and at not in busy])
        self._want([at for at in near if self._is_open(at) and at not in busy], first=False)

    def is_known(self, entry: int) -> bool:
        """Whether something is known of an entry already."""
        return entry in self._lines

    def line(self, entry: int) -> str:
        """What is known of an entry at once."""
        if entry not in self._lines:
            self._load([entry])
        if entry in self._unmade and not (entry in self._wanted or entry in self._under_way):
            self._want([entry], first=False)
        return self._lines.get(entry, "")

    def whole(self, entry: int) -> str:
        """The line of an entry, made here and now where it is not yet: for what is read aloud."""
        line = self.line(entry)
        if entry in self._unmade and self._reader is not None:
            line = legible(self._reader.previews([entry])[0])
            self._wanted.pop(entry, None)
            self._take({entry: line})
        return line

    def forget(self, entries: Iterable[int]) -> None:
        """Forget what rows say of these entries: they have changed."""
        forgotten = set(entries)
        for entry in forgotten:
            self._lines.pop(entry, None)
            self._wanted.pop(entry, None)
        self._unmade -= forgotten
        self._under_way -= forgotten

    def _is_open(self, entry: int) -> bool:
        return entry not in self._lines or entry in self._unmade

    def _load(self, entries: Sequence[int]) -> None:
        """What is stored of entries."""
        missing = [entry for entry in entries if entry not in self._lines]
        if not missing or self._reader is None:
            return
        if len(self._lines) > MOST_LINES:
            self._lines = {entry: self._lines[entry] for entry in entries if entry in self._lines}
            self._unmade &= self._lines.keys()
        words, unmade = self._reader.first_words(missing)
        self._lines.update(zip(missing, map(legible, words), strict=True))
        self._unmade.update(unmade)

    def _want(self, entries: Sequence[int], *, first: bool = True) -> None:
        if not entries:
            return
        pair = (entries, self._wanted) if first else (self._wanted, entries)
        self._wanted = dict.fromkeys([*pair[0], *pair[1]][:_MOST_WANTED])
        if not self._is_busy:
            self._turn.start()

    def _start(self) -> None:
        reader = self._reader
        if self._is_busy or not self._wanted or reader is None:
            return
        part = list(self._wanted)[:_AT_ONCE]
        for entry in part:
            del self._wanted[entry]
        self._under_way, self._is_busy = set(part), True
        self._jobs.run(tuple(part), lambda: reader.previews(part))

    def _made(self, asked: Sequence[int], result: object) -> None:
        valid, self._under_way, self._is_busy = self._under_way, set(), False
        if isinstance(result, list):
            pairs = zip(asked, result, strict=True)
            self._take({at: legible(text) for at, text in pairs if at in valid})
        else:
            # What cannot be read keeps its first words, and is not asked for again and again.
            self._unmade -= valid
        self._start()

    def _take(self, made: dict[int, str]) -> None:
        changed = [entry for entry, line in made.items() if self._lines.get(entry, line) != line]
        self._lines |= made
        self._unmade -= made.keys()
        if changed:
            self.arrived.emit(changed)
