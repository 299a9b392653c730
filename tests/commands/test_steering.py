"""What the options of the commands steer, on stored sessions and on files alike."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import main
from explorer.formats.pi.entries import kind_of
from explorer.session.kinds import Kind
from explorer.settings import paths

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    status = main(words)
    out, err = capsys.readouterr()
    assert (status, err) == (0, ""), err
    return out


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(words)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("session-explorer: ")
    return status, err


@pytest.fixture(params=["stored", "file"])
def session(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> str:
    """The bundled session: the number of the stored one, and the path of its file."""
    if request.param == "file":
        return str(SAMPLE)
    return stored(capsys)


def stored(capsys: pytest.CaptureFixture[str], file: Path = SAMPLE) -> str:
    return str(run_json(capsys, "import", str(file))["imported"][0]["session"])


def state(capsys: pytest.CaptureFixture[str], session: str) -> Any:
    """All entries and the leaf."""
    tree = run_json(capsys, "tree", session, "--all")
    return tree["leaf"], [node["id"] for node in tree["nodes"]]


COMMANDS = {
    "tree": (),
    "context": ("--at", "#40"),
    "preview": ("--at", "#90", "--keep-recent", "4000"),
    "compact": ("--dry-run", "--keep-recent", "4000"),
    "branch": ("--to", "#20", "--dry-run"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_session_or_a_file_and_prints_a_table_or_one_document(
    capsys: pytest.CaptureFixture[str], session: str, command: str
) -> None:
    words = (command, session, *COMMANDS[command])
    assert isinstance(run_json(capsys, *words), dict)
    text = run(capsys, *words)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    assert len(text.splitlines()) > 3


def test_search_and_export_take_a_session_or_a_file(
    capsys: pytest.CaptureFixture[str], session: str, tmp_path: Path
) -> None:
    hits = run_json(capsys, "search", "409", session)
    assert hits and all("409" in hit["snippet"] for hit in hits)
    assert {hit["session"] for hit in hits} == {None if session == str(SAMPLE) else int(session)}
    assert f"#{hits[0]['index']}" in run(capsys, "search", "409", session)
    out = tmp_path / "out.jsonl"
    assert run_json(capsys, "export", session, str(out))["entries"] > 150
    assert out.read_bytes() == SAMPLE.read_bytes()


def test_searching_a_file_stores_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "search", "409", str(SAMPLE))
    assert run_json(capsys, "list") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [(("search", " "), "at least one word"), (("search", "x", "--limit", "0"), "--limit")],
)
def test_a_search_for_nothing_is_a_wrong_command_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    status, err = refused(capsys, *words)
    assert status == 2
    assert said in err


def test_compacting_at_an_entry_starts_there_and_trying_it_moves_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = stored(capsys)
    before = state(capsys, session)
    row = run_json(capsys, "preview", session)["ledger"][-30]
    words = ("compact", session, "--at", row["entry"], "--keep-recent", "1000")
    tried = run_json(capsys, *words, "--dry-run")
    assert tried["summary"] and not tried["stored"]
    status, err = refused(capsys, "compact", session, "--at", "#0")
    assert status == 1
    assert "Nothing was changed" in err
    status, _ = refused(capsys, *words, "--model", "offline/none")
    assert (status, state(capsys, session)) == (1, before)

    done = run_json(capsys, *words)
    tree = run_json(capsys, "tree", session, "--all")
    entry = next(node for node in tree["nodes"] if node["id"] == done["entry"])
    assert (entry["parent"], tree["leaf"]) == (row["entry"], done["entry"])


def test_leaving_a_branch_that_is_not_the_active_one(capsys: pytest.CaptureFixture[str]) -> None:
    session = stored(capsys)
    before = state(capsys, session)
    nodes = run_json(capsys, "tree", session, "--all")["nodes"]
    aside = next(n for n in reversed(nodes) if not n["active"] and n["kind"] == "assistant")
    active = [n for n in nodes if n["active"] and n["kind"] == "assistant"]
    words = ("branch", session, "--at", aside["id"], "--to", active[-1]["id"])
    assert run_json(capsys, *words, "--dry-run")["from_entry"] == aside["id"]
    refused(capsys, *words, "--model", "offline/none")
    assert state(capsys, session) == before

    done = run_json(capsys, *words)
    nodes = run_json(capsys, "tree", session, "--all")["nodes"]
    entry = next(node for node in nodes if node["id"] == done["entry"])
    assert (entry["parent"], entry["kind"]) == (active[-1]["id"], "branch_summary")
    assert done["from_entry"] == aside["id"]


def test_a_move_that_is_only_tried_is_told_as_such(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    before = state(capsys, session)
    words = ("branch", session, "--to", "#20", "--no-summary")
    tried = run_json(capsys, *words, "--dry-run")
    assert (tried["stored"], tried["summary"]) == (False, None)
    assert "would be" in run(capsys, *words, "--dry-run")
    assert state(capsys, session) == before
    kept = session != str(SAMPLE)
    assert run_json(capsys, *words)["stored"] == kept
    assert (state(capsys, session)[0] == before[0]) == (not kept)


def test_b16_a_branch_of_which_nothing_can_be_told_is_left_without_an_entry(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "failed.jsonl"
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "f", "timestamp": "", "cwd": "/w"},
        _message("a", None, "user", "begin"),
        _message("b", "a", "assistant", "begun"),
        _message("c", "b", "assistant", "", stopReason="error", errorMessage="overloaded"),
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    session = stored(capsys, file)
    done = run_json(capsys, "branch", session, "--to", "b")
    assert (done["leaf"], done["entry"], done["summary"]) == ("b", None, None)
    assert run_json(capsys, "tree", session, "--all")["entries"] == 3


def _message(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": role, "content": content, **more}
    return {"type": "message", "id": name, "parentId": parent, "timestamp": "", "message": message}


def test_an_export_leads_to_the_entry_that_was_named(
    capsys: pytest.CaptureFixture[str], session: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    at = run_json(capsys, "tree", session, "--all")["nodes"][30]["id"]
    run(capsys, "export", session, str(out), "--at", at)
    last = json.loads(out.read_text("utf-8").splitlines()[-1])
    assert last["parentId"] == at
    again = run_json(capsys, "context", str(out))
    assert again["messages"] == run_json(capsys, "context", session, "--at", at)["messages"]


def test_reserve_and_window_decide_caps_budget_and_limit(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    words = ("preview", session, "--keep-recent", "5000")
    preview = run_json(capsys, *words, "--reserve", "1000", "--window", "50000")
    assert (preview["reserve_tokens"], preview["context_window"]) == (1000, 50_000)
    assert preview["context_limit"] == 49_000
    assert preview["requests"][0]["max_output_tokens"] == 800
    assert "49,000 that fit" in run(capsys, *words, "--reserve", "1000", "--window", "50000")
    # A branch is told within the window less the reserve, newest first (A32).
    leaving = ("branch", session, "--to", "#20", "--dry-run")
    whole = run_json(capsys, *leaving)
    narrow = run_json(capsys, *leaving, "--reserve", "1000", "--window", "1300")
    assert len(narrow["summary"]) < len(whole["summary"])


def test_one_number_for_the_size_of_the_context(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    context, preview = run_json(capsys, "context", session), run_json(capsys, "preview", session)
    assert context["context_tokens"] == preview["tokens_before"]
    assert context["context_tokens_source"] == preview["tokens_source"]
    assert f"{preview['tokens_before']:,} tokens" in run(capsys, "context", session)


def test_lines_kept_aside_are_named_when_a_file_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "torn.jsonl"
    file.write_bytes(SAMPLE.read_bytes() + b'{"type":"mess')
    assert main(["context", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["messages"]
    assert f"{file}, line {len(SAMPLE.read_bytes().splitlines()) + 1}: " in err


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of version 1, as its agent wrote them: no ids, one chain."""
    path = tmp_path / "old.jsonl"
    texts = [f"step {at}: {'word ' * 400}" for at in range(12)]
    entries = [
        {"type": "message", "timestamp": f"2026-01-01T00:00:{at:02}Z", "message": message}
        for at, text in enumerate(texts)
        for message in (
            {"role": "user", "content": text},
            {"role": "assistant", "content": [{"type": "text", "text": "done " * 60}]},
        )
    ]
    head = {"type": "session", "id": "old", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *entries)))
    return path


