"""Profiles of the user: one JSON file each, to be changed, shared and taken away again.

A file holds all rules of its profile, so that it means the same on another machine::

    {"kind": "session-explorer profile", "version": 1, "base": "omp", "about": "...",
     "profile": {"name": "mine", "title": "Mine", "keep_recent_tokens": 8000, ...}}

``base`` is the profile that came with the program which this one started from: what a file leaves
out is as there. Keys that this version does not know are kept when the file is written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from explorer import private_files
from explorer.compaction.profile import BASES, Profile, profile_values, read_profile
from explorer.settings import paths

KIND = "session-explorer profile"
VERSION = 1
LARGEST_FILE = 256 * 1024
"""Bytes; a profile takes about three thousand."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_KEYS = ("kind", "version", "base", "about", "profile")


class ProfileError(Exception):
    """A profile cannot be read, kept or taken away; the message says which and why."""


class UserProfile(Struct, frozen=True):
    """A profile of the user."""

    profile: Profile
    base: str
    """The profile that came with the program which it started from."""
    about: str = ""
    """What it is for, in the person's words."""
    path: Path | None = None
    """Its file; None while it has none."""
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the file that this version does not know, as they are written."""


class Shelf(Struct, frozen=True):
    """All profiles there are."""

    built_in: Mapping[str, Profile]
    user_profiles: Mapping[str, UserProfile]
    problems: tuple[str, ...]
    """Files that cannot be used, and keys that are not known, a sentence each."""

    def get(self, name: str) -> Profile | None:
        """The profile of a name, or None."""
        if name in self.built_in:
            return self.built_in[name]
        user_profile = self.user_profiles.get(name)
        return user_profile.profile if user_profile else None

    def profiles(self) -> dict[str, Profile]:
        """All by their names."""
        return {
            **self.built_in,
            **{name: saved.profile for name, saved in self.user_profiles.items()},
        }

    def named(self, name: str) -> Profile:
        """The profile of a name. Raises ProfileError naming those that there are."""
        profile = self.get(name)
        if profile is None:
            known = ", ".join([*self.built_in, *self.user_profiles])
            raise ProfileError(f"there is no profile {name!r}; there are: {known}")
        return profile


class ProfileFiles:
    """The profiles of one folder. Small files, read and written at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or paths.config_dir() / "profiles"

    def shelf(self) -> Shelf:
        """All profiles; a file that cannot be used is reported, and the others are there."""
        user_profiles: dict[str, UserProfile] = {}
        problems: list[str] = []
        for path in sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ():
            try:
                profile_file = read_file(path)
                if profile_file.profile.name != path.stem:
                    raise ProfileError(
                        f"{path}: name: it is {profile_file.profile.name!r}, and the file is named "
                        f"{path.name!r}; give both the same name"
                    )
                _check_name(profile_file.profile.name)
            except ProfileError as error:
                problems.append(str(error))
                continue
            user_profiles[profile_file.profile.name] = profile_file
            problems += [
                f"{path}: {key}: not known here; it is kept" for key in profile_file.unknown
            ]
        return Shelf(BASES, user_profiles, tuple(problems))

    def save(self, profile_file: UserProfile, *, replacing: bool = False) -> UserProfile:
        """Write a profile to its file. Raises ProfileError: a name that cannot be used or that a
        profile of the program has, or that is taken while not ``replacing``."""
        name = profile_file.profile.name
        _check_name(name)
        _check_base(profile_file.base)
        read = read_profile(profile_values(profile_file.profile), BASES[profile_file.base])
        if read.mistakes:
            raise ProfileError(f"{name}: {read.mistakes[0]}")
        path = self.folder / f"{name}.json"
        try:
            paths.ensure(self.folder)
        except OSError as error:
            raise ProfileError(f"{self.folder}: {error.strerror or error}") from error
        _write(path, profile_file, replacing=replacing)
        return replace(profile_file, path=path)

    def delete(self, name: str) -> None:
        """Take a profile of the user away. Raises ProfileError."""
        if name in BASES:
            raise ProfileError(f"{name}: came with the program and cannot be taken away")
        _check_name(name)
        path = self.folder / f"{name}.json"
        try:
            path.unlink()
        except FileNotFoundError as error:
            raise ProfileError(f"{name}: there is no such profile of your own") from error
        except OSError as error:
            raise ProfileError(f"{path}: {error.strerror or error}") from error

    def take_in(self, path: Path, *, name: str = "", replacing: bool = False) -> UserProfile:
        """Store a profile that somebody shared, under its or another name. Raises
        ProfileError."""
        profile_file = read_file(path)
        if name:
            profile_file = replace(profile_file, profile=replace(profile_file.profile, name=name))
        return self.save(profile_file, replacing=replacing)

    def hand_out(self, name: str, path: Path, *, replacing: bool = False) -> None:
        """Write a profile, of the user or not, to a file to be shared. Raises
        ProfileError, when the file is there too and not ``replacing``."""
        shelf = self.shelf()
        profile = shelf.named(name)
        profile_file = shelf.user_profiles.get(name) or UserProfile(profile, name)
        _write(path, profile_file, replacing=replacing, keeps_mode=True)


