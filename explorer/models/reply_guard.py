"""Limits of one reply: its bytes, its time, its silences, and the one server that may be asked.

``ReplyGuard`` is looked up by the transports beneath every HTTP client; see
``explorer.models.guarded_transports``. ``CallTimeout`` ends what takes too long.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import zlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from explorer.models.events import ErrorKind, Event, ModelError, Silence
from explorer.models.reply_reader import EventStream, Format, UnreadableReply, shortened

if TYPE_CHECKING:
    import httpx

_STEP = 65_536
"""Bytes that one step of decompression may make."""
_STREAMED = re.compile(rb'"stream"\s*:\s*true')
_FORMATS: tuple[tuple[str, Format], ...] = (
    ("/chat/completions", "completions"),
    ("/messages", "messages"),
)


def _ignore() -> None:
    """What is done for a piece of a reply that nobody waits for."""


class ReplyLimits(Struct, frozen=True):
    """What one reply may be, in bytes after decompression.

    The text of a long reply is under a megabyte. Sent a token at a time, each in an event of some
    300 bytes, it comes to some 60.
    """

    most_bytes: int = 128_000_000
    most_line: int = 4_000_000
    """Of one line, and of one event."""
    most_refusal: int = 100_000
    """Of the body of a refusal; what is beyond it is left unread."""


class ReplyGuard:
    """Checks the requests and replies of one call; ``problem`` is why it was ended, whatever the
    libraries between made of that."""

    def __init__(
        self,
        limits: ReplyLimits,
        address: str | None = None,
        on_activity: Callable[[], None] = _ignore,
    ) -> None:
        """``address``: where alone requests may go, None for anywhere. ``on_activity`` is called
        for every reply and every piece of one."""
        self.limits = limits
        self.on_activity = on_activity
        self.host = ""
        """Where the last request went."""
        self.problem: ModelError | None = None
        self._allowed = urlsplit(address).netloc.rpartition("@")[2] if address else ""

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Check what this task sends and receives."""
        token = _GUARD.set(self)
        try:
            yield
        finally:
            _GUARD.reset(token)
            # A connection that is kept holds the context that it was made in, and so this guard:
            # whoever made the call, a whole window, must not hang on it.
            self.on_activity = _ignore

    def fail(self, kind: ErrorKind, message: str) -> ModelError:
        """The problem that ends the call; the first one counts."""
        if self.problem is None:
            self.problem = ModelError(kind, message)
        return self.problem

    def check_request(self, request: httpx.Request) -> None:
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

    def body_reader(self, request: httpx.Request, response: httpx.Response) -> BodyReader:
        """What checks the body. Raises ModelError for a reply that is not to be read."""
        self.on_activity()
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
        format = _format(request) if status < 300 else None
        return BodyReader(self, encoding.removeprefix("identity"), status, format)

    def _redirected(self, asked: str, response: httpx.Response) -> str:
        try:
            to = urlsplit(urljoin(asked, response.headers.get("location", ""))).netloc
        except ValueError:
            to = ""
        place = shortened(to.rpartition("@")[2], 100) or "another address"
        if place == self.host:
            place = "another page of its own"
        return f"The server at {self.host} redirects to {place}, which is not followed."


_GUARD: ContextVar[ReplyGuard | None] = ContextVar("reply_guard", default=None)


def current_guard() -> ReplyGuard | None:
    """The guard of the call that this code runs for."""
    return _GUARD.get()


def _format(request: httpx.Request) -> Format | None:
    """The format of a streamed reply to this request; None where only its bytes are checked."""
    path = request.url.path.rstrip("/")
    format = next((name for end, name in _FORMATS if path.endswith(end)), None)
    # Both formats are asked for in JSON, which is there as a whole.
    return format if format and _STREAMED.search(request.content) else None


class BodyReader:
    """Takes the bytes of one body and gives on what may be read."""

    def __init__(
        self, guard: ReplyGuard, encoding: str, status: int, format: Format | None
    ) -> None:
        self._guard = guard
        self._refused = status >= 400
        self._expand = _Decompressor(encoding) if encoding else None
        self._stream = EventStream(format, guard.limits.most_line) if format else None
        self._size = 0
        self._line = 0
        self.full = False
        """Nothing more is to be read."""

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """What may be given on of some more bytes. Raises ModelError."""
        self._guard.on_activity()
        try:
            for piece in (raw,) if self._expand is None else self._expand.feed(raw):
                if self.full:
                    return
                self._count(piece)
                yield from (piece,) if self._stream is None else self._stream.feed(piece)
                self.full |= self._stream is not None and self._stream.done
        except zlib.error as error:
            message = f"The server at {self._guard.host} sent a reply that cannot be decompressed."
            raise self._guard.fail("server", message) from error
        except UnreadableReply as error:
            raise self._unreadable(error) from error

    def end(self) -> Iterator[bytes]:
        """What may be given on at the end of the body. Raises ModelError."""
        try:
            yield from () if self._stream is None else self._stream.end()
        except UnreadableReply as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: UnreadableReply) -> ModelError:
        message = f"The server at {self._guard.host} sent a reply that is not understood: {error}."
        return self._guard.fail("server", message)

    def _count(self, piece: bytes) -> None:
        limits = self._guard.limits
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
        message = f"The reply of the server at {self._guard.host} {what}; the rest was not read."
        raise self._guard.fail("bad_request", message)


class _Decompressor:
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


# time ---------------------------------------------------------------------------------------------

FIRST_SILENCE_S = 20.0
"""Seconds without a byte after which a silence is reported."""
_SILENCE_INTERVAL_S = 10.0
"""Seconds between further reports of the same silence."""


class CallTimeout:
    """An asynchronous context whose body is ended by a ModelError (timeout).

    ``silence_s`` bounds the seconds without activity, ``total_s`` all of it. ``emit`` gets a
    ``Silence`` where nothing comes for a while.
    """

    def __init__(self, silence_s: float, total_s: float, emit: Callable[[Event], None]) -> None:
        self._silence = silence_s
        self._total = total_s
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._begun = self._last = self._loop.time()
        self._timeout = asyncio.timeout_at(self._deadline)
        self._reporter: asyncio.Task[None] | None = None

    @property
    def _deadline(self) -> float:
        return min(self._begun + self._total, self._last + self._silence)

    def on_activity(self) -> None:
        """Something was received; from any thread."""
        self._last = self._loop.time()

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._reporter = asyncio.create_task(self._report())

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._reporter is not None:
            self._reporter.cancel()
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError as late:
            raise ModelError("timeout", self._message) from late
        if error is not None and self._timeout.expired():
            # The body turned its cancellation into another error.
            raise ModelError("timeout", self._message) from error

    async def _report(self) -> None:
        """Move the deadline as bytes come, and report silences."""
        next_report = FIRST_SILENCE_S
        while not self._timeout.expired():
            self._timeout.reschedule(self._deadline)
            silent = self._loop.time() - self._last
            if silent < FIRST_SILENCE_S:
                next_report = FIRST_SILENCE_S
            elif silent >= next_report:
                next_report = silent + _SILENCE_INTERVAL_S
                self._emit(Silence(silent, self._silence))
            await asyncio.sleep(min(1.0, max(0.02, self._silence / 10)))

    @property
    def _message(self) -> str:
        if self._loop.time() - self._begun >= self._total:
            return f"The answer was not complete after {self._total:g} seconds; it was ended."
        return f"The server sent no byte for {self._silence:g} seconds; the call was ended."
