"""What is loaded: the user's extensions and those of trusted projects; and the examples.

Extensions are code, and a project's folder can come from anywhere: from it nothing is loaded before
the user has allowed it for that folder. What is remembered is the real path, with symbolic links
resolved, in one small file. Trust is of a folder alone, not of what lies above or below it.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
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
from explorer.extensions.hooks import TIME_LIMIT_S
from explorer.extensions.runner import HookRunner
from explorer.settings import paths

TRUST_NAME = "trusted-projects.json"
PROJECT_FOLDER = Path(".session-explorer") / "extensions"
"""Where a project keeps its extensions."""


class TrustError(Exception):
    """A folder cannot be trusted, or the trust cannot be remembered; says which and why."""


def real_folder(folder: Path) -> Path:
    """The folder with symbolic links resolved. Raises TrustError when there is no such folder."""
    try:
        real = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TrustError(f"{folder}: {reason}") from error
    if not real.is_dir():
        raise TrustError(f"{real} is not a folder")
    return real


def project_of(cwd: str) -> Path | None:
    """The project that a session's working folder belongs to: the nearest folder upwards that has
    extensions, as a real path; None when there is none here.

    The folder is only looked at, nothing in it is run.
    """
    if not cwd or not Path(cwd).is_absolute():
        return None
    try:
        start = real_folder(Path(cwd))
        return next((up for up in (start, *start.parents) if (up / PROJECT_FOLDER).is_dir()), None)
    except (TrustError, OSError):
        return None


class TrustStore:
    """The folders that are trusted. Other windows and commands see a change at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or paths.config_dir() / TRUST_NAME
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._folders: frozenset[str] = frozenset()
        self.problem = ""
        """Why the file cannot be used, as a sentence; then nothing is trusted."""

    @property
    def path(self) -> Path:
        return self._path

    def folders(self) -> list[str]:
        """The trusted folders, sorted."""
        with self._lock:
            return sorted(self._read())

    def is_trusted(self, folder: Path) -> bool:
        """Whether this very folder, links resolved, is trusted."""
        try:
            real = real_folder(folder)
        except TrustError:
            return False
        with self._lock:
            return str(real) in self._read()

    def trust(self, folder: Path) -> Path:
        """Remember a folder and return its real path. Raises TrustError."""
        real = real_folder(folder)
        with self._lock:
            self._write(self._read() | {str(real)})
        return real

    def untrust(self, folder: Path) -> bool:
        """Forget a folder, which need not exist any more; returns whether it was trusted.

        Raises TrustError when that cannot be remembered.
        """
        names = {str(folder), str(folder.expanduser().absolute())}
        try:
            names.add(str(real_folder(folder)))
        except TrustError:
            names.add(os.path.realpath(folder.expanduser()))
        with self._lock:
            known = self._read()
            if not known & names:
                return False
            self._write(known - names)
        return True

    def _read(self) -> frozenset[str]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._seen, self._folders, self.problem = None, frozenset(), ""
            return self._folders
        except OSError as error:
            self._folders, self.problem = frozenset(), f"{self._path}: {error.strerror or error}"
            return self._folders
        state = (status.st_mtime_ns, status.st_size)
        if state != self._seen:
            self._folders, self.problem = self._load()
            self._seen = state
        return self._folders

    def _load(self) -> tuple[frozenset[str], str]:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            return frozenset(), f"{self._path}, line {error.lineno}: {error.msg}"
        except (OSError, UnicodeDecodeError, RecursionError) as error:
            return frozenset(), f"{self._path}: {error}"
        folders = data.get("folders") if isinstance(data, dict) else None
        if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
            return frozenset(), f"{self._path}: expected an object with a list of folders"
        return frozenset(folders), ""

    def _write(self, folders: frozenset[str]) -> None:
        """Write the file whole, or leave it as it is."""
        text = json.dumps({"version": 1, "folders": sorted(folders)}, indent=2, ensure_ascii=False)
        try:
            paths.ensure(self._path.parent)
            if self.problem and self._path.exists():
                # What a person may want to mend is kept beside the new file.
                os.replace(self._path, self._path.with_suffix(".damaged.json"))
            private_files.write(self._path, f"{text}\n".encode())
        except (OSError, UnicodeError) as error:
            raise TrustError(f"{self._path}: {error}") from error
        self._seen, self._folders, self.problem = None, folders, ""


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
