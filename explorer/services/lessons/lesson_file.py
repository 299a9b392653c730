"""Lesson files: where they lie, one read to a lesson, and one packed with its session.

A lesson is Markdown with TOML, and every mistake is named by its line. The head between two lines
of ``+++`` is TOML. Each ``## Title`` begins a step: its words, a block of ``toml`` with what is lit
and predicted, and after that what is said with the answer. A bundle, ``.lesson``, is a zip with
``lesson.md`` and ``session.jsonl``; what reads and writes one is for a worker thread.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import zipfile
from collections.abc import Mapping
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from msgspec import Struct

from explorer import private_files
from explorer.compaction.profile import BASES
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.lesson import (
    CUTS,
    DEFAULT_TOLERANCE,
    FIGURES,
    KINDS,
    PARTS,
    Lesson,
    LessonMistake,
    Step,
)
from explorer.services.lessons.places import PLACES
from explorer.settings import paths

MOST_BYTES = 200_000
MOST_STEPS = 12
_ID = re.compile(r"[a-z][a-z0-9-]{0,40}")
_HEAD_KEYS: dict[str, type] = {
    "id": str, "title": str, "about": str, "minutes": int, "number": int, "place": str,
    "profile": str, "keep_recent": int,
}  # fmt: skip
_STEP_KEYS: dict[str, type] = {
    "light": str, "then": str, "kind": str, "answer": str, "options": dict, "several": bool,
    "tolerance": int, "place": str, "cut": str, "sums": bool,
}  # fmt: skip
_FIGURE = re.compile(r"\{(\w+)\}")
_TOML_LINE = re.compile(r"\(at line (\d+)")


class ReadLesson(Struct, frozen=True):
    """What a file gave: a lesson where nothing is wrong, and the mistakes."""

    lesson: Lesson | None
    mistakes: tuple[LessonMistake, ...]


class _Values:
    """One piece of TOML of a lesson, and what is wrong in it."""

    def __init__(self, text: str, first_line: int, mistakes: list[LessonMistake]) -> None:
        self._lines = text.splitlines()
        self._first = first_line
        self._mistakes = mistakes
        self.values: dict[str, Any] = {}
        try:
            self.values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            found = _TOML_LINE.search(str(error))
            at = int(found[1]) - 1 if found else max(0, len(self._lines) - 1)
            self.wrong_at(first_line + at, f"This is no TOML: {error}.")

    def wrong_at(self, line: int, reason: str) -> None:
        self._mistakes.append(LessonMistake(line, reason))

    def wrong(self, key: str, reason: str) -> None:
        """Something is wrong with a key, or missing."""
        for at, line in enumerate(self._lines):
            if re.match(rf'\s*"?{re.escape(key)}"?\s*=|\s*\[{re.escape(key)}\]', line):
                self.wrong_at(self._first + at, f"{key}: {reason}")
                return
        self.wrong_at(self._first, f"{key}: {reason}")

    def known(self, keys: Mapping[str, type]) -> dict[str, Any]:
        """The values that have the right type; the others are mistakes."""
        found = {}
        for key, value in self.values.items():
            if key not in keys:
                self.wrong(key, f"no such key; there are {', '.join(keys)}.")
            elif type(value) is not keys[key]:
                self.wrong(key, f"expected {_WORDS[keys[key]]}, not {value!r}.")
            else:
                found[key] = value
        return found

    def one_of(self, key: str, value: str, names: Any) -> None:
        """A value must be a name that there is."""
        if value and value not in names:
            self.wrong(key, f"there is no {value!r}; there are {', '.join(names)}.")


_WORDS = {str: "a text", int: "a whole number", bool: "true or false", dict: "a table"}


def read_lesson_file(path: Path) -> ReadLesson:
    """Read and check a file. Raises OSError."""
    data = path.read_bytes()
    try:
        return read_lesson(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return ReadLesson(None, (LessonMistake(line, "This is no text in UTF-8."),))


def read_lesson(text: str) -> ReadLesson:
    """Read and check the text of a lesson; never raises for what it says."""
    mistakes: list[LessonMistake] = []
    if len(text) > MOST_BYTES:
        reason = f"A lesson has at most {MOST_BYTES:,} characters."
        return ReadLesson(None, (LessonMistake(1, reason),))
    lines = text.splitlines()
    if not lines or lines[0].strip() != "+++":
        return ReadLesson(None, (LessonMistake(1, "A lesson begins with a line of +++."),))
    end = next((at for at in range(1, len(lines)) if lines[at].strip() == "+++"), -1)
    if end < 0:
        return ReadLesson(None, (LessonMistake(1, "The head has no second line of +++."),))
    head = _Values("\n".join(lines[1:end]), 2, mistakes)
    values = _checked_head(head)
    steps = _steps(lines, end + 1, mistakes)
    if not mistakes and not steps:
        mistakes.append(LessonMistake(end + 1, "There is no step: a line of ## begins one."))
    if len(steps) > MOST_STEPS:
        line = steps[MOST_STEPS].line
        mistakes.append(LessonMistake(line, f"A lesson has at most {MOST_STEPS} steps."))
    if mistakes:
        return ReadLesson(None, tuple(sorted(mistakes, key=lambda one: one.line)))
    return ReadLesson(Lesson(**values, steps=tuple(steps), source=text), ())


def _checked_head(head: _Values) -> dict[str, Any]:
    values = {"minutes": 4, "place": "any", "about": "", **head.known(_HEAD_KEYS)}
    for key in ("id", "title"):
        if head.values and not str(values.get(key, "")).strip():
            head.wrong(key, "is missing.")
    name = values.get("id", "")
    if name and not _ID.fullmatch(name):
        head.wrong("id", "small letters, digits and -, beginning with a letter.")
    head.one_of("place", values["place"], PLACES)
    head.one_of("profile", values.get("profile", ""), BASES)
    for key, most in (("minutes", 60), ("keep_recent", 2_000_000), ("number", 999)):
        if not 0 <= values.get(key, 0) <= most:
            head.wrong(key, f"expected 0 to {most:,}.")
    return values


def _steps(lines: list[str], start: int, mistakes: list[LessonMistake]) -> list[Step]:
    """The steps, each from its ``##`` to the next."""
    begins = [at for at in range(start, len(lines)) if lines[at].startswith("## ")]
    for at in range(start, begins[0] if begins else len(lines)):
        if lines[at].strip():
            mistakes.append(LessonMistake(at + 1, "Words before the first step (## Title)."))
            break
    return [_step(lines, at, stop, mistakes) for at, stop in pairwise([*begins, len(lines)])]


