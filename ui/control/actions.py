"""Every action of the window: its name, its keys, and what it calls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from explorer.session.context import latest_on_path
from explorer.session.edits import prunes_on, shapes_on
from explorer.session.kinds import Kind
from ui import theme
from ui.actions import ActionRegistry, ActionSpec, Entry
from ui.audit.compare import actions as summaries
from ui.branching import actions as branching
from ui.control import map_actions
from ui.main_window import TABS
from ui.panes import show_sessions
from ui.shell.keys_page import KeysPage
from ui.shell.palette import CommandPalette
from ui.shell.tall import TallConversation
from ui.workshop import actions as workshop

if TYPE_CHECKING:
    from explorer.work.document import Document
    from ui.session import WindowSession

Standard = QKeySequence.StandardKey
SAID_AGAIN_MS = 120
SCALES = (100, 110, 125, 150, 175, 200)
NEEDS_DATABASE = (
    "new",
    "import",
    "find",
    "sample",
    "watch_run",
    "search",
    "extensions",
    "models",
    "keys_of_models",
)
NEEDS_SESSION = (
    "export",
    "rename",
    "compact",
    "compact_now",
    "prune",
    "replay",
    "save_report",
    "focus_map",
    "focus_agent",
    *(f"tab_{name}" for name in TABS),
)
NEEDS_SELECTION = ("goto", "label")
NEEDS_LEAF = ("goto_start", "leaf")
NEEDS_HITS = ("next_hit", "previous_hit")
COLOURS = {"system": "S&ystem colours", "light": "Li&ght colours", "dark": "&Dark colours"}
THEMES = tuple(COLOURS)


class WindowActions(QObject):
    """Registers the actions and keeps them enabled only where they can do something."""

    def __init__(self, session: WindowSession) -> None:
        super().__init__(session)
        self._session = session
        self._desk = session.desk
        self.registry = ActionRegistry(session.window)
        self._tall = TallConversation(session.window.left)
        self._looked_at, self._compacted = (0, -1), False
        for spec, run in self._specs():
            self.registry.add(spec, run)
        self.registry.fill(session.window.menuBar())
        session.window.header.help_requested.connect(self.show_keys)
        session.window.header.palette_requested.connect(self.show_palette)
        session.desk.document_changed.connect(self.follow)
        session.desk.state_changed.connect(self.follow)
        self.follow()

    def follow(self) -> None:
        """What can do nothing now cannot be chosen."""
        document, window, registry = self._desk.document, self._session.window, self.registry
        has_database = self._desk.bench is not None
        for control in (
            window.welcome.button,
            window.welcome.other,
            window.library.import_button,
            window.library.find_button,
            window.header.search,
        ):
            control.setEnabled(has_database)
        registry.enable(NEEDS_DATABASE, has_database)
        registry.enable(NEEDS_SESSION, document is not None)
        shows_prompts = window.inspector.isTabVisible(TABS.index("prompt"))
        registry.enable(("tab_prompt",), document is not None and shows_prompts)
        registry.enable(NEEDS_SELECTION, document is not None and window.map.selected >= 0)
        registry.enable(NEEDS_LEAF, document is not None and document.leaf >= 0)
        registry.enable(NEEDS_HITS, self._session.search.has_hits)
        registry.enable(("summarize",), self._session.compaction.can_summarize)
        registry.enable(("undo",), self._can_undo())
        registry.enable(map_actions.NEEDS_SESSION, document is not None)
        compactions = document is not None and bool(document.tree.columns.compactions)
        registry.enable(map_actions.NEEDS_COMPACTIONS, compactions)
        shown = window.compaction.partition
        registry.enable(map_actions.NEEDS_CUT, shown is not None and shown.cut >= 0)
        is_told = self._session.shaping.offers(self._session.window.map.selected).possible
        registry.enable(map_actions.NEEDS_TOLD, is_told)
        registry.enable(("stop",), self._desk.agent_running)
        registry.enable(("question",), bool(self._session.agent.permission.waiting))
        registry.enable(("continue",), self._session.agent.can_go_on)
        registry.enable(("compact_not_now",), self._session.watching.asks)
        registry.enable(("undo_and_go_on",), self._session.taking_back.is_offered)
        branching.follow(self._session, registry)
        workshop.follow(self._session, registry)
        summaries.follow(self._session, registry)
        registry["less_motion"].setChecked(self._desk.preferences.less_motion)
        scale = self._desk.preferences.scale
        registry.enable(("larger",), scale < SCALES[-1])
        registry.enable(("smaller",), scale > SCALES[0])
        for name in THEMES:
            registry[f"theme_{name}"].setChecked(name == theme.theme_choice())

    def _can_undo(self) -> bool:
        """Whether there is a compaction or a prune to take back; looked up once per leaf."""
        document = self._desk.document
        at = (document.key, document.leaf) if document is not None else (0, -1)
        if at != self._looked_at:
            self._looked_at = at
            self._compacted = document is not None and _can_be_undone(document)
        return self._compacted

    def _specs(self) -> list[Entry]:
        session = self._session
        return [
            *self._file(),
            *branching.session_actions(session),
            *self._go(),
            *branching.go_actions(session),
            *map_actions.map_actions(session),
            *self._compaction(),
            *map_actions.shaping_actions(session),
            *map_actions.cut_actions(session),
            *summaries.compare_actions(session),
            *workshop.workshop_actions(session),
            *map_actions.agent_actions(session),
            *branching.agent_actions(session),
            *self._view(),
            *self._help(),
        ]

    def _file(self) -> list[Entry]:
        sessions, window = self._session.sessions, self._session.window
        return [
            (ActionSpec("new", "&New session", "Begin an empty session in a folder", "Sess&ion",
                        (Standard.New,)), self._session.beginning.new),
            (ActionSpec("import", "&Import…", "Import session files", "Sess&ion", (Standard.Open,)),
             sessions.choose_files),
            (ActionSpec("find", "&Find on this computer…",
                        "Look for pi and oh-my-pi sessions in their usual places", "Sess&ion"),
             sessions.find),
            (ActionSpec("sample", "Open the &bundled session", "Open the session that comes along",
                        "Sess&ion"), self._session.open_sample),
            (ActionSpec("export", "&Export…", "Write the session to a file", "Sess&ion",
                        (Standard.Save,), separator=True), sessions.choose_export),
            (ActionSpec("rename", "&Rename…", "Give the session a name", "Sess&ion"),
             sessions.ask_rename),
            (ActionSpec("settings", "Se&ttings…", "See and change the settings", "Sess&ion",
                        ("Ctrl+,",), separator=True), self._session.settings.open),
            (ActionSpec("quit", "&Quit", "Close the window; nothing is lost", "Sess&ion",
                        ("Ctrl+Q",), separator=True), window.close),
        ]  # fmt: skip

    def _go(self) -> list[Entry]:
        window, navigation = self._session.window, self._session.navigation
        search = window.header.search
        return [
            (ActionSpec("search", "&Search", "Search this session", "&Go", ("/", "Ctrl+F")),
             search.focus_box),
            (ActionSpec("next_hit", "&Next hit", "Go to the next hit of the search", "&Go",
                        ("F3",)),
             lambda: search.step_requested.emit(1)),
            (ActionSpec("previous_hit", "&Previous hit", "Go to the previous hit of the search",
                        "&Go", ("Shift+F3",)), lambda: search.step_requested.emit(-1)),
            (ActionSpec("goto", "&Go to the selected entry",
                        "Make the selected entry the leaf (a user message: its parent)", "&Go",
                        ("Ctrl+G",), separator=True),
             lambda: navigation.go_to(window.map.selected)),
            (ActionSpec("goto_start", "Go &before the first entry",
                        "Make the session start anew, with an empty context", "&Go"),
             lambda: navigation.go_to(-1)),
            (ActionSpec("leaf", "Show the &leaf", "Select the leaf on the map", "&Go", ("Ctrl+L",)),
             self._show_leaf),
            (ActionSpec("label", "La&bel…", "Label the selected entry", "&Go", ("Ctrl+B",)),
             lambda: self._session.refresh.ask_label(window.map.selected)),
        ]  # fmt: skip

    def _compaction(self) -> list[Entry]:
        compaction = self._session.compaction
        return [
            (ActionSpec("compact", "&Preview", "See what a compaction would summarize and keep",
                        "Com&paction", ("Ctrl+K",)), lambda: self._tab("compaction")),
            (ActionSpec("summarize", "&Summarize", "Make a draft of the summary",
                        "Com&paction", ("Ctrl+Shift+K",)), compaction.start_from_action),
            (ActionSpec("prune", "P&rune tool output…",
                        "See which old tool results could give way to notes, and why",
                        "Com&paction", ("Ctrl+Alt+P",)), self._session.pruning.ask),
            (ActionSpec("undo", "&Undo the latest compaction, prune, pin or omission",
                        "Take back the latest of them on the active path",
                        "Com&paction", (Standard.Undo,)), compaction.undo),
            (ActionSpec("save_report", "Save a rep&ort…",
                        "Write what was kept and lost to a web page, Markdown or JSON",
                        "Com&paction", ("Ctrl+Alt+S",)), self._session.reporting.choose),
            (ActionSpec("extensions", "&Extensions…",
                        "See which extensions are loaded, and why others are not",
                        "Com&paction", separator=True), self._session.extensions.open),
        ]  # fmt: skip

    def _view(self) -> list[Entry]:
        window = self._session.window
        found: list[Entry] = [
            (ActionSpec(f"tab_{name}", f"Inspector: {name.title()}", f"Show the tab {name.title()}",
                        "&View", (f"Ctrl+{number}",)), partial(self._tab, name))
            for number, name in enumerate(TABS, 1)
        ]  # fmt: skip
        for name in THEMES:
            found.append((
                ActionSpec(f"theme_{name}", COLOURS[name], f"Use {name} colours",
                           "&View", checkable=True, separator=name == "system"),
                partial(self._theme, name),
            ))  # fmt: skip
        found += [
            (ActionSpec("less_motion", "Less mo&tion", "No motion on the map", "&View",
                        checkable=True), self._less_motion),
            (ActionSpec("larger", "&Larger text", "Make text and controls larger", "&View",
                        ("Ctrl+Shift+=",), separator=True), lambda: self._scale(1)),
            (ActionSpec("smaller", "&Smaller text", "Make text and controls smaller", "&View",
                        ("Ctrl+Shift+-",)), lambda: self._scale(-1)),
            (ActionSpec("tall", "&Tall conversation, or low again",
                        "Give the conversation most of the height, or give it back to the map",
                        "&View", ("Ctrl+F9",), separator=True), self._tall.toggle),
            (ActionSpec("focus_map", "Go to the &map", "Put the keyboard on the map", "&View",
                        ("F6",)), window.map.setFocus),
            (ActionSpec("focus_agent", "Go to the message &box", "Put the keyboard in the composer",
                        "&View", ("F7",)), window.agent.composer.setFocus),
            (ActionSpec("focus_library", "Go to the session l&ist", "Put the keyboard on the list",
                        "&View", ("F8",)), partial(show_sessions, window)),
        ]  # fmt: skip
        return found

    def _help(self) -> list[Entry]:
        return [
            (ActionSpec("watch_run", "&Watch a scripted run",
                        "See an agent read, edit and test a small repository, without a key",
                        "&Help"), self._session.beginning.watch),
            (ActionSpec("palette", "&Commands…", "List and run any command", "&Help",
                        ("Ctrl+Shift+P",)), self.show_palette),
            (ActionSpec("keys", "&Keys", "Show all keys", "&Help", ("?", "F1")), self.show_keys),
        ]  # fmt: skip

    # what the small ones do -----------------------------------------------------------------------

    def _show_leaf(self) -> None:
        if self._desk.document is not None:
            self._session.window.map.select(self._desk.document.leaf)

    def _tab(self, name: str) -> None:
        self._session.window.inspector.setCurrentIndex(TABS.index(name))

    def _theme(self, name: str) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            self._desk.preferences.theme = name
            theme.set_theme(name, app)  # type: ignore[arg-type]
            self.follow()

    def _less_motion(self) -> None:
        self._desk.preferences.less_motion = less = self.registry["less_motion"].isChecked()
        theme.set_motion(not (less or theme.system_asks_for_less_motion()))

    def _scale(self, step: int) -> None:
        app, now = QApplication.instance(), self._desk.preferences.scale
        at = min(range(len(SCALES)), key=lambda row: abs(SCALES[row] - now)) + step
        if isinstance(app, QApplication) and 0 <= at < len(SCALES):
            self._desk.preferences.scale = SCALES[at]
            theme.set_text_scale(SCALES[at] / 100)
            theme.set_theme(theme.theme_choice(), app)
            self.follow()
            words = f"Text at {SCALES[at]} %"
            self._desk.say(words)
            QTimer.singleShot(SAID_AGAIN_MS, self, lambda: self._say_again(words))

    def _say_again(self, words: str) -> None:
        """A status bar that is laid out anew shows its labels over a message that was there."""
        bar = self._session.window.statusBar()
        if bar.currentMessage() == words:
            bar.clearMessage()
            self._desk.say(words)

    def show_palette(self) -> None:
        dialog = CommandPalette(self.registry, self._session.window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def show_keys(self) -> None:
        dialog = KeysPage(self.registry, self._session.window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _can_be_undone(document: Document) -> bool:
    path = document.tree.path(document.leaf)
    compacted = latest_on_path(document.tree, path, Kind.COMPACTION) >= 0
    return compacted or bool(prunes_on(document.tree, path) or shapes_on(document.tree, path))
