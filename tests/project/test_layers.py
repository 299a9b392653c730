"""What the layers promise beyond what import-linter sees: no Qt at run time, pure packages."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib

import pytest

from tests.project.sources import ROOT, functions, imported_modules, python_files, tree

PURE = ("explorer/compaction", "explorer/prompting", "explorer/audit")
IMPURE_CALLS = {"open", "print", "input", "exec", "eval"}
CLOCKS = {"now", "utcnow", "today", "time", "time_ns", "monotonic", "perf_counter"}
DISK = {"read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "iterdir"}

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import explorer

for module in pkgutil.walk_packages(explorer.__path__, "explorer."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_importing_all_of_explorer_brings_in_neither_qt_nor_litellm() -> None:
    """litellm takes seconds to import: it comes in when a model is first called."""
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    loaded = set(json.loads(run.stdout))
    assert "explorer" in loaded
    assert loaded & {"PySide6", "shiboken6", "qasync", "ui", "litellm"} == set()


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_have_no_file_clock_or_console(package: str) -> None:
    found = []
    for path in python_files(package):
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if (isinstance(called, ast.Name) and called.id in IMPURE_CALLS) or (
                isinstance(called, ast.Attribute) and called.attr in CLOCKS | DISK
            ):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(called)}")
    assert found == []


def late(modules: list[str]) -> bool:
    return all(name in IMPORTED_LATE or name.startswith("litellm.") for name in modules)


IMPORTED_LATE = {
    "litellm",
    "explorer.models.offline.demo",
    "explorer.models.offline.extractive",
    "explorer.store.tables",
}
"""What takes longer to import than a window may wait, and is not needed by most of its work."""


def test_imports_inside_functions_are_for_what_is_slow_to_import() -> None:
    found = []
    for path in python_files("explorer", "ui"):
        for function in functions(path):
            for node in ast.walk(function):
                inside = isinstance(node, ast.Import | ast.ImportFrom)
                if inside and not late(imported_modules(node)):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_the_contracts_cover_every_package_of_explorer() -> None:
    """A package that no contract names would be a layer without rules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = set()
    for contract in project["tool"]["importlinter"]["contracts"]:
        named.update(contract["source_modules"])
    packages = {
        f"explorer.{path.name}"
        for path in (ROOT / "explorer").iterdir()
        if (path / "__init__.py").exists()
    }
    # The commands are the outermost layer: nothing to forbid there but the window.
    assert packages - {"explorer.commands"} <= named
