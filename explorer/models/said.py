"""What a provider really said when it refused: status, code, words, and how long to wait.

litellm wraps it several times over, each provider in its own way; nothing is decided here.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

_CLASS_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?: -|:) )+")
_ADVICE = re.compile(r"\.? ?Handle with `litellm\.\w+`\.?\s*$")
_STATUS_LINE = re.compile(r"^Error code: \d{3}(?: - )?")
_NO_WORDS = re.compile(r"^\W*$|^(?:b''|b\"\"|<no body>|None|\{\})$")

_MOST_PRINTED = 20_000
"""Characters of an object as Python prints it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A provider's refusal. Texts are empty where it gave none."""

    status: int | None = None
    """The HTTP status; None when it was never sent, as inside a stream."""
    code: str = ""
    error_type: str = ""
    text: str = ""
    """Its words, without the names of classes around them."""
    answered: bool = False
    """Whether it answered with a refusal that can be read."""


def chain(error: BaseException) -> Iterator[BaseException]:
    """The failure and all that lies beneath it, the outermost first."""
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


def unwrapped(error: BaseException) -> BaseException:
    """The failure inside litellm's wrapper for streams that broke on the way."""
    inner = getattr(error, "original_exception", None)
    return unwrapped(inner) if isinstance(inner, BaseException) and inner is not error else error


def what_was_said(error: BaseException) -> Said:
    """The provider's own refusal inside an exception of litellm's."""
    status = _status(error)
    body = _body(error)
    inner = body.get("error", body) if body else {}
    if isinstance(inner, str):
        inner = {"message": inner}
    if not isinstance(inner, Mapping):
        inner = {}
    text = words_of(body) if body else _bare(str(getattr(unwrapped(error), "message", error)))
    size = inner.get("n_ctx")
    if text and isinstance(size, int):
        text += f" (n_ctx = {size})"  # llama.cpp tells its window beside its words
    return Said(
        status,
        _text(inner.get("code")) or _text(body.get("code")),
        _text(inner.get("type")) or _text(inner.get("status")) or _text(body.get("type")),
        text,
        bool(body),
    )


def words_of(body: Mapping[str, Any]) -> str:
    """The sentence for people in a refusal's JSON, as the providers spell it."""
    for name in ("message", "detail", "error", "errorMessage", "Message"):
        value = body.get(name)
        if isinstance(value, str) and value.strip():
            nested = _as_json(value)
            return (words_of(nested) if nested else "") or value.strip()
        if isinstance(value, Mapping) and (found := words_of(value)):
            return found
    return ""


def plain_words(error: BaseException) -> str:
    """What a person may be told of a failure; empty when nothing was said."""
    said = what_was_said(error)
    text = said.text or _bare(str(getattr(unwrapped(error), "message", "") or error))
    return _CLASS_NAMES.sub("", text).strip()


def retry_after_s(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait: a number, or a date set against its own clock."""
    for part in chain(error):
        headers = getattr(getattr(part, "response", None), "headers", None)
        if headers is None:
            continue
        milliseconds = seconds_of(headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        asked = headers.get("retry-after")
        seconds = seconds_of(asked)
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


def _status(error: BaseException) -> int | None:
    """The HTTP status that the provider sent; litellm's own classes set theirs by type."""
    for part in chain(error):
        if type(part).__module__ == "litellm.exceptions":
            continue
        status = getattr(part, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _body(error: BaseException) -> Mapping[str, Any]:
    """The JSON of the refusal, from wherever a provider's client keeps it."""
    for part in chain(error):
        body = getattr(part, "body", None)
        if isinstance(body, Mapping) and body:
            return body
    for part in chain(error):
        if found := _as_json(_bare(str(getattr(part, "message", "") or part))):
            return found
    return {}


def _bare(text: str) -> str:
    """A message without the names and the advice that litellm and the clients put around it."""
    text = _ADVICE.sub("", _CLASS_NAMES.sub("", text.strip()))
    text = _STATUS_LINE.sub("", text).strip()
    if len(text) > 3 and text[:2] in ("b'", 'b"') and text[-1] == text[1]:
        try:
            text = ast.literal_eval(text).decode("utf-8", "replace")
        except (ValueError, SyntaxError, AttributeError):
            text = text[2:-1]
    return "" if _NO_WORDS.match(text) else text


def _as_json(text: str) -> Mapping[str, Any]:
    """The object that a text holds, as JSON or as Python prints one; empty when it holds none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end <= start or start > 200:
        return {}
    # What Python would read takes a hundred times its length.
    readers = (json.loads, ast.literal_eval) if end - start < _MOST_PRINTED else (json.loads,)
    for read in readers:
        try:
            found = read(text[start : end + 1])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, Mapping):
            return found
    return {}


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def seconds_of(value: str | None) -> float | None:
    """The number that a header has; None for none, and for one without an end."""
    try:
        number = max(0.0, float(value)) if value else None
    except ValueError:
        return None
    return number if number is None or math.isfinite(number) else None
