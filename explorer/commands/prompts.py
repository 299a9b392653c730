"""prompts: show, edit and reset the prompt templates, with their versions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from explorer.commands.output import CommandFailed, UsageError, local_time, print_json, print_table
from explorer.session.text_difference import changed_lines
from explorer.session.visible_text import visible_line
from explorer.settings.prompt_templates import (
    PromptTemplates,
    TemplateError,
    Version,
    template_problems,
)
from explorer.settings.template_catalogue import GROUPS
from explorer.workbench import now_ms


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add a parser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers: dict[str, argparse.ArgumentParser] = {
        name: actions.add_parser(name, help=words)
        for name, words in (
            ("list", "every text: what it is for, and whether it is yours"),
            ("show", "a text as it is sent, with its variables"),
            ("edit", "put the text of a file in force"),
            ("history", "every version of a text"),
            ("diff", "the lines in which two versions differ"),
            ("reset", "put the text that came with the program in force again"),
        )
    }
    for name, action in parsers.items():
        if name != "list":
            action.add_argument("name", metavar="NAME")
        action.add_argument("--json", action="store_true", help="print one JSON document")
    parsers["show"].add_argument(
        "--version", type=int, metavar="N", help="this version (0: as it came)"
    )
    parsers["edit"].add_argument("file", metavar="FILE", help="- reads it from standard input")
    for name in ("edit", "reset"):
        parsers[name].add_argument("--note", default="", metavar="TEXT", help="why, in your words")
    parsers["diff"].add_argument(
        "versions", nargs="*", type=int, metavar="N", help="two of them (default: as it came, and "
        "as it is sent)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Run a command on the words. Raises UsageError or CommandFailed."""
    prompts = PromptTemplates(now_ms)
    try:
        if arguments.action != "list":
            prompts.info(arguments.name)
    except TemplateError as error:
        raise UsageError(str(error)) from error
    try:
        _ACTIONS[arguments.action](arguments, prompts)
    except TemplateError as error:
        raise CommandFailed(f"{error} Nothing was changed.") from error


def print_template_problems() -> None:
    """Say on standard error which of the user's texts cannot be used."""
    for problem in template_problems().values():
        message = f"{problem.rstrip('.')}. The text that came with the program is sent."
        print(f"session-explorer: {visible_line(message)}", file=sys.stderr)


def _list(arguments: argparse.Namespace, prompts: PromptTemplates) -> None:
    rows = [
        {
            "name": state.info.name,
            "group": GROUPS[state.info.group],
            "title": state.info.title,
            "about": state.info.about,
            "sections": state.info.sections or None,
            "changed": state.changed,
            "problem": state.problem or None,
            "variables": [variable.name for variable in state.info.variables],
        }
        for state in prompts.states()
    ]
    if arguments.json:
        print_json({"prompts": rows})
        return
    print_table(
        ("name", "text", "for", "title"),
        [(row["name"], _state(row), row["group"], row["title"]) for row in rows],
    )
    for row in rows:
        if row["problem"]:
            print(f"\n{visible_line(str(row['problem']))} The text that came along is sent.")


def _state(row: dict[str, Any]) -> str:
    if row["problem"]:
        return "broken"
    return "yours" if row["changed"] else "as it came"


def _show(arguments: argparse.Namespace, prompts: PromptTemplates) -> None:
    info = prompts.info(arguments.name)
    versions = arguments.version
    text = (
        prompts.text(info.name) if versions is None else prompts.version(info.name, versions).text
    )
    if arguments.json:
        variables = [
            {"name": variable.name, "about": variable.about, "required": variable.required}
            for variable in info.variables
        ]
        problems = [one.message for one in prompts.check(info.name, text)]
        print_json(
            {"name": info.name, "title": info.title, "about": info.about, "text": text,
             "changed": text != prompts.shipped(info.name), "variables": variables,
             "problems": problems}
        )  # fmt: skip
        return
    print(text)
    print(f"\n{info.title}. {info.about}", file=sys.stderr)
    for variable in info.variables:
        print(f"{{{{{variable.name}}}}}: {variable.about}", file=sys.stderr)


def _edit(arguments: argparse.Namespace, prompts: PromptTemplates) -> None:
    name, file = arguments.name, arguments.file
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise CommandFailed(f"{file}: {error.strerror or error}. Nothing was changed.") from error
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{file}: not UTF-8: byte {error.start}. Nothing changed.") from error
    problems = prompts.check(name, text)
    saved = prompts.save(name, text, arguments.note)
    for problem in problems:
        print(f"session-explorer: {visible_line(problem.message)}", file=sys.stderr)
    _print_version(arguments, saved, f"{name}: version {saved.number} is sent from now on")


def _reset(arguments: argparse.Namespace, prompts: PromptTemplates) -> None:
    version = prompts.reset(arguments.name, arguments.note)
    if version is None:
        message = f"{arguments.name} is as it came with the program; nothing was changed"
    else:
        message = f"{arguments.name}: the text that came with the program is sent from now on"
    _print_version(arguments, version, message)


def _print_version(arguments: argparse.Namespace, version: Version | None, words: str) -> None:
    if arguments.json:
        number = version.number if version is not None else None
        print_json({"name": arguments.name, "version": number})
    else:
        print(words)


def _history(arguments: argparse.Namespace, prompts: PromptTemplates) -> None:
    versions = prompts.history(arguments.name)
    if arguments.json:
        rows = [
            {
                "number": version.number,
                "time_ms": version.time_ms or None,
                "kind": version.kind,
                "note": version.note,
                "characters": len(version.text),
            }
            for version in versions
        ]
        print_json({"name": arguments.name, "versions": rows})
        return
    print_table(
        ("version", "when", "characters", "note"),
        [
            (
                version.number,
                local_time(version.time_ms) if version.time_ms else "",
                len(version.text),
                version.note,
            )
            for version in versions
        ],
        right=(0, 2),
    )


def _diff(arguments: argparse.Namespace, prompts: PromptTemplates) -> None:
    name, versions = arguments.name, arguments.versions
    if len(versions) not in (0, 2):
        raise UsageError("name two versions, or none: 0 is the one that came with the program")
    if versions:
        lines = prompts.difference(name, *versions)
    else:
        lines = changed_lines(prompts.shipped(name), prompts.text(name))
    if arguments.json:
        print_json({"name": name, "lines": [[line.sign, line.text] for line in lines]})
        return
    for line in lines:
        print(visible_line(f"{line.sign} {line.text}"))
    if not lines:
        print("They are the same.")


_ACTIONS = {
    "list": _list,
    "show": _show,
    "edit": _edit,
    "history": _history,
    "diff": _diff,
    "reset": _reset,
}
