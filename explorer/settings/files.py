"""One settings file: what is set in it, what is wrong with it, and how it is changed.

A file is JSON, and comments and trailing commas are fine. A value that does not fit is reported
with file, line, name and reason, and the last one that did holds on; a file that cannot be read as
a whole leaves everything as it was. Changes touch one setting and keep the rest of the file.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from explorer import private_files
from explorer.private_files import FileLock
from explorer.settings import paths
from explorer.settings.jsonc import JsonError, JsonNode, leaves, line_of, read, with_value, without
from explorer.settings.keys import KEYS, NAMES, shown, tidy

SettingsLevel = Literal["global", "project"]
LARGEST = 1_000_000
"""Bytes; a settings file of more is none."""
SCHEMA_NAME = "$schema"
SETTLED_NS = 50_000_000
"""Nanoseconds after which a file that is changed again has another time of change."""
LOCK_WAIT_S = 2.0
"""How long is waited for another program of ours that writes the same file."""
_ATTEMPTS = 5
_BOM = b"\xef\xbb\xbf"


class SettingsError(Exception):
    """A setting cannot be changed; says what, where and why. Nothing was written."""


class SettingsProblem(Struct, frozen=True):
    """Something in a file that does not hold."""

    file: Path
    line: int
    """Counted from 1; 0 where no line is to blame."""
    key: str
    """Empty where the whole file is meant."""
    reason: str
    column: int = 0
    level: SettingsLevel = "global"
    unknown: bool = False
    """Not a setting of this version: kept, and without effect."""

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else str(self.file)
        if self.column:
            where += f", column {self.column}"
        return f"{where}: {self.key}: {self.reason}" if self.key else f"{where}: {self.reason}"


class FileState(Struct, frozen=True):
    """What was read of a file. ``values`` are those that hold, by name."""

    stamp: tuple[int, ...] | None = None
    """What the system says of the file as it was read; None for no file."""
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[SettingsProblem, ...] = ()
    settled: bool = True
    """False right after a change: another within the same tick of the clock would look the same."""

    def is_stale(self, path: Path) -> bool:
        """Whether the file may hold something else by now."""
        return not self.settled or stamp_of(path) != self.stamp


def stamp_of(path: Path) -> tuple[int, ...] | None:
    """Tells one version of a file from the next, also where it was replaced by another file."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return (-1, error.errno or 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev)


def load(path: Path, level: SettingsLevel, before: FileState, trusted: bool = True) -> FileState:
    """Read a file. ``before``: the values of it in force until now.

    Without trust, settings that decide where text goes are left out, and reported.
    """
    stamp = stamp_of(path)
    if stamp is None:
        return FileState()
    settled = stamp[0] < time.time_ns() - SETTLED_NS
    if not trusted:
        allowed = {n: value for n, value in before.values.items() if KEYS[n].set_by == "anyone"}
        before = replace(before, values=allowed)
    try:
        text = _decoded(_bytes(path))
        root = read(text)
    except JsonError as error:
        kept = _what_holds(bool(before.values))
        problem = SettingsProblem(
            path, error.line, "", f"{error.reason}. {kept}", error.column, level
        )
        return FileState(stamp, before.values, before.lines, (problem,), settled)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        problem = SettingsProblem(
            path, 0, "", f"{reason}. {_what_holds(bool(before.values))}", 0, level
        )
        return FileState(stamp, before.values, before.lines, (problem,), settled)
    if root.members is None:
        reason = f"expected an object of settings. {_what_holds(bool(before.values))}"
        problem = SettingsProblem(path, line_of(text, root.start), "", reason, 0, level)
        return FileState(stamp, before.values, before.lines, (problem,), settled)
    return _Reading(path, level, trusted, before, text).take(root, stamp, settled)


class _Reading:
    """Goes through the members of a file and sorts what holds from what does not."""

    def __init__(
        self, path: Path, level: SettingsLevel, trusted: bool, before: FileState, text: str
    ) -> None:
        self._path = path
        self._level = level
        self._trusted = trusted
        self._before = before
        self._text = text
        self._values: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        self._problems: list[SettingsProblem] = []

    def take(self, root: JsonNode, stamp: tuple[int, ...], settled: bool) -> FileState:
        for leaf in leaves(root, NAMES):
            if leaf.name != SCHEMA_NAME:
                line = line_of(self._text, leaf.member.start)
                self._take(leaf.name, leaf.member.value.value, line)
        return FileState(stamp, self._values, self._lines, tuple(self._problems), settled)

    def _take(self, name: str, value: Any, line: int) -> None:
        reason = _wrong(name, value, self._level, self._trusted)
        if not reason:
            if name in self._lines and self._problem_free(name):
                self._add_problem(
                    name, line, f"set twice: this holds, line {self._lines[name]} does not"
                )
            self._values[name] = tidy(KEYS[name].kind, value)
            self._lines[name] = line
            return
        if name in KEYS and not refused(name, self._level, self._trusted):
            if name in self._values:
                reason += f"; {shown(self._values[name])} on line {self._lines[name]} holds"
            elif name in self._before.values:
                self._values[name] = self._before.values[name]
                self._lines[name] = line
                reason += f"; {shown(self._values[name])} stays, as it was before"
        self._add_problem(name, line, reason, name not in KEYS)

    def _problem_free(self, name: str) -> bool:
        return all(problem.key != name for problem in self._problems)

    def _add_problem(self, name: str, line: int, reason: str, unknown: bool = False) -> None:
        self._problems.append(
            SettingsProblem(self._path, line, name, reason, 0, self._level, unknown)
        )


