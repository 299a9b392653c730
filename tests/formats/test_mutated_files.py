"""Session files of other agents that were damaged or come from next month's version: never a
traceback, and no line is dropped without a word."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from explorer.formats.adapter import FormatError
from tests.formats.agents.reading import Reading
from tests.formats.test_agents import AGENTS, SESSIONS

ROUNDS = int(os.environ.get("EXPLORER_MUTATED_FILES", "40"))
"""Mutated files per session file."""
LONGEST = 200_000
"""Bytes of the files that are mutated."""
FILES = [
    one
    for agent in AGENTS
    for one in sorted((SESSIONS / agent).rglob("*"))
    if one.suffix in (".jsonl", ".json", ".md") and 0 < one.stat().st_size <= LONGEST
]


def renamed(value: Any, random: Random) -> Any:
    """One field dropped, renamed, or put one level deeper, somewhere in a value."""
    place = value
    while isinstance(place, dict | list) and place:
        key: Any = (
            random.choice(list(place))
            if isinstance(place, dict)
            else (random.randrange(len(place)))
        )
        if isinstance(place, list) or (
            isinstance(place[key], dict | list) and random.random() < 0.6
        ):
            place = place[key]
            continue
        match random.randrange(6):
            case 0:
                del place[key]
            case 1:
                place[f"{key}V2"] = place.pop(key)
            case 2:
                place[key] = {"value": place[key]}
            case 3:
                place[key] = [place[key]]
            case 4:
                place[key] = None
            case 5:
                place[key] = random.choice((7, "next month's word", True, 1e300, {}, []))
        break
    return value


def mutated(data: bytes, random: Random, whole: bool) -> bytes:
    """The file with a few changes; see ``renamed``, and halved, doubled and foreign lines.
    ``whole``: it is one JSON value."""
    if whole and random.random() < 0.9:
        value = json.loads(data)
        for _ in range(random.randint(1, 4)):
            renamed(value, random)
        return json.dumps(value).encode()
    lines = data.split(b"\n")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(lines))
        line = lines[at]
        match random.randrange(8):
            case 0:
                lines[at] = line[: len(line) // 2]
            case 1:
                lines.insert(at, line)
            case 2:
                lines.insert(at, b'{"type":"of next month","payload":{"deep":[[[1]]]}}')
            case 3:
                lines[at] = line.replace(b'"type":"', b'"type":"new_', 1)
            case _:
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                lines[at] = json.dumps(renamed(value, random)).encode()
    cut = random.choice((0, 0, 0, random.randrange(1, 40)))
    return b"\n".join(lines)[: -cut or None]


@pytest.mark.skipif(not FILES, reason=f"no session files of other agents in {SESSIONS}")
@pytest.mark.parametrize(
    "file", FILES, ids=lambda one: one.relative_to(SESSIONS).as_posix()
)  # fmt: skip
def test_a_mutated_file_opens_as_far_as_it_goes(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    # Beside the copy lies what lay beside the original: some formats are several files.
    folder = tmp_path / file.parent.name
    folder.mkdir()
    for other in file.parent.iterdir():
        if other.is_file() and other != file:
            (folder / other.name).write_bytes(other.read_bytes())
    copy = folder / file.name
    for seed in range(ROUNDS):
        random = Random(f"{file.name} {seed}")
        changed = mutated(data, random, file.suffix == ".json")
        if not changed.strip():
            continue
        copy.write_bytes(changed)
        try:
            reading = Reading(copy)
        except FormatError:
            continue
        assert all(one is not None for one in reading.entries)
        assert len(reading.tree) == len(reading.records)
        if file.suffix == ".jsonl":
            kept = reading.lines()
            there = Counter(
                one.decode("utf-8", "surrogateescape")
                for one in changed.split(b"\n")
                if one.strip()
            )
            assert not there - kept, f"seed {seed}: lines were dropped"
