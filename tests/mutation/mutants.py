"""What can be changed in a file so that it still runs and should behave otherwise."""

from __future__ import annotations

import ast
import re
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

_SPEED_ONLY = re.compile(
    r"(?:^|_)(?:AT_ONCE|ASKED|BATCH|BLOCK|BLOCKS_KEPT|BUSY_MS|CACHED|CHECKPOINT_PAGES|CHUNK|COMMON"
    r"|COMMON_LENGTH|COMMON_SHARE|COUNTED|FETCHED|IDLE|IMPORT_PAGES|IN_FLIGHT|MANY|REMEMBERED"
    r"|REST|ROWS|SAMPLED|SESSIONS_KEPT|STEPS?|STRETCH|WORDS_KEPT|S)$"
)
"""Names of constants that say how much is done or kept at once, or how many real seconds a thing
waits: one more of them changes what a run costs, not what it gives."""
_UNSEEN_ARGUMENTS = frozenset(
    (
        "autojunk",
        "cached_statements",
        "check_same_thread",
        "daemon",
        "maxsize",
        "repr",
        "slots",
        "strict",
        "timeout",
    )
)
"""Arguments whose change nobody sees, or only who breaks the types: ``zip(strict=True)``."""
_CLOCKS = ("time.monotonic", "time.time", "perf_counter")
_TYPE_NAME = re.compile(r"_?[A-Z]\w*[a-z]\w*|int|str|float|bool|bytes")


class Mutant(NamedTuple):
    """One change: where it is, what stands there and what takes its place."""

    line: int
    start: int
    """Offset of the replaced text, in bytes."""
    end: int
    before: str
    after: str
    function: str
    """Qualified name of the outermost function or method around it; empty for none, and for one
    that is called when the module is imported: what it gave is used by all that came later."""

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
    at_import = _called_at_import(tree)
    functions = {at: name for at, name in _functions(tree, ()) if name not in at_import}
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


def _called_at_import(node: ast.AST) -> set[str]:
    """Names of what is called outside of functions."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Name):
                found.add(child.func.id)
            found |= _called_at_import(child)
    return found


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
    """Nodes that decide nothing at run time: annotations, types, texts for readers, and what only
    makes a run quicker or slower."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts = [node.returns, *node.decorator_list]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.Subscript) and _is_outer_part(node):
            parts = node.value.args[1:]  # type: ignore[attr-defined]
        elif isinstance(node, ast.Compare):
            parts = [*_same_bounds(node)]
        elif isinstance(node, ast.UnaryOp) and _is_none(node):
            parts = [node.operand]
        elif isinstance(node, ast.IfExp) and _is_of_platform(node.test):
            # Half of it is for machines that are none of ours.
            parts = [node.test, node.orelse]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "secrets.token_hex":
            parts = [*node.args]
        elif _is_speed(node) or _is_for_readers(node) or _is_union_of_types(node):
            parts = [node]
        found.update(id(one) for part in parts if part is not None for one in ast.walk(part))
    return found


def _is_outer_part(node: ast.Subscript) -> bool:
    """``text.split(mark, 1)[0]`` or ``text.rsplit(mark, 1)[-1]``: how often the rest is split
    changes nothing."""
    call = node.value
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and (call.func.attr, ast.unparse(node.slice)) in (("split", "0"), ("rsplit", "-1"))
    )


def _same_bounds(node: ast.Compare) -> Iterator[ast.expr]:
    """The whole number in ``at >= 3`` or ``at < 3``: 4 in its place is what ``at > 3`` and
    ``at <= 3`` are, which are changes of the comparison already."""
    for one, signs in ((node.left, (ast.LtE, ast.Gt)), (node.comparators[0], (ast.Lt, ast.GtE))):
        if (
            isinstance(node.ops[0], signs)
            and isinstance(one, ast.Constant)
            and isinstance(one.value, int)
        ):
            yield one


def _is_none(node: ast.AST) -> bool:
    """-1, which is the last of several or says that there is none; so would most often -2."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and node.operand.value == 1
        and isinstance(node.operand.value, int)
    )


def _is_of_platform(test: ast.expr) -> bool:
    """``byteorder == "little"``, which holds wherever the tests run."""
    return isinstance(test, ast.Compare) and ast.unparse(test).endswith("byteorder == 'little'")


def _is_speed(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in _UNSEEN_ARGUMENTS
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant | ast.Tuple):
        return False
    target = node.targets[0]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(one, ast.Name) and _SPEED_ONLY.search(one.id) for one in names)


def _is_for_readers(node: ast.AST) -> bool:
    """A docstring, the words of an error, a note on types, or ``_log.warning(...)``."""
    if isinstance(node, ast.Raise | ast.Assert):
        return True
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    return isinstance(call, ast.Constant) or (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id.strip("_") in ("log", "logger")
    )


def _is_union_of_types(node: ast.AST) -> bool:
    """``A | B`` of classes, which no other operator takes."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitOr):
        return False
    right = node.right
    name = getattr(right, "attr", getattr(right, "id", "")) if right else ""
    return isinstance(right, ast.Constant) or _TYPE_NAME.fullmatch(name) is not None


def _is_clock(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in _CLOCKS


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        if any(_is_clock(one) for one in (node.left, *node.comparators)):
            return  # Nobody sees whether it is the very moment.
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
    elif _is_none(node):
        yield ast.Constant(0)
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
