"""lessons: list the lessons that there are, and check one that is being written."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.output import CommandFailed, print_json, print_table
from explorer.services.lessons.lesson import Lesson, LessonMistake
from explorer.services.lessons.lesson_file import (
    BundleError,
    is_bundle,
    read_bundle_lesson,
    read_lesson_file,
    read_shelf,
    user_folder,
)


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add list and check."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    every = actions.add_parser("list", help="list the lessons, yours among them")
    every.add_argument("--json", action="store_true", help="print one JSON document")
    check = actions.add_parser("check", help="say what is wrong in a lesson file")
    check.add_argument("file", type=Path, help="a lesson (.md), or one with its session (.lesson)")


def run(arguments: argparse.Namespace) -> None:
    """Run a command on lessons. Raises CommandFailed."""
    if arguments.action == "list":
        _list(arguments)
    else:
        _check(arguments.file)


def _list(arguments: argparse.Namespace) -> None:
    shelf = read_shelf()
    if arguments.json:
        print_json(
            [
                {
                    "id": one.id,
                    "number": one.number or None,
                    "title": one.title,
                    "about": one.about,
                    "minutes": one.minutes,
                    "steps": len(one.steps),
                    "place": one.place,
                }
                for one in shelf.lessons
            ]
        )
    else:
        rows = [
            (one.number or None, one.id, len(one.steps), one.minutes, one.title)
            for one in shelf.lessons
        ]
        print_table(("no", "id", "steps", "minutes", "title"), rows, right=(0, 2, 3))
        print(f"\nPut lessons of your own into {user_folder()}")
    if shelf.mistakes:
        raise CommandFailed(*(_line(file, mistake) for file, mistake in shelf.mistakes))


def _check(file: Path) -> None:
    lesson: Lesson | None
    try:
        if is_bundle(file):
            lesson, mistakes = read_bundle_lesson(file)
        else:
            read = read_lesson_file(file)
            lesson, mistakes = read.lesson, read.mistakes
    except BundleError as error:
        raise CommandFailed(str(error)) from error
    if lesson is None:
        raise CommandFailed(*(_line(file, mistake) for mistake in mistakes))
    steps = "1 step" if len(lesson.steps) == 1 else f"{len(lesson.steps)} steps"
    print(f"{file}: nothing is wrong. “{lesson.title}”, {steps}.")


def _line(file: Path, mistake: LessonMistake) -> str:
    return f"{file}:{mistake.line}: {mistake.reason}"
