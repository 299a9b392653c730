"""``session-explorer profiles``, as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import main
from explorer.compaction.profile import BASES, PROFILES
from explorer.settings import paths

SAMPLE = str(paths.resource_path("samples", "retry-that-flakes.jsonl"))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    status = main(["profiles", *words])
    out, err = capsys.readouterr()
    assert (status, err) == (0, ""), err
    return out


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(words)
    out, err = capsys.readouterr()
    assert out == ""
    return status, err


def test_list_names_all_and_where_they_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    told = run_json(capsys, "list")
    assert [row["name"] for row in told["profiles"]] == list(BASES)
    assert {row["from"] for row in told["profiles"]} == {"the program", "a documented variant"}
    assert "1 round " in run(capsys, "list")


@pytest.mark.parametrize("name", list(BASES))
def test_show_tells_every_rule(capsys: pytest.CaptureFixture[str], name: str) -> None:
    told = run(capsys, "show", name)
    for key in ("boundary", "keep_recent_tokens", "pruning", "split"):
        assert f"\n{key}" in told
    assert "differs from explorer" in told
    assert run_json(capsys, "show", name)["about"].startswith("**")


def test_a_profile_is_copied_changed_used_and_taken_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    copied = run_json(capsys, "copy", "omp", "mine")
    assert Path(copied["file"]).is_file()
    assert copied["from"] == "your own, after omp"
    changed = run_json(
        capsys, "set", "mine", "keep_recent_tokens=3,000", "boundary=corrected", "title=My own",
        "pruning.minimum_savings=500",
    )  # fmt: skip
    assert changed["keep_recent_tokens"] == 3_000
    assert changed["title"] == "My own"
    assert changed["pruning"]["minimum_savings"] == 500
    assert "My own" in run(capsys, "list")
    assert main(["preview", SAMPLE, "--profile", "mine", "--json"]) == 0
    preview = json.loads(capsys.readouterr().out)
    assert (preview["profile"], preview["keep_recent_tokens"]) == ("mine", 3_000)
    run(capsys, "remove", "mine")
    status, err = refused(capsys, "preview", SAMPLE, "--profile", "mine")
    assert status == 2
    assert "there is no profile 'mine'; there are: explorer, pi, omp" in err


def test_a_profile_is_shared_as_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "shared.json")
    run(capsys, "copy", "copilot", "rounds", "--title", "Three rounds")
    run(capsys, "set", "rounds", "keep_rounds=3", "about=For the lesson.")
    run(capsys, "export", "rounds", file)
    status, err = refused(capsys, "profiles", "export", "rounds", file)
    assert (status, "is there already" in err) == (1, True)
    status, err = refused(capsys, "profiles", "import", file)
    assert (status, "is there already" in err) == (1, True)
    taken = run_json(capsys, "import", file, "--name", "again")
    assert (taken["keep_rounds"], taken["title"]) == (3, "Three rounds")
    assert run_json(capsys, "show", "again")["about"] == "For the lesson."


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("set", "omp", "enabled=off"), 1, "omp: came with the program and cannot be changed"),
        (("remove", "pi"), 1, "pi: came with the program and cannot be taken away"),
        (("show", "hermes"), 1, "there is no profile 'hermes'"),
        (("copy", "pi", "explorer"), 1, "came with the program"),
        (("copy", "pi", "Not A Name"), 1, "not a name for a profile"),
        (("import", "/no/such/file.json"), 1, "/no/such/file.json: No such file"),
        (("compare", SAMPLE, "--profile", "hermes"), 1, "there is no profile 'hermes'"),
        (("compare", SAMPLE, "--window", "0"), 2, "--window must be at least 1, not 0"),
    ],
)
def test_what_cannot_be_done_says_why(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], status: int, said: str
) -> None:
    found, err = refused(capsys, "profiles", *words)
    assert said in err
    assert found == status


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("keep_recent_tokens", "'keep_recent_tokens': write key=value"),
        ("keep=5", "keep: there is no such setting in a profile"),
        ("split=three", "split: expected one of 'two-summaries', 'one-summary', not 'three'"),
    ],
)
def test_a_change_that_makes_no_sense_changes_nothing(
    capsys: pytest.CaptureFixture[str], change: str, said: str
) -> None:
    before = run_json(capsys, "copy", "pi", "mine")
    assert refused(capsys, "profiles", "set", "mine", "keep_rounds=2", change) == (
        2, f"session-explorer: {said}\n",
    )  # fmt: skip
    assert run_json(capsys, "show", "mine")["keep_rounds"] == before["keep_rounds"]


def test_a_bad_file_is_told_and_hides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "copy", "pi", "mine")
    folder = Path(run_json(capsys, "list")["folder"])
    (folder / "bad.json").write_text("{", "utf-8")
    told = run_json(capsys, "list")
    assert [row["name"] for row in told["profiles"]][-1] == "mine"
    assert "bad.json, line 1" in told["problems"][0]
    assert "bad.json, line 1" in run(capsys, "list")


def test_compare_puts_the_five_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "compare", SAMPLE, "--why")
    assert [row["profile"] for row in found] == list(PROFILES)
    by_name = {row["profile"]: row for row in found}
    assert len({row["first_kept_entry"] for row in found}) >= 4
    assert by_name["explorer"]["causes"] == []
    assert {cause["key"] for cause in by_name["copilot"]["causes"]} >= {"cut_unit"}
    table = run(capsys, "compare", SAMPLE)
    assert table.splitlines()[0].split() == [
        "profile", "first", "kept", "entry", "context", "about", "after", "its", "entries",
        "about", "after", "messages", "split", "lost", "limit", "due",
    ]  # fmt: skip
    for row in found:
        assert row["first_kept_entry"] in table


def test_compare_takes_any_profiles_and_one_window(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(
        capsys, "compare", SAMPLE, "--profile", "pi", "--profile", "pi-0.58", "--window", "20000"
    )
    assert [row["profile"] for row in found] == ["pi", "pi-0.58"]
    assert {row["context_window"] for row in found} == {20_000}
    assert found[1]["entries_lost"] > found[0]["entries_lost"] == 0


@pytest.mark.parametrize("name", list(BASES))
def test_every_profile_makes_a_summary_offline(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """In its own headings, from a conversation written down in its own way."""
    assert main(["compact", SAMPLE, "--profile", name, "--dry-run", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    summary = json.loads(out)["summary"]
    opening = {
        "explorer": "## Goal", "pi": "## Goal", "pyagent": "## Goal", "pi-documented": "## Goal",
        "copilot": "1. Conversation Overview",
    }  # fmt: skip
    # What is left out starts after the last compaction: a split turn's beginning is all there is.
    assert summary.startswith(opening.get(name, "**Turn Context (split turn):**"))


def test_every_profile_can_be_previewed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in BASES:
        assert main(["preview", SAMPLE, "--profile", name, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["profile"] == name
        assert shown["first_kept_entry"]
        assert shown["requests"]
