"""The actions of the agent and its conversation, and the slash commands of the message box."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMenu

from explorer.formats.registry import adapter_of
from explorer.models.request import THINKING_LEVELS, as_level
from explorer.services.document import Document
from explorer.services.session_export import form_of_file
from ui.actions import AGENT, BELOW, TOOLS, ActionSpec, MenuEntry
from ui.app_state import AppState
from ui.conversation.slash_commands import CommandOffer, CommandsPage, SlashCommand
from ui.session import WindowSession
from ui.shell.dialogs import open_once

CONVERSATION = AGENT + BELOW + "Con&versation"
NEEDS_DATABASE = ("models", "keys_of_models")
NEEDS_SESSION = (
    *("compact_now", "replay", "workspace"),
    *("focus_conversation", "show_in_conversation", "find_in_conversation", "copy_conversation"),
)

LEVEL_NOTES = {
    "off": "answer at once",
    "minimal": "hardly at all",
    "low": "a little",
    "medium": "for a while",
    "high": "as long as it takes",
}


def agent_actions(session: WindowSession) -> list[MenuEntry]:
    """Stop, continue, answer, compact, and the folder of the agent."""
    return [
        (ActionSpec("compact_now", "&Compact now",
                    "Compact at the leaf without a review (/compact in the message box)", AGENT,
                    ("Ctrl+Alt+K",)), session.agent.compact_now),
        (ActionSpec("compact_not_now", "Do not compact n&ow",
                    "Leave a compaction that asks first; the turn goes on without it", AGENT,
                    ("Ctrl+Alt+N",)), session.agent.automatic.not_now),
        (ActionSpec("undo_and_go_on", "&Undo the compaction and go on",
                    "Take back what happened by itself, and let the agent go on without it", AGENT,
                    ("Ctrl+Alt+Z",)), session.automatic_undo.undo_and_go_on),
        (ActionSpec("models", "&Models…",
                    "Choose a model, set keys, and add servers of your own", TOOLS,
                    ("Ctrl+M",)), session.models.open),
        (ActionSpec("keys_of_models", "&Keys of models…",
                    "Where the keys of providers are; set, test and remove them", TOOLS),
         lambda: session.models.open(page="keys")),
        (ActionSpec("replay", "&Replay a session…",
                    "Play a recorded session again, to watch when it is compacted", AGENT),
         session.replay.ask),
        (ActionSpec("workspace", "Choose &folder…", "The folder that the agent may work in",
                    AGENT), session.window.agent.workspace_requested.emit),
        (ActionSpec("question", "Go to the agent's &question",
                    "Put the keyboard on the card that asks whether the agent may do something",
                    AGENT, ("Shift+F7",)), session.agent.permission.focus),
        (ActionSpec("continue", "Con&tinue", "Let the agent go on where it was interrupted"
                    " (/continue in the message box)", AGENT), session.agent.go_on_pressed),
        (ActionSpec("stop", "&Stop the answer", "Stop the agent; what has arrived is kept", AGENT),
         session.agent.stop),
        *conversation_actions(session),
    ]  # fmt: skip


def conversation_actions(session: WindowSession) -> list[MenuEntry]:
    """To the conversation, and about in it."""
    state, agent = session.state, session.window.agent
    return [
        (ActionSpec("focus_conversation", "Go to the con&versation",
                    "Put the keyboard on the conversation", CONVERSATION, ("F9",)),
         agent.focus_conversation),
        (ActionSpec("show_in_conversation", "Show the entry in the conversat&ion",
                    "Scroll the conversation to what is selected on the map", CONVERSATION,
                    ("Shift+F9",)),
         lambda: show_in_conversation(state, session.window.map.selected)),
        (ActionSpec("find_in_conversation", "Fi&nd in the conversation…",
                    "Find words in the conversation (Ctrl+F there)", CONVERSATION, ("Ctrl+Alt+F",)),
         agent.open_find_bar),
        (ActionSpec("copy_conversation", "Copy the conversation as &Markdown",
                    "The whole conversation of the active path", CONVERSATION),
         agent.copy_conversation),
    ]  # fmt: skip


def show_in_conversation(state: AppState, entry: int) -> None:
    """Show an entry of the map in the conversation, and put the keyboard there."""
    agent = state.window.agent
    if entry < 0 or state.document is None:
        return
    if not agent.reveal(entry):
        state.say(f"#{entry} is not on the active path, so it is not in the conversation")


def fill_menu(state: AppState, menu: QMenu, entry: int) -> None:
    """Fill in what the menu of an entry offers of this."""
    document = state.document
    action = menu.addAction("Show in the conversation")
    action.setEnabled(document is not None and entry in document.tree.path(document.leaf))
    action.triggered.connect(lambda: show_in_conversation(state, entry))


class Commands:
    """One method per command; raises ValueError with a sentence where it cannot be done now."""

    def __init__(self, session: WindowSession) -> None:
        self._session = session
        self._state = session.state

    def all(self) -> list[SlashCommand]:
        session, agent = self._session, self._session.agent
        return [
            SlashCommand("compact", "[instructions]",
                         "Compact here without a review, by these instructions.",
                         agent.compact_now),
            SlashCommand("tree", "", "Put the keyboard on the map.", self._tree),
            SlashCommand("model", "[name]", "Choose the model that answers.", self._model,
                         self._models),
            SlashCommand("thinking", "[level]", "Choose how long the model may think.",
                         self._thinking, self._levels),
            SlashCommand("profile", "NAME", "Choose by whose rules the session is compacted.",
                         self._profile, self._profiles),
            SlashCommand("name", "TEXT", "Give the session a name.", self._name),
            SlashCommand("label", "TEXT", "Label the leaf, to find it again.", self._label),
            SlashCommand("fork", "", "Make this branch a session of its own.", self._fork),
            SlashCommand("export", "[path]", "Write the session to a file.", self._export),
            SlashCommand("continue", "", "Let the agent go on where it was interrupted.",
                         lambda _text: agent.go_on()),
            SlashCommand("undo", "", "Take back the latest compaction or prune.",
                         lambda _text: session.compaction.undo()),
            SlashCommand("help", "", "List the commands.", self._help),
        ]  # fmt: skip

    @property
    def _document(self) -> Document:
        document = self._state.document
        if document is None:
            raise ValueError("No session is open.")
        return document

    def _tree(self, _text: str) -> None:
        # The box is emptied behind this, which does not take the keyboard back.
        QTimer.singleShot(0, self._session, self._session.window.map.setFocus)

    # model ---------------------------------------------------------------------------------------

    def _models(self) -> list[CommandOffer]:
        return [CommandOffer(model, label) for model, label in self._state.models("agent")]

    def _model(self, name: str) -> None:
        if not name:
            QTimer.singleShot(0, self._session, self._session.models.open)
            return
        known = [model for model, _ in self._state.models("agent")]
        wanted = name.casefold()
        found = [m for m in known if m.casefold() == wanted]
        found = found or [m for m in known if m.rpartition("/")[2].casefold() == wanted]
        found = found or [m for m in known if wanted in m.casefold()]
        if not found:
            raise ValueError(f"No model that can be chosen has {name} in its name.")
        if len(found) > 1:
            first = ", ".join(found[:3])
            raise ValueError(f"{len(found):,} models have {name} in their name: {first}…")
        self._session.agent.choose_model(found[0])
        self._state.say(f"{found[0]} answers from the next message on.")

    def _profiles(self) -> list[CommandOffer]:
        return [CommandOffer(each.name, each.title) for each in self._state.profiles.values()]

    def _profile(self, name: str) -> None:
        known = self._state.profiles
        if name not in known:
            names = ", ".join(known)
            raise ValueError(f"There is no profile {name}; there are {names}." if name else
                             f"Name a profile: {names}.")  # fmt: skip
        self._state.set_profile(name)
        self._state.say(f"Compacted by the rules of {known[name].title} from now on.")

    def _levels(self) -> list[CommandOffer]:
        return [CommandOffer(level, LEVEL_NOTES[level]) for level in THINKING_LEVELS]

    def _thinking(self, level: str) -> None:
        agent, bar = self._session.agent, self._session.window.agent.bar
        model = self._state.agent_model()
        if not agent.thinks:
            raise ValueError(f"It is not known that {model} can think before it answers.")
        if not level:
            QTimer.singleShot(0, bar.thinking, bar.thinking.showPopup)
            return
        wanted = as_level(level.casefold())
        if wanted is None:
            raise ValueError(f"There is no level {level}; there are: {', '.join(THINKING_LEVELS)}.")
        agent.choose_thinking(wanted)
        self._state.say(f"Thinking: {wanted}, from the next message on.")

    # session -------------------------------------------------------------------------------------

    def _name(self, text: str) -> None:
        self._state.tasks.start("Renaming", self._document.edits.rename(text))

    def _label(self, text: str) -> None:
        document = self._document
        if document.leaf < 0:
            raise ValueError("There is no entry to label: the leaf is before the first one.")
        self._state.tasks.start("Labelling", document.edits.set_label(document.leaf, text))

    def _export(self, name: str) -> None:
        sessions, key = self._session.sessions, self._document.key
        if not name:
            QTimer.singleShot(0, self._session, sessions.choose_export)
            return
        path = Path(name).expanduser()
        if not path.is_absolute():
            root = self._session.agent.folder.folder
            if root is None:
                raise ValueError(f"{name} is relative to the agent's folder, and none is chosen.")
            path = root / path
        if path.exists():
            raise ValueError(f"{path} is there already; nothing was written.")
        form = form_of_file(path)
        header = self._document.header
        if form == "original" and header.version == 1 and adapter_of(header.format).writes:
            form = "pi-v3"
        self._state.tasks.start("Exporting", sessions.export_now(key, path, form))

    def _fork(self, _text: str) -> None:
        leaf = self._document.leaf
        if leaf < 0:
            raise ValueError("There is no entry to fork at yet.")
        QTimer.singleShot(0, self._session, lambda: self._session.forks.ask(leaf))

    def _help(self, _text: str) -> None:
        page = CommandsPage(self._session.agent.commands, self._session.window)
        open_once(page)
