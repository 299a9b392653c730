"""A lesson and a session in one file, ``.lesson``: a zip with ``lesson.md`` and ``session.jsonl``.

Blocks: all of it is for a worker thread.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from msgspec import Struct

from explorer import private_files
from explorer.services.lessons.lesson import Lesson, LessonMistake
from explorer.services.lessons.lesson_file import MOST_BYTES, read_lesson
from explorer.settings import paths

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
