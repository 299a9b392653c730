"""The command line: headless commands, and the way into the window.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 an audit found what it was to fail on. Errors go to
standard error.
"""

from __future__ import annotations

import _thread
import argparse
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from os.path import isfile
from typing import Any, NamedTuple

from explorer import private_files
from explorer.commands.output import CommandFailed, UsageError, visible_streams
from explorer.installed import version, window_target
from explorer.session.visible_text import visible_line
from explorer.settings import paths

DEBUG_VARIABLE = "SESSION_EXPLORER_DEBUG"
"""Environment variable: when set, an unexpected error ends a command with its traceback."""
FAULT_NAME = "last-fault.txt"


_AGAIN_S = 0.05
"""Seconds after which an interrupt that was swallowed is made again."""


class _Group(NamedTuple):
    """Where a command is, and its line in the help."""

    module: str
    """In `explorer.commands`; has ``add_arguments(parser, command)`` and ``run(arguments)``."""
    help: str


# A module is imported when its command is parsed: the store alone takes half a second to import,
# and the window wants to paint before that.
COMMANDS = {
    "import": _Group("library", "import session files of coding agents"),
    "list": _Group("session_list", "list the stored sessions, and what they took"),
    "library": _Group(
        "found_sessions", "import the sessions on this computer; name and read a team's library"
    ),
    "publish": _Group("team", "put sessions into a team's library, secrets masked"),
    "pull": _Group("team", "copy sessions of a team into your own library"),
    "withdraw": _Group("team", "take sessions out of a team's library"),
    "follow": _Group("follow", "print what an agent writes to its session, as it writes it"),
    "run": _Group("run", "let the agent work on something, in a new session or one that is stored"),
    "new": _Group("run", "begin a session without entries"),
    "salvage": _Group("library", "copy what a damaged database still gives"),
    "search": _Group("library", "search the text of all entries"),
    "export": _Group("library", "write a session to a file"),
    "fork": _Group("library", "make a branch a session of its own"),
    "tree": _Group("entries", "print the tree of a session"),
    "context": _Group("entries", "print what the model sees at an entry"),
    "preview": _Group("compaction", "what a compaction would summarize and keep"),
    "compact": _Group("compaction", "run a compaction and append it"),
    "branch": _Group("compaction", "leave the branch at --at for --to, summarizing it"),
    "replay": _Group("replay", "play a session again, to see when it is compacted"),
    "what-if": _Group(
        "replay", "what a session would have come to under other rules, without a model"
    ),
    "prune": _Group("compaction", "put notes in the place of old tool results"),
    "pin": _Group("entries", "keep entries word for word through every compaction"),
    "omit": _Group("entries", "leave entries out of the context and of summaries"),
    "keep-messages": _Group("entries", "keep the user's messages word for word"),
    "settings": _Group("settings", "show, explain and change the settings"),
    "extensions": _Group("extensions", "list, install and trust extensions"),
    "audit": _Group("audit", "what compactions kept, lost and stated wrongly, as a report"),
    "recall": _Group("recall", "ask a model what it still knows after a compaction"),
    "lessons": _Group("lessons", "list the lessons on compaction, and check one of your own"),
    "profiles": _Group("profiles", "list, compare, copy and change profiles"),
    "models": _Group("models", "list models, add servers, keep and test keys"),
    "prompts": _Group("prompts", "see and change the words sent to models"),
}


class _CommandParser(argparse.ArgumentParser):
    """Takes its arguments from the command's module when it is first used."""

    command = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See ``ArgumentParser``."""
        command, self.command = self.command, ""
        if command:
            _imported(_module_of(command)).add_arguments(self, command)
        return super().parse_known_args(args, namespace)


class _PrintVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_values: object, **_options: object
    ) -> None:
        print(f"session-explorer {version()}")
        parser.exit()


def _module_of(command: str) -> str:
    return f"explorer.commands.{COMMANDS[command].module}"


def _imported(module: str) -> Any:
    # What is imported stays: to look through it for garbage again and again costs a fifth.
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.enable()


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command."""
    parser = argparse.ArgumentParser(
        prog="session-explorer",
        description="See, steer and undo the compactions of coding-agent sessions.",
        epilog="Without a command the window opens.",
    )
    parser.add_argument(
        "--version", action=_PrintVersion, nargs=0, help="show program's version number and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_CommandParser)
    window = commands.add_parser("open", help="open the window (the default)")
    window.add_argument("session", nargs="?", help="session to open, or path to a session file")
    window.add_argument("--sample", action="store_true", help="open the bundled session")
    window.add_argument("--smoke", action="store_true", help=argparse.SUPPRESS)
    for name, group in COMMANDS.items():
        commands.add_parser(name, help=group.help).command = name
    return parser


def _open_window(arguments: argparse.Namespace) -> int:
    """Start the window, a separate package that registers itself by entry point."""
    others = ", ".join(COMMANDS)
    target = window_target()
    if not target:
        raise CommandFailed(
            f"The window is not installed. The headless commands work without it: {others}"
        )
    module, _, function = target.partition(":")
    try:
        window = getattr(_imported(module), function)
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


def _error_text(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def _fault_text(error: Exception) -> str:
    """What a person should know of an error that nothing in the program expects."""
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    where = f"Set {DEBUG_VARIABLE}=1 to see the details."
    try:
        place = paths.ensure(paths.data_dir()) / FAULT_NAME
        # What knows of keys brings in asyncio, which the window's first paint does not wait for.
        redact = import_module("explorer.models.keys").redact
        text = redact("".join(traceback.format_exception(error)))
        private_files.write(place, text.encode("utf-8", "backslashreplace"))
        where = f"The details are in {place}; they may hold text of the session."
    except OSError as unwritten:
        where += f" They could not be written: {_error_text(unwritten)}."
    name = type(error).__name__
    return f"This is a fault of the program ({name}); it stopped where it was. {where}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal or a pipe cannot show must not end a command.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.unraisablehook = _repeat_interrupt
    with visible_streams():
        return _run(argv)


def _repeat_interrupt(lost: sys.UnraisableHookArgs) -> None:
    """Interrupt again when Ctrl+C came within a destructor or the callback of a weak reference,
    where Python prints the KeyboardInterrupt and goes on."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    threading.Timer(_AGAIN_S, _interrupt).start()


def _interrupt() -> None:
    """Interrupt the main thread, also where it waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _run(argv: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if not words or (words[0] not in ("open", *COMMANDS) and isfile(words[0])):
        # A file name without a command opens the file.
        words = ["open", *words]
    arguments = parser.parse_args(words)
    try:
        if arguments.command in (None, "open"):
            return _open_window(arguments)
        _imported(_module_of(arguments.command)).run(arguments)
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
        print(f"session-explorer: {_error_text(error)}", file=sys.stderr)
        return 1
    except Exception as error:
        # The last resort: who uses the program gets a sentence, who mends it gets all of it.
        if os.environ.get(DEBUG_VARIABLE):
            raise
        print(f"session-explorer: {_fault_text(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("session-explorer: interrupted; what was not finished is not kept", file=sys.stderr)
        return 130 if arguments.command in ("run", "new") else 1
    return 0
