"""Kills at any moment, a disk that is full for a while, and the power cut after it.

A process appends, imports, compacts, lets the agent work, or opens a database that is older or not
there yet, and is killed after a random time or in place of a random operation on the disk. Then
everything that it acknowledged is there, no half of anything passes for whole, and the next start
goes on: in the folder as it is, and in what a power cut at that moment would have left of it.
"""

from __future__ import annotations

import atexit
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from explorer.formats.pi.export import dumps
from explorer.formats.registry import open_source
from explorer.models.client import ModelClient
from explorer.session.entries import CompactionSummary
from explorer.settings import paths
from explorer.store import Store, StoreError
from explorer.workbench import Workbench
from tests.attacks.attack import Attack
from tests.faults.power import Power, build, why_not
from tests.faults.programs import ROOT
from tests.store.sources import HEADER, FileSource, chain, message, write_file
from tests.store.test_migrations import make_version_1
from tests.store.test_version_2 import WRITTEN

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
PROMPTS = (
    "List the files.",
    "read notes.txt",
    "create a.txt with `hi`, then read a.txt",
    "replace `alpha` by `omega` in notes.txt",
)
LIMIT_S = 20.0
"""For a victim that nobody kills."""


@dataclass(slots=True)
class Scene:
    """What is killed, and what has to be so afterwards."""

    deed: str
    arguments: list[Any]
    seconds: float
    """About how long it takes."""
    operations: int
    """About how many operations on the disk it makes."""
    file: Path | None = None
    """A session file that is imported."""
    entries: int = 0
    """How many entries that has."""
    version: int = 0
    """The layout of an older database."""
    continues: bool = False
    """Whether an agent worked, that goes on afterwards."""
    before: dict[int, list[str]] = field(default_factory=dict)
    """The ids in every session, before."""


def _fill(database: Path, *files: Path) -> None:
    with Store.open(database) as store:
        for file in files:
            store.import_session(open_source(file))


@cache
def _sample() -> bytes:
    """A database that holds the sample session."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "sessions.db"
        _fill(database, SAMPLE)
        return database.read_bytes()


def _append(chance: Random, work: Path, database: Path) -> Scene:
    database.write_bytes(_sample())
    return Scene("append", [str(database), 1, f"n{chance.random()}"], 0.8, 1200)


def _import(chance: Random, work: Path, database: Path) -> Scene:
    database.write_bytes(_sample())
    count = chance.randint(1, 3000)
    file = write_file(work / "a.jsonl", chain(count))
    arguments = [str(database), str(file), chance.choice((50, 300, 1000))]
    return Scene("import", arguments, 0.6, 600, file, count)


def _import_again(chance: Random, work: Path, database: Path) -> Scene:
    first = chance.randint(1, 300)
    file = write_file(work / "a.jsonl", chain(first))
    with Store.open(database) as store:
        store.import_session(FileSource(file))
    count = first + chance.randint(1, 1000)
    write_file(file, chain(count), HEADER)
    arguments = [str(database), str(file), chance.choice((50, 300))]
    return Scene("import", arguments, 0.4, 500, file, count)


def _compact(chance: Random, work: Path, database: Path) -> Scene:
    database.write_bytes(_sample())
    words = ["compact", "1", "--model", "offline/extractive", "--database", str(database)]
    words += ["--keep-recent", str(chance.choice((500, 4000, 12_000)))]
    return Scene("command", words, 1.0, 60)


def _work(chance: Random, work: Path, database: Path) -> Scene:
    database.write_bytes(_sample())
    (work / "notes.txt").write_text("alpha\nbeta\n")
    words = ["run", chance.choice(PROMPTS), "--workspace", str(work), "--yes", "--events"]
    words += ["--database", str(database)]
    if chance.random() < 0.5:
        words += ["--session", "1"]
    return Scene("command", words, 1.0, 100, continues=True)


def _bring_up_to_date(chance: Random, work: Path, database: Path) -> Scene:
    version = chance.choice((1, 2))
    if version == 1:
        make_version_1(database)
    else:
        database.write_bytes(gzip.decompress(WRITTEN.read_bytes()))
    return Scene("open", [str(database)], 0.15, 120, version=version)


def _make(chance: Random, work: Path, database: Path) -> Scene:
    return Scene("open", [str(database)], 0.15, 150)


SCENES: tuple[Callable[[Random, Path, Path], Scene], ...] = (
    _append, _append, _import, _import_again, _compact, _work, _work, _bring_up_to_date, _make,
)  # fmt: skip


class Victims:
    """The process that victims are forked from."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="victims-")
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        if not why_not():
            environment["LD_PRELOAD"] = str(build(Path(self._folder.name)))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.attacks.victims"],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        atexit.register(self.end)

    def run(self, deed: str, arguments: list[Any], output: Path, **more: Any) -> int:
        """Let one live its life; its wait status."""
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {"deed": deed, "arguments": arguments, "output": str(output)} | more
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


