"""A fresh folder for a scripted run: the repository that the script brings, for real tools."""

from __future__ import annotations

import json
from pathlib import Path

from explorer import paths, private_files
from explorer.models.offline.scenario import Scenario

FOLDER = "sandboxes"
_SETTINGS = (".session-explorer", "settings.json")
_WHY = (
    "// A small window, so that a short run grows too long for it. The file belongs to this\n"
    "// sandbox alone; delete the folder whenever you like.\n"
)


def make_sandbox(scenario: Scenario, below: Path | None = None) -> Path:
    """Write a scenario's files into a folder that nothing else is in, and return it.

    ``below``: where the folder is made, by default in the program's data folder. Raises OSError.
    """
    base = paths.ensure(below if below is not None else paths.data_dir() / FOLDER)
    folder = _fresh(base, scenario.name)
    for name, text in scenario.files.items():
        _write(folder.joinpath(*name.split("/")), text)
    if scenario.settings:
        settings = json.dumps(scenario.settings, indent=2)
        _write(folder.joinpath(*_SETTINGS), f"{_WHY}{settings}\n")
    return folder.resolve()


def _fresh(base: Path, name: str) -> Path:
    """A new folder: the name, or the name with the next number."""
    number = 1
    while True:
        folder = base / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
            continue
        return folder


def _write(path: Path, text: str) -> None:
    paths.ensure(path.parent)
    # Line ends as they are in the script on every system: edits name them exactly.
    private_files.write(path, text.encode())
