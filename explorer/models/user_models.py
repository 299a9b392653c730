"""What the user says of models: figures that override the table's, servers, and which providers
have a key in the keyring. One small JSON file; keys are never in it.

    {"overrides": {"openai/gpt-x": {"window": 64000}},
     "servers": [{"name": "box", "address": "http://localhost:8000", "kind": "vllm", "models": []}],
     "keyring": ["openai"]}
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import asdict, replace

from explorer import private_files
from explorer.models.catalogue import FIGURES, FigureSource, ModelInfo
from explorer.settings import paths

ServerKind = Literal["ollama", "llama.cpp", "vllm", "lm-studio", "other"]
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_TAKEN = frozenset({"offline", "remote", "replay"})
_PRICES = frozenset(name for name in FIGURES if name.endswith("_price"))
_YES_NO = frozenset({"reasoning", "images", "tools"})


class UserModelsError(Exception):
    """A change that cannot be stored; the message is a sentence with the reason."""


class Override(Struct, frozen=True):
    """The user's figures for a model; None leaves a figure as it is. Units as in ``ModelInfo``."""

    window: int | None = None
    output_limit: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None
    cache_write_1h_price: float | None = None
    reasoning: bool | None = None
    images: bool | None = None
    tools: bool | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The figures that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class ServerModel(Struct, frozen=True):
    """A model of a server, as the server reports it. ``window`` in tokens."""

    id: str
    window: int | None = None
    reasoning: bool | None = None
    images: bool | None = None
    tools: bool | None = None


class Server(Struct, frozen=True):
    """An OpenAI-compatible address that was added. Its models are ``name/model``."""

    name: str
    address: str
    """Without ``/v1``: ``http://localhost:11434``."""
    kind: ServerKind = "other"
    models: tuple[ServerModel, ...] = ()
    """As they were when it was last looked at."""

    @property
    def api_base(self) -> str:
        """Where chat completions are asked for."""
        return self.address.rstrip("/") + "/v1"


def check_server_name(name: str, taken: frozenset[str] = frozenset()) -> str:
    """The name, if models may be called by it. Raises UserModelsError with the reason."""
    if not _NAME.fullmatch(name):
        raise UserModelsError(
            "A server's name is made of small letters, digits, dots and dashes, 40 at most, such"
            " as my-server."
        )
    if name in _TAKEN or name in taken:
        raise UserModelsError(f"The name {name} stands for something else already; choose another.")
    return name


def overridden(info: ModelInfo, override: Override | None) -> ModelInfo:
    """What is known of a model, with the user's figures before all others."""
    if override is None or not override.given:
        return info
    given: dict[str, FigureSource] = dict.fromkeys(override.given, "you")
    tiers = () if _PRICES & override.given.keys() else info.tiers
    sources = {**info.sources, **given}
    return replace(info, **override.given, tiers=tiers, sources=sources)


