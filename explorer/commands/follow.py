"""follow: print what an agent writes to its session, as it writes it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from explorer.commands.output import CommandFailed
from explorer.commands.targets import add_common, file_named, workbench
from explorer.formats.adapter import FormatError
from explorer.formats.registry import discover
from explorer.services.document import Document
from explorer.services.follower import follow
from explorer.session.kinds import Kind
from explorer.session.visible_text import visible_line
from explorer.store.rows import ImportReport
from explorer.workbench import Workbench


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "file", nargs="?",
        help="a session file, or FILE#SESSION of a file that holds several; by default the session"
        " on this computer that was written to last",
    )  # fmt: skip
    parser.add_argument(
        "--last", type=int, default=10, metavar="N", help="print the last N entries first"
    )
    add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command until it is interrupted. Raises CommandFailed."""
    path, session_id = file_named(arguments.file) if arguments.file else _newest()
    path = path.absolute()
    with workbench(arguments.database) as bench:
        try:
            asyncio.run(_follow(bench, path, session_id, arguments))
        except KeyboardInterrupt:
            return
        except FormatError as error:
            raise CommandFailed(str(error)) from error


def _newest() -> tuple[Path, str]:
    found = max(discover(Path.home(), os.environ), key=lambda one: one.modified_ms, default=None)
    if found is None:
        raise CommandFailed("No session of an agent was found in the usual places; name a file.")
    print(visible_line(f"following {found.path}"), file=sys.stderr)
    return found.path, found.session_id


async def _follow(
    bench: Workbench, path: Path, session_id: str, arguments: argparse.Namespace
) -> None:
    shown = -1
    async for report in follow(bench, path, session_id):
        document = await bench.open(report.key)
        if shown < 0:
            shown = max(0, len(document.tree) - max(0, arguments.last))
        _print(document, report, shown, arguments.json)
        shown = len(document.tree)


def _print(document: Document, report: ImportReport, first: int, as_json: bool) -> None:
    again = [at for at in report.replaced if at < first]
    for at in [*again, *range(first, len(document.tree))]:
        value = _entry(document, at)
        if as_json:
            print(json.dumps(value, ensure_ascii=False))
        else:
            print(visible_line(_line(value)))
    sys.stdout.flush()


def _entry(document: Document, at: int) -> dict[str, Any]:
    columns = document.tree.columns
    value: dict[str, Any] = {
        "entry": at,
        "id": columns.ids[at],
        "kind": document.tree.kind(at).name.lower(),
        "time_ms": columns.time[at],
        "tokens": columns.estimate[at],
        "text": document.payloads.shown.previews([at])[0],
    }
    if document.tree.kind(at) is Kind.COMPACTION:
        body: Any = document.payloads.shown.entry(at).body
        parent = columns.parent[at]
        sent = set(document.context(at).messages)
        dropped = [one for one in document.context(parent).messages if one not in sent]
        value["compaction"] = {
            "tokens_before": body.tokens_before or None,
            "tokens_after": body.tokens_after,
            "trigger": body.trigger or None,
            "certainty": body.certainty,
            "dropped": len(dropped),
            "dropped_tokens": sum(columns.estimate[one] for one in dropped),
        }
    return value


def _line(value: dict[str, Any]) -> str:
    line = f"#{value['entry']}  {value['kind'].replace('_', ' ')}  {value['text']}"
    if (made := value.get("compaction")) is None:
        return line
    before, after = made["tokens_before"], made["tokens_after"]
    sizes = f"{before:,} tokens" if before else "size before not recorded"
    sizes += f" -> {after:,}" if after is not None else ""
    return (
        f"#{value['entry']}  COMPACTED  {sizes}; {made['dropped']:,} entries dropped, about "
        f"{made['dropped_tokens']:,} tokens  {value['text']}"
    )
