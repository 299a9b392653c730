"""audit --all: every session of a library that the filters let through, each as rows of tables."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import orjson
from msgspec import Struct, field, to_builtins

from explorer.audit.report import CHECKS
from explorer.commands.output import (
    INTERRUPTED,
    CommandFailed,
    CommandStopped,
    ProgressLine,
    UsageError,
    print_table,
)
from explorer.commands.session_list import FILTERS, add_filters, filtered
from explorer.commands.targets import check_positive, is_team_library, team_library, workbench
from explorer.compaction.profile import Profile
from explorer.compaction.reasons import count_text
from explorer.services.audit_folder import (
    TABLES,
    AuditFolder,
    ContentOf,
    FolderError,
    can_write_tables,
    identity,
)
from explorer.services.bulk_audit import (
    Origin,
    Way,
    audited,
    begun_rows,
    begun_shared,
    content_of,
)
from explorer.services.bulk_report import save_many
from explorer.services.library import library_of, read_library
from explorer.services.process_pool import PoolError
from explorer.services.session_audit import AuditRow, SessionAudit
from explorer.session.visible_text import escaped, visible_line
from explorer.settings.libraries import read_libraries

HELP = f"""\
Many sessions: --all audits every stored session that the filters let through, on several processes,
and with LIBRARY: in place of a session those of a team's library. Without --out it prints totals,
or with --json a JSON line for each session. With --out FOLDER it writes Parquet files (the extra
session-explorer[parquet]) in its folders {", ".join(TABLES)}; their columns are
described in audit-tables.md of the documentation. Run again, it audits what is not there yet, has
failed, or has changed since, or was judged by another version or by other rules; so a run that was
stopped goes on. A session that fails, kills its process or takes longer than --limit is in there
with its reason, and the others are audited all the same. With --scheduler the workers of a Dask
cluster do the work (the extra session-explorer[dask]). --report FOLDER writes a page on its tables.
"""
_MOST_NAMED = 20
"""Failed sessions that are named one by one."""
_NOT_OF_TEAMS = ("model", "label")
"""Filters by what a team's library does not know."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what only ``--all`` takes."""
    group = parser.add_argument_group("many sessions")
    group.add_argument(
        "--all", action="store_true", help="audit every session that the filters let through"
    )
    group.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write Parquet files there, or go on"
    )
    group.add_argument(
        "--report", type=Path, metavar="FOLDER",
        help="write a page on the tables in this folder: report.html there, or --output FILE",
    )  # fmt: skip
    group.add_argument(
        "--processes", type=int, metavar="N", help="audit so many at once (default: one per CPU)"
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="let a Dask cluster do it, such as tcp://host:8786"
    )
    group.add_argument(
        "--limit", type=float, metavar="SECONDS", help="give a session up after so long"
    )
    add_filters(group)


def check(arguments: argparse.Namespace) -> None:
    """Raise UsageError, CommandFailed for what does not go together, before any work."""
    alone = ("at", "compaction", "output", "format")
    several = ("out", "processes", "scheduler", "limit", *FILTERS)
    if arguments.report is not None:
        others = (
            "session",
            "all",
            "at",
            "compaction",
            "format",
            "profile",
            "json",
            "fail_on",
            *several,
        )
        if given := [name for name in others if getattr(arguments, name)]:
            what = "a session" if given[0] == "session" else f"--{given[0]}"
            raise UsageError(f"{what} does not go with --report")
        _check_pyarrow("")
        return
    if not arguments.all:
        if given := [name for name in several if getattr(arguments, name)]:
            raise UsageError(f"--{given[0]} goes with --all")
        if arguments.session is None:
            raise UsageError("name a session, or audit --all of them")
        return
    if given := [name for name in alone if getattr(arguments, name) is not None]:
        raise UsageError(f"--{given[0]} does not go with --all")
    if arguments.session is not None:
        if _team_of(arguments) is None:
            raise UsageError("a session does not go with --all; a team's library does: LIBRARY:")
        if given := [name for name in _NOT_OF_TEAMS if getattr(arguments, name)]:
            raise UsageError(f"--{given[0]} is not known of a team's sessions")
    if arguments.scheduler and arguments.processes:
        raise UsageError("--processes does not go with --scheduler: the cluster has its workers")
    check_positive(arguments, "processes")
    if arguments.limit is not None and not arguments.limit > 0:
        raise UsageError(f"--limit must be over 0, not {arguments.limit:g}")
    if arguments.out is not None:
        _check_pyarrow(" Without --out, --json prints a line for each session.")