_victims = cache(Victims)


def _moment(chance: Random, scene: Scene) -> tuple[float, dict[str, str]]:
    """When it dies: after how long, or in place of what."""
    at = int(scene.operations ** chance.random())
    how = chance.choice(("time", "operation", "full") if not why_not() else ("time",))
    if how == "time":
        return chance.random() * scene.seconds, {}
    if how == "operation":
        return LIMIT_S, {"POWER_DIES": str(at)}
    full = {"POWER_FULL": f"{at}-{at + int(200 ** chance.random())}"}
    return chance.choice((LIMIT_S, scene.seconds)), full


def _round(chance: Random, folder: Path) -> Iterator[str]:
    if not hasattr(os, "fork"):
        return
    data, work = folder / "data", folder / "work"
    data.mkdir()
    work.mkdir()
    database = data / "sessions.db"
    scene = chance.choice(SCENES)(chance, work, database)
    scene.before = _ids(database)
    after_s, environment = _moment(chance, scene)
    power = Power(data, folder / "power")
    power.keep()
    environment |= power.environment | {"SESSION_EXPLORER_HOME": str(folder / "home")}
    output = work / "output"
    status = _victims().run(
        scene.deed, scene.arguments, output, environment=environment, after_s=after_s
    )
    what = f"{scene.deed} {scene.arguments}, {after_s:.3f} s, {environment.get('POWER_DIES')}"
    what += f", {environment.get('POWER_FULL')}: "
    # A last line without an end was cut by the kill.
    lines = output.read_text().split("\n")[:-1] if output.exists() else []
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) and "POWER_FULL" not in environment:
        yield f"{what}ended by itself: {_errors(output)}"
    if not why_not():
        after = power.cut(folder / "after") / "sessions.db"
        yield from (f"{what}after a power cut {found}" for found in _broken(after, scene, lines))
    for found in _broken(database, scene, lines):
        yield f"{what}after a kill {found}"
    if scene.continues:
        yield from (f"{what}{found}" for found in _not_continued(database, scene, folder))


def _ids(database: Path) -> dict[int, list[str]]:
    if not database.exists():
        return {}
    rows = _ask(database, "SELECT id >> 32, entry_id FROM entries ORDER BY id")
    found: dict[int, list[str]] = {}
    for key, name in rows:
        found.setdefault(key, []).append(name)
    return found


def _errors(output: Path) -> str:
    return Path(f"{output}.errors").read_text(errors="replace")[-400:]


def _broken(database: Path, scene: Scene, lines: list[str]) -> Iterator[str]:
    """What is not as it was promised; the database is gone on with."""
    if not database.exists():
        if scene.before or lines:
            yield "there is no database"
        return
    for check in ("integrity_check", "foreign_key_check"):
        found = _ask(database, f"PRAGMA {check}")
        if found not in ([("ok",)], []):
            yield f"{check}: {found[:3]}"
    yield from _broken_copy(database, scene)
    try:
        with Store.open(database) as store:
            yield from _broken_sessions(store, scene, lines)
            yield from _not_gone_on(store, scene)
    except StoreError as error:
        yield f"cannot be used: {error}"


def _broken_copy(database: Path, scene: Scene) -> Iterator[str]:
    """What is wrong with the copy from before, once an older database is brought up to date."""
    if not scene.version or _ask(database, "PRAGMA user_version") == [(scene.version,)]:
        return
    copy = Path(f"{database}.version-{scene.version}")
    if not copy.exists():
        yield "there is no copy from before"
    elif _ask(copy, "PRAGMA integrity_check") != [("ok",)] or _ids(copy) != scene.before:
        yield "the copy from before is not whole"


