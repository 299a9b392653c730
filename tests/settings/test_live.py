"""Real files, written by this process, by another one, and by editors that replace them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from explorer.settings.files import SettingsError
from explorer.settings.live import LiveSettings, project_file, project_of

KEEP, RESERVE, MODEL = "compaction.keepRecentTokens", "compaction.reserveTokens", "compaction.model"


class Trusting:
    """Trusts the folders it is told to."""

    def __init__(self, *folders: Path) -> None:
        self.folders = set(folders)

    def is_trusted(self, folder: Path) -> bool:
        return folder in self.folders


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    project_file(folder).parent.mkdir(parents=True)
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def replaced_by_another_process(path: Path, text: str) -> None:
    """What editors do: a new file under the old name, by a second program."""
    program = "import os, sys; p = sys.argv[1]; open(p + '~', 'w').write(sys.argv[2]); "
    program += "os.replace(p + '~', p)"
    subprocess.run([sys.executable, "-c", program, str(path), text], check=True)


def test_the_projects_value_goes_before_the_persons(file: Path, project: Path) -> None:
    write(file, f'{{"{KEEP}": 1, "{RESERVE}": 2}}')
    write(project_file(project), '{"compaction": {"keepRecentTokens": 3}}')
    live = LiveSettings(file)
    assert (live.get(KEEP), live.get(KEEP, project)) == (1, 3)
    assert live.values(project) == {KEEP: 3, RESERVE: 2}
    found = live.explain(KEEP, project, {KEEP: 4})
    assert (found.value, found.source) == (4, "session")
    assert [(one.value, one.source, one.line) for one in found.overridden] == [
        (3, "project", 1),
        (1, "global", 1),
    ]
    assert live.explain("compaction.enabled", project).source == "profile"
    with pytest.raises(KeyError):
        live.get("compaction.nothing")


def test_a_wrong_value_is_told_with_its_line_and_the_last_good_one_holds(file: Path) -> None:
    write(file, f'{{"{KEEP}": 500, "{RESERVE}": 600}}')
    live = LiveSettings(file)
    write(file, f'{{\n  // less\n  "{KEEP}": "few",\n  "{RESERVE}": 700,\n  "of.tomorrow": 1\n}}')
    assert live.refresh()
    assert live.values() == {KEEP: 500, RESERVE: 700}
    wrong, unknown = live.problems()
    assert (wrong.file, wrong.line, wrong.key) == (file, 3, KEEP)
    assert '"few"' in wrong.reason
    assert "500 stays" in wrong.reason
    assert (unknown.line, unknown.key, unknown.unknown) == (5, "of.tomorrow", True)


def test_a_file_that_cannot_be_read_leaves_everything_as_it_was(file: Path) -> None:
    write(file, f'{{"{KEEP}": 500}}')
    live = LiveSettings(file)
    for text, line in (('{\n  "a" 1}', 2), ("[]", 1), ("\n\n{", 3)):
        write(file, text)
        live.refresh()
        assert live.get(KEEP) == 500
        assert [problem.line for problem in live.problems()] == [line]
    write(file, "\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "{")
    file.write_bytes(b'{\n"a": "\xff"}')
    live.refresh()
    assert "UTF-8" in str(live.problems()[0])
    assert live.problems()[0].line == 2
    file.unlink()
    live.refresh()
    assert live.values() == {}
    assert live.problems() == []


def test_a_setting_that_is_taken_out_is_not_held(file: Path) -> None:
    write(file, f'{{"{KEEP}": 500}}')
    live = LiveSettings(file)
    write(file, "{}")
    live.refresh()
    assert live.get(KEEP) is None


def test_a_project_sends_text_nowhere_unless_it_is_trusted(file: Path, project: Path) -> None:
    text = {
        MODEL: "openai/theirs", "agent.model": "openai/theirs", RESERVE: 9,
        "compaction.remoteEndpoint": "https://theirs", "models.apiBase": "https://theirs",
    }  # fmt: skip
    write(project_file(project), json.dumps(text))
    trust = Trusting()
    live = LiveSettings(file, trust)
    assert live.values(project) == {RESERVE: 9}
    assert len(live.problems(project)) == 4
    reasons = [problem.reason for problem in live.problems(project)]
    assert sum("only a trusted project" in reason for reason in reasons) == 3
    assert sum("no project sets it" in reason for reason in reasons) == 1
    with pytest.raises(SettingsError, match="trusted"):
        live.set(MODEL, ["a/b"], project)
    with pytest.raises(SettingsError, match="no project"):
        live.set("models.apiBase", "https://theirs", project)
    trust.folders.add(project)
    assert live.refresh()
    assert live.get(MODEL, project) == ["openai/theirs"]
    assert live.get("models.apiBase", project) is None, "that is for the whole program"
    trust.folders.clear()
    write(project_file(project), "{ not json")
    live.refresh()
    assert live.values(project) == {RESERVE: 9}, "what was trusted is not held without trust"


def test_changes_are_told_once_with_their_keys(file: Path, project: Path) -> None:
    live = LiveSettings(file)
    live.values(project)
    told: list[frozenset[str]] = []
    end = live.subscribe(lambda change: told.append(change.keys))
    live.set(KEEP, 5)
    live.set(RESERVE, 6, project)
    live.reset(KEEP)
    assert told == [{KEEP}, {RESERVE}, {KEEP}]
    assert not live.refresh()
    os.utime(file)
    assert not live.refresh(), "touched, and nothing else"
    end()
    live.set(KEEP, 7)
    assert len(told) == 3


def test_writing_keeps_what_a_person_wrote(file: Path) -> None:
    text = '\ufeff{\r\n  // Mine.\r\n  "x": [1, 2,],\r\n  "compaction": {"enabled": true}\r\n}\r\n'
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    file.chmod(0o640)
    LiveSettings(file).set("compaction.enabled", False)
    assert file.read_bytes().decode() == text.replace("true", "false")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_a_link_to_the_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    write(tmp_path / "dotfiles.json", "{}")
    file.parent.mkdir(parents=True)
    file.symlink_to(tmp_path / "dotfiles.json")
    LiveSettings(file).set(KEEP, 8)
    assert file.is_symlink()
    assert json.loads((tmp_path / "dotfiles.json").read_text()) == {
        "compaction": {"keepRecentTokens": 8}
    }


def test_nothing_is_written_where_it_would_destroy_something(file: Path) -> None:
    live = LiveSettings(file)
    write(file, '{\n  "a": \n')
    with pytest.raises(SettingsError, match=r"line 3, column 1: .*nothing was written"):
        live.set(KEEP, 1)
    assert file.read_text() == '{\n  "a": \n'
    with pytest.raises(SettingsError, match="expected a number"):
        live.set(KEEP, 0)
    with pytest.raises(SettingsError, match="no setting"):
        live.reset("no.such")
    file.unlink()
    file.mkdir()
    with pytest.raises(SettingsError, match=str(file)):
        live.set(KEEP, 1)


def test_a_new_file_is_its_owners_alone(file: Path, project: Path) -> None:
    live = LiveSettings(file)
    live.set(KEEP, 1)
    live.set(KEEP, 1, project)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(project_file(project).stat().st_mode) & 0o600 == 0o600


def test_the_watch_notices_another_program(file: Path, project: Path) -> None:
    """A12: without a restart, and also where an editor replaces the file."""
    write(file, "{}")
    live = LiveSettings(file)
    live.values(project)
    noticed: list[frozenset[str]] = []
    arrived = threading.Event()

    def told(change: object) -> None:
        noticed.append(change.keys)  # type: ignore[attr-defined]
        arrived.set()

    live.subscribe(told)
    stop = live.watch(lambda refresh: refresh(), every_s=0.02)
    try:
        for path, value in ((file, 11), (file, 12), (project_file(project), 13)):
            replaced_by_another_process(path, f'{{"{KEEP}": {value}}}')
            assert arrived.wait(20), path
            arrived.clear()
            assert live.get(KEEP, project) == value
    finally:
        stop()
    assert noticed == [{KEEP}] * 3
    assert not [t for t in threading.enumerate() if t.name == "settings-watch"]


def test_two_programs_write_and_neither_loses_the_others(file: Path) -> None:
    """Each sets a key of its own, over and over, in one file."""
    program = (
        "import sys; from pathlib import Path; from explorer.settings.live import LiveSettings\n"
        "live = LiveSettings(Path(sys.argv[1]))\n"
        "for value in range(1, 30): live.set(sys.argv[2], value)\n"
    )
    write(file, '{\n  // keep me\n  "other": true\n}\n')
    keys = (KEEP, RESERVE)
    running = [subprocess.Popen([sys.executable, "-c", program, str(file), key]) for key in keys]
    assert [process.wait(60) for process in running] == [0, 0]
    live = LiveSettings(file)
    assert live.values() == {KEEP: 29, RESERVE: 29}
    assert "// keep me" in file.read_text()


def test_the_project_of_a_folder(project: Path, tmp_path: Path) -> None:
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    assert project_of(str(below)) == below.resolve()
    write(project_file(project), "{}")
    assert project_of(str(below)) == project.resolve()
    assert project_of("") is None
    assert project_of("relative") is None
    assert project_of(str(tmp_path / "nowhere")) is None
