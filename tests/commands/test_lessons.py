"""The command lessons: what there is, and what is wrong in a file."""

from __future__ import annotations

import json
from pathlib import Path

from explorer.services.lessons.lesson_file import read_shelf, write_bundle
from explorer.settings.paths import resource_path
from tests.commands.processes import called


def test_the_lessons_are_listed(explorer_home: Path) -> None:
    status, out, _ = called("lessons", "list")
    assert status == 0
    assert "Split turns" in out
    status, out, _ = called("lessons", "list", "--json")
    assert [one["number"] for one in json.loads(out)] == list(range(1, 12))


def test_a_file_is_checked(explorer_home: Path, tmp_path: Path) -> None:
    file = resource_path("lessons", "04-cut.md")
    assert called("lessons", "check", str(file))[0] == 0
    bad = tmp_path / "bad.md"
    bad.write_text(file.read_text("utf-8").replace('"walk_reached"', '"walk"'), "utf-8")
    status, _, errors = called("lessons", "check", str(bad))
    assert status == 1
    assert f"{bad}:18: answer: there is no 'walk'" in errors


def test_a_lesson_with_its_session_is_checked(explorer_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.lesson"
    write_bundle(file, read_shelf().lessons[0], resource_path("samples", "retry-that-flakes.jsonl"))
    assert called("lessons", "check", str(file))[0] == 0
    file.write_bytes(b"no zip")
    status, _, errors = called("lessons", "check", str(file))
    assert status == 1
    assert "no zip" in errors


def test_a_file_that_is_not_there_is_named(explorer_home: Path) -> None:
    status, _, errors = called("lessons", "check", "/nowhere/a.md")
    assert status == 1
    assert "/nowhere/a.md" in errors
