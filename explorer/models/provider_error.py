"""Provider failures as `ModelError`.

litellm's exception class decides first, corrected by the HTTP status that the provider really sent.
Texts are asked last and for overflows alone: first litellm's check, then the few wordings that
it does not know (E12). A status of 429 is never an overflow, whatever its text says of context.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct

from explorer.models.catalogue import PROVIDER_KEYS
from explorer.models.events import ErrorKind, ModelError
from explorer.models.keys import redact
from explorer.models.reply_reader import shortened


def classify(error: BaseException) -> ModelError:
    """The `ModelError` for anything that a call through litellm raised."""
    if isinstance(error, ModelError):
        return error
    refusal = refusal_of(error)
    kind = _corrected(_kind_by_class(_innermost(error)), refusal, error)
    wait = retry_after_s(error) if kind in ("rate_limit", "server") else None
    result = ModelError(kind, _message(error, kind, refusal), wait)
    result.__cause__ = error
    return result


def missing_key_error(error: ModelError, provider: str, key: str | None) -> ModelError:
    """The error, or in its place one that says that the provider has no key.

    Clients word the missing key differently, and name other environment variables.
    """
    known = dict(PROVIDER_KEYS).get(provider)
    if key is not None or known is None or not _ASKS_FOR_KEY.search(error.message):
        return error
    text = f"There is no key of {provider}. Keep one in the keyring, or set {known[0]}."
    return ModelError("auth", text)


_ASKS_FOR_KEY = re.compile(r"api[ _-]?key|credentials", re.IGNORECASE)

# the kind of failure ------------------------------------------------------------------------------

_KIND_BY_STATUS: dict[int, ErrorKind] = {401: "auth", 402: "auth", 403: "auth", 429: "rate_limit"}
"""Statuses that decide alone: litellm also goes by the text."""
_NO_CREDIT = frozenset({"insufficient_quota", "billing_not_active"})
"""Codes of a 429 that no waiting ends: the account has nothing left."""


def _corrected(kind: ErrorKind, refusal: ProviderRefusal, error: BaseException) -> ErrorKind:
    """The kind by litellm's class, corrected by status, code and text."""
    if refusal.code in _NO_CREDIT:
        return "auth"
    if refusal.status in _KIND_BY_STATUS:
        return _KIND_BY_STATUS[refusal.status]
    if refusal.status == 413 and _is_throttled(refusal):
        return "rate_limit"
    provider = str(getattr(_innermost(error), "llm_provider", "") or "")
    if kind != "overflow" and is_overflow(refusal, provider):
        return "overflow"
    if kind == "network" and refusal.answered:
        return "server"
    if kind == "server" and not refusal.answered and _has_cause(error, OSError):
        return "network"  # litellm calls a refused connection a server error
    return kind


def _kind_by_class(error: BaseException) -> ErrorKind:
    import litellm

    table: tuple[tuple[type[BaseException], ErrorKind], ...] = (
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
    kinds = (kind for known, kind in table if isinstance(error, known))
    kind: ErrorKind = next(kinds, "server")
    # A provider that answered with what is not JSON was reached.
    return "server" if kind == "network" and _has_cause(error, json.JSONDecodeError) else kind


# overflows ----------------------------------------------------------------------------------------

_OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "context_window_exceeded", "model_max_prompt_tokens_exceeded"}
)
_OVERFLOW_TYPES = frozenset({"exceed_context_size_error", "request_too_large"})
_OVERFLOW_STATUSES = frozenset({400, 413, 422, 500, None})
"""None: sent within a stream that had begun well. 500: local servers, and what litellm makes of an
error within a stream."""
_OVERFLOW_TEXT = re.compile(
    r"prompt (?:is )?too long"  # Anthropic, Fireworks, Ollama, oMLX
    r"|input is too long for requested model"  # Bedrock
    r"|maximum (?:context|prompt) length"  # Mistral, OpenRouter, vLLM, xAI, mlx-serve
    r"|exceeds the (?:context window|(?:maximum )?context length)"  # OpenAI, Ollama
    r"|reduce the length of the messages"  # Groq
    r"|context length of only \d|greater than the context length",  # LM Studio
    re.IGNORECASE,
)
"""What litellm does not recognise; tests/models/overflow_replies.py has the whole texts."""
_EMPTY_MEANS_OVERFLOW = frozenset({"cerebras"})
"""Providers that refuse too large a request with status 400 and nothing else."""
_THROTTLE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"})
_THROTTLE_TEXT = re.compile(
    r"per[ _-]?(?:min(?:ute)?|second|hour|day)\b|\b[TR]P[MD]\b|rate[ _-]?limit|too many requests"
    r"|throttl|too many tokens, please wait",
    re.IGNORECASE,
)


