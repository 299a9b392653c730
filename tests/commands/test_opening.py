"""What the command line takes to be a file that is to be opened in the window."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from explorer import cli

_opened: list[str | None] = []


def window(arguments: argparse.Namespace) -> int:
    """Stands where the window registers itself."""
    _opened.append(arguments.session)
    return 0


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with files whose names are also words of the command line."""
    monkeypatch.setattr(cli, "window_target", lambda: f"{__name__}:window")
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "open", "list"):
        (tmp_path / name).write_text("")
    _opened.clear()
    return tmp_path


def test_a_file_by_itself_is_opened(here: Path) -> None:
    assert (cli.main([str(here / "a.jsonl")]), cli.main([])) == (0, 0)
    assert _opened == [str(here / "a.jsonl"), None]


def test_a_command_is_a_command_beside_a_file_of_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (cli.main(["open"]), cli.main(["open", "open"]), cli.main(["list"])) == (0, 0, 0)
    assert _opened == [None, "open"]
    assert "import FILE" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["x" * 5000, "nothing-here.jsonl", "nul\0"])
def test_what_can_be_no_file_is_an_unknown_command(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([word])
    assert ended.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
