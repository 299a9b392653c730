"""The command line: headless commands, and the way into the window.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 an audit found what it was to fail on. Errors go to
standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from os.path import isfile

from explorer.commands.parser import build_parser
from explorer.installed import window_target

# Each command's module is imported when it is asked for: the store alone takes half a second to
# import, and the window wants to paint before that.
COMMANDS = {
    "import": "library",
    "list": "library",
    "search": "library",
    "export": "library",
    "fork": "forking",
    "salvage": "library",
    "tree": "looking",
    "context": "looking",
    "preview": "compacting",
    "compact": "compacting",
    "branch": "compacting",
    "prune": "pruning",
    "pin": "shaping",
    "omit": "shaping",
    "keep-messages": "shaping",
    "replay": "replaying",
    "what-if": "what_if",
    "audit": "auditing",
    "extensions": "extending",
    "profiles": "profiles",
    "settings": "settings",
    "run": "running",
    "new": "running",
    "models": "modelling",
    "prompts": "prompting",
}


class UsageError(Exception):
    """The command line asks for something that does not exist (exit status 2)."""


class CommandFailed(Exception):
    """The command was understood and could not be done (exit status 1)."""

    status = 1


class CommandStopped(CommandFailed):
    """The person stopped it; what it had done is in good order (exit status 128 and the signal)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def _open_window(arguments: argparse.Namespace) -> int:
    """Start the window, which is a part of its own that registers itself by entry point."""
    others = ", ".join(COMMANDS)
    target = window_target()
    if not target:
        raise CommandFailed(
            f"The window is not installed. The headless commands work without it: {others}"
        )
    module, _, function = target.partition(":")
    try:
        window = getattr(import_module(module), function)
    except ImportError as error:
        raise CommandFailed(
            f"The window cannot be loaded ({error}). Qt or a system library that it needs is "
            f"missing; the headless commands work without it: {others}"
        ) from error
    status: int = window(arguments)
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal or a pipe cannot show must not end a command.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    words = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if not words or (words[0] not in ("open", *COMMANDS) and isfile(words[0])):
        # A file by itself, as a desktop or a hurried person gives it, is to be looked at.
        words = ["open", *words]
    arguments = parser.parse_args(words)
    try:
        if arguments.command in (None, "open"):
            return _open_window(arguments)
        module = import_module(f"explorer.commands.{COMMANDS[arguments.command]}")
        module.run(arguments)
    except UsageError as error:
        print(f"session-explorer: {error}", file=sys.stderr)
        return 2
    except CommandFailed as error:
        print(f"session-explorer: {error}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        print("session-explorer: interrupted; what was not finished is not kept", file=sys.stderr)
        return 130 if COMMANDS.get(arguments.command) == "running" else 1
    return 0
