"""The commands on extensions, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.extensions.manager import PROJECT_FOLDER, user_folder
from tests.commands.test_commands import refused, run, run_json
from tests.extensions.making import conversation, handler, write

GOOD = handler("session_compact", "return None")


def test_examples_are_listed_installed_and_not_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = run(capsys, "extensions", "list")
    assert str(user_folder()) in told and "redact_secrets: Takes keys" in told
    run(capsys, "extensions", "install-example", "redact_secrets")
    (row,) = run_json(capsys, "extensions", "list")["extensions"]
    assert (row["name"], row["scope"], row["state"]) == ("redact_secrets", "user", "loaded")
    assert row["events"] == ["session_request", "session_summary"]
    status, err = refused(capsys, "extensions", "install-example", "redact_secrets")
    assert status == 1 and "is there already" in err
    status, err = refused(capsys, "extensions", "install-example", "nothing")
    assert status == 1 and "ticket_context" in err


def test_a_file_that_fails_is_listed_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = write(user_folder(), "broken", "x = 1\nimport nothing_of_that_name\n")
    assert f"broken: {file}, line 2: ModuleNotFoundError" in run(capsys, "extensions", "list")
    (row,) = run_json(capsys, "extensions", "list")["extensions"]
    assert row["problem"]["line"] == 2 and row["state"] == "not loaded"


def test_a_project_is_trusted_and_untrusted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    write(project / PROJECT_FOLDER, "own", GOOD)
    listing = ("extensions", "list", "--project", str(project))
    told = run_json(capsys, *listing)
    assert told["extensions"] == [] and told["project"]["trusted"] is False
    assert "which are not loaded" in run(capsys, *listing)
    link = tmp_path / "link"
    link.symlink_to(project)
    assert run_json(capsys, "extensions", "trust", str(link))["folder"] == str(project)
    told = run_json(capsys, *listing)
    assert [row["name"] for row in told["extensions"]] == ["own"]
    assert told["trusted"] == [str(project)]
    assert "trusted no more" in run(capsys, "extensions", "untrust", str(project))
    assert "was not trusted" in run(capsys, "extensions", "untrust", str(project))
    assert run_json(capsys, *listing)["extensions"] == []
    status, err = refused(capsys, "extensions", "trust", str(tmp_path / "nowhere"))
    assert status == 1 and "nowhere" in err


def test_a_wrong_command_line_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("extensions",), ("extensions", "trust"), ("extensions", "dance")):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert "usage:" in capsys.readouterr().err


# what compact and branch tell -------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(conversation(tmp_path))


SMALL = ("--keep-recent", "500", "--window", "20000", "--json")


def compact(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(("compact", *words))
    out, err = capsys.readouterr()
    return status, out, err


def test_a_cancel_fails_the_command_by_name(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    write(user_folder(), "guard", handler("session_before_compact", "event.cancel('Not now')"))
    status, out, err = compact(capsys, session, *SMALL)
    assert (status, out) == (1, "")
    assert "Cancelled by the extension guard: Not now" in err and "Nothing was changed" in err
    status, out, err = compact(capsys, session, *SMALL, "--no-extensions")
    assert status == 0 and err == "" and json.loads(out)["extensions"] == []


def test_what_extensions_do_is_told_on_standard_error_and_in_json(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    body = "print('noise')\nreturn {'compaction': {'summary': 'Mine.'}}"
    write(user_folder(), "mine", handler("session_before_compact", body))
    write(user_folder(), "broken", "import nothing_of_that_name\n")
    status, out, err = compact(capsys, session, *SMALL)
    told = json.loads(out)
    assert status == 0 and told["summary"] == "Mine." and told["model"] == "extension/mine"
    assert [record["did"] for record in told["extensions"]] == ["result"]
    assert "extension broken is not loaded: " in err and "line 1" in err
    assert "extension mine: supplied the summary" in err


def test_a_branch_is_left_without_a_summary_where_an_extension_wants_none(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    write(user_folder(), "none", handler("session_before_tree", "event.set_summarize(False)"))
    assert main(("branch", session, "--to", "e3", "--json")) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["summary"] is None
    assert "none wants no summary of this branch" in err


def test_an_untrusted_project_is_told_and_not_run(
    capsys: pytest.CaptureFixture[str], session: str, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    write(project / PROJECT_FOLDER, "own", "raise SystemExit(9)\n")
    lines = Path(session).read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "cwd": str(project)})
    Path(session).write_text("\n".join(lines) + "\n", encoding="utf-8")
    status, _out, err = compact(capsys, session, *SMALL)
    assert status == 0 and f"extensions of {project} are not loaded" in err
