"""A service of the user that summarizes, over HTTP (A29).

What is sent is ``{"systemPrompt", "prompt"}``; what comes back is an object with ``summary`` and
perhaps ``shortSummary``, as it is or within ``{"data": {...}}``. Endpoints that speak chat
completions may answer with ``choices``, as oh-my-pi takes it from them. A key comes from the
environment alone.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from explorer.models.events import (
    ErrorKind,
    Event,
    Finished,
    ModelError,
    TextDelta,
    Usage,
    UsageReport,
)
from explorer.models.keys import redact
from explorer.models.provider_error import finite_seconds
from explorer.models.reply_guard import CallTimeout, ReplyGuard, ReplyLimits
from explorer.models.reply_reader import UnreadableReply, read_json, shortened
from explorer.models.request import ModelRequest
from explorer.models.servers import is_loopback
from explorer.tokens.estimate import estimate_text

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "SESSION_EXPLORER_REMOTE_KEY"
"""The environment variable whose value is sent as a bearer token."""
_BODY_SHOWN = 300


class RemoteSettings(Struct, frozen=True):
    """How the endpoint is reached. Times in seconds, sizes in bytes."""

    address: str = ""
    connect_timeout_s: float = 15.0
    timeout_s: float = 600.0
    """From the first byte sent to the last one received."""
    most_bytes: int = 4_000_000
    """An answer that is larger is not read to its end."""
    allow_plain: bool = False
    """Whether text may go unencrypted to another machine."""


def check_address(address: str, allow_plain: bool = False) -> str:
    """The address, if text may be sent there. Raises ModelError (unavailable) with the reason."""
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ModelError("unavailable", f"The endpoint's address is not one: {error}.") from error
    if not address.strip():
        raise ModelError("unavailable", "No address was given for the remote endpoint.")
    if parts.scheme not in ("http", "https") or not host:
        raise ModelError(
            "unavailable",
            "The endpoint's address must begin with https:// and name a host, such as "
            "https://example.com/compact.",
        )
    if parts.username or parts.password:
        raise ModelError(
            "unavailable",
            "The endpoint's address must not hold a name or a password; put the key into the "
            f"environment variable {KEY_VARIABLE}.",
        )
    if parts.scheme == "http" and not allow_plain and not is_loopback(host):
        where = host if port is None else f"{host}:{port}"
        raise ModelError(
            "unavailable",
            f"The conversation would go unencrypted to {where}. Use https://.",
        )
    return address.strip()


def body_of(request: ModelRequest) -> dict[str, str]:
    """The posted object: the system messages, and all others joined."""
    system = [message.text for message in request.messages if message.role == "system"]
    others = [message.text for message in request.messages if message.role != "system"]
    return {"systemPrompt": "\n\n".join(system), "prompt": "\n\n".join(others)}


async def call_endpoint(
    request: ModelRequest, settings: RemoteSettings, emit: Callable[[Event], None]
) -> None:
    """Post a request and emit its answer as events. Raises ModelError."""
    address = check_address(request.endpoint or settings.address, settings.allow_plain)
    # The import takes a fifth of a second: only where there is an endpoint.
    import_module("explorer.models.guarded_transports")
    httpx = import_module("httpx")

    timeout = CallTimeout(settings.timeout_s, settings.timeout_s, emit)
    limits = ReplyLimits(settings.most_bytes, settings.most_bytes)
    guard = ReplyGuard(limits, address)
    try:
        async with timeout:
            with guard.active():
                raw = await _post(httpx, address, body_of(request), settings)
    except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
        raise _unreached(httpx, error, address) from error
    summary, short = read_answer(raw, _host(address))
    emit(TextDelta(summary))
    given = sum(estimate_text(message.text) for message in request.messages)
    made = estimate_text(summary)
    emit(UsageReport(Usage(input=given, output=made, total=given + made, source="estimate")))
    emit(Finished("stop", short))


async def _post(
    httpx: Any, address: str, body: Mapping[str, str], settings: RemoteSettings
) -> bytes:
    headers = {"accept": "application/json"}
    if key := os.environ.get(KEY_VARIABLE):
        headers["authorization"] = f"Bearer {key}"
    timeout = httpx.Timeout(settings.timeout_s, connect=settings.connect_timeout_s)
    # The system's certificates, or those that SSL_CERT_FILE names; reading them takes a while.
    verify = await asyncio.to_thread(ssl.create_default_context)
    async with (
        # A redirection could lead the conversation anywhere.
        httpx.AsyncClient(verify=verify, timeout=timeout, follow_redirects=False) as client,
        client.stream("POST", address, json=dict(body), headers=headers) as response,
    ):
        raw: bytes = await response.aread()
        if response.status_code != 200:
            raise _refused(response, raw, address)
        return raw


def read_answer(raw: bytes, host: str) -> tuple[str, str]:
    """Summary and sentences for display out of an answer's body. Raises ModelError."""
    try:
        value = read_json(raw.decode("utf-8", "replace"), "")
    except UnreadableReply as error:
        raise ModelError("bad_request", f"The answer of {host} is not JSON.") from error
    inner = value.get("data") if isinstance(value, dict) else None
    for found in (value, inner):
        if isinstance(found, dict) and isinstance(found.get("summary"), str):
            short = found.get("shortSummary")
            return found["summary"], short if isinstance(short, str) else ""
    if (text := _chat_answer(value)) is not None:
        return text, ""
    raise ModelError("bad_request", f"The answer of {host} holds no text named summary.")


def _chat_answer(value: object) -> str | None:
    """The text of an answer in the shape of chat completions; None for another shape."""
    choices = value.get("choices") if isinstance(value, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str)) or None
    return content if isinstance(content, str) else None


_KINDS: Mapping[int, ErrorKind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    404: "unavailable",
    408: "timeout",
    413: "overflow",
    429: "rate_limit",
    504: "timeout",
}


def _refused(response: httpx.Response, raw: bytes, address: str) -> ModelError:
    status = response.status_code
    kind = _KINDS.get(status, "server" if status >= 500 else "bad_request")
    detail = shortened(raw[: _BODY_SHOWN * 4].decode("utf-8", "replace"), _BODY_SHOWN)
    message = f"The endpoint at {_host(address)} answered with status {status}"
    wait = response.headers.get("retry-after", "")
    message += f": {detail}" if detail else "."
    return ModelError(kind, redact(message), finite_seconds(wait))


def _unreached(httpx: Any, error: Exception, address: str) -> ModelError:
    """A failure before there was an answer, in a sentence."""
    host = _host(address)
    detail = shortened(str(error), _BODY_SHOWN) or "nobody answered"
    if "CERTIFICATE_VERIFY_FAILED" in detail or isinstance(error.__cause__, ssl.SSLError):
        return ModelError(
            "unavailable", f"The certificate of {host} is not to be trusted: {detail}."
        )
    if isinstance(error, httpx.TimeoutException):
        return ModelError("timeout", f"The endpoint at {host} did not answer in time.")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ModelError("unavailable", f"The endpoint's address cannot be used: {detail}.")
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return ModelError("network", f"The answer of {host} is cut off, or is not HTTP.")
    return ModelError("network", redact(f"The endpoint at {host} cannot be reached: {detail}."))


def _host(address: str) -> str:
    """The host and port; path and query may hold secrets."""
    parts = urlsplit(address)
    return parts.netloc.rsplit("@", 1)[-1] or "the given address"
