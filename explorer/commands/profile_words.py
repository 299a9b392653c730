"""The words of the command line for ``profiles``; reads nothing, so a start stays quick."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.shared_words import Commands, add_session


def add_profiles(commands: Commands) -> None:
    """The parsers of ``profiles``."""
    profiles = commands.add_parser("profiles", help="list, compare, copy and change profiles")
    actions = profiles.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers: dict[str, argparse.ArgumentParser] = {
        name: actions.add_parser(name, help=words)
        for name, words in (
            ("list", "all profiles"),
            ("show", "every rule of a profile, and where it comes from"),
            ("copy", "start a profile of your own"),
            ("set", "change rules of a profile of your own"),
            ("export", "write a profile to a file, to share it"),
            ("import", "keep a profile that somebody shared"),
            ("remove", "take a profile of your own away"),
            ("compare", "what each profile would do with a session, side by side"),
        )
    }
    for name in ("show", "copy", "set", "export", "remove"):
        parsers[name].add_argument("name", metavar="NAME")
    parsers["copy"].add_argument("new", metavar="NEW", help="its name")
    parsers["copy"].add_argument("--title", metavar="TEXT", help="its title")
    parsers["set"].add_argument("changes", nargs="+", metavar="KEY=VALUE")
    parsers["import"].add_argument("--name", default="", metavar="NAME", help="another name for it")
    for name in ("export", "import"):
        parsers[name].add_argument("file", type=Path, metavar="FILE")
        parsers[name].add_argument("--replace", action="store_true", help="what is there already")
    add_session(parsers["compare"])
    compare = parsers["compare"]
    compare.add_argument(
        "--profile", action="append", dest="profiles", metavar="NAME", help="(default: the five)"
    )
    compare.add_argument("--window", type=int, metavar="N", help="one context window for all")
    compare.add_argument("--why", action="store_true", help="tell which rules make the difference")
    compare.add_argument("--database", type=Path, metavar="FILE", help="use this database")
    for parser in parsers.values():
        parser.add_argument("--json", action="store_true", help="print one JSON document")
