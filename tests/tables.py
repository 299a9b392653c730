"""Values as lines of a table that is compared with a recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from zlib import crc32

from msgspec import Struct
from msgspec.structs import fields

_LONG = 90
"""Characters of a text that is written out; of a longer one its beginning, length and digest."""
_LINE = 240
"""Characters of a line of a table."""
_MANY = 24
"""Numbers of a list that are written out."""


def shown(value: object) -> str:
    """A value in one line: texts that are long by their digest, long lists of numbers too."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str):
        text = value if len(value) <= _LONG else value[:40]
        rest = (
            ""
            if text is value
            else f" … {len(value)} {crc32(value.encode('utf-8', 'surrogatepass')):x}"
        )
        return f"{text!r}{rest}"
    if isinstance(value, bytes | bytearray):
        return shown(bytes(value).hex())
    if isinstance(value, Struct):
        inner = (f"{one.name}={shown(getattr(value, one.name))}" for one in fields(value))
        return f"{type(value).__name__}({', '.join(inner)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{shown(key)}: {shown(one)}' for key, one in value.items())}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(shown, value)))}}}"
    if isinstance(value, list | tuple):
        inner = [shown(one) for one in value]
        if len(inner) > _MANY and all(isinstance(one, int) for one in value):
            inner = [*inner[:8], f"… {len(value)} {crc32(' '.join(inner).encode()):x}"]
        return f"[{', '.join(inner)}]"
    return repr(value)


def short(line: str, most: int = _LINE) -> str:
    """A line of a table; of a long one its beginning, length and digest."""
    if len(line) <= most:
        return line
    return f"{line[:most]} … {len(line)} {crc32(line.encode('utf-8', 'surrogatepass')):x}"
