"""What becomes of a command's result: stored, written to a file, or kept nowhere."""

from __future__ import annotations

import argparse

from explorer.cli import CommandFailed
from explorer.commands.targets import Target
from explorer.formats import ExportError
from explorer.formats.export import AsFormat


def why_not_stored(arguments: argparse.Namespace) -> str:
    """Why nothing of what was done is kept."""
    if arguments.dry_run:
        return "dry run: nothing was stored"
    return "the file was not changed; name --output FILE to keep the result"


def check_output(arguments: argparse.Namespace) -> None:
    """Raise CommandFailed before any work when the output file has no folder to be in."""
    output = arguments.output
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        reason = "is a folder" if output.is_dir() else "there is no such folder"
        raise CommandFailed(f"{output}: {reason}. Nothing was changed.")


async def export_result(arguments: argparse.Namespace, chosen: Target, done: str) -> None:
    """Write the session where --output says; ``done`` is what had been stored before that."""
    # Files of version 1 hold one chain without ids: no place for what was added.
    form: AsFormat = "pi-v3" if chosen.document.header.version == 1 else "original"
    try:
        await chosen.bench.export(chosen.document.key, arguments.output, form)
    except (OSError, ExportError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        kept = f" In the database {done} all the same." if chosen.stored else ""
        raise CommandFailed(f"{arguments.output}: {reason}.{kept}") from error
