"""The project folders whose extensions the user trusts.

Extensions are code, and a project's folder can come from anywhere: from it nothing is loaded
before the user has allowed it for that folder. What is remembered is the real path, with symbolic
links resolved, in one small file. Trust is of a folder alone, not of what lies above or below it.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from explorer import private_files
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
