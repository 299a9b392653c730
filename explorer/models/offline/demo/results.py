"""Tool results: whether a tool failed, and a short report for the person."""

from __future__ import annotations

import re

from explorer.models.offline.demo.steps import WantedCall

_EXIT = re.compile(r"\b(?:exit(?:ed)?|exit code|status)\b\D{0,20}(\d+)", re.IGNORECASE)
_REFUSED = re.compile(
    r"\bnothing was done\b|\bdid not allow\b|\b(?:denied|refused|declined|not allowed)\b", re.I
)
_FAILED = re.compile(
    r"no such file|outside the workspace|not found|cannot|could not|must be|failed|does not exist"
    r"|is a folder|is not a folder|there is no tool|not run|timed out",
    re.I,
)
_EMPTY = re.compile(r"^\W*(?:no\b.{0,40}|empty (?:file|folder|directory))\W*$", re.IGNORECASE)
"""What tools answer where there is nothing."""
_LONGEST_MESSAGE = 2_000
"""Characters; a longer result is content and not a message about a failure."""
_SHOWN_LINES = 40
_SHOWN_CHARACTERS = 4000


def exit_code(result: str) -> int:
    """The exit status that the end of a command's result names; 0 where it names none."""
    codes = _EXIT.findall(result[-400:])
    return int(codes[-1]) if codes else 0


def was_refused(result: str) -> bool:
    """Whether the person or the approval mode did not allow the call."""
    return len(result) < _LONGEST_MESSAGE and _REFUSED.search(result) is not None


def failed(result: str) -> bool:
    """Whether a tool reports that it was refused or did not do its work."""
    return was_refused(result) or (
        len(result) < _LONGEST_MESSAGE and _FAILED.search(result) is not None
    )


def report(want: WantedCall, result: str) -> str:
    """A sentence about what a tool found or did, and the first lines of its result."""
    lines = result.rstrip("\n").split("\n") if result.strip() else []
    if len(lines) == 1 and _EMPTY.match(lines[0]):
        lines = []
    if len(lines) == 1 and failed(result):
        return f"That did not work: {lines[0].strip()}"
    title = _title(want, len(lines))
    if not lines:
        return title
    shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
    rest = len(lines) - _SHOWN_LINES
    more = f"\n\n{rest} more lines are not shown here." if rest > 0 else ""
    return f"{title}\n\n{fenced(shown)}{more}"


def fenced(text: str) -> str:
    """A text as a Markdown code block, with a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _title(want: WantedCall, count: int) -> str:
    lines = f"{count:,} line{'' if count == 1 else 's'}"
    path, what = want.arguments.get("path") or ".", want.arguments.get("pattern", "")
    match want.tool:
        case "ls":
            where = "The folder" if path in (".", "./") else path
            things = "1 file or folder" if count == 1 else f"{count:,} files and folders"
            return f"{where} holds {things}:" if count else f"{where} is empty."
        case "grep":
            verb = "matches" if count == 1 else "match"
            return f"{lines} {verb} {what}:" if count else f"Nothing matches {what}."
        case "find":
            paths = "1 path matches" if count == 1 else f"{count:,} paths match"
            return f"{paths} {what}:" if count else f"No path matches {what}."
        case "read":
            return f"{path}, {lines}:" if count else f"{path} is empty."
        case _:
            command = want.arguments.get("command", "")
            return f"`{command}` said:" if count else f"`{command}` ran and said nothing."
