"""Data that comes with the program: icons, sample sessions, lessons."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """A bundled file by its name below this package: ``samples/retry-that-flakes.jsonl``.

    Raises FileNotFoundError when there is none, or when the program runs from an archive, where
    a file has no path of its own.
    """
    found = files(__name__).joinpath(*name.split("/"))
    if not (isinstance(found, Path) and found.is_file()):
        raise FileNotFoundError(f"resources/{name} is not a file of this installation")
    return found
