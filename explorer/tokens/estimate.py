"""Text as JavaScript sees it: UTF-16 units and JSON.stringify (B8).

The agents whose files we read count in JavaScript; counting the same way makes our numbers theirs.
"""

from __future__ import annotations

import math
import re
from codecs import utf_16_le_encode
from collections.abc import Iterator
from json.encoder import encode_basestring
from sys import getsizeof
from typing import Any

import orjson

from explorer.session.entries import (
    AssistantMessage,
    Body,
    BranchSummary,
    CompactionSummary,
    Content,
    Entry,
    FilesMessage,
    ImageBlock,
    NoteMessage,
    ShellMessage,
    SummaryMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UnknownMessage,
    UserMessage,
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_ARRAY_INDEX = 2**32 - 2


def utf16_units(text: str) -> int:
    """Length of a text in UTF-16 units, what JavaScript calls its length."""
    # What is stored in less than four bytes a character has none of two units.
    if text.isascii() or getsizeof(text) < 4 * len(text):
        return len(text)
    # The codec itself: looking it up by its name takes as long as what it does to a message.
    return len(utf_16_le_encode(text, "surrogatepass")[0]) // 2


def utf16_prefix(text: str, units: int, *, keep_pairs: bool = True) -> str:
    """The first ``units`` UTF-16 units of a text.

    With ``keep_pairs`` a pair at the edge is left out whole (E11); without, it is cut in two and
    leaves a lone surrogate, as JavaScript's slice does.
    """
    if text.isascii() or len(text) * 2 <= units:
        return text[:units]
    # No character takes less than one unit, so the prefix lies within the first `units` ones.
    head = text[:units].encode("utf-16-le", "surrogatepass")[: units * 2]
    cut = head.decode("utf-16-le", "surrogatepass")
    if keep_pairs and cut and "\ud800" <= cut[-1] <= "\udbff":
        return cut[:-1]
    return cut


def js_string(text: str) -> str:
    """A string literal as JSON.stringify writes it: lone surrogates escaped, the rest as it is."""
    quoted = encode_basestring(text)
    if quoted.isascii() or not _SURROGATE.search(quoted):
        return quoted
    # Halves that stand side by side are one character to JavaScript.
    paired = quoted.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", paired)


def js_number(value: float) -> str:
    """A number as JavaScript writes it. Every number is a double there; no NaN in JSON."""
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return _double(number)


def _double(number: float) -> str:
    mantissa, _, exponent_text = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    # The value is 0.DIGITS times ten to the point.
    point = len(whole) - leading + int(exponent_text or 0)
    digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if power > 0 else '-'}{abs(power)}"


def js_keys(value: dict[str, Any]) -> list[str]:
    """The keys in the order of a JavaScript object: array indices ascending, then the others."""
    for key in value:
        if key[:1].isdigit():
            break
    else:
        return list(value)
    numbers = [key for key in value if _is_index(key)]
    if not numbers:
        return list(value)
    taken = set(numbers)
    return sorted(numbers, key=int) + [key for key in value if key not in taken]


def _is_index(key: str) -> bool:
    if not key.isascii() or not key.isdigit() or len(key) > 10:
        return False
    return (key == "0" or key[0] != "0") and int(key) <= _MAX_ARRAY_INDEX


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return js_string(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int | float):
        return js_number(value)
    return "null"


def js_json(value: Any) -> str:
    """A JSON value exactly as JavaScript's JSON.stringify writes it, without spaces.

    Nesting may be as deep as the value is: no recursion.
    """
    if type(value) is not dict and type(value) is not list:
        return _scalar(value)
    out: list[str] = []
    open_values: list[tuple[Iterator[tuple[str, Any]], str]] = [_open(value, out)]
    first = True
    while open_values:
        members, closing = open_values[-1]
        for lead, member in members:
            out.append(lead if first else "," + lead)
            first = False
            if type(member) is str:
                out.append(js_string(member))
            elif type(member) is dict or type(member) is list:
                open_values.append(_open(member, out))
                first = True
                break
            else:
                out.append(_scalar(member))
        else:
            out.append(closing)
            open_values.pop()
            first = False
    return "".join(out)


def _open(value: Any, out: list[str]) -> tuple[Iterator[tuple[str, Any]], str]:
    if isinstance(value, dict):
        out.append("{")
        return iter([(js_string(key) + ":", value[key]) for key in js_keys(value)]), "}"
    out.append("[")
    return iter([("", member) for member in value]), "]"


_WRITTEN_ALIKE = 10**15
"""Below it every integer is written the same everywhere."""

IMAGE_UNITS = 4800
"""UTF-16 units that an image in a tool result or custom message counts as (B6)."""

IMAGE_TOKENS = IMAGE_UNITS // 4
"""Tokens of an image where images are counted."""


def estimate_text(text: str) -> int:
    """Tokens of a text: UTF-16 units divided by four, rounded up."""
    return (utf16_units(text) + 3) // 4


def estimate_message(message: Body) -> int:
    """Tokens of a message or summary; of what holds neither 0 (B6, B8)."""
    match message:
        case AssistantMessage():
            units = _reply_units(message.content)
        case ToolResultMessage() | NoteMessage():
            units = _content_units(message.content, IMAGE_UNITS)
        case ShellMessage():
            units = utf16_units(message.command) + utf16_units(message.output)
        case SummaryMessage() | CompactionSummary() | BranchSummary():
            units = utf16_units(message.summary)
        case FilesMessage():
            units = sum(
                utf16_units(file.path) + utf16_units(file.content) for file in message.files
            )
        case UserMessage() | SystemMessage() | UnknownMessage():
            units = _content_units(message.content, 0)
        case _:
            return 0
    return (units + 3) // 4


def estimate_entry(entry: Entry) -> int:
    """Tokens of an entry: of its message, its content or its summary; metadata counts 0."""
    return estimate_message(entry.body)


def _content_units(content: Content, image_units: int) -> int:
    units = 0
    for block in content:
        if isinstance(block, TextBlock):
            units += utf16_units(block.text)
        elif isinstance(block, ImageBlock):
            units += image_units
    return units


def _reply_units(content: Content) -> int:
    units = 0
    for block in content:
        if isinstance(block, TextBlock | ThinkingBlock):
            units += utf16_units(block.text)
        elif isinstance(block, ToolCallBlock):
            units += utf16_units(block.name)
            units += json_units(block.arguments) if block.arguments is not None else 0
    return units


def json_units(value: object) -> int:
    """UTF-16 units of a value as JavaScript writes it."""
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:  # halves of surrogate pairs, integers over 64 bits, depth
        return utf16_units(js_json(value))
    if _has_other_numbers(value):
        return utf16_units(js_json(value))
    return len(written) if written.isascii() else utf16_units(written.decode())


def _has_other_numbers(value: object) -> bool:
    """Whether a JSON value holds numbers that JavaScript may write in its own way: fractions, and
    what is beyond its integers. All else is written alike."""
    level: list[Any] = [value]
    while level:
        deeper: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is dict:
                deeper += one.values()
            elif kind is list:
                deeper += one
            elif kind is float or (kind is int and abs(one) >= _WRITTEN_ALIKE):
                return True
        level = deeper
    return False
