"""settings: what is set, where it comes from, and changing it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from explorer.commands.output import CommandFailed, UsageError, print_json, print_table
from explorer.settings.effective import profile_named
from explorer.settings.files import SettingsError
from explorer.settings.keys import KEYS, SettingKey, parsed, profile_default, schema_text
from explorer.settings.keys import shown as written
from explorer.settings.live import (
    Explanation,
    LiveSettings,
    live_settings,
    project_file,
    project_of,
)
from explorer.settings.profile_files import ProfileFiles


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add a parser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, arguments, words in (
        ("list", (), "every setting, its value, and where that comes from"),
        ("get", ("key",), "print one value"),
        ("set", ("key", "value"), "set a value for you, or for a project"),
        ("reset", ("key",), "take a value out of your file, or out of a project's"),
        ("explain", ("key",), "what a setting does, and why its value is what it is"),
        ("path", (), "where the files are"),
        ("schema", (), "print the JSON Schema of a settings file"),
    ):
        action = actions.add_parser(name, help=words)
        for argument in arguments:
            action.add_argument(argument, metavar=argument.upper())
        if name != "schema":
            action.add_argument("--project", type=Path, metavar="DIR", help="a project's folder")
            action.add_argument("--json", action="store_true", help="print one JSON document")


WHERE = {"global": "your settings", "project": "the project's settings", "profile": "the profile"}


def run(arguments: argparse.Namespace) -> None:
    """Run a command on the settings. Raises UsageError or CommandFailed."""
    if arguments.action == "schema":
        print(schema_text(), end="")
        return
    settings = live_settings()
    project = _project(arguments)
    try:
        _ACTIONS[arguments.action](arguments, settings, project)
    except SettingsError as error:
        raise CommandFailed(str(error)) from error


def _project(arguments: argparse.Namespace) -> Path | None:
    """The project's folder: the one named, or where ``--here`` of reading commands stands."""
    if arguments.project is None:
        return None
    folder = arguments.project.expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    if arguments.action in ("set", "reset"):
        return Path(folder.resolve())
    return project_of(folder)


def _key(arguments: argparse.Namespace) -> SettingKey:
    key = KEYS.get(arguments.key)
    if key is None:
        near = [name for name in KEYS if arguments.key.lower() in name.lower()]
        hint = f"; there are: {', '.join(near)}" if near else "; `settings list` names them"
        raise UsageError(f"there is no setting {arguments.key!r}{hint}")
    return key


def _effective_value(
    key: SettingKey, explanation: Explanation, settings: LiveSettings, project: Path | None
) -> Any:
    """The value in force: the one that is set, or the profile's."""
    if explanation.source != "profile":
        return explanation.value
    profiles = ProfileFiles().shelf().profiles()
    return profile_default(key, profile_named(settings.values(project), profiles=profiles))


def _row(key: SettingKey, settings: LiveSettings, project: Path | None) -> dict[str, Any]:
    explanation = settings.explain(key.name, project)
    return {
        "key": key.name,
        "value": _effective_value(key, explanation, settings, project),
        "source": explanation.source,
        "file": str(explanation.file) if explanation.file else None,
        "line": explanation.line or None,
    }


def _list(arguments: argparse.Namespace, settings: LiveSettings, project: Path | None) -> None:
    rows = [_row(key, settings, project) for key in KEYS.values()]
    problems = settings.problems(project)
    if arguments.json:
        explained = [{**row, "explanation": KEYS[row["key"]].sentence} for row in rows]
        print_json({"settings": explained, "problems": [_problem_json(one) for one in problems]})
        return
    print_table(
        ("setting", "value", "from", "what it does"),
        [
            (
                row["key"],
                _value_text(KEYS[row["key"]], row),
                row["source"],
                KEYS[row["key"]].sentence,
            )
            for row in rows
        ],
    )
    for problem in problems:
        print(problem)


def _value_text(key: SettingKey, row: dict[str, Any]) -> str:
    if row["value"] is None:
        return f"({key.unset})"
    return written(row["value"])


def _problem_json(problem: Any) -> dict[str, Any]:
    return {
        "file": str(problem.file),
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "reason": problem.reason,
    }


def _get(arguments: argparse.Namespace, settings: LiveSettings, project: Path | None) -> None:
    key = _key(arguments)
    row = _row(key, settings, project)
    if arguments.json:
        print_json(row)
    else:
        print(_value_text(key, row))


def _set(arguments: argparse.Namespace, settings: LiveSettings, project: Path | None) -> None:
    key = _key(arguments)
    try:
        value = parsed(key.kind, arguments.value)
    except ValueError as error:
        raise UsageError(f"{key.name}: {error}") from error
    settings.set(key.name, value, project)
    _print_change(arguments, key, settings, project)


def _reset(arguments: argparse.Namespace, settings: LiveSettings, project: Path | None) -> None:
    key = _key(arguments)
    settings.reset(key.name, project)
    _print_change(arguments, key, settings, project)


def _print_change(
    arguments: argparse.Namespace, key: SettingKey, settings: LiveSettings, project: Path | None
) -> None:
    row = _row(key, settings, project)
    if arguments.json:
        print_json(row)
    else:
        print(f"{key.name} is {_value_text(key, row)}, from {WHERE[row['source']]}")


def _explain(arguments: argparse.Namespace, settings: LiveSettings, project: Path | None) -> None:
    key = _key(arguments)
    row, found = _row(key, settings, project), settings.explain(key.name, project)
    problems = [one for one in settings.problems(project) if one.key in ("", key.name)]
    if arguments.json:
        over = [
            {"value": o.value, "source": o.source, "file": str(o.file), "line": o.line}
            for o in found.overridden
        ]
        print_json(
            {
                **row,
                "explanation": key.sentence,
                "unset": key.unset,
                "profiles": list(key.systems),
                "expects": key.kind.schema(),
                "overridden": over,
                "problems": [_problem_json(one) for one in problems],
            }
        )
        return
    print(f"{key.name}: {key.sentence}")
    where = f" ({found.file}, line {found.line})" if found.file else ""
    print(f"value: {_value_text(key, row)}, from {WHERE[found.source]}{where}")
    for other in found.overridden:
        print(f"overridden: {written(other.value)} in {other.file}, line {other.line}")
    print(f"where it is not set: {key.unset}")
    print(f"profiles: {', '.join(key.systems)}")
    if key.set_by == "trusted":
        print("a project's file sets it only where the project is trusted")
    elif key.set_by == "person":
        print("no project's file sets it")
    for problem in problems:
        print(problem)


def _path(arguments: argparse.Namespace, settings: LiveSettings, project: Path | None) -> None:
    shown = {"global": str(settings.path)}
    if project is not None:
        shown["project"] = str(project_file(project))
    if arguments.json:
        print_json(shown)
    else:
        print("\n".join(shown.values()))


_ACTIONS = {
    "list": _list,
    "get": _get,
    "set": _set,
    "reset": _reset,
    "explain": _explain,
    "path": _path,
}
