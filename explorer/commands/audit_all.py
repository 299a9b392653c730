"""audit --all: every stored session that the filters let through, each as a row."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct, field

from explorer.audit.report import CHECKS
from explorer.commands.errors import INTERRUPTED, CommandFailed, CommandStopped, UsageError
from explorer.commands.options import check_positive
from explorer.commands.output import ProgressLine, print_table
from explorer.commands.session_list import FILTERS, add_filters, filtered
from explorer.commands.targets import workbench
from explorer.compaction.profile import Profile
from explorer.compaction.reasons import count_text
from explorer.services import session_audit
from explorer.services.audit_folder import (
    LINES,
    TABLE,
    AuditFolder,
    FolderError,
    can_write_tables,
    line_of,
)
from explorer.services.bulk_audit import audited_rows, begun_rows
from explorer.services.library import read_library
from explorer.services.process_pool import PoolError
from explorer.services.session_audit import AuditRow
from explorer.session.visible_text import escaped

FORMS = ("jsonl", "parquet")
HELP = f"""\
Many sessions: --all audits every stored session that the filters let through, on several processes.
Without --out it prints totals, or with --json a JSON line for each session. With --out FOLDER it
writes {LINES}, a line for each session as soon as it is done, and with --format parquet
{TABLE} of the same rows at the end. Run again, it audits what is not there yet, has failed, or
has changed since, or was judged by another version or by other rules; so a run that was stopped
goes on. A session that fails, kills its process or takes longer than --limit is in there with its
reason, and the others are audited all the same. The fields:

