"""The lessons that there are: those that come along, and the user's own."""

from __future__ import annotations

from math import inf
from pathlib import Path

from msgspec import Struct

from explorer.services.lessons.lesson import Lesson, LessonMistake
from explorer.services.lessons.lesson_file import read_lesson_file
from explorer.settings import paths

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
