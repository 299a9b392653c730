"""The files below a folder that a project's own ignore files leave over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

MOST_FILES = 100_000
"""Files that one search looks at."""
_LARGEST_RULES = 1_000_000
_RULES = (".gitignore", ".ignore")


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one folder's files say of all below it."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, folder: bool) -> bool | None:
        """Whether to ignore a path below; None where these rules say nothing of it."""
        name = path[len(self.base) + 1 :]
        return self.spec.check_file(name + "/" if folder else name).include


class Walk:
    """Files below ``start``, folder by folder in the order of their names.

    ``start`` lies in ``root``, the outermost folder whose rules count. Links are not followed, so
    that a walk stays inside; ``.git`` and what ``.gitignore`` files
    name is left out, hidden files are not. ``cut`` tells afterwards that it ended at
    ``MOST_FILES``.
    """

    def __init__(
        self,
        root: Path,
        start: Path,
        stopped: Callable[[], bool] = lambda: False,
        most: int = MOST_FILES,
    ) -> None:
        self._root = root
        self._start = start
        self._stopped = stopped
        self._most = most
        self.cut = False

    def files(self) -> Iterator[Path]:
        """The files; of a start that is a file, that one, ignored or not."""
        if self._start.is_file():
            yield self._start
            return
        rules = self._above()
        if self._start != self._root and _ignored(str(self._start), True, rules):
            # Who names an ignored folder wants to see into it.
            rules = ()
        for seen, path in enumerate(self._below(self._start, rules)):
            if seen >= self._most:
                self.cut = True
                return
            yield path

    def _above(self) -> tuple[_Rules, ...]:
        """The rules of the folders from the workspace's own down to the start's parent."""
        root = self._root
        found: list[_Rules] = []
        if excluded := _rules(root, (".git/info/exclude",)):
            found.append(excluded)
        folder = root
        for step in self._start.relative_to(root).parts:
            if rules := _rules(folder, _RULES):
                found.append(rules)
            folder = folder / step
        return tuple(found)

    def _below(self, folder: Path, rules: tuple[_Rules, ...]) -> Iterator[Path]:
        waiting = [(folder, rules)]
        while waiting and not self._stopped():
            folder, rules = waiting.pop()
            if own := _rules(folder, _RULES):
                rules = (*rules, own)
            folders: list[Path] = []
            for item in _items(folder):
                is_folder = item.is_dir(follow_symlinks=False)
                if (
                    item.is_symlink()
                    or item.name == ".git"
                    or _ignored(item.path, is_folder, rules)
                ):
                    continue
                if is_folder:
                    folders.append(Path(item.path))
                elif item.is_file(follow_symlinks=False):
                    yield Path(item.path)
            waiting.extend((below, rules) for below in reversed(folders))


def _items(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return sorted(items, key=lambda item: item.name)
    except OSError:
        # A folder that went away or may not be listed holds nothing to be found.
        return []


def _ignored(path: str, folder: bool, rules: tuple[_Rules, ...]) -> bool:
    """What the innermost rules say that say anything."""
    for one in reversed(rules):
        verdict = one.verdict(path, folder)
        if verdict is not None:
            return verdict
    return False


def _rules(folder: Path, names: tuple[str, ...]) -> _Rules | None:
    lines: list[str] = []
    for name in names:
        path = folder / name
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_RULES:
                continue
            lines += path.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
    return _Rules(str(folder), GitIgnoreSpec.from_lines(_valid(lines))) if lines else None


def _valid(lines: list[str]) -> list[str]:
    """Lines that can be understood: one bad line does not take the others with it."""
    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        good.append(line)
    return good
