"""A project's own extensions run only after its real folder was trusted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from explorer.extensions.manager import (
    PROJECT_FOLDER,
    Extensions,
    TrustError,
    TrustStore,
    project_of,
)
from tests.extensions.making import handler, wait, write

EVENT = "session_compact"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose extension leaves a mark when it is so much as imported."""
    folder = tmp_path / "project"
    mark = f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).write_text('x')\n"
    write(folder / PROJECT_FOLDER, "own", mark + handler(EVENT, "return None"))
    return folder


@pytest.fixture
def extensions(tmp_path: Path) -> Extensions:
    return Extensions(tmp_path / "own", TrustStore(tmp_path / "config" / "trust.json"))


def handled(extensions: Extensions, cwd: Path) -> list[str]:
    return wait(extensions.runner(str(cwd))).handles(EVENT)


def test_nothing_of_an_untrusted_project_runs(
    tmp_path: Path, project: Path, extensions: Extensions
) -> None:
    assert handled(extensions, project) == []
    assert extensions.listing(str(project)) == []
    found = extensions.project(str(project))
    assert found is not None
    assert (found.folder, found.trusted, found.files) == (project, False, ("own.py",))
    assert not (tmp_path / "ran").exists()
    assert not extensions.trust.path.exists()


def test_trust_loads_and_revoking_unloads(
    tmp_path: Path, project: Path, extensions: Extensions
) -> None:
    extensions.trust_project(project)
    before = set(sys.modules)
    hooks = wait(extensions.runner(str(project)))
    assert any(name.endswith(".own") for name in set(sys.modules) - before)
    assert hooks.handles(EVENT) == ["own"] and (tmp_path / "ran").exists()
    assert not any(project.rglob("*.pyc"))
    assert extensions.untrust_project(project)
    assert hooks.handles(EVENT) == []  # a chain that is under way ends too
    assert handled(extensions, project) == []
    assert not any(name.endswith(".own") for name in set(sys.modules) - before)
    assert not extensions.untrust_project(project)


def test_trust_is_of_the_real_folder(tmp_path: Path, project: Path, extensions: Extensions) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    assert extensions.trust_project(link) == project
    assert handled(extensions, link) == handled(extensions, project) == ["own"]
    other = tmp_path / "other"
    write(other / PROJECT_FOLDER, "evil", handler(EVENT, "return None"))
    link.unlink()
    link.symlink_to(other)
    assert handled(extensions, link) == []
    assert handled(extensions, project) == ["own"]


def test_a_link_in_the_place_of_a_trusted_folder_is_not_trusted(
    tmp_path: Path, project: Path, extensions: Extensions
) -> None:
    extensions.trust_project(project)
    assert handled(extensions, project) == ["own"]
    evil = tmp_path / "evil"
    write(evil / PROJECT_FOLDER, "evil", handler(EVENT, "return None"))
    project.rename(tmp_path / "moved")
    project.symlink_to(evil)
    assert handled(extensions, project) == []


@pytest.mark.parametrize("what", ["file", "folder", "settings", "shared"])
def test_links_that_lead_out_of_the_project_are_not_followed(
    tmp_path: Path, what: str, extensions: Extensions
) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    write(outside, "evil", handler(EVENT, "return None"))
    write(outside, "evil.json", "{}")
    own = project / PROJECT_FOLDER
    own.parent.mkdir(parents=True)
    if what == "folder":
        own.symlink_to(outside)
    else:
        own.mkdir()
        if what == "file":
            (own / "evil.py").symlink_to(outside / "evil.py")
        elif what == "settings":
            write(own, "evil", handler(EVENT, "return None"))
            (own / "evil.json").symlink_to(outside / "evil.json")
        else:
            write(own, "evil", "from . import _shared\n" + handler(EVENT, "return None"))
            (own / "_shared.py").symlink_to(outside / "evil.py")
    extensions.trust_project(project)
    assert handled(extensions, project) == []
    (row,) = extensions.listing(str(project))
    assert row.problem is not None and "outside of" in row.problem.reason


def test_trust_is_not_of_what_lies_above_or_below(
    tmp_path: Path, project: Path, extensions: Extensions
) -> None:
    inner = project / "vendor" / "lib"
    write(inner / PROJECT_FOLDER, "inner", handler(EVENT, "return None"))
    extensions.trust_project(project)
    assert handled(extensions, inner) == []
    found = extensions.project(str(inner))
    assert found is not None and (found.folder, found.trusted) == (inner, False)
    extensions.trust_project(tmp_path)
    assert handled(extensions, inner) == []


def test_another_window_sees_the_change(project: Path, extensions: Extensions) -> None:
    extensions.trust_project(project)
    assert handled(extensions, project) == ["own"]
    other = TrustStore(extensions.trust.path)
    assert other.folders() == [str(project)]
    assert other.untrust(project)
    os.utime(other.path, ns=(1, 1))
    assert handled(extensions, project) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"folders": [1]}', '{"folders": "x"}', "\ud800"])
def test_a_damaged_record_trusts_nobody_and_is_kept_aside(
    tmp_path: Path, project: Path, text: str
) -> None:
    path = tmp_path / "trust.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    store = TrustStore(path)
    assert not store.is_trusted(project)
    assert str(path) in store.problem
    store.trust(project)
    assert store.is_trusted(project) and store.problem == ""
    assert json.loads(path.read_text(encoding="utf-8"))["folders"] == [str(project)]
    kept = tmp_path / "trust.damaged.json"
    assert kept.read_bytes() == text.encode("utf-8", "surrogatepass")


def test_a_folder_that_is_gone_can_be_forgotten(tmp_path: Path, project: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    store.trust(project)
    project.rename(tmp_path / "moved")
    assert not store.is_trusted(project)
    assert store.untrust(project) and store.folders() == []


def test_only_folders_that_are_there_can_be_trusted(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    with pytest.raises(TrustError, match="No such file"):
        store.trust(tmp_path / "nowhere")
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(TrustError, match="is not a folder"):
        store.trust(file)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(TrustError):
        store.trust(loop)
    assert not store.path.exists()


@pytest.mark.parametrize(
    "cwd", ["", "relative/path", "C:\\work", "/no/such/folder", "\0", "x" * 5000]
)
def test_a_working_folder_that_is_not_here_has_no_project(cwd: str) -> None:
    assert project_of(cwd) is None
    assert project_of("/" + cwd) is None
