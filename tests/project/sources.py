"""The project's own files, for the tests that read them."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def python_files(*directories: str) -> list[Path]:
    """Every Python file below these top-level directories, sorted."""
    return sorted(path for name in directories for path in (ROOT / name).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of one file, nested ones included."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported_modules(node: ast.AST) -> list[str]:
    """The absolute modules that an import statement names; none for anything else."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module]
    return []


def project_files() -> list[Path]:
    """Every file that belongs to the project: what git tracks, or what a copy without it holds."""
    git = shutil.which("git")
    if git is not None and (ROOT / ".git").exists():
        listing = subprocess.run(
            [git, "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z"],
            capture_output=True,
            text=True,
            check=True,
        )
        named = (ROOT / name for name in listing.stdout.split("\0") if name)
        return [path for path in named if path.is_file()]
    tops = ("explorer", "ui", "resources", "prompts", "tests", ".ci")
    found = [path for top in tops for path in (ROOT / top).rglob("*") if path.is_file()]
    found += [path for path in ROOT.iterdir() if path.is_file()]
    return [path for path in found if "__pycache__" not in path.parts]


def text_of(path: Path) -> str | None:
    """The text of a file; None when it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
