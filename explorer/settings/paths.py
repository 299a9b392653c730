"""Where the program keeps its files, and where it finds the ones it came with.

The two directories follow the system's conventions (platformdirs). The environment variable
`SESSION_EXPLORER_HOME` puts both under one directory instead: for a portable
installation, for trying things out, and for tests.

Nothing here creates a file. Directories are created by `ensure`, when something is written.
"""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import platformdirs

from explorer.private_files import sync_folder

APP_NAME = "session-explorer"
HOME_VARIABLE = "SESSION_EXPLORER_HOME"
DATABASE_NAME = "sessions.db"
SETTINGS_NAME = "settings.json"
PREFERENCES_NAME = "preferences.json"
MODELS_NAME = "models.json"


def home_override() -> Path | None:
    """The directory that `SESSION_EXPLORER_HOME` names, absolute; None when unset or empty."""
    value = os.environ.get(HOME_VARIABLE, "")
    return Path(value).expanduser().absolute() if value else None


def data_dir() -> Path:
    """What must not be lost: the session database and its attachments."""
    home = home_override()
    return home / "data" if home else platformdirs.user_data_path(APP_NAME, appauthor=False)


def config_dir() -> Path:
    """What the person chose: settings, the user's prompts, profiles and extensions."""
    home = home_override()
    return home / "config" if home else platformdirs.user_config_path(APP_NAME, appauthor=False)


def database_path() -> Path:
    """The session database, in `data_dir`."""
    return data_dir() / DATABASE_NAME


def settings_path() -> Path:
    """The user's settings file, in `config_dir`; people write it by hand."""
    return config_dir() / SETTINGS_NAME


def preferences_path() -> Path:
    """What the window remembers between two starts, in `config_dir`; the program writes it."""
    return config_dir() / PREFERENCES_NAME


def models_path() -> Path:
    """The user's servers and figures of models, in `config_dir`; the program writes it."""
    return config_dir() / MODELS_NAME


def ensure(directory: Path) -> Path:
    """Creates `directory` with its parents, all readable by their owner alone, and returns it.

    Sessions hold source code and whatever a command printed, so others on the machine have no
    business there. A directory that exists keeps its permissions. A power cut does not take away
    one that was created.

    Raises OSError naming the directory when it cannot be created.
    """
    if not directory.is_dir():
        # `mkdir(parents=True)` makes parents with the umask's mode.
        ensure(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)
        sync_folder(directory.parent)
    return directory


def resource(*parts: str) -> Traversable:
    """A file or directory that came with the program: `resource("samples", "first.jsonl")`.

    Raises FileNotFoundError naming it when it is not there.
    """
    return _packaged("resources", parts)


def prompt(name: str) -> Traversable:
    """The prompt template `name`, with or without its `.md`.

    Raises FileNotFoundError naming it when there is none.
    """
    return _packaged("prompts", (name if name.endswith(".md") else f"{name}.md",))


def resource_path(*parts: str) -> Path:
    """The same as `resource`, as a path on disk, for what needs a real file (Qt, sqlite3).

    Raises FileNotFoundError when it is not there, or when the program runs from an archive.
    """
    path = resource(*parts)
    if not isinstance(path, Path):
        raise FileNotFoundError(
            f"{'/'.join(parts)} is inside an archive; install the program unpacked to use it"
        )
    return path


def _packaged(package: str, parts: tuple[str, ...]) -> Traversable:
    """`parts` below the top-level package `package`; see `resource` for the errors."""
    path = files(package)
    for part in parts:
        path = path / part
    if not (path.is_file() or path.is_dir()):
        raise FileNotFoundError(
            f"{package}/{'/'.join(parts)} is missing from this installation; install it again"
        )
    return path
