"""Options that several commands have."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.output import UsageError


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what a program asks for, and where sessions are stored."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--database", type=Path, metavar="FILE", help="use this database")


def add_session(
    parser: argparse.ArgumentParser,
    at: str = "an entry id, its unique start, or #index",
    *,
    is_needed: bool = True,
) -> None:
    """Add a session, and an entry of it; ``at``: what the entry is named by."""
    parser.add_argument(
        "session", nargs=None if is_needed else "?",
        help="number from `list`, start of a session id, path to a session file, or LIBRARY:NUMBER "
        "of a team",
    )  # fmt: skip
    parser.add_argument("--at", metavar="ENTRY", help=f"{at} (default: the leaf)")
    add_show_secrets(parser)


def add_show_secrets(parser: argparse.ArgumentParser) -> None:
    """Keys, tokens and passwords as they are."""
    parser.add_argument(
        "--show-secrets", action="store_true", help="do not mask keys, tokens and passwords"
    )


def add_send(parser: argparse.ArgumentParser) -> None:
    """Add the consent that text of an imported session needs before it goes to a provider."""
    parser.add_argument(
        "--send",
        action="store_true",
        help="agree that text of an imported session goes to the provider of the model",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add a file for the session that results from a command."""
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the resulting session to a file"
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add a profile and its sizes, in tokens."""
    add_profile(parser)
    add_sizes(parser)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the profile to follow."""
    parser.add_argument(
        "--profile", metavar="NAME", help="rules to follow (default: your settings', else explorer)"
    )


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Sizes in tokens that stand before those of the profile; see `check_positive`."""
    parser.add_argument("--keep-recent", type=int, metavar="N", help="tokens kept verbatim")
    parser.add_argument("--reserve", type=int, metavar="N", help="tokens kept free for the answer")
    parser.add_argument("--window", type=int, metavar="N", help="context window in tokens")


def add_summarizing(parser: argparse.ArgumentParser) -> None:
    """Rules, words and who summarizes."""
    add_rules(parser)
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


SIZES = ("keep_recent", "reserve", "window")
"""The arguments that `add_sizes` adds."""


def check_positive(arguments: argparse.Namespace, *names: str) -> None:
    """Raise UsageError for an option that is given and below 1. ``names``: as in ``arguments``."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1, not {value}")
