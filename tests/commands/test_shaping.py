"""The commands ``pin``, ``omit`` and ``keep-messages``: stored, told, followed, ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_commands import SAMPLE, refused, run, run_json
from tests.store.sources import message, write_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A message, a call with its result of 1,000 tokens, an answer."""
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}}
    reply = message(1, "e0", "", "assistant")
    reply["message"] |= {"content": [call], "stopReason": "toolUse"}
    result = message(2, "e1", "word" * 1_000, "toolResult")
    result["message"] |= {"toolCallId": "c1", "toolName": "read", "isError": False}
    answer = message(3, "e2", "Done.", "assistant")
    return write_file(tmp_path / "one.jsonl", [message(0, None, "Look."), reply, result, answer])


def test_a_pin_is_written_to_a_file_that_preview_and_context_follow(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    before, out, later = file.read_bytes(), tmp_path / "out.jsonl", tmp_path / "later.jsonl"
    words = run(capsys, "pin", str(file), "#0", "e2", "--reason", "why", "--output", str(out))
    assert "#0, #2 pinned, 1,002 tokens" in words
    assert file.read_bytes() == before
    done = run_json(capsys, "pin", str(out), "#0", "--undo", "--output", str(later))
    assert [one["index"] for one in done["shaped"]] == [2]
    assert done["shaped"][0]["how"] == "pinned" and done["shaped"][0]["told"] == "in place"
    status, said = refused(capsys, "pin", str(out), "#0", "--output", str(later))
    assert status == 1 and "already" in said


def test_what_is_told_again_is_counted_with_its_heading(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("pin", str(SAMPLE), "#20", "#21", "--output", str(tmp_path / "out.jsonl"))
    rows = run_json(capsys, *words)["shaped"]
    assert [row["told"] for row in rows] == ["again", "again"]
    assert f"#20, #21 pinned, {sum(row['tokens'] for row in rows)} tokens" in run(capsys, *words)


def test_an_omitted_result_takes_its_call_out_of_the_context(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    out, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    done = run_json(capsys, "omit", str(file), "e2", "--output", str(out))
    assert done["entries"] == ["e1", "e2"]
    context = run_json(capsys, "context", str(out))
    assert [one["entry"] for one in context["messages"]] == ["e0", "e3"]
    assert context["omitted"] == ["e1", "e2"]
    assert context["tokens"] == sum(one["tokens"] for one in context["messages"])
    assert "omitted: #1, #2" in run(capsys, "context", str(out))
    run(capsys, "omit", str(out), "e1", "--undo", "--output", str(again))
    assert len(run_json(capsys, "context", str(again))["messages"]) == 4


def test_what_other_agents_read_over_is_told_when_a_file_is_written(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    out, copy = tmp_path / "out.jsonl", tmp_path / "copy.jsonl"
    run(capsys, "keep-messages", str(file), "500", "--output", str(out))
    report = run_json(capsys, "export", str(out), str(copy), "--format", "pi-v3")
    assert report["read_over"] == {"session-explorer/keep-user-messages": 1}


def test_what_cannot_be_done_is_said_and_nothing_is_changed(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    for words, status, told in (
        (("pin", "#0"), 2, "--output"),
        (("omit", "#0", "--undo", "--output", str(out)), 1, "is omitted"),
        (("keep-messages", "-1", "--output", str(out)), 2, "at least 0"),
    ):
        command, *rest = words
        found = refused(capsys, command, str(file), *rest)
        assert found[0] == status and told in found[1]
    assert not out.exists()
