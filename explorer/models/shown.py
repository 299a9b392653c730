"""Words of a server, made fit to be shown."""

from __future__ import annotations

import re

_LONE = re.compile(r"[\x00\ud800-\udfff]")


def shortened(text: str, most: int) -> str:
    """One line of at most ``most`` characters, all of which can be printed."""
    begin = storable(text.lstrip()[: most * 4])
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in begin).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def storable(text: str) -> str:
    """The text with a sign in place of what no file and no database takes: halves of characters
    and zero bytes."""
    return _LONE.sub("\ufffd", text)
