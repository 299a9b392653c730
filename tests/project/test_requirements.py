"""Every requirement id that code or tests cite has an entry in the list, and every entry is cited.

Ids are cited in docstrings and comments ("A13", "A8 to A12", "(D)") and in the names
of tests (``test_e21_...``).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.project.sources import ROOT, python_files, tree

LIST = ROOT / "resources" / "docs" / "requirements.md"
PLACES = ("explorer", "ui", "prompts", "resources", "tests")
_ENTRY = re.compile(r"^- \*\*([A-E]\d*)\*\* \S", re.MULTILINE)
_ID = r"(?<![\w/.#-])([A-E])(\d{1,2})(?![\w%/-]|\.\d)"
_CITED = re.compile(rf"{_ID}(?: to {_ID})?")
_AUDIT = re.compile(r"\((?:[A-E]\d+, )*D(?:, [A-E]\d+)*\)")
_IN_NAME = re.compile(r"_([a-e])(\d{1,2})(?=_|$)")
_IN_COMMENT = re.compile(rf"#.*(?:{_CITED.pattern}|{_AUDIT.pattern})")


def in_text(text: str) -> Iterator[str]:
    """The ids in a docstring or a comment; a range cites all that it spans."""
    for found in _CITED.finditer(text):
        letter, first, last_letter, last = found.groups()
        yield f"{letter}{first}"
        if last is not None and last_letter == letter:
            yield from (f"{letter}{number}" for number in range(int(first) + 1, int(last) + 1))
    if _AUDIT.search(text):
        yield "D"


def in_name(name: str) -> Iterator[str]:
    """The ids in the name of a test."""
    if name.startswith("test_"):
        yield from (f"{letter.upper()}{number}" for letter, number in _IN_NAME.findall(name))


def in_python(path: Path) -> Iterator[tuple[int, str]]:
    """(line, id) of every citation in one file of code."""
    text = path.read_text(encoding="utf-8")
    # Most files cite nothing, and reading a file token by token takes long.
    if _IN_COMMENT.search(text):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield from ((token.start[0], one) for one in in_text(token.string))
    if not any(pattern.search(text) for pattern in (_CITED, _AUDIT, _IN_NAME)):
        return
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said = node.value.value
            if isinstance(said, str):
                yield from ((node.lineno, one) for one in in_text(said))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((node.lineno, one) for one in in_name(node.name))


@cache
def citations() -> dict[str, list[str]]:
    """Where each id is cited, as ``file:line``."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in python_files(*PLACES):
        if path != Path(__file__):
            for line, one in in_python(path):
                found[one].append(f"{path.relative_to(ROOT)}:{line}")
    return dict(found)


def entries() -> list[str]:
    return _ENTRY.findall(LIST.read_text(encoding="utf-8"))


def test_citations_are_recognised() -> None:
    said = "Rules (A8 to A10, B13), C3; not D2.5, 3A1, A4/A5, B2B nor E501. Losses (C1, D)."
    assert list(in_text(said)) == ["A8", "A9", "A10", "B13", "C3", "C1", "D"]
    assert list(in_name("test_b1_e21_the_range_of_a2b")) == ["B1", "E21"]
    assert list(in_name("make_a1_b2")) == []


def test_every_cited_id_has_an_entry() -> None:
    known = set(entries())
    assert {one: places for one, places in citations().items() if one not in known} == {}


def test_every_entry_is_cited() -> None:
    assert set(entries()) - set(citations()) == set()


def test_every_id_is_listed_once() -> None:
    assert [one for one, count in Counter(entries()).items() if count > 1] == []
