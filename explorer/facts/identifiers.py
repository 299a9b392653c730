"""Exact things in single words: paths, URLs, versions, hashes, symbols, figures.

A word is classified without its context, so that texts which repeat their words are read fast.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from explorer.facts.fact import FactKind
from explorer.facts.figures import figure, value_key
from explorer.facts.paths import EXTENSIONS, FILE_NAMES, LINE_SUFFIX, is_file, is_path, path_key
from explorer.facts.text import word_set
from explorer.session.late_pattern import late_pattern


class WordPiece(NamedTuple):
    """An exact thing in a word; ``at``: its offset in the word, in characters."""

    kind: FactKind
    text: str
    key: str
    at: int


_URL = late_pattern(r"(?:[a-z][a-z0-9+.-]{1,12}://|www\.)[^\s<>\"'`«»|\\]+", re.IGNORECASE)
_OWN_ROOT = late_pattern(r"(?:res|user|classpath|asset|assets)://", re.IGNORECASE)
"""Schemes that programs use for paths of their own files."""
_HOST = late_pattern(
    r"^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[a-z][\w-]*(?:\.[a-z][\w-]*)*):\d{2,5}(?:/\S*)?$|"
    r"^\d{1,3}(?:\.\d{1,3}){3}$",
    re.IGNORECASE,
)
_UUID = late_pattern(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_HEX = late_pattern(r"^(?:(?:sha\d+|md5)[:-])?[0-9a-f]{7,128}$", re.IGNORECASE)
_UUID_LENGTH, _HEX_LENGTH = 36, 7
"""Characters: of a UUID exactly, of other digests at least."""
_ASCII_DIGIT = late_pattern(r"[0-9]")
_PIN = late_pattern(r"[=<>@^]")
_TICKET = late_pattern(r"^(?:[A-Z][A-Z0-9]{1,9}-\d{1,6}|#\d{2,5}|GH-\d+)$")
_NOT_TICKETS = late_pattern(
    r"^(?:UTF|ISO|SHA|AES|GPT|RFC|RSA|HTTP|MD|X|COVID|ES|IEEE|SC|TS|P|Q|CP|CVE-\d{4})-\d+$"
)
_VERSION = late_pattern(
    r"^v?\d+\.\d+\.\d+(?:\.\d+)*(?:[-+~.]?[a-z][\w.+-]*|[-+]\d[\w.+-]*)?$|"
    r"^v\d+(?:\.\d+)*(?:-[\w.]+|(?:\.[a-z]+)+)?$|^\d+(?:\.\d+)*\.x$",
    re.IGNORECASE,
)
_PINNED = late_pattern(
    r"^(?P<name>@?[a-z][\w./-]*)(?:==|~=|>=|<=|@\^?|\^|>|<)"
    # A number alone is a major version or a date; one of four digits and more counts something.
    r"v?(?:\d+(?=\.[\dx*])|\d{1,3}(?!\d)|20\d{6}(?!\d))(?:\.[\d*x]+)*[\w.+-]*"
    r"(?:,[<>=!~]+[\d.]+)*$|^(?:\^|~=?|[<>]=?|==)v?\d+(?:\.[\d*x]+)+$|^(?:\^|>=)\d+$",
    re.IGNORECASE,
)
_DATE = late_pattern(
    r"^\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.,+-]+Z?)?,?$|^\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:am|"
    r"pm|z)?$|"
    r"^\d{1,2}[./]\d{1,2}[./]\d{2,4}$",
    re.IGNORECASE,
)
_FIGURE = late_pattern(
    r"^[~≈<>≤≥±+$€£(-]*\d[\d,_']*(?:\.\d+)?(?:e[-+]?\d+)?(?:%|°[CF]?|"
    r"[A-Za-zµμ]{1,12}(?:/[A-Za-z]+)?)?$",
    re.IGNORECASE,
)
_ENV = late_pattern(r"^\$?\{?[A-Z][A-Z0-9]*_[A-Z0-9_]+\}?$")
_FLAG = late_pattern(r"^--[A-Za-z][\w-]*$")
_CALL = late_pattern(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[~\w$]+)*\(\)$")
_SYMBOL = late_pattern(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)~?[A-Za-z_$][\w$]*)*$")
_HUMPS = late_pattern(r"[a-z0-9][A-Z][a-z]|[A-Z][a-z]+[A-Z]")
_NOT_SYMBOLS = word_set(
    """
    github gitlab javascript typescript postgresql mysql sqlite mongodb graphql youtube
    linkedin openai macos ios iphone ipad vscode webassembly oauth json yaml numpy pytorch
    tensorflow fastapi powershell nodejs nvme devops readme sqlalchemy websocket websockets
    """
)
_LEAD = "([{<\"'“‘*~≈«→‘`"
_TRAIL = ".,;:!?)]}>\"'”’*…»`"
_MARKS = _LEAD + _TRAIL
_LONGEST = 2000
"""Characters of a word; a longer one is data."""
_SPLIT = late_pattern(r"[^\s\"'`<>()\[\]{},;|=&]+")


def exact_things(words: Collection[str]) -> dict[str, tuple[WordPiece, ...]]:
    """The words that contain exact things, each with these things."""
    return {word: pieces for word in words if len(word) <= _LONGEST and (pieces := pieces_of(word))}


def mention_keys(things: Mapping[str, tuple[WordPiece, ...]]) -> set[str]:
    """The keys of what ``exact_things`` returned; for a figure its bare value, ``#1500``."""
    return {
        value_key(piece.text) if piece.kind is FactKind.NUMBER else piece.key
        for pieces in things.values()
        for piece in pieces
    }


_TELLING = late_pattern(r"[\d/\\_.:$@#-]|[a-z][A-Z]|\w\(")


