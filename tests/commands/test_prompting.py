"""``prompts`` and ``compact --verify`` on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.settings import paths
from explorer.settings.prompt_templates import load_prompt, shipped_prompt
from explorer.settings.template_catalogue import TEMPLATES
from tests.generated import write_session

SAMPLE = str(paths.resource_path("samples", "retry-that-flakes.jsonl"))


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == status
    return capsys.readouterr().out


def test_a_text_is_changed_compared_and_reset(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    listed = json.loads(said(capsys, "prompts", "list", "--json"))["prompts"]
    assert [row["name"] for row in listed] == list(TEMPLATES)
    assert not any(row["changed"] for row in listed)
    file = tmp_path / "mine.md"
    file.write_text("<!-- mine -->\nAgain:\n{{problems}}\n", encoding="utf-8")
    said(capsys, "prompts", "edit", "reminder", str(file), "--note", "shorter")
    assert load_prompt("reminder") == "Again:\n{{problems}}"
    assert said(capsys, "prompts", "show", "reminder").startswith("Again:\n{{problems}}")
    assert said(capsys, "prompts", "show", "reminder", "--version", "0").startswith("Your answer")
    assert "yours" in said(capsys, "prompts", "list")
    lines = json.loads(said(capsys, "prompts", "diff", "reminder", "--json"))["lines"]
    assert ["+", "Again:"] in lines and [" ", "{{problems}}"] in lines
    assert "shorter" in said(capsys, "prompts", "history", "reminder")
    assert "+ Your answer" in said(capsys, "prompts", "diff", "reminder", "1", "0")
    said(capsys, "prompts", "reset", "reminder")
    assert load_prompt("reminder") == shipped_prompt("reminder")
    assert "nothing was changed" in said(capsys, "prompts", "reset", "reminder")


def test_what_cannot_be_used_is_refused_and_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"No variable.")))
    assert main(["prompts", "edit", "reminder", "-"]) == 1
    told = capsys.readouterr().err
    assert "{{problems}} is missing" in told and "Nothing was changed" in told
    assert main(["prompts", "show", "nothing"]) == 2
    assert "there is no prompt 'nothing'" in capsys.readouterr().err
    assert main(["prompts", "diff", "short", "1"]) == 2
    assert main(["prompts", "diff", "short", "0", "7"]) == 1


def test_a_broken_text_is_said_and_the_shipped_one_sent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = paths.config_dir() / "prompts"
    folder.mkdir(parents=True)
    (folder / "history-update.md").write_text("\n")
    assert main(["preview", SAMPLE, "--json"]) == 0
    out = capsys.readouterr()
    assert "The text is empty" in out.err and "came with the program is sent" in out.err
    prompt = json.loads(out.out)["requests"][0]["prompt"]
    assert prompt.endswith(shipped_prompt("history-update"))


def test_verify_asks_for_nothing_where_nothing_is_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, without = tmp_path / "out.jsonl", tmp_path / "session.jsonl"
    write_session(without, 60, branches=False, compactions=False)
    options = ("--verify", "--keep-recent", "4000", "--output", str(out), "--json")
    words = ("compact", str(without), *options)
    found = json.loads(said(capsys, *words))
    verified = found["verify"]
    assert not verified["taken"] and "nothing was asked for" in verified["outcome"]
    last = [json.loads(line) for line in out.read_text().splitlines()][-1]
    assert last["type"] == "compaction" and last["summary"] == found["summary"]
    plain = json.loads(said(capsys, "compact", SAMPLE, "--dry-run", "--json"))
    assert plain["verify"] is None, "never unasked"
