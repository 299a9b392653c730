"""Importing the extensions of a folder, each separately, and where one failed: file, line, reason.

Every folder is imported as a separate package name, so that two extensions called alike do not
meet, a reload starts from nothing, and files beginning with ``_`` can be shared by the others:
``from . import _shared``. Python's own loader would write compiled files into the folder, and
read those that it finds there; this one does neither.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.util
import json
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal

from msgspec import Struct, field

from explorer.extensions.hooks import HandlerCall, Hooks, Registered

_LONGEST_REASON = 500
"""Characters of a reason that are reported."""


class ExtensionProblem(Struct, frozen=True):
    """Why an extension is not loaded or a handler failed."""

    file: str
    line: int
    """0 where no line is known."""
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: {self.reason}"


def problem_of(error: BaseException, root: Path) -> ExtensionProblem:
    """The problem that an error of an extension is. ``root``: its file, or its package's folder.

    The line is the innermost one in the extension's files.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return ExtensionProblem(
            error.filename, error.lineno or 0, f"{type(error).__name__}: {error.msg}"
        )
    frames = traceback.extract_tb(error.__traceback__)
    own_frames = [f for f in frames if Path(f.filename) == root or root in Path(f.filename).parents]
    if not own_frames:
        return ExtensionProblem(str(root), 0, error_text(error))
    return ExtensionProblem(own_frames[-1].filename, own_frames[-1].lineno or 0, error_text(error))


def error_text(error: BaseException) -> str:
    """An error in one line, whatever it is."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 -- an extension's error may fail to convert to text
        words = ""
    kind = type(error).__name__
    if isinstance(error, SystemExit):
        return "SystemExit: it tried to end the program"
    return f"{kind}: {words}"[:_LONGEST_REASON] if words else kind


PREFIX = "session_explorer_extensions"
_numbers = count(1)
_lock = threading.Lock()
_folders: dict[str, ExtensionFolder] = {}


class _Loader(SourceFileLoader):
    """Compiles the source at every import; ``print`` goes to the extension's log."""

    def __init__(self, name: str, path: str, say: Callable[[str], None]) -> None:
        super().__init__(name, path)
        self._log = say

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        def to_log(
            *words: object, sep: str | None = " ", end: str | None = "\n", **to: Any
        ) -> None:
            if to.get("file") is not None:
                builtins.print(*words, sep=sep, end=end, **to)
            else:
                self._log((" " if sep is None else sep).join(map(str, words)))

        # Standard output belongs to the command that runs, which may be printing JSON.
        module.__dict__["print"] = to_log
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of extension folders, and those only."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        head, _, rest = fullname.partition(".")
        number, _, _inner = rest.partition(".")
        folder = _folders.get(f"{head}.{number}") if head == PREFIX else None
        if folder is None or path is None:
            return None
        name = fullname.rpartition(".")[2]
        for place in path:
            for file in (Path(place) / name / "__init__.py", Path(place) / f"{name}.py"):
                if file.is_file():
                    folder.check(file)
                    return folder.spec(fullname, file)
        return None


class OutsideError(ImportError):
    """A file leads out of the folder that was trusted."""


class ExtensionFolder:
    """One folder as a package; ``close`` forgets all that was imported from it.

    ``boundary``: a folder, links resolved, that no imported file may lead out of.
    """

    def __init__(self, folder: Path, boundary: Path | None) -> None:
        self.folder = folder
        self._boundary = boundary
        self.say: dict[str, Callable[[str], None]] = {}
        """Where each extension's ``print`` goes, by its name."""
        with _lock:
            if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
                # Before the one of Python, which would find the files as well.
                sys.meta_path.insert(0, _Finder())
            top = sys.modules.setdefault(PREFIX, ModuleType(PREFIX))
            top.__path__ = []
            self.package = f"{PREFIX}.f{next(_numbers)}"
            module = ModuleType(self.package)
            module.__path__ = [str(folder)]
            sys.modules[self.package] = module
            _folders[self.package] = self

    def check(self, file: Path) -> None:
        """Raise OutsideError when a file, links resolved, lies outside."""
        if self._boundary is not None:
            real = file.resolve()
            if self._boundary not in real.parents:
                raise OutsideError(f"{file} leads to {real}, outside of {self._boundary}")

    def spec(self, fullname: str, file: Path) -> ModuleSpec:
        """How a module is loaded from a file."""
        name = fullname.removeprefix(f"{self.package}.").partition(".")[0]
        loader = _Loader(fullname, str(file), self.say.get(name, _discard))
        package = [str(file.parent)] if file.name == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(
            fullname, file, loader=loader, submodule_search_locations=package
        )
        if spec is None:
            raise ImportError(f"{file} cannot be imported")
        spec.cached = None
        return spec

    def load(self, name: str) -> ModuleType:
        """Import an extension by its name; whatever its code raises comes through."""
        return importlib.import_module(f"{self.package}.{name}")

    def close(self) -> None:
        """Forget the modules; handlers that still run keep what they hold."""
        with _lock:
            _folders.pop(self.package, None)
            for name in [n for n in list(sys.modules) if f"{n}.".startswith(f"{self.package}.")]:
                del sys.modules[name]


