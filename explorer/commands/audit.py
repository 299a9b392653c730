"""audit: what the compactions of a session kept, lost and stated wrongly, as a report."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from explorer.audit.findings import Group, Severity
from explorer.audit.report import CHECKS, Failure, Report, failures
from explorer.audit.report.model import cost_words, refs_words, verdict_words
from explorer.audit.words import (
    NEED_TITLES,
    PROVENANCE_TITLES,
    RULE_OF_THUMB,
    SEVERITY_TITLES,
    before_words,
    expected_words,
    finding_words,
    need_text,
    not_carried_words,
    path_words,
    size_text,
)
from explorer.commands import audit_all
from explorer.commands.output import CommandFailed, UsageError, print_table, write_progress
from explorer.commands.targets import add_session, entry_named, named_profile, target
from explorer.compaction.profile import Profile
from explorer.compaction.reasons import count_text
from explorer.services.audit_report import (
    ReportForm,
    form_of_file,
    make_report,
    save_report,
    written,
)
from explorer.session.visible_text import escaped, visible_line

_EPILOG = """\
Checks for --fail-on: standing-instruction (one of the user's standing instructions is neither in
the summary nor in the kept tail), open-state (work under way is not named), stated-wrongly (the
summary contradicts the record); needed-again (a file read again, a command run again and so on,
because a compaction took it away); lost-entries (neither kept nor summarized); and the kinds of
compaction faults, such as kept-range-dropped or boundary-lost. Several are parted by commas.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 when --fail-on found something; the report is
written all the same.
"""
_LONGEST_NEED = 80
"""Characters of what was needed again, in a row."""
_PROGRESS_INTERVAL_S = 0.1
"""Between two lines of progress."""


class AuditFailed(CommandFailed):
    """A check that was asked for found something (exit status 3)."""

    status = 3


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add the command's arguments."""
    parser.epilog = f"{_EPILOG}\n{audit_all.HELP}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_session(parser, is_needed=False)
    parser.add_argument("--compaction", metavar="ENTRY", help="one compaction of the path only")
    parser.add_argument(
        "--profile", metavar="NAME", help="rules to judge by (default: those of its own agent)"
    )
    parser.add_argument(
        "--format", choices=get_args(ReportForm), help="print or write the whole report"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write it there; the suffix tells the format"
    )
    parser.add_argument(
        "--fail-on", action="append", default=[], metavar="CHECK[,CHECK...]",
        help="fail when one of these is found",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--database", type=Path, metavar="FILE", help="use this database")
    audit_all.add_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command. Raises UsageError, CommandFailed, AuditFailed."""
    audit_all.check(arguments)
    checks = _checks(arguments)
    profile = named_profile(arguments.profile) if arguments.profile else None
    if arguments.report is not None:
        _check_output(arguments.output)
        audit_all.write_report(arguments.report, arguments.output)
        return
    if arguments.all:
        if found := audit_all.run(arguments, profile, checks):
            raise AuditFailed("; ".join(found))
        return
    _audit_one(arguments, profile, checks)


def _audit_one(
    arguments: argparse.Namespace, profile: Profile | None, checks: Sequence[str]
) -> None:
    form = _form(arguments)
    _check_output(arguments.output)
    with target(arguments) as chosen:
        compaction = None
        if arguments.compaction is not None:
            compaction = entry_named(chosen.document, arguments.compaction)
        asyncio.run(chosen.document.usage.follow())
        progress = _Progress()
        try:
            report = make_report(
                chosen.document,
                chosen.at,
                chosen.document.usage.branch(chosen.at),
                compaction=compaction,
                profile=profile,
                progress=progress.report,
            )
        except ValueError as error:
            raise UsageError(str(error)) from error
        finally:
            progress.end()
        failed = failures(report, checks)
        _write(arguments, report, form, failed, chosen.document.shared.privacy.exported)
    if failed:
        raise AuditFailed("; ".join(f"{one.check}: {one.text}" for one in failed))


def _checks(arguments: argparse.Namespace) -> list[str]:
    names = [name.strip() for words in arguments.fail_on for name in words.split(",")]
    for name in names:
        if name not in CHECKS:
            raise UsageError(f"--fail-on {name}: no such check; see `session-explorer audit -h`")
    return list(dict.fromkeys(names))


def _form(arguments: argparse.Namespace) -> ReportForm | None:
    """The form of the report; None for a table to read on a terminal."""
    given: ReportForm | None = arguments.format
    if arguments.output is None:
        if arguments.json and given not in (None, "json"):
            raise UsageError(f"--json and --format {given} are two forms for one output")
        return "json" if arguments.json else given
    form = given or form_of_file(arguments.output)
    if form is None:
        names = ", ".join(get_args(ReportForm))
        raise UsageError(f"{arguments.output}: its suffix names no format; give --format ({names})")
    return form


def _check_output(output: Path | None) -> None:
    """Raise CommandFailed before any work when the file has no folder to be in."""
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        reason = "is a folder" if output.is_dir() else "there is no such folder"
        raise CommandFailed(f"{output}: {reason}. Nothing was written.")


def _write(
    arguments: argparse.Namespace,
    report: Report,
    form: ReportForm | None,
    found: tuple[Failure, ...],
    exported: Callable[[str], str],
) -> None:
    output = arguments.output
    if output is not None and form is not None:
        try:
            save_report(report, form, output, exported)
        except OSError as error:
            reason = error.strerror or str(error)
            raise CommandFailed(f"{output}: {reason}. Nothing was written.") from error
        print(visible_line(f"{output}: the report was written"), file=sys.stderr)
        if arguments.json:
            sys.stdout.write(escaped(written(report, "json", exported)))
            return
        form = None
    if form is not None:
        text = written(report, form, exported)
        sys.stdout.write(escaped(text) if form == "json" else text)
    else:
        _print_report(report, found)


def _print_report(report: Report, found: tuple[Failure, ...]) -> None:
    session = report.session
    print(f"{visible_line(session.title)}: {session.on_path:,} entries on the path, "
          f"{count_text(len(report.compactions), 'compaction')}, "
          f"{count_text(len(report.losses), 'compaction fault')}.")  # fmt: skip
    if report.compactions:
        _print_needed(report)
    print(verdict_words(report))
    cost, known = cost_words(report)
    print(f"Cost of the path: {cost} ({known})")
    print(
        f"Judged by the rules of: {visible_line(report.rules)} ({visible_line(report.rules_known)})"
    )
    if report.compactions:
        _print_compactions(report)
    _print_losses(report)
    if report.compactions:
        print(RULE_OF_THUMB)
    if found:
        print(f"Failed: {', '.join(one.check for one in found)}.")


def _print_needed(report: Report) -> None:
    """First what is proven by what came after."""
    needed = report.needed_again
    print(f"Needed again: {path_words(needed)}")
    rows = [
        [
            f"#{one.need.taken_by}", NEED_TITLES[one.need.kind],
            before_words(one.need.repeat), f"#{one.after.index}", one.need.repeat.tokens or "",
            one.need.tail.needed if one.need.tail else "",
            visible_line(need_text(one.need.repeat, _LONGEST_NEED)),
        ]
        for part in report.needed
        for one in part.needs
    ]  # fmt: skip
    if rows:
        heads = ["after", "needed again", "before", "again", "tokens", "held by a tail of", "what"]
        print_table(heads, rows, (4, 5))
    for part in report.needed:
        if part.needs and not report.is_one:
            words = expected_words(part.found.expected, len(part.needs))
            print(f"After #{part.found.compaction}: {words}")


def _print_compactions(report: Report) -> None:
    before = f"before ({report.counted_by})"
    heads = ["compaction", before, "after", "instructions given", "missing", "not named", "wrong"]
    rows = []
    for part in report.compactions:
        found = part.fidelity
        # Of a summary that cannot be read nobody knows what it lacks.
        counts = [found.instructions, *(len(found.of(group)) for group in Group)]
        shown = counts if found.is_readable else ["–"] * len(counts)
        after = size_text(part.counted_after)
        rows.append([f"#{part.entry.index}", part.counted_before, after, *shown])
    print_table(heads, rows, right=range(1, len(heads)))
    for part in report.compactions:
        for finding in part.fidelity.findings:
            print(f"At #{part.entry.index}: {visible_line(finding_words(finding))}")
    if report.compactions and (also := not_carried_words(report.compactions[-1].fidelity)):
        print(f"{also}.")


def _print_losses(report: Report) -> None:
    rows = []
    for these in report.loss_kinds:
        first = these[0].loss
        known = ", ".join(dict.fromkeys(PROVENANCE_TITLES[one.loss.provenance] for one in these))
        rows.append([
            first.kind.value, SEVERITY_TITLES[first.severity], len(these), known,
            f"{first.title} at {refs_words([one.loss.at for one in these])}",
        ])  # fmt: skip
    if rows:
        print_table(["fault", "gravity", "times", "known", "what and where"], rows, right=(2,))
    for loss in report.losses:
        if loss.loss.severity is Severity.LOST:
            print(f"At #{loss.at.index}: {visible_line(loss.loss.cause)}")


class _Progress:
    """A line on standard error that is written over; nothing where that is no terminal."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._last = 0.0
        self._is_open = False

    def report(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._is_shown and total and now - self._last >= _PROGRESS_INTERVAL_S:
            self._last, self._is_open = now, True
            write_progress(f"Auditing: {done * 100 // total} %")

    def end(self) -> None:
        if self._is_open:
            write_progress("")
