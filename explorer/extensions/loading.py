"""Loading the extensions of a folder: each by itself, each failure told with file, line, reason."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from explorer.extensions.calling import Call
from explorer.extensions.hooks import Hooks, Registered
from explorer.extensions.importing import ExtensionFolder, OutsideError
from explorer.extensions.places import Problem, problem_of

LOAD_LIMIT_S = 30.0
Scope = Literal["user", "project"]


@dataclass(slots=True)
class Extension:
    """One extension as it was found, loaded or not."""

    name: str
    file: Path
    scope: Scope
    problem: Problem | None = None
    hooks: Hooks | None = None
    active: bool = False
    """Whether its handlers are asked; false once it is unloaded."""
    left_behind: dict[int, Call] = field(default_factory=dict)
    """The latest call of a handler that nobody waited for to its end, by the handler's place."""
    module: ModuleType | None = None

    @property
    def root(self) -> Path:
        """The file, or the folder of a package."""
        return self.file.parent if self.file.name == "__init__.py" else self.file

    @property
    def handlers(self) -> list[Registered]:
        return self.hooks.registered if self.hooks is not None and self.active else []

    @property
    def events(self) -> list[str]:
        """The events that it handles, in the order of registration."""
        return list(dict.fromkeys(one.event for one in self.handlers))

    @property
    def log(self) -> list[str]:
        """What it printed and logged lately."""
        return list(self.hooks.lines) if self.hooks is not None else []


class LoadedFolder:
    """The extensions of one folder."""

    def __init__(self, folder: Path, scope: Scope, inside: Path | None = None) -> None:
        self.folder, self.scope = folder, scope
        self._inside = inside
        self._package: ExtensionFolder | None = None
        self.extensions: list[Extension] = []
        self.problem: Problem | None = None
        """Why the folder could not be read."""

    def load(self, limit_s: float = LOAD_LIMIT_S) -> None:
        """Import everything in the folder. Blocks; meant for a worker thread."""
        self._package = ExtensionFolder(self.folder, self._inside)
        try:
            files = _found(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problem = Problem(str(self.folder), 0, error.strerror or str(error))
            return
        for file in files:
            extension = Extension(_name(file), file, self.scope)
            self.extensions.append(extension)
            if any(one.name == extension.name for one in self.extensions[:-1]):
                reason = f"there is another extension called {extension.name}"
                extension.problem = Problem(str(file), 0, reason)
            else:
                self._load(self._package, extension, limit_s)

    def _load(self, package: ExtensionFolder, extension: Extension, limit_s: float) -> None:
        try:
            package.check(extension.file)
            settings = _settings(package, extension)
        except OutsideError as outside:
            extension.problem = Problem(str(extension.file), 0, str(outside))
            return
        except _SettingsError as wrong:
            extension.problem = wrong.problem
            return
        hooks = Hooks(extension.name, self.folder, settings)
        package.say[extension.name] = hooks.lines.append

        def work() -> None:
            extension.module = package.load(extension.name)
            activate = getattr(extension.module, "activate", None)
            if activate is None:
                raise _NoActivate("it has no function activate(hooks)")
            if (given := activate(hooks)) is not None and hasattr(given, "__await__"):
                if hasattr(given, "close"):
                    given.close()
                raise TypeError("activate must be a plain function, not an asynchronous one")

        error = run_limited(work, limit_s, extension.name)
        hooks.closed = True
        if isinstance(error, TimeoutError) and error.args == (_LATE,):
            extension.problem = Problem(
                str(extension.file), 0, f"it was not loaded within {limit_s:g} seconds"
            )
        elif isinstance(error, _NoActivate):
            extension.problem = Problem(str(extension.file), 0, str(error))
        elif error is not None:
            extension.problem = problem_of(error, extension.root)
        else:
            extension.hooks, extension.active = hooks, True

    def unload(self, limit_s: float = LOAD_LIMIT_S) -> None:
        """Stop asking the extensions and forget their modules. Blocks.

        A ``deactivate()`` of theirs is called first; when it fails, its log says so.
        """
        for extension in self.extensions:
            was, extension.active = extension.active, False
            leave = getattr(extension.module, "deactivate", None)
            if was and callable(leave):
                error = run_limited(leave, limit_s, extension.name)
                if error is not None and extension.hooks is not None:
                    told = problem_of(error, extension.root)
                    extension.hooks.lines.append(f"deactivate() failed: {told}")
        if self._package is not None:
            self._package.close()
            self._package = None


class _NoActivate(Exception):
    """The file says nothing to us."""


class _SettingsError(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


_LATE = "the extension is still at it"


def run_limited(work: Callable[[], Any], limit_s: float, name: str) -> BaseException | None:
    """Run something of an extension's on a thread of its own; what it raised, or TimeoutError."""
    raised: list[BaseException | None] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 -- whatever an extension raises is told
            raised.append(error)
        else:
            raised.append(None)

    thread = threading.Thread(target=run, name=f"extension-{name}-loading", daemon=True)
    thread.start()
    thread.join(limit_s)
    return raised[0] if raised else TimeoutError(_LATE)


def _found(folder: Path) -> list[Path]:
    """The files that are extensions, in the order in which they are loaded: by name."""
    files = []
    for entry in sorted(folder.iterdir(), key=lambda one: (one.stem, one.name)):
        if entry.name.startswith(("_", ".")):
            continue
        if entry.suffix == ".py" and entry.is_file():
            files.append(entry)
        elif (entry / "__init__.py").is_file():
            files.append(entry / "__init__.py")
    return files


def _name(file: Path) -> str:
    return file.parent.name if file.name == "__init__.py" else file.stem


def _settings(package: ExtensionFolder, extension: Extension) -> dict[str, Any]:
    """What ``NAME.json`` beside the extension holds. Raises OutsideError, _SettingsError."""
    file = extension.root.parent / f"{extension.name}.json"
    if not file.is_file():
        return {}
    package.check(file)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise _SettingsError(Problem(str(file), error.lineno, error.msg)) from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise _SettingsError(Problem(str(file), 0, str(error))) from error
    if not isinstance(data, dict):
        raise _SettingsError(Problem(str(file), 1, "expected an object of settings"))
    return data
