"""The parsers of ``prompts``."""

from __future__ import annotations

import argparse

from explorer.commands.shared_words import Commands


def add_prompts(commands: Commands) -> None:
    """The parsers of ``prompts``."""
    prompts = commands.add_parser("prompts", help="see and change the words sent to models")
    actions = prompts.add_subparsers(dest="action", metavar="ACTION", required=True)
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
    for name, parser in parsers.items():
        if name != "list":
            parser.add_argument("name", metavar="NAME")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
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
