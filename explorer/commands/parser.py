"""The parser of the command line, put together from its groups of commands."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.agent_words import add_running
from explorer.commands.audit_words import add_audit
from explorer.commands.compaction_words import add_compacting, add_pruning
from explorer.commands.model_words import add_models
from explorer.commands.profile_words import add_profiles
from explorer.commands.prompt_words import add_prompts
from explorer.commands.session_words import add_looking, add_shaping
from explorer.commands.setting_words import add_extending, add_settings
from explorer.commands.shared_words import add_common
from explorer.installed import version


class _PrintVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_values: object, **_options: object
    ) -> None:
        print(f"session-explorer {version()}")
        parser.exit()


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
    add_common(add)
    add_common(commands.add_parser("list", help="list the stored sessions"))

    add_running(commands)
    add_looking(commands)
    add_compacting(commands)
    add_pruning(commands)
    add_shaping(commands)
    add_settings(commands)
    add_extending(commands)
    add_audit(commands)
    add_profiles(commands)
    add_models(commands)
    add_prompts(commands)
    return parser