def read_file(path: Path) -> UserProfile:
    """The profile in a file. Raises ProfileError with the file, the key and the reason of every
    mistake in it."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ProfileError(f"{path}: larger than {LARGEST_FILE // 1024} KB: not a profile")
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ProfileError(f"{path}, line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"{path}: not UTF-8: byte {error.start}") from error
    except (OSError, RecursionError) as error:
        raise ProfileError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise ProfileError(f'{path}: kind: expected "{KIND}"')
    return _profile_in(path, data)


def _profile_in(path: Path, data: Mapping[str, Any]) -> UserProfile:
    version = data.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ProfileError(
            f"{path}: version: {version!r} is not known here, only {VERSION}; a newer "
            "Session Explorer may have written it"
        )
    base, about, values = data.get("base", "explorer"), data.get("about", ""), data.get("profile")
    if not isinstance(base, str) or base not in BASES:
        raise ProfileError(f"{path}: base: expected one of {', '.join(BASES)}, not {base!r}")
    if not isinstance(about, str):
        raise ProfileError(f"{path}: about: expected a text, not {about!r}")
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise ProfileError(f"{path}: profile: expected an object with a name")
    read = read_profile(values, BASES[base])
    if read.mistakes:
        raise ProfileError("; ".join(f"{path}: profile.{mistake}" for mistake in read.mistakes))
    unknown = {key: value for key, value in data.items() if key not in _KEYS}
    unknown |= {f"profile.{key}": value for key, value in read.unknown.items()}
    return UserProfile(read.profile, base, about, path, unknown)


def _document(profile_file: UserProfile) -> dict[str, Any]:
    """What is written; keys that are not known stand where they stood."""
    values = profile_values(profile_file.profile)
    document = {
        "kind": KIND,
        "version": VERSION,
        "base": profile_file.base,
        "about": profile_file.about,
    }
    for key, value in profile_file.unknown.items():
        inner = key.removeprefix("profile.")
        if inner == key:
            document[key] = value
            continue
        policy, _, last = inner.partition(".")
        if not last:
            values[inner] = value
        elif isinstance(values.get(policy), dict):
            values[policy][last] = value
    return {**document, "profile": values}


def _write(
    path: Path, profile_file: UserProfile, *, replacing: bool, keeps_mode: bool = False
) -> None:
    """Write a file whole or not at all. Raises ProfileError."""
    claimed = False
    try:
        if not replacing:
            # Claims the name, so that of two windows only one can have it.
            private_files.create(path).close()
            claimed = True
        private_files.write(path, _as_bytes(_document(profile_file)), keeps_mode=keeps_mode)
    except FileExistsError as error:
        raise ProfileError(f"{path}: is there already; nothing was written") from error
    except OSError as error:
        if claimed:
            path.unlink(missing_ok=True)
        raise ProfileError(f"{path}: {error.strerror or error}") from error


def _as_bytes(document: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half an emoji in a title
        return (json.dumps(document, indent=2) + "\n").encode()


def _check_name(name: str) -> None:
    if name in BASES:
        raise ProfileError(f"{name}: came with the program and cannot be changed; copy it first")
    if not _NAME.fullmatch(name) or _DEVICE.fullmatch(name) or name.endswith("."):
        raise ProfileError(
            f"{name!r}: not a name for a profile: small letters, digits, dots, dashes and "
            "underscores, 64 at most, a letter or digit first"
        )


def _check_base(base: str) -> None:
    if base not in BASES:
        raise ProfileError(f"{base}: no profile of that name came with the program")