{(session_audit.__doc__ or "").partition(chr(10) * 2)[2]}"""
_MOST_NAMED = 20
"""Failed sessions that are named one by one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what only ``--all`` takes."""
    group = parser.add_argument_group("many sessions")
    group.add_argument(
        "--all", action="store_true", help="audit every stored session that the filters let through"
    )
    group.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write a row for each session there, or go on"
    )
    group.add_argument(
        "--processes", type=int, metavar="N", help="audit so many at once (default: one per CPU)"
    )
    group.add_argument(
        "--limit", type=float, metavar="SECONDS", help="give a session up after so long"
    )
    add_filters(group)


def check(arguments: argparse.Namespace) -> None:
    """Raise UsageError, CommandFailed for what does not go together, before any work."""
    alone = ("session", "at", "compaction", "output")
    several = ("out", "processes", "limit", *FILTERS)
    if not arguments.all:
        if given := [name for name in several if getattr(arguments, name)]:
            raise UsageError(f"--{given[0]} goes with --all")
        if arguments.session is None:
            raise UsageError("name a session, or audit --all of them")
        if arguments.format in FORMS:
            raise UsageError(f"--format {arguments.format} goes with --all")
        return
    if given := [name for name in alone if getattr(arguments, name) is not None]:
        name = "a session" if given[0] == "session" else f"--{given[0]}"
        raise UsageError(f"{name} does not go with --all")
    if arguments.format not in (None, *FORMS):
        raise UsageError(
            f"--format {arguments.format} is of one session; with --all: jsonl, parquet"
        )
    if arguments.format is not None and arguments.out is None:
        raise UsageError(f"--format {arguments.format} needs --out FOLDER")
    check_positive(arguments, "processes")
    if arguments.limit is not None and not arguments.limit > 0:
        raise UsageError(f"--limit must be over 0, not {arguments.limit:g}")
    if arguments.format == "parquet" and not can_write_tables():
        raise CommandFailed(
            "Parquet files need pyarrow: pip install 'session-explorer[parquet]'. Without --format "
            f"parquet the same rows are written as {LINES}."
        )


def run(
    arguments: argparse.Namespace, profile: Profile | None, checks: Sequence[str]
) -> Sequence[str]:
    """Audit them; returns what ``--fail-on`` found. Raises UsageError,
    CommandFailed, CommandStopped."""
    with workbench(arguments.database) as bench:
        library = read_library(bench.store, prices=bench.client.info)
        rows = [one.session for one in filtered(arguments, library)]
        begun = begun_rows(bench.store, rows, profile)
        work = _Work(arguments, bench.store.path, profile)
        try:
            if arguments.out is None:
                totals = _Totals.of(_shown(work.audited(begun), arguments.json))
            else:
                totals = _into_folder(work, begun, arguments)
        except (PoolError, FolderError) as error:
            raise CommandFailed(str(error)) from error
        except KeyboardInterrupt as stop:
            raise CommandStopped(work.stopped_words, INTERRUPTED) from stop
    if not arguments.json:
        totals.print(work.found_there)
    if totals.failures:
        raise CommandFailed(*totals.failure_words())
    return totals.failed_checks(checks)


class _Work(Struct):
    """The auditing of one run, with its progress on standard error."""

    arguments: argparse.Namespace
    database: Path
    profile: Profile | None
    found_there: int = 0
    """Sessions whose row is in the folder already."""
    done: int = 0
    total: int = 0

    def audited(self, jobs: Sequence[AuditRow]) -> Generator[AuditRow, None, None]:
        """The rows, as they are done."""
        processes = self.arguments.processes or os.cpu_count() or 1
        line, self.total = ProgressLine(), len(jobs)
        limit_s = self.arguments.limit
        rows = audited_rows(jobs, self.database, self.profile, processes, limit_s)
        try:
            with closing(rows):
                for row in rows:
                    yield row
                    self.done += 1
                    line.show(self.done, self.total, f"{self.done:,} of {self.total:,} sessions")
        finally:
            line.end()

    @property
    def stopped_words(self) -> str:
        kept = "what was audited is kept, and" if self.arguments.out is not None else ""
        return f"interrupted; {kept} {self.total - self.done:,} sessions are left".replace(
            "  ", " "
        )


def _into_folder(work: _Work, begun: Sequence[AuditRow], arguments: argparse.Namespace) -> _Totals:
    folder = AuditFolder(arguments.out)
    with closing(folder):
        there = folder.begin(begun)
        work.found_there = len(there)
        rows = work.audited([one for one in begun if one.session not in there])
        with closing(rows):
            for row in _shown(rows, arguments.json):
                folder.add(row)
        if arguments.format == "parquet":
            folder.write_table()
        wanted = {(one.session, one.id) for one in begun}
        return _Totals.of(one for one in folder.rows() if (one.session, one.id) in wanted)


def _shown(rows: Iterable[AuditRow], as_json: bool) -> Iterator[AuditRow]:
    """Print rows as JSON lines on the way."""
    for row in rows:
        if as_json:
            sys.stdout.write(escaped(line_of(row).decode()))
            sys.stdout.flush()
        yield row


class _Group(Struct):
    """What the sessions of an agent came to."""

    sessions: int = 0
    failed: int = 0
    compactions: int = 0
    needed: int = 0
    compared: int = 0
    expected: float = 0.0
    instructions: int = 0
    missing: int = 0
    open_state: int = 0
    wrong: int = 0
    losses: int = 0
    cost: float = 0.0

    def add(self, row: AuditRow) -> None:
        self.sessions += 1
        self.failed += row.status == "failed"
        self.compactions += row.compactions
        self.needed += row.needed_again
        self.compared += row.needed_compared
        self.expected += row.needed_expected
        self.instructions += row.instructions
        self.missing += row.standing_instruction
        self.open_state += row.open_state
        self.wrong += row.stated_wrongly
        self.losses += row.losses
        self.cost += row.cost_usd + row.cost_usd_by_list

    def cells(self, name: str) -> list[object]:
        expected = f"{self.expected:.1f}" if self.compared or self.expected else "-"
        return [
            name, self.sessions, self.failed, self.compactions, self.needed, self.compared,
            expected, self.instructions, self.missing, self.open_state, self.wrong, self.losses,
            f"${self.cost:,.2f}",
        ]  # fmt: skip


class _Totals(Struct):
    whole: _Group = field(default_factory=_Group)
    agents: dict[str, _Group] = field(default_factory=lambda: defaultdict(_Group))
    found: Counter[str] = field(default_factory=Counter)
    """By check: sessions in which it finds something."""
    failures: list[tuple[int, str]] = field(default_factory=list)
    """Number of a session, and why it could not be audited."""

    @classmethod
    def of(cls, rows: Iterable[AuditRow]) -> _Totals:
        totals = cls()
        for row in rows:
            totals.whole.add(row)
            totals.agents[row.agent].add(row)
            totals.found.update(row.found)
            if row.status == "failed":
                totals.failures.append((row.session, row.reason))
        return totals

    def print(self, found_there: int) -> None:
        heads = (
            "agent", "sessions", "failed", "compactions", "needed again", "compared", "expected",
            "instructions", "missing", "open", "wrong", "losses", "cost",
        )  # fmt: skip
        rows = [group.cells(name) for name, group in sorted(self.agents.items())]
        if len(rows) != 1:
            rows.append(self.whole.cells("all"))
        print_table(heads, rows, right=range(1, len(heads)))
        if found_there:
            print(f"{found_there:,} of these sessions had been audited before.")

    def failure_words(self) -> list[str]:
        words = [f"session {key}: {reason}" for key, reason in self.failures[:_MOST_NAMED]]
        more = len(self.failures) - len(words)
        return [*words, f"{more:,} more sessions failed"] if more else words

    def failed_checks(self, checks: Sequence[str]) -> list[str]:
        """What was to be failed on, in words."""
        return [
            f"{name}: {CHECKS[name]}, in {count_text(self.found[name], 'session')}"
            for name in checks
            if self.found[name]
        ]
