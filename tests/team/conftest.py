"""One server for all tests of a worker, and a library in a database of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer.store import Store
from explorer.store.postgres import TeamLibrary
from tests.team.cluster import PEOPLE, Cluster, why_not


def _server() -> Iterator[Cluster]:
    if reason := why_not():
        pytest.skip(reason)
    server = Cluster()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    yield from _server()


@pytest.fixture(scope="module")
def mortal() -> Iterator[Cluster]:
    """A server that tests may end."""
    yield from _server()


@pytest.fixture
def address(mortal: Cluster) -> Iterator[str]:
    where = mortal.address(mortal.database())
    team = TeamLibrary("acme", where)
    team.setup()
    team.close()
    yield where
    if not mortal.is_up():
        mortal.start()


@pytest.fixture
def team_database(cluster: Cluster) -> str:
    """A database with the tables and roles of a team, and everybody of ``PEOPLE`` in them."""
    name = cluster.database()
    owner = TeamLibrary("acme", cluster.address(name))
    owner.setup()
    owner.close()
    known = {row[0] for row in cluster.sql("SELECT rolname FROM pg_roles")}
    for person, role in PEOPLE.items():
        if person not in known:
            cluster.sql(f"CREATE ROLE {person} LOGIN")
            if role:
                cluster.sql(f"GRANT session_explorer_{role} TO {person}")
    return name


@pytest.fixture
def library_of(cluster: Cluster, team_database: str) -> Iterator[Callable[[str], TeamLibrary]]:
    """Opens the team's library for a person."""
    opened: list[TeamLibrary] = []

    def open_for(person: str) -> TeamLibrary:
        opened.append(TeamLibrary.open("acme", cluster.address(team_database, person)))
        return opened[-1]

    yield open_for
    for one in opened:
        one.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The person's own library."""
    with Store.open(tmp_path / "own.db") as opened:
        yield opened
