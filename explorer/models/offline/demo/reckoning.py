"""Working simple Python functions out on paper: numbers, texts and lists, nothing that acts.

Only what is spelled out here is understood; anything else raises ``Unclear``, and a count of
steps ends what would take long. No code is executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

MOST_STEPS = 20_000
MOST_SIZE = 100_000

_BINARY: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_UNARY: Mapping[type[ast.AST], Callable[[Any], Any]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
_CALLS: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "all": all, "any": any, "bool": bool, "dict": dict, "enumerate": enumerate,
    "float": float, "int": int, "len": len, "list": list, "max": max, "min": min,
    "reversed": reversed, "round": round, "set": set, "sorted": sorted, "str": str, "sum": sum,
    "tuple": tuple, "zip": zip,
}  # fmt: skip
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        ("count", "endswith", "index", "join", "lower", "lstrip", "replace", "rstrip", "split",
         "startswith", "strip", "title", "upper")
    ),
    list: frozenset(("append", "count", "index")),
    tuple: frozenset(("count", "index")),
    dict: frozenset(("get", "items", "keys", "values")),
}  # fmt: skip


class Unclear(Exception):
    """Something that is not worked out here."""


class Failed(Exception):
    """A test's own check does not hold."""


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def holds(test: ast.FunctionDef, functions: Mapping[str, ast.FunctionDef],
          values: Mapping[str, Any]) -> bool | None:  # fmt: skip
    """Whether a test would pass; None where that cannot be worked out.

    ``functions`` and ``values`` are what the modules define.
    """
    paper = Paper(functions, values)
    try:
        paper.body(test.body, {})
    except _Return:
        return True
    except (Unclear, RecursionError, _Break, _Continue):
        return None
    except (Failed, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return False
    return True


class Paper:
    """One working-out, with its count of steps."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], values: Mapping[str, Any]) -> None:
        self._functions, self._values = functions, values
        self._steps = 0

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Unclear("too long")

    # statements ----------------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt], names: dict[str, Any]) -> None:
        """Work statements out, one after the other."""
        for statement in statements:
            self._step()
            self._statement(statement, names)

    def _statement(self, node: ast.stmt, names: dict[str, Any]) -> None:
        match node:
            case ast.Return(value):
                raise _Return(None if value is None else self.value(value, names))
            case ast.Assign([target], value):
                self._bind(target, self.value(value, names), names)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._bind(target, self.value(value, names), names)
            case ast.AugAssign(ast.Name(name), op, value):
                names[name] = self._binary(op, self._name(name, names), self.value(value, names))
            case ast.If(test, body, orelse):
                self.body(body if self.value(test, names) else orelse, names)
            case ast.For():
                self._loop(node, names)
            case ast.Assert(test):
                if not self.value(test, names):
                    raise Failed
            case ast.Expr(ast.Call(ast.Attribute(ast.Name("self"), check), arguments)):
                self._check(check, [self.value(one, names) for one in arguments])
            case ast.Expr(value):
                self.value(value, names)
            case ast.Pass():
                return
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case _:
                raise Unclear(type(node).__name__)

    def _loop(self, node: ast.For, names: dict[str, Any]) -> None:
        for item in self._items(node.iter, names):
            self._step()
            self._bind(node.target, item, names)
            try:
                self.body(node.body, names)
            except _Break:
                return
            except _Continue:
                continue
        self.body(node.orelse, names)

    def _bind(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
        match target:
            case ast.Name(name):
                names[name] = value
            case ast.Tuple(parts) | ast.List(parts):
                for part, one in zip(parts, value, strict=True):
                    self._bind(part, one, names)
            case _:
                raise Unclear("target")

    def _check(self, check: str, given: list[Any]) -> None:
        match check, given:
            case ("assertEqual", [one, other, *_]):
                good = one == other
            case ("assertNotEqual", [one, other, *_]):
                good = one != other
            case ("assertAlmostEqual", [one, other, *_]):
                good = round(abs(one - other), 7) == 0
            case ("assertTrue", [one, *_]):
                good = bool(one)
            case ("assertFalse", [one, *_]):
                good = not one
            case ("assertIn", [one, other, *_]):
                good = one in other
            case _:
                raise Unclear(check)
        if not good:
            raise Failed

    # values --------------------------------------------------------------------------------------

    def value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        """What an expression comes to. Raises Unclear."""
        self._step()
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self._name(name, names)
            case ast.BinOp(left, op, right):
                return self._binary(op, self.value(left, names), self.value(right, names))
            case ast.UnaryOp(op, operand) if type(op) in _UNARY:
                return _UNARY[type(op)](self.value(operand, names))
            case ast.BoolOp(op, parts):
                return self._joined(op, parts, names)
            case ast.Compare():
                return self._compared(node, names)
            case ast.IfExp(test, body, orelse):
                return self.value(body if self.value(test, names) else orelse, names)
            case ast.Call():
                return self._call(node, names)
            case ast.Subscript(value, key):
                return self.value(value, names)[self._key(key, names)]
            case _:
                return self._collected(node, names)

    def _collected(self, node: ast.expr, names: dict[str, Any]) -> Any:
        match node:
            case ast.List(parts):
                return [self.value(part, names) for part in parts]
            case ast.Tuple(parts):
                return tuple(self.value(part, names) for part in parts)
            case ast.Set(parts):
                return {self.value(part, names) for part in parts}
            case ast.Dict(keys, values):
                pairs = zip(keys, values, strict=True)
                return {self.value(k, names): self.value(v, names) for k, v in pairs if k}
            case ast.ListComp(element, [source]) | ast.GeneratorExp(element, [source]):
                return self._comprehended(element, source, names)
            case _:
                raise Unclear(type(node).__name__)

    def _comprehended(
        self, element: ast.expr, source: ast.comprehension, names: dict[str, Any]
    ) -> list[Any]:
        found, inner = [], dict(names)
        for item in self._items(source.iter, names):
            self._step()
            self._bind(source.target, item, inner)
            if all(self.value(one, inner) for one in source.ifs):
                found.append(self.value(element, inner))
        return found

    def _items(self, node: ast.expr, names: dict[str, Any]) -> Iterable[Any]:
        match node:
            case ast.Call(ast.Name("range"), ends):
                return range(*(int(self.value(one, names)) for one in ends))
        return list(self.value(node, names))

    def _key(self, key: ast.expr, names: dict[str, Any]) -> Any:
        if isinstance(key, ast.Slice):
            ends = (key.lower, key.upper, key.step)
            return slice(*(None if end is None else self.value(end, names) for end in ends))
        return self.value(key, names)

    def _name(self, name: str, names: Mapping[str, Any]) -> Any:
        if name in names:
            return names[name]
        if name in self._values:
            return self._values[name]
        raise Unclear(name)

    def _binary(self, op: ast.operator, one: Any, other: Any) -> Any:
        if type(op) not in _BINARY:
            raise Unclear(type(op).__name__)
        if isinstance(one, str) and isinstance(op, ast.Mod):
            raise Unclear("formatting")
        sized = [len(part) for part in (one, other) if hasattr(part, "__len__")]
        times = [part for part in (one, other) if isinstance(part, int)]
        if sized and isinstance(op, ast.Mult) and times and max(sized) * max(times) > MOST_SIZE:
            raise Unclear("too large")
        made = _BINARY[type(op)](one, other)
        if isinstance(made, int) and made.bit_length() > MOST_SIZE:
            raise Unclear("too large")
        if hasattr(made, "__len__") and len(made) > MOST_SIZE:
            raise Unclear("too large")
        return made

    def _joined(self, op: ast.boolop, parts: Sequence[ast.expr], names: dict[str, Any]) -> Any:
        value: Any = None
        for part in parts:
            value = self.value(part, names)
            if bool(value) != isinstance(op, ast.And):
                return value
        return value

    def _compared(self, node: ast.Compare, names: dict[str, Any]) -> bool:
        left = self.value(node.left, names)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, names)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _call(self, node: ast.Call, names: dict[str, Any]) -> Any:
        if any(isinstance(one, ast.Starred) for one in node.args):
            raise Unclear("starred")
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, names)
        if not isinstance(node.func, ast.Name):
            raise Unclear("call")
        given = [self.value(one, names) for one in node.args]
        named = {word.arg: self.value(word.value, names) for word in node.keywords if word.arg}
        name = node.func.id
        if name in self._functions:
            return self._function(self._functions[name], given, named)
        if name not in _CALLS or named:
            raise Unclear(name)
        return _CALLS[name](*given)

    def _method(self, node: ast.Call, func: ast.Attribute, names: dict[str, Any]) -> Any:
        owner = self.value(func.value, names)
        given = [self.value(one, names) for one in node.args]
        if func.attr not in _METHODS.get(type(owner), ()):
            raise Unclear(func.attr)
        sizes = [len(part) + 1 for part in (owner, *given) if hasattr(part, "__len__")]
        if isinstance(owner, str) and prod(sizes) > MOST_SIZE:
            raise Unclear("too large")
        return getattr(owner, func.attr)(*given)

    def _function(self, node: ast.FunctionDef, given: list[Any], named: dict[str, Any]) -> Any:
        self._step()
        words = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        defaults = [self.value(one, {}) for one in node.args.defaults]
        names = dict(zip(words[len(words) - len(defaults) :], defaults, strict=True))
        names |= dict(zip(words, given, strict=False)) | named
        if len(given) > len(words) or set(names) != set(words):
            raise Unclear("arguments")
        try:
            self.body(node.body, names)
        except _Return as answer:
            return answer.value
        return None
