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
from pathlib import Path
from typing import TypeAlias

from explorer.commands.audit_words import add_audit
from explorer.commands.model_words import add_models
from explorer.commands.profile_words import add_profiles
from explorer.commands.prompt_words import add_prompts
from explorer.installed import version, window_target
from explorer.models.thinking import THINKING_LEVELS

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

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


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


class _PrintVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_values: object, **_options: object
    ) -> None:
        print(f"session-explorer {version()}")
        parser.exit()


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--database", type=Path, metavar="FILE", help="use this database")


def _session(
    parser: argparse.ArgumentParser, at: str = "an entry id, its unique start, or #index"
) -> None:
    parser.add_argument(
        "session", help="number from `list`, start of a session id, or path to a session file"
    )
    parser.add_argument("--at", metavar="ENTRY", help=f"{at} (default: the leaf)")


def _rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile", metavar="NAME", help="rules to follow (default: your settings', else explorer)"
    )
    parser.add_argument("--keep-recent", type=int, metavar="N", help="tokens kept verbatim")
    parser.add_argument("--reserve", type=int, metavar="N", help="tokens kept free for the answer")
    parser.add_argument("--window", type=int, metavar="N", help="context window in tokens")


def _compaction(parser: argparse.ArgumentParser) -> None:
    _rules(parser)
    parser.add_argument("--instructions", default="", metavar="TEXT", help="added to the prompt")
    parser.add_argument(
        "--model",
        metavar="M[,M...]",
        help="the model that summarizes (default: offline/extractive); of several the next is "
        "asked where one fails",
    )
    parser.add_argument(
        "--endpoint",
        default="",
        metavar="URL",
        help="a service that summarizes instead of a model; it is asked before those",
    )


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
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    window = commands.add_parser("open", help="open the window (the default)")
    window.add_argument("session", nargs="?", help="session to open, or path to a session file")
    window.add_argument("--sample", action="store_true", help="open the bundled session")
    window.add_argument("--smoke", action="store_true", help=argparse.SUPPRESS)

    add = commands.add_parser("import", help="import session files of pi and oh-my-pi")
    add.add_argument("files", nargs="+", type=Path, metavar="FILE")
    _common(add)
    _common(commands.add_parser("list", help="list the stored sessions"))

    _add_running(commands)
    _add_looking(commands)
    _add_compacting(commands)
    _add_pruning(commands)
    _add_shaping(commands)
    _add_settings(commands)
    _add_extending(commands)
    add_audit(commands, _session)
    add_profiles(commands, _session)
    add_models(commands)
    add_prompts(commands)
    return parser


def _add_running(commands: Commands) -> None:
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
    _common(run)

    new = commands.add_parser("new", help="begin a session without entries")
    new.add_argument("--workspace", type=Path, metavar="DIR", help="its folder (default: here)")
    new.add_argument("--name", default="", metavar="TEXT", help="what it is called")
    _common(new)


def _add_looking(commands: Commands) -> None:
    salvage = commands.add_parser("salvage", help="copy what a damaged database still gives")
    salvage.add_argument("damaged", type=Path, metavar="DATABASE")
    salvage.add_argument("output", type=Path)
    salvage.add_argument("--json", action="store_true", help="print one JSON document")

    search = commands.add_parser("search", help="search the text of all entries")
    search.add_argument("query")
    search.add_argument("session", nargs="?", help="search this session, or this file, only")
    search.add_argument("--limit", type=int, default=50, metavar="N")
    _common(search)

    export = commands.add_parser("export", help="write a session to a file")
    _session(export, "where an agent shall go on: an entry id, its unique start, or #index")
    export.add_argument("output", type=Path)
    export.add_argument("--format", choices=("original", "pi-v3"), default="original")
    _common(export)

    fork = commands.add_parser("fork", help="make a branch a session of its own")
    _session(fork, "the entry that the fork goes on from: an id, its unique start, or #index")
    fork.add_argument("--whole", action="store_true", help="copy all branches, not only the path")
    fork.add_argument("--name", default="", metavar="TEXT", help="what to call the fork")
    fork.add_argument("--output", type=Path, metavar="FILE", help="write the fork to a file too")
    _common(fork)

    tree = commands.add_parser("tree", help="print the tree of a session")
    _session(tree)
    tree.add_argument("--all", action="store_true", help="every entry, not only where paths meet")
    tree.add_argument(
        "--graph", type=Path, metavar="FILE", help="write it to FILE (.graphml, .gexf, .gml, .json)"
    )
    _common(tree)
    context = commands.add_parser("context", help="print what the model sees at an entry")
    _session(context)
    _common(context)


