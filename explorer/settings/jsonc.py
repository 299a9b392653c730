"""JSON with comments and trailing commas, with the places of its members, and edits that touch
nothing else.

What is valid is decided by jsonyx; the reading here is of text that is valid already, to know
where its members stand. Offsets are in characters; lines and columns count from 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonyx
from jsonyx.allow import COMMENTS, TRAILING_COMMA
from msgspec import Struct

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n\r]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}/]+', re.DOTALL)


class JsonError(Exception):
    """A text is not JSON; ``line`` and ``column`` say where."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


class Member(Struct, frozen=True):
    """One member of an object, at ``start`` to ``end`` (its name to its value's end)."""

    name: str
    start: int
    value: JsonNode

    @property
    def end(self) -> int:
        return self.value.end


class JsonNode(Struct, frozen=True):
    """A value and where it stands. ``members`` are those of an object, in order, else None."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None


def read(text: str) -> JsonNode:
    """The value of a text, an empty object where there is none. Raises JsonError naming line and
    column."""
    if _skip(text, 0) == len(text):
        return JsonNode(len(text), len(text), {}, ())
    try:
        jsonyx.loads(text, allow=COMMENTS | TRAILING_COMMA)
        return _value(text, _skip(text, 0))
    except jsonyx.JSONSyntaxError as error:
        raise JsonError(_plain(error.msg), error.lineno or 1, error.colno) from error
    except RecursionError as error:
        raise JsonError("Too many levels", 1, 1) from error
    except ValueError as error:
        raise JsonError(str(error).partition(";")[0], 1, 1) from error


def _plain(message: str) -> str:
    """A parser's words for a person."""
    return {"Unexpected UTF-8 BOM": "Unexpected byte order mark"}.get(message, message)


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int) -> JsonNode:
    if text[at] == "{":
        return _object(text, at)
    if text[at] == "[":
        return _array(text, at)
    match = _SCALAR.match(text, at)
    assert match is not None, "the text was found valid"
    return JsonNode(at, match.end(), json.loads(match.group()))


def _object(text: str, start: int) -> JsonNode:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        name = _value(text, at)
        colon = _skip(text, name.end)
        value = _value(text, _skip(text, colon + 1))
        members.append(Member(name.value, at, value))
        at = _after(text, value.end)
    value_of = {member.name: member.value.value for member in members}
    return JsonNode(start, at + 1, value_of, tuple(members))


def _array(text: str, start: int) -> JsonNode:
    items: list[Any] = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        item = _value(text, at)
        items.append(item.value)
        at = _after(text, item.end)
    return JsonNode(start, at + 1, items)


def _after(text: str, end: int) -> int:
    """Where the next part begins, behind blanks and a comma."""
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


