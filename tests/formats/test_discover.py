"""Finding sessions where the agents keep them."""

from __future__ import annotations

import os
from pathlib import Path

from explorer.formats.registry import discover
from tests.formats.files import chain, dumps, header, write
from tests.formats.test_omp import slot


def _put(home: Path, place: str, lines: list[object], age: int) -> Path:
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, lines)  # type: ignore[arg-type]
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def test_sessions_of_both_agents_are_found_newest_first(tmp_path: Path) -> None:
    pi, omp = ".pi/agent/sessions", ".omp/agent/sessions"
    old = _put(tmp_path, f"{pi}/--home-dev-a--/1_x.jsonl", [header(cwd="/home/dev/a")], 50)
    new = _put(tmp_path, f"{pi}/--home-dev-b--/2_y.jsonl", [header(cwd="/home/dev/b")], 10)
    placed = [
        _put(tmp_path, f"{omp}/{place}/s.jsonl", [slot(), header(cwd=place), *chain(2)], age)
        for age, place in enumerate(
            ["--srv-project--", "-project", "-tmp-x", "home-project-00ff", "-project/run/task"]
        )
    ]
    _put(tmp_path, f"{pi}/--home-dev-a--/notes.txt", [header()], 0)
    found = list(discover(tmp_path, {}))
    assert [one.path for one in found] == [new, old, *placed]
    assert [one.format for one in found] == ["pi"] * 2 + ["omp"] * 5
    assert found[1].cwd == "/home/dev/a" and found[1].size == old.stat().st_size
    assert found[1].modified_ms == (1_700_000_000 - 50) * 1000
    assert found[2].header is not None
    assert found[2].header.title == "Fix the parser" and found[2].header.format == "omp"


def test_damaged_and_empty_files_do_not_end_the_search(tmp_path: Path) -> None:
    place = ".pi/agent/sessions/--x--"
    _put(tmp_path, f"{place}/empty.jsonl", [], 0)
    _put(tmp_path, f"{place}/1.jsonl", [b"{broken", *chain(1)], 1)
    _put(tmp_path, f"{place}/2.jsonl", [b"\xef\xbb\xbf" + dumps(header()), *chain(1)], 2)
    _put(tmp_path, f"{place}/3.jsonl", [b"\xff" * 100_000], 3)
    (tmp_path / place / "link.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / place / "directory.jsonl").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / place / "pipe.jsonl")
    found = list(discover(tmp_path, {}))
    assert [one.path.name for one in found] == ["1.jsonl", "2.jsonl", "3.jsonl"]
    assert [one.header is not None for one in found] == [False, True, False]


def test_a_home_without_agents_has_none(tmp_path: Path) -> None:
    assert list(discover(tmp_path, {})) == []


def test_only_the_first_lines_are_read(tmp_path: Path) -> None:
    path = _put(tmp_path, ".pi/agent/sessions/--x--/s.jsonl", [header(), *chain(1)], 0)
    with path.open("r+b") as file:
        file.truncate(1 << 32)
    [found] = discover(tmp_path, {})
    assert found.size == 1 << 32 and found.cwd == "/home/dev"