def is_overflow(refusal: ProviderRefusal, provider: str = "") -> bool:
    """Whether a refusal says that the request is larger than the model's window.

    ``provider``: as litellm names it.
    """
    from litellm.litellm_core_utils.exception_mapping_utils import ExceptionCheckers

    text = refusal.text
    if refusal.status not in _OVERFLOW_STATUSES or _is_throttled(refusal):
        return False
    if refusal.code in _OVERFLOW_CODES or refusal.error_type in _OVERFLOW_TYPES:
        return True
    if refusal.status == 413:
        return True
    if not text.strip():
        return refusal.status == 400 and provider in _EMPTY_MEANS_OVERFLOW
    known = ExceptionCheckers.is_error_str_context_window_exceeded(text)
    return known or _OVERFLOW_TEXT.search(text) is not None


def _is_throttled(refusal: ProviderRefusal) -> bool:
    """Whether a refusal is about how much is sent in a while, whatever else it says (E12)."""
    return (
        refusal.status == 429
        or refusal.code in _THROTTLE_CODES
        or _THROTTLE_TEXT.search(refusal.text) is not None
    )


_NUMBER = r"(\d[\d,_]{2,})"
_WINDOWS = (
    # "... 215000 tokens > 200000 maximum"
    re.compile(rf"{_NUMBER}\s*(?:tokens?\s*)?(?:maximum|max\b|limit)", re.IGNORECASE),
    # "maximum context length is 8192 tokens", "number of tokens allowed (1048576)", "n_ctx=4096"
    re.compile(
        r"(?:maximum|max_\w+|limit|window|n_ctx|allowed|context (?:length|size))"
        rf"[^\d\n]{{0,48}}?{_NUMBER}",
        re.IGNORECASE,
    ),
)
_WINDOW_OF_SUM = re.compile(rf"\d\s*\+\s*[\d,_]+\s*>\s*{_NUMBER}")
"""`exceed context limit: 178959 + 64000 > 200000`."""
_SMALLEST_WINDOW = 256


def window_in(message: str) -> int | None:
    """The model's window in tokens that an overflow's message names; None where it names none."""
    summed = _WINDOW_OF_SUM.search(message)
    found = [summed[1]] if summed else [each for one in _WINDOWS for each in one.findall(message)]
    sizes = [int(re.sub(r"\D", "", number)) for number in found]
    return min((size for size in sizes if size >= _SMALLEST_WINDOW), default=None)


# the message for a person -------------------------------------------------------------------------

_LONGEST_MESSAGE = 400
_INTERNAL_TEXT = re.compile(
    r"Traceback|NoneType|pydantic|validation error|object has no attribute| at 0x[0-9a-f]"
    r"|object is not (?:subscriptable|iterable|callable)|\.py\b|litellm|<class |\b\w+Error\(",
    re.IGNORECASE,
)
"""Words of a library about itself."""
_PARSING_FAILURES = (
    AttributeError, TypeError, LookupError, ValueError, ArithmeticError, RecursionError,
    AssertionError, MemoryError,
)  # fmt: skip
"""What a library raises where a reply is not as it expects."""
_CUT_OFF = frozenset(
    {"ClientPayloadError", "TransferEncodingError", "ContentLengthError", "RemoteProtocolError"}
)
"""Class names of HTTP libraries for a reply whose end is missing; their texts are about bytes."""
_CUT_OFF_TEXT = "Stream ended before a finish_reason"
"""What litellm says of it since 1.110, under a class that says nothing."""
_TEXT_BY_KIND: Mapping[ErrorKind, str] = {
    "overflow": "The provider refused the request as too large",
    "rate_limit": "The provider takes no more requests for the moment",
    "auth": "The provider refused the key",
    "network": "The provider was not reached",
    "timeout": "The provider did not answer in time",
    "unavailable": "The provider does not know this model",
    "bad_request": "The provider refused the request without saying why",
    "server": "The provider failed without saying why",
}
"""Shown where the provider sent no message."""


def _message(error: BaseException, kind: ErrorKind, refusal: ProviderRefusal) -> str:
    if any(
        type(part).__name__ in _CUT_OFF or _CUT_OFF_TEXT in str(part) for part in _causes(error)
    ):
        return "The connection ended before the answer was complete."
    if not refusal.answered and _has_cause(error, _PARSING_FAILURES):
        return "The provider sent a reply that is not understood."
    text = refusal.text or _without_wrapping(
        str(getattr(_innermost(error), "message", "") or error)
    )
    text = redact(_CLASS_NAMES.sub("", text).strip())
    is_web_page = text.startswith("<")
    if not text or is_web_page or (not refusal.answered and _INTERNAL_TEXT.search(text)):
        status = f" (status {refusal.status})" if refusal.status is not None else ""
        text = f"{_TEXT_BY_KIND[kind]}{status}."
    return shortened(text, _LONGEST_MESSAGE)


# the provider's refusal in litellm's exception --------------------------------------------

_CLASS_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?: -|:) )+")
_ADVICE = re.compile(r"\.? ?Handle with `litellm\.\w+`\.?\s*$")
_STATUS_LINE = re.compile(r"^Error code: \d{3}(?: - )?")
_NO_TEXT = re.compile(r"^\W*$|^(?:b''|b\"\"|<no body>|None|\{\})$")
_LONGEST_LITERAL = 20_000
"""Characters of an object as Python prints it; to parse one takes a hundred times its length."""