def test_what_was_added_to_an_old_file_is_written_in_the_new_format(
    capsys: pytest.CaptureFixture[str], old: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new.jsonl"
    done = run_json(capsys, "compact", str(old), "--keep-recent", "1000", "--output", str(out))
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert (lines[0]["version"], kind_of(lines[-1])) == (3, Kind.COMPACTION)
    assert run_json(capsys, "context", str(out))["compaction"] == done["entry"]
    session = stored(capsys, old)
    run(capsys, "compact", session, "--keep-recent", "1000")
    status, err = refused(capsys, "export", session, str(out))
    assert (status, "pi-v3" in err) == (1, True)
    run(capsys, "export", session, str(out), "--format", "pi-v3")


def test_an_output_that_cannot_be_written_is_told_before_any_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    session = stored(capsys)
    before = state(capsys, session)
    for output in (tmp_path, tmp_path / "no" / "such.jsonl"):
        status, err = refused(capsys, "compact", session, "--output", str(output))
        assert (status, str(output) in err) == (1, True)
        status, _ = refused(capsys, "branch", session, "--to", "#20", "--output", str(output))
        assert status == 1
    assert state(capsys, session) == before


def test_importing_a_file_again_updates_the_session_that_it_gave(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What was read before is not read as something else when the file has grown."""
    file = tmp_path / "one.jsonl"
    file.write_bytes(SAMPLE.read_bytes())
    session = stored(capsys, file)
    leaf, ids = state(capsys, session)
    more = _message("new-entry", leaf, "user", "one thing more")
    file.write_bytes(SAMPLE.read_bytes() + json.dumps(more).encode() + b"\n")
    again = run_json(capsys, "import", str(file))["imported"][0]
    assert (again["session"], again["added"], again["updated"]) == (int(session), 1, True)
    assert state(capsys, session) == ("new-entry", [*ids, "new-entry"])
    assert len(run_json(capsys, "list")) == 1


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_output_that_a_pipe_cannot_show_ends_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    """E11: half an emoji in a session, a letter that the encoding lacks, a terminal's commands."""
    file = tmp_path / "odd.jsonl"
    odd = "Größe \ud83d 日本 \x1b[2J " + "word " * 400
    lines = [
        {"type": "session", "version": 3, "id": "o", "timestamp": "", "cwd": "/w"},
        _message("a\ud83d", None, "user", odd),
        _message("b", "a\ud83d", "assistant", odd),
        _message("c", "b", "user", odd),
        _message("d", "c", "assistant", "done"),
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    small = ("--keep-recent", "5")
    for command, *more in (
        ("context",),
        ("preview", *small),
        ("tree", "--all"),
        ("compact", "--dry-run", *small),
        ("search",),
    ):
        words = [command, str(file), *more]
        if command == "search":
            words.insert(1, "word")
        assert b"\x1b" not in _printed(monkeypatch, encoding, words)
        json.loads(_printed(monkeypatch, encoding, [*words, "--json"]).decode(encoding))


def _printed(monkeypatch: pytest.MonkeyPatch, encoding: str, words: list[str]) -> bytes:
    """The bytes that a command gives to a pipe of an encoding."""
    pipe = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding=encoding))
        assert main(words) == 0
        sys.stdout.flush()
        return pipe.getvalue()


def test_a_session_of_no_year_is_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, moment in (("far", 8.6e15), ("before", -8.6e15), ("never", "")):
        file = tmp_path / f"{name}.jsonl"
        head = {"type": "session", "version": 3, "id": name, "timestamp": "", "cwd": "/w"}
        said = _message("a", None, "user", f"a {name} thing") | {"timestamp": moment}
        file.write_text(f"{json.dumps(head)}\n{json.dumps(said)}\n")
        stored(capsys, file)
    assert run(capsys, "list").count("thing") == 3
