"""Importing the files of a folder as modules, without writing anything beside them.

Every folder is imported as a package of its own name, so that two extensions called alike do not
meet, a reload starts from nothing, and files beginning with ``_`` can be shared by the others:
``from . import _shared``. Python's own loader would write compiled files into the folder, and
read those that it finds there; this one does neither.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

PREFIX = "session_explorer_extensions"
_numbers = count(1)
_lock = threading.Lock()
_folders: dict[str, ExtensionFolder] = {}


class _Loader(SourceFileLoader):
    """Compiles the source at every import; ``print`` goes to the extension's log."""

    def __init__(self, name: str, path: str, say: Callable[[str], None]) -> None:
        super().__init__(name, path)
        self._say = say

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
                self._say((" " if sep is None else sep).join(map(str, words)))

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

    ``inside``: a folder, links resolved, that no imported file may lead out of.
    """

    def __init__(self, folder: Path, inside: Path | None) -> None:
        self.folder = folder
        self._inside = inside
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
        if self._inside is not None:
            real = file.resolve()
            if self._inside not in real.parents:
                raise OutsideError(f"{file} leads to {real}, outside of {self._inside}")

    def spec(self, fullname: str, file: Path) -> ModuleSpec:
        """How a module is loaded from a file."""
        own = fullname.removeprefix(f"{self.package}.").partition(".")[0]
        loader = _Loader(fullname, str(file), self.say.get(own, _nowhere))
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


def _nowhere(_line: str) -> None:
    """A shared file's words belong to no extension's log."""
