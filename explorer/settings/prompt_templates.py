"""The prompt templates sent to models: which text is in force, its versions, its problems.

Templates that came with the program are the files of ``prompts``. A user's texts lie in
``config_dir()/prompts``, as plain Markdown that can be edited by hand::

    NAME.md                 the text in force
    unsaved.json            what was edited in the window and not saved
    history/NAME/0001.md    the first version; a comment at its top gives time, kind and note

A user's text that cannot be used is never sent: the shipped one takes its place, and
``template_problems`` says so.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from msgspec import Struct

from explorer import private_files
from explorer.compaction.summary import SECTION_SETS
from explorer.compaction.templates import SectionTemplates, Templates
from explorer.session.text_difference import DifferenceLine, changed_lines
from explorer.settings import paths
from explorer.settings.template_catalogue import (
    LARGEST,
    TEMPLATES,
    TemplateInfo,
    TemplateProblem,
    check_template,
)

Overrides = Mapping[str, str]
"""Texts by template name that take precedence over the user's, to try them out."""
Stamp = tuple[int, int]
"""Modification time in nanoseconds and size in bytes of a template's file."""
VersionKind = Literal["saved", "by-hand", "reset"]
SHIPPED = 0
"""The number of the version that came with the program."""
_KINDS: Mapping[str, VersionKind] = {"saved": "saved", "by-hand": "by-hand", "reset": "reset"}
_COMMENT = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)
_HEADER = re.compile(
    r"\A<!-- version\ntime: (?P<time>[^\n]*)\nkind: (?P<kind>[^\n]*)\nnote: (?P<note>[^\n]*)\n-->\n"
)
_UNSAVED = "unsaved.json"
_MAX_TRIES = 50
"""How often a free version number is looked for while other processes take them."""


class TemplateError(Exception):
    """A template cannot be read, stored or removed; the message says which and why."""


# the text in force -------------------------------------------------------------------------------


@lru_cache(maxsize=128)
def shipped_prompt(name: str) -> str:
    """The text of ``prompts/NAME.md`` without its leading comment.

    Raises FileNotFoundError when there is no such prompt.
    """
    return _without_comment((files("prompts") / f"{name}.md").read_text("utf-8"))


def load_prompt(name: str, overrides: Overrides | None = None) -> str:
    """The text in force under a name: the user's where it can be used, else the shipped one.

    Raises FileNotFoundError when there is no such prompt.
    """
    if overrides and name in overrides:
        return _without_comment(overrides[name])
    text, problem = _user_prompt(name)
    return shipped_prompt(name) if text is None or problem else text


def load_templates(overrides: Overrides | None = None) -> Templates:
    """All templates of summaries. Raises FileNotFoundError naming a prompt that is missing."""
    texts = {
        name: load_prompt(_file_name(name), overrides)
        for name in Templates.__struct_fields__
        if name != "sections"
    }
    sections = {name: _section_templates(name, overrides) for name in SECTION_SETS}
    return Templates(sections=sections, **texts)


def load_provenance(profile: str) -> str:
    """What a shipped profile stands for and where its numbers come from, as Markdown.

    Raises FileNotFoundError when there is no such profile.
    """
    return shipped_prompt(f"profiles/{profile}")


def template_problems() -> dict[str, str]:
    """User texts that are not used: the reason, a sentence, by template name."""
    texts = {name: _user_prompt(name)[1] for name in TEMPLATES}
    return {name: problem for name, problem in texts.items() if problem}


def changed_prompts() -> frozenset[str]:
    """The names of the templates whose text in force is not the shipped one."""
    return frozenset(name for name in file_stamps() if load_prompt(name) != shipped_prompt(name))


def _section_templates(name: str, overrides: Overrides | None) -> SectionTemplates:
    """The texts of a section set; where it has none, those of ``explorer``."""
    texts = {}
    for field in SectionTemplates.__struct_fields__:
        specific = f"{name}-{_file_name(field)}"
        is_there = (files("prompts") / f"{specific}.md").is_file()
        texts[field] = load_prompt(specific if is_there else _file_name(field), overrides)
    return SectionTemplates(**texts)


def _file_name(field: str) -> str:
    return field.replace("_", "-")


def _user_prompt(name: str) -> tuple[str | None, str]:
    """The user's text (None for none) and why it cannot be used (empty when it can)."""
    if name not in TEMPLATES or file_stamp(name) is None:
        return None, ""
    try:
        text = read_user_prompt(name)
    except TemplateError as error:
        return "", str(error)
    if text is None:
        return None, ""
    broken = [one.message for one in check_template(name, text) if one.breaks]
    return text, f"{user_prompt_path(name)}: {broken[0]}" if broken else ""


# the user's files --------------------------------------------------------------------------------


