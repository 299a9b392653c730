"""extensions: list, install an example, trust and untrust a project."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.output import CommandFailed, print_json, print_table
from explorer.extensions.manager import (
    ExampleError,
    Extensions,
    Listed,
    TrustError,
    examples,
    install_example,
)
from explorer.session.visible_text import visible_line


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add a parser for each action."""
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    listing = what.add_parser("list", help="what is loaded, and what failed and why")
    listing.add_argument(
        "--project", type=Path, metavar="FOLDER", help="look there for a project (default: here)"
    )
    install = what.add_parser("install-example", help="copy an example into your folder")
    install.add_argument("name", metavar="NAME")
    trust = what.add_parser("trust", help="load what a project's folder brings")
    untrust = what.add_parser("untrust", help="load it no longer")
    for command in (trust, untrust):
        command.add_argument("folder", type=Path, metavar="FOLDER")
    for command in (listing, install, trust, untrust):
        command.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises CommandFailed."""
    extensions = Extensions()
    try:
        if arguments.what == "list":
            _list(arguments, extensions)
        elif arguments.what == "install-example":
            _install(arguments, extensions)
        else:
            _trust(arguments, extensions)
    except (ExampleError, TrustError) as error:
        raise CommandFailed(str(error)) from error
    finally:
        extensions.close()


def _list(arguments: argparse.Namespace, extensions: Extensions) -> None:
    cwd = str(arguments.project.absolute()) if arguments.project else str(Path.cwd())
    rows, project = extensions.listing(cwd), extensions.project(cwd)
    found = examples()
    if arguments.json:
        print_json(
            {
                "folder": str(extensions.folder),
                "extensions": [_row_json(row) for row in rows],
                "project": None
                if project is None
                else {
                    "folder": str(project.folder),
                    "trusted": project.trusted,
                    "files": list(project.files),
                },
                "trusted": extensions.trust.folders(),
                "trust_problem": extensions.trust.problem or None,
                "examples": [{"name": one.name, "about": one.about} for one in found],
            }
        )
        return
    if rows:
        print_table(
            ("name", "from", "state", "events"),
            [(row.name, row.scope, row.state, ", ".join(row.events)) for row in rows],
        )
    else:
        print(f"No extension is loaded. Yours lie in {visible_line(str(extensions.folder))}")
    for row in rows:
        if row.problem is not None:
            print(visible_line(f"{row.name or 'folder'}: {row.problem}"))
    if project is not None and not project.trusted:
        print(
            visible_line(
                f"{project.folder} has extensions of its own ({', '.join(project.files)}), which "
                "are not loaded: session-explorer extensions trust FOLDER"
            )
        )
    if extensions.trust.problem:
        print(f"No project is trusted: {visible_line(extensions.trust.problem)}")
    print("Examples, by session-explorer extensions install-example NAME:")
    for one in found:
        print(f"  {one.name}: {one.about}")


def _row_json(row: Listed) -> dict[str, object]:
    problem = row.problem
    return {
        "name": row.name,
        "file": row.file,
        "scope": row.scope,
        "state": row.state,
        "events": list(row.events),
        "problem": None
        if problem is None
        else {"file": problem.file, "line": problem.line or None, "reason": problem.reason},
        "log": list(row.log),
    }


def _install(arguments: argparse.Namespace, extensions: Extensions) -> None:
    file = install_example(arguments.name, extensions.folder)
    if arguments.json:
        print_json({"installed": str(file)})
    else:
        print(f"installed {visible_line(str(file))}")


def _trust(arguments: argparse.Namespace, extensions: Extensions) -> None:
    if arguments.what == "trust":
        folder = str(extensions.trust_project(arguments.folder))
        done, words = True, f"{folder} is trusted: its extensions are loaded from now on"
    else:
        folder = str(arguments.folder)
        done = extensions.untrust_project(arguments.folder)
        words = f"{folder} is trusted no more" if done else f"{folder} was not trusted"
    if arguments.json:
        print_json({"folder": folder, "trusted": arguments.what == "trust", "changed": done})
    else:
        print(visible_line(words))
