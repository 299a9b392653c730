"""Rules that keep the code readable, and the project speaking of itself alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.project.sources import (
    ROOT,
    functions,
    project_files,
    python_files,
    text_of,
    tree,
)

FILE_LINES = 600
FUNCTION_LINES = 60

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "SECURITY.md",
    "explorer",
    "ui",
    "resources",
    "prompts",
    "tests",
}

# Each is put together from parts, so that this file does not contain what it looks for.
FORBIDDEN_EVERYWHERE = {
    "a path of one machine": r"/(?:wo" + r"rk|op" + r"t)/(?:main|share" + r"d|venv|pypi)",
    "a directory beside the repository": r"\.\./share" + r"d\b",
    "a package index": r"(?:--|extra-)index-" + r"url|PIP_(?:EXTRA_)?INDEX_" + r"URL",
    "a note on who wrote it": r"Co-Authored" + r"-By|Generated " + r"(?:with|by) (?:Cl|Chat|Cop)",
}
FORBIDDEN_IN_CODE = {
    "an open end": r"#[^\n]*\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b",
    "a stub": r"raise NotImplemented" + r"Error|not implemented ye" + r"t",
}


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def hits(paths: list[Path], patterns: dict[str, str]) -> list[str]:
    found = []
    for path in paths:
        text = text_of(path)
        if text is None:
            continue
        for what, pattern in patterns.items():
            for match in re.finditer(pattern, text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{relative(path)}:{line}: {what}: {match[0]!r}")
    return found


def test_the_search_finds_what_it_looks_for(tmp_path: Path) -> None:
    sample = "see /wo" + "rk/main, ../share" + "d, --index-" + "url\n# TO" + "DO later\n"
    everywhere = [p for p in FORBIDDEN_EVERYWHERE.values() if re.search(p, sample)]
    code = [p for p in FORBIDDEN_IN_CODE.values() if re.search(p, sample)]
    assert (len(everywhere), len(code)) == (3, 1)


def test_no_file_names_a_machine_or_an_author_tool() -> None:
    assert hits(project_files(), FORBIDDEN_EVERYWHERE) == []


def test_no_open_ends_in_the_code() -> None:
    code = [path for path in project_files() if path.suffix in (".py", ".sh", ".toml")]
    assert len(code) > 10
    assert hits(code, FORBIDDEN_IN_CODE) == []


def test_the_top_level_holds_what_the_design_says() -> None:
    tops = {path.relative_to(ROOT).parts[0] for path in project_files()}
    assert {name for name in tops if not name.startswith(".")} <= TOP_LEVEL


def test_files_stay_short() -> None:
    long = {
        relative(path): lines
        for path in python_files("explorer", "ui")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES
    }
    assert long == {}, f"over {FILE_LINES} lines: split by subject"


def test_functions_stay_short() -> None:
    long = {}
    for path in python_files("explorer", "ui"):
        for function in functions(path):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > FUNCTION_LINES:
                long[f"{relative(path)}:{function.lineno} {function.name}"] = lines
    assert long == {}, f"over {FUNCTION_LINES} lines"


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        relative(path)
        for path in python_files("explorer", "ui")
        if ast.get_docstring(tree(path)) is None
    ]
    assert silent == []


def test_no_star_imports_and_no_bare_except() -> None:
    found = []
    for path in python_files("explorer", "ui"):
        for node in ast.walk(tree(path)):
            star = isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)
            bare = isinstance(node, ast.ExceptHandler) and node.type is None
            if star or bare:
                found.append(f"{relative(path)}:{getattr(node, 'lineno', 0)}")
    assert found == []


@pytest.mark.parametrize("name", ["explorer", "ui", "prompts", "resources"])
def test_every_directory_of_code_is_a_package(name: str) -> None:
    """Without an `__init__.py` import-linter and the type checker would pass a directory over."""
    directories = {path.parent for path in python_files(name)} - {ROOT / "resources" / "setup"}
    assert [relative(d) for d in sorted(directories) if not (d / "__init__.py").exists()] == []


DIALECT = re.compile(
    r'"(?:toolCall|toolResult|bashExecution|pythonExecution|fileMention|hookMessage|toolCallId'
    r'|stopReason|firstKeptEntryId|parentId|thinkingSignature|mimeType|cacheRead|totalTokens)"'
)
"""Words of pi's files that no other format has."""


def test_a_dialects_words_stand_in_its_adapter_alone() -> None:
    found = [
        f"{relative(path)}: {word.group()}"
        for path in python_files("explorer", "ui")
        if "formats" not in path.parts
        for word in DIALECT.finditer(path.read_text("utf-8"))
    ]
    assert not found


MAY_WRITE = {
    "explorer/private_files.py",
    "explorer/settings/paths.py",
    "explorer/agent/workspace.py",  # the project's files
    "explorer/settings/files.py",  # a project's folder of settings
    "explorer/services/session_files.py",  # a folder of a fresh name
}
_WRITING = {
    "write_text", "write_bytes", "mkdir", "makedirs", "touch", "mkstemp", "NamedTemporaryFile",
    "TemporaryFile", "copytree", "copyfile",
}  # fmt: skip


def test_files_are_made_by_one_module() -> None:
    """A file that is made otherwise has the umask's mode, and not its owner's alone."""
    found = []
    for path in python_files("explorer", "ui"):
        name = relative(path)
        if name in MAY_WRITE:
            continue
        calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        found += [f"{name}:{call.lineno}" for call in calls if writes(call)]
        found += [f"{name}: O_CREAT"] * ("O_CREAT" in path.read_text(encoding="utf-8"))
    assert found == []


def writes(call: ast.Call) -> bool:
    """Whether a call makes a file or a folder, as far as its words say."""
    named = call.func
    word = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    given = [one.value if isinstance(one, ast.Constant) else None for one in call.args[:2]]
    opens = word == "open" and any(str(mode)[:1] in ("w", "x") for mode in given if mode)
    return word in _WRITING or (opens and not isinstance(given[0], int))


def test_a_label_wraps_once_it_has_its_size_policy() -> None:
    """``setSizePolicy`` takes back what ``setWordWrap`` sets: that the height follows from the
    width. The last lines of a narrow label are cut off then."""
    found = []
    for path in python_files("ui"):
        for function in functions(path):
            wrapping: set[str] = set()
            for node in sorted(ast.walk(function), key=lambda node: getattr(node, "lineno", 0)):
                if isinstance(node, ast.Assign) and wraps(node.value):
                    wrapping.update(map(ast.unparse, node.targets))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    label = ast.unparse(node.func.value)
                    if node.func.attr == "setWordWrap":
                        wrapping.add(label)
                    elif node.func.attr == "setSizePolicy" and label in wrapping:
                        found.append(f"{relative(path)}:{node.lineno}")
    assert found == []


def wraps(made: ast.expr) -> bool:
    """Whether an expression makes a label that wraps."""
    words = made.keywords if isinstance(made, ast.Call) else []
    return any(word.arg in ("wraps", "wordWrap") for word in words)