@lru_cache(maxsize=65536)
def pieces_of(word: str) -> tuple[WordPiece, ...]:
    """The exact things in one word, in order."""
    if _is_plain(word) and word.lower() not in FILE_NAMES:
        return ()
    if _TELLING.search(word) is None and word.lower().strip(_MARKS) not in FILE_NAMES:
        return ()
    if "://" in word or "www." in word:
        urls = tuple(_urls(word))
        if urls:
            return urls
    start, end = 0, len(word)
    while start < end and word[start] in _LEAD and not _tilde_path(word, start):
        start += 1
    while end > start and word[end - 1] in _TRAIL and not _closes(word[start:end]):
        end -= 1
    core = word[start:end]
    if not core or word.startswith("</"):
        return ()
    if _is_plain(core) and core.lower() not in FILE_NAMES:
        return ()
    # The words of a Markdown link and its target are two things.
    one = None if "](" in core else _classify(core, start)
    if one is not None:
        return (one,)
    found = []
    for part in _SPLIT.finditer(core):
        if part.group() == core:
            continue
        inner = part.group().strip(".:,!?*")
        at = core.find(inner, part.start())
        piece = _classify(inner, start + at) if inner else None
        if piece is not None:
            found.append(piece)
    return tuple(found)


def _is_plain(word: str) -> bool:
    return word.isalpha() and (word.islower() or word.istitle() or word.isupper())


def _tilde_path(word: str, at: int) -> bool:
    return word[at] == "~" and word[at + 1 : at + 2] in ("/", "\\")


def _closes(core: str) -> bool:
    """Whether the last character belongs to the thing: ``run()``, ``app/[id]``."""
    last = core[-1]
    return (last == ")" and core.count("(") >= core.count(")") and core[0] != "(") or (
        last == "]" and "/" in core and core.count("[") >= core.count("]")
    )


def _urls(word: str) -> list[WordPiece]:
    found = []
    for match in _URL.finditer(word):
        text = match.group().rstrip(".,;:!?*…]}")
        while text.endswith(")") and text.count("(") < text.count(")"):
            text = text[:-1].rstrip(".,;:!?*…]}")
        if _OWN_ROOT.match(text):
            key = path_key(LINE_SUFFIX.sub("", text))
            found.append(WordPiece(FactKind.PATH, LINE_SUFFIX.sub("", text), key, match.start()))
            continue
        if len(text.split("://")[-1]) > 2:
            found.append(WordPiece(FactKind.URL, text, text.rstrip("/").lower(), match.start()))
    return found


def _has_digit(core: str) -> bool:
    if core.isascii():
        return _ASCII_DIGIT.search(core) is not None
    return any(letter.isdigit() for letter in core)


def _classify(core: str, at: int) -> WordPiece | None:
    if _has_digit(core):
        piece = _with_digits(core, at)
        if piece is not None:
            return piece
        if _DATE.match(core):
            return None
    if is_path(core):
        text = LINE_SUFFIX.sub("", core)
        return WordPiece(FactKind.PATH, text, path_key(text), at)
    if _is_symbol(core):
        key = core.strip("${}").removesuffix("()")
        return WordPiece(FactKind.SYMBOL, core, key, at)
    return None


def _with_digits(core: str, at: int) -> WordPiece | None:
    if core.isdecimal():
        return _number(core, at)
    low = core.lower()
    piece = _identifier(core, low, at)
    if piece is not None:
        return piece
    begins_with_digit = core[0].isdecimal()
    if begins_with_digit and _DATE.match(core):
        return None
    is_host = ":" in core or core.count(".") == 3
    if is_host and _HOST.match(core) and not is_file(core.partition(":")[0]):
        return WordPiece(FactKind.URL, core, low.rstrip("/"), at)
    if (
        (begins_with_digit or core[0] in "vV")
        and _VERSION.match(core)
        and core.rpartition(".")[2].lower() not in EXTENSIONS
    ):
        return WordPiece(FactKind.VERSION, core, low.removeprefix("v"), at)
    is_name = "/" not in core.split("@")[0] or core.startswith("@")
    if is_name and _PIN.search(core) and _PINNED.match(core):
        return WordPiece(FactKind.VERSION, core, low, at)
    return _number(core, at) if _FIGURE.match(core) else None


def _number(core: str, at: int) -> WordPiece | None:
    value = figure(core)
    return None if value is None else WordPiece(FactKind.NUMBER, core, value.key, at)


def _identifier(core: str, low: str, at: int) -> WordPiece | None:
    """A digest, a UUID, a ticket."""
    if len(core) == _UUID_LENGTH and _UUID.match(core):
        return WordPiece(FactKind.HASH, core, low, at)
    if len(core) >= _HEX_LENGTH and _HEX.match(core) and not core.isdigit():
        hexes = low.split(":")[-1]
        if any(letter.isdigit() for letter in hexes) and any(letter.isalpha() for letter in hexes):
            return WordPiece(FactKind.HASH, core, hexes, at)
    is_like_ticket = core[0] == "#" or "-" in core
    if is_like_ticket and _TICKET.match(core) and not _NOT_TICKETS.match(core):
        return WordPiece(FactKind.HASH, core, low, at)
    return None


def _is_symbol(core: str) -> bool:
    first = core[0]
    if first == "-":
        return _FLAG.match(core) is not None
    if core[-1] == ")":
        return _CALL.match(core) is not None
    if "_" in core and _ENV.match(core):
        return True
    if not _SYMBOL.match(core) or core.lower() in _NOT_SYMBOLS:
        return False
    if "::" in core or "->" in core:
        return True
    if "_" in core.strip("_"):
        return True
    return len(core) > 4 and _HUMPS.search(core) is not None and not core.isupper()
