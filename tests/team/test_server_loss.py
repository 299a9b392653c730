"""A server that goes away in the middle of something: what was acknowledged stays, and the person
is told within two seconds."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.settings import paths
from explorer.store import Store, StoreError
from explorer.store.postgres import TeamLibrary
from tests.commands.processes import called, document, start
from tests.store.sources import FileSource, chain, write_file
from tests.team.cluster import Cluster

TOLD_S = 2.0
SESSIONS = 20


class Slow(FileSource):
    """Something happens when half of it has gone."""

    def __init__(self, path: Path, happens: Callable[[], object]) -> None:
        super().__init__(path, batch=10)
        self._happens = happens

    def batches(self) -> Iterator[Any]:
        for at, batch in enumerate(super().batches()):
            if at == 2:
                self._happens()
            yield batch


def test_a_session_that_was_on_its_way_is_not_there_and_those_before_it_are(
    mortal: Cluster, address: str, tmp_path: Path
) -> None:
    team = TeamLibrary.open("acme", address)
    first = team.take_copy(FileSource(write_file(tmp_path / "a.jsonl", chain(50)))).key
    header = {"type": "session", "version": 3, "id": "s-2", "cwd": "", "timestamp": ""}
    second = write_file(tmp_path / "b.jsonl", chain(50), header)
    lost = 0.0

    def kill() -> None:
        nonlocal lost
        mortal.kill()
        lost = time.monotonic()

    with pytest.raises(StoreError, match="team library acme: the server was not reached"):
        team.take_copy(Slow(second, kill))
    assert time.monotonic() - lost < TOLD_S
    with pytest.raises(StoreError, match="team library acme: the server was not reached"):
        team.sessions()
    mortal.start()
    assert [one.key for one in team.sessions()] == [first]
    assert len(team.records(first, 0, 49)) == 50
    assert team.take_copy(FileSource(second)).created
    team.close()


@pytest.mark.parametrize("what", ["publish", "list"])
def test_a_server_that_does_not_answer_is_told_within_two_seconds(
    what: str, mortal: Cluster, address: str, tmp_path: Path
) -> None:
    team = TeamLibrary.open("acme", address)
    path = write_file(tmp_path / "a.jsonl", chain(50))
    frozen = 0.0

    def freeze() -> None:
        nonlocal frozen
        mortal.signal(signal.SIGSTOP)
        frozen = time.monotonic()

    try:
        with pytest.raises(StoreError, match="the server was not reached"):
            if what == "publish":
                team.take_copy(Slow(path, freeze))
            freeze()
            team.sessions()
        assert 0 < time.monotonic() - frozen < TOLD_S
    finally:
        mortal.signal(signal.SIGCONT)
    assert team.sessions() == []
    team.close()


def test_what_takes_long_is_not_taken_for_a_lost_server(address: str) -> None:
    team = TeamLibrary.open("acme", address)
    with team._asking() as db:
        assert db.execute("SELECT 1 FROM pg_sleep(1.9)").fetchone() == (1,)
    team.close()


def test_the_command_says_what_was_published_and_the_own_library_works_on(
    mortal: Cluster, address: str, tmp_path: Path, explorer_home: Path
) -> None:
    with Store.open(paths.ensure(paths.data_dir()) / paths.DATABASE_NAME) as store:
        for at in range(SESSIONS):
            header = {"type": "session", "version": 3, "id": f"s-{at}", "cwd": "", "timestamp": ""}
            store.take_copy(FileSource(write_file(tmp_path / f"{at}.jsonl", chain(150), header)))
    document("library", "add", "acme", address)
    words = [str(at + 1) for at in range(SESSIONS)]
    process = start("publish", *words, "--yes")
    assert process.stdout is not None
    told = []
    while not any(line.startswith("published") for line in told):
        told.append(process.stdout.readline())
        assert told[-1], process.communicate()
    mortal.kill()
    killed = time.monotonic()
    # Not by communicate(), which misses what is read ahead already.
    assert process.stderr is not None
    out, err = process.stdout.read(), process.stderr.read()
    process.wait(30)
    assert time.monotonic() - killed < TOLD_S
    lines = [line for line in [*told, *out.splitlines()] if line.startswith("published")]
    assert process.returncode == 1 and 0 < len(lines) < SESSIONS, (out, err)
    assert f"{len(lines)} of {SESSIONS} sessions were published and stay" in err
    assert "team library acme: the server was not reached" in err
    began = time.monotonic()
    assert called("library", "sessions")[0] == 1
    assert time.monotonic() - began < TOLD_S
    assert len(document("list")) == SESSIONS
    mortal.start()
    acknowledged = {line.split()[2] for line in lines}
    there = {one["id"] for one in document("library", "sessions")}
    assert {f"s-{int(number) - 1}" for number in acknowledged} <= there
    # One may have been committed when its answer was lost.
    assert len(there) - len(acknowledged) in (0, 1)
    document("publish", *words, "--yes")
    assert len(document("library", "sessions")) == SESSIONS


def test_who_watches_is_told_that_the_server_is_gone(mortal: Cluster, address: str) -> None:
    document("library", "add", "acme", address)
    process = start("library", "watch")
    assert process.stderr is not None and "watching" in process.stderr.readline()
    mortal.kill()
    killed = time.monotonic()
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - killed < TOLD_S
    assert process.returncode == 1 and "the server was not reached" in err
