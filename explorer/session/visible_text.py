"""Texts in which nothing hides: what a terminal would obey, or an eye not see, has a mark.

Control characters are shown by their symbols (``␛``), and what turns the direction of writing, ends
a line in secret, has no width or is half a character by its number (``⟨U+202E⟩``). What letters
and emoji are joined by stays.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from explorer.session.text import legible

# Controls but for tab and newline; format characters but for joiners and variation selectors;
# separators of lines and paragraphs; blank characters; lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f]"
)
_LONGEST_RUN = 40
# The same blank, or empty line, again and again.
_BLANK_RUN = re.compile(rf"([^\S\n])\1{{{_LONGEST_RUN},}}")
_LINE_RUN = re.compile(r"\n(?:[^\S\n]*\n){4,}")
_ODD_BLANK = re.compile(r"[^\S \n]")
_SYMBOLS = {" ": "·", "\x7f": "␡"}
_TAB = "␉   "


def mark_of(char: str) -> str:
    """The mark shown in place of an invisible character."""
    if char in _SYMBOLS:
        return _SYMBOLS[char]
    return chr(0x2400 + ord(char)) if char < " " else f"⟨U+{ord(char):04X}⟩"


def visible(text: str) -> str:
    """A text of any number of lines with its hidden characters marked. Tabs and newlines stay, and
    of the line ends of Windows the newlines."""
    return _HIDDEN.sub(lambda found: mark_of(found[0]), text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """The same as one line: newlines are marks too, and tabs blanks."""
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def escaped(json_text: str) -> str:
    """JSON with the hidden characters of its strings escaped: the same value."""
    return _HIDDEN.sub(lambda found: _escape(found[0]), json_text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def width_of(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


# what a person is asked about ---------------------------------------------------------------------


def exact(text: str) -> str:
    """A command or a diff as a person is asked about it: no blank can be taken for another, and
    neither blanks nor empty lines push the rest out of sight."""
    shown = _LINE_RUN.sub(lambda found: f"⏎×{found[0].count(chr(10)):,}\n", text)
    shown = _BLANK_RUN.sub(lambda found: f"{mark_of(found[1])}×{len(found[0]):,}", shown)
    shown = _ODD_BLANK.sub(lambda found: mark_of(found[0]), shown.replace("\t", _TAB))
    return _HIDDEN.sub(lambda found: mark_of(found[0]), shown)


def folded(line: str, width: int) -> Iterator[str]:
    """A line in pieces of so many columns, and twice as many characters, at most; one piece for
    an empty line."""
    start = columns = 0
    for at, char in enumerate(line):
        columns += _width(char)
        if (columns > width and at > start) or at - start >= 2 * width:
            yield line[start:at]
            start, columns = at, _width(char)
    yield line[start:]


def size_words(text: str) -> str:
    """``5,012 characters in 3 lines``."""
    lines = text.count("\n") + 1
    return f"{len(text):,} characters in {'1 line' if lines == 1 else f'{lines:,} lines'}"


def end_of(shown: str, most: int = 160) -> str:
    """The end of a text that `exact` made, as one line."""
    line = shown.rstrip().replace("\n", " ⏎ ")
    return line if len(line) <= most else f"…{line[-most:]}"


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
