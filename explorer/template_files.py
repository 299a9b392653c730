"""The person's own texts of ``prompts``: what is in force, and every version that was.

In ``config_dir()/prompts``, as plain Markdown that can be edited by hand::

    NAME.md                 the text in force
    unsaved.json            what was edited in the window and not saved
    history/NAME/0001.md    the first version; a comment at its top tells when, and why

A text without a file there is the one that came with the program.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from explorer import paths, private_files
from explorer.template_catalogue import LARGEST, TEMPLATES

Kind = Literal["saved", "by-hand", "reset"]
_COMMENT = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)
_HEADER = re.compile(
    r"\A<!-- version\ntime: (?P<time>[^\n]*)\nkind: (?P<kind>[^\n]*)\nnote: (?P<note>[^\n]*)\n-->\n"
)
_KINDS: Mapping[str, Kind] = {"saved": "saved", "by-hand": "by-hand", "reset": "reset"}
UNSAVED = "unsaved.json"
MOST_TRIES = 50


class TemplateError(Exception):
    """A text cannot be read, kept or taken away; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a text."""

    number: int
    """From 1, in the order in which they were kept."""
    time_ms: int
    """When, in milliseconds since 1970; 0 where the file does not say."""
    note: str
    text: str
    kind: Kind = "saved"
    """``by-hand``: found in the file when the next one was kept. ``reset``: the text that came
    with the program was taken again."""


def without_comment(text: str) -> str:
    """A text as it is sent: without the comment that may open it and without blank lines around
    it."""
    return _COMMENT.sub("", text.replace("\r\n", "\n")).strip("\n")


class TemplateFiles:
    """The texts of one folder. Small files, read and written at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or paths.config_dir() / "prompts"

    def path(self, name: str) -> Path:
        """The file of the text in force. Raises TemplateError for a name that no text has."""
        if name not in TEMPLATES:
            raise TemplateError(f"there is no prompt {name!r}")
        return self.folder / f"{name}.md"

    def stamp(self, name: str) -> tuple[int, int] | None:
        """What changes with the file: its time and size; None where there is none."""
        try:
            found = os.stat(f"{self.folder}/{name}.md")
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def stamps(self) -> dict[str, tuple[int, int]]:
        """The stamps of all texts that have a file."""
        found = {name: self.stamp(name) for name in TEMPLATES}
        return {name: stamp for name, stamp in found.items() if stamp is not None}

    def read(self, name: str) -> str | None:
        """The person's own text; None where there is no file. Raises TemplateError."""
        path = self.path(name)
        try:
            if path.stat().st_size > 4 * LARGEST:
                raise TemplateError(f"{path}: larger than {LARGEST // 1024} KB: not a prompt")
            return without_comment(path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise TemplateError(f"{path}: not UTF-8: byte {error.start}") from error
        except OSError as error:
            raise TemplateError(f"{path}: {error.strerror or error}") from error

    # what is not saved ---------------------------------------------------------------------------

    def unsaved(self) -> dict[str, str]:
        """Texts by name that were edited and not saved; none where the file cannot be read."""
        try:
            data = json.loads((self.folder / UNSAVED).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        found = data.items() if isinstance(data, dict) else ()
        return {n: text for n, text in found if n in TEMPLATES and isinstance(text, str)}

    def keep_unsaved(self, texts: Mapping[str, str]) -> None:
        """Keep texts that were edited and not saved. Raises TemplateError."""
        path = self.folder / UNSAVED
        if texts:
            self._write(path, json.dumps(dict(texts), indent=1) + "\n")
            return
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise TemplateError(f"{path}: {error.strerror or error}") from error

    # versions ------------------------------------------------------------------------------------

    def history(self, name: str) -> tuple[Version, ...]:
        """All versions that were kept, the oldest first; files that cannot be read are left out.
        Raises TemplateError for a name that no text has."""
        folder = self._history(name)
        found = []
        for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
            if not path.stem.isdigit():
                continue
            try:
                raw = path.read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            found.append(_version(int(path.stem), raw))
        return tuple(found)

    def save(self, name: str, text: str, note: str, time_ms: int) -> Version:
        """Put a text in force and keep it as a version. A text that was edited by hand since is
        kept as a version first. Raises TemplateError; what was in force stays so then."""
        self._keep_by_hand(name, time_ms)
        version = self._add(name, without_comment(text), note, "saved", time_ms)
        self._write(self.path(name), version.text + "\n")
        return version

    def reset(self, name: str, shipped: str, note: str, time_ms: int) -> Version | None:
        """Take the text that came with the program again; None where it is in force already. The
        versions stay. Raises TemplateError."""
        if self.stamp(name) is None:
            return None
        self._keep_by_hand(name, time_ms)
        version = self._add(name, shipped, note, "reset", time_ms)
        path = self.path(name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise TemplateError(f"{path}: {error.strerror or error}") from error
        return version

    def _keep_by_hand(self, name: str, time_ms: int) -> None:
        try:
            now = self.read(name)
        except TemplateError:
            return  # what cannot be read cannot be kept; its file is replaced
        history = self.history(name)
        if now is not None and (not history or history[-1].text != now):
            self._add(name, now, "Edited outside the window", "by-hand", time_ms)

    def _history(self, name: str) -> Path:
        self.path(name)
        return self.folder / "history" / name

    def _add(self, name: str, text: str, note: str, kind: Kind, time_ms: int) -> Version:
        folder = self._history(name)
        one_line = " ".join(note.split()).replace("-->", "→")
        when = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
        raw = f"<!-- version\ntime: {when}\nkind: {kind}\nnote: {one_line}\n-->\n{text}\n"
        try:
            paths.ensure(folder)
            taken = [int(path.stem) for path in folder.glob("*.md") if path.stem.isdigit()]
            number = max(taken, default=0) + 1
            for _ in range(MOST_TRIES):
                try:
                    # Of two windows only one can have the number.
                    with private_files.create(folder / f"{number:04}.md") as file:
                        file.write(raw.encode("utf-8", "surrogatepass"))
                except FileExistsError:
                    number += 1
                else:
                    return Version(number, time_ms, one_line, text, kind)
        except OSError as error:
            raise TemplateError(f"{folder}: {error.strerror or error}") from error
        raise TemplateError(f"{folder}: versions are kept from elsewhere at the same time")

    @staticmethod
    def _write(path: Path, text: str) -> None:
        """Write a file whole or not at all. Raises TemplateError."""
        try:
            paths.ensure(path.parent)
            private_files.write(path, text.encode("utf-8"))
        except (OSError, UnicodeEncodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "half a character in it"
            raise TemplateError(f"{path}: {reason or error}") from error


def _version(number: int, raw: str) -> Version:
    found = _HEADER.match(raw)
    if found is None:
        return Version(number, 0, "", without_comment(raw))
    try:
        time_ms = round(datetime.fromisoformat(found["time"]).timestamp() * 1000)
    except ValueError:
        time_ms = 0
    kind = _KINDS.get(found["kind"], "saved")
    return Version(number, time_ms, found["note"], raw[found.end() :].strip("\n"), kind)
