"""Keys of providers: from the system's keyring or the environment, handed to one call each.

A key is never written anywhere but into the keyring, and never shown again: only its last four
characters are told.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from explorer.models.catalogue import PROVIDER_KEYS
from explorer.models.own import OwnModels
from explorer.models.secrets import remember_secret

SERVICE = "session-explorer"
"""The name under which the keyring keeps the keys; the user name is the provider's."""
_SHOWN = 4
_KEEPS_NOTHING = ("keyring.backends.fail", "keyring.backends.null")
"""What the package stands in with where it finds no keyring, or is told to use none."""
_SHOWN_FROM = 16
"""Of a shorter key the last characters would tell too much."""


class KeyringUnavailable(Exception):
    """The system's keyring did not do what was asked; the message says why, in words."""


@dataclass(frozen=True, slots=True)
class KeyState:
    """Where a provider's key is, without the key."""

    provider: str
    place: Literal["keyring", "environment", "none"]
    ending: str = ""
    """Its last four characters; empty for a short key."""
    variable: str = ""
    """The environment's variable that holds it, or would."""

    @property
    def told(self) -> str:
        """In words, for the person."""
        if self.place == "none":
            return f"No key. Set {self.variable}, or keep one in the keyring."
        ending = f", ends in {self.ending}" if self.ending else ""
        where = "the keyring" if self.place == "keyring" else f"the variable {self.variable}"
        return f"Set in {where}{ending}."


def variables_of(provider: str) -> tuple[str, ...]:
    """The environment's variables that may hold a provider's key, the usual one first."""
    known = dict(PROVIDER_KEYS).get(provider)
    return known or (f"{provider.upper().replace('-', '_').replace('.', '_')}_API_KEY",)


class Keys:
    """Looks keys up. Reading the keyring may wait for the system: call it on a worker thread.

    A key that a person put into the keyring here goes before the environment's.
    """

    def __init__(self, own: OwnModels, environment: Mapping[str, str] | None = None) -> None:
        self._own = own
        self._environment = environment
        self._lock = threading.Lock()
        self._read: dict[str, str | None] = {}

    def key(self, provider: str) -> str | None:
        """The key, or None. A keyring that does not answer is as one without the key."""
        try:
            kept = self._from_keyring(provider)
        except KeyringUnavailable:
            kept = None
        return kept or self._from_environment(provider)[0] or None

    def state(self, provider: str) -> KeyState:
        """Where the key is. Raises KeyringUnavailable when it should be in a keyring that does
        not answer."""
        found, variable = self._from_environment(provider)
        kept = self._from_keyring(provider)
        if kept:
            return KeyState(provider, "keyring", _ending(kept), variable)
        if found:
            return KeyState(provider, "environment", _ending(found), variable)
        return KeyState(provider, "none", variable=variable)

    def has(self, provider: str) -> bool:
        """Whether a key should be there; asks nobody, so it may be called anywhere."""
        found, _ = self._from_environment(provider)
        return bool(found) or provider in self._own.in_keyring()

    def cannot_keep(self) -> str:
        """Why no key can be kept here, in words; empty where the system has a keyring. May wait
        for the system."""
        try:
            backend = _asked(_keyring().get_keyring)
        except KeyringUnavailable as error:
            return str(error)
        home = type(backend).__module__
        if home in _KEEPS_NOTHING:
            return "This system has no keyring that this program can use, so no key is kept here."
        return ""

    def keep(self, provider: str, key: str) -> None:
        """Put a key into the keyring. Raises KeyringUnavailable, OwnModelsError."""
        key = key.strip()
        if not key:
            raise KeyringUnavailable("There is no key to keep: the field is empty.")
        remember_secret(key)
        keyring = _keyring()
        _asked(lambda: keyring.set_password(SERVICE, provider, key))
        # Some systems have a keyring that takes everything and keeps nothing.
        if _asked(lambda: keyring.get_password(SERVICE, provider)) != key:
            raise KeyringUnavailable(
                f"No keyring of this system keeps keys ({keyring.get_keyring().name}). Put the key"
                f" into the environment variable {variables_of(provider)[0]} instead."
            )
        with self._lock:
            self._read[provider] = key
        self._own.note_key(provider, kept=True)

    def forget(self, provider: str) -> None:
        """Take a key out of the keyring. Raises KeyringUnavailable, OwnModelsError."""
        keyring = _keyring()
        if _asked(lambda: keyring.get_password(SERVICE, provider)) is not None:
            _asked(lambda: keyring.delete_password(SERVICE, provider))
        with self._lock:
            self._read.pop(provider, None)
        self._own.note_key(provider, kept=False)

    def move(self, old: str, new: str) -> None:
        """Keep the key of ``old``, where the keyring has one, for ``new`` instead. Raises
        KeyringUnavailable, OwnModelsError."""
        kept = self._from_keyring(old)
        if kept:
            self.keep(new, kept)
            self.forget(old)

    def _from_environment(self, provider: str) -> tuple[str, str]:
        values = os.environ if self._environment is None else self._environment
        names = variables_of(provider)
        for name in names:
            if value := values.get(name, ""):
                remember_secret(value)
                return value, name
        return "", names[0]

    def _from_keyring(self, provider: str) -> str | None:
        if provider not in self._own.in_keyring():
            return None
        with self._lock:
            if provider in self._read:
                return self._read[provider]
        keyring = _keyring()
        found = _asked(lambda: keyring.get_password(SERVICE, provider))
        key = found if isinstance(found, str) and found else None
        if key:
            remember_secret(key)
        with self._lock:
            self._read[provider] = key
        return key


def _ending(key: str) -> str:
    return key[-_SHOWN:] if len(key) >= _SHOWN_FROM else ""


def _keyring() -> Any:
    """The package, imported when it is first needed: it asks the system which keyrings it has."""
    try:
        return import_module("keyring")
    except ImportError as error:
        raise KeyringUnavailable(
            "The package keyring is not installed; keys can come from the environment alone."
        ) from error


def _asked(question: Any) -> Any:
    """The keyring's answer. Its backends raise errors of every kind, each system its own."""
    try:
        return question()
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise KeyringUnavailable(
            f"The system's keyring did not answer: {reason}. Keys can come from the environment"
            " instead."
        ) from error
