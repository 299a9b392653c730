"""What is loaded: the user's extensions and those of trusted projects; and the examples."""

from __future__ import annotations

import ast
import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from explorer import private_files
from explorer.extensions.extension_folder import (
    Extension,
    ExtensionProblem,
    LoadedFolder,
    Scope,
)
from explorer.extensions.handler_call import TIME_LIMIT_S
from explorer.extensions.runner import HookRunner
from explorer.extensions.trust import PROJECT_FOLDER, TrustStore, project_of
from explorer.settings import paths

FOLDER_NAME = "extensions"


def user_folder() -> Path:
    """Where a user's extensions lie, in the folder of settings."""
    return paths.config_dir() / FOLDER_NAME


class Listed(Struct, frozen=True):
    """One extension, or one folder that cannot be read, for a list."""

    name: str
    file: str
    scope: Scope
    events: tuple[str, ...]
    problem: ExtensionProblem | None
    log: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """``loaded``, ``not loaded`` or ``handles nothing``."""
        if self.problem is not None:
            return "not loaded"
        return "loaded" if self.events else "handles nothing"


class Project(Struct, frozen=True):
    """The current project, with its extensions."""

    folder: Path
    """Its real path."""
    trusted: bool
    files: tuple[str, ...]
    """Files that trust would let run, by their names in the extensions' folder."""


class Extensions:
    """Loads, reloads and unloads. May be used on any thread; loading blocks.

    ``limit_s``: seconds that a handler may take, looked up at every call.
    """

    def __init__(
        self,
        folder: Path | None = None,
        trust: TrustStore | None = None,
        limit_s: Callable[[], float] = lambda: TIME_LIMIT_S,
        is_enabled: Callable[[str], bool] = lambda _name: True,
    ) -> None:
        self.folder = folder or user_folder()
        self.trust = trust or TrustStore()
        self._limit_s = limit_s
        self._is_enabled = is_enabled
        self._lock = threading.Lock()
        self._user: LoadedFolder | None = None
        self._projects: dict[Path, LoadedFolder] = {}

    # what a session needs ------------------------------------------------------------------------

    async def runner(self, cwd: str) -> HookRunner:
        """The runner of the extensions for a session in this working folder. What is not loaded is
        loaded now, on a thread."""
        return await asyncio.to_thread(self._runner, cwd)

    def _runner(self, cwd: str) -> HookRunner:
        active = [e for e in self._loaded(cwd) if e.active and self._is_enabled(e.name)]
        return HookRunner(active, cwd, self._limit_s)

    def _loaded(self, cwd: str) -> list[Extension]:
        """The extensions for a working folder: the person's, then the project's."""
        with self._lock:
            self._drop_untrusted()
            if self._user is None:
                self._user = self._load(self.folder, "user", None)
            extensions = list(self._user.extensions)
            project = project_of(cwd)
            if project is not None and self.trust.is_trusted(project):
                if project not in self._projects:
                    folder = project / PROJECT_FOLDER
                    self._projects[project] = self._load(folder, "project", project)
                extensions += self._projects[project].extensions
        return extensions

    def _load(self, folder: Path, scope: Scope, boundary: Path | None) -> LoadedFolder:
        loaded = LoadedFolder(folder, scope, boundary)
        loaded.load()
        return loaded

    def _drop_untrusted(self) -> None:
        """Unload what is trusted no more, in this window or by another."""
        for project in [p for p in self._projects if not self.trust.is_trusted(p)]:
            self._projects.pop(project).unload()

    # what a person does --------------------------------------------------------------------------

    def listing(self, cwd: str = "") -> list[Listed]:
        """All extensions for a working folder, those that failed among them. Blocks."""
        rows = [
            Listed(e.name, str(e.file), e.scope, tuple(e.events), e.problem, tuple(e.log))
            for e in self._loaded(cwd)
        ]
        with self._lock:
            folders = [self._user, *self._projects.values()]
        broken = [folder for folder in folders if folder is not None and folder.problem is not None]
        return rows + [Listed("", str(b.folder), b.scope, (), b.problem) for b in broken]

    def project(self, cwd: str) -> Project | None:
        """The project of a working folder when it has extensions; its code is not touched."""
        folder = project_of(cwd)
        if folder is None:
            return None
        try:
            names = sorted(entry.name for entry in (folder / PROJECT_FOLDER).iterdir())
        except OSError:
            names = []
        visible = tuple(name for name in names if not name.startswith("."))
        return Project(folder, self.trust.is_trusted(folder), visible)

    def reload(self) -> None:
        """Unload everything; it is loaded again, from the files as they are, when needed."""
        with self._lock:
            loaded = [*self._projects.values(), *([self._user] if self._user else [])]
            self._projects, self._user = {}, None
            for folder in loaded:
                folder.unload()

    def trust_project(self, folder: Path) -> Path:
        """Trust a project's folder and return its real path. Raises TrustError."""
        return self.trust.trust(folder)

    def untrust_project(self, folder: Path) -> bool:
        """Trust a folder no more and unload what came from it; whether it was trusted.

        Raises TrustError.
        """
        was = self.trust.untrust(folder)
        with self._lock:
            self._drop_untrusted()
        return was

    def close(self) -> None:
        """Unload everything, at the end of the program."""
        self.reload()


_EXAMPLES_FOLDER = "extensions"


class Example(Struct, frozen=True):
    """An example extension."""

    name: str
    about: str
    """What it does, in a sentence."""
    source: str


class ExampleError(Exception):
    """An example cannot be installed; says why."""


def examples() -> list[Example]:
    """The examples, by name."""
    found = []
    for entry in sorted(paths.resource(_EXAMPLES_FOLDER).iterdir(), key=lambda one: one.name):
        if entry.name.endswith(".py") and not entry.name.startswith("_"):
            source = entry.read_text(encoding="utf-8")
            about = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
            name = entry.name.removesuffix(".py")
            found.append(Example(name, " ".join(about.split()), source))
    return found


def install_example(name: str, folder: Path) -> Path:
    """Copy an example into a folder of extensions; returns the file.

    Raises ExampleError when there is no such example, or another file has its name.
    """
    known = {example.name: example for example in examples()}
    if name not in known:
        raise ExampleError(f"there is no example {name!r}; there are: {', '.join(known)}")
    file = folder / f"{name}.py"
    try:
        paths.ensure(folder)
        with private_files.create(file) as out:
            out.write(known[name].source.encode())
    except FileExistsError as error:
        raise ExampleError(f"{file} is there already; it was left as it is") from error
    except OSError as error:
        raise ExampleError(f"{error.filename or file}: {error.strerror or error}") from error
    return file
