"""The settings as they stand at this moment: of the person, of a project, and where from; those of
this installation, and the extensions that follow their changes.

Files are looked at again before every answer that a decision rests on (``refresh``), and a watch
notifies the views of changes made by others. What a session chose for itself comes first, then its
project's file, then the user's, then the profile (A12, A54).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct

from explorer.compaction.profile import BASES
from explorer.extensions.hooks import TIME_LIMIT_S
from explorer.extensions.manager import Extensions, TrustStore
from explorer.settings import paths
from explorer.settings.effective import extension_limit_s
from explorer.settings.files import (
    FileState,
    SettingsError,
    SettingsLevel,
    SettingsProblem,
    load,
    refused,
    remove_value,
    set_value,
)
from explorer.settings.keys import KEYS
from explorer.settings.profile_files import ProfileFiles

PROJECT_FILE = Path(".session-explorer") / "settings.json"
PROFILE_KEY = "compaction.profile"
LEVELS: tuple[SettingsLevel, ...] = ("global", "project")
WATCH_S = 0.5
"""How often a watch looks at the files."""

Source = Literal["session", "project", "global", "profile"]


class Trust(Protocol):
    """Knows which projects a person trusts."""

    def is_trusted(self, folder: Path) -> bool: ...


class NoTrust:
    """No project is trusted."""

    def is_trusted(self, folder: Path) -> bool:
        return False


class Set(Struct, frozen=True):
    """A value and the file that sets it."""

    value: Any
    source: Source
    file: Path | None = None
    line: int = 0


class Explanation(Struct, frozen=True):
    """Where a setting's value comes from."""

    key: str
    value: Any
    """None where the profile's value is in force."""
    source: Source
    file: Path | None
    line: int
    overridden: tuple[Set, ...]
    """Set as well, and without effect, the next in line first."""


class SettingsChanged(Struct, frozen=True):
    """Settings are not what they were. ``keys`` that changed, at the person's level or in any of
    the projects looked at; none when only the problems did."""

    keys: frozenset[str]


Listener = Callable[[SettingsChanged], None]


