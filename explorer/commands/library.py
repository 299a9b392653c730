"""import, search, export, fork and salvage."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from explorer.commands.output import CommandFailed, UsageError, print_json, print_table
from explorer.commands.targets import (
    Target,
    add_common,
    add_session,
    check_positive,
    session_named,
    target,
    workbench,
)
from explorer.formats.adapter import FormatError
from explorer.formats.pi.export import ExportError, shape_note
from explorer.formats.registry import ADAPTERS
from explorer.services.session_export import FORMS, changed_form, form_of_file, secrets_note
from explorer.services.session_forks import Forked
from explorer.session.kinds import Kind
from explorer.session.visible_text import visible_line
from explorer.store import StoreError, salvage
from explorer.workbench import Workbench


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of one of this module's commands."""
    match command:
        case "import":
            agents = ", ".join(adapter.title for adapter in ADAPTERS.values())
            parser.add_argument(
                "files",
                nargs="+",
                type=Path,
                metavar="FILE",
                help=f"a session of {agents}: the file that the agent writes, whichever it is",
            )
        case "salvage":
            parser.add_argument("damaged", type=Path, metavar="DATABASE")
            parser.add_argument("output", type=Path)
            parser.add_argument("--json", action="store_true", help="print one JSON document")
            return
        case "search":
            parser.add_argument("query")
            parser.add_argument(
                "session", nargs="?", help="search this session, or this file, only"
            )
            parser.add_argument("--limit", type=int, default=50, metavar="N")
        case "export":
            add_session(
                parser, "where an agent shall go on: an entry id, its unique start, or #index"
            )
            parser.add_argument("output", type=Path)
            parser.add_argument(
                "--format",
                choices=FORMS,
                help="original: as it was imported; pi-v3: a session of pi; markdown and html: a "
                "transcript to be read (default: by the file's name)",
            )
            parser.add_argument(
                "--whole",
                action="store_true",
                help="a transcript of all branches, not only of the path",
            )
        case "fork":
            add_session(
                parser, "the entry that the fork goes on from: an id, its unique start, or #index"
            )
            parser.add_argument(
                "--whole", action="store_true", help="copy all branches, not only the path"
            )
            parser.add_argument("--name", default="", metavar="TEXT", help="what to call the fork")
            parser.add_argument(
                "--output", type=Path, metavar="FILE", help="write the fork to a file too"
            )
    add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    commands = {
        "import": _import,
        "search": _search,
        "export": _export,
        "fork": _fork,
        "salvage": _salvage,
    }
    commands[arguments.command](arguments)


def _import(arguments: argparse.Namespace) -> None:
    done: list[dict[str, Any]] = []
    failures: list[str] = []
    with workbench(arguments.database) as bench:
        for path in arguments.files:
            try:
                report = bench.import_blocking(path)
            except (FormatError, OSError) as error:
                failures.append(_reason(path, error))
                continue
            done.append(
                {
                    "session": report.key,
                    "file": str(path),
                    "entries": report.added + report.kept,
                    "added": report.added,
                    "updated": not report.created,
                    "kept_aside": report.asides,
                    "problems": [{"line": p.line, "reason": p.reason} for p in report.problems],
                }
            )
    if arguments.json:
        print_json({"imported": done, "failed": failures})
    else:
        for item in done:
            word = "updated" if item["updated"] else "imported"
            what = f"{item['added']:,} new of {item['entries']:,} entries from {item['file']}"
            print(visible_line(f"{word} session {item['session']}: {what}"))
            for note in item["problems"]:
                print(visible_line(f"  line {note['line']}: {note['reason']}"), file=sys.stderr)
    if failures:
        raise CommandFailed(*failures)


def _reason(path: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}"
    return str(error)


def _search(arguments: argparse.Namespace) -> None:
    if not arguments.query.strip():
        raise UsageError("search for at least one word")
    check_positive(arguments, "limit")
    if arguments.session is None:
        with workbench(arguments.database) as bench:
            _print_hits(arguments, bench, None, stored=True)
        return
    with session_named(arguments.session, arguments.database) as named:
        _print_hits(arguments, named.bench, named.key, stored=named.stored)