def _ask(database: Path, question: str) -> list[Any]:
    """The rows of an answer, or the error."""
    db = sqlite3.connect(database)
    try:
        return db.execute(question).fetchall()
    except sqlite3.Error as error:
        return [str(error)]
    finally:
        db.close()


def _broken_sessions(store: Store, scene: Scene, lines: list[str]) -> Iterator[str]:
    bench = Workbench(store, ModelClient())
    shown: dict[int, list[str]] = {}
    for row in store.sessions():
        loaded = store.load(row.key)
        ids = shown[row.key] = list(loaded.tree.columns.ids)
        if len(ids) != row.entries or len(set(ids)) != len(ids):
            yield f"session {row.key} has {len(ids)} entries of {row.entries}"
        entries = list(loaded.payloads.entries(range(len(ids))))
        if [entry.id for entry in entries] != ids:
            yield f"session {row.key} has other contents than entries"
        if not -1 <= loaded.leaf < len(ids):
            yield f"session {row.key} has the leaf {loaded.leaf} of {len(ids)}"
        for entry in entries:
            body = entry.body
            if isinstance(body, CompactionSummary) and not (
                body.summary and body.first_kept_id in ids
            ):
                yield f"the compaction {entry.id} is not whole"
        if ids:
            bench.open_blocking(row.key).context()
        is_imported = scene.file is not None and row.key not in scene.before
        if is_imported and len(ids) != scene.entries:
            yield f"an import of {scene.entries} entries is shown with {len(ids)}"
    for key, ids in scene.before.items():
        if shown.get(key, [])[: len(ids)] != ids:
            yield f"session {key} has lost what it had"
    lost = list(_lost(store, scene, lines, shown))
    if lost:
        yield f"{lost[-1]} ({len(lost)} in all)"


def _lost(
    store: Store, scene: Scene, lines: list[str], shown: dict[int, list[str]]
) -> Iterator[str]:
    """What was acknowledged and is not there."""
    everything = {name for ids in shown.values() for name in ids}
    for line in lines:
        words = line.split() or [""]
        if line.startswith('{"event"'):
            event = json.loads(line)
            if event["event"] == "stored" and event["entry"] not in everything:
                yield f"the entry {event['entry']} of the agent is lost"
        elif words[0] == "stored" and words[-1] not in everything:
            yield f"the entry {words[-1]} is lost"
        elif words[0] == "imported":
            if len(shown.get(int(words[1]), [])) != scene.entries:
                yield f"the import of session {words[1]} is lost"
        elif words[0] == "setting":
            now = store.session_settings(int(words[1])).get("burst", -1)
            if now < int(words[2]):
                yield f"a setting was {words[2]} and is {now}"


def _not_gone_on(store: Store, scene: Scene) -> Iterator[str]:
    if scene.file is not None:
        report = store.import_session(FileSource(scene.file))
        if len(store.load(report.key).tree) != scene.entries:
            yield "importing again does not make it whole"
    for row in store.sessions():
        ids = store.load(row.key).tree.columns.ids
        parent = ids[-1] if ids else None
        name = f"after-{row.key}"
        future = store.append(
            row.key, [(dumps(message(0, parent, "on") | {"id": name}), parent)], name
        )
        if future.result() != [row.entries] and scene.file is None:
            yield f"session {row.key} goes on at {future.result()}, not {row.entries}"


def _not_continued(database: Path, scene: Scene, folder: Path) -> Iterator[str]:
    with Store.open(database) as store:
        keys = [row.key for row in store.sessions()]
    for key in keys:
        output = folder / "work" / f"again-{key}"
        words = ["run", "--continue", str(key), "--workspace", str(folder / "work"), "--yes"]
        words += ["--events", "--database", str(database)]
        home = {"SESSION_EXPLORER_HOME": str(folder / "home")}
        _victims().run("command", words, output, environment=home, after_s=LIMIT_S)
        lines = output.read_text().splitlines() if output.exists() else []
        if "ended 0" not in lines:
            yield f"session {key} cannot be continued: {_errors(output)}"


KILLS = Attack("kills", _round, 4)
