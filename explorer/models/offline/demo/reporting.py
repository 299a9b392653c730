"""What tools found or did, in a few words and the first lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from explorer.models.offline.demo.move import Wanted, did_fail, was_refused

_SHOWN_LINES = 40
_SHOWN_CHARACTERS = 4000
_NOTHING = re.compile(r"^\W*(?:no\b.{0,40}|empty (?:file|folder|directory))\W*$", re.IGNORECASE)
"""What tools say where there is nothing."""


def report(want: Wanted, result: str) -> str:
    """What one tool gave, for a person."""
    lines = result.rstrip("\n").split("\n") if result.strip() else []
    if len(lines) == 1 and _NOTHING.match(lines[0]):
        lines = []
    if len(lines) == 1 and (was_refused(result) or did_fail(result)):
        return f"That did not work: {lines[0].strip()}"
    title = _title(want.tool, want.arguments, len(lines))
    if not lines:
        return title
    shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
    rest = len(lines) - _SHOWN_LINES
    more = f"\n\n{rest} more lines are not shown here." if rest > 0 else ""
    return f"{title}\n\n{fenced(shown)}{more}"


def fenced(text: str) -> str:
    """A text as a block of code, whatever fences it holds itself."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _title(name: str, arguments: Mapping[str, Any], count: int) -> str:
    lines = f"{count:,} line{'' if count == 1 else 's'}"
    match name:
        case "ls":
            path = str(arguments.get("path") or ".")
            where = "The folder" if path in (".", "./") else path
            things = "1 file or folder" if count == 1 else f"{count:,} files and folders"
            return f"{where} holds {things}:" if count else f"{where} is empty."
        case "grep":
            what = arguments.get("pattern", "")
            verb = "matches" if count == 1 else "match"
            return f"{lines} {verb} {what}:" if count else f"Nothing matches {what}."
        case "find":
            what = arguments.get("pattern", "")
            paths = "1 path matches" if count == 1 else f"{count:,} paths match"
            return f"{paths} {what}:" if count else f"No path matches {what}."
        case "read":
            path = arguments.get("path", "")
            return f"{path}, {lines}:" if count else f"{path} is empty."
        case "bash":
            command = arguments.get("command", "")
            return f"`{command}` said:" if count else f"`{command}` ran and said nothing."
        case _:
            return f"The tool answered with {lines}:" if count else "The tool answered nothing."
