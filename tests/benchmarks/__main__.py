"""`python -m tests.benchmarks [--quick] [--only NAME]`: measure, and print a table."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks import (
    agents,
    auditing,
    bulk,
    choosing,
    deciding,
    importing,
    library,
    mapping,
    opening,
    reading,
    rendering,
    searching,
    simulating,
    soaking,
    stalling,
    starting,
    storing,
    summarizing,
    talking,
    team,
)
from tests.benchmarks.bench import Bench, ChildFailed
from tests.benchmarks.report import Row, machine, table

BENCHMARKS: dict[str, Callable[[Bench], list[Row]]] = {
    "start": starting.measure,
    "import": importing.measure,
    "agents": agents.measure,
    "store": storing.measure,
    "open": opening.measure,
    "library": library.measure,
    "library-search": searching.measure,
    "map": mapping.measure,
    "decide": deciding.measure,
    "drag": deciding.measure_window,
    "stalls": stalling.measure,
    "large": reading.measure,
    "talk": talking.measure,
    "models": choosing.measure,
    "offline": summarizing.measure,
    "prompt": rendering.measure,
    "what-if": simulating.measure,
    "audit": auditing.measure,
    "bulk": bulk.measure,
    "team": team.measure,
    "soak": soaking.measure,
}
LONG = ("soak", "library-search", "bulk", "team")
"""Take ten minutes, and run only where they are named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all benchmarks or those named; returns the exit status, which no figure changes."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sessions, fewer rounds")
    parser.add_argument(
        "--only", action="append", choices=list(BENCHMARKS), metavar="NAME",
        help=f"one of {', '.join(BENCHMARKS)}; may be given several times;"
        f" without it all but {', '.join(LONG)} are run",
    )  # fmt: skip
    parser.add_argument(
        "--gigabytes", type=float, default=1.0, metavar="N",
        help="of entries for library-search; its making ends after 25 minutes at the latest",
    )  # fmt: skip
    parser.add_argument("--folder", type=Path, help="keep sessions and databases here")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="session-explorer-benchmarks-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        names = options.only or [name for name in BENCHMARKS if name not in LONG]
        rows, failed = _run(Bench(folder, quick=options.quick, gigabytes=options.gigabytes), names)
    print(f"Medians on {machine()}.\n")
    print(table(rows))
    return 1 if failed else 0


def _run(bench: Bench, names: Sequence[str]) -> tuple[list[Row], bool]:
    rows: list[Row] = []
    failed = False
    for name in names:
        started = time.monotonic()
        try:
            rows += BENCHMARKS[name](bench)
        except ChildFailed as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    return rows, failed


if __name__ == "__main__":
    sys.exit(main())
