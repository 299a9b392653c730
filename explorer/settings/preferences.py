"""What the window remembers automatically between two starts: one small JSON file, written whole.

What a person sets by hand is in `explorer.settings`. The window reads this before its first paint:
a dataclass costs that nothing, where importing msgspec would cost a tenth.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from explorer import private_files
from explorer.settings import paths


@dataclass
class Preferences:
    """What is remembered between two starts. Unknown keys of a newer version are kept."""

    theme: str = "system"
    """``system``, ``light`` or ``dark``."""
    scale: int = 100
    """Size of text and controls, in per cent, 100 to 200."""
    less_motion: bool = False
    """No motion, whatever the system says."""
    profile: str = "explorer"
    summary_model: str = ""
    """Empty: the model of the conversation summarizes it."""
    agent_model: str = "offline/demo"
    last_session: int = 0
    workspace: str = ""
    """Folder that the agent may look into; empty: none chosen."""
    import_folder: str = ""
    """Where sessions were last imported from; empty: nowhere yet."""
    geometry: str = ""
    """Window geometry and layout, as Qt wrote them, in base64."""
    layout: dict[str, str] = field(default_factory=dict)
    inspector_tab: str = "entry"
    sessions_seen_ms: float = 0.0
    """Until when sessions were looked for: those that were not imported then are left alone.
    Milliseconds since 1970; 0: all are to be imported."""
    tour_seen: bool = False
    """Whether the callouts of the example were shown."""
    library_filters: dict[str, Any] = field(default_factory=dict)
    """Filters over the library that were saved, by the name that they were given."""
    lessons: dict[str, int] = field(default_factory=dict)
    """How many steps of each lesson were done, by the lesson's id."""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadedPreferences:
    values: Preferences
    problem: str = ""
    """Why the file could not be used, for the person; empty when all is well."""


def load_preferences(path: Path, older: Path | None = None) -> LoadedPreferences:
    """Read the file. What is missing or wrong takes its default, and the problem says which.

    ``older``: where version 0.1.0 kept them; they are moved to ``path`` from there.
    """
    if older is not None and not path.exists() and _is_preferences(older):
        try:
            os.replace(older, path)
        except OSError as error:
            return LoadedPreferences(Preferences(), f"{older}: {error}")
    if not path.exists():
        return LoadedPreferences(Preferences())
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        return LoadedPreferences(Preferences(), f"{path}, line {error.lineno}: {error.msg}")
    except (OSError, UnicodeDecodeError) as error:
        return LoadedPreferences(Preferences(), f"{path}: {error}")
    if not isinstance(data, dict):
        return LoadedPreferences(Preferences(), f"{path}: expected an object of settings")
    values = Preferences()
    wrong: list[str] = []
    known = {one.name for one in fields(Preferences)}
    for key, value in data.items():
        if key not in known:
            values.extra[key] = value
        elif type(value) is type(getattr(values, key)) and _in_range(key, value):
            setattr(values, key, value)
        else:
            wrong.append(key)
    problem = f"{path}: not usable, default taken: {', '.join(wrong)}" if wrong else ""
    return LoadedPreferences(values, problem)


def _is_preferences(path: Path) -> bool:
    """Whether the program wrote the file: no person writes ``geometry`` and ``layout``."""
    if not path.is_file():
        return False
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and {"geometry", "layout"} <= data.keys()


def _in_range(key: str, value: Any) -> bool:
    if key == "scale":
        return isinstance(value, int) and 100 <= value <= 200
    return key != "theme" or value in ("system", "light", "dark")


def save_preferences(path: Path, values: Preferences) -> None:
    """Write the file through a temporary one, so that a crash leaves the old or the new.

    Raises OSError when the folder cannot be written.
    """
    data = asdict(values)
    data = {**data.pop("extra"), **data}
    paths.ensure(path.parent)
    private_files.write(path, json.dumps(data, indent=2, ensure_ascii=False).encode())