def user_prompts_dir() -> Path:
    """The folder of the user texts; it need not exist."""
    return paths.config_dir() / "prompts"


def user_prompt_path(name: str) -> Path:
    """The file of the user's text. Raises TemplateError for an unknown template name."""
    if name not in TEMPLATES:
        raise TemplateError(f"there is no prompt {name!r}")
    return user_prompts_dir() / f"{name}.md"


def file_stamp(name: str) -> Stamp | None:
    """What changes with the user's file; None where there is none."""
    try:
        status = os.stat(f"{user_prompts_dir()}/{name}.md")
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def file_stamps() -> dict[str, Stamp]:
    """The stamps of all user texts, by template name."""
    if not user_prompts_dir().is_dir():
        return {}
    stamps = {name: file_stamp(name) for name in TEMPLATES}
    return {name: stamp for name, stamp in stamps.items() if stamp is not None}


def read_user_prompt(name: str) -> str | None:
    """The user's text as it stands in its file, usable or not; None without a file.

    Raises TemplateError.
    """
    path = user_prompt_path(name)
    try:
        if path.stat().st_size > 4 * LARGEST:
            raise TemplateError(f"{path}: larger than {LARGEST // 1024} KB: not a prompt")
        return _without_comment(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path}: not UTF-8: byte {error.start}") from error
    except OSError as error:
        raise TemplateError(f"{path}: {error.strerror or error}") from error


def _without_comment(text: str) -> str:
    """A text as it is sent: without a leading comment and without blank lines around it."""
    return _COMMENT.sub("", text.replace("\r\n", "\n")).strip("\n")


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises TemplateError."""
    try:
        paths.ensure(path.parent)
        private_files.write(path, text.encode("utf-8"))
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "half a character in it"
        raise TemplateError(f"{path}: {reason or error}") from error


def _remove(path: Path) -> None:
    """Delete a file that need not exist. Raises TemplateError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise TemplateError(f"{path}: {error.strerror or error}") from error


# versions ----------------------------------------------------------------------------------------


class Version(Struct, frozen=True):
    """One version of a template's text."""

    number: int
    """From 1, in the order in which they were stored; ``SHIPPED`` for the shipped text."""
    time_ms: int
    """Milliseconds since 1970; 0 where the file does not say."""
    note: str
    text: str
    kind: VersionKind = "saved"
    """``by-hand``: found in the file when the next version was stored. ``reset``: the shipped text
    was put in force again."""


class TemplateState(Struct, frozen=True):
    """One template as it stands now."""

    info: TemplateInfo
    changed: bool
    """Whether the text in force is not the shipped one."""
    problem: str = ""
    """Why the user's text is not sent, a sentence; empty when it is."""