def _check_pyarrow(instead: str) -> None:
    if not can_write_tables():
        need = "Parquet files need pyarrow: pip install 'session-explorer[parquet]'."
        raise CommandFailed(need + instead)


def write_report(folder: Path, output: Path | None) -> None:
    """Write the page on the tables of a folder. Raises CommandFailed."""
    place = output or folder / "report.html"
    try:
        save_many(folder, place)
    except FolderError as error:
        raise CommandFailed(str(error)) from error
    print(visible_line(f"{place}: the report was written"), file=sys.stderr)


def run(
    arguments: argparse.Namespace, profile: Profile | None, checks: Sequence[str]
) -> Sequence[str]:
    """Audit them; returns what ``--fail-on`` found. Raises UsageError,
    CommandFailed, CommandStopped."""
    with _sessions(arguments, profile) as found:
        work = _Work(arguments, found.origin, profile)
        try:
            if arguments.out is None:
                rows = (one.row for one in _shown(work.audited(found.begun), arguments.json))
                totals = _Totals.of(rows)
            else:
                totals = _into_folder(work, found, arguments)
        except (PoolError, FolderError) as error:
            raise CommandFailed(str(error)) from error
        except KeyboardInterrupt as stop:
            raise CommandStopped(work.stopped_words, INTERRUPTED) from stop
    if not arguments.json:
        totals.print(work.found_there)
    if totals.failures:
        raise CommandFailed(*totals.failure_words())
    return totals.failed_checks(checks)


class _Sessions(Struct):
    """What is to be audited."""

    begun: Sequence[AuditRow]
    """What the rows begin with."""
    origin: Origin
    content_of: ContentOf


@contextmanager
def _sessions(arguments: argparse.Namespace, profile: Profile | None) -> Iterator[_Sessions]:
    """Those that the filters let through. Raises UsageError, CommandFailed."""
    name = _team_of(arguments)
    if name is None:
        # Sums and the search index are made when the processors are not needed for this.
        with workbench(arguments.database, maintained=False) as bench:
            library = read_library(bench.store, prices=bench.client.info)
            rows = [one.session for one in filtered(arguments, library)]
            begun = begun_rows(bench.store, rows, profile)
            del library, rows
            yield _Sessions(begun, Origin(bench.store.path), partial(content_of, bench.store))
        return
    with team_library(name) as team:
        shared = {one.row.key: one for one in team.shared()}
        rows_there = filtered(arguments, library_of(one.row for one in shared.values()))
        begun = begun_shared(name, (shared[one.session.key] for one in rows_there), profile)
    with tempfile.TemporaryDirectory(prefix="session-explorer-") as place:
        address = read_libraries().libraries[name]
        # The position of a team's session is the hash of its content already.
        yield _Sessions(begun, Origin(Path(place), name, address), lambda _: "")


def _team_of(arguments: argparse.Namespace) -> str | None:
    """The team's library that is meant, if any."""
    library, mark, number = (arguments.session or "").partition(":")
    return library if mark and not number and is_team_library(library) else None


class _Work(Struct):
    """The auditing of one run, with its progress on standard error."""

    arguments: argparse.Namespace
    origin: Origin
    profile: Profile | None
    found_there: int = 0
    """Sessions whose rows are in the folder already."""
    done: int = 0
    total: int = 0

    def audited(self, jobs: Sequence[AuditRow]) -> Generator[SessionAudit, None, None]:
        """What is found, as it is done."""
        line, self.total = ProgressLine(), len(jobs)
        given = self.arguments
        way = Way(self.profile, given.processes, given.limit, given.scheduler or "")
        try:
            with closing(audited(jobs, self.origin, way)) as found:
                for one in found:
                    yield one
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


def _into_folder(work: _Work, found: _Sessions, arguments: argparse.Namespace) -> _Totals:
    folder = AuditFolder(arguments.out)
    with closing(folder):
        there = folder.begin(found.begun, found.content_of)
        work.found_there = len(there)
        done = work.audited([one for one in found.begun if identity(one) not in there])
        with closing(done):
            for one in _shown(done, arguments.json):
                folder.add(one)
        folder.write()
        wanted = {identity(one) for one in found.begun}
        return _Totals.of(one for one in folder.rows() if identity(one) in wanted)


def _shown(found: Iterable[SessionAudit], as_json: bool) -> Iterator[SessionAudit]:
    """Print the rows of sessions as JSON lines on the way."""
    for one in found:
        if as_json:
            sys.stdout.write(escaped(orjson.dumps(to_builtins(one.row)).decode()) + "\n")
            sys.stdout.flush()
        yield one


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
            "instructions given", "missing", "not named", "wrong", "faults", "cost",
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
