"""What can be changed in a file so that it still runs and should behave otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(), ast.LtE: ast.Lt(), ast.Gt: ast.GtE(), ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(), ast.Is: ast.IsNot(), ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(), ast.NotIn: ast.In(),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(), ast.Sub: ast.Add(), ast.Mult: ast.FloorDiv(), ast.FloorDiv: ast.Mult(),
    ast.BitAnd: ast.BitOr(), ast.BitOr: ast.BitAnd(),
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: where it is, what stands there and what takes its place."""

    line: int
    start: int
    """Offset of the replaced text, in bytes."""
    end: int
    before: str
    after: str
    function: str
    """Qualified name of the outermost function or method around it, empty for none."""

    def applied(self, source: bytes) -> bytes:
        """The file with the change in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(source: bytes) -> list[Mutant]:
    """All changes of a file, in the order of their places."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    tree = ast.parse(source)
    passed_over = _passed_over(tree)
    functions = dict(_functions(tree, ()))
    found = []
    for node in ast.walk(tree):
        if id(node) in passed_over or not isinstance(node, ast.expr | ast.stmt):
            continue
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        for changed in _changes(node):
            after = ast.unparse(changed)
            after = f"({after})" if isinstance(node, ast.expr) else after
            found.append(
                Mutant(node.lineno, start, end, before, after, functions.get(id(node), ""))
            )
    return sorted(found)


def _functions(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The nodes that are in a function, by their id, each with the qualified name of it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, (*around, child.name))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            name = ".".join((*around, child.name))
            yield from ((id(one), name) for one in ast.walk(child))
        else:
            yield from _functions(child, around)


def _passed_over(tree: ast.AST) -> set[int]:
    """Nodes that decide nothing at run time: annotations and texts for readers."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts = [node.returns, *node.decorator_list]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.Raise) or (  # the words of an error
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            parts = [node]
        found.update(id(one) for part in parts if part is not None for one in ast.walk(part))
    return found


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        changed = copy(node)
        changed.ops = [_COMPARISONS[type(node.ops[0])], *node.ops[1:]]
        yield changed
    elif isinstance(node, ast.BoolOp):
        for at in range(len(node.values)):
            rest = [*node.values[:at], *node.values[at + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        if not isinstance(node.left, ast.JoinedStr):
            yield ast.BinOp(node.left, _OPERATORS[type(node.op)], node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()
