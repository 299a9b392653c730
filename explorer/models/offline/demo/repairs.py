"""Known kinds of faults: a misspelt name or key, a wrong operator or number."""

from __future__ import annotations

import ast
import builtins
import difflib
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.models.offline.demo.failures import Failure, Frame
from explorer.models.offline.demo.limits import is_test
from explorer.models.offline.demo.mutations import Change, changes_of
from explorer.models.offline.demo.reckoning import Paper, Unclear, holds

MOST_REPAIRS = 3
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"name '(\w+)' is not defined")
_ATTRIBUTE = re.compile(
    r"(?:module '[\w.]+'|'[\w.]+' object|type object '\w+') has no attribute '(\w+)'"
)
_IMPORT = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_MEANT = re.compile(r"[Dd]id you mean:? '(?:self\.)?(\w+)'")
_KEY = re.compile(r"^['\"](.+)['\"]$")
_LITERAL = re.compile(r"['\"]([^'\"\n]+)['\"]")


@dataclass(frozen=True, slots=True)
class Repair:
    """New lines for a file, and why."""

    path: str
    lines: tuple[str, ...]
    why: str


Sources = Mapping[str, Sequence[str]]
"""The lines of files, by their paths."""


def repairs_for(failure: Failure, frames: Sequence[Frame], sources: Sources) -> list[Repair]:
    """What could make a test pass, the likeliest first; empty when no rule knows."""
    last = frames[-1] if frames else None
    found: list[Repair] = []
    match failure.kind:
        case "NameError" | "UnboundLocalError":
            found = _names(_NAME, failure, last, sources)
        case "AttributeError":
            found = _names(_ATTRIBUTE, failure, last, sources)
        case "ImportError":
            found = _imports(failure, sources)
        case "KeyError":
            found = _keys(failure, last, sources)
        case _:
            found = _calculated(failure, frames, sources)
    return found[:MOST_REPAIRS]


def _names(
    pattern: re.Pattern[str], failure: Failure, last: Frame | None, sources: Sources
) -> list[Repair]:
    """A name that is not there, where one like it is."""
    wrong = pattern.search(failure.text)
    if wrong is None or last is None or last.path not in sources:
        return []
    if is_test(last.path):
        return _definitions(wrong[1], sources)
    lines = sources[last.path]
    meant = _MEANT.search(failure.text)
    known = [meant[1]] if meant else _close(wrong[1], _words(lines, wrong[1]))
    return [_renamed(last.path, lines, wrong[1], name, last.line) for name in known]


def _imports(failure: Failure, sources: Sources) -> list[Repair]:
    wrong = _IMPORT.search(failure.text)
    if wrong is None:
        return []
    end = wrong[2].replace(".", "/") + ".py"
    return _definitions(wrong[1], {p: lines for p, lines in sources.items() if p.endswith(end)})


def _definitions(wanted: str, sources: Sources) -> list[Repair]:
    """A definition whose name is nearly the one that the tests want."""
    found: list[Repair] = []
    for path, lines in sources.items():
        if is_test(path):
            continue
        defined = [
            name[1] for line in lines if (name := re.match(r"\s*(?:def|class)\s+(\w+)", line))
        ]
        found += [_renamed(path, lines, name, wanted, 0) for name in _close(wanted, defined)]
    return found


def _keys(failure: Failure, last: Frame | None, sources: Sources) -> list[Repair]:
    wrong = _KEY.match(failure.text)
    if wrong is None or last is None or last.path not in sources or is_test(last.path):
        return []
    every = {t for lines in sources.values() for line in lines for t in _LITERAL.findall(line)}
    lines = sources[last.path]
    return [
        Repair(
            last.path,
            (*lines[: last.line - 1], lines[last.line - 1].replace(wrong[1], key),
             *lines[last.line :]),
            f"there is no key `{wrong[1]}`, and `{key}` is much like it",
        )
        for key in _close(wrong[1], every - {wrong[1]})
        if wrong[1] in lines[last.line - 1]
    ]  # fmt: skip


