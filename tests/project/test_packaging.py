"""The metadata, the dependencies, and what a wheel holds."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.project.sources import ROOT, imported_modules, python_files, tree

PYPROJECT = ROOT / "pyproject.toml"

# What a package is imported as, where that is not its name; what is allowed on its account.
IMPORTED_AS = {
    "pyside6-essentials": {"PySide6", "shiboken6"},
    # sqlmodel is a layer over these two and re-exports only a part of them.
    "sqlmodel": {"sqlmodel", "sqlalchemy", "pydantic"},
}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    return content


def requirements(project: dict[str, Any]) -> list[Requirement]:
    named = project["dependencies"] + project["optional-dependencies"]["test"]
    return [Requirement(line) for line in named]


def test_the_distribution_its_command_and_its_pythons(project: dict[str, Any]) -> None:
    assert project["name"] == "session-explorer"
    assert project["scripts"] == {"session-explorer": "explorer.cli:main"}
    assert project["license"] == "MIT"
    pythons = SpecifierSet(project["requires-python"])
    assert [v for v in ("3.10", "3.11", "3.12", "3.13", "3.14") if v in pythons] == [
        "3.11",
        "3.12",
        "3.13",
    ]
    listed = {c.rpartition(" ")[2] for c in project["classifiers"] if ":: 3." in c}
    assert listed == {"3.11", "3.12", "3.13"}


def test_the_license_is_mit() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License") and "Session Explorer contributors" in text


def test_the_changelog_tells_of_this_version(project: dict[str, Any]) -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(project['version'])}\b", changelog, re.MULTILINE)


def test_the_installed_version_is_this_one(project: dict[str, Any]) -> None:
    try:
        installed = importlib.metadata.version("session-explorer")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the project is not installed here, only its dependencies")
    assert installed == project["version"]


def test_every_dependency_has_both_bounds(project: dict[str, Any]) -> None:
    for requirement in requirements(project):
        operators = {specifier.operator for specifier in requirement.specifier}
        assert operators == {">=", "<"}, str(requirement)


def test_every_dependency_says_why_it_is_here() -> None:
    lines = PYPROJECT.read_text(encoding="utf-8").splitlines()
    listed = [i for i, line in enumerate(lines) if re.match(r'  "[\w-]+>=', line)]
    assert len(listed) > 10
    silent = [lines[i].strip() for i in listed if not lines[i - 1].strip().startswith("# ")]
    assert silent == []


def test_the_pyside_that_aborts_is_kept_out(project: dict[str, Any]) -> None:
    pyside = next(r for r in requirements(project) if r.name == "PySide6-Essentials")
    assert "6.12.0" not in pyside.specifier
    assert "6.11.3" in pyside.specifier


def test_every_import_is_a_declared_dependency(project: dict[str, Any]) -> None:
    allowed = set(sys.stdlib_module_names) | {"explorer", "ui", "prompts", "resources"}
    for line in project["dependencies"]:
        name = Requirement(line).name.lower()
        allowed |= IMPORTED_AS.get(name, {name})
    found = set()
    for path in python_files("explorer", "ui", "resources", "prompts"):
        for node in ast.walk(tree(path)):
            for module in imported_modules(node):
                if module.partition(".")[0] not in allowed:
                    found.add(f"{path.relative_to(ROOT)}: {module}")
    assert sorted(found) == []


def _imported_late(node: ast.AST) -> list[str]:
    """The module that ``import_module`` is called with, where it is named on the spot."""
    match node:
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
            return [name]
    return []


def test_every_dependency_is_used(project: dict[str, Any]) -> None:
    """A package that nothing imports costs every installation its time and its risk."""
    used = {
        module.partition(".")[0]
        for path in python_files("explorer", "ui")
        for node in ast.walk(tree(path))
        for module in (*imported_modules(node), *_imported_late(node))
    }
    idle = []
    for line in project["dependencies"]:
        name = Requirement(line).name.lower()
        if not IMPORTED_AS.get(name, {name}) & used:
            idle.append(name)
    assert idle == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel built from this working tree with the backend that is installed here."""
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    run = subprocess.run([*build, str(ROOT)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    (built,) = out.glob("*.whl")
    return zipfile.ZipFile(built)


@pytest.mark.slow
def test_the_wheel_holds_the_four_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    tops = {name.partition("/")[0] for name in names}
    info = next(top for top in tops if top.endswith(".dist-info"))
    assert tops == {"explorer", "ui", "resources", "prompts", info}
    assert f"{info}/licenses/LICENSE" in names
    left_out = ("/setup/", "/pictures/", "__pycache__")
    assert not [name for name in names if any(part in name for part in left_out)]


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_its_packages(wheel: zipfile.ZipFile) -> None:
    """Templates, icons, samples and lessons are data: easily left out without a test noticing."""
    names = set(wheel.namelist())
    expected = {
        str(path.relative_to(ROOT))
        for top in ("explorer", "ui", "resources", "prompts")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and not set(path.parts) & {"__pycache__", "setup", "pictures"}
    }
    assert sorted(expected - names) == []


@pytest.mark.slow
def test_the_wheel_declares_the_command(wheel: zipfile.ZipFile) -> None:
    entry = next(n for n in wheel.namelist() if n.endswith(".dist-info/entry_points.txt"))
    assert "session-explorer = explorer.cli:main" in wheel.read(entry).decode()


def test_a_module_alias_starts_the_same_program() -> None:
    main = ast.parse(Path(ROOT / "explorer" / "__main__.py").read_text(encoding="utf-8"))
    imports = [n for n in ast.walk(main) if isinstance(n, ast.ImportFrom)]
    assert ("explorer.cli", "main") in {(n.module, n.names[0].name) for n in imports}


def test_the_command_line_finds_the_window_by_its_entry_point(project: dict[str, Any]) -> None:
    """`explorer` may not import `ui`: the two meet in the installed metadata alone."""
    (target,) = project["entry-points"]["session_explorer.window"].values()
    module, _, name = target.partition(":")
    window = tree(ROOT / Path(*module.split(".")).with_suffix(".py"))
    assert name in {node.name for node in window.body if isinstance(node, ast.FunctionDef)}
