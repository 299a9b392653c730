"""The command line: headless commands, and the way into the window.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 an audit found what it was to fail on. Errors go to
standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from os.path import isfile

from explorer import paths, private_files
from explorer.commands.parser import build_parser
from explorer.commands.streams import visible_streams
from explorer.installed import window_target
from explorer.models.keys import redact
from explorer.session.visible_text import visible_line

DEBUG_VARIABLE = "SESSION_EXPLORER_DEBUG"
"""Set: what nobody expected ends a command with Python's own report of it."""
FAULT_NAME = "last-fault.txt"

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
    """The command was understood and could not be done (exit status 1). Has a sentence for each
    thing that went wrong."""

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


def _print_error(error: UsageError | CommandFailed) -> None:
    """Print an error, a line for each thing that went wrong."""
    lines = "\n".join(visible_line(str(line)) for line in error.args)
    print(f"session-explorer: {lines}", file=sys.stderr)


def _words_of(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def _fault(error: Exception) -> str:
    """What a person should know of an error that nothing in the program expects."""
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    where = f"Set {DEBUG_VARIABLE}=1 to see the details."
    try:
        place = paths.ensure(paths.data_dir()) / FAULT_NAME
        text = redact("".join(traceback.format_exception(error)))
        private_files.write(place, text.encode("utf-8", "backslashreplace"))
        where = f"The details are in {place}; they may hold text of the session."
    except OSError as unwritten:
        where += f" They could not be written: {_words_of(unwritten)}."
    name = type(error).__name__
    return f"This is a fault of the program ({name}); it stopped where it was. {where}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal or a pipe cannot show must not end a command.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    with visible_streams():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
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
        _print_error(error)
        return 2
    except CommandFailed as error:
        _print_error(error)
        return error.status
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"session-explorer: {_words_of(error)}", file=sys.stderr)
        return 1
    except Exception as error:
        # The last resort: who uses the program gets a sentence, who mends it gets all of it.
        if os.environ.get(DEBUG_VARIABLE):
            raise
        print(f"session-explorer: {_fault(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("session-explorer: interrupted; what was not finished is not kept", file=sys.stderr)
        return 130 if COMMANDS.get(arguments.command) == "running" else 1
    return 0