class PromptTemplates:
    """The templates with their versions, as the window and the commands change them.

    Files are small and read at once. ``on_change`` gets the names of the templates whose files
    changed.
    """

    def __init__(
        self,
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        on_change: Callable[[frozenset[str]], None] = lambda _names: None,
    ) -> None:
        self._clock_ms = clock_ms
        self._on_change = on_change
        self._stamps = file_stamps()

    def states(self) -> tuple[TemplateState, ...]:
        """Every template, in the order of the catalogue."""
        changed, problems = changed_prompts(), template_problems()
        return tuple(
            TemplateState(info, name in changed, problems.get(name, ""))
            for name, info in TEMPLATES.items()
        )

    def info(self, name: str) -> TemplateInfo:
        """What a template is for. Raises TemplateError for an unknown name."""
        if name not in TEMPLATES:
            raise TemplateError(f"there is no prompt {name!r}; there are: {', '.join(TEMPLATES)}")
        return TEMPLATES[name]

    def text(self, name: str) -> str:
        """The text in force. Raises TemplateError."""
        return load_prompt(self.info(name).name)

    def user_text(self, name: str) -> str | None:
        """The user's text, usable or not; None where there is none. Raises TemplateError."""
        return read_user_prompt(self.info(name).name)

    def shipped(self, name: str) -> str:
        """The text that came with the program. Raises TemplateError."""
        return shipped_prompt(self.info(name).name)

    def check(self, name: str, text: str) -> tuple[TemplateProblem, ...]:
        """What is wrong with a text under a name. Raises TemplateError."""
        return check_template(self.info(name).name, _without_comment(text))

    def history(self, name: str) -> tuple[Version, ...]:
        """The shipped version, then all that were stored, the oldest first.

        Files that cannot be read are left out. Raises TemplateError.
        """
        found = [Version(SHIPPED, 0, "Came with the program", self.shipped(name))]
        folder = self._history_dir(name)
        for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
            if not path.stem.isdigit():
                continue
            try:
                raw = path.read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            found.append(_parse_version(int(path.stem), raw))
        return tuple(found)

    def version(self, name: str, number: int) -> Version:
        """One version; ``SHIPPED`` is the shipped one. Raises TemplateError."""
        version = next((one for one in self.history(name) if one.number == number), None)
        if version is None:
            raise TemplateError(f"{name} has no version {number}")
        return version

    def difference(self, name: str, one: int, other: int) -> tuple[DifferenceLine, ...]:
        """The lines in which two versions differ, with some around them. Raises TemplateError."""
        return changed_lines(self.version(name, one).text, self.version(name, other).text)

    # changes -------------------------------------------------------------------------------------

    def save(self, name: str, text: str, note: str = "") -> Version:
        """Put a text in force and store it as a version.

        A text that was edited by hand since is stored as a version first. Raises TemplateError,
        for a text that cannot be used too; what was in force stays so then.
        """
        self._refuse_broken(name, text)
        self._store_edited_by_hand(name)
        version = self._add(name, _without_comment(text), note, "saved")
        _write(user_prompt_path(name), version.text + "\n")
        self.refresh()
        return version

    def reset(self, name: str, note: str = "") -> Version | None:
        """Put the shipped text in force again; None where it is already. Versions stay.

        Raises TemplateError.
        """
        shipped = self.shipped(name)
        if file_stamp(name) is None:
            return None
        self._store_edited_by_hand(name)
        note = note or "Back to the text that came with the program"
        version = self._add(name, shipped, note, "reset")
        _remove(user_prompt_path(name))
        self.refresh()
        return version

    def unsaved(self) -> dict[str, str]:
        """Texts by name that were edited and not saved; none where the file cannot be read."""
        try:
            data = json.loads((user_prompts_dir() / _UNSAVED).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        items = data.items() if isinstance(data, dict) else ()
        return {n: text for n, text in items if n in TEMPLATES and isinstance(text, str)}

    def store_unsaved(self, texts: Mapping[str, str]) -> None:
        """Store texts that were edited and not saved; none of them is sent.

        Raises TemplateError.
        """
        path = user_prompts_dir() / _UNSAVED
        if texts:
            _write(path, json.dumps(dict(texts), indent=1) + "\n")
        else:
            _remove(path)

    def refresh(self) -> bool:
        """Look at the files again and report changed ones to ``on_change``; whether any did."""
        before, self._stamps = self._stamps, file_stamps()
        names = {
            name
            for name in before.keys() | self._stamps.keys()
            if before.get(name) != self._stamps.get(name)
        }
        if names:
            self._on_change(frozenset(names))
        return bool(names)

    def _refuse_broken(self, name: str, text: str) -> None:
        broken = [one.message for one in self.check(name, text) if one.breaks]
        if broken:
            raise TemplateError(f"{name}: {' '.join(broken)}")

    def _history_dir(self, name: str) -> Path:
        return user_prompts_dir() / "history" / self.info(name).name

    def _store_edited_by_hand(self, name: str) -> None:
        try:
            now = read_user_prompt(name)
        except TemplateError:
            return  # what cannot be read cannot be stored; its file is replaced
        stored = self.history(name)[1:]
        if now is not None and (not stored or stored[-1].text != now):
            self._add(name, now, "Edited outside the window", "by-hand")

    def _add(self, name: str, text: str, note: str, kind: VersionKind) -> Version:
        folder, time_ms = self._history_dir(name), self._clock_ms()
        one_line = " ".join(note.split()).replace("-->", "→")
        when = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
        raw = f"<!-- version\ntime: {when}\nkind: {kind}\nnote: {one_line}\n-->\n{text}\n"
        try:
            paths.ensure(folder)
            taken = [int(path.stem) for path in folder.glob("*.md") if path.stem.isdigit()]
            number = max(taken, default=0) + 1
            for _ in range(_MAX_TRIES):
                try:
                    # Of two processes only one can create the file of a number.
                    with private_files.create(folder / f"{number:04}.md") as file:
                        file.write(raw.encode("utf-8", "surrogatepass"))
                except FileExistsError:
                    number += 1
                else:
                    return Version(number, time_ms, one_line, text, kind)
        except OSError as error:
            raise TemplateError(f"{folder}: {error.strerror or error}") from error
        raise TemplateError(f"{folder}: another process stores versions at the same time")


def _parse_version(number: int, raw: str) -> Version:
    match = _HEADER.match(raw)
    if match is None:
        return Version(number, 0, "", _without_comment(raw))
    try:
        time_ms = round(datetime.fromisoformat(match["time"]).timestamp() * 1000)
    except ValueError:
        time_ms = 0
    kind = _KINDS.get(match["kind"], "saved")
    return Version(number, time_ms, match["note"], raw[match.end() :].strip("\n"), kind)
