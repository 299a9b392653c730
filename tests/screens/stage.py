"""What a picture is taken of: a home with a database and settings, and a server that answers."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from explorer.models.client import ModelClient
from explorer.settings.paths import HOME_VARIABLE, database_path, ensure, preferences_path
from explorer.store import Store
from explorer.workbench import Workbench
from tests.generated import write_session
from tests.models.server import ChatServer
from tests.ui.conversation.view.talks import rich
from tests.ui.window.running import RunningWindow, sample_path
from ui import theme

LARGE = 100_000
MODEL = "openai/gpt-4o-mini"
"""What the server on this machine is asked for, when an answer must come slowly."""

Story = Callable[["Scene"], AsyncIterator[None]]


@dataclass
class Scene:
    """A window in its first state, for a story to bring into another one."""

    live: RunningWindow
    home: Path
    server: ChatServer


@dataclass(frozen=True)
class Job:
    """One picture: the state, and how the window looks in it."""

    name: str
    story: Story
    base: str
    theme: str = "light"
    size: tuple[int, int] = (1440, 900)
    scale: int = 100
    preferences: dict[str, Any] = field(default_factory=dict)


class Homes:
    """Databases made once and copied for every picture, so that none shows another's traces."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: dict[str, Path] = {}
        self._count = 0

    def of(self, job: Job) -> Path:
        """A home for one picture; becomes the program's home."""
        base = self._base(job.base)
        home = base
        if job.base != "large":
            self._count += 1
            home = self._root / f"home-{self._count}"
            shutil.copytree(base, home)
        os.environ[HOME_VARIABLE] = str(home)
        ensure(preferences_path().parent)
        values = {"theme": job.theme, "scale": job.scale, **job.preferences}
        if job.base != "empty":
            values["last_session"] = 1
        preferences_path().write_text(json.dumps(values), encoding="utf-8")
        return home

    def _base(self, name: str) -> Path:
        if name not in self._made:
            home = self._root / f"base-{name}"
            home.mkdir()
            os.environ[HOME_VARIABLE] = str(home)
            _fill(name, self._root)
            self._made[name] = home
        return self._made[name]


def _fill(name: str, folder: Path) -> None:
    files = {
        "empty": [],
        "sample": [sample_path()],
        "several": [sample_path(), folder / "queue.jsonl", folder / "other.jsonl"],
        "large": [folder / "large.jsonl"],
        "talk": [folder / "talk.jsonl"],
    }[name]
    if name == "several":
        write_session(folder / "queue.jsonl", 700, seed=3)
        write_session(folder / "other.jsonl", 90, seed=4, branches=False)
    if name == "talk":
        rich().write(folder / "talk.jsonl")
    if name == "large":
        write_session(folder / "large.jsonl", LARGE)
    ensure(database_path().parent)
    store = Store.open(database_path())
    client = ModelClient()
    try:
        bench = Workbench(store, client)
        for file in files:
            bench.import_blocking(file)
    finally:
        client.close()
        store.close()


def picture(live: RunningWindow) -> QPixmap:
    """The window with its dialogs and menus where they are over it."""
    window = live.window
    shot = window.grab()
    origin = window.mapToGlobal(QPoint(0, 0))
    painter = QPainter(shot)
    painter.setPen(theme.theme().dim)
    for widget in QApplication.topLevelWidgets():
        if widget is window or not widget.isVisible() or widget.window() is not widget:
            continue
        over = widget.grab()
        at = widget.mapToGlobal(QPoint(0, 0)) - origin
        at.setX(max(0, min(at.x(), window.width() - widget.width())))
        at.setY(max(0, min(at.y(), window.height() - widget.height())))
        painter.drawPixmap(at, over)
        painter.drawRect(at.x() - 1, at.y() - 1, widget.width() + 1, widget.height() + 1)
    painter.end()
    return shot
