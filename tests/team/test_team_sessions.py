"""Sessions of a team that are looked at: copies that are only read, and gone on from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer.models.client import ModelClient
from explorer.services.publication import PULLED
from explorer.services.team_sessions import FIRST_KEY, TeamSessions
from explorer.session.entries import ModelChange
from explorer.store import Store, StoreError
from explorer.store.postgres import TeamLibrary
from explorer.workbench import Workbench
from tests.store.sources import FileSource, chain, write_file

LibraryOf = Callable[[str], TeamLibrary]


@pytest.fixture
def own(store: Store) -> Workbench:
    """The workbench of the person's own library."""
    return Workbench(store, ModelClient())


@pytest.fixture
def sessions(own: Workbench) -> Iterator[TeamSessions]:
    made = TeamSessions(own)
    yield made
    made.close()


def test_a_copy_is_read_and_refuses_every_change(
    own: Workbench, sessions: TeamSessions, library_of: LibraryOf, tmp_path: Path
) -> None:
    path = write_file(tmp_path / "s.jsonl", chain(5))
    key = library_of("ada").take_copy(FileSource(path)).key
    rea = library_of("rea")
    copy = sessions.take(rea, rea.shared_session(key))
    assert copy >= FIRST_KEY and sessions.take(rea, rea.shared_session(key)) == copy
    document = sessions.bench.open_blocking(copy)
    assert len(document.tree) == 5 and document.read_only
    assert document.payloads.shown.entry(3).recorded["message"]["content"] == "line number 3"
    for change in (
        document.edits.set_label(2, "no"),
        document.writer.move_leaf(1),
        document.writer.append(ModelChange("p/m"), 4),
    ):
        with pytest.raises(StoreError, match="only read here"):
            asyncio.run(change)
    assert document.leaf == 4 and own.sessions() == []
    library_of("ada").take_copy(FileSource(write_file(tmp_path / "s.jsonl", chain(6))))
    assert sessions.take(rea, rea.shared_session(key)) != copy, "it was published anew"


def test_going_on_needs_no_server_and_makes_one_copy(
    own: Workbench, sessions: TeamSessions, library_of: LibraryOf, tmp_path: Path
) -> None:
    key = library_of("ada").take_copy(FileSource(write_file(tmp_path / "s.jsonl", chain(5)))).key
    rea = library_of("rea")
    shared = rea.shared_session(key)
    copy = sessions.take(rea, shared)
    rea.close()
    made = sessions.go_on(copy)
    assert sessions.go_on(copy) == made and [one.key for one in own.sessions()] == [made]
    assert own.store.session_settings(made)[PULLED] == ["acme", key, shared.published_ms]
    assert not own.open_blocking(made).read_only


def test_what_came_from_a_team_leaves_this_computer_only_when_somebody_agrees(
    own: Workbench, sessions: TeamSessions, library_of: LibraryOf, tmp_path: Path
) -> None:
    key = library_of("ada").take_copy(FileSource(write_file(tmp_path / "s.jsonl", chain(5)))).key
    rea = library_of("rea")
    copy = sessions.take(rea, rea.shared_session(key))
    assert sessions.bench.open_blocking(copy).models.are_for_imported()
    made = sessions.go_on(copy)
    assert own.open_blocking(made).models.are_for_imported()
    fork = asyncio.run(own.fork(made, 3))
    assert own.open_blocking(fork.key).models.are_for_imported()


def test_the_copies_are_gone_in_the_end_and_those_of_a_killed_program_at_the_next_start(
    own: Workbench,
) -> None:
    made = TeamSessions(own)
    folder = made.bench.store.path.parent
    left = folder.with_name("team-sessions-0123456789abcdef")
    left.mkdir()
    other = TeamSessions(own)
    assert folder.is_dir() and not left.exists(), "one is in use, the other is nobody's"
    for one in (made, other):
        one.close()
    assert not list(folder.parent.glob("team-sessions*"))
