"""Every action of the window: its name, its keys, and what it calls."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QSize, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from explorer.services.document import Document
from explorer.session.context import latest_on_path
from explorer.session.edits import prunes_on, shapes_on
from explorer.session.kinds import Kind
from ui import theme
from ui.actions import (
    BELOW,
    GO,
    HELP,
    NO_DATABASE,
    NO_LEAF,
    NO_SESSION,
    SESSION,
    TOOLS,
    VIEW,
    ActionSpec,
    MenuEntry,
)
from ui.audit.compare import actions as summaries
from ui.branching import actions as branching
from ui.compaction import actions as compaction
from ui.conversation import actions as agent
from ui.lessons import actions as lessons
from ui.library import resume
from ui.main_window import TABS
from ui.map import actions as session_map
from ui.panes import show_sessions
from ui.session import WindowSession
from ui.shell.command_palette import CommandPalette, ShortcutsPage
from ui.shell.dialogs import open_once
from ui.shell.help_pages import GlossaryPage, GuideWindow
from ui.shell.splitters import TallConversation
from ui.workshop import actions as workshop

Standard = QKeySequence.StandardKey
REPEAT_MS = 120
SCALES = (100, 110, 125, 150, 175, 200)
NEEDS_DATABASE = (
    *("new", "import", "find", "all_sessions", "sample", "tour", "watch_run"),
    *compaction.NEEDS_DATABASE,
    *agent.NEEDS_DATABASE,
)
NEEDS_SESSION = (
    *("close", "export", "rename", "search", "tall"),
    *("focus_map", "focus_agent", "focus_library"),
    *(f"tab_{name}" for name in TABS),
    *session_map.NEEDS_SESSION,
    *compaction.NEEDS_SESSION,
    *agent.NEEDS_SESSION,
)
NEEDS_SELECTION = ("goto", "label", *compaction.NEEDS_SELECTED_ENTRY)
NEEDS_LEAF = ("goto_start", "leaf")
NEEDS_HITS = ("next_hit", "previous_hit")
CHANGES = (
    *("rename", "goto", "goto_start", "label", "edit_again", "fork", "side_by_side"),
    *("summarize", "prune", "undo", "redo", "pin", "omit", "up_to_here", "from_here"),
    *("compact_now", "undo_and_go_on", "workspace", "continue", "focus_agent"),
    *("recall_test", "check_mend", *resume.ACTIONS),
)
"""What changes the session, sends it to a model or goes on in its agent: not where it is only
read."""
COLOURS = {"system": "S&ystem colours", "light": "Li&ght colours", "dark": "&Dark colours"}
THEMES = tuple(COLOURS)


class WindowActions(QObject):
    """Registers the actions and slash commands of all features, offers them in the menus of
    entries, and keeps them enabled only where they can do something."""

    def __init__(self, session: WindowSession) -> None:
        super().__init__(session)
        self._session = session
        self._state = session.state
        self._registry = session.actions
        self._tall = TallConversation(session.window.left)
        self._looked_at, self._compacted = (0, -1), False
        self._chosen, self._grown = QSize(), QSize()
        """The window's size as the person chose it, and as it is with the text's size."""
        self._resizing = QTimer(self)
        self._resizing.setSingleShot(True)
        self._resizing.timeout.connect(self._resize)
        self._offer_in_entry_menus()
        for spec, run in self._specs():
            self._registry.add(spec, run)
        self._registry.fill(session.window.menuBar())
        for command in agent.Commands(session).all():
            session.agent.commands.add(command)
        session.window.header.help_requested.connect(self.show_keys)
        session.window.header.palette_requested.connect(self.show_palette)
        session.state.state_changed.connect(self.follow)
        session.window.panes.changed.connect(self.follow)
        self.follow()

    def _offer_in_entry_menus(self) -> None:
        session = self._session
        opening = session.session_views.menu_opening
        opening.connect(partial(agent.fill_menu, session.state))
        branching.connect(session)
        opening.connect(session.report.fill_menu)
        opening.connect(session.entry_edits.fill_menu)
        opening.connect(partial(summaries.fill_menu, session))

    def follow(self) -> None:
        """Disable what cannot be done now."""
        if self._state.is_changing:
            return  # Each view that follows the other document says that something changed.
        document, window, registry = self._state.document, self._session.window, self._registry
        has_database = self._state.bench is not None
        registry.refuse(CHANGES, self._state.read_only)
        for control in (
            window.library.import_button,
            window.library.find_button,
            window.library.all_button,
            window.header.search,
        ):
            control.setEnabled(has_database)
        registry.enable(NEEDS_DATABASE, has_database, NO_DATABASE)
        registry.enable(NEEDS_SESSION, document is not None, NO_SESSION)
        shows_prompts = window.inspector.isTabVisible(TABS.index("prompt"))
        registry.set_existing(("tab_prompt",), shows_prompts)
        registry.enable(("tab_prompt",), document is not None and shows_prompts, NO_SESSION)
        registry.enable(
            NEEDS_SELECTION,
            document is not None and window.map.selected >= 0,
            "Select an entry on the map first.",
        )
        registry.enable(NEEDS_LEAF, document is not None and document.leaf >= 0, NO_LEAF)
        registry.enable(NEEDS_HITS, self._session.search.has_hits, "A search has no hits here.")
        self._follow_compaction()
        for name, can_run, why_not in self._followed_agent():
            registry.enable((name,), can_run, why_not)
        branching.follow(self._session, registry)
        workshop.follow(self._session, registry)
        summaries.follow(self._session, registry)
        for name in ("sessions", "conversation", "inspector"):
            registry[f"show_{name}"].setChecked(window.panes.is_shown(name))
        lessons.follow(self._session, registry)
        registry["less_motion"].setChecked(self._state.preferences.less_motion)
        scale = self._state.preferences.scale
        registry["larger"].setText(f"&Larger text (now {scale} %)")
        registry.enable(("larger",), scale < SCALES[-1], "The text is as large as it can be.")
        registry.enable(("smaller",), scale > SCALES[0], "The text is as small as it can be.")
        for name in THEMES:
            registry[f"theme_{name}"].setChecked(name == theme.theme_choice())
        registry.show(only_enabled=document is None)

    def _follow_compaction(self) -> None:
        document, registry = self._state.document, self._registry
        session, window = self._session, self._session.window
        can_summarize = session.compaction.can_summarize
        registry.enable(("summarize",), can_summarize, session.compaction.why_not)
        nothing = "There is nothing to take back on the active path."
        registry.enable(("undo",), self._can_undo(), nothing)
        can_redo = document is not None and document.edits.can_redo
        registry.enable(("redo",), can_redo, "Nothing was taken back here.")
        compactions = document is not None and bool(document.tree.columns.compactions)
        registry.enable(session_map.NEEDS_COMPACTIONS, compactions, "There is no compaction yet.")
        shown = window.compaction.partition
        has_cut = shown is not None and shown.cut >= 0
        registry.enable(compaction.NEEDS_CUT, has_cut, session.compaction.why_not)
        why_not = session.entry_edits.offers(window.map.selected).why_not
        registry.enable(compaction.NEEDS_ENTRY_ON_PATH, not why_not, why_not)

    def _followed_agent(self) -> list[tuple[str, bool, str]]:
        """Of the actions of the agent: whether they can do something, and why not."""
        session = self._session
        has_command = session.resume.command is not None
        return [
            *((name, has_command, "Its agent has no command that resumes it.")
              for name in resume.ACTIONS),
            ("stop", self._state.agent_running, "The agent is not answering."),
            ("question", bool(session.agent.permission.waiting), "The agent asks nothing."),
            ("continue", session.agent.can_go_on, "No turn was interrupted here."),
            ("compact_not_now", session.automatic_progress.asks, "No compaction asks first now."),
            ("undo_and_go_on", session.automatic_undo.is_offered,
             "No compaction was made just now that could be taken back."),
        ]  # fmt: skip

    def _can_undo(self) -> bool:
        """Whether there is a compaction or a prune to take back; looked up once per leaf."""
        document = self._state.document
        at = (document.key, document.leaf) if document is not None else (0, -1)
        if at != self._looked_at:
            self._looked_at = at
            self._compacted = document is not None and _can_be_undone(document)
        return self._compacted

    def _specs(self) -> list[MenuEntry]:
        session = self._session
        return [
            *self._file(),
            *branching.session_actions(session),
            *session.resume.actions(),
            *self._go(),
            *branching.go_actions(session),
            *session_map.map_actions(session),
            *compaction.compaction_actions(session),
            *compaction.shaping_actions(session),
            *compaction.cut_actions(session),
            *summaries.compare_actions(session),
            *workshop.workshop_actions(session),
            *agent.agent_actions(session),
            *branching.agent_actions(session),
            *self._view(),
            *lessons.lesson_actions(session),
            *self._help(),
            *self._ends(),
        ]

    def _file(self) -> list[MenuEntry]:
        sessions = self._session.sessions
        return [
            (ActionSpec("new", "&New session", "Begin an empty session in a folder", SESSION,
                        (Standard.New,)), self._session.new_session.new),
            (ActionSpec("import", "&Import…", "Import session files", SESSION, (Standard.Open,)),
             sessions.choose_files),
            (ActionSpec("find", "&Find on this computer…",
                        "Look for the sessions of coding agents in their usual places", SESSION),
             self._session.discovery.find),
            (ActionSpec("all_sessions", "&All sessions…",
                        "See, filter, sum up and put away all stored sessions", SESSION,
                        ("Ctrl+Shift+O",)), self._session.library_page.open),
            (ActionSpec("sample", "Look at an e&xample", "Open the session that comes along",
                        SESSION), self._session.open_sample),
            (ActionSpec("close", "&Close", "Close the session; it stays in the library", SESSION,
                        ("Ctrl+W",)), sessions.close_shown),
            (ActionSpec("export", "&Export…", "Write the session to a file", SESSION,
                        (Standard.Save,), separator=True), sessions.choose_export),
            (ActionSpec("rename", "&Rename…", "Give the session a name", SESSION),
             sessions.ask_rename),
        ]  # fmt: skip

    def _ends(self) -> list[MenuEntry]:
        """What stands last in its menu."""
        return [
            (ActionSpec("settings", "Se&ttings…", "See and change the settings", TOOLS,
                        ("Ctrl+,",), separator=True), self._session.settings.open),
            (ActionSpec("quit", "&Quit", "Close the window; nothing is lost", SESSION,
                        ("Ctrl+Q",), separator=True), self._session.window.close),
        ]  # fmt: skip

    def _go(self) -> list[MenuEntry]:
        window, navigation = self._session.window, self._session.navigation
        search = window.header.search
        return [
            (ActionSpec("search", "&Search", "Search this session", GO, ("/", "Ctrl+F")),
             search.focus_box),
            (ActionSpec("next_hit", "&Next hit", "Go to the next hit of the search", GO,
                        ("F3",)),
             lambda: search.step_requested.emit(1)),
            (ActionSpec("previous_hit", "&Previous hit", "Go to the previous hit of the search",
                        GO, ("Shift+F3",)), lambda: search.step_requested.emit(-1)),
            (ActionSpec("goto", "&Go on from the selected entry",
                        "Make the selected entry the leaf (a user message: its parent)", GO,
                        ("Ctrl+G",), separator=True),
             lambda: navigation.go_to(window.map.selected)),
            (ActionSpec("goto_start", "Go &before the first entry",
                        "Make the session start anew, with an empty context", GO),
             lambda: navigation.go_to(-1)),
            (ActionSpec("leaf", "Show the &leaf", "Select the leaf on the map", GO, ("Ctrl+L",)),
             self._show_leaf),
            (ActionSpec("label", "La&bel…", "Label the selected entry", GO, ("Ctrl+B",)),
             lambda: self._session.session_views.ask_label(window.map.selected)),
        ]  # fmt: skip

    def _view(self) -> list[MenuEntry]:
        window = self._session.window
        found: list[MenuEntry] = [
            (ActionSpec(f"tab_{name}", f"Inspector: {name.title()}", f"Show the tab {name.title()}",
                        VIEW + BELOW + "&Inspector tab", (f"Ctrl+{number}",)),
             partial(window.show_tab, name))
            for number, name in enumerate(TABS, 1)
        ]  # fmt: skip
        for name in THEMES:
            found.append((
                ActionSpec(f"theme_{name}", COLOURS[name], f"Use {name} colours",
                           VIEW + BELOW + "&Colours", checkable=True),
                partial(self._theme, name),
            ))  # fmt: skip
        found += [
            (ActionSpec("less_motion", "Less mo&tion", "No motion on the map", VIEW,
                        checkable=True), self._less_motion),
            (ActionSpec("larger", "&Larger text", "Make text and controls larger", VIEW,
                        ("Ctrl+Shift+=",), separator=True), lambda: self._scale(1)),
            (ActionSpec("smaller", "&Smaller text", "Make text and controls smaller", VIEW,
                        ("Ctrl+Shift+-",)), lambda: self._scale(-1)),
            *self._pane_actions(),
            (ActionSpec("tall", "&Taller conversation",
                        "Give the conversation most of the height; once more gives it back",
                        VIEW, ("Ctrl+F9",), separator=True), self._tall.toggle),
            (ActionSpec("focus_map", "Go to the &map", "Put the keyboard on the map", VIEW,
                        ("F6",)), window.map.setFocus),
            (ActionSpec("focus_agent", "Go to the message &box", "Put the keyboard in the composer",
                        VIEW, ("F7",)), window.agent.focus_composer),
            (ActionSpec("focus_library", "Go to the session l&ist", "Put the keyboard on the list",
                        VIEW, ("F8",)), partial(show_sessions, window)),
        ]  # fmt: skip
        return found

    def _pane_actions(self) -> list[MenuEntry]:
        return [
            (ActionSpec(f"show_{name}", title, f"Show or hide the {words}", "&View", (key,),
                        checkable=True, separator=name == "sessions"),
             partial(self._session.window.panes.toggle, name))
            for name, title, words, key in (
                ("sessions", "S&essions", "list of sessions", "Ctrl+F8"),
                ("conversation", "Con&versation", "conversation", "Ctrl+F7"),
                ("inspector", "I&nspector", "inspector", "Ctrl+F6"),
            )
        ]  # fmt: skip

    def _help(self) -> list[MenuEntry]:
        return [
            (ActionSpec("tour", "The example and its &callouts",
                        "Open the example, and point at the tree, the cut and what was lost",
                        HELP), self._session.show_tour),
            (ActionSpec("watch_run", "&Watch a scripted run",
                        "See an agent read, edit and test a small repository, without a key",
                        HELP), self._session.new_session.watch),
            (ActionSpec("palette", "&Commands…", "List and run any command", HELP,
                        ("Ctrl+Shift+P",)), self.show_palette),
            (ActionSpec("guide", "G&uide", "What to do when an agent forgot something, the command "
                        "line, the settings, and what the audit can know", HELP), self.show_guide),
            (ActionSpec("glossary", "&Glossary", "What the words of the window mean", HELP),
             self.show_glossary),
            (ActionSpec("keys", "&Keys", "Show all keys", HELP, ("?", "F1")), self.show_keys),
        ]  # fmt: skip

    # what the small ones do -----------------------------------------------------------------------

    def _show_leaf(self) -> None:
        if self._state.document is not None:
            self._session.window.map.select(self._state.document.leaf)

    def _theme(self, name: str) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            self._state.preferences.theme = name
            theme.set_theme(name, app)  # type: ignore[arg-type]
            self.follow()

    def _less_motion(self) -> None:
        self._state.preferences.less_motion = less = self._registry["less_motion"].isChecked()
        theme.set_motion(not (less or theme.system_asks_for_less_motion()))

    def _keep_size(self) -> None:
        """Note the size that the person gave the window, before the text has another."""
        size = self._session.window.size()
        if not self._resizing.isActive() and size != self._grown:
            self._chosen = size

    def _resize(self) -> None:
        """Large text may have needed a larger window: it has its size again where that suffices."""
        window = self._session.window
        if not window.isMaximized() and not window.isFullScreen():
            window.resize(self._chosen)
        self._grown = window.size()

    def _scale(self, step: int) -> None:
        app, now = QApplication.instance(), self._state.preferences.scale
        at = min(range(len(SCALES)), key=lambda row: abs(SCALES[row] - now)) + step
        if isinstance(app, QApplication) and 0 <= at < len(SCALES):
            self._keep_size()
            self._state.preferences.scale = SCALES[at]
            theme.set_text_scale(SCALES[at] / 100)
            theme.set_theme(theme.theme_choice(), app)
            self.follow()
            self._resizing.start(REPEAT_MS)
            words = f"Text at {SCALES[at]} %"
            self._state.say(words)
            QTimer.singleShot(REPEAT_MS, self, lambda: self._repeat_message(words))

    def _repeat_message(self, words: str) -> None:
        """A status bar that is laid out again shows its labels over a message that was there."""
        bar = self._session.window.statusBar()
        if bar.currentMessage() == words:
            bar.clearMessage()
            self._state.say(words)

    def show_palette(self) -> None:
        dialog = CommandPalette(self._registry, self._session.window)
        open_once(dialog)

    def show_guide(self) -> None:
        open_once(GuideWindow(self._session.window))

    def show_glossary(self) -> None:
        open_once(GlossaryPage(self._session.window))

    def show_keys(self) -> None:
        dialog = ShortcutsPage(self._registry, self._session.window)
        open_once(dialog)


def _can_be_undone(document: Document) -> bool:
    path = document.tree.path(document.leaf)
    compacted = latest_on_path(document.tree, path, Kind.COMPACTION) >= 0
    return compacted or bool(prunes_on(document.tree, path) or shapes_on(document.tree, path))
