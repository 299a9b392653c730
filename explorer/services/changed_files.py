"""The files that a branch changed and that are still changed on this computer: what git knows of
them, and putting them back as they were committed.

Going to another place of the tree moves the conversation; what the agent wrote to the disk stays.
Every call of git has a time limit and no shell. Nothing that the repository's own settings name is
run: no hooks, no monitor, no differs; only its filters, without which a file is not what was
committed.
"""

from __future__ import annotations

import os
import subprocess
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from explorer.services.open_session import OpenedSession
from explorer.session.columns import OP_KINDS
from explorer.session.entries import AssistantMessage, Entry, ToolCallBlock
from explorer.session.text import legible
from explorer.session.text_difference import DifferenceLine, changed_lines
from explorer.session.tool_actions import ActionKind, ToolAction, joined, tool_actions

TIMEOUT_S = 15.0
"""Longest time for one call."""
MOST_DIFFERENCE = 400_000
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
    return found[:MOST_DIFFERENCE].decode(errors="replace")


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


MOST_FILES = 200
"""Files of a branch that are looked at, the last ones."""
MOST_BYTES = 4_000_000
"""Size of a file above which it is not read to see whether a change is still there."""
_READ, _DELETE = OP_KINDS.index("read"), OP_KINDS.index("delete")
_CHANGES = (ActionKind.EDIT, ActionKind.WRITE, ActionKind.DELETE)


class ChangedFile(Struct, frozen=True):
    """A file that a branch changed and that stands so on the disk."""

    path: str
    """As the calls name it."""
    place: Path
    folder: Path
    """The session's folder, on this computer."""
    entries: tuple[int, ...]
    """The replies whose calls changed it, in order."""
    is_gone: bool = False
    """The branch deleted it."""
    in_git: bool = False
    """The last commit has it, and it differs from it now."""

    @property
    def name(self) -> str:
        """Its path below the folder, else all of it, to be shown."""
        if self.place.is_relative_to(self.folder):
            return legible(self.place.relative_to(self.folder).as_posix())
        return legible(str(self.place))


def changed_files(
    session: OpenedSession, left_behind: Sequence[int], workspace: str = ""
) -> tuple[ChangedFile, ...]:
    """Files that calls of these entries changed and that still stand so, sorted by their names.

    Blocks: looks at the disk and asks git. ``workspace``: the folder that the agent works in here;
    what came from elsewhere was changed in the folder that the session names. Nothing where that
    folder is not on this computer; calls that failed or were never answered changed nothing.
    """
    ops = session.tree.columns.ops
    touched = list(_touched(session, left_behind, workspace).items())[-MOST_FILES:]
    found = []
    for (folder, spelled), rows in touched:
        entries = tuple(dict.fromkeys(ops.entry[row] for row in rows))
        gone = ops.kind[rows[-1]] == _DELETE
        path = ops.paths[ops.path[rows[-1]]]
        found.append(ChangedFile(path, Path(folder, spelled), Path(folder), entries, gone))
    known: dict[Path, bool] = {}
    for place in {one.folder for one in found}:
        # A link could lead out of the folder: such a file is not git's to put back.
        in_folder = [one.place for one in found if one.folder == place and _is_in_folder(one)]
        known |= known_files(place, in_folder)
    standing = [
        replace(one, in_git=known.get(one.place, False))
        for one in found
        if _stands(session, one, known.get(one.place) is False)
    ]
    return tuple(sorted(standing, key=lambda one: one.name))


def _touched(
    session: OpenedSession, left_behind: Sequence[int], workspace: str
) -> dict[tuple[str, str], list[int]]:
    """The rows of changes by folder and path, in the order of the last change."""
    ops, made_here = session.tree.columns.ops, session.writer.made_here
    recorded = session.header.cwd
    there: dict[str, bool] = {}
    found: dict[tuple[str, str], list[int]] = {}
    for entry in left_behind:
        first = bisect_left(ops.entry, entry)
        for row in range(first, bisect_left(ops.entry, entry + 1, first)):
            if ops.kind[row] == _READ or ops.failed[row] or ops.result[row] < 0:
                continue
            folder = (workspace or recorded) if made_here(entry) else recorded
            if folder not in there:
                there[folder] = Path(folder).is_absolute() and Path(folder).is_dir()
            if there[folder]:
                at = folder, joined(folder, ops.paths[ops.path[row]])
                found[at] = [*found.pop(at, ()), row]
    return found


def _stands(session: OpenedSession, one: ChangedFile, as_committed: bool) -> bool:
    """Whether the last change is still there, as far as that can be seen. ``as_committed``: the
    file is as the last commit has it."""
    try:
        if one.is_gone:
            return not one.place.exists()
        if not one.place.is_file():
            return False
        if one.place.stat().st_size > MOST_BYTES:
            return True
        now = one.place.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return False
    actions = list(_actions(session.payloads.stored.entry(one.entries[-1]), one.path))
    return not actions or not _is_undone(actions[-1], now, as_committed)


def _is_undone(last: ToolAction, now: str, as_committed: bool) -> bool:
    added, removed = (text.replace("\r\n", "\n") for text in (last.added, last.removed))
    if added and added in now:
        return False
    # A file whose last change is not in it may have been changed further, by whomever.
    return as_committed or (bool(removed) and removed in now)


def _is_in_folder(one: ChangedFile) -> bool:
    try:
        real = one.place.parent.resolve()
        return real.is_relative_to(one.folder.resolve()) and not one.place.is_symlink()
    except OSError:
        return False


# what was recorded -------------------------------------------------------------------------------


def recorded_change(session: OpenedSession, one: ChangedFile) -> tuple[DifferenceLine, ...]:
    """The changes of a file as the calls state them, one after the other; a file written as a whole
    shows what was written. Blocks: reads the entries."""
    lines: list[DifferenceLine] = []
    for entry in one.entries:
        for action in _actions(session.payloads.shown.entry(entry), one.path):
            if lines:
                lines.append(DifferenceLine("@", "…"))
            if action.kind is ActionKind.DELETE:
                lines.append(DifferenceLine("@", "The file was deleted."))
            else:
                lines += changed_lines(action.removed, action.added)
    return tuple(lines)


def _actions(entry: Entry, path: str) -> Iterator[ToolAction]:
    """The changes of one file by the calls of a reply."""
    wanted = joined("", path)
    blocks = entry.body.content if isinstance(entry.body, AssistantMessage) else ()
    for block in blocks:
        if isinstance(block, ToolCallBlock):
            for action in tool_actions(block.name, block.arguments):
                if action.kind in _CHANGES and action.path == wanted:
                    yield action
