"""However a session came into the library, what is read of it there is the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.store import Store, salvage
from explorer.store.rows import SessionRow
from tests.compaction.mixed_sessions import session_of
from tests.compaction.test_asked_before import answers
from tests.store.conftest import eventually
from tests.store.sources import FileSource, write_file

WORDS = ("word", "wordword", "a name", "edit")


KEPT = tuple(
    name for name in SessionRow.__struct_fields__
    if name not in ("key", "path", "leaf", "file_ms")
)  # fmt: skip


def lines_of(seed: int) -> list[dict[str, Any]]:
    """The entries of a session in which most things meet, a minute apart."""
    session = session_of(seed, 40)
    for label in ("one", "two", ""):
        session.add({"type": "label", "targetId": "e2", "label": label})
        session.reply(3, usage=900, model="p/m")
    session.add({"type": "session_info", "name": "a name"})
    for at, entry in enumerate(session.entries):
        parent = session.tree.columns.parent[at]
        entry["parentId"] = f"e{parent}" if parent >= 0 else None
        entry["timestamp"] = f"2026-01-0{2 + at // 60}T00:{at % 60:02}:00.000Z"
    return session.entries


def read(store: Store, key: int) -> dict[str, Any]:
    """All that the library says of a session."""
    loaded = store.load(key)
    everything = range(len(loaded.tree))
    return {
        "row": {name: getattr(store.session(key), name) for name in KEPT},
        "tree": answers(loaded.tree),
        "ids": loaded.tree.columns.ids,
        "estimates": list(loaded.tree.columns.estimate),
        "previews": loaded.payloads.previews(everything),
        "entries": [one.recorded for one in loaded.payloads.entries(everything)],
        "lines": [raw for _, raw in store.lines(key)],
        "labels": [one[1:] for one in store.labels(key)],
        "found": [[replace(hit, key=0) for hit in store.search(word, key)] for word in WORDS],
        "totals": {(one.day, one.model, one.size): one.spent for one in store.totals([key])},
    }


def counted(store: Store) -> int:
    return sum(one.spent.calls + one.spent.uncounted for one in store.totals())


def at_once(store: Store, file: Path, lines: list[dict[str, Any]]) -> int:
    return store.import_session(FileSource(write_file(file, lines))).key


def in_small_batches(store: Store, file: Path, lines: list[dict[str, Any]]) -> int:
    return store.import_session(FileSource(write_file(file, lines), batch=3)).key


def as_the_file_grew(store: Store, file: Path, lines: list[dict[str, Any]]) -> int:
    for stop in (1, 2, 7, 30, len(lines)):
        key = store.import_session(FileSource(write_file(file, lines[:stop]))).key
        read(store, key)
    return key


def entry_by_entry(store: Store, file: Path, lines: list[dict[str, Any]]) -> int:
    key = store.import_session(FileSource(write_file(file, lines[:5]))).key
    for at in range(5, len(lines)):
        store.append(key, [(json.dumps(lines[at]), lines[at]["parentId"])]).result()
        if at % 20 == 0:
            read(store, key)
    return key


@pytest.mark.parametrize("way", [in_small_batches, as_the_file_grew, entry_by_entry])
@pytest.mark.parametrize("seed", [2, 3])
def test_it_does_not_matter_how_a_session_came(
    tmp_path: Path, way: Callable[[Store, Path, list[dict[str, Any]]], int], seed: int
) -> None:
    lines, found = lines_of(seed), []
    calls = sum(line.get("message", {}).get("role") == "assistant" for line in lines)
    for number, come in enumerate((at_once, way)):
        with Store.open(tmp_path / f"{number}.db") as store:
            key = come(store, tmp_path / "a.jsonl", lines)
            eventually(
                lambda: store.search_state().complete and counted(store) == calls,
                "it is indexed and summed up",
            )
            found.append(read(store, key))
    whole, other = found
    for name, said in whole.items():
        assert other[name] == said, name


@pytest.mark.parametrize("lost", ["0", "id % 3 = 1", "1"])
def test_what_is_salvaged_is_what_the_lines_say(tmp_path: Path, lost: str) -> None:
    """Also where rows that were made of the lines are gone, of some entries or of all."""
    with Store.open(tmp_path / "whole.db") as store:
        key = at_once(store, tmp_path / "a.jsonl", lines_of(4))
        store.set_leaf(key, 5).result()
        whole = read(store, key)
    db = sqlite3.connect(tmp_path / "whole.db")
    db.execute(f"DELETE FROM entries WHERE {lost}")
    db.commit()
    db.close()
    (saved,) = salvage(tmp_path / "whole.db", tmp_path / "saved.db").sessions
    assert (saved.entries, saved.lost) == (len(whole["ids"]), 0)
    with Store.open(tmp_path / "saved.db") as store:
        found = read(store, saved.key)
        assert store.session(saved.key).leaf == 5
    # Where a line stood in its file is known from its row only.
    assert sorted(found.pop("lines")) == sorted(whole.pop("lines"))
    for name in whole.keys() - {"row", "found", "totals"}:
        assert found[name] == whole[name], name
