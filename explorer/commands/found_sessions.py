"""library: look for the sessions of agents on this computer, and import what is found. The actions
that are about a team's library are in ``team``."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from msgspec.structs import replace

from explorer.commands import team
from explorer.commands.output import (
    INTERRUPTED,
    CommandFailed,
    CommandStopped,
    ProgressLine,
    UsageError,
    local_time,
    print_json,
    print_table,
)
from explorer.commands.session_list import NOT_RECORDED, add_filter
from explorer.commands.targets import add_common, workbench
from explorer.formats.registry import ADAPTERS
from explorer.services.discovery import (
    FoundImport,
    ImportOutcome,
    ImportState,
    Places,
    Scan,
    agents_named,
    places_of,
    scan,
)
from explorer.session.visible_text import visible_line
from explorer.settings.live import live_settings

_LOOK_S = 0.2
"""How often the import is looked at; Ctrl+C is noticed in between."""


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add a parser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, words in (
        ("scan", "say which sessions there are, by agent and project; nothing is imported"),
        ("import", "import all that are new or changed; what is stored already is passed over"),
    ):
        action = actions.add_parser(name, help=words)
        add_filter(action, "agent", 'of this agent, such as "Claude Code" or claude-code')
        add_common(action)
    for name, words in team.ACTIONS.items():
        team.add_action(actions.add_parser(name, help=words), name)


def run(arguments: argparse.Namespace) -> None:
    """Run one of the actions. Raises UsageError, CommandFailed."""
    if arguments.action in team.ACTIONS:
        team.run(arguments)
        return
    places = _places(arguments)
    if arguments.action == "scan":
        with workbench(arguments.database) as bench:
            found = scan(bench.store, places)
        _print_scan(found, arguments.json)
    else:
        _import(arguments, places)


def _places(arguments: argparse.Namespace) -> Places:
    """Where the settings say; agents that are named come before those of the settings."""
    places = places_of(live_settings().values())
    if not arguments.agent:
        return places
    named = agents_named(arguments.agent)
    if unknown := sorted(named - ADAPTERS.keys()):
        there_are = ", ".join(adapter.title for adapter in ADAPTERS.values())
        raise UsageError(f"{unknown[0]!r} is no agent; there are: {there_are}")
    return replace(places, agents=named)


def _print_scan(found: Scan, as_json: bool) -> None:
    groups = found.groups()
    if as_json:
        rows = [
            {
                "agent": one.agent, "project": one.project or None, "sessions": len(one.sessions),
                "bytes": one.size, "new": one.new, "changed": one.changed,
                "updated_ms": one.modified_ms,
            }
            for one in groups
        ]  # fmt: skip
        failures = [{"where": one.where, "reason": one.reason} for one in found.failures]
        print_json({"sessions": len(found.sessions), "bytes": found.size, "groups": rows,
                    "failures": failures})  # fmt: skip
        return
    for failure in found.failures:
        print(visible_line(f"{failure.where}: {failure.reason}"), file=sys.stderr)
    if not groups:
        print("No session was found in the usual places of the agents.")
        return
    print_table(
        ("agent", "project", "sessions", "size", "new", "changed", "updated"),
        [
            (one.agent, one.project or NOT_RECORDED, len(one.sessions), _size_words(one.size),
             one.new, one.changed, local_time(one.modified_ms))
            for one in groups
        ],
        right=(2, 3, 4, 5),
    )  # fmt: skip
    waiting = sum(one.state != "stored" for one in found.sessions)
    print(f"{len(found.sessions):,} sessions, {_size_words(found.size)}; {waiting:,} to import")


def _size_words(size: int) -> str:
    """Bytes as people read them."""
    for unit, step in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= step:
            return f"{size / step:,.1f} {unit}"
    return f"{size} bytes"


def _import(arguments: argparse.Namespace, places: Places) -> None:
    with workbench(arguments.database) as bench:
        found = scan(bench.store, places)
        line = ProgressLine()

        def show(state: ImportState) -> None:
            line.show(state.sessions_done, state.sessions,
                      f"{state.sessions_done:,} of {state.sessions:,} sessions, "
                      f"{_size_words(state.bytes_done)} of {_size_words(state.size)}")  # fmt: skip

        work = FoundImport(bench, found.sessions, show)
        outcome, interrupted = _run_interruptibly(work)
        line.end()
    _print_outcome(outcome, found, arguments.json)
    problems = [f"{one.where}: {one.reason}" for one in found.failures]
    problems += [f"{path}: {reason}" for path, reason in outcome.failed]
    if interrupted:
        problems.append(
            f"interrupted; what was imported is kept, and {outcome.left:,} sessions are left for "
            "the next time"
        )
        raise CommandStopped("\n".join(problems), INTERRUPTED)
    if problems:
        raise CommandFailed(*problems)


def _run_interruptibly(work: FoundImport) -> tuple[ImportOutcome, bool]:
    """Run it in a thread, so that Ctrl+C ends it at a whole session."""
    interrupted = False
    with ThreadPoolExecutor(1, "found-import") as pool:
        outcome = pool.submit(work.run)
        while not outcome.done():
            try:
                wait([outcome], _LOOK_S)
            except KeyboardInterrupt:
                interrupted = True
                work.cancel()
    return outcome.result(), interrupted


def _print_outcome(outcome: ImportOutcome, found: Scan, as_json: bool) -> None:
    if as_json:
        values: dict[str, Any] = {
            "found": len(found.sessions), "imported": outcome.new, "updated": outcome.updated,
            "unchanged": outcome.unchanged, "entries": outcome.entries, "left": outcome.left,
            "failed": [{"file": path, "reason": reason} for path, reason in outcome.failed],
        }  # fmt: skip
        print_json(values)
        return
    print(
        f"{outcome.new:,} sessions imported, {outcome.updated:,} updated, {outcome.unchanged:,} "
        f"up to date already; {outcome.entries:,} entries added"
    )
