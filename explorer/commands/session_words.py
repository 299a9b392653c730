"""The words of the command line for finding, reading, copying and shaping sessions; reads nothing,
so a start stays quick."""

from __future__ import annotations

from pathlib import Path

from explorer.commands.shared_words import Commands, add_common, add_session


def add_looking(commands: Commands) -> None:
    """The parsers of the commands that find, read and copy sessions."""
    salvage = commands.add_parser("salvage", help="copy what a damaged database still gives")
    salvage.add_argument("damaged", type=Path, metavar="DATABASE")
    salvage.add_argument("output", type=Path)
    salvage.add_argument("--json", action="store_true", help="print one JSON document")

    search = commands.add_parser("search", help="search the text of all entries")
    search.add_argument("query")
    search.add_argument("session", nargs="?", help="search this session, or this file, only")
    search.add_argument("--limit", type=int, default=50, metavar="N")
    add_common(search)

    export = commands.add_parser("export", help="write a session to a file")
    add_session(export, "where an agent shall go on: an entry id, its unique start, or #index")
    export.add_argument("output", type=Path)
    export.add_argument("--format", choices=("original", "pi-v3"), default="original")
    add_common(export)

    fork = commands.add_parser("fork", help="make a branch a session of its own")
    add_session(fork, "the entry that the fork goes on from: an id, its unique start, or #index")
    fork.add_argument("--whole", action="store_true", help="copy all branches, not only the path")
    fork.add_argument("--name", default="", metavar="TEXT", help="what to call the fork")
    fork.add_argument("--output", type=Path, metavar="FILE", help="write the fork to a file too")
    add_common(fork)

    tree = commands.add_parser("tree", help="print the tree of a session")
    add_session(tree)
    tree.add_argument("--all", action="store_true", help="every entry, not only where paths meet")
    tree.add_argument(
        "--graph", type=Path, metavar="FILE", help="write it to FILE (.graphml, .gexf, .gml, .json)"
    )
    add_common(tree)
    context = commands.add_parser("context", help="print what the model sees at an entry")
    add_session(context)
    add_common(context)


def add_shaping(commands: Commands) -> None:
    """The parsers of ``pin``, ``omit`` and ``keep-messages``."""
    pin = commands.add_parser("pin", help="keep entries word for word through every compaction")
    omit = commands.add_parser("omit", help="leave entries out of the context and of summaries")
    keep = commands.add_parser("keep-messages", help="keep the user's messages word for word")
    for command in (pin, omit, keep):
        add_session(command)
        if command is not keep:
            command.add_argument("entries", nargs="+", metavar="ENTRY", help="an id or #index")
            command.add_argument("--undo", action="store_true", help="end it for these entries")
        else:
            command.add_argument(
                "tokens", type=int, metavar="TOKENS", help="the newest up to so many; 0: none"
            )
        command.add_argument("--reason", default="", metavar="TEXT", help="stored with the entry")
        command.add_argument(
            "--output", type=Path, metavar="FILE", help="write the resulting session to a file"
        )
        add_common(command)
