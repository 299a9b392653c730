"""The headless commands, run as a person runs them: real files, real database, real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import main
from explorer.settings import paths

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Standard output of a command that must succeed."""
    status = main(words)
    out, err = capsys.readouterr()
    assert (status, err) == (0, ""), err
    return out


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Exit status and standard error of a command that must not succeed."""
    status = main(words)
    out, err = capsys.readouterr()
    assert out == ""
    return status, err


@pytest.fixture
def stored(capsys: pytest.CaptureFixture[str]) -> str:
    """The bundled session, imported; its number."""
    report = run_json(capsys, "import", str(SAMPLE))
    return str(report["imported"][0]["session"])


def test_import_then_list_then_import_again(capsys: pytest.CaptureFixture[str]) -> None:
    report = run_json(capsys, "import", str(SAMPLE))["imported"][0]
    assert report["added"] == report["entries"] > 150
    assert "Fix the flaky retry test" in run(capsys, "list")
    again = run_json(capsys, "import", str(SAMPLE))["imported"][0]
    assert (again["added"], again["updated"]) == (0, True)
    assert [row["entries"] for row in run_json(capsys, "list")] == [report["entries"]]


def test_list_says_what_to_do_when_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "session-explorer import FILE" in run(capsys, "list")


def test_a_missing_file_fails_and_names_it_while_others_are_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status = main(["import", str(tmp_path / "no.jsonl"), str(SAMPLE), "--json"])
    out, err = capsys.readouterr()
    assert status == 1
    assert "no.jsonl" in err
    assert len(json.loads(out)["imported"]) == 1


def test_tree_marks_the_active_path_and_its_labels(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    tree = run_json(capsys, "tree", stored)
    kinds = {node["kind"] for node in tree["nodes"]}
    assert {"compaction", "branch_summary"} <= kinds
    assert any(node["label"] for node in tree["nodes"])
    leaf = next(node for node in tree["nodes"] if node["id"] == tree["leaf"])
    assert leaf["active"]
    assert any(not node["active"] for node in tree["nodes"])
    assert len(run_json(capsys, "tree", stored, "--all")["nodes"]) == tree["entries"]
    assert f"#{leaf['index']}" in run(capsys, "tree", stored)


def test_a5_context_starts_with_the_latest_compaction(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    context = run_json(capsys, "context", stored)
    assert context["messages"][0]["kind"] == "compaction"
    assert context["messages"][0]["entry"] == context["compaction"]
    assert context["tokens"] == sum(message["tokens"] for message in context["messages"])
    first = run_json(capsys, "context", stored, "--at", "#5")
    assert first["compaction"] is None


def test_preview_has_the_names_of_the_reference_vectors_beside_the_ledger(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    preview = run_json(capsys, "preview", stored, "--keep-recent", "5000")
    assert {
        "first_kept_entry", "is_split_turn", "tokens_before", "messages_to_summarize",
        "turn_prefix_messages", "read_files", "modified_files", "file_operations_footer",
    } <= set(preview)  # fmt: skip
    verdicts = [row["verdict"] for row in preview["ledger"]]
    summarized = [r["entry"] for r in preview["ledger"] if r["verdict"] == "to_summarize"]
    assert set(summarized) <= set(preview["messages_to_summarize"]) | {
        r["entry"] for r in preview["ledger"] if r["kind"] == "compaction"
    }
    kept = verdicts.index("kept")
    assert "to_summarize" not in verdicts[kept:]
    assert all(row["reason"] for row in preview["ledger"])
    assert preview["requests"][0]["prompt"].count("<conversation>") == 1


def test_preview_follows_its_options(capsys: pytest.CaptureFixture[str], stored: str) -> None:
    few = run_json(capsys, "preview", stored, "--keep-recent", "2000")
    many = run_json(capsys, "preview", stored, "--keep-recent", "12000")
    assert len(few["messages_to_summarize"]) > len(many["messages_to_summarize"])
    told = run_json(capsys, "preview", stored, "--instructions", "Name every port.")
    assert all("Name every port." in request["prompt"] for request in told["requests"])
    assert run_json(capsys, "preview", stored, "--profile", "pi")["tokens_before"] > 0


def test_compact_stores_the_entry_and_the_context_shrinks(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    before = run_json(capsys, "context", stored)
    done = run_json(capsys, "compact", stored, "--keep-recent", "5000")
    assert done["stored"]
    assert "## " in done["summary"]
    after = run_json(capsys, "context", stored)
    assert after["compaction"] == after["messages"][0]["entry"] == done["entry"]
    assert after["messages"][1]["entry"] == done["first_kept_entry"]
    assert after["tokens"] < before["tokens"]


def test_a14_compacting_twice_in_a_row_is_refused(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    run(capsys, "compact", stored, "--keep-recent", "5000")
    status, err = refused(capsys, "compact", stored, "--keep-recent", "5000")
    assert status == 1
    assert "Nothing was changed" in err


def test_a_dry_run_stores_nothing(capsys: pytest.CaptureFixture[str], stored: str) -> None:
    before = run_json(capsys, "context", stored)
    done = run_json(capsys, "compact", stored, "--keep-recent", "5000", "--dry-run")
    assert done["summary"]
    assert not done["stored"]
    assert run_json(capsys, "context", stored) == before


def test_a_file_is_not_changed_and_the_result_goes_where_output_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, out = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    file.write_bytes(SAMPLE.read_bytes())
    run(capsys, "compact", str(file), "--keep-recent", "5000", "--output", str(out))
    assert file.read_bytes() == SAMPLE.read_bytes()
    lines = out.read_text("utf-8").splitlines()
    assert (
        lines[: len(SAMPLE.read_text("utf-8").splitlines())]
        == SAMPLE.read_text("utf-8").splitlines()
    )
    assert json.loads(lines[-1])["type"] == "compaction"
    assert run_json(capsys, "list") == []


def test_branch_leaves_a_summary_at_the_target(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    leaf = run_json(capsys, "tree", stored)["leaf"]
    ledger = run_json(capsys, "preview", stored)["ledger"]
    target = next(row["entry"] for row in ledger[-60:] if row["kind"] == "assistant")
    done = run_json(capsys, "branch", stored, "--to", target)
    assert done["from_entry"] == leaf
    assert done["summary"]
    tree = run_json(capsys, "tree", stored)
    summary = next(node for node in tree["nodes"] if node["id"] == done["entry"])
    assert (summary["parent"], summary["kind"]) == (target, "branch_summary")
    assert tree["leaf"] == done["entry"]


def test_branch_without_a_summary_only_moves_the_leaf(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    run(capsys, "branch", stored, "--to", "#3", "--no-summary")
    assert (
        run_json(capsys, "context", stored)["leaf"]
        == run_json(capsys, "context", stored, "--at", "#3")["leaf"]
    )


def test_export_of_an_untouched_session_gives_the_same_lines(
    capsys: pytest.CaptureFixture[str], stored: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    run(capsys, "export", stored, str(out))
    values = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert values == [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]


def test_search_finds_entries_and_names_them(
    capsys: pytest.CaptureFixture[str], stored: str
) -> None:
    hits = run_json(capsys, "search", "409")
    assert hits
    assert all("409" in hit["snippet"] for hit in hits)
    assert run_json(capsys, "search", "409", stored, "--limit", "2") == hits[:2]
    assert "nothing found" in run(capsys, "search", "zzzqqq")


def test_a_search_for_signs_says_which_sessions_it_left_out(
    capsys: pytest.CaptureFixture[str],
    stored: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(SAMPLE.read_text("utf-8").replace('"id":"', '"id":"x'), "utf-8")
    main(["import", str(other)])
    capsys.readouterr()
    every = {hit["session"] for hit in run_json(capsys, "search", "()", "--limit", "9999")}
    monkeypatch.setattr("explorer.store.search._SIGNS_IN", 1)
    assert main(["search", "()", "--json", "--limit", "9999"]) == 0
    out, err = capsys.readouterr()
    assert {hit["session"] for hit in json.loads(out)} < every
    assert err == (
        "Signs without a word are looked for in the newest session of 2 only: add a word to"
        " search all.\n"
    )
    run(capsys, "search", "()", stored)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("tree", "nope"), 2, "no such file, and no stored session"),
        (("preview", str(SAMPLE), "--profile", "nope"), 2, "there are: explorer, pi"),
        (("preview", str(SAMPLE), "--keep-recent", "0"), 2, "--keep-recent must be at least 1"),
        (("context", str(SAMPLE), "--at", "zz"), 2, "no entry"),
        (("branch", str(SAMPLE), "--to", "zz"), 2, "no entry"),
        (("compact", str(SAMPLE), "--model", "offline/none"), 1, "offline/none"),
        (("export", str(SAMPLE), "/nowhere/at/all.jsonl"), 1, "/nowhere/at/all"),
    ],
)
def test_errors_go_to_standard_error_with_the_right_status(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], status: int, said: str
) -> None:
    found, err = refused(capsys, *words)
    assert found == status
    assert said in err


def test_a_file_that_is_no_session_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("just some words\n")
    status, err = refused(capsys, "tree", str(file))
    assert status == 1
    assert "notes.txt" in err


def test_as_a_process_with_a_closed_pipe_and_without_qt(stored: str) -> None:
    """A reader that leaves early ends the command quietly; Qt is never imported."""
    code = (
        "import sys; from explorer.cli import main; status = main(sys.argv[1:]);"
        "assert not any(name.startswith('PySide6') for name in sys.modules); sys.exit(status)"
    )
    command = [sys.executable, "-c", code, "preview", str(SAMPLE), "--json"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(100)
    process.stdout.close()
    assert process.wait(60) == 1
    assert b"Traceback" not in process.stderr.read()


def test_a_damaged_database_is_named_and_what_can_be_read_is_copied(
    capsys: pytest.CaptureFixture[str], stored: str, tmp_path: Path
) -> None:
    database = paths.database_path()
    data = database.read_bytes()
    data = data[: len(data) * 2 // 3]
    database.write_bytes(data)
    status, err = refused(capsys, "list")
    assert status == 1
    assert str(database) in err
    copy = tmp_path / "copy.db"
    report = run_json(capsys, "salvage", str(database), str(copy))
    [session] = report["sessions"]
    assert session["entries"] + session["lost"] > 150
    assert session["entries"] > 50
    assert database.read_bytes() == data
    assert len(run_json(capsys, "list", "--database", str(copy))) == 1


def test_tree_writes_its_skeleton_as_a_graph(
    capsys: pytest.CaptureFixture[str], stored: str, tmp_path: Path
) -> None:
    out = tmp_path / "tree.json"
    run(capsys, "tree", stored, "--graph", str(out))
    kinds = {node["kind"] for node in json.loads(out.read_text("utf-8"))["nodes"]}
    assert {"compaction", "branch_summary"} <= kinds
    status, err = refused(capsys, "tree", stored, "--graph", str(tmp_path / "tree.svg"))
    assert status == 2
    assert "must end in" in err
