"""fork: a branch, or all of a session, as a session of its own."""

from __future__ import annotations

import argparse
import asyncio
import sys

from explorer.cli import CommandFailed, UsageError
from explorer.commands.output import print_json
from explorer.commands.targets import Target, target
from explorer.session.visible_text import visible_line
from explorer.work.session_forks import Forked


def run(arguments: argparse.Namespace) -> None:
    """Run the command. Raises UsageError or CommandFailed."""
    with target(arguments) as chosen:
        if not chosen.stored and arguments.output is None:
            raise UsageError(
                f"{arguments.session} is a file: import it first, or name the fork's file with "
                "--output"
            )
        forked = _fork(arguments, chosen)
        if arguments.output is not None:
            asyncio.run(chosen.bench.export(forked.key, arguments.output))
        _tell(arguments, chosen, forked)


def _fork(arguments: argparse.Namespace, chosen: Target) -> Forked:
    try:
        return asyncio.run(
            chosen.bench.fork(
                chosen.document.key, chosen.at, arguments.whole, arguments.name.strip()
            )
        )
    except ValueError as error:
        raise CommandFailed(str(error)) from error


def _tell(arguments: argparse.Namespace, chosen: Target, forked: Forked) -> None:
    made = chosen.bench.open_blocking(forked.key)
    if arguments.json:
        print_json(
            {
                "session": forked.key if chosen.stored else None,
                "id": made.header.session_id,
                "parent_session": made.header.parent_session,
                "title": forked.title,
                "at": chosen.document.tree.columns.ids[chosen.at],
                "whole": arguments.whole,
                "entries": forked.entries,
                "added": forked.added,
                "file": str(arguments.output) if arguments.output else None,
                "notes": list(forked.notes),
            }
        )
        return
    what = "all branches" if arguments.whole else f"the path to #{chosen.at}"
    where = f"session {forked.key}" if chosen.stored else str(arguments.output)
    print(visible_line(f"forked {what}, {forked.entries:,} entries, as {where}: {forked.title}"))
    if chosen.stored and arguments.output:
        print(visible_line(f"written to {arguments.output} too"))
    for note in forked.notes:
        print(visible_line(note), file=sys.stderr)
