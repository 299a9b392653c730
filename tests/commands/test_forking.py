"""The command ``fork``: into the database, into a file, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.test_commands import SAMPLE, refused, run, run_json


@pytest.fixture
def stored(capsys: pytest.CaptureFixture[str]) -> str:
    """The bundled session, imported; its number."""
    return str(run_json(capsys, "import", str(SAMPLE))["imported"][0]["session"])


def test_a_fork_is_listed_beside_its_origin(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    made = run_json(capsys, "fork", stored, "--at", "#252", "--name", "Another way")
    assert made["parent_session"] == str(SAMPLE)
    rows = run_json(capsys, "list")
    assert sorted(row["session"] for row in rows) == sorted([int(stored), made["session"]])
    assert "Another way" in run(capsys, "list")
    here = run_json(capsys, "context", stored, "--at", "#252")
    there = run_json(capsys, "context", str(made["session"]))
    assert [one["entry"] for one in there["messages"]] == [one["entry"] for one in here["messages"]]


def test_the_whole_tree_is_forked_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    path = run_json(capsys, "fork", stored)["entries"]
    whole = run_json(capsys, "fork", stored, "--whole")["entries"]
    assert path < whole == run_json(capsys, "list")[-1]["entries"]
    words = run(capsys, "fork", stored, "--whole")
    assert words.startswith("forked all branches")


def test_a_file_is_forked_into_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "fork.jsonl"
    run(capsys, "fork", str(SAMPLE), "--at", "#10", "--output", str(out))
    header, *entries = (json.loads(line) for line in out.read_text("utf-8").splitlines())
    assert header["parentSession"] == str(SAMPLE)
    origin = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    assert all(entry in origin for entry in entries)
    assert run_json(capsys, "list") == []


def test_a_file_alone_and_an_entry_that_is_not_there_are_refused(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    assert refused(capsys, "fork", str(SAMPLE))[0] == 2
    status, words = refused(capsys, "fork", stored, "--at", "nowhere")
    assert status == 2
    assert "nowhere" in words
