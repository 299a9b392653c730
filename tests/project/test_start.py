"""Starting the program as a person does, in a process of its own."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys

import pytest

from explorer.settings.paths import resource_path

SAMPLE = resource_path("samples", "retry-that-flakes.jsonl")

needs_window = pytest.mark.skipif(
    bool(os.environ.get("EXPLORER_TESTS_WITHOUT_QT")), reason="this run is meant to have no Qt"
)


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """The window registers itself in the metadata of the installed project."""
    try:
        importlib.metadata.version("session-explorer")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the project is not installed here, only its dependencies")


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    kept = {name: value for name, value in os.environ.items() if name not in screens}
    return subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        env={**kept, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_tells_its_version() -> None:
    run = start("--version")
    assert run.returncode == 0
    assert importlib.metadata.version("session-explorer") in run.stdout


def test_help_names_every_command() -> None:
    run = start("--help")
    assert run.returncode == 0
    for command in ("open", "import", "list", "search", "export", "tree", "context", "compact"):
        assert command in run.stdout


@needs_window
@pytest.mark.parametrize("arguments", [(), ("open",), ("open", "--sample"), (str(SAMPLE),)])
def test_without_a_display_it_says_so_in_one_sentence(arguments: tuple[str, ...]) -> None:
    run = start(*arguments)
    assert run.returncode == 1
    (line,) = run.stderr.strip().splitlines()
    assert "DISPLAY" in line
    for command in ("import", "list", "context", "compact"):
        assert command in line


@needs_window
def test_the_window_opens_paints_and_closes_on_the_bundled_session() -> None:
    run = start("open", "--sample", "--smoke", QT_QPA_PLATFORM="offscreen")
    assert run.returncode == 0, run.stderr[-2000:]
    assert "Traceback" not in run.stderr, run.stderr[-2000:]


@needs_window
def test_the_window_opens_on_an_empty_database() -> None:
    run = start("open", "--smoke", QT_QPA_PLATFORM="offscreen")
    assert run.returncode == 0, run.stderr[-2000:]
    assert "Traceback" not in run.stderr, run.stderr[-2000:]
