"""Keys of providers: where they are, whether they work, and their removal from texts.

A key comes from the system's keyring or the environment and is handed to one call. It is written
nowhere but into the keyring, and only its last four characters are shown.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

from explorer.models.catalogue import PROVIDER_KEYS, ModelInfo, is_placeholder
from explorer.models.events import ModelError
from explorer.models.request import ChatMessage, ModelRequest
from explorer.models.user_models import UserModels

SERVICE = "session-explorer"
"""The service name in the keyring; the user name is the provider's."""
_PROVIDER_KEYS = dict(PROVIDER_KEYS)
_SHOWN = 4
_KEEPS_NOTHING = ("keyring.backends.fail", "keyring.backends.null")
"""Backends of the package where there is no keyring, or none is to be used."""
_SHOWN_FROM = 16
"""Of a shorter key the last characters would reveal too much."""


class KeyringUnavailable(Exception):
    """The system's keyring did not do what was asked; the message says why, in words."""


class KeyState(Struct, frozen=True):
    """Where a provider's key is, without the key."""

    provider: str
    place: Literal["keyring", "environment", "none"]
    ending: str = ""
    """Its last four characters; empty for a short key."""
    variable: str = ""
    """The environment's variable that holds it, or would."""

    @property
    def sentence(self) -> str:
        """In words, for the person."""
        if self.place == "none":
            return f"No key. Set {self.variable}, or keep one in the keyring."
        ending = f", ends in {self.ending}" if self.ending else ""
        where = "the keyring" if self.place == "keyring" else f"the variable {self.variable}"
        return f"Set in {where}{ending}."


def variables_of(provider: str) -> tuple[str, ...]:
    """The environment's variables that may hold a provider's key, the usual one first."""
    known = _PROVIDER_KEYS.get(provider)
    return known or (f"{provider.upper().replace('-', '_').replace('.', '_')}_API_KEY",)


class Keys:
    """Looks keys up. Reading the keyring may wait for the system: call it on a worker thread.

    A key that a person put into the keyring here goes before the environment's.
    """

    def __init__(
        self, user_models: UserModels, environment: Mapping[str, str] | None = None
    ) -> None:
        self._user_models = user_models
        self._environment = environment
        self._lock = threading.Lock()
        self._read: dict[str, str | None] = {}

    def key(self, provider: str) -> str | None:
        """The key, or None. A keyring that does not answer is as one without the key."""
        try:
            stored = self._from_keyring(provider)
        except KeyringUnavailable:
            stored = None
        return stored or self._from_environment(provider)[0] or None

    def state(self, provider: str) -> KeyState:
        """Where the key is. Raises KeyringUnavailable when it should be in a keyring that does
        not answer."""
        found, variable = self._from_environment(provider)
        stored = self._from_keyring(provider)
        if stored:
            return KeyState(provider, "keyring", _ending(stored), variable)
        if found:
            return KeyState(provider, "environment", _ending(found), variable)
        return KeyState(provider, "none", variable=variable)

    def has(self, provider: str) -> bool:
        """Whether a key should be there; does not ask the keyring, so any thread may call it."""
        found, _ = self._from_environment(provider)
        return bool(found) or provider in self._user_models.in_keyring()

    def unavailable_reason(self) -> str:
        """Why no key can be stored, as a sentence; empty where the system has a keyring. May wait
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
        """Put a key into the keyring. Raises KeyringUnavailable, UserModelsError."""
        key = key.strip()
        if not key:
            raise KeyringUnavailable("There is no key to keep: the field is empty.")
        remember_secret(key)
        keyring = _keyring()
        _asked(lambda: keyring.set_password(SERVICE, provider, key))
        # Some systems have a keyring that accepts everything and stores nothing.
        if _asked(lambda: keyring.get_password(SERVICE, provider)) != key:
            raise KeyringUnavailable(
                f"No keyring of this system keeps keys ({keyring.get_keyring().name}). Put the key"
                f" into the environment variable {variables_of(provider)[0]} instead."
            )
        with self._lock:
            self._read[provider] = key
        self._user_models.record_key(provider, stored=True)

    def forget(self, provider: str) -> None:
        """Take a key out of the keyring. Raises KeyringUnavailable, UserModelsError."""
        keyring = _keyring()
        if _asked(lambda: keyring.get_password(SERVICE, provider)) is not None:
            _asked(lambda: keyring.delete_password(SERVICE, provider))
        with self._lock:
            self._read.pop(provider, None)
        self._user_models.record_key(provider, stored=False)

    def move(self, old: str, new: str) -> None:
        """Keep the key of ``old``, where the keyring has one, for ``new`` instead. Raises
        KeyringUnavailable, UserModelsError."""
        stored = self._from_keyring(old)
        if stored:
            self.keep(new, stored)
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
        if provider not in self._user_models.in_keyring():
            return None
        with self._lock:
            if provider in self._read:
                return self._read[provider]
        keyring = _keyring()
        stored = _asked(lambda: keyring.get_password(SERVICE, provider))
        key = stored if isinstance(stored, str) and stored else None
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
    """The keyring's answer. Its backends raise errors of every kind, different on each system."""
    try:
        return question()
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise KeyringUnavailable(
            f"The system's keyring did not answer: {reason}. Keys can come from the environment"
            " instead."
        ) from error


