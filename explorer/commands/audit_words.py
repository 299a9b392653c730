"""The words of the command line for ``audit``; reads nothing, so a start stays quick."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.shared_words import Commands, add_session

_EPILOG = """\
Survival: of the things found in what a compaction summarized (paths, commands, figures,
constraints, decisions, requests and so on; not those that were changed later), the share that the
model still sees after it, word for word or in the summary. It is an upper bound of what a model
will recall. Of several compactions the lowest counts.

Checks for --fail-on: lost, mutated, invented or stale, each alone or of one kind, such as
lost-constraint or mutated-number (path, symbol, command, error, number, version, url, hash,
constraint, decision, question, request, todo); lost-latest-request; lost-entries (neither kept
nor summarized); and the kinds of losses, such as kept-range-dropped or boundary-lost.
Several are parted by commas.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 when --fail-under or --fail-on found something;
the report is written all the same.
"""


def add_audit(commands: Commands) -> None:
    """The parser of ``audit``."""
    audit = commands.add_parser(
        "audit",
        help="what compactions kept, lost and told wrongly, as a report",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_session(audit)
    audit.add_argument("--compaction", metavar="ENTRY", help="one compaction of the path only")
    audit.add_argument(
        "--profile", metavar="NAME", help="rules to judge by (default: those of its own agent)"
    )
    audit.add_argument(
        "--format", choices=("html", "md", "json"), help="print or write the whole report"
    )
    audit.add_argument(
        "--output", type=Path, metavar="FILE", help="write it there; the suffix tells the format"
    )
    audit.add_argument(
        "--fail-under", type=float, metavar="N", help="fail when less than N per cent survives"
    )
    audit.add_argument(
        "--fail-on", action="append", default=[], metavar="CHECK[,CHECK...]",
        help="fail when one of these is found",
    )  # fmt: skip
    audit.add_argument("--json", action="store_true", help="print one JSON document")
    audit.add_argument("--database", type=Path, metavar="FILE", help="use this database")
