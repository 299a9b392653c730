"""What the window remembers: kept apart from what a person sets, and taken over from 0.1.0."""

from __future__ import annotations

import json
from pathlib import Path

from explorer.settings import paths
from explorer.settings.preferences import Preferences, load_preferences, save_preferences


def test_what_is_saved_is_loaded_and_unknown_keys_stay(tmp_path: Path) -> None:
    file = tmp_path / "config" / "preferences.json"
    save_preferences(file, Preferences(scale=150, extra={"later": [1]}))
    loaded = load_preferences(file)
    assert loaded.values == Preferences(scale=150, extra={"later": [1]})
    assert not loaded.problem


def test_the_preferences_of_the_first_version_are_moved(explorer_home: Path) -> None:
    older, now = paths.settings_path(), paths.preferences_path()
    paths.ensure(older.parent)
    older.write_text(json.dumps({"geometry": "", "layout": {}, "theme": "dark"}))
    assert load_preferences(now, older=older).values.theme == "dark"
    assert now.is_file()
    assert not older.exists()


def test_a_persons_own_settings_are_left_alone(explorer_home: Path) -> None:
    older, now = paths.settings_path(), paths.preferences_path()
    paths.ensure(older.parent)
    for text in ('{"compaction.enabled": false}', '{"theme": "dark"', "[]"):
        older.write_text(text)
        assert load_preferences(now, older=older).values == Preferences()
        assert older.read_text() == text
