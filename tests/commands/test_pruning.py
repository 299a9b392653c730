"""The command ``prune``: what goes first and why, appended or only shown (A13)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.session.edit_entries import PRUNE_TYPE
from tests.commands.test_commands import refused, run, run_json
from tests.store.sources import message, write_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that was read twice, and a log; each result of 1,000 tokens."""
    found = [message(0, None, "Look.")]
    calls = [("read", {"path": "a.py"}), ("read", {"path": "a.py"}), ("bash", {"command": "x"})] * 2
    for at, (tool, arguments) in enumerate(calls):
        call = {"type": "toolCall", "id": f"c{at}", "name": tool, "arguments": arguments}
        reply = message(2 * at + 1, f"e{2 * at}", "", "assistant")
        reply["message"] |= {"content": [call], "stopReason": "toolUse"}
        result = message(2 * at + 2, f"e{2 * at + 1}", "word" * 1_000, "toolResult")
        result["message"] |= {"toolCallId": f"c{at}", "toolName": tool, "isError": False}
        found += [reply, result]
    return write_file(tmp_path / "twice.jsonl", found)


LIMITS = ("--protect", "1000", "--minimum", "500")


def test_a13_a_dry_run_shows_what_goes_first_and_why_and_keeps_nothing(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    before = file.read_bytes()
    table = run(capsys, "prune", str(file), *LIMITS, "--dry-run").splitlines()
    assert table[1].split()[:3] == ["#2", "e2", "read"]
    assert "Out of date" in table[1] and "Out of date" in table[3]
    assert table[4].split()[2] == "bash" and "Older than the protected" in table[4]
    assert table[-3].startswith("4 tool results: 3 superseded, 1 older")
    assert "dry run: nothing was stored" in table[-1]
    assert file.read_bytes() == before


def test_a13_the_result_is_written_to_a_file_and_the_source_is_left_alone(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    before, out = file.read_bytes(), tmp_path / "out.jsonl"
    done = run_json(capsys, "prune", str(file), *LIMITS, "--output", str(out))
    assert (done["pruned_count"], done["stored"]) == (4, True)
    assert [one["why"] for one in done["results"]] == ["superseded"] * 3 + ["old"]
    assert done["tokens_saved"] == sum(one["saved"] for one in done["results"])
    assert done["replaced_with"]["e2"] == "[Output truncated - 1000 tokens]"
    last = json.loads(out.read_text("utf-8").splitlines()[-1])
    assert (last["customType"], last["data"]["saved"]) == (PRUNE_TYPE, done["tokens_saved"])
    assert file.read_bytes() == before
    again = run_json(capsys, "prune", str(out), *LIMITS)
    assert again["pruned_count"] == 0 and again["entry"] is None
    ledger = {one["entry"]: one for one in run_json(capsys, "preview", str(out))["ledger"]}
    assert (
        ledger["e2"]["verdict"] == "pruned"
        and "recorded 992 tokens saved" in ledger["e2"]["reason"]
    )


def test_a13_a_stored_session_is_pruned_at_an_entry_that_then_is_the_leaf(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    key = str(run_json(capsys, "import", str(file))["imported"][0]["session"])
    done = run_json(capsys, "prune", key, *LIMITS, "--at", "e6")
    assert (done["leaf"], done["pruned_count"], done["stored"]) == ("e6", 1, True)
    seen = run_json(capsys, "preview", key)
    assert seen["leaf"] == done["entry"]


def test_a13_too_little_to_save_is_said_and_nothing_is_done(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    said = run(capsys, "prune", str(file))
    assert said.startswith("There is nothing to prune")
    said = run(capsys, "prune", str(file), "--protect", "3000")
    assert "saves only" in said and "nothing is done" in said


def test_wrong_limits_are_refused(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert refused(capsys, "prune", str(file), "--protect", "-1")[0] == 2
    status, said = refused(capsys, "prune", str(file), "--profile", "nobody")
    assert status == 2 and "there are: explorer" in said
    status, said = refused(capsys, "prune", str(file), *LIMITS, "--output", "/nowhere/x")
    assert status == 1 and "no such folder" in said
