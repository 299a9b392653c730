"""Permission for what changes something, where no window can ask: a terminal, or nobody."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import TextIO

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest
from explorer.commands.output import printable, printable_lines
from explorer.models.door import Cancelled, CancelToken

NOBODY = (
    "nobody can be asked here; run again with --yes to allow changes and commands, or with"
    " --read-only to offer none"
)
_CHOICES = "[y]es once, yes for this [s]ession, or [n]o? "


class NobodyThere:
    """Refuses, and says once what to do about it."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = False

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """See ``Approver``."""
        if not self._told:
            self._told = True
            self._tell(f"{request.title}: refused, since {NOBODY}")
        return ApprovalAnswer("deny", note=NOBODY)


class TerminalApprover:
    """Shows what is to be done on standard error, and reads the answer from the terminal."""

    def __init__(self, tell: Callable[[str], None], source: TextIO | None = None) -> None:
        self._tell = tell
        self._source = source or sys.stdin

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """See ``Approver``. Raises Cancelled."""
        self._tell(f"{request.title}?")
        shown = request.diff or f"$ {request.command}"
        for line in printable_lines(shown).split("\n"):
            self._tell(f"  {line}")
        if request.notice:
            self._tell(f"  {printable(request.notice)}")
        allows = f" (allows {request.pattern})" if request.pattern else ""
        while True:
            sys.stderr.write(_CHOICES.replace("ession", f"ession{allows}"))
            sys.stderr.flush()
            match (await self._line(cancel)).strip().lower():
                case "y" | "yes":
                    return ApprovalAnswer("once")
                case "s" | "session":
                    return ApprovalAnswer("session")
                case "n" | "no" | "":
                    return ApprovalAnswer("deny")
                case _:
                    self._tell("Please answer y, s or n.")

    async def _line(self, cancel: CancelToken) -> str:
        """A line from the terminal. Raises Cancelled."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()

        def give_up() -> None:
            loop.call_soon_threadsafe(_settle, answer, None)

        forget = cancel.add_callback(give_up)
        stop = _read(loop, self._source, answer)
        try:
            return await answer
        finally:
            forget()
            stop()


def _read(
    loop: asyncio.AbstractEventLoop, source: TextIO, answer: asyncio.Future[str]
) -> Callable[[], None]:
    """Begin to wait for a line; what is returned ends that."""
    try:
        loop.add_reader(source, lambda: _settle(answer, source.readline()))
    except NotImplementedError:
        # A loop of Windows waits for no terminal; a thread does, and dies with the process.
        def wait() -> None:
            line = source.readline()
            loop.call_soon_threadsafe(_settle, answer, line)

        threading.Thread(target=wait, daemon=True).start()
        return lambda: None

    def stop() -> None:
        loop.remove_reader(source)

    return stop


def _settle(answer: asyncio.Future[str], line: str | None) -> None:
    """Give the line; None: the turn was stopped meanwhile."""
    if answer.done():
        return
    if line is None:
        answer.set_exception(Cancelled())
    else:
        answer.set_result(line)
