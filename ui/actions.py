"""The one registry of actions: name, tip, shortcut, icon and menu of everything that can be done.

Menus, the command palette and the page of keys all list what is here; nothing else binds a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

Keys = tuple[str | QKeySequence.StandardKey, ...]

SESSION, GO, MAP, COMPACTION = "Sess&ion", "&Go", "M&ap", "Com&paction"
AUDIT, AGENT, VIEW, TOOLS, HELP = "A&udit", "Ag&ent", "&View", "&Tools", "&Help"
MENUS = (SESSION, GO, MAP, COMPACTION, AUDIT, AGENT, VIEW, TOOLS, HELP)
"""The menus in their order. What stands behind ``BELOW`` is a menu of that menu."""
BELOW = " > "

NO_DATABASE, NO_SESSION = "The database is not open.", "Open a session first."
NO_LEAF = "Open a session with entries first."
"""Why actions can do nothing."""


class ActionSpec(Struct, frozen=True):
    """What an action is called and how it is reached."""

    id: str
    title: str
    tip: str
    menu: str
    keys: Keys = ()
    icon: str = ""
    checkable: bool = False
    context: Qt.ShortcutContext = Qt.ShortcutContext.WindowShortcut
    separator: bool = False
    """A line above it in its menu."""


MenuEntry = tuple[ActionSpec, Callable[[], object]]
"""An action and what it calls."""


class Bound(Struct):
    spec: ActionSpec
    action: QAction
    run: Callable[[], object]
    allowed: bool = True
    """What ``ActionRegistry.enable`` said last."""
    why_not: str = ""
    """Why it can do nothing now."""
    is_shown: bool = True
    exists: bool = True
    """Whether what it is for is in the window."""
    refused: str = ""
    """Why it can do nothing, whatever else holds; see ``ActionRegistry.refuse``."""

    @property
    def can_run(self) -> bool:
        """Whether it can do anything now."""
        return self.allowed and not self.refused


class ActionRegistry(QObject):
    """Makes the QActions of a window and keeps them by id."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._bound: dict[str, Bound] = {}
        self._menus: dict[str, QMenu] = {}
        self._only_enabled = False
        self._is_stale = True
        """Whether something was said of an action since ``show``."""
        self._owners: dict[str, str] = {}

    def add(self, spec: ActionSpec, run: Callable[[], object]) -> QAction:
        """Register an action; raises ValueError when its id or a key is taken already."""
        if spec.id in self._bound:
            raise ValueError(f"action {spec.id!r} is registered twice")
        sequences = sequences_of(spec.keys)
        keys = [sequence.toString() for sequence in sequences]
        for key in keys:
            if owner := self._owners.get(key):
                raise ValueError(f"{spec.id!r} wants {key!r}, which {owner!r} has")
        action = QAction(spec.title, self._window)
        action.setToolTip(spec.tip)
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        action.setShortcuts(sequences)
        action.setShortcutContext(spec.context)
        action.triggered.connect(lambda _checked=False: run())
        self._window.addAction(action)
        self._bound[spec.id] = Bound(spec, action, run)
        self._is_stale = True
        self._owners.update(dict.fromkeys(keys, spec.id))
        return action

    def __contains__(self, action_id: object) -> bool:
        return action_id in self._bound

    def __getitem__(self, action_id: str) -> QAction:
        return self._bound[action_id].action

    def all(self) -> list[Bound]:
        """Every action, in the order of registration."""
        return list(self._bound.values())

    def enable(self, ids: Iterable[str], on: bool, why_not: str) -> None:
        """Say of actions whether they can do anything now, and ``why_not`` in their tips where they
        cannot. Cheap for those that stay as they are: this is asked of all of them at every step
        in a session."""
        why_not = "" if on else why_not
        for action_id in ids:
            bound = self._bound[action_id]
            if bound.allowed != on or bound.why_not != why_not:
                bound.allowed, bound.why_not = on, why_not
                self._apply(bound)

    def refuse(self, ids: Iterable[str], why: str) -> None:
        """Let actions do nothing for as long as there is a reason, which their tips give, whatever
        ``enable`` says of them meanwhile; empty: what it said holds again."""
        for action_id in ids:
            bound = self._bound[action_id]
            if bound.refused != why:
                bound.refused = why
                self._apply(bound)

    def _apply(self, bound: Bound) -> None:
        """Show what was said of an action."""
        self._is_stale = True
        bound.action.setEnabled(bound.can_run)
        tip = bound.refused or bound.why_not or bound.spec.tip
        if bound.action.toolTip() != tip:
            bound.action.setToolTip(tip)
            bound.action.setStatusTip(tip)

    def set_existing(self, ids: Iterable[str], on: bool) -> None:
        """Say of actions whether the window has what they are for; without it they are in no menu
        and in no list. ``show`` makes it seen."""
        for action_id in ids:
            bound = self._bound[action_id]
            self._is_stale |= bound.exists != on
            bound.exists = on

    def show(self, only_enabled: bool) -> None:
        """Every action stands in its menu, or only what can do something now; a menu that would
        be empty is left out."""
        if not self._is_stale and only_enabled == self._only_enabled:
            return
        self._is_stale, self._only_enabled = False, only_enabled
        shown: set[str] = set()
        for bound in self._bound.values():
            visible = bound.exists and (bound.can_run or not only_enabled)
            if visible != bound.is_shown:
                bound.is_shown = visible
                bound.action.setVisible(visible)
                # Qt lets nothing be enabled that cannot be seen.
                bound.action.setEnabled(bound.can_run)
            if visible:
                shown.update((bound.spec.menu, bound.spec.menu.split(BELOW)[0]))
        for name, menu in self._menus.items():
            menu.menuAction().setVisible(name in shown)

    def fill(self, bar: QMenuBar) -> None:
        """Build the menus: those of ``MENUS`` first, the actions of each in their order."""
        used = {bound.spec.menu.split(BELOW)[0]: None for bound in self._bound.values()}
        tops = [*(title for title in MENUS if title in used), *(set(used) - {*MENUS, ""})]
        self._menus = {title: _tipped(bar.addMenu(title)) for title in tops}
        for bound in self._bound.values():
            if not bound.spec.menu:
                continue
            menu = self._menus.get(bound.spec.menu)
            if menu is None:
                top, _, title = bound.spec.menu.partition(BELOW)
                menu = self._menus[bound.spec.menu] = _tipped(self._menus[top].addMenu(title))
            if bound.spec.separator:
                menu.addSeparator()
            menu.addAction(bound.action)


def _tipped(menu: QMenu) -> QMenu:
    menu.setToolTipsVisible(True)
    return menu


def add_change(menu: QMenu, text: str, run: Callable[[], object], why_not: str) -> None:
    """Offer what changes a session; where ``why_not`` is not empty it cannot be chosen, and says
    why."""
    action = menu.addAction(text)
    action.setEnabled(not why_not)
    action.setToolTip(why_not or action.toolTip())
    menu.setToolTipsVisible(menu.toolTipsVisible() or bool(why_not))
    action.triggered.connect(lambda _checked=False: run())


def sequences_of(keys: Keys) -> list[QKeySequence]:
    """The key sequences of a spec; a standard key gives the one that this system uses for it."""
    found: list[QKeySequence] = []
    for key in keys:
        if isinstance(key, QKeySequence.StandardKey):
            # Others, such as the key "Open" of some keyboards, are in nobody's way.
            found += QKeySequence.keyBindings(key)[:1]
        else:
            found.append(QKeySequence(key))
    return found


def shown_keys(action: QAction) -> str:
    """The shortcuts as this system writes them."""
    form = QKeySequence.SequenceFormat.NativeText
    return "  ".join(sequence.toString(form) for sequence in action.shortcuts())
