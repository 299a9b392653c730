"""Sessions that go from the person's own library into a team's, and back. Blocks: all of it is
meant for a worker thread."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from explorer.models.keys import remember_secret
from explorer.settings.libraries import (
    LibraryAddress,
    check_library,
    password_of,
    password_place,
    read_libraries,
)
from explorer.store import SessionRow, Store
from explorer.store.library import CopyDigest, LibraryCopy, SessionLibrary
from explorer.store.postgres import TeamLibrary
from explorer.store.rows import ImportCancelled, ImportReport, IsCancelled, OnProgress

PULLED = "pulled_from"
"""The setting of an own session that says which session of which team library it is a copy of."""


def open_team(name: str, address: LibraryAddress, *, any_version: bool = False) -> TeamLibrary:
    """Open a team's library, with the password of the system's keyring where it is there.
    ``any_version``: also one without tables. Raises StoreError, LibrariesError."""
    if password := password_of(name, address):
        remember_secret(password)
    make = TeamLibrary if any_version else TeamLibrary.open
    return make(name, address.address, password)


def connect(name: str | None, *, any_version: bool = False) -> TeamLibrary:
    """Open the team library of a name, or the one in use, as ``open_team`` does. Raises
    LibrariesError, StoreError, OSError."""
    known = read_libraries()
    named = known.named(name)
    return open_team(named, known.libraries[named], any_version=any_version)


class TeamCheck(Struct, frozen=True):
    """What a team's library says of who asks."""

    person: str
    role: str
    """One of ``postgres.ROLES``, empty for none of them."""
    password: str
    """Where the password came from; empty where the server asked for none."""


def check_team(name: str, address: str) -> TeamCheck:
    """Whether a team's library can be used: its name and address, whether its server answers, knows
    the person, and has tables that this program knows. Raises LibrariesError, StoreError."""
    check_library(name, address)
    given = LibraryAddress(address)
    team = open_team(name, given)
    team.close()
    password = password_place(given) if team.used_password else ""
    return TeamCheck(team.person, team.role, password)


class PublishPlan(Struct, frozen=True):
    """What of a session would go to a team. Nothing has gone yet."""

    row: SessionRow
    characters: int
    """Of all lines."""
    masked: Mapping[str, int]
    """How many secrets are masked, by kind."""
    masked_entries: tuple[int, ...]
    """Indices of the entries that they are in."""
    unchanged: bool
    """It is there already as it is here."""


def plan_publishing(
    store: Store, key: int, team: TeamLibrary, cancelled: IsCancelled | None = None
) -> PublishPlan:
    """Read a session as it would be published. Raises StoreError, ImportCancelled."""
    copy, digest = LibraryCopy(store, key, masks=True), CopyDigest()
    for records in copy.batches():
        if cancelled is not None and cancelled():
            raise ImportCancelled("reading what would be published was cancelled")
        digest.take(records)
    unchanged = team.digest(copy.header) == digest.value(copy.row.leaf)
    return PublishPlan(
        copy.row, copy.characters, dict(copy.masked), tuple(copy.masked_entries), unchanged
    )


def publish(
    store: Store,
    key: int,
    team: TeamLibrary,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
) -> ImportReport:
    """Publish a session, masked, in place of what this person published of it before. It is there
    when this returns, and nothing of it otherwise. ``progress``: entries done and in all. Raises
    StoreError, ImportCancelled."""
    return team.take_copy(LibraryCopy(store, key, masks=True), progress, cancelled)


def pulled(store: Store) -> dict[tuple[str, int, float], int]:
    """The own copies of team sessions: by library, key there and when it was published, the key
    here. Raises StoreError."""
    found = {}
    for row in store.sessions(all_places=True):
        match store.session_settings(row.key).get(PULLED):
            case [str(name), int(key), int() | float() as published]:
                found[name, key, float(published)] = row.key
    return found


def pull(store: Store, team: TeamLibrary, key: int) -> ImportReport:
    """Copy a session of a team into the person's own library, to go on from there; what the team
    has stays as it is. Raises StoreError."""
    return go_on(store, team, key, (team.name, key, team.shared_session(key).published_ms))


def go_on(
    store: Store,
    origin: SessionLibrary,
    key: int,
    published: tuple[str, int, float],
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
) -> ImportReport:
    """``pull`` out of any library that has the session. ``published``: the name of the team's
    library, the key there, and when it was published. Raises StoreError, ImportCancelled."""
    report = store.take_copy(LibraryCopy(origin, key, masks=False), progress, cancelled)
    store.set_session_setting(report.key, PULLED, list(published)).result()
    return report
