"""Small changes of a function that a wrong operator or a wrong number could need."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

_SWAPS: Mapping[str, tuple[str, ...]] = {
    "+": ("-",), "-": ("+",), "*": ("/", "+", "//"), "/": ("*", "//"), "//": ("/", "*"),
    "%": ("//", "/"), "<": ("<=", ">", ">="), "<=": ("<", ">=", ">"), ">": (">=", "<", "<="),
    ">=": (">", "<=", "<"), "==": ("!=",), "!=": ("==",), "and": ("or",), "or": ("and",),
    "in": ("not in",), "not in": ("in",), "is": ("is not",), "is not": ("is",),
}  # fmt: skip
_NAMES: Mapping[str, str] = {"min": "max", "max": "min", "any": "all", "all": "any"}
_SIGN = re.compile(r"\bnot in\b|\bis not\b|//|<=|>=|==|!=|\band\b|\bor\b|\bin\b|\bis\b|[-+*/%<>]")


class Change(NamedTuple):
    """One place of a source: a line counted from 1, columns of it, and what belongs there."""

    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def told(self) -> str:
        """The change, as the beginning of a sentence."""
        if not self.new:
            return f"without `{self.old.strip()}` in line {self.line}"
        return f"with `{self.new}` for `{self.old}` in line {self.line}"

    def applied(self, lines: Sequence[str]) -> list[str]:
        """The lines with the change made."""
        line = lines[self.line - 1]
        return [
            *lines[: self.line - 1],
            line[: self.start] + self.new + line[self.end :],
            *lines[self.line :],
        ]


def changes_of(function: ast.FunctionDef, lines: Sequence[str]) -> list[Change]:
    """What could be wrong in a function: operators first, then numbers and names. ASCII lines
    only, since columns count bytes."""
    found: list[Change] = []
    for node in ast.walk(function):
        found += [change for change in _changes(node, lines) if lines[change.line - 1].isascii()]
    return sorted(set(found), key=lambda one: (one.old.isalnum(), one.line, one.start))


def _changes(node: ast.AST, lines: Sequence[str]) -> Iterator[Change]:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub(), ast.Constant(int()) as right):
            yield from _left_out(left, right, lines)
            yield from _between(left, right, lines)
        case ast.BinOp(left, _, right):
            yield from _between(left, right, lines)
        case ast.BoolOp(_, parts):
            for left, right in pairwise(parts):
                yield from _between(left, right, lines)
        case ast.Compare(left, _, others):
            for one, other in zip([left, *others], others, strict=False):
                yield from _between(one, other, lines)
        case ast.AugAssign(target, _, value):
            yield from _between(target, value, lines)
        case ast.Call(ast.Name(name) as called) if name in _NAMES:
            yield _whole(called, name, _NAMES[name])
        case ast.Constant(bool() as value):
            yield _whole(node, str(value), str(not value))
        case ast.Constant(int() as value):
            text = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            numbers = {value + 1, value - 1, value * 10, value * 100}
            numbers |= {value // ten for ten in (10, 100) if value and value % ten == 0}
            yield from (_whole(node, text, str(one)) for one in sorted(numbers - {value}))


def _whole(node: ast.expr, old: str, new: str) -> Change:
    return Change(node.lineno, node.col_offset, node.col_offset + len(old), old, new)


def _left_out(left: ast.expr, right: ast.expr, lines: Sequence[str]) -> Iterator[Change]:
    """A number that is added or taken away, and need not be."""
    start, end = left.end_col_offset, right.end_col_offset
    if left.end_lineno == right.lineno and start is not None and end is not None:
        yield Change(right.lineno, start, end, lines[right.lineno - 1][start:end], "")


def _between(left: ast.expr, right: ast.expr, lines: Sequence[str]) -> Iterator[Change]:
    """The operator that stands between two parts of one line."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return
    gap = lines[right.lineno - 1][left.end_col_offset : right.col_offset]
    sign = _SIGN.search(gap)
    if sign is None:
        return
    start = left.end_col_offset + sign.start()
    for new in _SWAPS.get(sign[0], ()):
        yield Change(right.lineno, start, start + len(sign[0]), sign[0], new)