class LiveSettings:
    """Reads the files and answers from them. All methods may be called from any thread; listeners
    are notified on the thread that noticed."""

    def __init__(
        self,
        path: Path,
        trust: Trust | None = None,
        profiles: Callable[[], Collection[str]] = lambda: BASES,
    ) -> None:
        """``profiles``: the names of all profiles there are, asked again each time."""
        self.path = path
        self._profiles = profiles
        self.trust: Trust = trust or NoTrust()
        self._lock = threading.RLock()
        self._global = load(path, "global", FileState())
        self._projects: dict[Path, tuple[bool, FileState]] = {}
        self._listeners: list[Listener] = []

    # answers -----------------------------------------------------------------------------------

    def get(self, key: str, project: Path | None = None) -> Any:
        """The value that is set, the project's before the person's; None where none is.

        Raises KeyError for a name that is no setting.
        """
        KEYS[key]
        return self.values(project).get(key)

    def values(self, project: Path | None = None) -> Mapping[str, Any]:
        """Everything that is set for a project, by name."""
        with self._lock:
            return {**self._global.values, **self._of(project).values}

    def explain(
        self, key: str, project: Path | None = None, chosen: Mapping[str, Any] | None = None
    ) -> Explanation:
        """Where a value comes from, and what it stands before. ``chosen``: what a session chose
        for itself, by name. Raises KeyError for a name that is no setting."""
        KEYS[key]
        found: list[Set] = []
        if chosen and key in chosen:
            found.append(Set(chosen[key], "session"))
        with self._lock:
            places: list[tuple[Source, Path | None, FileState]] = [
                ("project", project_file(project) if project else None, self._of(project)),
                ("global", self.path, self._global),
            ]
            found += [
                Set(state.values[key], source, file, state.lines[key])
                for source, file, state in places
                if key in state.values
            ]
        first = found[0] if found else Set(None, "profile")
        return Explanation(key, first.value, first.source, first.file, first.line, tuple(found[1:]))

    def problems(self, project: Path | None = None) -> list[SettingsProblem]:
        """What is wrong in the person's file, then in the project's."""
        with self._lock:
            states = [(self.path, self._global)]
            if project is not None:
                states.append((project_file(project), self._of(project)))
        found: list[SettingsProblem] = []
        for at, (path, state) in enumerate(states):
            found += state.problems
            if reason := self._no_profile(state.values.get(PROFILE_KEY)):
                line, level = state.lines[PROFILE_KEY], LEVELS[at]
                found.append(SettingsProblem(path, line, PROFILE_KEY, reason, 0, level))
        return found

    def _no_profile(self, name: Any) -> str:
        """Why a profile's name names none; empty when it does, or there is no name."""
        known = self._profiles()
        if name is None or name in known:
            return ""
        return f"there is no profile {name!r}; there are: {', '.join(known)}"

    def _of(self, project: Path | None) -> FileState:
        """What a project sets; its file is read when it is first asked for."""
        if project is None:
            return FileState()
        if project not in self._projects:
            self._projects[project] = self._read_project(project, FileState())
        return self._projects[project][1]

    def _read_project(self, project: Path, before: FileState) -> tuple[bool, FileState]:
        trusted = self.trust.is_trusted(project)
        return trusted, load(project_file(project), "project", before, trusted)

    # changes -----------------------------------------------------------------------------------

    def set(self, key: str, value: Any, project: Path | None = None) -> None:
        """Set a value for the person, or for a project; holds at once. Raises SettingsError."""
        trusted = project is None or self.trust.is_trusted(project)
        level: SettingsLevel = "global" if project is None else "project"
        if key in KEYS and (reason := refused(key, level, trusted)):
            raise SettingsError(f"{key}: {reason}. Nothing was written.")
        if key == PROFILE_KEY and isinstance(value, str) and (reason := self._no_profile(value)):
            raise SettingsError(f"{key}: {reason}. Nothing was written.")
        path = project_file(project) if project else self.path
        set_value(path, key, value, private=project is None)
        self.refresh()

    def reset(self, key: str, project: Path | None = None) -> None:
        """Take a value out of the person's file, or a project's. Raises SettingsError."""
        remove_value(project_file(project) if project else self.path, key)
        self.refresh()

    def refresh(self) -> bool:
        """Read what changed since it was read last, and tell who listens; whether it did."""
        with self._lock:
            before = self._state()
            if self._global.is_stale(self.path):
                self._global = load(self.path, "global", self._global)
            for project, (trusted, state) in list(self._projects.items()):
                stale = state.is_stale(project_file(project))
                if stale or self.trust.is_trusted(project) != trusted:
                    self._projects[project] = self._read_project(project, state)
            after = self._state()
            listeners = list(self._listeners)
        if before == after:
            return False
        changed = frozenset(
            key
            for (was, *_), (now, *_) in zip(before, after, strict=True)
            for key in was.keys() | now.keys()
            if was.get(key) != now.get(key) or (key in was) != (key in now)
        )
        for listener in listeners:
            listener(SettingsChanged(changed))
        return True

    def _state(self) -> list[tuple[Mapping[str, Any], tuple[SettingsProblem, ...], bool]]:
        states = [(True, self._global), *self._projects.values()]
        return [(state.values, state.problems, trusted) for trusted, state in states]

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Subscribe to changes; the returned function unsubscribes."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe

    def watch(
        self, call: Callable[[Callable[[], object]], object], every_s: float = WATCH_S
    ) -> Callable[[], None]:
        """Notice what editors and other programs write, in a thread that only looks at the files;
        ``refresh`` is handed to ``call`` when one of them changed. Returns what ends it."""
        stopped = threading.Event()

        def look() -> None:
            while not stopped.wait(every_s):
                if self._is_stale():
                    call(self.refresh)

        thread = threading.Thread(target=look, name="settings-watch", daemon=True)
        thread.start()

        def stop() -> None:
            stopped.set()
            thread.join()

        return stop

    def _is_stale(self) -> bool:
        with self._lock:
            mine, projects = self._global, list(self._projects.items())
        return mine.is_stale(self.path) or any(
            state.is_stale(project_file(project)) or self.trust.is_trusted(project) != trusted
            for project, (trusted, state) in projects
        )


def project_file(project: Path) -> Path:
    """Where a project keeps its settings."""
    return project / PROJECT_FILE


def project_of(folder: str | Path) -> Path | None:
    """The project of a working folder: the nearest folder upwards that has settings, else the
    folder itself; None where there is no such folder here."""
    start = Path(folder)
    try:
        if not folder or not start.is_absolute() or not start.is_dir():
            return None
        real = start.resolve()
        return next((up for up in (real, *real.parents) if project_file(up).is_file()), real)
    except (OSError, ValueError):
        return None


def live_settings(profiles: Callable[[], Collection[str]] | None = None) -> LiveSettings:
    """The files of the person and of projects, as they are now. ``profiles``: names of all that
    there are; those of the program and the user's when it is left out."""
    if profiles is None:
        names = ProfileFiles().shelf().profiles()
        return LiveSettings(paths.settings_path(), TrustStore(), lambda: names)
    return LiveSettings(paths.settings_path(), TrustStore(), profiles)


def following_extensions(live: LiveSettings) -> Extensions:
    """Extensions that are asked, and waited for, as the settings say at every call."""

    def limit_s() -> float:
        live.refresh()
        return extension_limit_s(live.values(), TIME_LIMIT_S)

    def is_enabled(_name: str) -> bool:
        live.refresh()
        return live.get("extensions.enabled") is not False

    return Extensions(limit_s=limit_s, is_enabled=is_enabled)
