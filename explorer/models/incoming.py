"""The bytes of a reply on their way in: bounded, and from no other server than the one asked.

``Watch`` is looked for by the transports beneath every client; see ``explorer.models.transports``.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from explorer.models.event_stream import EventStream, Language
from explorer.models.events import ErrorKind, ModelError
from explorer.models.sense import Misunderstood
from explorer.models.shown import shortened

if TYPE_CHECKING:
    import httpx

_STEP = 65_536
"""Bytes that one step of decompression may make."""
_STREAMED = re.compile(rb'"stream"\s*:\s*true')
_LANGUAGES: tuple[tuple[str, Language], ...] = (
    ("/chat/completions", "completions"),
    ("/messages", "messages"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one reply may be, in bytes after decompression.

    The text of a long reply is under a megabyte. Sent a token at a time, each in an event of some
    300 bytes, it comes to some 60.
    """

    most_bytes: int = 128_000_000
    most_line: int = 4_000_000
    """Of one line, and of one event."""
    most_refusal: int = 100_000
    """Of the body of a refusal; what is beyond it is left unread."""


class Watch:
    """Watches over one call; ``problem`` is why it was ended, whatever became of that on its way
    through the libraries."""

    def __init__(
        self,
        limits: Limits,
        address: str | None = None,
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        """``address``: where alone requests may go, None for anywhere. ``heard`` is called for
        every sign of life."""
        self.limits = limits
        self.heard = heard
        self.host = ""
        """Where the last request went."""
        self.problem: ModelError | None = None
        self._allowed = urlsplit(address).netloc.rpartition("@")[2] if address else ""

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Watch over what this task does."""
        token = _WATCH.set(self)
        try:
            yield
        finally:
            _WATCH.reset(token)

    def fail(self, kind: ErrorKind, message: str) -> ModelError:
        """The problem that ends the call; the first one counts."""
        if self.problem is None:
            self.problem = ModelError(kind, message)
        return self.problem

    def before(self, request: httpx.Request) -> None:
        """Raises ModelError where the request must not be sent."""
        if self.problem is not None:
            raise self.problem
        host = request.url.netloc.decode("ascii", "replace")
        if self._allowed and host != self._allowed:
            raise self.fail(
                "unavailable",
                f"A request would have gone to {shortened(host, 100)}; it was not sent.",
            )
        self.host = host
        # What is not compressed cannot swell.
        request.headers["accept-encoding"] = "identity"

    def intake(self, request: httpx.Request, response: httpx.Response) -> Intake:
        """What reads the body. Raises ModelError for a reply that is not to be read."""
        self.heard()
        status = response.status_code
        if 300 <= status < 400:
            raise self.fail("unavailable", self._redirected(str(request.url), response))
        if status < 200:
            raise self.fail("server", f"The server at {self.host} answered with status {status}.")
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            words = f"encoded as {shortened(encoding, 40)}, which was not asked for"
            raise self.fail("server", f"The server at {self.host} sent a reply {words}.")
        with contextlib.suppress(KeyError):
            del response.headers["content-encoding"]
        language = _language(request) if status < 300 else None
        return Intake(self, encoding.removeprefix("identity"), status, language)

    def _redirected(self, asked: str, response: httpx.Response) -> str:
        try:
            to = urlsplit(urljoin(asked, response.headers.get("location", ""))).netloc
        except ValueError:
            to = ""
        place = shortened(to.rpartition("@")[2], 100) or "another address"
        if place == self.host:
            place = "another page of its own"
        return f"The server at {self.host} redirects to {place}, which is not followed."


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current_watch() -> Watch | None:
    """The watch over the call that this code runs for."""
    return _WATCH.get()


def _language(request: httpx.Request) -> Language | None:
    """How a streamed reply to this request is spelled; None where only its bytes count."""
    path = request.url.path.rstrip("/")
    language = next((name for end, name in _LANGUAGES if path.endswith(end)), None)
    # Both languages are asked in JSON, which is there as a whole.
    return language if language and _STREAMED.search(request.content) else None


class Intake:
    """Takes the bytes of one body and gives on what may be read."""

    def __init__(self, watch: Watch, encoding: str, status: int, language: Language | None) -> None:
        self._watch = watch
        self._refused = status >= 400
        self._expand = _Expander(encoding) if encoding else None
        self._stream = EventStream(language, watch.limits.most_line) if language else None
        self._size = 0
        self._line = 0
        self.full = False
        """Nothing more is to be read."""

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """What may be given on of some more bytes. Raises ModelError."""
        self._watch.heard()
        try:
            for piece in (raw,) if self._expand is None else self._expand.feed(raw):
                if self.full:
                    return
                self._count(piece)
                yield from (piece,) if self._stream is None else self._stream.feed(piece)
                self.full |= self._stream is not None and self._stream.done
        except zlib.error as error:
            told = f"The server at {self._watch.host} sent a reply that cannot be decompressed."
            raise self._watch.fail("server", told) from error
        except Misunderstood as error:
            raise self._misunderstood(error) from error

    def end(self) -> Iterator[bytes]:
        """What may be given on at the end of the body. Raises ModelError."""
        try:
            yield from () if self._stream is None else self._stream.end()
        except Misunderstood as error:
            raise self._misunderstood(error) from error

    def _misunderstood(self, error: Misunderstood) -> ModelError:
        told = f"The server at {self._watch.host} sent a reply that is not understood: {error}."
        return self._watch.fail("server", told)

    def _count(self, piece: bytes) -> None:
        limits = self._watch.limits
        self._size += len(piece)
        if self._refused:
            self.full = self._size >= limits.most_refusal
            return
        if self._size > limits.most_bytes:
            self._too_large(f"is larger than {limits.most_bytes:,} bytes")
        last = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
        self._line = self._line + len(piece) if last < 0 else len(piece) - last - 1
        if self._line > limits.most_line:
            self._too_large(f"has a line of more than {limits.most_line:,} bytes")

    def _too_large(self, what: str) -> None:
        told = f"The reply of the server at {self._watch.host} {what}; the rest was not read."
        raise self._watch.fail("bad_request", told)


class _Expander:
    """Decompresses gzip and deflate in small steps."""

    def __init__(self, encoding: str) -> None:
        self._expand = zlib.decompressobj(15 + 32)
        self._may_be_bare = encoding == "deflate"

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """The decompressed bytes, a step at a time. Raises zlib.error."""
        try:
            piece = self._expand.decompress(raw, _STEP)
        except zlib.error:
            if not self._may_be_bare:
                raise
            # Some servers leave out the two bytes of zlib's head.
            self._expand = zlib.decompressobj(-15)
            piece = self._expand.decompress(raw, _STEP)
        self._may_be_bare = False
        while piece:
            yield piece
            piece = self._expand.decompress(self._expand.unconsumed_tail, _STEP)