class ProviderRefusal(Struct, frozen=True):
    """What a provider sent instead of an answer. Texts are empty where it sent none."""

    status: int | None = None
    """The HTTP status; None where none was sent, as within a stream."""
    code: str = ""
    error_type: str = ""
    text: str = ""
    """Its message, without the class names that clients put around it."""
    answered: bool = False
    """Whether it answered with a refusal that can be read."""


def refusal_of(error: BaseException) -> ProviderRefusal:
    """The provider's refusal in an exception of litellm."""
    body = _body(error)
    inner = body.get("error", body)
    if not isinstance(inner, Mapping):
        inner = {}
    text = (
        _message_in(body)
        if body
        else _without_wrapping(str(getattr(_innermost(error), "message", error)))
        or _plain_body(error)
    )
    window = inner.get("n_ctx")
    if text and isinstance(window, int):
        text += f" (n_ctx = {window})"  # llama.cpp names its window beside its message
    return ProviderRefusal(
        _status(error),
        _text(inner.get("code")) or _text(body.get("code")),
        _text(inner.get("type")) or _text(inner.get("status")) or _text(body.get("type")),
        text,
        bool(body),
    )


def retry_after_s(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait: a number, or a date compared with the server's
    clock."""
    for part in _causes(error):
        headers = getattr(getattr(part, "response", None), "headers", None)
        if headers is None:
            continue
        milliseconds = finite_seconds(headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        asked = headers.get("retry-after")
        seconds = finite_seconds(asked)
        if seconds is not None:
            return seconds
        if asked and headers.get("date"):
            try:
                until = parsedate_to_datetime(asked)
                sent = parsedate_to_datetime(headers["date"])
                return max(0.0, (until - sent).total_seconds())
            except (TypeError, ValueError):
                # A date that cannot be read is the same as none: the caller has a default.
                continue
    return None


def finite_seconds(header: str | None) -> float | None:
    """A header's number of seconds, at least 0; None for no header and for no finite number."""
    try:
        seconds = max(0.0, float(header)) if header else None
    except ValueError:
        return None
    return seconds if seconds is None or math.isfinite(seconds) else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and every error beneath it, the outermost first."""
    seen: set[int] = set()
    queue: list[BaseException | None] = [error]
    while queue:
        current = queue.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        queue += [original, current.__cause__, current.__context__]


def _has_cause(
    error: BaseException, classes: type[BaseException] | tuple[type[BaseException], ...]
) -> bool:
    return any(isinstance(part, classes) for part in _causes(error))


def _innermost(error: BaseException) -> BaseException:
    """The error in litellm's wrapper for streams that broke on the way."""
    inner = getattr(error, "original_exception", None)
    return _innermost(inner) if isinstance(inner, BaseException) and inner is not error else error


def _status(error: BaseException) -> int | None:
    """The HTTP status that the provider sent; litellm's classes set theirs by type."""
    for part in _causes(error):
        if type(part).__module__ == "litellm.exceptions":
            continue
        status = getattr(part, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _body(error: BaseException) -> Mapping[str, Any]:
    """The JSON of the refusal, from wherever a provider's client keeps it."""
    for part in _causes(error):
        body = getattr(part, "body", None)
        if isinstance(body, Mapping) and body:
            return body
    for part in _causes(error):
        if found := _as_object(_without_wrapping(str(getattr(part, "message", "") or part))):
            return found
    return {}


def _plain_body(error: BaseException) -> str:
    """The refusal where it is no object but a sentence, which openai 3 leaves out of its message:
    ``{"error": "..."}``."""
    bodies = (getattr(part, "body", None) for part in _causes(error))
    return next((body.strip() for body in bodies if isinstance(body, str) and body.strip()), "")


def _message_in(body: Mapping[str, Any]) -> str:
    """The sentence for people in a refusal's JSON, by the names that providers give it."""
    for name in ("message", "detail", "error", "errorMessage", "Message"):
        value = body.get(name)
        if isinstance(value, str) and value.strip():
            nested = _as_object(value)
            return (_message_in(nested) if nested else "") or value.strip()
        if isinstance(value, Mapping) and (message := _message_in(value)):
            return message
    return ""


def _without_wrapping(text: str) -> str:
    """A message without the names and the advice that litellm and the clients put around it."""
    text = _ADVICE.sub("", _CLASS_NAMES.sub("", text.strip()))
    text = _STATUS_LINE.sub("", text).strip()
    if len(text) > 3 and text[:2] in ("b'", 'b"') and text[-1] == text[1]:
        try:
            text = ast.literal_eval(text).decode("utf-8", "replace")
        except (ValueError, SyntaxError, AttributeError):
            text = text[2:-1]
    return "" if _NO_TEXT.match(text) else text


def _as_object(text: str) -> Mapping[str, Any]:
    """The object in a text, as JSON or as Python prints one; empty where there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end <= start or start > 200:
        return {}
    short = end - start < _LONGEST_LITERAL
    for parse in (json.loads, ast.literal_eval) if short else (json.loads,):
        try:
            parsed = parse(text[start : end + 1])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(parsed, Mapping):
            return parsed
    return {}


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
