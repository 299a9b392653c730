"""Takes the pictures; returns 1 and names the states that could not be reached."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.screens", description=__doc__)
    parser.add_argument("outdir", type=Path, help="where the pictures go, one PNG per state")
    parser.add_argument("--only", metavar="NAME", default="", help="states whose name holds this")
    parser.add_argument("--list", action="store_true", help="name the states and end")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--offscreen", action="store_true", help="without a display (the default without one)"
    )
    where.add_argument("--display", action="store_true", help="on the display, such as Xvfb")
    return parser.parse_args(words)


def prepare_environment(arguments: argparse.Namespace, home: Path) -> None:
    """Nobody's own sessions, settings and keys are in the pictures; set before Qt is imported."""
    if arguments.offscreen or not (arguments.display or os.environ.get("DISPLAY")):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    elif arguments.display:
        os.environ.pop("QT_QPA_PLATFORM", None)
    for variable in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE"))]:
        del os.environ[variable]
    os.environ.pop("QT_QPA_PLATFORMTHEME", None)
    os.environ["HOME"] = str(home)
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


def main(words: list[str] | None = None) -> int:
    arguments = parse(words)
    home = Path(tempfile.mkdtemp(prefix="session-explorer-screens-"))
    prepare_environment(arguments, home)
    from tests.screens.taking import list_jobs, take_all

    try:
        if arguments.list:
            print("\n".join(job.name for job in list_jobs(arguments.only)))
            return 0
        arguments.outdir.mkdir(parents=True, exist_ok=True)
        missing = take_all(arguments.outdir, home, arguments.only)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    for name, reason in missing:
        print(f"not reached: {name}: {reason}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
