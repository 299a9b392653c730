"""``session-explorer settings``, and commands that follow the settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.extensions.manager import TrustStore
from explorer.settings import paths
from explorer.settings.keys import KEYS, schema_text
from tests.commands.test_commands import SAMPLE, refused, run, run_json
from tests.commands.test_provider import GOOD
from tests.models.server import Answer, ChatServer

KEEP = "compaction.keepRecentTokens"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_a_value_is_set_told_explained_and_reset(
    capsys: pytest.CaptureFixture[str], explorer_home: Path, project: Path
) -> None:
    file = explorer_home / "config" / "settings.json"
    assert run(capsys, "settings", "path").strip() == str(file)
    assert run_json(capsys, "settings", "get", KEEP)["source"] == "profile"
    assert run(capsys, "settings", "get", KEEP) == "20000\n"
    assert "from your settings" in run(capsys, "settings", "set", KEEP, "12000")
    assert json.loads(file.read_text()) == {"compaction": {"keepRecentTokens": 12_000}}
    run(capsys, "settings", "set", KEEP, "9000", "--project", str(project))
    told = run_json(capsys, "settings", "explain", KEEP, "--project", str(project))
    assert (told["value"], told["source"], told["line"]) == (9_000, "project", 3)
    assert [one["value"] for one in told["overridden"]] == [12_000]
    assert "overridden: 12000" in run(
        capsys, "settings", "explain", KEEP, "--project", str(project)
    )
    run(capsys, "settings", "reset", KEEP, "--project", str(project))
    assert "12000" in run(capsys, "settings", "get", KEEP, "--project", str(project))
    run(capsys, "settings", "reset", KEEP)
    assert run(capsys, "settings", "get", KEEP) == "20000\n"


def test_the_list_names_every_setting_and_what_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths.ensure(paths.config_dir())
    paths.settings_path().write_text('{\n "compaction.enabled": "yes"\n}')
    listed = run_json(capsys, "settings", "list")
    assert [row["key"] for row in listed["settings"]] == list(KEYS)
    assert all(row["explanation"] for row in listed["settings"])
    assert [(p["line"], p["key"]) for p in listed["problems"]] == [(2, "compaction.enabled")]
    assert "line 2: compaction.enabled: expected true or false" in run(capsys, "settings", "list")


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "settings", "schema") == schema_text()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("set", "no.such", "1"), 2, "there is no setting"),
        (("get", "keeprecent"), 2, "compaction.keepRecentTokens"),
        (("set", KEEP, "few"), 2, "expected a whole number of tokens"),
        (("set", "compaction.profile", "nobody"), 1, "there is no profile 'nobody'"),
        (("get", KEEP, "--project", "/no/such/folder"), 2, "is not a folder"),
    ],
)
def test_what_cannot_be_done_is_said(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], status: int, said: str
) -> None:
    code, err = refused(capsys, "settings", *words)
    assert code == status
    assert said in err
    assert not paths.settings_path().exists()


def test_a_damaged_file_and_an_untrusted_project_are_left_alone(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    paths.ensure(paths.config_dir())
    paths.settings_path().write_text('{\n "a" 1}')
    assert refused(capsys, "settings", "set", KEEP, "5")[0] == 1
    assert paths.settings_path().read_text() == '{\n "a" 1}'
    words = ("settings", "set", "compaction.model", "a/b", "--project", str(project))
    code, err = refused(capsys, *words)
    assert (code, "trusted project" in err) == (1, True)
    TrustStore().trust(project)
    assert "the project's settings" in run(capsys, *words)


def test_a_preview_follows_the_settings_and_the_command_line_goes_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A12: session and command line over the person's settings over the profile."""
    sample = str(SAMPLE)
    run(capsys, "settings", "set", KEEP, "3000")
    run(capsys, "settings", "set", "compaction.profile", "omp")
    shown = run_json(capsys, "preview", sample)
    assert (shown["profile"], shown["keep_recent_tokens"]) == ("omp", 3_000)
    shown = run_json(capsys, "preview", sample, "--profile", "pi", "--keep-recent", "4000")
    assert (shown["profile"], shown["keep_recent_tokens"]) == ("pi", 4_000)


def test_a_preview_tells_what_is_wrong_in_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    paths.ensure(paths.config_dir())
    paths.settings_path().write_text('{"compaction.enabled": 1}')
    assert main(["preview", str(SAMPLE)]) == 0
    assert "line 1: compaction.enabled" in capsys.readouterr().err


def test_a_server_of_ones_own_is_named_without_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address and the model come from the settings alone; one that fails gives way (A43)."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with ChatServer() as server:
        server.plan(Answer(GOOD))
        run(capsys, "settings", "set", "models.apiBase", server.url)
        run(capsys, "settings", "set", "compaction.model", "openai/mine")
        run(capsys, "settings", "set", KEEP, "3000")
        status = main(["compact", str(SAMPLE), "--dry-run"])
        out, err = capsys.readouterr()
        assert status == 0, err
        assert "Make the retry test reliable." in out
        assert server.requests[0]["model"] == "mine"
