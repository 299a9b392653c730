"""Permission for what changes something, where no window can ask: a terminal, or nobody."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from collections.abc import Callable
from typing import TextIO

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest
from explorer.models.cancel import done_or_cancelled
from explorer.models.door import Cancelled, CancelToken
from explorer.session.visible_text import end_of, exact, folded, size_words, visible_line

NOBODY = (
    "nobody can be asked here; run again with --yes to allow changes and commands, or with"
    " --read-only to offer none"
)
NOBODY_FOR_THIS = "nobody can be asked here, and --yes does not allow this"
_CHOICES = "[y]es once, yes for this [s]ession, or [n]o? "
_MARGIN = 5
"""Columns that the mark of a line takes, and one that no terminal is sure of."""
_AROUND = 5
"""Lines of a question beside the command."""
_LONG = 1000
"""Characters of which the end is shown again, however high the terminal is."""


class NobodyThere:
    """Refuses, and says once for each reason what to do about it."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """See ``Approver``."""
        why = NOBODY_FOR_THIS if request.kept_apart else NOBODY
        if why not in self._told:
            self._told.add(why)
            self._tell(f"{request.title}: refused, since {why}")
        return ApprovalAnswer("deny", note=why)


class TerminalApprover:
    """Shows what is to be done on standard error, and reads the answer from the terminal."""

    def __init__(self, tell: Callable[[str], None], source: TextIO | None = None) -> None:
        self._tell = tell
        self._source = source or sys.stdin

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """See ``Approver``. Raises Cancelled."""
        for line in question_lines(request, _terminal_size()):
            self._tell(line)
        allows = f" (allows {_on_one_line(request.pattern)})" if request.pattern else ""
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
        stop = _read(loop, self._source, answer)
        try:
            if not await done_or_cancelled(answer, cancel):
                raise Cancelled
            return answer.result()
        finally:
            stop()


def question_lines(request: ApprovalRequest, size: os.terminal_size) -> list[str]:
    """A question in lines for a terminal of that size: the whole command or diff, each line of it
    marked as such, and where it is long its size before and its end after it."""
    text = request.diff or f"$ {request.command}"
    shown = exact(text)
    body = [
        f"  {'┆' if number else '│'} {part}"
        for line in shown.split("\n")
        for number, part in enumerate(folded(line, max(20, size.columns - _MARGIN)))
    ]
    lines = [f"{_on_one_line(request.title)}?", *body]
    if request.notice:
        lines.append(f"  {_on_one_line(request.notice)}")
    if len(body) > size.lines - _AROUND or len(text) > _LONG:
        lines.insert(1, f"  {size_words(text)}: all of it follows, then its end again.")
        lines.append(f"  It ends with: {end_of(shown)}")
    return lines


def _terminal_size() -> os.terminal_size:
    """The size of the terminal that the question is on."""
    try:
        found = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    return found if found.columns and found.lines else shutil.get_terminal_size()


def _on_one_line(text: str) -> str:
    return visible_line(exact(text))


def _read(
    loop: asyncio.AbstractEventLoop, source: TextIO, answer: asyncio.Future[str]
) -> Callable[[], None]:
    """Begin to wait for a line; what is returned ends that."""

    def read() -> None:
        loop.remove_reader(source)  # at once: the next line answers the next question
        _settle(answer, source.readline())

    try:
        loop.add_reader(source, read)
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


def _settle(answer: asyncio.Future[str], line: str) -> None:
    if not answer.done():
        answer.set_result(line)