# keys in texts ------------------------------------------------------------------------------------

STRUCK_OUT = "[key]"
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza)[-_A-Za-z0-9*]{12,}")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_LEAST = 8
"""Shorter values are words, not keys."""
_known: set[str] = set()


def remember_secret(value: str) -> None:
    """Strike ``value`` out of texts from now on, wherever it came from."""
    if len(value) >= _LEAST:
        _known.add(value)


def redact(text: str) -> str:
    """The text with every key of the environment and of the keyring, and all that looks like a
    key, struck out."""
    for name, value in os.environ.items():
        if len(value) >= _LEAST and _SECRET_NAME.search(name):
            text = text.replace(value, STRUCK_OUT)
    for value in _known:
        text = text.replace(value, STRUCK_OUT)
    return _KEY_SHAPE.sub(STRUCK_OUT, text)


# testing a key ------------------------------------------------------------------------------------

KeyOutcome = Literal["works", "refused", "not reached", "no such model", "no key", "failed"]
_OUTPUT = 16
"""Tokens of the answer at most: some providers refuse fewer."""
_USUAL = {
    "openai": "openai/gpt-4o-mini",
    "anthropic": "anthropic/claude-haiku-4-5",
    "gemini": "gemini/gemini-flash-lite-latest",
    "mistral": "mistral/mistral-small-latest",
    "deepseek": "deepseek/deepseek-chat",
    "together_ai": "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "fireworks_ai": "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct",
    "openrouter": "openrouter/openai/gpt-4o-mini",
    "cerebras": "cerebras/llama3.1-8b",
}
_SPECIAL = re.compile(
    r"audio|realtime|search|image|vision|embed|live|tts|transcribe|turbo-instruct|guard|exp\b|preview"
    r"|experimental|computer|robotics|deep-research|:free|\bft:",
    re.IGNORECASE,
)
"""Models that are made for something else, or come and go."""


class KeyTest(Struct, frozen=True):
    """How a test went, in words for the person."""

    outcome: KeyOutcome
    sentence: str
    model: str = ""
    """The model that was asked."""

    @property
    def works(self) -> bool:
        return self.outcome == "works"


def smallest_request(model: str) -> ModelRequest:
    """A question that costs next to nothing."""
    return ModelRequest(model, (ChatMessage("user", "Say: ok"),), max_output_tokens=_OUTPUT)


def model_to_ask(models: Iterable[ModelInfo], provider: str) -> str:
    """A small model of a provider that is made for talking; empty when none is known."""
    known = {
        model.id: model
        for model in models
        if model.provider == provider and not is_placeholder(model.id)
    }
    usual = _USUAL.get(provider, "")
    # Of a provider that the table knows nothing of, the usual one is the best guess.
    if usual and (usual in known or not known):
        return usual
    return min(known.values(), key=_fitness, default=ModelInfo("", "", None, None)).id


def _fitness(model: ModelInfo) -> tuple[bool, bool, bool, bool, float, str]:
    """The best first: made for talking, here to stay, quick, and cheap though not free."""
    price = (model.input_price or 0.0) + (model.output_price or 0.0)
    special = bool(_SPECIAL.search(model.id)) or model.tools is False
    return special, bool(model.deprecated), bool(model.reasoning), price <= 0, price, model.id


def judged(provider: str, model: str, error: ModelError | None, what: str = "The key") -> KeyTest:
    """The result of the smallest request, as a test of ``what``: the key, or the server."""
    if error is None:
        return KeyTest("works", f"{what} works: {model} answered.", model)
    reason = error.sentence
    if error.kind == "auth":
        return KeyTest("refused", f"{provider} refused the key: {reason}", model)
    if error.kind in ("network", "timeout"):
        return KeyTest("not reached", f"{provider} was not reached: {reason}", model)
    if error.kind == "unavailable":
        sentence = f"{provider} answered, but does not have {model}: {reason}"
        return KeyTest("no such model", sentence, model)
    if error.kind == "rate_limit":
        return KeyTest("works", f"{what} works; {provider} is busy: {reason}", model)
    if error.kind in ("bad_request", "overflow"):
        # A provider checks the key before it complains of the request.
        return KeyTest("works", f"{what} works; {model} refused the test itself: {reason}", model)
    return KeyTest("failed", f"{provider} failed: {reason}", model)
