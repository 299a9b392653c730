"""What the controllers share: the workbench, the open document, the views and who is told what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.compaction.profile import (
    PROFILES,
    Profile,
    Settings,
    profile_values,
    read_profile,
)
from explorer.preferences import Preferences
from ui.shell.tasks import TaskOwner
from ui.widgets.notice import Notice

if TYPE_CHECKING:  # the workbench is there after the first paint, its types before
    from explorer.work.document import Document
    from explorer.workbench import Workbench
    from ui.main_window import MainWindow

REST_MS = 400
"""How long a size must not change before it is kept with the session."""

BREATH_S = 0.005
"""Between two pieces of work that each take some ms: long enough for keys, beats and paints, which
a pause of nothing is not."""


class Desk(QObject):
    """State of one window. Views never ask each other; they are refreshed from here."""

    document_changed = Signal()
    """Another document: for what names it, and for the map."""
    settings_changed = Signal()
    state_changed = Signal()
    """Something changed that decides what can be done now."""

    def __init__(self, window: MainWindow, preferences: Preferences) -> None:
        super().__init__(window)
        self.window = window
        self.preferences = preferences
        self.tasks = TaskOwner(self.report)
        self.bench: Workbench | None = None
        self.document: Document | None = None
        self.fillers: list[Callable[[], None]] = []
        """Fill the panes that take their time with another document, once the map is painted."""
        self.agent_running = False
        self.profile: Profile = PROFILES.get(preferences.profile) or PROFILES["explorer"]
        self.settings = Settings.of(self.profile)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._keep)

    def set_profile(self, name: str) -> None:
        """Follow the rules of another system, with its own sizes."""
        if name in PROFILES and PROFILES[name] != self.profile:
            self.preferences.profile = name
            self.profile = PROFILES[name]
            self.settings = Settings.of(self.profile)
            self._keep()
            self.settings_changed.emit()

    def set_rules(self, profile: Profile) -> None:
        """Follow a profile of which a rule was changed; it lasts until another is chosen."""
        if profile != self.profile:
            self.profile = profile
            self._keep()
            self.settings_changed.emit()

    def set_settings(self, settings: Settings) -> None:
        if settings != self.settings:
            self.settings = settings
            # A slider passes through a hundred sizes; the one where it rests is kept.
            self._rest.start()
            self.settings_changed.emit()

    def _keep(self) -> None:
        """A session is opened again with the rules and sizes that were last chosen in it."""
        self._rest.stop()
        if self.document is not None:
            rules = {"profile": profile_values(self.profile), "settings": asdict(self.settings)}
            self.document.choose("compaction", rules)

    def _take_kept(self, document: Document) -> None:
        """The rules kept with a session; one without takes those that were last chosen."""
        self.profile = PROFILES.get(self.preferences.profile) or PROFILES["explorer"]
        self.settings = Settings.of(self.profile)
        kept = document.choices().get("compaction")
        if isinstance(kept, dict):
            try:
                named = kept["profile"]
                base = PROFILES.get(named.get("name")) or PROFILES["explorer"]
                read, settings = read_profile(named, base), Settings(**kept["settings"])
            except (AttributeError, KeyError, TypeError):
                # Another version of the program kept rules that this one does not know.
                self.say("The rules kept with this session are not known here.")
            else:
                self.profile, self.settings = read.profile, settings
                for mistake in read.mistakes:
                    self.say(f"A rule kept with this session cannot be used: {mistake}.")

    def show(self, document: Document | None) -> None:
        """Make a document the one that the window shows; its ``fillers`` are to follow."""
        if self._rest.isActive():
            self._keep()
        self.document = document
        if document is not None:
            self._take_kept(document)
        self.document_changed.emit()
        # Only now: views that follow the rules look at what the map has selected.
        self.settings_changed.emit()
        if document is None:
            for fill in self.fillers:
                fill()

    def models(self, purpose: str) -> list[tuple[str, str]]:
        """(id, label) of the models that can do a job: ``summary`` or ``agent``."""
        if self.bench is None:
            return []
        other = "offline/demo" if purpose == "summary" else "offline/extractive"
        return [(m.id, m.label) for m in self.bench.door.models() if m.id != other]

    # what the person is told ----------------------------------------------------------------------

    def notice(self, level: str, what: str, kept: str = "", todo: str = "", **more: Any) -> None:
        """Tell the person; ``level`` is info, warning or error."""
        self.window.notices.show_notice(Notice(level, what, kept, todo, **more))  # type: ignore[arg-type]

    def say(self, text: str) -> None:
        """A passing word in the status bar."""
        self.window.statusBar().showMessage(text, 6000)

    def report(self, what: str, error: BaseException, details: str) -> None:
        """A task failed in a way that nobody expected."""
        self.notice(
            "error",
            f"{what} did not work: {error or type(error).__name__}",
            "What was stored stays as it is.",
            "Try again; if it happens again, copy the details into a report.",
            details=details,
        )
