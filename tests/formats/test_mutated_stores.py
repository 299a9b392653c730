"""Stores of other agents that are more than one file of lines (databases, folders, documents),
damaged or of next month's version: never a traceback, and no text is dropped without a word."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from explorer.formats.adapter import FormatError
from tests.formats.agents.reading import Reading
from tests.formats.test_agents import AGENTS, SESSIONS
from tests.formats.test_mutated_files import LONGEST, ROUNDS, mutated, renamed

SHORTEST = 12
"""Characters of the texts that are looked for: shorter ones are names of kinds and numbers."""
PLACES = ("sessionID", "messageID")
"""Fields in which opencode repeats where an object is stored: the place itself counts."""
DATABASES = sorted((SESSIONS / "opencode").rglob("*.db"))
FOLDERS = sorted({
    one.parents[2] for one in (SESSIONS / "opencode").rglob("session/*/*.json")
} | {one.parent for one in (SESSIONS / "cline").rglob("*.messages.json")}
  | {one.parent for one in (SESSIONS / "roo").rglob("api_conversation_history.json")})  # fmt: skip
DOCUMENTS = [
    one
    for agent in ("vscode-copilot-chat", "gemini")
    for one in sorted((SESSIONS / agent).rglob("*.json*"))
    if agent in AGENTS and 0 < one.stat().st_size <= LONGEST
]


def texts_of(value: Any) -> Iterator[str]:
    """The longer texts in a JSON value."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in PLACES:
                yield from texts_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one)
    elif isinstance(value, str) and len(value) >= SHORTEST:
        yield value


def texts_in(line: str) -> set[str]:
    """Those of a line; a line that is no JSON is one text."""
    try:
        return set(texts_of(json.loads(line)))
    except ValueError:
        return {line} if len(line) >= SHORTEST else set()


def kept(reading: Reading) -> set[str]:
    """The texts of all that a reading keeps; what is read of it is read again."""
    assert all(one is not None for one in reading.entries)
    assert len(reading.tree) == len(reading.records)
    found: set[str] = {reading.header.title, reading.header.cwd}
    for line in reading.lines():
        found |= texts_in(line)
    return found


def ids(sets: list[Path]) -> list[str]:
    return [one.relative_to(SESSIONS).as_posix() for one in sets]


# databases ----------------------------------------------------------------------------------------


def mutate_rows(path: Path, random: Random) -> None:
    """A few rows of next month, cut, taken out, or without what they name."""
    with closing(sqlite3.connect(path)) as db:
        for _ in range(random.randint(1, 4)):
            table = random.choice(("message", "part", "session", "event"))
            with suppress(sqlite3.Error):
                _mutate_row(db, table, random)
        db.commit()