def line_of(text: str, offset: int) -> int:
    """The line of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


class Leaf(NamedTuple):
    """A setting as it stands in a text: its dotted name, its member, the object around that."""

    name: str
    member: Member
    parent: JsonNode


def leaves(root: JsonNode, known: frozenset[str]) -> Iterator[Leaf]:
    """The settings in an object, whether they are written dotted or nested, in order. An object is
    gone into where a known name continues below it."""
    yield from _leaves(root, "", known)


def _leaves(node: JsonNode, prefix: str, known: frozenset[str]) -> Iterator[Leaf]:
    for member in node.members or ():
        name = prefix + member.name
        below = f"{name}."
        goes_on = any(key.startswith(below) for key in known)
        if member.value.members is not None and goes_on and name not in known:
            yield from _leaves(member.value, below, known)
        else:
            yield Leaf(name, member, node)


# edits --------------------------------------------------------------------------------------------


def with_value(text: str, name: str, value: Any, known: frozenset[str], flat: bool = False) -> str:
    """The text with a setting changed, or added where none of its name stands.

    Everything else stays, comments included. ``flat``: a new one is written with its whole dotted
    name rather than nested. Raises JsonError when the text is not an object.
    """
    if _skip(text, 0) == len(text):
        text = f"{text.rstrip()}{_newline(text) if text.strip() else ''}{{}}{_newline(text)}"
    root = _root(text)
    written = json.dumps(value, ensure_ascii=False)
    members = [leaf.member for leaf in leaves(root, known) if leaf.name == name]
    if members:
        # Of several the last one holds.
        node = members[-1].value
        return text[: node.start] + written + text[node.end :]
    node, rest = _home(root, name)
    taken = {member.name for member in node.members or ()}
    if flat or rest.partition(".")[0] in taken:
        return _inserted(text, node, f"{json.dumps(rest)}: {written}")
    return _inserted(text, node, _nested(rest.split("."), written, text, _indent(text, node)))


def without(text: str, name: str, known: frozenset[str]) -> str:
    """The text without a setting, wherever it stands; comments beside it stay. Raises JsonError."""
    if _skip(text, 0) == len(text):
        return text
    while True:
        matching = [leaf for leaf in leaves(_root(text), known) if leaf.name == name]
        if not matching:
            return text
        text = _removed(text, matching[-1])


def _root(text: str) -> JsonNode:
    root = read(text)
    if root.members is None:
        raise JsonError("Expected an object of settings", line_of(text, root.start), 1)
    return root


def _home(node: JsonNode, name: str) -> tuple[JsonNode, str]:
    """The innermost object on the way to a name, and what of the name is left there."""
    for member in node.members or ():
        if member.value.members is not None and name.startswith(f"{member.name}."):
            return _home(member.value, name[len(member.name) + 1 :])
    return node, name


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _step(text: str) -> str:
    """One level of indentation, as the text has it."""
    match = re.search(r'^([ \t]+)"', text, re.MULTILINE)
    return match.group(1) if match else "  "


def _indent(text: str, node: JsonNode) -> str:
    """The indentation of an object's members."""
    if node.members:
        start = node.members[0].start
        line = text.rfind("\n", 0, start) + 1
        if line > node.start and not text[line:start].strip(" \t"):
            return text[line:start]
    line = text.rfind("\n", 0, node.start) + 1
    match = re.match(r"[ \t]*", text[line:])
    return (match.group() if match else "") + _step(text)


def _nested(parts: list[str], written: str, text: str, indent: str) -> str:
    """A member as it is written: an object around it for every part of its name but the last."""
    if len(parts) == 1:
        return f"{json.dumps(parts[0])}: {written}"
    deeper, line = indent + _step(text), _newline(text)
    inner = _nested(parts[1:], written, text, deeper)
    return f"{json.dumps(parts[0])}: {{{line}{deeper}{inner}{line}{indent}}}"


def _inserted(text: str, node: JsonNode, member: str) -> str:
    """The text with one more member at the end of an object."""
    line, indent = _newline(text), _indent(text, node)
    closing = node.end - 1
    before = text[: node.start]
    outer = re.match(r"[ \t]*", before[before.rfind("\n") + 1 :])
    tail = line + (outer.group() if outer else "")
    if not node.members:
        kept = text[node.start + 1 : closing].rstrip()
        return f"{text[: node.start + 1]}{kept}{line}{indent}{member}{tail}{text[closing:]}"
    last = node.members[-1].end
    at = _skip(text, last)
    has_comma = text[at] == ","
    comma_end = at + 1 if has_comma else last
    head = text[:comma_end] + ("" if has_comma else ",")
    # A comment behind the last member belongs to it.
    kept = text[comma_end:closing].rstrip()
    comma = "," if has_comma else ""
    return f"{head}{kept}{line}{indent}{member}{comma}{tail}{text[closing:]}"


def _removed(text: str, leaf: Leaf) -> str:
    """The text without one member and a comma; a line that it had for itself goes too."""
    member, members = leaf.member, leaf.parent.members or ()
    after = _skip(text, member.end)
    cuts = [(member.start, member.end)]
    at = members.index(member)
    if text[after] == ",":
        cuts.append((after, after + 1))
    elif at:
        comma = _skip(text, members[at - 1].end)
        cuts.append((comma, comma + 1))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    start = member.start - sum(end - begin for begin, end in cuts if begin < member.start)
    return _without_blank_line(text, start)


def _without_blank_line(text: str, at: int) -> str:
    """The text without the line of an offset, where nothing is left on it."""
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    if begin == 0 or end < 0 or text[begin:end].strip(" \t\r"):
        return text
    return text[:begin] + text[end + 1 :]