class UserModels:
    """The file, read at the first question and written whole at every change. Any thread."""

    def __init__(self, path: Path | None = None) -> None:
        """``path`` None: everything is in memory only."""
        self._path = path
        self._lock = threading.RLock()
        self._overrides: dict[str, Override] = {}
        self._servers: dict[str, Server] = {}
        self._keyring: set[str] = set()
        self._read_at: tuple[int, int] | None = None
        self._listeners: dict[int, Callable[[], None]] = {}
        self.problem = ""
        """What is wrong with the file, for the person; empty when all is well. What cannot be
        used is left out, and the file is not written over until something is changed."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after every change made here, on the thread that makes it; returns its
        removal."""
        with self._lock:
            key = max(self._listeners, default=0) + 1
            self._listeners[key] = listener
        return lambda: self._forget_listener(key)

    def _forget_listener(self, key: int) -> None:
        with self._lock:
            self._listeners.pop(key, None)

    # reading -------------------------------------------------------------------------------------

    def override(self, model_id: str) -> Override | None:
        with self._lock:
            self._follow()
            return self._overrides.get(model_id)

    def overrides(self) -> dict[str, Override]:
        """By model."""
        with self._lock:
            self._follow()
            return dict(self._overrides)

    def servers(self) -> tuple[Server, ...]:
        """In the order in which they were added."""
        with self._lock:
            self._follow()
            return tuple(self._servers.values())

    def server(self, name: str) -> Server | None:
        with self._lock:
            self._follow()
            return self._servers.get(name)

    def in_keyring(self) -> frozenset[str]:
        """The providers and servers whose key was put into the keyring."""
        with self._lock:
            self._follow()
            return frozenset(self._keyring)

    # changes: each raises UserModelsError when the file cannot be written ------------------------

    def set_override(self, model_id: str, override: Override | None) -> None:
        """Set what holds for a model; None, or an empty override, removes it."""
        if override is not None:
            _check_override(override)

        def change() -> None:
            if override is None or not override.given:
                self._overrides.pop(model_id, None)
            else:
                self._overrides[model_id] = override

        self._change(change)

    def save_server(self, server: Server) -> None:
        """Add a server, or put its newer description in the old one's place."""
        check_server_name(server.name)
        self._change(lambda: self._servers.__setitem__(server.name, server))

    def remove_server(self, name: str) -> None:
        """Forget a server; its key stays in the keyring until that is taken away."""
        self._change(lambda: self._servers.pop(name, None))

    def record_key(self, owner: str, stored: bool) -> None:
        """Write down that the keyring has a key of this provider or server, or has none."""
        change = self._keyring.add if stored else self._keyring.discard
        self._change(lambda: change(owner))

    def _change(self, change: Callable[[], object]) -> None:
        with self._lock:
            self._follow()
            before = (dict(self._overrides), dict(self._servers), set(self._keyring))
            change()
            try:
                self._write()
            except OSError as error:
                self._overrides, self._servers = before[0], before[1]
                self._keyring = before[2]
                raise UserModelsError(f"{self._path} cannot be written: {error}") from error
            listeners = list(self._listeners.values())
        for listener in listeners:
            listener()

    # the file ------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Read the file where it is newer than what is known: another window may write it too."""
        if self._path is None:
            return
        try:
            status = self._path.stat()
        except OSError:
            return  # there is none yet
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp == self._read_at:
            return
        self._read_at = stamp
        try:
            data = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            self.problem = f"{self._path} cannot be read: {error}"
            return
        self._take(data)

    def _take(self, data: object) -> None:
        wrong: list[str] = []
        known = data if isinstance(data, dict) else {}
        if known is not data:
            wrong.append("the file")
        self._overrides = _read_overrides(known.get("overrides"), wrong)
        self._servers = _read_servers(known.get("servers"), wrong)
        names = known.get("keyring") or []
        if not isinstance(names, list):
            wrong.append("keyring")
            names = []
        self._keyring = {name for name in names if isinstance(name, str)}
        self.problem = f"{self._path}: not usable: {', '.join(wrong)}" if wrong else ""

    def _write(self) -> None:
        if self._path is None:
            return
        data = {
            "overrides": {
                name: override.given for name, override in sorted(self._overrides.items())
            },
            "servers": [_server_to_json(server) for server in self._servers.values()],
            "keyring": sorted(self._keyring),
        }
        paths.ensure(self._path.parent)
        private_files.write(self._path, json.dumps(data, indent=2, ensure_ascii=False).encode())
        status = self._path.stat()
        self._read_at = (status.st_mtime_ns, status.st_size)
        self.problem = ""


def _check_override(override: Override) -> None:
    for name, value in override.given.items():
        if name in _YES_NO:
            continue
        if name in _PRICES:
            if not 0 <= value <= 1:
                raise UserModelsError("A price is dollars for one token, from 0 to 1.")
        elif not 1 <= value <= 1_000_000_000:
            raise UserModelsError("A number of tokens is from 1 to 1,000,000,000.")


def _read_overrides(found: object, wrong: list[str]) -> dict[str, Override]:
    result: dict[str, Override] = {}
    for name, figures in found.items() if isinstance(found, dict) else ():
        try:
            override = Override(**{key: _figure(key, value) for key, value in figures.items()})
            _check_override(override)
        except (TypeError, ValueError, AttributeError, UserModelsError):
            wrong.append(f"the figures of {name}")
            continue
        result[name] = override
    return result


def _figure(name: str, value: object) -> Any:
    if name in _YES_NO and isinstance(value, bool):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(name)
    return float(value) if name in _PRICES else int(value)


def _read_servers(found: object, wrong: list[str]) -> dict[str, Server]:
    result: dict[str, Server] = {}
    for item in found if isinstance(found, list) else ():
        try:
            server = _server_from_json(item)
            check_server_name(server.name)
        except (KeyError, TypeError, ValueError, AttributeError, UserModelsError):
            wrong.append("a server")
            continue
        result[server.name] = server
    return result


def _server_to_json(server: Server) -> dict[str, Any]:
    models = [
        {name: value for name, value in asdict(model).items() if value is not None}
        for model in server.models
    ]
    return {
        "name": server.name, "address": server.address, "kind": server.kind, "models": models,
    }  # fmt: skip


def _server_from_json(item: Mapping[str, Any]) -> Server:
    kind: ServerKind = item["kind"] if item.get("kind") in get_args(ServerKind) else "other"
    models = tuple(ServerModel(**model) for model in item.get("models", ()))
    name, address = item["name"], item["address"]
    if not isinstance(name, str) or not isinstance(address, str):
        raise TypeError("name and address are texts")
    return Server(name, address, kind, models)
