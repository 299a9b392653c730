"""Sessions that go from the person's own library into a team's, and back. Blocks: all of it is
meant for a worker thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from explorer.models.keys import remember_secret
from explorer.session.records import SessionSource
from explorer.settings.libraries import LibraryAddress, password_of
from explorer.store import SessionRow, Store
from explorer.store.library import CopyDigest, LibraryCopy
from explorer.store.postgres import TeamLibrary
from explorer.store.rows import ImportReport, IsCancelled

PULLED = "pulled_from"
"""The setting of an own session that says which session of which team library it is a copy of."""


def open_team(name: str, address: LibraryAddress, *, any_version: bool = False) -> TeamLibrary:
    """Open a team's library, with the password of the system's keyring where it is there.
    ``any_version``: also one without tables. Raises StoreError, LibrariesError."""
    if password := password_of(name, address):
        remember_secret(password)
    make = TeamLibrary if any_version else TeamLibrary.open
    return make(name, address.address, password)


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


def plan_publishing(store: Store, key: int, team: TeamLibrary) -> PublishPlan:
    """Read a session as it would be published. Raises StoreError."""
    copy, digest = LibraryCopy(store, key, masks=True), CopyDigest()
    for records in copy.batches():
        digest.take(records)
    unchanged = team.digest(copy.header) == digest.value(copy.row.leaf)
    return PublishPlan(
        copy.row, copy.characters, dict(copy.masked), tuple(copy.masked_entries), unchanged
    )


def publish(
    store: Store, key: int, team: TeamLibrary, cancelled: IsCancelled | None = None
) -> ImportReport:
    """Publish a session, masked, in place of what this person published of it before. It is there
    when this returns, and nothing of it otherwise. Raises StoreError, ImportCancelled."""
    return team.take_copy(LibraryCopy(store, key, masks=True), cancelled=cancelled)


def pulled(store: Store) -> dict[tuple[str, int, float], int]:
    """The own copies of team sessions: by library, key there and when it was published, the key
    here. Raises StoreError."""
    found = {}
    for row in store.sessions(all_places=True):
        match store.session_settings(row.key).get(PULLED):
            case [str(name), int(key), int() | float() as published]:
                found[name, key, float(published)] = row.key
    return found


def pull(
    store: Store, team: TeamLibrary, key: int, cancelled: IsCancelled | None = None
) -> ImportReport:
    """Copy a session of a team into the person's own library, to go on from there; what the team
    has stays as it is. Raises StoreError, ImportCancelled."""
    shared = team.shared_session(key)
    source: SessionSource = LibraryCopy(team, key, masks=False)
    report = store.take_copy(source, cancelled=cancelled)
    origin: list[Any] = [team.name, key, shared.published_ms]
    store.set_session_setting(report.key, PULLED, origin).result()
    return report