def _wrong(name: str, value: Any, level: SettingsLevel, trusted: bool) -> str:
    """Why a member has no effect; empty when it has one."""
    key = KEYS.get(name)
    if key is None:
        begins = f"{name}."
        if any(known.startswith(begins) for known in KEYS):
            return f"expected an object of settings, not {shown(value)}"
        return "no such setting; it is kept, and does nothing"
    if reason := refused(name, level, trusted):
        return f"{reason}; it does nothing"
    return key.kind.problem(value)


def refused(name: str, level: SettingsLevel, trusted: bool) -> str:
    """Why a level may not set a setting, as a clause; empty when it may."""
    set_by = KEYS[name].set_by
    if level == "global" or set_by == "anyone" or (set_by == "trusted" and trusted):
        return ""
    if set_by == "person":
        return "it is for the whole program, and no project sets it"
    return "only a trusted project sets this, as it decides where text goes"


def _what_holds(any_before: bool) -> str:
    return "What was set before stays." if any_before else "Nothing of it holds."


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a plain file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"larger than {LARGEST:,} bytes, which no settings file is")
    return data


def _decoded(data: bytes) -> str:
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise JsonError("Not UTF-8", line, 1) from error


# changing -----------------------------------------------------------------------------------------


def set_value(path: Path, name: str, value: Any, private: bool = True) -> None:
    """Set one setting in a file, which is made where there is none. Raises SettingsError.

    ``private``: a file that is made is for its owner's eyes alone.
    """
    key = KEYS.get(name)
    if key is None:
        raise SettingsError(f"There is no setting {name!r}.")
    if reason := key.kind.problem(value):
        raise SettingsError(f"{name}: {reason}.")
    flat = name.startswith("chat.")
    _change(path, lambda text: with_value(text, name, value, NAMES, flat), private)


def remove_value(path: Path, name: str) -> None:
    """Take one setting out of a file. Raises SettingsError."""
    if name not in KEYS:
        raise SettingsError(f"There is no setting {name!r}.")
    if path.exists():
        _change(path, lambda text: without(text, name, NAMES))


def _change(path: Path, edit: Callable[[str], str], private: bool = True) -> None:
    """Change the text of a file and write it whole; again where someone wrote it meanwhile."""
    real = path.resolve() if path.is_symlink() else path
    try:
        if private:
            paths.ensure(real.parent)
        else:
            real.parent.mkdir(parents=True, exist_ok=True)
        with _alone(real):
            for _ in range(_ATTEMPTS):
                stamp = stamp_of(real)
                data = b"" if stamp is None else _bytes(real)
                text = edit(_decoded(data))
                bom = _BOM if data.startswith(_BOM) else b""
                written = bom + text.encode("utf-8")
                if written == data or _write(real, written, stamp, private):
                    return
    except JsonError as error:
        where = f"{path}, line {error.line}, column {error.column}"
        raise SettingsError(
            f"{where}: {error.reason}. Correct that first; nothing was written."
        ) from error
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise SettingsError(f"{path}: {reason}. Nothing was written.") from error
    raise SettingsError(f"{path}: another program keeps writing it. Nothing was written.")


class _Overtaken(Exception):
    """Somebody else wrote the file meanwhile."""


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other windows and commands of ours from writing a file meanwhile. Editors know nothing
    of this; what they write is noticed by the file's stamp."""
    end = time.monotonic() + LOCK_WAIT_S
    while (lock := FileLock.take(path.with_name(f".{path.name}.lock"))) is None:
        if time.monotonic() > end:
            raise ValueError("another window or command is writing it")
        time.sleep(0.005)
    try:
        yield
    finally:
        lock.release()


def _write(path: Path, data: bytes, seen: tuple[int, ...] | None, private: bool) -> bool:
    """Replace a file as a whole; False when it is not the one that was read any more."""
    mode = private_files.PRIVATE if private or seen is not None else 0o666
    try:
        with private_files.replacement(path, keeps_mode=True, mode=mode) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if stamp_of(path) != seen:
                raise _Overtaken
    except _Overtaken:
        return False
    return True