def _step(lines: list[str], start: int, stop: int, mistakes: list[LessonMistake]) -> Step:
    title = lines[start][3:].strip()
    part = range(start + 1, stop)
    opens = next((at for at in part if lines[at].strip() == "```toml"), -1)
    closes = next((at for at in part if at > opens and lines[at].strip() == "```"), -1)
    if opens < 0 or closes < 0:
        what = "no block of ```toml" if opens < 0 else "a block of ```toml that does not end"
        mistakes.append(LessonMistake(start + 1, f"The step “{title}” has {what}."))
        return Step(title, "", line=start + 1)
    text = " ".join(" ".join(lines[start + 1 : opens]).split())
    after = " ".join(" ".join(lines[closes + 1 : stop]).split())
    block = _Values("\n".join(lines[opens + 1 : closes]), opens + 2, mistakes)
    for name in _FIGURE.findall(f"{text} {after}"):
        if name not in FIGURES:
            known = ", ".join(f"{{{one}}}" for one in FIGURES)
            reason = f"There is no figure {{{name}}}; there are {known}."
            mistakes.append(LessonMistake(start + 1, reason))
    if not title or not text:
        what = "no title" if not title else "no words before its block"
        mistakes.append(LessonMistake(start + 1, f"The step has {what}."))
    values = block.known(_STEP_KEYS)
    _check_step(block, values)
    return Step(title=title, text=text, after=after, line=start + 1, **values)


def _check_step(block: _Values, values: dict[str, Any]) -> None:
    kind, name = values.get("kind", ""), values.get("answer", "")
    for key in ("light", "then"):
        block.one_of(key, values.get(key, ""), PARTS)
    block.one_of("kind", kind, KINDS)
    block.one_of("cut", values.get("cut", ""), CUTS)
    block.one_of("answer", name, ANSWERS)
    block.one_of("place", values.get("place", ""), PLACES)
    if not 0 <= values.get("tolerance", DEFAULT_TOLERANCE) <= 100:
        block.wrong("tolerance", "per cent, 0 to 100.")
    if bool(kind) != bool(name):
        there, missing = ("kind", "answer") if kind else ("answer", "kind")
        block.wrong(there, f"a prediction has a kind and an answer; {missing} is missing.")
        return
    known = ANSWERS.get(name)
    if known is None:
        return
    if kind not in known.kinds:
        block.wrong("kind", f"{name} is answered by {' or '.join(known.kinds)}, not by {kind}.")
    options = values.get("options", {})
    if options and kind != "choose":
        block.wrong("options", f"a prediction of kind {kind} has none.")
    for option, words in options.items():
        if known.ids and option not in known.ids:
            block.wrong(option, f"{name} knows no such option; it knows {', '.join(known.ids)}.")
        if not isinstance(words, str) or not words.strip():
            block.wrong(option, "expected the words of the option.")
    if kind == "choose" and known.ids and not options:
        block.wrong("kind", f"the options are missing: {', '.join(known.ids)}.")


