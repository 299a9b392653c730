"""The words of the command line for ``run`` and ``new``; reads nothing, so a start stays quick."""

from __future__ import annotations

from pathlib import Path

from explorer.commands.shared_words import Commands, add_common
from explorer.models.request import THINKING_LEVELS


def add_running(commands: Commands) -> None:
    """The parsers of ``run`` and ``new``."""
    run = commands.add_parser(
        "run", help="let the agent work on something, in a new session or one that is stored"
    )
    run.add_argument("prompt", nargs="?", help="what is to be done; - reads it from standard input")
    run.add_argument("--workspace", type=Path, metavar="DIR", help="the folder that it works in")
    run.add_argument("--model", metavar="M", help="who answers (default: your settings', else "
                     "offline/demo, an agent of simple rules)")  # fmt: skip
    may = run.add_mutually_exclusive_group()
    may.add_argument("--yes", action="store_true", help="allow every change and every command")
    may.add_argument("--read-only", action="store_true", help="offer only tools that look")
    run.add_argument("--session", metavar="S", help="go on in this session (default: a new one)")
    run.add_argument(
        "--continue",
        dest="resume",
        metavar="S",
        help="go on where the agent was stopped or failed, without a message",
    )
    run.add_argument("--profile", metavar="NAME", help="rules of automatic compaction (default: "
                     "your settings', else explorer)")  # fmt: skip
    run.add_argument("--thinking", choices=THINKING_LEVELS, help="how long it may think")
    run.add_argument("--max-rounds", type=int, metavar="N", help="replies after which it ends")
    run.add_argument("--max-tokens", type=int, metavar="N", help="tokens after which it ends")
    run.add_argument("--image", type=Path, action="append", default=[], metavar="FILE",
                     help="a picture that goes with the prompt; as often as needed")  # fmt: skip
    run.add_argument("--no-extensions", action="store_true", help="ask no extension")
    run.add_argument("--events", action="store_true", help="print each event as a line of JSON")
    add_common(run)

    new = commands.add_parser("new", help="begin a session without entries")
    new.add_argument("--workspace", type=Path, metavar="DIR", help="its folder (default: here)")
    new.add_argument("--name", default="", metavar="TEXT", help="what it is called")
    add_common(new)
