"""Globs as ``find`` and ``grep`` take them: ``*`` and ``?`` stay in one folder, ``**`` does not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import regex

from explorer.agent.tools.arguments import ToolError

_PATIENCE_S = 0.5
"""Seconds for one name, so that no pattern can keep a thread busy."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A glob that was understood."""

    pattern: str
    by_name: bool
    """It holds no slash and is met by the last part of a path, in any folder."""
    _expression: Any

    def matches(self, path: str) -> bool:
        """Whether a path with forward slashes, relative to where is searched, meets it. Raises
        ToolError for a pattern that takes too long."""
        name = path.rsplit("/", 1)[-1] if self.by_name else path
        try:
            return self._expression.fullmatch(name, timeout=_PATIENCE_S) is not None
        except TimeoutError as error:
            raise ToolError(f"the pattern {self.pattern!r} takes too long to match") from error


@lru_cache(maxsize=256)
def glob_of(pattern: str) -> Glob:
    """Understand a glob: ``*``, ``?``, ``**``, ``[a-z]``, ``{one,two}``. Raises ToolError."""
    plain = pattern.removeprefix("./").removeprefix("/")
    try:
        expression = regex.compile(_translated(plain), regex.DOTALL)
    except regex.error as error:
        raise ToolError(f"the pattern {pattern!r} is not valid: {error}") from error
    return Glob(pattern, "/" not in plain, expression)


def _translated(pattern: str) -> str:
    out: list[str] = []
    at, depth = 0, 0
    while at < len(pattern):
        rest, sign = pattern[at:], pattern[at]
        if rest.startswith("**/") and (at == 0 or pattern[at - 1] == "/"):
            out.append("(?:[^/]+/)*")
            at += 3
            continue
        if rest.startswith("**"):
            out.append(".*")
            at += 2
            continue
        at += 1
        if sign == "*":
            out.append("[^/]*")
        elif sign == "?":
            out.append("[^/]")
        elif sign == "[" and (end := _class_end(pattern, at)) > 0:
            inside = pattern[at:end]
            negated = inside[:1] in ("!", "^")
            body = (inside[1:] if negated else inside).replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"(?!/)[{'^' if negated else ''}{body}]")
            at = end + 1
        elif sign == "{" and "}" in rest:
            depth += 1
            out.append("(?:")
        elif sign == "}" and depth:
            depth -= 1
            out.append(")")
        elif sign == "," and depth:
            out.append("|")
        else:
            out.append(regex.escape(sign))
    return "".join(out) + ")" * depth


def _class_end(pattern: str, start: int) -> int:
    """Where the ``]`` of a class stands; -1 where it is never closed. One first is a letter."""
    first = start + (pattern[start : start + 1] in ("!", "^"))
    return pattern.find("]", first + 1)
