"""list: the stored sessions, filtered, with what they took."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from explorer.commands.output import (
    UsageError,
    local_time,
    print_json,
    print_table,
    write_progress,
)
from explorer.commands.targets import add_common, workbench
from explorer.services.discovery import agents_named
from explorer.services.library import Library, LibraryFilter, LibraryRow, read_library
from explorer.session.usage_sums import UsageSum
from explorer.workbench import Workbench

Named = TypeVar("Named")

NOT_RECORDED = "not recorded"
NOT_COUNTED = "not counted yet"
_COUNTING_S, _LOOK_S = 5.0, 0.2
"""How long what sessions took is waited for, and how often is looked; a large library that was
just imported takes longer, and is counted on whenever the program runs."""


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add the filters."""
    add_filters(parser)
    add_common(parser)


def add_filters(parser: argparse._ActionsContainer) -> None:
    """Filters of stored sessions; each may be given several times, and lets any of its values
    through."""
    add_filter(parser, "agent", 'of this agent, such as "Claude Code" or claude-code')
    add_filter(parser, "project", "whose folder has this name")
    add_filter(parser, "model", "in which this model answered most, by its name or a part of it")
    add_filter(parser, "label", "with this label")
    parser.add_argument("--since", metavar="DATE", help="used on this day (2026-01-31) or later")
    parser.add_argument("--compacted", action="store_true", help="only those with a compaction")


def add_filter(parser: argparse._ActionsContainer, name: str, which: str) -> None:
    """Add a filter of sessions."""
    parser.add_argument(
        f"--{name}", action="append", default=[], metavar=name[0].upper(), help=f"only {which}"
    )


FILTERS = ("agent", "project", "model", "label", "since", "compacted")
"""What ``add_filters`` adds."""


def run(arguments: argparse.Namespace) -> None:
    """Print the sessions. Raises UsageError, CommandFailed."""
    with workbench(arguments.database) as bench:
        library = _counted(bench)
    rows = filtered(arguments, library)
    if arguments.json:
        print_json([_values(row) for row in rows])
    elif not library.rows:
        print(
            "No session is stored yet. Import one: session-explorer import FILE\n"
            "Or all that are on this computer: session-explorer library import"
        )
    elif not rows:
        print("No stored session is let through by these filters.")
    else:
        heads = ("no", "updated", "agent", "model", "entries", "branches", "compactions",
                 "tokens", "cost", "folder", "title")  # fmt: skip
        print_table(heads, [_cells(row) for row in rows], right=(0, 4, 5, 6, 7, 8))


def _counted(bench: Workbench) -> Library:
    """The sessions, with what they took as far as that is counted soon."""
    end = time.monotonic() + _COUNTING_S
    while True:
        library = read_library(bench.store, prices=bench.client.info)
        left = sum(not row.is_summed for row in library.rows)
        if not left or time.monotonic() > end:
            break
        if sys.stderr.isatty():
            write_progress(f"Counting what sessions took: {left:,} to go")
        time.sleep(_LOOK_S)
    if sys.stderr.isatty():
        write_progress("")
    if left:
        print(
            f"Not counted yet: {left:,} of {len(library.rows):,} sessions. That goes on whenever "
            "the program runs.",
            file=sys.stderr,
        )
    return library


def filtered(arguments: argparse.Namespace, library: Library) -> list[LibraryRow]:
    """The sessions that the filters let through. Raises UsageError."""
    formats = agents_named(arguments.agent)
    rows = library.rows
    labels = [label for row in rows for label in row.session.labels]
    rule = LibraryFilter(
        frozenset(row.agent for row in rows if row.session.format in formats)
        or frozenset(arguments.agent),
        _named(arguments.project, rows, lambda row: row.project, str.__eq__),
        _named(arguments.model, rows, lambda row: row.model, str.__contains__),
        moment(arguments.since),
        arguments.compacted,
        started=True,
        labels=_named(arguments.label, labels, str, str.__eq__),
    )
    return library.filtered(rule)


def _named(
    words: Sequence[str],
    rows: Sequence[Named],
    name_of: Callable[[Named], str],
    fits: Callable[[str, str], bool],
) -> frozenset[str]:
    """The names of those that fit a word in any case; the words where none does, so that no
    session is let through."""
    names = {name_of(row) for row in rows}
    fitting = {n for n in names for word in words if fits(n.casefold(), word.casefold())}
    return frozenset(fitting or words)


def moment(date: str | None) -> float:
    """Milliseconds since 1970 at which a day begins here. Raises UsageError."""
    if date is None:
        return 0.0
    try:
        return datetime.fromisoformat(date).timestamp() * 1000
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"--since {date}: expected a date such as 2026-01-31") from error


def _values(row: LibraryRow) -> dict[str, Any]:
    session, spent = row.session, row.spent
    counted = row.is_summed
    return {
        "session": session.key,
        "id": session.session_id,
        "title": session.title,
        "agent": row.agent,
        "format": session.format,
        "model": row.model or None,
        "project": row.project,
        "cwd": session.cwd,
        "entries": session.entries,
        "branches": session.branches if counted else None,
        "compactions": session.compactions,
        "tokens": _tokens(spent) if counted else None,
        "cost": _cost(spent) if counted else None,
        "cost_by_listed_prices": spent.listed > 0 if counted else None,
        "calls_without_tokens": spent.uncounted if counted else None,
        "calls_without_cost": spent.unpriced + spent.uncounted if counted else None,
        "counted": counted,
        "labels": list(session.labels),
        "updated_ms": session.last_ms,
        "file": session.path,
    }


def _tokens(spent: UsageSum) -> int | None:
    """Tokens of all calls, as far as they are recorded; None where no call's are."""
    return spent.tokens if spent.calls or spent.tokens else None


def _cost(spent: UsageSum) -> float | None:
    """Dollars; None where no call's cost is recorded or can be worked out by listed prices."""
    return spent.whole_cost if spent.listed or spent.calls > spent.unpriced else None


def _mark(spent: UsageSum) -> str:
    """Before a cost: worked out by listed prices, or without what some calls did not report or
    record."""
    if spent.cost_is_least:
        return "≥"
    return "≈" if spent.listed else "≥" if spent.unpriced else ""


def _cells(row: LibraryRow) -> tuple[Any, ...]:
    session, spent = row.session, row.spent
    if row.is_summed:
        tokens, cost = _tokens(spent), _cost(spent)
        # What some calls did not report is more than the sum.
        least = "≥" if spent.uncounted else ""
        figures: tuple[Any, ...] = (
            session.branches,
            NOT_RECORDED if tokens is None else f"{least}{tokens:,}",
            NOT_RECORDED if cost is None else f"{_mark(spent)}${cost:,.2f}",
        )
    else:
        figures = (NOT_COUNTED, NOT_COUNTED, NOT_COUNTED)
    title = session.title or "Untitled session"
    model = row.model or (NOT_RECORDED if row.is_summed else NOT_COUNTED)
    branches, shown_tokens, shown_cost = figures
    return (
        session.key, local_time(session.last_ms), row.agent, model,
        session.entries, branches, session.compactions, shown_tokens, shown_cost,
        session.cwd, " ".join([title, *(f"[{label}]" for label in session.labels)]),
    )  # fmt: skip
