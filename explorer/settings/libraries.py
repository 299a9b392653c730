"""The team libraries that the person named, in one small JSON file: names and addresses, never a
password.

    {"libraries": {"acme": {"address": "postgresql://db.acme.org/sessions", "keyring": false}},
     "used": "acme"}
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from explorer import private_files
from explorer.settings import paths

FILE_NAME = "libraries.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_SERVICE = "session-explorer"
_SCHEMES = ("postgresql", "postgres")


class LibrariesError(Exception):
    """What was asked for cannot be; the message is a sentence, without a password."""


class LibraryAddress(Struct, frozen=True):
    """Where a team library is."""

    address: str
    """As ``postgresql://...``, without a password."""
    keyring: bool = False
    """Whether the password is in the system's keyring; else psycopg looks for it: in ``.pgpass``, a
    service file, the environment."""


class Libraries(Struct, frozen=True):
    """All of them by name."""

    libraries: Mapping[str, LibraryAddress] = {}
    used: str = ""
    """The name of the one that commands use where none is named."""

    def named(self, name: str | None) -> str:
        """The name that is meant. Raises LibrariesError."""
        wanted = name or self.used
        if wanted in self.libraries:
            return wanted
        if not self.libraries:
            raise LibrariesError(
                "There is no team library yet: session-explorer library add NAME postgresql://..."
            )
        there_are = ", ".join(sorted(self.libraries))
        raise LibrariesError(f"{wanted!r} is no team library; there are: {there_are}")


def libraries_path() -> Path:
    """The file, in ``config_dir``."""
    return paths.config_dir() / FILE_NAME


def read_libraries() -> Libraries:
    """What is in the file. Raises LibrariesError, OSError."""
    path = libraries_path()
    if not path.exists():
        return Libraries()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Libraries)
    except msgspec.DecodeError as error:
        raise LibrariesError(f"{path}: {error}") from error


def add_library(name: str, address: str, password: str | None) -> Libraries:
    """Name a library, which is used from now on where it is the first. ``password``: goes into the
    keyring; None for none. Raises LibrariesError, OSError."""
    check_library(name, address)
    if password is not None:
        _keyring("set_password", name, password)
        # Some systems have a keyring that accepts everything and stores nothing.
        if _keyring("get_password", name) != password:
            raise LibrariesError(
                "No keyring of this system keeps passwords: use ~/.pgpass or a service file."
            )
    known = read_libraries()
    added = {**known.libraries, name: LibraryAddress(address, password is not None)}
    return _write(Libraries(added, known.used or name))


def check_library(name: str, address: str) -> None:
    """Raise LibrariesError where a library cannot have this name or this address."""
    if not _NAME.fullmatch(name):
        raise LibrariesError(f"{name!r} is no name: small letters, digits, dots and dashes")
    _check_address(address)


def remove_library(name: str) -> Libraries:
    """Forget a library and its password; nothing changes on its server. Raises LibrariesError,
    OSError."""
    known = read_libraries()
    gone = known.libraries[known.named(name)]
    if gone.keyring:
        _keyring("delete_password", name)
    left = {one: address for one, address in known.libraries.items() if one != name}
    return _write(Libraries(left, "" if known.used == name else known.used))


def use_library(name: str) -> Libraries:
    """Use a library where none is named. Raises LibrariesError, OSError."""
    known = read_libraries()
    return _write(replace(known, used=known.named(name)))


def password_of(name: str, address: LibraryAddress) -> str | None:
    """The password in the keyring; None where the server's own ways of finding one serve. Raises
    LibrariesError."""
    if not address.keyring:
        return None
    found = _keyring("get_password", name)
    return found if isinstance(found, str) else None


def password_place(address: LibraryAddress) -> str:
    """Where a password would come from if the server asked for one, in the order in which psycopg
    looks; empty where there is none."""
    query = dict(parse_qsl(urlsplit(address.address).query))
    if address.keyring:
        return "the system's keyring"
    if "service" in query or os.environ.get("PGSERVICE"):
        return "the service file"
    if os.environ.get("PGPASSWORD"):
        return "PGPASSWORD"
    path = query.get("passfile") or os.environ.get("PGPASSFILE")
    file = Path(path) if path else Path.home() / ".pgpass"
    return (path or "~/.pgpass") if file.exists() else ""


def _check_address(address: str) -> None:
    """Raises LibrariesError, which does not repeat the address where it has a password."""
    try:
        parts = urlsplit(address)
        fields = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        has_password = parts.password is not None or not fields.isdisjoint(
            {"password", "sslpassword"}
        )
    except ValueError as error:
        raise LibrariesError("The address cannot be read as postgresql://...") from error
    if has_password:
        raise LibrariesError(
            "The address holds a password, which is kept in no file of this program. Leave it out "
            "and give --password, which asks for it and puts it into the system's keyring; or "
            "write it into ~/.pgpass or a service file (postgresql:///?service=NAME)."
        )
    if parts.scheme not in _SCHEMES:
        raise LibrariesError("A team library has an address that begins with postgresql://")


def _write(libraries: Libraries) -> Libraries:
    paths.ensure(paths.config_dir())
    data = msgspec.json.format(msgspec.json.encode(libraries), indent=2) + b"\n"
    private_files.write(libraries_path(), data, keeps_mode=True)
    return libraries


def _keyring(action: str, name: str, *values: str) -> Any:
    try:
        return getattr(import_module("keyring"), action)(_SERVICE, f"library:{name}", *values)
    except Exception as error:  # backends raise errors of every kind
        reason = str(error) or type(error).__name__
        raise LibrariesError(
            f"The system's keyring did not answer: {reason}. A password can also be in ~/.pgpass "
            "or a service file."
        ) from error