def _print_hits(
    arguments: argparse.Namespace, bench: Workbench, key: int | None, *, stored: bool
) -> None:
    """Find and print; the number of a session that is not stored says nothing and is left out."""
    found, shown, note = [], bench.privacy.shown, ""
    keys, hits = (None if key is None else (key,)), []
    for step in bench.store.search_steps(arguments.query, keys, arguments.limit):
        hits += step.hits
        if step.note and not note:
            note = step.note
            print(visible_line(note), file=sys.stderr)
    for hit in hits:
        document = bench.open_blocking(hit.key)
        kind = Kind(document.tree.columns.kind[hit.index]).name.lower()
        session = hit.key if stored else None
        found.append((session, hit, document.tree.columns.ids[hit.index], kind))
    if arguments.json:
        print_json(
            [
                {"session": s, "index": h.index, "entry": i, "kind": k, "snippet": shown(h.snippet)}
                for s, h, i, k in found
            ]
        )
    elif not found:
        print(f"nothing found for {arguments.query!r}")
    else:
        print_table(
            ("session", "#", "entry", "kind", "text"),
            [(s, f"#{hit.index}", name, kind, shown(hit.snippet)) for s, hit, name, kind in found],
            right=(0, 1),
        )


def _salvage(arguments: argparse.Namespace) -> None:
    try:
        report = salvage(arguments.damaged, arguments.output)
    except (StoreError, OSError) as error:
        raise CommandFailed(str(error)) from error
    if arguments.json:
        print_json(
            {
                "file": str(report.target),
                "sessions": [
                    {"title": s.title, "entries": s.entries, "lost": s.lost}
                    for s in report.sessions
                ],
                "notes": report.notes,
            }
        )
        return
    print_table(
        ("entries", "lost", "title"),
        [(s.entries, s.lost, s.title) for s in report.sessions],
        right=(0, 1),
    )
    for note in report.notes:
        print(visible_line(note), file=sys.stderr)
    print(visible_line(f"copied to {report.target}; {arguments.damaged} was left as it is"))


def _export(arguments: argparse.Namespace) -> None:
    with target(arguments) as chosen:
        key, output = chosen.document.key, arguments.output
        form = arguments.format or form_of_file(output)
        try:
            report = asyncio.run(
                chosen.bench.export(key, output, form, leaf=chosen.at, whole=arguments.whole)
            )
        except ExportError as error:
            raise CommandFailed(f"{output}: {error}") from error
    if arguments.json:
        print_json(
            {
                "file": str(output),
                "format": form,
                "entries": report.entries,
                "left_out": report.left_out,
                "unknown_types": report.unknown_types,
                "read_over": report.read_over,
                "masked": report.masked,
            }
        )
        return
    print(visible_line(f"wrote {report.entries:,} entries to {output}"))
    if note := secrets_note(report):
        print(note)
    if report.read_over:
        print(visible_line(shape_note(report.read_over)), file=sys.stderr)
    if report.left_out:
        lines = ", ".join(str(line) for line in report.left_out[:20])
        more = ", ..." if len(report.left_out) > 20 else ""
        print(f"the format has no place for what is on line {lines}{more}", file=sys.stderr)


def _fork(arguments: argparse.Namespace) -> None:
    with target(arguments) as chosen:
        if not chosen.stored and arguments.output is None:
            raise UsageError(
                f"{arguments.session} is not stored here: import or pull it first, or name the "
                "fork's file with --output"
            )
        forked = _forked(arguments, chosen)
        if arguments.output is not None:
            form = changed_form(chosen.bench.open_blocking(forked.key))
            asyncio.run(chosen.bench.export(forked.key, arguments.output, form))
        _print_fork(arguments, chosen, forked)


def _forked(arguments: argparse.Namespace, chosen: Target) -> Forked:
    try:
        return asyncio.run(
            chosen.bench.fork(
                chosen.document.key, chosen.at, arguments.whole, arguments.name.strip()
            )
        )
    except ValueError as error:
        raise CommandFailed(str(error)) from error


def _print_fork(arguments: argparse.Namespace, chosen: Target, forked: Forked) -> None:
    forked_document = chosen.bench.open_blocking(forked.key)
    if arguments.json:
        print_json(
            {
                "session": forked.key if chosen.stored else None,
                "id": forked_document.header.session_id,
                "parent_session": forked_document.header.parent_session,
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
