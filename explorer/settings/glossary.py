"""The one glossary: what the words of the window mean, read from ``resources/docs/glossary.md``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from explorer.settings import paths

FILE = ("docs", "glossary.md")
_TERM = re.compile(r"^## (.+)$", re.MULTILINE)


def parse(markdown: str) -> dict[str, str]:
    """The meanings by term, in the order of the text: a heading of the second level is a term, and
    what follows it its meaning, in one line without emphasis.

    Raises ValueError for a term that stands twice or without a meaning.
    """
    _, *parts = _TERM.split(markdown)
    found: dict[str, str] = {}
    for term, text in zip(parts[::2], parts[1::2], strict=True):
        name, meaning = term.strip(), " ".join(text.replace("*", "").split())
        if name in found:
            raise ValueError(f"the glossary has {name!r} twice")
        if not meaning:
            raise ValueError(f"the glossary has nothing on {name!r}")
        found[name] = meaning
    return found


@cache
def glossary() -> Mapping[str, str]:
    """The meanings by term, in alphabetical order."""
    return MappingProxyType(parse(paths.resource(*FILE).read_text(encoding="utf-8")))


def search(words: str) -> list[str]:
    """The terms in which all words occur, those with a word in their name before those that only
    speak of it."""
    typed = words.casefold().split()
    found = [
        term
        for term, meaning in glossary().items()
        if all(word in f"{term} {meaning}".casefold() for word in typed)
    ]
    return sorted(found, key=lambda term: not all(word in term.casefold() for word in typed))