def _add_compacting(commands: Commands) -> None:
    preview = commands.add_parser("preview", help="what a compaction would summarize and keep")
    compact = commands.add_parser("compact", help="run a compaction and append it")
    branch = commands.add_parser("branch", help="leave the branch at --at for --to, summarizing it")
    replay = commands.add_parser("replay", help="play a session again, to see when it is compacted")
    for command in (preview, compact, branch):
        _session(command)
        _compaction(command)
        _common(command)
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
    _session(replay)
    _rules(replay)
    replay.add_argument(
        "--speed", type=float, default=0.0, metavar="T", help="tokens a second (default: at once)"
    )
    replay.set_defaults(model=None, endpoint="", instructions="")
    replay.add_argument("--keep", action="store_true", help="keep what was played as a session")
    _common(replay)


def _add_what_if(commands: Commands) -> None:
    walk = commands.add_parser(
        "what-if", help="what a session would have come to under other rules, without a model"
    )
    _session(walk)
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
    _common(walk)


def _add_shaping(commands: Commands) -> None:
    pin = commands.add_parser("pin", help="keep entries word for word through every compaction")
    omit = commands.add_parser("omit", help="leave entries out of the context and of summaries")
    keep = commands.add_parser("keep-messages", help="keep the user's messages word for word")
    for command in (pin, omit, keep):
        _session(command)
        if command is not keep:
            command.add_argument("entries", nargs="+", metavar="ENTRY", help="an id or #index")
            command.add_argument("--undo", action="store_true", help="end it for these entries")
        else:
            command.add_argument(
                "tokens", type=int, metavar="TOKENS", help="the newest up to so many; 0: none"
            )
        command.add_argument("--reason", default="", metavar="TEXT", help="stored with the entry")
        command.add_argument(
            "--output", type=Path, metavar="FILE", help="write the resulting session to a file"
        )
        _common(command)


def _add_pruning(commands: Commands) -> None:
    prune = commands.add_parser("prune", help="put notes in the place of old tool results")
    _session(prune)
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
    _common(prune)


def _add_settings(commands: Commands) -> None:
    settings = commands.add_parser("settings", help="show, explain and change the settings")
    actions = settings.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, arguments, words in (
        ("list", (), "every setting, its value, and where that comes from"),
        ("get", ("key",), "print one value"),
        ("set", ("key", "value"), "set a value for you, or for a project"),
        ("reset", ("key",), "take a value out of your file, or out of a project's"),
        ("explain", ("key",), "what a setting does, and why its value is what it is"),
        ("path", (), "where the files are"),
        ("schema", (), "print the JSON Schema of a settings file"),
    ):
        action = actions.add_parser(name, help=words)
        for argument in arguments:
            action.add_argument(argument, metavar=argument.upper())
        if name != "schema":
            action.add_argument("--project", type=Path, metavar="DIR", help="a project's folder")
            action.add_argument("--json", action="store_true", help="print one JSON document")


def _add_extending(commands: Commands) -> None:
    extensions = commands.add_parser("extensions", help="list, install and trust extensions")
    what = extensions.add_subparsers(dest="what", metavar="WHAT", required=True)
    listing = what.add_parser("list", help="what is loaded, and what failed and why")
    listing.add_argument(
        "--project", type=Path, metavar="FOLDER", help="look there for a project (default: here)"
    )
    install = what.add_parser("install-example", help="copy an example into your folder")
    install.add_argument("name", metavar="NAME")
    trust = what.add_parser("trust", help="load what a project's folder brings")
    untrust = what.add_parser("untrust", help="load it no longer")
    for command in (trust, untrust):
        command.add_argument("folder", type=Path, metavar="FOLDER")
    for command in (listing, install, trust, untrust):
        command.add_argument("--json", action="store_true", help="print one JSON document")


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
    if not words or (words[0] not in COMMANDS and Path(words[0]).is_file()):
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
