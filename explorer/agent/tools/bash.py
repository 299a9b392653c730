"""The tool ``bash``: a command line, its output as it comes, and a sentence about its end."""

from __future__ import annotations

import codecs
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from explorer import private_files
from explorer.agent.shell import (
    DEFAULT_SECONDS,
    MOST_SECONDS,
    CommandLimits,
    CommandResult,
    run_command,
)
from explorer.agent.tools.content import MOST_BYTES, MOST_LINES, Truncated, tail
from explorer.agent.tools.port import (
    Arguments,
    ToolContext,
    ToolOutcome,
    ToolRun,
    number_of,
    text_of,
)

LIVE_S = 0.05
"""Seconds between two pieces of live output."""
LIVE_MOST = 16 * 1024
"""Characters of a piece; of more only the end is passed on."""
_BUFFER_BYTES = 4 * MOST_BYTES


class _Output:
    """What a command writes: its end in memory, all of it in a file once that is not enough."""

    def __init__(self, context: ToolContext, job: ToolRun, live: Callable[[str], None]) -> None:
        self._context = context
        self._job = job
        self._live = live
        self._blocks: deque[bytes] = deque()
        self._buffered_size = 0
        self._file: BinaryIO | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._passed_at = 0.0
        self.path: Path | None = None
        self.size = 0
        self.lines = 0
        self.ends_open = False

    def take(self, block: bytes) -> None:
        """Take in a piece of output, on the command's thread. Raises OSError when it cannot be
        stored."""
        self.size += len(block)
        self.lines += block.count(b"\n")
        self.ends_open = not block.endswith(b"\n")
        self._blocks.append(block)
        self._buffered_size += len(block)
        if self._file is not None:
            self._file.write(block)
        elif self.size > MOST_BYTES or self.lines > MOST_LINES:
            self._begin_file()
        while self._buffered_size - len(self._blocks[0]) > _BUFFER_BYTES:
            self._buffered_size -= len(self._blocks.popleft())
        self._pass_on(block)

    def _begin_file(self) -> None:
        if self._context.outputs is None:
            return
        self.path = self._context.outputs.new(self._job.tool, self._job.call_id)
        self._file = private_files.create(self.path)
        for block in self._blocks:
            self._file.write(block)

    def _pass_on(self, block: bytes) -> None:
        self._waiting += self._decoder.decode(block)
        if len(self._waiting) > 2 * LIVE_MOST:
            self._waiting = "…" + self._waiting[-LIVE_MOST:]
        now = time.monotonic()
        if now - self._passed_at >= LIVE_S:
            self._passed_at = now
            self.flush()

    def flush(self) -> None:
        """Pass on what waits."""
        if self._waiting:
            self._live(self._waiting)
            self._waiting = ""

    def close(self) -> None:
        """End the output, and close its file. Raises OSError."""
        self._waiting += self._decoder.decode(b"", final=True)
        self.flush()
        if self._file is not None:
            self._file.close()

    def cut(self) -> Truncated:
        """The end of the output within the limits; marked as cut by bytes where the buffer has
        dropped its beginning."""
        text = _plain(b"".join(self._blocks).decode("utf-8", "replace"))
        cut = tail(text)
        if self._buffered_size == self.size and cut.by is None:
            return cut
        lines = self.lines + self.ends_open
        return Truncated(
            cut.text, cut.lines, lines, cut.size, self.size, cut.by or "bytes", cut.partial
        )


def bash(
    context: ToolContext,
    arguments: Arguments,
    job: ToolRun,
    environment: Mapping[str, str],
    live: Callable[[str], None],
) -> ToolOutcome:
    """Run a command line. ``live`` is called on this thread. Raises ToolError and OSError."""
    command = text_of(arguments, "command")
    seconds = number_of(arguments, "timeout", DEFAULT_SECONDS, least=0)
    limits = CommandLimits(seconds=min(seconds or MOST_SECONDS, MOST_SECONDS))
    output = _Output(context, job, live)
    try:
        result = run_command(
            command, context.workspace.root, environment, output.take, job.cancel, limits
        )
    finally:
        output.close()
    return _outcome(output, result, limits)


def _outcome(output: _Output, result: CommandResult, limits: CommandLimits) -> ToolOutcome:
    cut = output.cut()
    details: dict[str, Any] = {"exitCode": result.code}
    parts = [cut.text.rstrip("\n")] if cut.text.strip() else ["(no output)"]
    if cut.by is not None:
        details["truncation"] = cut.details()
        parts.append(f"[{_range_text(cut)}{_whole(output)}]")
    if output.path is not None:
        details["fullOutputPath"] = str(output.path)
    ended, failed = _ended(result, limits)
    if ended:
        parts.append(ended)
    if result.left:
        some = "1 process" if result.left == 1 else f"{result.left} processes"
        parts.append(f"[What it left running was ended with it ({some}): nothing runs on.]")
    return ToolOutcome("\n\n".join(parts), failed, details=details)


def _range_text(cut: Truncated) -> str:
    if cut.partial:
        return f"The last {cut.size:,} bytes of line {cut.total_lines:,} are shown."
    first = cut.total_lines - cut.lines + 1
    return f"Lines {first:,}-{cut.total_lines:,} of {cut.total_lines:,} are shown."


def _whole(output: _Output) -> str:
    if output.path is None:
        return ""
    return f" All of it: read {output.path} with offset and limit."


def _ended(result: CommandResult, limits: CommandLimits) -> tuple[str, bool]:
    """How it ended, as far as it needs telling, and whether that is a failure."""
    if result.end == "stopped":
        return "Stopped by the person; all that it started is ended.", True
    if result.end == "timed_out":
        cause = f"Ended after {limits.seconds:,.0f} seconds, its time limit."
        return f"{cause} Give a higher timeout if it needs more.", True
    if result.end == "too_much":
        return f"Ended after {limits.output:,} bytes of output, the most that is taken.", True
    if result.code:
        return f"Exit code {result.code}.", True
    if result.code is None:
        cause = f"signal {result.signal}" if result.signal else "something outside"
        return f"Ended by {cause}.", True
    return "", False


def _plain(text: str) -> str:
    """Lines as a terminal would leave them: of what was written over, what was written last."""
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
