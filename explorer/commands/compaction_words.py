"""The words of the command line for compacting, pruning and trying rules; reads nothing, so a
start stays quick."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.shared_words import (
    Commands,
    add_common,
    add_rules,
    add_session,
    add_summarizing,
)


def add_compacting(commands: Commands) -> None:
    """The parsers of ``preview``, ``compact``, ``branch``, ``replay`` and ``what-if``."""
    preview = commands.add_parser("preview", help="what a compaction would summarize and keep")
    compact = commands.add_parser("compact", help="run a compaction and append it")
    branch = commands.add_parser("branch", help="leave the branch at --at for --to, summarizing it")
    replay = commands.add_parser("replay", help="play a session again, to see when it is compacted")
    for command in (preview, compact, branch):
        add_session(command)
        add_summarizing(command)
        add_common(command)
    _add_replay(replay)
    _add_what_if(commands)
    compact.add_argument(
        "--verify", action="store_true", help="have the summary checked and mended by one more call"
    )
    branch.add_argument("--to", required=True, metavar="ENTRY", help="where to go")
    branch.add_argument("--no-summary", action="store_true", help="only move the leaf")
    for command in (compact, branch):
        command.add_argument(
            "--dry-run", action="store_true", help="print the summary, keep nothing"
        )
        command.add_argument(
            "--output", type=Path, metavar="FILE", help="write the resulting session to a file"
        )
        command.add_argument("--no-extensions", action="store_true", help="ask no extension")


def _add_replay(replay: argparse.ArgumentParser) -> None:
    """"""
    add_session(replay)
    add_rules(replay)
    replay.add_argument(
        "--speed", type=float, default=0.0, metavar="T", help="tokens a second (default: at once)"
    )
    replay.set_defaults(model=None, endpoint="", instructions="")
    replay.add_argument("--keep", action="store_true", help="keep what was played as a session")
    add_common(replay)


def _add_what_if(commands: Commands) -> None:
    """"""
    walk = commands.add_parser(
        "what-if", help="what a session would have come to under other rules, without a model"
    )
    add_session(walk)
    walk.add_argument(
        "--profile", action="append", metavar="NAME", help="rules to walk it under; may be given "
        "several times (default: every profile that comes along)",
    )  # fmt: skip
    walk.add_argument("--keep-recent", type=int, metavar="N", help="tokens kept verbatim")
    walk.add_argument("--reserve", type=int, metavar="N", help="tokens kept free for the answer")
    walk.add_argument("--window", type=int, metavar="N", help="context window in tokens")
    walk.add_argument("--prices", metavar="MODEL", help="what it would cost with this model")
    walk.add_argument(
        "--summary-share", type=float, metavar="S", help="share of what a summary tells that it "
        "is taken to have (default: as in the session's own compactions)",
    )  # fmt: skip
    walk.add_argument(
        "--sweep", action="store_true", help="a grid over both sizes, under the first profile"
    )
    add_common(walk)


def add_pruning(commands: Commands) -> None:
    """The parser of ``prune``."""
    prune = commands.add_parser("prune", help="put notes in the place of old tool results")
    add_session(prune)
    prune.add_argument(
        "--profile", metavar="NAME", help="rules to follow (default: your settings', else explorer)"
    )
    prune.add_argument(
        "--protect", type=int, metavar="N", help="tokens of the newest results that stay"
    )
    prune.add_argument("--minimum", type=int, metavar="N", help="save at least so many, or nothing")
    prune.add_argument("--needed", type=int, metavar="N", help="stop when so many are saved")
    prune.add_argument("--dry-run", action="store_true", help="print what would go, keep nothing")
    prune.add_argument(
        "--output", type=Path, metavar="FILE", help="write the resulting session to a file"
    )
    add_common(prune)
