"""The words of the command line for ``models``; reads nothing, so a start stays quick."""

from __future__ import annotations

import argparse

from explorer.commands.shared_words import Commands

FIGURES = {
    "window": int,
    "output-limit": int,
    "input-price": float,
    "output-price": float,
    "cache-read-price": float,
    "cache-write-price": float,
}
ABILITIES = ("reasoning", "images", "tools")


def add_models(commands: Commands) -> None:
    """The parsers of ``models``."""
    models = commands.add_parser("models", help="list models, add servers, keep and test keys")
    actions = models.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers: dict[str, argparse.ArgumentParser] = {
        name: actions.add_parser(name, help=words)
        for name, words in (
            ("list", "the models that can be called, and what is known of them"),
            ("show", "every figure of a model, and who says it"),
            ("set", "say a figure of a model yourself"),
            ("unset", "take back what you said of a model"),
            ("find", "look for servers of your own on this machine"),
            ("add", "add a server of your own, or ask it again what it has"),
            ("rename", "give a server of your own another name"),
            ("remove", "forget a server of your own"),
            ("key", "where a provider's key is; keep it, forget it, or test it"),
        )
    }
    parsers["list"].add_argument("search", nargs="*", metavar="WORD", help="all must fit")
    parsers["list"].add_argument(
        "--all", action="store_true", help="those that need a key you do not have, too"
    )
    for name in ("show", "set", "unset"):
        parsers[name].add_argument("model", metavar="MODEL")
    for figure, kind in FIGURES.items():
        unit = "tokens" if kind is int else "dollars a token"
        parsers["set"].add_argument(f"--{figure}", type=kind, metavar="N", help=unit)
    for ability in ABILITIES:
        parsers["set"].add_argument(f"--{ability}", choices=("yes", "no"))
    parsers["find"].add_argument("--add", action="store_true", help="add those that are found")
    parsers["add"].add_argument("address", metavar="ADDRESS")
    parsers["add"].add_argument("--name", default="", metavar="NAME", help="(default: its kind)")
    parsers["remove"].add_argument("name", metavar="NAME")
    parsers["rename"].add_argument("name", metavar="NAME")
    parsers["rename"].add_argument(
        "new", metavar="NEW", help="its models are called NEW/model then"
    )
    key = parsers["key"]
    key.add_argument("provider", metavar="PROVIDER", help="a provider, or a server of your own")
    what = key.add_mutually_exclusive_group()
    what.add_argument(
        "--keep", action="store_true", help="read a key and put it into the system's keyring"
    )
    what.add_argument("--forget", action="store_true", help="take it out of the keyring")
    what.add_argument("--test", action="store_true", help="make the smallest real request with it")
    key.add_argument("--model", default="", metavar="M", help="the model that --test asks")
    for parser in parsers.values():
        parser.add_argument("--json", action="store_true", help="print one JSON document")
