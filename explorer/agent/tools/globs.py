"""Globs as ``find``, ``grep`` and allowed patterns take them, on ``wcmatch``: ``*`` and ``?`` stay
in one folder, ``**`` does not."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import regex
from msgspec import Struct
from wcmatch import glob
from wcmatch._wcparse import PatternLimitException  # it has no public name

from explorer.agent.tools.port import ToolError

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX
_TIMEOUT_S = 0.5
"""Seconds for one name, so that no pattern can keep a thread busy; ``re`` has no time limit, so the
expression is compiled by ``regex``."""


class Glob(Struct, frozen=True):
    """A parsed glob."""

    pattern: str
    by_name: bool
    """It holds no slash and is matched by the last part of a path, in any folder."""
    _expression: Any

    def matches(self, path: str) -> bool:
        """Whether a path with forward slashes, relative to where is searched, matches. Raises
        ToolError for a pattern that takes too long."""
        name = path.rsplit("/", 1)[-1] if self.by_name else path
        try:
            return self._expression.fullmatch(name, timeout=_TIMEOUT_S) is not None
        except TimeoutError as error:
            raise ToolError(f"the pattern {self.pattern!r} takes too long to match") from error


@lru_cache(maxsize=256)
def glob_of(pattern: str) -> Glob:
    """Parse a glob: ``*``, ``?``, ``**``, ``[a-z]``, ``{one,two}``. Raises ToolError."""
    plain = pattern.removeprefix("./").removeprefix("/")
    try:
        alternatives, _ = glob.translate(plain, flags=_FLAGS)
        expression = regex.compile("|".join(alternatives))
    except (PatternLimitException, regex.error, RecursionError) as error:
        raise ToolError(f"the pattern {pattern!r} is not valid: {error}") from error
    return Glob(pattern, "/" not in plain, expression)
