"""A profile as plain values, as files and sessions keep it, and back with every mistake named."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import asdict, replace

from explorer.compaction.profile.descriptions import (
    POLICIES,
    POLICY_SWITCHES,
    SIZES,
    SWITCHES,
    Size,
)
from explorer.compaction.profile.rules import Background, Profile

_KNOWN = frozenset(Profile.__struct_fields__)


class ProfileMistake(NamedTuple):
    """A value that a profile cannot have."""

    key: str
    reason: str
    """A clause for a person, after the key."""

    def __str__(self) -> str:
        return f"{self.key}: {self.reason}"


class _Mistaken(Exception):
    """Values that cannot be had; ``mistakes`` says which and why."""

    def __init__(self, *mistakes: ProfileMistake) -> None:
        super().__init__(*mistakes)
        self.mistakes = mistakes


class ReadProfile(Struct, frozen=True):
    """What plain values say."""

    profile: Profile
    """With the base's value in place of every mistaken one."""
    mistakes: tuple[ProfileMistake, ...]
    unknown: Mapping[str, Any]
    """Keys that no profile has here, as they were."""


def profile_values(profile: Profile) -> dict[str, Any]:
    """The profile as JSON values; a policy is an object, or null when it is off."""
    values: dict[str, Any] = to_builtins(profile)
    return values


def read_profile(values: Mapping[str, Any], base: Profile) -> ReadProfile:
    """The profile that plain values describe; what they leave out is as in ``base``."""
    changes: dict[str, Any] = {}
    mistakes: list[ProfileMistake] = []
    unknown: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _KNOWN:
            unknown[key] = value
            continue
        try:
            if key in POLICIES:
                changes[key], strange = _policy(key, value, getattr(base, key))
                unknown.update(strange)
            else:
                changes[key] = _checked(key, value)
        except _Mistaken as error:
            mistakes += error.mistakes
    return ReadProfile(replace(base, **changes), tuple(mistakes), unknown)


def _checked(key: str, value: Any) -> Any:
    """The value as the profile keeps it. Raises _Mistaken."""
    if reason := _problem(key, value):
        raise _Mistaken(ProfileMistake(key, reason))
    if key in SIZES and SIZES[key].unit == "names":
        return tuple(value)
    if key == "prompt_budget.threshold":
        return value or None
    return value


def changed(profile: Profile, key: str, text: str) -> Profile:
    """The profile with one value changed, written as on a command line.

    ``text`` is a number, a word, ``on`` or ``off``, or names with commas between. A policy's own
    value is named ``policy.name``; naming one switches the policy on. Raises ValueError with a
    sentence that names the key.
    """
    policy, _, inner = key.partition(".")
    if policy not in _KNOWN or key in ("name", "title") or (inner and policy not in POLICIES):
        raise ValueError(f"{key}: there is no such setting in a profile")
    values: dict[str, Any] = {key: _from_text(key, text)}
    if inner:
        now = getattr(profile, policy) or POLICIES[policy].default
        values = {policy: {**asdict(now), inner: _from_text(key, text)}}
    read = read_profile(values, profile)
    if read.mistakes:
        raise ValueError(str(read.mistakes[0]))
    if read.unknown:
        raise ValueError(f"{key}: there is no such setting in a profile")
    return read.profile


def _policy(key: str, value: Any, base: Any) -> tuple[Any, dict[str, Any]]:
    """A policy and what of its values is not known. Raises _Mistaken."""
    if value is None or value is False:
        return None, {}
    start = base or POLICIES[key].default
    if value is True:
        return start, {}
    if not isinstance(value, Mapping):
        raise _Mistaken(
            ProfileMistake(key, f"expected an object, or null for off, not {_shown(value)}")
        )
    known = set(start.__struct_fields__)
    changes: dict[str, Any] = {}
    mistakes: list[ProfileMistake] = []
    for inner, each in value.items():
        if inner in known:
            try:
                changes[inner] = _checked(f"{key}.{inner}", each)
            except _Mistaken as error:
                mistakes += error.mistakes
    made = replace(start, **changes)
    if isinstance(made, Background) and not made.warm_low <= made.warm_high <= made.cold:
        mistakes.append(ProfileMistake(key, "expected warm_low <= warm_high <= cold"))
    if mistakes:
        raise _Mistaken(*mistakes)
    return made, {f"{key}.{inner}": each for inner, each in value.items() if inner not in known}


def _problem(key: str, value: Any) -> str:
    """Why a key cannot have a value; empty when it can."""
    if key in ("name", "title"):
        fine = isinstance(value, str) and bool(value.strip())
        return "" if fine else f"expected a text, not {_shown(value)}"
    switch = SWITCHES.get(key) or POLICY_SWITCHES.get(key)
    if switch is not None:
        fits = any(value == each and type(value) is type(each) for each in switch.values)
        choices = ", ".join(_shown(each) for each in switch.values)
        return "" if fits else f"expected one of {choices}, not {_shown(value)}"
    return _size_problem(key, SIZES[key], value)


def _size_problem(key: str, size: Size, value: Any) -> str:
    if size.unit == "names":
        fine = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        return "" if fine else f"expected a list of names, not {_shown(value)}"
    if size.unit == "address":
        fine = isinstance(value, str) and (not value or value.startswith(("https://", "http://")))
        return "" if fine else f"expected an http(s) address or an empty text, not {_shown(value)}"
    if key == "prompt_budget.threshold" and value is None:
        return ""
    whole = size.unit in ("tokens", "rounds", "characters") or key == "reserve_floor_percent"
    number = type(value) is int or (type(value) is float and isfinite(value) and not whole)
    if not number:
        return f"expected a {'whole ' if whole else ''}number, not {_shown(value)}"
    if value == size.unset or size.lowest <= value <= size.highest:
        between = key == "prompt_budget.threshold" and 1 < value < 100
        return "expected a share up to 1, or tokens from 100 on" if between else ""
    leave = "" if size.unset is None else f", or {size.unset:,} to leave it open"
    return f"expected {size.lowest:,} to {size.highest:,}{leave}, not {_shown(value)}"


def _from_text(key: str, text: str) -> Any:
    size = SIZES.get(key)
    if size is not None and size.unit == "names":
        return [name.strip() for name in text.split(",") if name.strip()]
    if size is not None and size.unit != "address":
        return _number(text)
    switch = SWITCHES.get(key) or POLICY_SWITCHES.get(key)
    if key in POLICIES or (switch is not None and True in switch.values):
        return {"on": True, "true": True, "off": False, "false": False}.get(text.lower(), text)
    return text


def _number(text: str) -> Any:
    plain = text.replace("_", "").replace(",", "")
    for kind in (int, float):
        try:
            return kind(plain)
        except ValueError:
            continue
    return text


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value) if isinstance(value, str) else str(value)
