"""The command ``audit``: a table, a report in three forms, and a status that a build can use."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from explorer.audit.report import CHECKS
from explorer.settings import paths
from tests.audit.reported import FIRST, LIMIT, write_losing
from tests.commands.processes import called, ran

RULES = ("--profile", "pi-0.58")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_losing(tmp_path / "losing.jsonl")


def test_a_table_is_printed_with_the_figures_and_the_losses(file: Path) -> None:
    status, out, err = called("audit", str(file), *RULES)
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["#10"][3:] == ["2", "1", "0", "1"]
    assert "Never write to the production database." in out and "900 ms" in out
    assert rows["kept-range-dropped"][1] == "lost"
    assert "rules of thumb" in out
    assert "Cost of the path: $1.7500 (exact" in out
    assert "Judged by the rules of: " in out and "(They were chosen for this report.)" in out
    assert "\x07" not in out and "\u202e" not in out


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        (("--fail-on", "standing-instruction"), 3),
        (("--fail-on", "open-state,boundary-lost"), 0),
        (("--fail-on", "open-state", "--fail-on", "stated-wrongly"), 3),
        (("--fail-on", "kept-range-dropped"), 3),
        (("--compaction", f"#{FIRST}", "--fail-on", "kept-range-dropped"), 0),
    ],
)
def test_a_build_fails_on_what_it_asks_for(
    file: Path, checks: tuple[str, ...], status: int
) -> None:
    code, out, err = called("audit", str(file), *RULES, *checks)
    assert code == status, err
    assert "compaction" in out, "the audit is printed all the same"
    names = {name for words in checks[1::2] for name in words.split(",")} & {*CHECKS}
    if status:
        assert err.startswith("session-explorer: ")
        assert any(name in err for name in names)
        assert "Failed: " in out


def test_rules_that_lose_nothing_do_not_fail(file: Path) -> None:
    """The same file, judged by rules that start where the last compaction kept from."""
    status, out, _ = called(
        "audit", str(file), "--profile", "pi", "--fail-on", "kept-range-dropped"
    )
    assert status == 0 and "kept-range-dropped" not in out


def test_the_report_is_written_in_the_form_that_its_suffix_names(
    file: Path, tmp_path: Path
) -> None:
    for suffix, start in (("html", "<!DOCTYPE html>"), ("md", "# Audit of "), ("json", "{")):
        output = tmp_path / f"report.{suffix}"
        status, out, err = called("audit", str(file), *RULES, "--output", str(output))
        assert status == 0 and err == f"{output}: the report was written\n"
        assert output.read_text("utf-8").startswith(start)
        assert LIMIT in output.read_text("utf-8")
        assert "kept-range-dropped" in out, "the table comes along"
    odd = tmp_path / "report.txt"
    status, _, err = called("audit", str(file), "--output", str(odd))
    assert status == 2 and "--format" in err
    assert called("audit", str(file), "--output", str(odd), "--format", "md")[0] == 0
    assert odd.read_text("utf-8").startswith("# Audit of ")


def test_a_failing_check_writes_the_report_all_the_same(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    words = ("audit", str(file), "--fail-on", "stated-wrongly", "--output", str(output))
    status, _, err = called(*words)
    assert status == 3 and "stated-wrongly: Stated wrongly" in err
    assert output.exists()


def test_json_is_one_document_that_fits_its_schema(file: Path) -> None:
    schema = json.loads(paths.resource_path("audit-report.schema.json").read_text("utf-8"))
    status, out, err = called("audit", str(file), *RULES, "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    jsonschema.validate(told, schema)
    assert told == json.loads(called("audit", str(file), *RULES, "--format", "json")[1]) | {
        "made": told["made"]
    }
    assert "standing instruction" in told["compactions"][0]["headline"]


def test_what_cannot_be_is_refused_before_any_work(file: Path, tmp_path: Path) -> None:
    for words, told in (
        (("--fail-on", "everything"), "no such check"),
        (("--compaction", "#3"), "no compaction"),
        (("--compaction", "nowhere"), "nowhere"),
        (("--profile", "nobody"), "nobody"),
        (("--json", "--format", "md"), "two forms"),
    ):
        status, out, err = called("audit", str(file), *words)
        assert (status, out) == (2, "") and told in err
    missing = tmp_path / "missing" / "r.html"
    status, out, err = called("audit", str(file), "--output", str(missing))
    assert (status, out) == (1, "") and "Nothing was written" in err


def test_a_stored_session_is_audited_in_a_process_of_its_own(file: Path, tmp_path: Path) -> None:
    database = ("--database", str(tmp_path / "d.db"))
    assert called("import", str(file), *database)[0] == 0
    status, out, err = ran("audit", "1", *RULES, *database, "--at", "e12")
    assert (status, err) == (0, ""), "no progress where nobody looks"
    assert f"#{FIRST}" in out and "#17" not in out


def test_a_file_of_version_1_is_judged_by_the_rules_of_its_time(file: Path, tmp_path: Path) -> None:
    """A3, B1: nobody names the profile; entries without ids were written by pi 0.58 or before."""
    head, *entries = map(json.loads, file.read_text().splitlines())
    places = {entry["id"]: at for at, entry in enumerate(entries, 1)}
    del head["version"]
    old = [head]
    for entry in entries:
        assert entry["parentId"] in (None, entries[len(old) - 2]["id"])
        kept = entry.pop("firstKeptEntryId", None)
        changed = {} if kept is None else {"firstKeptEntryIndex": places[kept]}
        old.append({key: entry[key] for key in entry if key not in ("id", "parentId")} | changed)
    path = tmp_path / "old.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in old))

    def dropped(of: Path, *rules: str) -> list[list[int]]:
        found = json.loads(called("audit", str(of), "--json", *rules)[1])
        return [one["entries"] for one in found["losses"] if one["kind"] == "kept-range-dropped"]

    now = dropped(path)
    assert now and len(now) == len(dropped(file, *RULES))
    assert dropped(path, "--profile", "pi") == []