def _discard(_line: str) -> None:
    """A shared file's words belong to no extension's log."""


LOAD_LIMIT_S = 30.0
Scope = Literal["user", "project"]


class Extension(Struct):
    """One extension as it was found, loaded or not."""

    name: str
    file: Path
    scope: Scope
    problem: ExtensionProblem | None = None
    hooks: Hooks | None = None
    active: bool = False
    """Whether its handlers are asked; false once it is unloaded."""
    left_behind: dict[int, HandlerCall] = field(default_factory=dict)
    """The latest call of each handler that was abandoned, by the handler's place."""
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
        return list(dict.fromkeys(handler.event for handler in self.handlers))

    @property
    def log(self) -> list[str]:
        """What it printed and logged lately."""
        return list(self.hooks.lines) if self.hooks is not None else []


class LoadedFolder:
    """The extensions of one folder."""

    def __init__(self, folder: Path, scope: Scope, boundary: Path | None = None) -> None:
        self.folder, self.scope = folder, scope
        self._boundary = boundary
        self._package: ExtensionFolder | None = None
        self.extensions: list[Extension] = []
        self.problem: ExtensionProblem | None = None
        """Why the folder could not be read."""

    def load(self, limit_s: float = LOAD_LIMIT_S) -> None:
        """Import everything in the folder. Blocks; meant for a worker thread."""
        self._package = ExtensionFolder(self.folder, self._boundary)
        try:
            files = _extension_files(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problem = ExtensionProblem(str(self.folder), 0, error.strerror or str(error))
            return
        for file in files:
            extension = Extension(_name(file), file, self.scope)
            self.extensions.append(extension)
            if any(one.name == extension.name for one in self.extensions[:-1]):
                reason = f"there is another extension called {extension.name}"
                extension.problem = ExtensionProblem(str(file), 0, reason)
            else:
                self._load(self._package, extension, limit_s)

    def _load(self, package: ExtensionFolder, extension: Extension, limit_s: float) -> None:
        try:
            package.check(extension.file)
            settings = _settings(package, extension)
        except OutsideError as outside:
            extension.problem = ExtensionProblem(str(extension.file), 0, str(outside))
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
        if isinstance(error, TimeoutError) and error.args == (_TIMED_OUT,):
            extension.problem = ExtensionProblem(
                str(extension.file), 0, f"it was not loaded within {limit_s:g} seconds"
            )
        elif isinstance(error, _NoActivate):
            extension.problem = ExtensionProblem(str(extension.file), 0, str(error))
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
                    problem = problem_of(error, extension.root)
                    extension.hooks.lines.append(f"deactivate() failed: {problem}")
        if self._package is not None:
            self._package.close()
            self._package = None


class _NoActivate(Exception):
    """The file says nothing to us."""


class _SettingsError(Exception):
    def __init__(self, problem: ExtensionProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


_TIMED_OUT = "the extension is still at it"


def run_limited(work: Callable[[], Any], limit_s: float, name: str) -> BaseException | None:
    """Run something of an extension's on a separate thread; what it raised, or TimeoutError."""
    raised: list[BaseException | None] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 -- whatever an extension raises is reported
            raised.append(error)
        else:
            raised.append(None)

    thread = threading.Thread(target=run, name=f"extension-{name}-loading", daemon=True)
    thread.start()
    thread.join(limit_s)
    return raised[0] if raised else TimeoutError(_TIMED_OUT)


def _extension_files(folder: Path) -> list[Path]:
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
        raise _SettingsError(ExtensionProblem(str(file), error.lineno, error.msg)) from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise _SettingsError(ExtensionProblem(str(file), 0, str(error))) from error
    if not isinstance(data, dict):
        raise _SettingsError(ExtensionProblem(str(file), 1, "expected an object of settings"))
    return data
