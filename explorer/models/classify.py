"""Turns litellm's exceptions into our few kinds of failure.

By litellm's class first, corrected by the status that the provider really sent; its words are
asked last, for overflows alone, in the table of ``explorer.models.overflow_texts``. litellm itself
reads words, and takes a 429 that talks of context for an overflow: a status of 429 never is one
(E12).
"""

from __future__ import annotations

import json
import re
from typing import Any

from explorer.models.catalogue import PROVIDER_KEYS
from explorer.models.events import ErrorKind, ModelError
from explorer.models.overflow_texts import said_overflow, said_throttled
from explorer.models.said import Said, chain, plain_words, retry_after_s, unwrapped, what_was_said
from explorer.models.secrets import redact
from explorer.models.shown import shortened

__all__ = ["classify", "redact", "without_key"]

# Where the status alone says it all, litellm's reading of the words is not asked.
_BY_STATUS: dict[int, ErrorKind] = {401: "auth", 402: "auth", 403: "auth", 429: "rate_limit"}
_NO_CREDIT = frozenset({"insufficient_quota", "billing_not_active"})
"""A 429 that no waiting ends: the account has nothing left."""
_ASKS_FOR_KEY = re.compile(r"api[ _-]?key|credentials", re.IGNORECASE)
_MESSAGE_LIMIT = 400
_RAW = re.compile(
    r"Traceback|NoneType|pydantic|validation error|object has no attribute| at 0x[0-9a-f]"
    r"|object is not (?:subscriptable|iterable|callable)|\.py\b|litellm|<class |\b\w+Error\(",
    re.IGNORECASE,
)
"""Words of a library about itself."""
_NOT_UNDERSTOOD = (
    AttributeError, TypeError, LookupError, ValueError, ArithmeticError, RecursionError,
    AssertionError, MemoryError,
)  # fmt: skip
"""What a library raises where a reply is not as it expects."""
_BROKEN_OFF = frozenset(
    {"ClientPayloadError", "TransferEncodingError", "ContentLengthError", "RemoteProtocolError"}
)
"""What HTTP libraries call an answer whose end is missing; their words are about bytes."""


def classify(error: BaseException, litellm: Any) -> ModelError:
    """The `ModelError` for anything that a call through litellm raised."""
    if isinstance(error, ModelError):
        return error
    said = what_was_said(error)
    kind = _corrected(_kind(unwrapped(error), litellm), said, error)
    wait = retry_after_s(error) if kind in ("rate_limit", "server") else None
    result = ModelError(kind, _message(error, kind, said), wait)
    result.__cause__ = error
    return result


def without_key(error: ModelError, provider: str, key: str | None) -> ModelError:
    """The error, or in its place that there is no key, where that is why the call was not made.

    Each client says it in its own way, and with names of its own for the variables.
    """
    known = dict(PROVIDER_KEYS).get(provider)
    if key is not None or known is None or not _ASKS_FOR_KEY.search(error.message):
        return error
    told = f"There is no key of {provider}. Keep one in the keyring, or set {known[0]}."
    return ModelError("auth", told)


def _corrected(kind: ErrorKind, said: Said, error: BaseException) -> ErrorKind:
    """The kind that status, code and words make of litellm's."""
    if said.code in _NO_CREDIT:
        return "auth"
    if said.status is not None and said.status in _BY_STATUS:
        return _BY_STATUS[said.status]
    if said.status == 413 and said_throttled(said.status, said.code, said.text):
        return "rate_limit"
    provider = str(getattr(unwrapped(error), "llm_provider", "") or "")
    if kind != "overflow" and said_overflow(
        said.status, said.code, said.error_type, said.text, provider
    ):
        return "overflow"
    if kind == "network" and said.answered:
        return "server"  # it was reached, and said what is wrong
    if kind == "server" and not said.answered and _never_reached(error):
        return "network"
    return kind


def _kind(error: BaseException, litellm: Any) -> ErrorKind:
    table: tuple[tuple[Any, ErrorKind], ...] = (
        # Order matters: the special classes derive from the general ones.
        (litellm.ContextWindowExceededError, "overflow"),
        (litellm.RateLimitError, "rate_limit"),
        (litellm.AuthenticationError, "auth"),
        (litellm.exceptions.PermissionDeniedError, "auth"),
        (litellm.exceptions.PaymentRequiredError, "auth"),
        (litellm.Timeout, "timeout"),
        (litellm.NotFoundError, "unavailable"),
        (litellm.exceptions.LiteLLMUnknownProvider, "unavailable"),
        (litellm.BadRequestError, "bad_request"),
        (litellm.UnprocessableEntityError, "bad_request"),
        (litellm.APIConnectionError, "network"),
        (litellm.ServiceUnavailableError, "server"),
        (litellm.InternalServerError, "server"),
        (litellm.APIError, "server"),
        (TimeoutError, "timeout"),
        (json.JSONDecodeError, "server"),
        (OSError, "network"),
    )
    for known, kind in table:
        if isinstance(error, known):
            if kind == "network" and _malformed(error):
                return "server"
            return kind
    return "server"


def _malformed(error: BaseException) -> bool:
    """A provider that answered with what is not JSON was reached: no fault of the network."""
    return any(isinstance(part, json.JSONDecodeError) for part in chain(error))


def _never_reached(error: BaseException) -> bool:
    """litellm calls a refused connection a server error; beneath it lies an OSError."""
    return any(isinstance(part, OSError) for part in chain(error))


def _message(error: BaseException, kind: ErrorKind, said: Said) -> str:
    if any(type(part).__name__ in _BROKEN_OFF for part in chain(error)):
        return "The connection ended before the answer was complete."
    text = redact(plain_words(error))
    if not said.answered and any(isinstance(part, _NOT_UNDERSTOOD) for part in chain(error)):
        return "The provider sent a reply that is not understood."
    if text.lstrip().startswith("<"):
        text = ""  # a web page
    if not text or (not said.answered and _RAW.search(text)):
        text = _without_words(kind, said.status)
    return shortened(text, _MESSAGE_LIMIT)


def _without_words(kind: ErrorKind, status: int | None) -> str:
    """What to tell when the provider said nothing itself."""
    told = {
        "overflow": "The provider refused the request as too large",
        "rate_limit": "The provider takes no more requests for the moment",
        "auth": "The provider refused the key",
        "network": "The provider was not reached",
        "timeout": "The provider did not answer in time",
        "unavailable": "The provider does not know this model",
        "bad_request": "The provider refused the request without saying why",
        "server": "The provider failed without saying why",
    }[kind]
    return f"{told} (status {status})." if status is not None else f"{told}."
