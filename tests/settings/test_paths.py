"""Where files are kept, and how the program finds what it came with."""

from __future__ import annotations

import stat
from pathlib import Path

import platformdirs
import pytest

from explorer.settings import paths


def test_one_variable_moves_everything(explorer_home: Path) -> None:
    assert paths.home_override() == explorer_home
    assert paths.database_path() == explorer_home / "data" / "sessions.db"
    assert paths.settings_path() == explorer_home / "config" / "settings.json"
    assert paths.preferences_path() == explorer_home / "config" / "preferences.json"
    assert {paths.data_dir().parent, paths.config_dir().parent} == {explorer_home}


def test_a_relative_home_is_made_absolute_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SESSION_EXPLORER_HOME", "here")
    assert paths.data_dir() == tmp_path / "here" / "data"


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_variable_the_system_decides(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("SESSION_EXPLORER_HOME")
    else:
        monkeypatch.setenv("SESSION_EXPLORER_HOME", value)
    name = "session-explorer"
    assert paths.home_override() is None
    assert paths.data_dir() == platformdirs.user_data_path(name, appauthor=False)
    assert paths.config_dir() == platformdirs.user_config_path(name, appauthor=False)
    assert paths.data_dir() != paths.config_dir()


def test_asking_for_a_path_creates_nothing(explorer_home: Path) -> None:
    paths.database_path()
    paths.config_dir()
    assert list(explorer_home.iterdir()) == []


def test_what_is_created_is_the_owners_alone(explorer_home: Path) -> None:
    made = paths.ensure(paths.data_dir())
    assert made.is_dir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert paths.ensure(made) == made


def test_a_directory_that_cannot_be_created_is_named(explorer_home: Path) -> None:
    (explorer_home / "data").write_text("in the way")
    with pytest.raises(OSError, match="data"):
        paths.ensure(paths.data_dir() / "deeper")


def test_resources_and_prompts_are_found_where_the_packages_are() -> None:
    assert paths.resource("__init__.py").is_file()
    assert paths.resource_path("__init__.py").name == "__init__.py"
    for name in ("system", "branch"):
        assert paths.prompt(name).read_text(encoding="utf-8").strip()
        assert paths.prompt(f"{name}.md").name == f"{name}.md"


def test_a_missing_resource_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"resources/samples/nowhere\.jsonl"):
        paths.resource("samples", "nowhere.jsonl")
    with pytest.raises(FileNotFoundError, match=r"prompts/nothing\.md"):
        paths.prompt("nothing")