FOLDER = "lessons"


class Shelf(Struct, frozen=True):
    """Lessons in the order in which they are offered."""

    lessons: tuple[Lesson, ...]
    mistakes: tuple[tuple[Path, LessonMistake], ...]
    """What is wrong in files of the user's, which are not offered then."""


def user_folder() -> Path:
    """Where a person puts lessons of their own."""
    return paths.config_dir() / FOLDER


def read_shelf() -> Shelf:
    """Read all lessons. Raises OSError, FileNotFoundError where those that come along are gone."""
    found: dict[str, Lesson] = {}
    mistakes: list[tuple[Path, LessonMistake]] = []
    for folder in (paths.resource_path(FOLDER), user_folder()):
        for file in sorted(folder.glob("*.md")) if folder.is_dir() else ():
            if file.name == "README.md":
                continue
            read = read_lesson_file(file)
            mistakes += [(file, mistake) for mistake in read.mistakes]
            if read.lesson is not None:
                # A person's own lesson of the same id takes the place of ours.
                found[read.lesson.id] = read.lesson
    ordered = sorted(found.values(), key=lambda one: (one.number or inf, one.title))
    return Shelf(tuple(ordered), tuple(mistakes))


SUFFIX = ".lesson"
LESSON, SESSION = "lesson.md", "session.jsonl"
MOST_SESSION_BYTES = 1 << 30
_PIECE = 1 << 20


class BundleError(ValueError):
    """A file that is no bundle, or whose lesson cannot be used; a sentence for the person."""


class Bundle(Struct, frozen=True):
    """What was in a file."""

    lesson: Lesson
    session: Path
    """Where the session was put, for it to be imported from."""


def is_bundle(path: Path) -> bool:
    """Whether a file is called like one."""
    return path.suffix.lower() == SUFFIX


def write_bundle(path: Path, lesson: Lesson, session: Path) -> None:
    """Write a lesson with the file of a session, whole or not at all. Raises OSError."""
    with private_files.replacement(path) as out, zipfile.ZipFile(out, "w") as found:
        found.writestr(LESSON, lesson.source, zipfile.ZIP_DEFLATED)
        found.write(session, SESSION, zipfile.ZIP_DEFLATED)


def read_bundle_lesson(path: Path) -> tuple[Lesson | None, tuple[LessonMistake, ...]]:
    """The lesson of a file alone, with its mistakes. Raises BundleError, OSError."""
    with _opened(path) as found:
        data = _read(found, LESSON, MOST_BYTES, path)
    try:
        read = read_lesson(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None, (LessonMistake(1, "This is no text in UTF-8."),)
    return read.lesson, read.mistakes


def read_bundle(path: Path) -> Bundle:
    """Take a file apart; its session is put among the program's data, under a name that follows
    from what it says. Raises BundleError, OSError."""
    lesson, mistakes = read_bundle_lesson(path)
    if lesson is None:
        first = mistakes[0]
        raise BundleError(f"{path.name}, line {first.line} of its lesson: {first.reason}")
    with _opened(path) as found:
        _checked(found, SESSION, MOST_SESSION_BYTES, path)
        digest = hashlib.sha256()
        folder = paths.ensure(paths.data_dir() / "lessons")
        waiting = folder / f"{lesson.id}.part"
        size = 0
        with private_files.replacement(waiting) as out, found.open(SESSION) as piece:
            while data := piece.read(_PIECE):
                size += len(data)
                if size > MOST_SESSION_BYTES:
                    raise BundleError(f"{path.name}: its session is too large.")
                digest.update(data)
                out.write(data)
    session = folder / f"{lesson.id}-{digest.hexdigest()[:12]}.jsonl"
    waiting.replace(session)
    return Bundle(lesson, session)


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise BundleError(f"{path.name} is no lesson file: it is no zip.") from error


def _checked(found: zipfile.ZipFile, name: str, most: int, path: Path) -> None:
    try:
        info = found.getinfo(name)
    except KeyError as error:
        raise BundleError(f"{path.name} is no lesson file: it has no {name}.") from error
    if info.file_size > most:
        raise BundleError(f"{path.name}: its {name} is too large.")


def _read(found: zipfile.ZipFile, name: str, most: int, path: Path) -> bytes:
    _checked(found, name, most, path)
    try:
        with found.open(name) as piece:
            return piece.read(most + 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise BundleError(f"{path.name}: its {name} cannot be read: {error}") from error
