"""The words of the command line for ``settings`` and ``extensions``; reads nothing, so a
start stays quick."""

from __future__ import annotations

from pathlib import Path

from explorer.commands.shared_words import Commands


def add_settings(commands: Commands) -> None:
    """The parsers of ``settings``."""
    settings = commands.add_parser("settings", help="show, explain and change the settings")
    actions = settings.add_subparsers(dest="action", metavar="ACTION", required=True)
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


def add_extending(commands: Commands) -> None:
    """The parsers of ``extensions``."""
    extensions = commands.add_parser("extensions", help="list, install and trust extensions")
    what = extensions.add_subparsers(dest="what", metavar="WHAT", required=True)
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
