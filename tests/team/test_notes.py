"""Notes and labels by person, seen by the others at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from threading import Thread

from explorer.store.postgres import TeamLibrary
from tests.commands.processes import called, document, start
from tests.store.sources import FileSource, chain, write_file
from tests.team.cluster import Cluster

SEEN_S = 1.0


def test_notes_and_labels_are_written_listed_and_taken_away(
    library_of: Callable[[str], TeamLibrary], cluster: Cluster, team_database: str, tmp_path: Path
) -> None:
    key = library_of("ada").take_copy(FileSource(write_file(tmp_path / "s.jsonl", chain(3)))).key
    for person in ("rea", "ben"):
        document("library", "add", person, cluster.address(team_database, person))
    session = str(key)
    note = document("library", "note", session, "it was the cache", "--at", "e1")["note"]
    label = document("library", "note", session, "solved", "--label", "--library", "ben")["note"]
    found = document("library", "notes", session)
    assert [(one["by"], one["kind"], one["entry"], one["text"]) for one in found] == [
        ("rea", "note", "e1", "it was the cache"), ("ben", "label", None, "solved"),
    ]  # fmt: skip
    assert "it was the cache" in called("library", "notes")[1]
    status, _, err = called("library", "note", session, "--remove", str(label))
    assert status == 1 and f"no note {label} of yours" in err
    assert document("library", "note", session, "--remove", str(note))["removed"]
    assert len(document("library", "notes", session)) == 1
    assert called("library", "note", session)[0] == 2
    assert called("library", "note", "999", "nobody")[0] == 1
    of_finding = ("--at", "e1", "--finding", "open-state:0a1b2c3d")
    document("library", "note", session, "it was named", *of_finding)
    (written,) = [one for one in document("library", "notes") if one["finding"]]
    assert (written["entry"], written["finding"]) == ("e1", "open-state:0a1b2c3d")
    assert called("library", "note", session, "nowhere", "--finding", "x")[0] == 2


def test_others_see_a_note_and_a_session_within_a_second(
    library_of: Callable[[str], TeamLibrary], cluster: Cluster, team_database: str, tmp_path: Path
) -> None:
    document("library", "add", "acme", cluster.address(team_database, "rea"))
    watching = start("library", "watch", "--json")
    lines: Queue[str] = Queue()
    assert watching.stdout is not None and watching.stderr is not None
    assert "watching" in watching.stderr.readline()
    out = watching.stdout
    Thread(target=lambda: [lines.put(one) for one in out], daemon=True).start()
    try:
        ada = library_of("ada")
        key = ada.take_copy(FileSource(write_file(tmp_path / "s.jsonl", chain(3)))).key
        done = time.monotonic()
        assert json.loads(lines.get(timeout=10))["session"] == key
        assert time.monotonic() - done < SEEN_S
        ada.add_note(key, "look", "e1")
        done = time.monotonic()
        assert json.loads(lines.get(timeout=10))["text"] == "look"
        assert time.monotonic() - done < SEEN_S
    finally:
        watching.kill()
        watching.communicate()
