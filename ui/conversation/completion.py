"""What can be put in the place of what is being typed: commands after ``/``, files after ``@``.

Files are found by some of the characters of their names, in order: ``rtry`` finds ``src/retry.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent

from ui import theme
from ui.conversation.composer import Composer
from ui.widgets.popup import Popup, PopupTable
from ui.widgets.table import Column

MOST_OFFERED = 12
_ASKED_EVERY = 512
"""Names between two looks at whether anybody still wants to know."""


def score(typed: str, name: str) -> int | None:
    """How badly a name fits what was typed, 0 at best; None where it does not at all."""
    folded, low = name.casefold(), typed.casefold()
    if not low:
        return len(name)
    base = folded.rsplit("/", 1)[-1]
    if base.startswith(low):
        return len(name)
    if low in base:
        return 1_000 + base.index(low) + len(name)
    if low in folded:
        return 2_000 + folded.index(low) + len(name)
    pattern = _expression(low)
    for place, points in ((base, 3_000), (folded, 4_000)):
        if found := pattern.search(place):
            return points + 4 * (found.end() - found.start() - len(low)) + len(name)
    return None


@lru_cache(maxsize=64)
def _expression(low: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(letter) for letter in low if not letter.isspace()))


def best(
    typed: str,
    names: Sequence[str],
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str]:
    """The names that fit best, the best first; nothing when it is cancelled meanwhile."""
    rated: list[tuple[int, str]] = []
    for at, name in enumerate(names):
        if at % _ASKED_EVERY == 0 and cancelled():
            return []
        points = score(typed, name)
        if points is not None:
            rated.append((points, name))
    rated.sort()
    return [name for _, name in rated[:MOST_OFFERED]]


WIDEST = 560
"""Pixels of the drawing that the list takes at most."""
_COMMAND = re.compile(r"/([A-Za-z][\w-]*)?")
_ARGUMENT = re.compile(r"/([A-Za-z][\w-]*)[ \t]+(\S*)")
_FILE = re.compile(r"(?:^|(?<=[\s(]))@(\"[^\"\n]*|[^\s\"]*)$")

Key = Qt.Key


class Wanted(Struct, frozen=True):
    """What is being typed: a command's name, its argument, or a file's name."""

    kind: Literal["command", "argument", "file"]
    typed: str
    """The part that is to be replaced, without the ``/`` or ``@`` before it."""
    command: str = ""
    """The command whose argument it is."""


class Suggestion(Struct, frozen=True):
    """One line of the list: what is put in, and a few words about it."""

    text: str
    note: str = ""
    shown: str = ""
    """What the line says, where that is not the text."""


def wanted_at(before: str) -> Wanted | None:
    """What a person may want completed, by what stands before the cursor."""
    if found := _COMMAND.fullmatch(before):
        return Wanted("command", found[1] or "")
    if found := _ARGUMENT.fullmatch(before):
        return Wanted("argument", found[2], found[1].lower())
    if found := _FILE.search(before):
        return Wanted("file", found[1].removeprefix('"'))
    return None


def mention(name: str) -> str:
    """A file as it is mentioned in a message; one with spaces in quotes."""
    return f'@"{name}"' if re.search(r"\s", name) else f"@{name}"


def _suggestion_columns() -> list[Column[Suggestion]]:
    return [
        Column("", lambda one: one.shown or one.text, fits=True,
               detail=lambda one: one.shown or one.text),
        Column("", lambda one: one.note, stretch=True, detail=lambda one: one.note,
               colour=lambda _one: theme.theme().dim),
    ]  # fmt: skip


class MessageCompletion(QObject):
    """Watches the message box, asks for suggestions, and puts in what is taken."""

    asked = Signal(object)
    """``Wanted``: answer with ``show``."""

    def __init__(self, composer: Composer) -> None:
        super().__init__(composer)
        self._composer = composer
        self._popup: Popup | None = None
        self._wanted: Wanted | None = None
        self._dismissed: Wanted | None = None
        self._suggestions: tuple[Suggestion, ...] = ()
        self._is_putting = False
        composer.typed.connect(self._follow)
        composer.left.connect(self.close)
        composer.installEventFilter(self)

    @property
    def is_open(self) -> bool:
        return self._popup is not None and self._popup.isVisible()

    @property
    def lines(self) -> list[str]:
        """What is offered now."""
        if self._popup is None or not self.is_open:
            return []
        return [cells[0] for cells in self._popup.table.cells()]

    @property
    def _marked(self) -> Suggestion | None:
        return self._popup.table.current if self._popup is not None else None

    def _follow(self) -> None:
        if self._is_putting:
            return
        wanted = wanted_at(self._composer.before_cursor()) if self._composer.hasFocus() else None
        if wanted == self._wanted:
            return
        self._wanted = wanted
        if wanted is None or self._is_dismissed(wanted):
            self.close()
        else:
            self.asked.emit(wanted)

    def _is_dismissed(self, wanted: Wanted) -> bool:
        """Esc holds for the word that was being typed, however it goes on."""
        gone = self._dismissed
        same = gone is not None and (gone.kind, gone.command) == (wanted.kind, wanted.command)
        if gone is None or not same or not wanted.typed.startswith(gone.typed):
            self._dismissed = None
            return False
        return True

    def show(self, wanted: Wanted, suggestions: Sequence[Suggestion], words: str = "") -> None:
        """Offer suggestions, where they are still what is wanted."""
        if wanted != self._wanted:
            return
        self._suggestions = tuple(suggestions)
        if not suggestions:
            self.close()
            return
        if self._popup is None:
            self._popup = self._make_popup()
        self._popup.show_rows(self._suggestions, words)
        width = min(self._composer.width(), theme.scaled(WIDEST))
        self._popup.open_at(self._composer, width, above=True)
        self._describe()

    def _make_popup(self) -> Popup:
        """The list never takes the keyboard."""
        window = self._composer.window()
        table = PopupTable(_suggestion_columns(), "Suggestions", window)
        popup = Popup(table, window)
        for part in (popup, table):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        popup.chosen.connect(self._take)
        return popup

    def close(self) -> None:
        """Offer nothing."""
        if self._popup is not None and self._popup.isVisible():
            self._popup.hide()
            self._composer.setAccessibleDescription("")

    def _describe(self) -> None:
        """Say what is marked to who cannot see the list."""
        now = self._marked
        if now is not None:
            self._composer.setAccessibleDescription(
                f"Suggestion {self._suggestions.index(now) + 1} of {len(self._suggestions)}: "
                f"{now.shown or now.text}. {now.note}"
            )

    # keys ----------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the message box come here first, Tab among them."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        if self._popup is None or not self.is_open:
            return False
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers:
            return False
        key = Key(event.key())
        if key in (Key.Key_Up, Key.Key_Down):
            self._popup.table.step(1 if key == Key.Key_Down else -1)
            self._describe()
        elif key == Key.Key_Escape:
            self._dismissed = self._wanted
            self.close()
        elif key == Key.Key_Tab:
            self._take(self._marked)
        elif key in (Key.Key_Return, Key.Key_Enter):
            if self._is_whole():
                self.close()
                return False
            self._take(self._marked)
        else:
            return False
        return True

    def _is_whole(self) -> bool:
        """What is typed is what is marked already, or a command that is chosen by its name."""
        assert self._wanted is not None
        marked, typed = self._marked, self._wanted.typed
        if self._wanted.kind == "command" and any(typed == s.text for s in self._suggestions):
            return marked is not None and marked.text == typed
        return marked is None or marked.text == typed

    def _take(self, suggestion: Suggestion | None) -> None:
        wanted = self._wanted
        if wanted is None or suggestion is None:
            return
        text = suggestion.text
        length = len(wanted.typed)
        if wanted.kind == "file":
            before = self._composer.before_cursor()
            length += 2 if before[: len(before) - length].endswith('@"') else 1
            text = mention(text)
        self._is_putting = True
        self._composer.replace_before_cursor(length, f"{text} ")
        self._is_putting = False
        self.close()
        self._wanted = None
        self._follow()
