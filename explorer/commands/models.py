"""models: what can be called, user-defined servers and figures, and keys."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from explorer.commands.output import CommandFailed, print_json, print_table
from explorer.commands.targets import model_client
from explorer.models.catalogue import FIGURES as ALL_FIGURES
from explorer.models.catalogue import grouped
from explorer.models.client import (
    CancelToken,
    KeyringUnavailable,
    ModelClient,
    ModelError,
    ModelInfo,
    Override,
    Server,
    UserModelsError,
)
from explorer.models.servers import title_of
from explorer.models.user_models import check_server_name
from explorer.session.visible_text import visible_line
from explorer.settings.live import live_settings

_SETTABLE_FIGURES = {
    "window": int,
    "output-limit": int,
    "input-price": float,
    "output-price": float,
    "cache-read-price": float,
    "cache-write-price": float,
    "cache-write-1h-price": float,
}
_ABILITIES = ("reasoning", "images", "tools")


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add a parser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers: dict[str, argparse.ArgumentParser] = {
        name: actions.add_parser(name, help=words)
        for name, words in (
            ("list", "the models that can be called, and what is known of them"),
            ("show", "every figure of a model, and who says it"),
            ("set", "say a figure of a model yourself"),
            ("unset", "take back what you set for a model"),
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
    for figure, kind in _SETTABLE_FIGURES.items():
        unit = "tokens" if kind is int else "dollars a token"
        parsers["set"].add_argument(f"--{figure}", type=kind, metavar="N", help=unit)
    for ability in _ABILITIES:
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
    for action in parsers.values():
        action.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises CommandFailed."""
    actions = {
        "list": _list, "show": _show, "set": _set, "unset": _unset, "find": _find,
        "add": _add, "rename": _rename, "remove": _remove, "key": _key,
    }  # fmt: skip
    try:
        with _model_client() as client:
            actions[arguments.action](arguments, client)
    except (UserModelsError, KeyringUnavailable) as error:
        raise CommandFailed(str(error)) from error
    except ModelError as error:
        raise CommandFailed(error.sentence) from error


@contextmanager
def _model_client() -> Iterator[ModelClient]:
    client = model_client(live_settings())
    try:
        yield client
        if client.user_models.problem:
            print(visible_line(f"session-explorer: {client.user_models.problem}"), file=sys.stderr)
    finally:
        client.close()


def _list(arguments: argparse.Namespace, client: ModelClient) -> None:
    models = client.every_model() if arguments.all else client.models()
    groups = grouped(models, " ".join(arguments.search))
    if arguments.json:
        print_json([info_json(model) for group in groups for model in group.models])
        return
    print_table(
        ("model", "window", "output", "in $/M", "out $/M", "can"),
        [
            (
                model.id, model.window, model.output_limit, _per_million(model.input_price),
                _per_million(model.output_price),
                ", ".join(name for name in _ABILITIES if getattr(model, name)),
            )
            for group in groups for model in group.models
        ],
        right=(1, 2, 3, 4),
    )  # fmt: skip


def _show(arguments: argparse.Namespace, client: ModelClient) -> None:
    model = client.info(arguments.model)
    if arguments.json:
        print_json(info_json(model))
        return
    print(visible_line(model.id))
    rows = [
        (name.replace("_", " "), _figure_text(name, getattr(model, name)), model.source_of(name))
        for name in ALL_FIGURES
    ]
    print_table(("figure", "value", "source"), rows, right=(1,))
    if model.deprecated:
        print(f"Its provider ends it on {model.deprecated}.")


def _set(arguments: argparse.Namespace, client: ModelClient) -> None:
    figures: dict[str, Any] = {
        name.replace("-", "_"): value
        for name in _SETTABLE_FIGURES
        if (value := getattr(arguments, name.replace("-", "_"))) is not None
    }
    figures |= {
        name: value == "yes"
        for name in _ABILITIES
        if (value := getattr(arguments, name)) is not None
    }
    if not figures:
        raise CommandFailed("Name a figure to set, such as --window 64000.")
    before = client.user_models.override(arguments.model) or Override()
    client.user_models.set_override(arguments.model, replace(before, **figures))
    _show(arguments, client)


