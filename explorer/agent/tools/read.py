"""The tool ``read``: a passage of a text file, or a picture."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any, BinaryIO

from msgspec import Struct

from explorer.agent.tools.context import ToolContext, ToolRun
from explorer.agent.tools.file_content import (
    BOM,
    LARGEST_IMAGE,
    SNIFFED,
    is_text,
    picture,
    picture_type,
)
from explorer.agent.tools.port import Arguments, ToolError, ToolOutcome, number_of, path_of
from explorer.agent.tools.truncation import MOST_BYTES, MOST_LINES, Truncated, head
from explorer.agent.workspace import opened

_BLOCK = 1 << 20


class _Passage(Struct):
    """Lines of a file from ``first`` on, and how many it has in all."""

    first: int
    most: int
    data: bytearray
    lines: int = 0
    ends_open: bool = False
    mark: str = ""

    @property
    def text(self) -> str:
        """The lines, without carriage returns at their ends."""
        rows = self.data.decode("utf-8", "replace").split("\n")
        if rows and not rows[-1]:
            rows.pop()
        return "\n".join(row.removesuffix("\r") for row in rows[: self.most])


def read(context: ToolContext, arguments: Arguments, job: ToolRun) -> ToolOutcome:
    """Read a file. Raises ToolError, WorkspaceError and OSError."""
    path = context.workspace.readable(path_of(arguments))
    name = context.workspace.shown(path)
    if path.is_dir():
        raise ToolError(f"{name} is a folder; use ls")
    with opened(context.workspace, path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        start = file.read(SNIFFED)
        file.seek(0)
        if kind := picture_type(start):
            data = file.read(LARGEST_IMAGE + 1)
            size = os.fstat(descriptor).st_size
            image = picture(name, kind, data)
            return ToolOutcome(f"{name}: {kind}, {size:,} bytes.", images=(image,))
        if not is_text(start):
            size = os.fstat(descriptor).st_size
            raise ToolError(f"{name} is not a text file ({size:,} bytes)")
        first = number_of(arguments, "offset", 1)
        wanted = number_of(arguments, "limit", MOST_LINES)
        passage = _passage(file, first, min(wanted, MOST_LINES), job)
    context.seen.keep(path, passage.mark)
    return _outcome(passage, name)


def _passage(file: BinaryIO, first: int, most: int, job: ToolRun) -> _Passage:
    """Read to the end, in blocks, and keep what is wanted."""
    passage = _Passage(first, most, bytearray())
    digest, ended, begun = sha256(), 0, first == 1
    while block := file.read(_BLOCK):
        if job.cancel.cancelled:
            raise ToolError("stopped by the person")
        digest.update(block)
        if passage.ends_open is False and ended == 0 and not passage.data and first == 1:
            block = block.removeprefix(BOM)
        if begun:
            _append(passage, block)
        elif ended + block.count(b"\n") >= first - 1:
            at = -1
            for _ in range(first - 1 - ended):
                at = block.index(b"\n", at + 1)
            begun = True
            _append(passage, block[at + 1 :])
        ended += block.count(b"\n")
        passage.ends_open = not block.endswith(b"\n")
    passage.lines = ended + passage.ends_open
    passage.mark = digest.hexdigest()
    if first > max(1, passage.lines):
        raise ToolError(f"line {first} is past the end ({passage.lines} lines)")
    return passage


def _append(passage: _Passage, block: bytes) -> None:
    """Keep a little more than a result may hold, so that cutting it is seen."""
    room = 2 * MOST_BYTES - len(passage.data)
    if room > 0:
        passage.data += block[:room]


def _outcome(passage: _Passage, name: str) -> ToolOutcome:
    if not passage.lines:
        return ToolOutcome(f"{name} is empty.")
    cut = head(passage.text)
    last = passage.first + cut.lines - 1
    details: dict[str, Any] = {}
    if cut.by is not None:
        details["truncation"] = cut.details() | {"totalLines": passage.lines}
    if cut.partial:
        return ToolOutcome(_one_long_line(passage, cut), details=details)
    if last >= passage.lines:
        return ToolOutcome(cut.text, details=details)
    note = f"[Lines {passage.first}-{last} of {passage.lines:,}. Go on with offset={last + 1}.]"
    if cut.by is None and cut.lines == MOST_LINES:
        details["truncation"] = {
            **cut.details(), "truncated": True, "truncatedBy": "lines",
            "totalLines": passage.lines,
        }  # fmt: skip
    return ToolOutcome(f"{cut.text}\n\n{note}", details=details)


def _one_long_line(passage: _Passage, cut: Truncated) -> str:
    more = "" if passage.first >= passage.lines else f" Go on with offset={passage.first + 1}."
    return (
        f"{cut.text}\n\n[Line {passage.first} of {passage.lines:,} is longer than {MOST_BYTES:,}"
        f" bytes; only its beginning is shown. Use grep to find what matters in it.{more}]"
    )
