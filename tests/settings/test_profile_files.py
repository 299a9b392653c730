"""Profiles of a person's own as files: kept, shared, refused, never overwritten in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import BASES, PROFILES, profile_values
from explorer.settings.profile_files import ProfileError, ProfileFiles, UserProfile, read_file
from explorer.settings.prompt_templates import load_provenance

MINE = UserProfile(
    replace(PROFILES["omp"], name="mine", title="Mine", keep_recent_tokens=8_000),
    "omp",
    "For the lesson on cut points.",
)


@pytest.fixture
def files(tmp_path: Path) -> ProfileFiles:
    return ProfileFiles(tmp_path / "profiles")


def _written(path: Path, **changes: Any) -> Path:
    document = {
        "kind": "session-explorer profile",
        "version": 1,
        "base": "omp",
        "profile": {"name": "shared", "title": "Shared"},
        **changes,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_folder_that_is_not_there_has_no_profiles_of_ones_own(files: ProfileFiles) -> None:
    shelf = files.shelf()
    assert shelf.user_profiles == {}
    assert shelf.problems == ()
    assert shelf.built_in == BASES
    assert not files.folder.exists()


def test_what_is_saved_is_there_again_word_for_word(files: ProfileFiles) -> None:
    saved = files.save(MINE)
    assert saved.path == files.folder / "mine.json"
    assert files.shelf().user_profiles == {"mine": saved}
    assert files.shelf().named("mine") == MINE.profile


def test_a_profile_is_not_overwritten_unless_asked(files: ProfileFiles) -> None:
    files.save(MINE)
    other = replace(MINE, profile=replace(MINE.profile, keep_recent_tokens=1))
    with pytest.raises(ProfileError, match=r"mine\.json: is there already; nothing was written"):
        files.save(other)
    assert files.shelf().named("mine") == MINE.profile
    files.save(other, replacing=True)
    assert files.shelf().named("mine").keep_recent_tokens == 1
    assert [path.name for path in files.folder.iterdir()] == ["mine.json"]


@pytest.mark.parametrize("name", list(BASES))
def test_what_came_with_the_program_can_neither_be_changed_nor_taken_away(
    files: ProfileFiles, name: str
) -> None:
    with pytest.raises(ProfileError, match="came with the program and cannot be changed"):
        files.save(UserProfile(BASES[name], name), replacing=True)
    with pytest.raises(ProfileError, match="came with the program and cannot be taken away"):
        files.delete(name)


@pytest.mark.parametrize("name", ["", "../up", "a/b", "A", ".hidden", "nul", "com1.x", "a" * 65])
def test_a_name_that_is_none_for_a_file_is_refused(files: ProfileFiles, name: str) -> None:
    named = replace(MINE, profile=replace(MINE.profile, name=name))
    with pytest.raises(ProfileError, match="not a name for a profile"):
        files.save(named)
    assert not files.folder.exists()


def test_a_profile_is_taken_away_once(files: ProfileFiles) -> None:
    files.save(MINE)
    files.delete("mine")
    assert files.shelf().user_profiles == {}
    with pytest.raises(ProfileError, match="there is no such profile of your own"):
        files.delete("mine")


def test_a_profile_is_shared_as_a_file(files: ProfileFiles, tmp_path: Path) -> None:
    files.save(MINE)
    shared = tmp_path / "for-you.json"
    files.hand_out("mine", shared)
    with pytest.raises(ProfileError, match="is there already"):
        files.hand_out("mine", shared)
    other = ProfileFiles(tmp_path / "elsewhere")
    taken = other.take_in(shared)
    assert taken.profile == MINE.profile
    assert (taken.base, taken.about) == ("omp", MINE.about)
    assert other.take_in(shared, name="mine-too").profile.name == "mine-too"
    with pytest.raises(ProfileError, match="is there already"):
        other.take_in(shared)


def test_one_that_came_with_the_program_is_shared_under_another_name(
    files: ProfileFiles, tmp_path: Path
) -> None:
    shared = tmp_path / "copilot.json"
    files.hand_out("copilot", shared)
    with pytest.raises(ProfileError, match="came with the program"):
        files.take_in(shared)
    taken = files.take_in(shared, name="rounds")
    assert replace(taken.profile, name="copilot") == PROFILES["copilot"]


def test_keys_of_another_version_are_kept_and_told(files: ProfileFiles, tmp_path: Path) -> None:
    values = {"name": "later", "title": "Later", "colour": "red", "pruning": {"depth": 2}}
    path = _written(tmp_path / "later.json", profile=values, licence="CC0")
    files.take_in(path)
    told = files.shelf().problems
    assert {line.split(": ")[1] for line in told} == {
        "licence",
        "profile.colour",
        "profile.pruning.depth",
    }
    files.save(files.shelf().user_profiles["later"], replacing=True)
    kept = json.loads((files.folder / "later.json").read_text("utf-8"))
    assert kept["licence"] == "CC0"
    assert kept["profile"]["colour"] == "red"
    assert kept["profile"]["pruning"]["depth"] == 2


def test_what_a_file_leaves_out_is_as_in_its_base(tmp_path: Path) -> None:
    found = read_file(_written(tmp_path / "shared.json"))
    assert found.profile == replace(PROFILES["omp"], name="shared", title="Shared")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: "),
        ("[]", 'kind: expected "session-explorer profile"'),
        ('{"kind": "x"}', 'kind: expected "session-explorer profile"'),
        ("\udcff", "not UTF-8: byte 0"),
        ("[" * 100_000, "maximum recursion"),
        (" " * 300_000, "larger than 256 KB"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ProfileError) as told:
        read_file(path)
    assert str(told.value).startswith(str(path))
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "version: 2 is not known here, only 1"),
        ({"version": True}, "version: True is not known here"),
        ({"base": "hermes"}, "base: expected one of explorer, pi, omp"),
        ({"about": 3}, "about: expected a text"),
        ({"profile": []}, "profile: expected an object with a name"),
        ({"profile": {"title": "x"}}, "profile: expected an object with a name"),
        (
            {"profile": {"name": "x", "usage": "all", "keep_rounds": 0}},
            "profile.keep_rounds: expected 1 to 10,000, not 0",
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_file_key_and_reason(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = _written(tmp_path / "bad.json", **change)
    with pytest.raises(ProfileError) as told:
        read_file(path)
    assert f"{path}: {said.split(':')[0]}" in str(told.value)
    assert said in str(told.value)


def test_one_bad_file_hides_none_of_the_others(files: ProfileFiles) -> None:
    files.save(MINE)
    (files.folder / "bad.json").write_text("{", "utf-8")
    _written(files.folder / "other.json")
    shelf = files.shelf()
    assert list(shelf.user_profiles) == ["mine"]
    assert len(shelf.problems) == 2
    assert "bad.json" in shelf.problems[0]
    assert "it is 'shared', and the file is named 'other.json'" in shelf.problems[1]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "profiles").write_text("a file", "utf-8")
    with pytest.raises(ProfileError, match="profiles: "):
        ProfileFiles(tmp_path / "profiles").save(MINE)


def test_half_an_emoji_in_a_title_is_kept(files: ProfileFiles) -> None:
    odd = replace(MINE, profile=replace(MINE.profile, title="half \ud83d"))
    files.save(odd)
    assert files.shelf().named("mine").title == "half \ud83d"


@pytest.mark.parametrize("name", list(BASES))
def test_every_profile_says_what_it_stands_for_and_where_its_numbers_come_from(name: str) -> None:
    told = load_provenance(name)
    assert told.startswith("**")
    profile = BASES[name]
    if name in PROFILES:
        sizes = {f"{profile.keep_recent_tokens:,}", f"{profile.reserve_tokens:,}"}
        named = sizes if profile.cut_unit == "tokens" else {"90 %", "40 %", "60 %", "78 to 82 %"}
        assert all(size in told for size in named)
    assert profile_values(profile)["title"]
