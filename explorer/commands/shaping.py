"""pin, omit, keep-messages: what is always told, what never is, and how much of the user's own."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from explorer.cli import CommandFailed, UsageError
from explorer.commands.output import print_json, print_table
from explorer.commands.results import check_output, export_result
from explorer.commands.targets import Target, entry_named, target
from explorer.compaction.profile import PROFILES
from explorer.work.edits import CannotShape

_NONE: tuple[int, ...] = ()
_DONE = {
    ("pin", False): "pinned",
    ("pin", True): "unpinned",
    ("omit", False): "omitted",
    ("omit", True): "taken in again",
}


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    tokens = getattr(arguments, "tokens", None)
    if tokens is not None and tokens < 0:
        raise UsageError(f"the tokens must be at least 0, not {tokens}")
    with target(arguments) as chosen:
        check_output(arguments)
        if chosen.at != chosen.document.leaf:
            raise UsageError("entries are shaped at the leaf; go there first, with branch")
        if not chosen.stored and arguments.output is None:
            raise UsageError("the file is not changed; name --output FILE to keep the result")
        entry, entries = asyncio.run(_shape(arguments, chosen))
        _tell(arguments, chosen, entry, entries)


async def _shape(arguments: argparse.Namespace, chosen: Target) -> tuple[int, tuple[int, ...]]:
    """The entry that was appended, and the entries that it concerns."""
    document, reason = chosen.document, arguments.reason
    try:
        if arguments.command == "keep-messages":
            made = await document.edits.keep_user_messages(arguments.tokens, reason), _NONE
        else:
            wanted = [entry_named(document, name) for name in arguments.entries]
            deeds = {
                ("pin", False): document.edits.pin,
                ("pin", True): document.edits.unpin,
                ("omit", False): document.edits.omit,
                ("omit", True): document.edits.include,
            }
            shaped = await deeds[arguments.command, arguments.undo](wanted, reason)
            made = shaped.entry, shaped.entries
    except CannotShape as error:
        raise CommandFailed(f"{error} Nothing was changed.") from error
    if arguments.output:
        await export_result(arguments, chosen, "the entry was stored")
    return made


def _tell(
    arguments: argparse.Namespace, chosen: Target, entry: int, entries: tuple[int, ...]
) -> None:
    document = chosen.document
    ids, profile = document.tree.columns.ids, PROFILES["explorer"]
    rows = document.edits.shaped_rows(profile)
    if arguments.json:
        print_json(_document(chosen, entry, entries))
        return
    if arguments.command == "keep-messages":
        print(f"the user's messages are kept up to {arguments.tokens:,} tokens")
    else:
        # What is told again takes its heading too: the sum is that of the rows below.
        told = {row.entry: row.tokens for row in rows}
        tokens = sum(told.get(at, document.edits.entry_weight(at, profile)) for at in entries)
        names = ", ".join(f"#{at}" for at in entries)
        print(f"{names} {_DONE[arguments.command, arguments.undo]}, {tokens:,} tokens")
    print(f"stored as entry {ids[entry]}")
    if rows:
        print_table(
            ("#", "entry", "how", "told", "tokens"),
            [(f"#{r.entry}", ids[r.entry], r.how, r.told, r.tokens) for r in rows],
            right=(0, 4),
        )


def _document(chosen: Target, entry: int, entries: tuple[int, ...]) -> dict[str, Any]:
    document = chosen.document
    ids = document.tree.columns.ids
    return {
        "entry": ids[entry],
        "entries": [ids[at] for at in entries],
        "shaped": [
            {
                "entry": ids[row.entry],
                "index": row.entry,
                "how": row.how,
                "told": row.told,
                "tokens": row.tokens,
                "by": ids[row.by] if row.by >= 0 else None,
            }
            for row in document.edits.shaped_rows(PROFILES["explorer"])
        ],
    }