def _unset(arguments: argparse.Namespace, client: ModelClient) -> None:
    if client.user_models.override(arguments.model) is None:
        raise CommandFailed(f"You have set nothing for {arguments.model}.")
    client.user_models.set_override(arguments.model, None)
    _show(arguments, client)


def _find(arguments: argparse.Namespace, client: ModelClient) -> None:
    found = asyncio.run(client.find_servers(CancelToken()))
    servers = list(found.servers)
    if arguments.add:
        servers = [_add_named(client, server) for server in servers]
    if arguments.json:
        print_json({"servers": [to_builtins(server) for server in servers], "silent": found.silent})
        return
    print(visible_line(found.sentence))
    _print_servers(servers)
    if servers and not arguments.add:
        print("`session-explorer models find --add` adds them.")


def _add_named(client: ModelClient, server: Server) -> Server:
    """A server that was found, under the name that is stored for its address, or else its own."""
    known = {one.address: one.name for one in client.user_models.servers()}
    taken = {one.name for one in client.user_models.servers()} - {known.get(server.address)}
    name = known.get(server.address, server.name)
    number = 2
    while name in taken:
        name, number = f"{server.name}-{number}", number + 1
    named = replace(server, name=name)
    client.user_models.save_server(named)
    return named


def _add(arguments: argparse.Namespace, client: ModelClient) -> None:
    name = check_server_name(arguments.name) if arguments.name else ""
    key = client.keys.key(name) if name else None
    found = asyncio.run(client.probe_server(arguments.address, CancelToken(), key or ""))
    if name:
        server = replace(found, name=name)
        client.user_models.save_server(server)
    else:
        server = _add_named(client, found)
    if arguments.json:
        print_json(to_builtins(server))
        return
    print(f"{server.name} is added: {title_of(server.kind)} at {server.address}.")
    _print_servers([server])


def _rename(arguments: argparse.Namespace, client: ModelClient) -> None:
    client.rename_server(arguments.name, arguments.new)
    if arguments.json:
        print_json({"name": arguments.new})
    else:
        print(f"{arguments.name} is called {arguments.new} now.")


def _remove(arguments: argparse.Namespace, client: ModelClient) -> None:
    if client.user_models.server(arguments.name) is None:
        names = ", ".join(server.name for server in client.user_models.servers()) or "none is added"
        raise CommandFailed(f"There is no server {arguments.name} ({names}).")
    client.user_models.remove_server(arguments.name)
    if arguments.json:
        print_json({"removed": arguments.name})
    else:
        print(f"{arguments.name} is forgotten.")


def _key(arguments: argparse.Namespace, client: ModelClient) -> None:
    provider = arguments.provider
    if arguments.keep:
        client.keys.keep(provider, _read_key(provider))
    elif arguments.forget:
        client.keys.forget(provider)
    elif arguments.test:
        tried = asyncio.run(client.test_key(provider, None, CancelToken(), arguments.model))
        if arguments.json:
            print_json({"outcome": tried.outcome, "told": tried.sentence, "model": tried.model})
        if not tried.works:
            raise CommandFailed(tried.sentence)
        if not arguments.json:
            print(visible_line(tried.sentence))
        return
    state = client.keys.state(provider)
    print_json(to_builtins(state)) if arguments.json else print(visible_line(state.sentence))


def _read_key(provider: str) -> str:
    """A key from a prompt that does not show it, or from standard input."""
    if sys.stdin.isatty():
        return getpass.getpass(f"Key of {provider}: ")
    return sys.stdin.readline()


def _print_servers(servers: list[Server]) -> None:
    rows = [
        (f"{server.name}/{model.id}", model.window) for server in servers for model in server.models
    ]
    if rows:
        print_table(("model", "window"), rows, right=(1,))


def info_json(model: ModelInfo) -> dict[str, Any]:
    """A model's figures, each with who says it."""
    return {
        "id": model.id,
        "label": model.label,
        "deprecated": model.deprecated or None,
        **{
            name: {"value": getattr(model, name), "source": model.source_of(name)}
            for name in ALL_FIGURES
        },
    }


def _figure_text(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{_per_million(value)} $/M" if name.endswith("_price") else f"{value:,}"


def _per_million(price: float | None) -> str:
    return "" if price is None else f"{price * 1_000_000:.10g}"