def _mutate_row(db: sqlite3.Connection, table: str, random: Random) -> None:
    rows = [row for (row,) in db.execute(f"SELECT rowid FROM {table}")]
    if not rows:
        return
    row, at = random.choice(rows), random.randrange(7)
    columns = [one[1] for one in db.execute(f"PRAGMA table_info({table})")]
    if at == 0:
        db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    elif at == 1:
        other = random.choice(columns)
        db.execute(f"UPDATE {table} SET {other} = ? WHERE rowid = ?", (b"\xff\x00", row))
    elif at == 2:
        other = random.choice(columns)
        db.execute(f"UPDATE {table} SET {other} = NULL WHERE rowid = ?", (row,))
    elif at == 3:
        db.execute(f"ALTER TABLE {table} ADD COLUMN of_next_month TEXT DEFAULT 'something new'")
    elif "data" in columns:
        (text,) = db.execute(f"SELECT data FROM {table} WHERE rowid = ?", (row,)).fetchone()
        if at == 4:
            text = text[: len(text) // 2]
        else:
            with suppress(ValueError, TypeError):
                text = json.dumps(renamed(json.loads(text), random))
        db.execute(f"UPDATE {table} SET data = ? WHERE rowid = ?", (text, row))


def rows_of(path: Path) -> dict[str, set[str]]:
    """By session: the texts of its messages and parts, of those that name their session."""
    found: dict[str, set[str]] = {}
    with closing(sqlite3.connect(path)) as db:
        sessions = {one for (one,) in db.execute("SELECT id FROM session")}
        for table in ("message", "part"):
            for session, text in db.execute(f"SELECT session_id, data FROM {table}"):
                if session in sessions and isinstance(text, str):
                    found.setdefault(session, set()).update(texts_in(text))
    return {name: texts for name, texts in found.items() if isinstance(name, str)}


@pytest.mark.skipif(not DATABASES, reason=f"no databases of other agents in {SESSIONS}")
@pytest.mark.parametrize("file", DATABASES, ids=ids(DATABASES))
def test_a_mutated_database_opens_as_far_as_it_goes(file: Path, tmp_path: Path) -> None:
    for seed in range(ROUNDS):
        for one in file.parent.glob(f"{file.name}*"):
            shutil.copyfile(one, tmp_path / one.name)
        copy = tmp_path / file.name
        mutate_rows(copy, Random(f"{file.name} {seed}"))
        for session, texts in rows_of(copy).items():
            try:
                reading = Reading(copy, session)
            except FormatError:
                continue
            lost = texts - kept(reading)
            assert not lost, f"seed {seed}, {session}: {sorted(lost)[0][:80]!r} was dropped"


# folders ------------------------------------------------------------------------------------------


def sessions_in(folder: Path) -> list[Path]:
    """The files by which the sessions of a folder are opened."""
    found = [*folder.glob("session/*/*.json"), *folder.glob("*.messages.json")]
    return sorted([*found, *folder.glob("api_conversation_history.json")])


def id_in(path: Path) -> object:
    """The id that a file records."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        return None
    return value.get("id") if isinstance(value, dict) else None


def below(folder: Path, kind: str, owners: Iterable[Path]) -> list[Path]:
    """The files of a kind that belong to the objects in others."""
    names = [name for one in owners if isinstance(name := id_in(one), str)]
    return [one for name in names for one in folder.glob(f"{kind}/{name}/*.json")]


def stored_texts(folder: Path) -> dict[Path, set[str]]:
    """By file that says what was said: its texts. What belongs to a session or message that lost
    its id is nobody's: its folder is named by that."""
    files = below(folder, "message", folder.glob("session/*/*.json"))
    files += below(folder, "part", files)
    others = [one for one in sessions_in(folder) if one.parent.parent.name != "session"]
    found = [*files, *others]
    return {one: texts_in(one.read_text("utf-8", "replace")) for one in found}


@pytest.mark.skipif(not FOLDERS, reason=f"no folders of other agents in {SESSIONS}")
@pytest.mark.parametrize("folder", FOLDERS, ids=ids(FOLDERS))
def test_a_mutated_folder_opens_as_far_as_it_goes(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    files = [one for one in sorted(copy.rglob("*.json")) if one.stat().st_size <= LONGEST]
    originals = {one: one.read_bytes() for one in files}
    for seed in range(ROUNDS):
        random = Random(f"{folder.name} {seed}")
        changed = random.sample(files, min(len(files), random.randint(1, 3)))
        for one in changed:
            one.write_bytes(mutated(originals[one], random, True))
        found: set[str] = set()
        readings = 0
        for path in sessions_in(copy):
            try:
                found |= kept(Reading(path))
            except FormatError:
                continue
            readings += 1
        if readings == len(sessions_in(copy)):
            for path, texts in stored_texts(copy).items():
                lost = texts - found
                assert not lost, f"seed {seed}, {path.name}: {sorted(lost)[0][:80]!r} was dropped"
        for one in changed:
            one.write_bytes(originals[one])


# documents ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not DOCUMENTS, reason=f"no documents of other agents in {SESSIONS}")
@pytest.mark.parametrize("file", DOCUMENTS, ids=ids(DOCUMENTS))
def test_no_text_of_a_mutated_document_or_log_is_dropped(file: Path, tmp_path: Path) -> None:
    data, copy = file.read_bytes(), tmp_path / file.name
    for seed in range(ROUNDS):
        changed = mutated(data, Random(f"{file.name} {seed}"), file.suffix == ".json")
        copy.write_bytes(changed)
        if not changed.strip():
            continue
        try:
            reading = Reading(copy)
        except FormatError:
            continue
        lines = [changed] if file.suffix == ".json" else changed.split(b"\n")
        texts: set[str] = set()
        for line in lines:
            if line.strip():
                texts |= texts_in(line.decode("utf-8", "replace"))
        lost = texts - kept(reading)
        assert not lost, f"seed {seed}: {sorted(lost)[0][:80]!r} was dropped"
