"""Regular expressions that are compiled when they are first used.

Those of the whole program take a tenth of a second to compile, which the start of the window and of
every command would wait for.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")


class _LatePattern:
    """Stands for a pattern; after its first use, its methods are those of the compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like ``re.compile``, for module constants; a wrong pattern raises at its first use only.

    What is given back has the pattern's methods and its text, and is no ``re.Pattern`` itself.
    """
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))
