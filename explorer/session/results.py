"""What a tool result says in short: whether it found anything, made a file, failed as before."""

from __future__ import annotations

import re
from zlib import crc32

from explorer.session.kinds import Flag

_SHORT = 200
"""Characters up to which a result can say no more than that there is nothing."""
_MARKED = 4_000
"""Characters of an error that are compared."""

_FOUND_NOTHING = re.compile(
    r"\W*(?:"
    r"no (?:output|results?|match(?:es)?|files?(?: or director(?:y|ies))?|entries|content|hits)"
    r"(?: (?:was|were))?(?: (?:found|matched|returned|available))?"
    r"|(?:found )?0 (?:results?|match(?:es)?|files?|hits)(?: found)?"
    r"|nothing (?:found|matched)|empty(?: (?:file|directory|result|output))?|none"
    r")\b(?: (?:for|in|matching|matched|with|under)\b[^\n]*)?\W*",
    re.IGNORECASE,
)
_CREATED = re.compile(
    r"\s*(?:(?:new |the )?file (?:[^\n]{1,400}? )?(?:has been |was )?(?:successfully )?created\b"
    r"|(?:successfully )?created (?:a )?(?:new )?(?:empty )?file\b"
    r"|successfully created (?:and wrote to )?(?:a )?(?:new )?file\b)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")

_NOTHING, _NEW = int(Flag.FOUND_NOTHING), int(Flag.CREATED)


def result_flags(text: str, *, has_image: bool = False) -> int:
    """The flags of what a result that is no error says: ``FOUND_NOTHING``, ``CREATED``."""
    flags = 0
    if len(text) <= _SHORT and not has_image:
        words = text.strip()
        if not words or _FOUND_NOTHING.fullmatch(words):
            flags |= _NOTHING
    if "reated" in text[:_SHORT] and _CREATED.match(text[: _SHORT * 2]):
        flags |= _NEW
    return flags


def error_mark(text: str) -> int:
    """A number that two errors have in common when they say the same, but for numbers such as
    times and addresses. Never 0."""
    words = " ".join(_NUMBERS.sub("#", text[:_MARKED]).split())
    return crc32(words.encode("utf-8", "replace")) or 1
