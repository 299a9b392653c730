"""Text as JavaScript sees it: UTF-16 units and JSON.stringify (B8).

The agents whose files we read count in JavaScript; counting the same way makes our numbers theirs.
"""

from __future__ import annotations

import math
import re
from codecs import utf_16_le_encode
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_ARRAY_INDEX = 2**32 - 2


def utf16_units(text: str) -> int:
    """Length of a text in UTF-16 units, what JavaScript calls its length."""
    if text.isascii():
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
