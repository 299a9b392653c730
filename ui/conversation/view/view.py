"""The conversation with its keyboard, its menu, and what it copies."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from ui import theme
from ui.conversation.view.accessibility import install_accessibility, part_name
from ui.conversation.view.boxes import WHOLE, DocumentBox
from ui.conversation.view.find import TextHit
from ui.conversation.view.flow import LIVE
from ui.conversation.view.item_reader import FIGURES
from ui.conversation.view.parts import Row, markdown_of
from ui.conversation.view.selection import (
    TextPlace,
    conversation_markdown,
    item_markdown,
    selected_words,
)
from ui.conversation.view.surface import Surface
from ui.widgets.loader import BackgroundJobs

Key, Mod = Qt.Key, Qt.KeyboardModifier

CONVERSATION_KEY_HELP = (
    ("↑ ↓", "scroll"),
    ("Page Up, Page Down", "a screen up and down"),
    ("Home End", "the first and the last words"),
    ("J K, Ctrl+↓ Ctrl+↑", "next and previous part"),
    ("Enter", "open or fold a line; show any other part on the map"),
    ("← →", "fold and open"),
    ("M", "show the part on the map"),
    ("C", "copy the part, or what is selected"),
    ("Ctrl+C Ctrl+Shift+C", "copy, copy as Markdown"),
    ("Ctrl+A", "select everything"),
    ("Ctrl+F F3 Shift+F3", "find, next and previous place"),
    ("Esc", "back to the message"),
)

Deed = Callable[["ConversationView"], None]

_DEEDS: dict[tuple[Qt.Key, Qt.KeyboardModifier], Deed] = {
    (Key.Key_Up, Mod.NoModifier): lambda view: view.scroll_lines(-1),
    (Key.Key_Down, Mod.NoModifier): lambda view: view.scroll_lines(1),
    (Key.Key_PageUp, Mod.NoModifier): lambda view: view.scroll_page(-1),
    (Key.Key_PageDown, Mod.NoModifier): lambda view: view.scroll_page(1),
    (Key.Key_Space, Mod.NoModifier): lambda view: view.scroll_page(1),
    (Key.Key_Space, Mod.ShiftModifier): lambda view: view.scroll_page(-1),
    (Key.Key_Home, Mod.NoModifier): lambda view: view.to_start(),
    (Key.Key_End, Mod.NoModifier): lambda view: view.to_end(),
    (Key.Key_Home, Mod.ControlModifier): lambda view: view.focus_edge(-1),
    (Key.Key_End, Mod.ControlModifier): lambda view: view.focus_edge(1),
    (Key.Key_Up, Mod.ControlModifier): lambda view: view.focus_step(-1),
    (Key.Key_Down, Mod.ControlModifier): lambda view: view.focus_step(1),
    (Key.Key_K, Mod.NoModifier): lambda view: view.focus_step(-1),
    (Key.Key_J, Mod.NoModifier): lambda view: view.focus_step(1),
    (Key.Key_Return, Mod.NoModifier): lambda view: view.act_on_focus(),
    (Key.Key_Enter, Mod.NoModifier): lambda view: view.act_on_focus(),
    (Key.Key_Left, Mod.NoModifier): lambda view: view.open_focus(False),
    (Key.Key_Right, Mod.NoModifier): lambda view: view.open_focus(True),
    (Key.Key_M, Mod.NoModifier): lambda view: view.show_focus(),
    (Key.Key_C, Mod.NoModifier): lambda view: view.copy(),
    (Key.Key_C, Mod.ControlModifier): lambda view: view.copy(),
    (Key.Key_C, Mod.ControlModifier | Mod.ShiftModifier): lambda view: view.copy(markdown=True),
    (Key.Key_A, Mod.ControlModifier): lambda view: view.select_all(),
    (Key.Key_F, Mod.ControlModifier): lambda view: view.ask_find(),
    (Key.Key_F3, Mod.NoModifier): lambda view: view.ask_step(1),
    (Key.Key_F3, Mod.ShiftModifier): lambda view: view.ask_step(-1),
    (Key.Key_Escape, Mod.NoModifier): lambda view: view.leave(),
}


def _deed(event: QKeyEvent) -> Deed | None:
    return _DEEDS.get((Key(event.key()), event.modifiers() & ~Mod.KeypadModifier))


def is_view_key(event: QKeyEvent) -> bool:
    """Whether a key means something in the conversation."""
    return _deed(event) is not None


def press_key(view: ConversationView, event: QKeyEvent) -> bool:
    """Handle a key; returns whether it has a meaning here."""
    deed = _deed(event)
    if deed is None:
        return False
    deed(view)
    return True


COPIED_AT_ONCE = 60
"""Items that are copied while the window waits; more are copied in a thread."""


class ConversationView(Surface):
    """The messages of the path, to be read, searched and copied."""

    find_asked = Signal()
    step_asked = Signal(int)
    left = Signal()
    """The person is done reading."""
    menu_opening = Signal(object, int)
    """(``QMenu``, entry): the menu of a message opens; more may be added to it."""
    reported = Signal(str)
    """A passing word: something was copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        install_accessibility()
        super().__init__(parent)
        self.setAccessibleName("Conversation at the leaf")
        self._copies = BackgroundJobs(self)
        self._copies.done.connect(self._copy_made)
        self.copied.connect(lambda text: self._put(text, "The code is copied"))
        self.focus_moved.connect(self._tell_focus)
        theme.on_theme_changed(self.look_changed)

    # keys ---------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """The view's plain keys are not taken for shortcuts of the window while it has focus."""
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and is_view_key(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.by_keys = True
        if not press_key(self, event):
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Focus by keyboard begins at the last visible part."""
        self.by_keys = event.reason() != Qt.FocusReason.MouseFocusReason
        if self.focused is None:
            for last in reversed(self.placed):
                laid = self.flow.laid(last.item)
                if laid.parts[last.part].key != FIGURES:
                    self.focus_on(laid.entry, laid.parts[last.part].key, scroll=False)
                    break
        super().focusInEvent(event)

    def scroll_lines(self, lines: int) -> None:
        self.scroll_by(lines * 2 * self.flow.inks.metrics.height())

    def scroll_page(self, pages: int) -> None:
        high = self.viewport().height()
        self.scroll_by(pages * max(high * 0.9, high - 2 * self.flow.inks.metrics.height()))

    def focus_step(self, step: int) -> None:
        """To the next part, or the one before; from outside of what is seen, to what is seen."""
        place = self._focus_place()
        seen = {(p.item, p.part) for p in self.placed}
        if place is None or (place not in seen and not self._is_near(place)):
            if self.placed:
                at = self.placed[0] if step > 0 else self.placed[-1]
                self._focus_part(at.item, at.part)
            return
        item, part = place[0], place[1] + step
        while True:
            laid = self.flow.laid(item)
            if 0 <= part < len(laid.parts):
                if laid.parts[part].key != FIGURES:
                    break
                part += step
                continue
            item += step
            if not 0 <= item < self.flow.count:
                return
            part = 0 if step > 0 else len(self.flow.laid(item).parts) - 1
        self._focus_part(item, part)

    def _is_near(self, place: tuple[int, int]) -> bool:
        if not self.placed:
            return False
        return self.placed[0].item - 1 <= place[0] <= self.placed[-1].item + 1

    def focus_edge(self, step: int) -> None:
        """To the first or the last part of all."""
        if not self.flow.count:
            return
        item = self.flow.count - 1 if step > 0 else 0
        self._focus_part(item, len(self.flow.laid(item).parts) - 1 if step > 0 else 0)
        if step > 0:
            self.to_end()

    def _focus_part(self, item: int, part: int) -> None:
        laid = self.flow.laid(item)
        if 0 <= part < len(laid.parts):
            self.focus_on(laid.entry, laid.parts[part].key)

    def _focus_place(self) -> tuple[int, int] | None:
        if self.focused is None:
            return None
        item = self.flow.item_of(self.focused[0])
        part = self.flow.laid(item).places.get(self.focused[1], -1) if item >= 0 else -1
        return (item, part) if part >= 0 else None

    def act_on_focus(self) -> None:
        """Open or fold a line; anything else is shown on the map."""
        place = self._focus_place()
        if place is None:
            return
        part = self.flow.laid(place[0]).parts[place[1]]
        if isinstance(part, Row) and (part.opens or part.goes_to >= 0 or part.address):
            self.act(place[0], part)
            self._tell_focus()
        else:
            self.show_focus()

    def open_focus(self, opened: bool) -> None:
        """Open the focused line, or fold it, or fold what the focus is in."""
        place = self._focus_place()
        if place is None:
            return
        item, at = place
        parts = self.flow.laid(item).parts
        while not opened and at > 0 and parts[at].inset and not _is_open(parts[at]):
            at -= 1
        part = parts[at]
        if isinstance(part, Row) and part.opens and part.is_open != opened:
            self._focus_part(item, at)
            self.toggle(item, part.opens, opened)
            self._tell_focus()

    def show_focus(self) -> None:
        """Ask for the entry of the focused part."""
        place = self._focus_place()
        if place is not None:
            box = self.flow.laid(place[0]).box(place[1], self.flow.pictures)
            self.show_entry(place[0], box)

    def ask_find(self) -> None:
        """Ask for the bar for finding."""
        self.find_asked.emit()

    def ask_step(self, step: int) -> None:
        """Ask for the next place that was found, or the one before."""
        self.step_asked.emit(step)

    def leave(self) -> None:
        """Let go of the selection; without one, of the keyboard."""
        if not self.selection.empty:
            self.selection.clear()
            self._selected()
        else:
            self.left.emit()

    def _tell_focus(self) -> None:
        place = self._focus_place()
        if place is None:
            return
        words = part_name(self, *place)
        self.setAccessibleDescription(words)
        if self.hasFocus() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Focus))

    # going to an entry ----------------------------------------------------------------------------

    def reveal(self, entry: int) -> bool:
        """Scroll to an entry and mark it; False when it is not in the conversation."""
        item = self.flow.items.item_of(entry)
        if item < 0 or entry not in self.flow.items.path:
            return False
        laid = self.flow.laid(item)
        part = next((at for at, p in enumerate(laid.parts) if p.entry == entry), 0)
        self.marked = laid.entry
        if laid.parts:
            self.scroll_to(item, part, share=0.3)
            self.focus_on(laid.entry, laid.parts[part].key, scroll=False)
        return True

    def go_to(self, hit: TextHit) -> None:
        """Show a place that was found; what folds it away is opened."""
        self.current = hit
        item = self.flow.item_of(hit.entry)
        if item < 0:
            return
        self._unfold(item, hit.key)
        laid = self.flow.laid(item)
        part = laid.places.get(hit.key, -1)
        if part >= 0:
            box = laid.box(part, self.flow.pictures)
            rect = box.hit_rect(hit.number, self.query)
            seen = next((p for p in self.placed if (p.item, p.part) == (item, part)), None)
            top = seen.top + laid.gap(part) + rect.top() if seen is not None else -1.0
            if not 0 <= top <= self.viewport().height() - rect.height() - theme.S16:
                self.scroll_to(item, part, laid.gap(part) + rect.top(), 0.35)
            self.focus_on(hit.entry, hit.key, scroll=False)
        self.viewport().update()

    def _unfold(self, item: int, key: str) -> None:
        """Open the rows that lead to a part."""
        stem = key.partition(".")[0]
        for opens in (stem, f"{stem}.all"):
            if key in self.flow.laid(item).places:
                return
            self.flow.set_open(item, opens, True)
        self.place()

    # the clipboard --------------------------------------------------------------------------------

    def _put(self, text: str, report: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.reported.emit(report)

    def select_all(self) -> None:
        """Everything, from the first word to the last."""
        if not self.flow.count:
            return
        first, last = self.flow.laid(0), self.flow.laid(self.flow.count - 1)
        if first.parts and last.parts:
            self.selection.set(
                TextPlace(first.entry, first.parts[0].key, 0),
                TextPlace(last.entry, last.parts[-1].key, WHOLE),
            )
            self._selected()

    def copy(self, *, markdown: bool = False) -> None:
        """Copy the selection; without one, the focused part."""
        span = self.selection.span()
        if span is None:
            self._copy_focus(markdown)
        elif span[1].item - span[0].item <= COPIED_AT_ONCE:
            words = selected_words(self.flow, span, markdown=markdown)
            self._put(words, "The selection is copied")
        else:
            self._copy_items(span[0].item, span[1].item + 1)

    def _copy_focus(self, markdown: bool) -> None:
        place = self._focus_place()
        if place is None:
            return
        laid = self.flow.laid(place[0])
        box = laid.box(place[1], self.flow.pictures)
        if markdown:
            words = markdown_of(box.part)
        else:
            words = box.text(0, WHOLE) if isinstance(box, DocumentBox) else box.part.words
        self._put(words, "The part is copied")

    def copy_message(self, item: int) -> None:
        """Copy a whole message as Markdown."""
        self._put(item_markdown(self.flow.laid(item).parts), "The message is copied as Markdown")

    def copy_all(self) -> None:
        """Copy the whole conversation as Markdown."""
        self._copy_items(0, len(self.flow.items))

    def _copy_items(self, first: int, end: int) -> None:
        document, items = self.flow.document, self.flow.items.snapshot()
        if document is None:
            return
        end = min(end, len(items))
        self._copies.forget()
        self._copies.run(end - first, lambda: conversation_markdown(document, items, first, end))

    def _copy_made(self, count: int, text: object) -> None:
        if isinstance(text, str):
            self._put(text, f"{count:,} messages are copied as Markdown")
        else:
            self.reported.emit("The conversation could not be copied; nothing was put away")

    # the menu -----------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        point = QPointF(event.pos())
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        place = self._focus_place()
        if by_mouse:
            found = self._at(point)
            place = (found[0].item, found[0].part) if found is not None else None
            if place is not None:
                self._focus_part_quietly(*place)
        if place is None:
            return
        where = event.globalPos() if by_mouse else self._below_focus(place)
        self._menu(place, point).popup(where)

    def _focus_part_quietly(self, item: int, part: int) -> None:
        laid = self.flow.laid(item)
        self.focus_on(laid.entry, laid.parts[part].key, scroll=False)

    def _below_focus(self, place: tuple[int, int]) -> QPoint:
        seen = next((p for p in self.placed if (p.item, p.part) == place), None)
        top = round(min(seen.top + seen.height, self.viewport().height())) if seen else 0
        return self.viewport().mapToGlobal(QPoint(self.flow.inks.left, top))

    def _menu(self, place: tuple[int, int], point: QPointF) -> QMenu:
        item, at = place
        laid = self.flow.laid(item)
        part, entry = laid.parts[at], laid.entry
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if not self.selection.empty:
            menu.addAction("&Copy", lambda: self.copy())
            menu.addAction("Copy as &Markdown", lambda: self.copy(markdown=True))
        else:
            menu.addAction("&Copy this part", lambda: self._copy_focus(False))
        menu.addAction("Copy the m&essage as Markdown", lambda: self.copy_message(item))
        menu.addAction("Copy the &whole conversation as Markdown", self.copy_all)
        menu.addAction("Select &all", self.select_all)
        menu.addSeparator()
        if isinstance(part, Row) and part.opens:
            words = "&Fold" if part.is_open else "&Open"
            menu.addAction(words, lambda: self.toggle(item, part.opens, not part.is_open))
        if entry != LIVE:
            shown = part.entry if part.entry >= 0 else entry
            menu.addAction("Show on the ma&p", lambda: self.entry_requested.emit(shown))
            self.menu_opening.emit(menu, entry)
        menu.addAction("F&ind…", self.find_asked.emit)
        return menu


def _is_open(part: object) -> bool:
    return isinstance(part, Row) and bool(part.opens) and part.is_open
