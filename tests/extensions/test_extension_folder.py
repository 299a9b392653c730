"""Loading: each file by itself, failures with their place, nothing written beside the files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from explorer.extensions.extension_folder import PREFIX, LoadedFolder
from explorer.extensions.manager import PROJECT_FOLDER, Extensions
from tests.extensions.making import handler, load, wait, write

BEFORE = "session_before_compact"
GOOD = handler(BEFORE, "return None")


@pytest.mark.parametrize(
    ("code", "line", "reason"),
    [
        ("def activate(hooks):\n    return (\n", 2, "SyntaxError: '(' was never closed"),
        ("import nothing_of_that_name\n", 1, "No module named 'nothing_of_that_name'"),
        ("x = 1\ny = x / 0\n", 2, "ZeroDivisionError"),
        ("def activate(hooks):\n    hooks.on('no_such_event', print)\n", 2, "there is no event"),
        ("def activate(hooks):\n    hooks.on('session_tree', 3)\n", 2, "must be a function"),
        ("def activate(hooks):\n    hooks.on('session_tree', lambda: 0)\n", 2, "takes the event"),
        ("def activate(hooks):\n    hooks.on('session_tree', print, required=True)\n", 2,
         "cannot be required"),
        ("raise SystemExit(4)\n", 1, "SystemExit"),
        ("x = 1\n", 0, "it has no function activate(hooks)"),
        ("async def activate(hooks):\n    pass\n", 0, "activate must be a plain function"),
    ],
)  # fmt: skip
def test_b15_a_file_that_fails_is_told_and_the_others_load(
    tmp_path: Path, code: str, line: int, reason: str
) -> None:
    file = write(tmp_path, "broken.py", code)
    write(tmp_path, "good", GOOD)
    broken, good = load(tmp_path)
    assert broken.problem is not None
    assert (broken.problem.file, broken.problem.line) == (str(file), line)
    assert reason in broken.problem.reason
    assert not broken.active and broken.events == []
    assert good.problem is None and good.events == [BEFORE]


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_bytes(b"x = '\xff'\n")
    (odd,) = load(tmp_path)
    assert odd.problem is not None and "utf-8" in odd.problem.reason


def test_files_and_packages_are_loaded_by_name_and_shared_ones_are_not(tmp_path: Path) -> None:
    write(tmp_path, "b", "from . import _shared\nVALUE = _shared.VALUE\n" + GOOD)
    write(tmp_path, "a/__init__.py", "from .part import NAME\n" + GOOD)
    write(tmp_path, "a/part.py", "NAME = __name__\n")
    write(tmp_path, "_shared.py", "VALUE = 7\n")
    write(tmp_path, ".hidden.py", "raise ValueError\n")
    write(tmp_path, "with-dash", GOOD)
    write(tmp_path, "notes.txt", "no code")
    (tmp_path / "empty").mkdir()
    found = load(tmp_path)
    assert [(e.name, e.problem) for e in found] == [("a", None), ("b", None), ("with-dash", None)]
    assert found[1].module is not None and found[1].module.VALUE == 7


def test_two_of_one_name_are_told(tmp_path: Path) -> None:
    write(tmp_path, "one.py", GOOD)
    write(tmp_path, "one/__init__.py", GOOD)
    problems = [e.problem.reason for e in load(tmp_path) if e.problem]
    assert problems == ["there is another extension called one"]


def test_one_that_never_ends_loading_is_left_behind(tmp_path: Path) -> None:
    write(tmp_path, "hangs", "import threading\nthreading.Event().wait(20)\n" + GOOD)
    write(tmp_path, "works", GOOD)
    hangs, works = load(tmp_path, limit_s=0.3)
    assert hangs.problem is not None and "within 0.3 seconds" in hangs.problem.reason
    assert works.problem is None


def test_settings_beside_the_file_and_their_faults(tmp_path: Path) -> None:
    write(tmp_path, "a", "def activate(hooks):\n    print(hooks.settings['budget'])\n")
    write(tmp_path, "a.json", '{"budget": 5}')
    write(tmp_path, "b", GOOD)
    write(tmp_path, "b.json", '{\n  "budget": \n}')
    write(tmp_path, "c", GOOD)
    write(tmp_path, "c.json", "[]")
    a, b, c = load(tmp_path)
    assert a.log == ["5"]
    assert b.problem is not None and (b.problem.line, b.problem.reason) == (3, "Expecting value")
    assert c.problem is not None and "object of settings" in c.problem.reason


def test_nothing_is_written_into_the_folder_and_nothing_stale_is_read(tmp_path: Path) -> None:
    write(tmp_path, "a/__init__.py", "from . import part\nfrom .. import _shared\n" + GOOD)
    write(tmp_path, "a/part.py", "VALUE = 1\n")
    write(tmp_path, "_shared.py", "VALUE = 2\n")
    before = sorted(path for path in tmp_path.rglob("*"))
    for value in (1, 5):
        # The same size and, on many systems, the same time: a compiled file would not notice.
        write(tmp_path, "a/part.py", f"VALUE = {value}\n")
        (found,) = load(tmp_path)
        module = found.module
        assert module is not None and value == module.part.VALUE
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_unloading_calls_deactivate_and_forgets_the_modules(tmp_path: Path) -> None:
    write(tmp_path, "a", GOOD + "def deactivate():\n    print('bye')\n    raise ValueError('no')\n")
    loaded = LoadedFolder(tmp_path, "user")
    loaded.load()
    (one,) = loaded.extensions
    assert one.module is not None and one.module.__name__.startswith(f"{PREFIX}.")
    assert sys.modules[one.module.__name__] is one.module
    loaded.unload()
    assert not one.active and one.handlers == []
    assert one.log[0] == "bye" and "deactivate() failed" in one.log[1] and "line 10" in one.log[1]
    assert one.module.__name__ not in sys.modules


def test_a_folder_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == []


def test_reload_takes_the_files_as_they_are(tmp_path: Path, explorer_home: Path) -> None:
    extensions = Extensions(tmp_path)
    write(tmp_path, "a", GOOD)
    assert [(x.name, x.state) for x in extensions.listing()] == [("a", "loaded")]
    write(tmp_path, "a", "def activate(hooks):\n    raise ValueError('changed')\n")
    write(tmp_path, "b", "def activate(hooks):\n    pass\n")
    assert [x.name for x in extensions.listing()] == ["a"]
    extensions.reload()
    first, second = extensions.listing()
    assert first.problem is not None and first.problem.line == 2
    assert second.state == "handles nothing"
    extensions.close()


def test_the_persons_come_before_the_projects(tmp_path: Path, explorer_home: Path) -> None:
    project = tmp_path / "project"
    write(tmp_path / "own", "z", GOOD)
    write(project / PROJECT_FOLDER, "a", GOOD)
    extensions = Extensions(tmp_path / "own")
    extensions.trust_project(project)
    hooks = wait(extensions.runner(str(project / "src")))
    assert hooks.handles(BEFORE) == ["z"]  # there is no such folder
    (project / "src").mkdir()
    assert wait(extensions.runner(str(project / "src"))).handles(BEFORE) == ["z", "a"]
    extensions.close()


def test_a_folder_that_cannot_be_read_is_listed(tmp_path: Path, explorer_home: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    (row,) = Extensions(file).listing()
    assert row.problem is not None and row.problem.file == str(file)
