"""How large a model's window is, as the refusal of a request that was too large says.

That a failure is an overflow is decided by class and status, in ``explorer.models.classify``; here
only the number is read out of its words.
"""

from __future__ import annotations

import re

_NUMBER = r"(\d[\d,_]{2,})"
_SAID = (
    # "... 215000 tokens > 200000 maximum"
    re.compile(rf"{_NUMBER}\s*(?:tokens?\s*)?(?:maximum|max\b|limit)", re.IGNORECASE),
    # "maximum context length is 8192 tokens", "number of tokens allowed (1048576)", "n_ctx=4096"
    re.compile(
        r"(?:maximum|max_\w+|limit|window|n_ctx|allowed|context (?:length|size))"
        rf"[^\d\n]{{0,48}}?{_NUMBER}",
        re.IGNORECASE,
    ),
)
# "exceed context limit: 178959 + 64000 > 200000": the window is what the sum is over.
_SUM = re.compile(rf"\d\s*\+\s*[\d,_]+\s*>\s*{_NUMBER}")
_LEAST = 256


def said_window(message: str) -> int | None:
    """The window in tokens that an overflow's message names; None when it names none."""
    summed = _SUM.search(message)
    if summed:
        return int(re.sub(r"\D", "", summed[1]))
    found = [int(re.sub(r"\D", "", number)) for each in _SAID for number in each.findall(message)]
    return min((size for size in found if size >= _LEAST), default=None)
