"""Words of a session in Markdown of ours, so that none of them is read as Markdown or as HTML."""

from __future__ import annotations

import re

from explorer.session.text import legible

LONGEST = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_ADDRESS = re.compile(r"(?i)(?<=:)(?=//)|(?<=www)(?=\.)")


def plain(text: str) -> str:
    """A text on one line in which nothing is read as Markdown, and no address becomes a link."""
    line = _SPECIAL.sub(r"\\\1", _one_line(text))
    return _ADDRESS.sub(r"\\", line)


def code(text: str) -> str:
    """A text as code on one line, also in a table."""
    line = _one_line(text)
    line = (line if len(line) <= LONGEST else f"{line[:LONGEST]}…").replace("|", "¦")
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}" if line else "``  ``"


def block(text: str) -> str:
    """A text of several lines as it is."""
    clean = legible(text.replace("\r\n", "\n"))
    longest = max((len(run) for run in re.findall(r"`{3,}", clean)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{clean.rstrip()}\n{fence}"


def _one_line(text: str) -> str:
    return " ".join(legible(text).split())