def _renamed(path: str, lines: Sequence[str], old: str, new: str, line: int) -> Repair:
    """A word replaced in one line, or everywhere for line 0."""
    word = re.compile(rf"\b{re.escape(old)}\b")
    made = tuple(
        word.sub(new, text) if line in (0, at) else text for at, text in enumerate(lines, 1)
    )
    return Repair(path, made, f"`{old}` looks like a misspelt `{new}`")


def _words(lines: Sequence[str], wrong: str) -> set[str]:
    found = {word for line in lines for word in _WORD.findall(line)} | set(dir(builtins))
    return found - set(keyword.kwlist) - {wrong}


def _close(wrong: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(wrong, sorted(set(known)), n=2, cutoff=0.6)


# what can be calculated ---------------------------------------------------------------------------


def _calculated(failure: Failure, frames: Sequence[Frame], sources: Sources) -> list[Repair]:
    """Small changes under which the tests, worked out on paper, hold."""
    modules = {path: tree for path, lines in sources.items() if (tree := _parsed(lines))}
    tests = [
        node
        for path, tree in modules.items() if is_test(path)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    ]  # fmt: skip
    failing = [node for node in tests if node.name == failure.test.split("[")[0]]
    if not failing:
        return []
    scored: list[tuple[int, int, Repair]] = []
    reached = {frame.path for frame in frames}
    for path, change in _every_change(failing[0], modules, sources):
        lines = change.applied(sources[path])
        changed = modules | {path: _parsed(lines)}
        if any(tree is None for tree in changed.values()):
            continue
        functions, values = _defined(t for t in changed.values() if t is not None)
        if not holds(failing[0], functions, values):
            continue
        good = sum(holds(test, functions, values) is True for test in tests)
        why = f"{change.told} the test works out"
        scored.append((-good, path not in reached, Repair(path, tuple(lines), why)))
    scored.sort(key=lambda one: one[:2])
    return [repair for _, _, repair in scored]


def _every_change(
    test: ast.FunctionDef, modules: Mapping[str, ast.Module], sources: Sources
) -> list[tuple[str, Change]]:
    """The changes of every function that a test reaches, the ones that it calls first."""
    places = {
        node.name: (path, node)
        for path, tree in modules.items() if not is_test(path)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }  # fmt: skip
    found: list[tuple[str, Change]] = []
    seen: set[str] = set()
    waiting: list[ast.AST] = [test]
    while waiting:
        for node in ast.walk(waiting.pop(0)):
            name = node.id if isinstance(node, ast.Name) else ""
            if name in places and name not in seen:
                seen.add(name)
                path, function = places[name]
                waiting.append(function)
                found += [(path, change) for change in changes_of(function, sources[path])]
    for path, tree in modules.items():
        if not is_test(path):
            found += [(path, one) for one in _constants(tree, sources[path])]
    return found


def _constants(tree: ast.Module, lines: Sequence[str]) -> list[Change]:
    """Numbers that a module names at its top."""
    holder = ast.FunctionDef(name="", args=None, body=[], decorator_list=[])  # type: ignore[arg-type]
    body = [node for node in tree.body if isinstance(node, ast.Assign)]
    return [change for node in body for change in changes_of(_with(holder, node), lines)]


def _with(holder: ast.FunctionDef, node: ast.stmt) -> ast.FunctionDef:
    holder.body = [node]
    return holder


def _parsed(lines: Sequence[str]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _defined(
    modules: Iterable[ast.Module],
) -> tuple[dict[str, ast.FunctionDef], dict[str, Any]]:
    """The functions and the plain values at the top of modules."""
    functions: dict[str, ast.FunctionDef] = {}
    values: dict[str, Any] = {}
    for tree in modules:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                try:
                    values[node.targets[0].id] = Paper({}, values).value(node.value, {})
                except (Unclear, ArithmeticError, LookupError, TypeError, ValueError):
                    continue
    return functions, values
