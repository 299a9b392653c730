"""The commands on extensions, as a person runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.cli import main
from explorer.extensions.manager import user_folder
from explorer.extensions.trust import PROJECT_FOLDER
from tests.commands.test_commands import refused, run, run_json
from tests.extensions.making import handler, write

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
