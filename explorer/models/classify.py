"""Turns litellm's exceptions into our few kinds of failure.

By class and by the status that the provider really sent, never by the words of a
message: litellm itself reads words, and takes a 429 that talks of context for an overflow (E12).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

from explorer.models.events import ErrorKind, ModelError

_OVERFLOW_CODES = frozenset({"context_length_exceeded", "context_window_exceeded"})
# Where the status alone says it all, litellm's reading of the words is not asked.
_BY_STATUS: dict[int, ErrorKind] = {401: "auth", 402: "auth", 403: "auth", 429: "rate_limit"}
_MESSAGE_LIMIT = 2000
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza)[-_A-Za-z0-9*]{12,}")
_CLASS_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?: -|:) )+")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")


def classify(error: BaseException, litellm: Any) -> ModelError:
    """The `ModelError` for anything that a call through litellm raised."""
    if isinstance(error, ModelError):
        return error
    cause = _unwrapped(error)
    kind = _kind(cause, litellm)
    status = _provider_status(error)
    if status is not None and status in _BY_STATUS:
        kind = _BY_STATUS[status]
    elif kind == "server" and _never_reached(error):
        kind = "network"
    elif kind == "bad_request" and _provider_code(error) in _OVERFLOW_CODES:
        kind = "overflow"
    wait = _retry_after_s(error) if kind in ("rate_limit", "server") else None
    result = ModelError(kind, redact(_message(cause)), wait)
    result.__cause__ = error
    return result


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


def _unwrapped(error: BaseException) -> BaseException:
    """The failure inside litellm's wrapper for streams that broke on the way."""
    inner = getattr(error, "original_exception", None)
    return _unwrapped(inner) if isinstance(inner, BaseException) and inner is not error else error


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    queue: list[BaseException | None] = [error]
    while queue:
        current = queue.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        queue += [
            getattr(current, "original_exception", None),
            current.__cause__,
            current.__context__,
        ]


def _malformed(error: BaseException) -> bool:
    """A provider that answered with what is not JSON was reached: no fault of the network."""
    return any(isinstance(part, json.JSONDecodeError) for part in _chain(error))


def _never_reached(error: BaseException) -> bool:
    """litellm calls a refused connection a server error; beneath it lies an OSError."""
    return any(isinstance(part, OSError) for part in _chain(error))


def _provider_status(error: BaseException) -> int | None:
    """The HTTP status that the provider sent; litellm's own classes set theirs by type."""
    for part in _chain(error):
        if type(part).__module__ == "litellm.exceptions":
            continue
        status = getattr(part, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _provider_code(error: BaseException) -> str | None:
    for part in _chain(error):
        body = getattr(part, "body", None)
        if isinstance(body, dict):
            inner = body.get("error")
            code = inner.get("code") if isinstance(inner, dict) else body.get("code")
            if isinstance(code, str):
                return code
    return None


def _retry_after_s(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait: a number, or a date set against its own clock."""
    for part in _chain(error):
        headers = getattr(getattr(part, "response", None), "headers", None)
        if headers is None:
            continue
        milliseconds = _number(headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        asked = headers.get("retry-after")
        seconds = _number(asked)
        if seconds is not None:
            return seconds
        if asked and headers.get("date"):
            try:
                until = parsedate_to_datetime(asked)
                sent = parsedate_to_datetime(headers["date"])
                return max(0.0, (until - sent).total_seconds())
            except (TypeError, ValueError):
                # A date that cannot be read is the same as none: the caller has its own wait.
                continue
    return None


def _number(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


_BROKEN_OFF = frozenset(
    {"ClientPayloadError", "TransferEncodingError", "ContentLengthError", "RemoteProtocolError"}
)
"""What HTTP libraries call an answer whose end is missing; their words are about bytes."""


def _message(error: BaseException) -> str:
    if any(type(part).__name__ in _BROKEN_OFF for part in _chain(error)):
        return "The connection ended before the answer was complete."
    text = str(getattr(error, "message", "") or error) or type(error).__name__
    text = _CLASS_NAMES.sub("", text).strip() or type(error).__name__
    return text if len(text) <= _MESSAGE_LIMIT else text[:_MESSAGE_LIMIT] + "..."


def redact(text: str) -> str:
    """The text with every key of the environment, and all that looks like one, struck out."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "[key]")
    return _KEY_SHAPE.sub("[key]", text)
