"""models: what can be called, servers and figures of one's own, and keys."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from explorer import paths
from explorer.cli import CommandFailed
from explorer.commands.model_words import ABILITIES, FIGURES
from explorer.commands.output import print_json, print_table
from explorer.models.catalogue import FIGURES as ALL_FIGURES
from explorer.models.catalogue import grouped
from explorer.models.client import (
    CancelToken,
    KeyringUnavailable,
    ModelDoor,
    ModelDoorConfig,
    ModelError,
    ModelInfo,
    Override,
    OwnModelsError,
    Server,
)
from explorer.models.servers import title_of
from explorer.models.user_models import check_server_name
from explorer.session.visible_text import visible_line
from explorer.settings.opening import live_settings


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises CommandFailed."""
    actions = {
        "list": _list, "show": _show, "set": _set, "unset": _unset, "find": _find,
        "add": _add, "rename": _rename, "remove": _remove, "key": _key,
    }  # fmt: skip
    try:
        with _door() as door:
            actions[arguments.action](arguments, door)
    except (OwnModelsError, KeyringUnavailable) as error:
        raise CommandFailed(str(error)) from error
    except ModelError as error:
        raise CommandFailed(error.told) from error


@contextmanager
def _door() -> Iterator[ModelDoor]:
    door = ModelDoor(ModelDoorConfig(own=paths.models_path()))
    live = live_settings()
    door.use_api_base(live.get("models.apiBase") or "")
    door.use_silence(live.get("models.silenceSeconds"))
    try:
        yield door
        if door.own.problem:
            print(visible_line(f"session-explorer: {door.own.problem}"), file=sys.stderr)
    finally:
        door.close()


def _list(arguments: argparse.Namespace, door: ModelDoor) -> None:
    models = door.every_model() if arguments.all else door.models()
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
                ", ".join(name for name in ABILITIES if getattr(model, name)),
            )
            for group in groups for model in group.models
        ],
        right=(1, 2, 3, 4),
    )  # fmt: skip


def _show(arguments: argparse.Namespace, door: ModelDoor) -> None:
    model = door.info(arguments.model)
    if arguments.json:
        print_json(info_json(model))
        return
    print(visible_line(model.id))
    rows = [
        (name.replace("_", " "), _told(name, getattr(model, name)), model.source_of(name))
        for name in ALL_FIGURES
    ]
    print_table(("figure", "value", "said by"), rows, right=(1,))
    if model.deprecated:
        print(f"Its provider ends it on {model.deprecated}.")


def _set(arguments: argparse.Namespace, door: ModelDoor) -> None:
    said: dict[str, Any] = {
        name.replace("-", "_"): value
        for name in FIGURES
        if (value := getattr(arguments, name.replace("-", "_"))) is not None
    }
    said |= {
        name: value == "yes"
        for name in ABILITIES
        if (value := getattr(arguments, name)) is not None
    }
    if not said:
        raise CommandFailed("Name a figure to set, such as --window 64000.")
    before = door.own.override(arguments.model) or Override()
    door.own.set_override(arguments.model, replace(before, **said))
    _show(arguments, door)


def _unset(arguments: argparse.Namespace, door: ModelDoor) -> None:
    if door.own.override(arguments.model) is None:
        raise CommandFailed(f"You have said nothing of {arguments.model}.")
    door.own.set_override(arguments.model, None)
    _show(arguments, door)


def _find(arguments: argparse.Namespace, door: ModelDoor) -> None:
    found = asyncio.run(door.find_servers(CancelToken()))
    servers = list(found.servers)
    if arguments.add:
        servers = [_kept(door, server) for server in servers]
    if arguments.json:
        print_json({"servers": [asdict(server) for server in servers], "silent": found.silent})
        return
    print(visible_line(found.told))
    _print_servers(servers)
    if servers and not arguments.add:
        print("`session-explorer models find --add` adds them.")


def _kept(door: ModelDoor, server: Server) -> Server:
    """A server that was found, under the name that its address has already, or under its own."""
    known = {one.address: one.name for one in door.own.servers()}
    taken = {one.name for one in door.own.servers()} - {known.get(server.address)}
    name = known.get(server.address, server.name)
    number = 2
    while name in taken:
        name, number = f"{server.name}-{number}", number + 1
    named = replace(server, name=name)
    door.own.keep_server(named)
    return named


def _add(arguments: argparse.Namespace, door: ModelDoor) -> None:
    name = check_server_name(arguments.name) if arguments.name else ""
    key = door.keys.key(name) if name else None
    found = asyncio.run(door.look_at_server(arguments.address, CancelToken(), key or ""))
    if name:
        server = replace(found, name=name)
        door.own.keep_server(server)
    else:
        server = _kept(door, found)
    if arguments.json:
        print_json(asdict(server))
        return
    print(f"{server.name} is added: {title_of(server.kind)} at {server.address}.")
    _print_servers([server])


def _rename(arguments: argparse.Namespace, door: ModelDoor) -> None:
    door.rename_server(arguments.name, arguments.new)
    if arguments.json:
        print_json({"name": arguments.new})
    else:
        print(f"{arguments.name} is called {arguments.new} now.")


def _remove(arguments: argparse.Namespace, door: ModelDoor) -> None:
    if door.own.server(arguments.name) is None:
        names = ", ".join(server.name for server in door.own.servers()) or "none is added"
        raise CommandFailed(f"There is no server {arguments.name} ({names}).")
    door.own.drop_server(arguments.name)
    if arguments.json:
        print_json({"removed": arguments.name})
    else:
        print(f"{arguments.name} is forgotten.")


def _key(arguments: argparse.Namespace, door: ModelDoor) -> None:
    provider = arguments.provider
    if arguments.keep:
        door.keys.keep(provider, _asked_for_key(provider))
    elif arguments.forget:
        door.keys.forget(provider)
    elif arguments.test:
        tried = asyncio.run(door.test_key(provider, None, CancelToken(), arguments.model))
        if arguments.json:
            print_json(asdict(tried))
        if not tried.works:
            raise CommandFailed(tried.told)
        if not arguments.json:
            print(visible_line(tried.told))
        return
    state = door.keys.state(provider)
    print_json(asdict(state)) if arguments.json else print(visible_line(state.told))


def _asked_for_key(provider: str) -> str:
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


def _told(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{_per_million(value)} $/M" if name.endswith("_price") else f"{value:,}"


def _per_million(price: float | None) -> str:
    return "" if price is None else f"{price * 1_000_000:.10g}"
