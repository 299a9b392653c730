"""The command ``replay``: when a recorded session would be compacted, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_commands import refused, run, run_json
from tests.services.conftest import SAMPLE

RULES = ("--window", "30000", "--keep-recent", "4000", "--reserve", "4000")


def test_it_tells_after_which_entry_and_why_and_keeps_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = run(capsys, "replay", str(SAMPLE), *RULES)
    assert "under explorer, window 30,000 tokens, threshold 26,000." in told
    assert "compaction (threshold)" in told and "->" in told
    assert run_json(capsys, "list") == []
    found = run_json(capsys, "replay", str(SAMPLE), *RULES, "--profile", "copilot")
    assert found["end"] == "done" and found["played"] == found["steps"] == 94
    assert {one["trigger"] for one in found["happened"]} <= {"background", "prompt", "overflow"}
    assert found["session"] is None


def test_what_was_played_can_be_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = run_json(capsys, "replay", str(SAMPLE), "--keep")
    assert found["happened"] == []
    (kept,) = run_json(capsys, "list")
    assert kept["id"] == found["session"]


def test_a_window_of_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = refused(capsys, "replay", str(SAMPLE), "--window", "0")
    assert status == 2 and "--window" in told


@pytest.mark.parametrize("profile", ["explorer", "pyagent"])
def test_a_replay_and_a_walk_without_a_model_compact_as_often(
    capsys: pytest.CaptureFixture[str], profile: str
) -> None:
    """One way to count prompts, which both state; pyagent, which recovers from no overflow, comes
    to the end all the same."""
    sizes = ("--window", "40000", "--keep-recent", "6000", "--reserve", "8000")
    played = run_json(capsys, "replay", str(SAMPLE), *sizes, "--profile", profile)
    walked = run_json(capsys, "what-if", str(SAMPLE), *sizes, "--profile", profile)
    made = [one for one in played["happened"] if one["what"] == "compaction"]
    assert len(made) == len(walked["walks"][0]["compactions"]) == 2
    assert (played["end"], played["played"]) == ("done", played["steps"])
    assert played["measure"] == walked["measure"]["words"]
    assert bool(played["tooLarge"]) == bool(walked["walks"][0]["too_large"])
