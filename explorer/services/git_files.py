"""What git knows of a few files of a work tree, and putting them back as they were committed.

Every call has a time limit and no shell. Nothing that the repository's own settings name is run: no
hooks, no monitor, no differs; only its filters, without which a file is not what was committed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

TIMEOUT_S = 15.0
"""Longest time for one call."""
MOST_BYTES = 400_000
"""Most of a difference that is given."""
_SAFE = (
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
    "-c", "safe.bareRepository=explicit", "-c", "core.quotePath=false", "--literal-pathspecs",
)  # fmt: skip


class GitError(Exception):
    """git is not there, took too long, or refused; its message says which."""


def _git(folder: Path, *arguments: str) -> bytes:
    """The output of one call in a folder. Raises GitError."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = inherited | {
        "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
    }  # fmt: skip
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git did not answer within {TIMEOUT_S:.0f} seconds") from error
    except (OSError, ValueError) as error:
        raise GitError(f"git cannot be run: {error}") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(words[0] if words else f"git ended with {done.returncode}")
    return done.stdout


def known_files(folder: Path, paths: Sequence[Path]) -> dict[Path, bool]:
    """Those of the files below ``folder`` that git has, each with whether the last commit has it
    and it differs from that now; empty where the folder is no work tree, git is missing, or nothing
    was committed yet."""
    names = [path.relative_to(folder).as_posix() for path in paths if path.is_relative_to(folder)]
    if not names:
        return {}
    try:
        has = _git(folder, "ls-files", "-z", "--", *names)
        differs = _git(
            folder, "diff", "--no-ext-diff", "--no-textconv", "--relative", "--name-only", "-z",
            "--diff-filter=MDT", "HEAD", "--", *names,
        )  # fmt: skip
    except GitError:
        return {}
    changed = _paths(folder, differs)
    return {path: path in changed for path in _paths(folder, has) | changed}


def _paths(folder: Path, listed: bytes) -> set[Path]:
    return {folder / os.fsdecode(name) for name in listed.split(b"\0") if name}


def difference(folder: Path, path: Path) -> str:
    """What differs in a file since the last commit, as a unified diff. Raises GitError."""
    found = _git(
        folder, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD", "--",
        path.relative_to(folder).as_posix(),
    )  # fmt: skip
    return found[:MOST_BYTES].decode(errors="replace")


def restore(folder: Path, paths: Sequence[Path]) -> dict[Path, str]:
    """Put files back as they were committed last; what is staged stays so. Raises GitError, and
    then nothing was restored.

    Returns the files with the id under which the repository has what stood in them, which
    ``git cat-file -p`` prints until git tidies up; empty for a file that was gone.
    """
    names = [path.relative_to(folder).as_posix() for path in paths]
    replaced = {}
    for path, name in zip(paths, names, strict=True):
        stood = path.is_file() and not path.is_symlink()
        written = _git(folder, "hash-object", "-w", "--no-filters", "--", name) if stood else b""
        replaced[path] = written.decode().strip()
    _git(folder, "restore", "--source=HEAD", "--worktree", "--", *names)
    return replaced
