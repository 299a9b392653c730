"""The README's two commands: they exist, they are what is run, and they explain their failures.

The failures are brought about with the real scripts in a copy of the clone, on a PATH that holds
only what the case calls for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.sources import ROOT

SETUP = ROOT / "resources" / "setup"
TOOLS = ("sh", "env", "uname", "cksum", "cat", "dirname", "id", "find", "head", "sleep")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the setup scripts are for POSIX shells")


def readme_command(heading: str) -> str:
    """The one command in the first code block below `heading`."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    block = re.search(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert block is not None, f"no command below {heading}"
    (line,) = block[1].strip().splitlines()
    return line


@pytest.mark.parametrize(("heading", "script"), [("Start", "run.sh"), ("Test", "test.sh")])
def test_the_readme_names_a_script_that_is_there(heading: str, script: str) -> None:
    assert readme_command(heading) == f"sh resources/setup/{script}"
    assert (SETUP / script).is_file()


def test_ci_runs_the_command_of_the_readme() -> None:
    ci = ROOT / ".ci" / "run"
    assert os.access(ci, os.X_OK)
    text = ci.read_text(encoding="utf-8")
    assert "README.md" in text and "## Test" in text
    assert "set -euo pipefail" in text


@pytest.mark.parametrize("script", ["run.sh", "test.sh", "common.sh"])
def test_the_scripts_are_valid_posix_shell(script: str) -> None:
    shell = shutil.which("dash") or shutil.which("sh")
    assert shell is not None
    run = subprocess.run([shell, "-n", str(SETUP / script)], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


class Machine:
    """A copy of the clone and a PATH of its own."""

    def __init__(self, directory: Path) -> None:
        self.clone = directory / "clone"
        self.bin = directory / "bin"
        self.bin.mkdir()
        shutil.copytree(SETUP, self.clone / "resources" / "setup")
        shutil.copy(ROOT / "pyproject.toml", self.clone)
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found is not None, tool
            (self.bin / tool).symlink_to(found)

    def command(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(self.clone / "resources" / "setup" / script)],
            env={"PATH": str(self.bin), "HOME": str(self.clone), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def old_python(machine: Machine) -> None:
    machine.command("python3", 'case "$1" in --version) echo "Python 3.9.2" ;; *) exit 1 ;; esac')


def root_command(machine: Machine) -> None:
    (machine.bin / "id").unlink()
    machine.command("id", "echo 0")


def test_a_python_that_does_not_fit_is_named_with_a_way_out(machine: Machine) -> None:
    old_python(machine)
    root_command(machine)
    machine.command("apt-get", "exit 0")
    machine.command("apt-cache", "exit 100")
    run = machine.run("run.sh")
    assert run.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13, this system has Python 3.9.2" in run.stderr
    assert "SESSION_EXPLORER_PYTHON=" in run.stderr


def test_a_fitting_python_is_installed_where_the_system_offers_one(machine: Machine) -> None:
    old_python(machine)
    root_command(machine)
    log = machine.clone / "apt.txt"
    machine.command("apt-get", f'echo "$@" >>{log}')
    machine.command("apt-cache", '[ "$2" = python3.12 ]')
    machine.run("run.sh")
    assert re.search(r"install .* python3\.12 python3\.12-venv$", log.read_text(), re.MULTILINE)


def test_a_python_that_was_asked_for_and_does_not_fit_is_refused(machine: Machine) -> None:
    old_python(machine)
    run = machine.run("run.sh", SESSION_EXPLORER_PYTHON=str(machine.bin / "python3"))
    assert run.returncode == 1
    assert "is not a Python 3.11, 3.12 or 3.13" in run.stderr


def test_without_apt_the_needed_package_is_named(machine: Machine) -> None:
    old_python(machine)
    run = machine.run("run.sh")
    assert run.returncode == 1
    assert "no apt-get on this system" in run.stderr
    assert "Python 3.11, 3.12 or 3.13" in run.stderr


def test_a_debian_without_venv_gets_it(machine: Machine) -> None:
    """Debian's python3 lacks ensurepip until python3-venv is installed."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    machine.command(
        "python3",
        f'case "$*" in *ensurepip*) exit 1 ;; *" venv "*) exit 1 ;; '
        f'*) exec {sys.executable} "$@" ;; esac',
    )
    root_command(machine)
    log = machine.clone / "apt.txt"
    machine.command("apt-get", f'echo "$@" >>{log}')
    run = machine.run("run.sh")
    assert f"{version}-venv" in log.read_text()
    assert "venv" in run.stderr and run.returncode == 1


def test_package_lists_that_cannot_be_read_are_said_to_be_the_reason(machine: Machine) -> None:
    old_python(machine)
    root_command(machine)
    machine.command("apt-get", "echo 'Temporary failure resolving' >&2; exit 100")
    run = machine.run("run.sh")
    assert run.returncode == 1
    assert "Temporary failure resolving" in run.stderr
    assert "is the network reachable?" in run.stderr


def test_who_is_not_root_and_has_no_sudo_is_told_the_command(machine: Machine) -> None:
    old_python(machine)
    (machine.bin / "id").unlink()
    machine.command("id", "echo 1000")
    machine.command("apt-get", "exit 0")
    run = machine.run("run.sh")
    assert run.returncode == 1
    assert "this needs root, and sudo is not here" in run.stderr
    assert "apt-get" in run.stderr


def test_python_packages_that_cannot_be_installed_stop_it_with_a_reason(machine: Machine) -> None:
    """A real pip against an index that nothing answers."""
    (machine.bin / "python3").symlink_to(sys.executable)
    run = machine.run(
        "run.sh",
        SESSION_EXPLORER_PYTHON=sys.executable,
        PIP_NO_INDEX="1",
        PIP_CONFIG_FILE="/dev/null",
        PIP_RETRIES="0",
    )
    assert run.returncode == 1
    assert "the Python packages could not be installed" in run.stderr
    assert "run this again" in run.stderr
    assert not (machine.clone / ".venv" / "installed-from").exists()


def test_a_broken_environment_is_made_again(machine: Machine) -> None:
    """What an interrupted first run leaves behind must not stop the second."""
    broken = machine.clone / ".venv" / "bin"
    broken.mkdir(parents=True)
    (broken / "python").write_text("#!/bin/sh\nexit 1\n")
    (broken / "python").chmod(0o755)
    run = machine.run(
        "run.sh",
        SESSION_EXPLORER_PYTHON=sys.executable,
        PIP_NO_INDEX="1",
        PIP_CONFIG_FILE="/dev/null",
    )
    assert "making .venv with Python" in run.stderr
    version = subprocess.run([str(broken / "python"), "--version"], capture_output=True, text=True)
    assert version.stdout.startswith("Python 3.")
