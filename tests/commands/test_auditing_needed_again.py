"""The command ``audit`` begins with what was needed again, in every form, and may fail on it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from explorer.settings import paths
from tests.audit.reported import write_losing
from tests.commands.processes import called
from tests.services.clock import SAMPLE


def test_the_audit_begins_with_it_and_a_build_may_fail_on_it() -> None:
    status, out, err = called("audit", str(SAMPLE), "--fail-on", "needed-again")
    lines = out.splitlines()
    assert status == 3 and "needed-again: something was needed again" in err
    assert lines[1].startswith("Needed again: At least 4 files read again; ")
    rows = [line.split() for line in lines[3:7]]
    assert [(row[3], row[4]) for row in rows] == [
        ("#63", "#206"), ("#10", "#225"), ("#148", "#207"), ("#149", "#217"),
    ]  # fmt: skip
    assert "edited" not in lines[4] and lines[5].endswith(", as last edited at #192")


def test_where_nothing_was_needed_again_no_build_fails(tmp_path: Path) -> None:
    file = write_losing(tmp_path / "losing.jsonl")
    status, out, _ = called("audit", str(file), "--fail-on", "needed-again")
    assert status == 0 and "Needed again: Nothing was found to be needed again." in out


@pytest.mark.parametrize("form", ["html", "md"])
def test_the_report_begins_with_it(form: str) -> None:
    status, out, _ = called("audit", str(SAMPLE), "--format", form)
    assert status == 0
    first = out.index("4 files read again")
    assert first < out.index("At most")
    part = out[first : out.index("At most")]
    for words in ("src/network.py, lines 1 to 32", "#63", "#206"):
        assert words in part


def test_json_names_both_entries_of_each() -> None:
    schema = json.loads(paths.resource_path("audit-report.schema.json").read_text("utf-8"))
    _, out, _ = called("audit", str(SAMPLE), "--json")
    told = json.loads(out)
    jsonschema.validate(told, schema)
    found = told["needed_again"]
    assert (found["number"], [len(one["needs"]) for one in found["after"]]) == (4, [2, 2])
    first = found["after"][0]["needs"][0]
    assert (first["kind"], first["text"], first["lines"]) == ("read", "src/network.py", [1, 32])
    assert (first["before"]["index"], first["after"]["index"]) == (63, 206)
    _, out, _ = called("audit", str(SAMPLE), "--json", "--compaction", "#197")
    told = json.loads(out)
    places = [need["before"]["index"] for need in told["needed_again"]["after"][0]["needs"]]
    assert places == [148, 149], "an earlier one had taken the other two out of the context"


def test_it_says_how_long_a_tail_would_have_held_each(tmp_path: Path) -> None:
    """Where one compaction alone took it out of the context: the sample without its last one."""
    lines = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    last = next(one for one in reversed(lines) if one["type"] == "compaction")
    kept = [json.dumps(one) for one in lines if one is not last]
    text = "\n".join(kept).replace(json.dumps(last["id"]), json.dumps(last["parentId"]))
    file = tmp_path / "one-compaction.jsonl"
    file.write_text(text, "utf-8")
    _, out, _ = called("audit", str(file), "--json")
    needs = json.loads(out)["needed_again"]["after"][0]["needs"]
    tails = [one["tail"] for one in needs]
    assert tails[0]["kept"] == tails[1]["kept"] < tails[0]["needed"] < tails[1]["needed"]
    assert tails[1]["needed"] <= tails[1]["of"]
    for form in ((), ("--format", "md"), ("--format", "html")):
        _, out, _ = called("audit", str(file), *form)
        assert "eld by a tail of" in out
        shown = out.replace(",", "")
        assert all(str(one["needed"]) in shown for one in tails), form
