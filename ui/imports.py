"""Importing the window's modules while it is shown.

Qt's binding makes a type when it is first named, and one that another thread makes while the
window's converts a value ends the program (measured: one start in fifty, where threads change
often). So the window's thread makes all types, and imports all that knows Qt.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets

_ROOT = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r"^from ((?:ui|explorer)[\w.]*) import ([^(\n]*)", re.MULTILINE)
_SLICE_S = 0.004
"""How long such work goes on before the window answers again."""


async def run_in_slices(steps: Iterable[object]) -> None:
    """Take one step after the other; the window answers in between."""
    until = perf_counter() + _SLICE_S
    for _ in steps:
        if perf_counter() > until:
            await asyncio.sleep(0)
            until = perf_counter() + _SLICE_S


def make_types() -> Iterator[object]:
    """Make every type of the parts of Qt that are used here, one per step."""
    for module in (QtCore, QtGui, QtSvg, QtWidgets):
        for name in dir(module):
            yield getattr(module, name)


async def import_window_module(name: str) -> Any:
    """Import a module of the window: before it what it needs, one module after the other, and
    first of all, in a thread, what knows no Qt."""
    if name in sys.modules:
        return sys.modules[name]
    ours, others = await asyncio.to_thread(find_needed_modules, name)
    await asyncio.to_thread(lambda: [import_module(one) for one in others])
    await run_in_slices(import_module(one) for one in ours)
    return import_module(name)


def find_needed_modules(name: str) -> tuple[list[str], list[str]]:
    """What a module of ``ui`` needs and is not imported yet, by what stands in the files: modules
    of ``ui``, each behind those that it needs, and what they need of ``explorer``. Both empty
    where there are no files to read, as in a program in one file."""
    ours: list[str] = []
    others: dict[str, None] = {}
    seen: set[str] = set()

    def look(module: str) -> None:
        if module in seen or module in sys.modules:
            return
        seen.add(module)
        if module.partition(".")[0] != "ui":
            others[module] = None
            return
        file = _file_of(module)
        if file is None:
            return
        look(module.rpartition(".")[0] or module)
        for found, names in _IMPORT.findall(file.read_text("utf-8")):
            look(found)
            for one in re.findall(r"\w+", names):
                if _file_of(f"{found}.{one}"):
                    look(f"{found}.{one}")
        ours.append(module)

    look(name)
    return ours, list(others)


def _file_of(module: str) -> Path | None:
    path = _ROOT / module.replace(".", "/")
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)
