"""The examples that come along, and putting them where a person can change them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from explorer import paths, private_files

_FOLDER = "extensions"


@dataclass(frozen=True, slots=True)
class Example:
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
    for entry in sorted(paths.resource(_FOLDER).iterdir(), key=lambda one: one.name):
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
