"""Which extensions a command asks, and what is told of them on standard error."""

from __future__ import annotations

import argparse
import sys

from explorer.commands.targets import Target
from explorer.session.visible_text import visible_line
from explorer.work.changes import Change, ExtensionsActed


def ask_extensions(arguments: argparse.Namespace, chosen: Target) -> None:
    """Tell what fails and what extensions do; with ``--no-extensions`` nobody is asked.

    Standard error only: the output belongs to the command.
    """
    document = chosen.document
    if arguments.no_extensions:
        document.extensions = None
    if document.extensions is None:
        return
    cwd = document.header.cwd
    for row in document.extensions.listing(cwd):
        if row.problem is not None:
            _say(f"extension {row.name or 'folder'} is not loaded: {row.problem}")
    project = document.extensions.project(cwd)
    if project is not None and not project.trusted:
        _say(f"extensions of {project.folder} are not loaded, since it is not trusted")
    chosen.bench.subscribe(_tell)


def _tell(change: Change) -> None:
    if isinstance(change, ExtensionsActed):
        for record in change.records:
            if record.did != "nothing":
                _say(f"extension {record.extension}: {record.sentence}")


def _say(text: str) -> None:
    print(f"session-explorer: {visible_line(text)}", file=sys.stderr)
