"""Servers of the user that speak as OpenAI does: found on request, and asked what they have.

Ollama, llama.cpp, vLLM and LM Studio are looked for at their usual ports on this machine, all at
once; each reports the context window of its models differently.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Coroutine, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from explorer.models.catalogue import FigureSource, ModelInfo
from explorer.models.events import ModelError
from explorer.models.reply_guard import ReplyGuard, ReplyLimits
from explorer.models.reply_reader import UnreadableReply, read_json, shortened
from explorer.models.user_models import Server, ServerKind, ServerModel

if TYPE_CHECKING:
    import httpx

USUAL_ADDRESSES = (
    "http://127.0.0.1:11434",  # Ollama
    "http://127.0.0.1:8080",  # llama.cpp
    "http://127.0.0.1:8000",  # vLLM
    "http://127.0.0.1:1234",  # LM Studio
)
TIMEOUT_S = 2.0
"""For each question to a server."""
_MOST_MODELS = 200
_ASKED_AT_ONCE = 8
_LIMITS = ReplyLimits(4_000_000, 4_000_000)
_MOST_NAME = 200
"""Characters of a model's name."""
_MOST_WINDOW = 1_000_000_000
_TITLES: dict[ServerKind, str] = {
    "ollama": "Ollama",
    "llama.cpp": "llama.cpp",
    "vllm": "vLLM",
    "lm-studio": "LM Studio",
    "other": "OpenAI-compatible server",
}


class FoundServers(Struct, frozen=True):
    """What a search found. ``silent`` are the addresses without an answer."""

    servers: tuple[Server, ...]
    silent: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """In words, for the person."""
        if not self.servers:
            ports = ", ".join(str(urlsplit(address).port) for address in self.silent)
            return f"No server answered on this machine (ports {ports})."
        each = (f"{title_of(server.kind)} with {_models(server)}" for server in self.servers)
        return f"Found {', '.join(each)}."


def title_of(kind: ServerKind) -> str:
    """A kind of server, for people."""
    return _TITLES[kind]


def _models(server: Server) -> str:
    return "1 model" if len(server.models) == 1 else f"{len(server.models)} models"


def server_address(text: str) -> str:
    """An address as servers are stored: without a path ``/v1`` and a slash at the end.

    Raises ModelError (unavailable) for one that text should not go to: unencrypted addresses are
    for this machine and its local network.
    """
    address = text.strip().rstrip("/")
    if address and "://" not in address:
        address = f"http://{address}"
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise ModelError("unavailable", f"This is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ModelError("unavailable", "An address names a host, such as http://localhost:11434.")
    if parts.username or parts.password:
        raise ModelError("unavailable", "Keep the key in the keyring, not in the address.")
    if parts.scheme == "http" and not _is_near(address):
        raise ModelError(
            "unavailable", f"The conversation would go unencrypted to {host}. Use https://."
        )
    return address.removesuffix("/v1").rstrip("/")


async def find_servers(
    addresses: Sequence[str] = USUAL_ADDRESSES, timeout_s: float = TIMEOUT_S
) -> FoundServers:
    """Look at all addresses at once. Ends after about twice the timeout at the latest."""
    async with _client(timeout_s, near=True) as client:
        looked = await asyncio.gather(
            *(_look(client, address, "") for address in addresses), return_exceptions=True
        )
    servers: list[Server] = []
    silent: list[str] = []
    for address, found in zip(addresses, looked, strict=True):
        if isinstance(found, Server):
            servers.append(replace(found, name=free_name(found.kind, servers)))
        elif isinstance(found, ModelError):
            silent.append(address)
        elif isinstance(found, BaseException):
            raise found
    return FoundServers(tuple(servers), tuple(silent))


async def look_at(address: str, key: str = "") -> Server:
    """What the server at an address is and has; its name is one that can be stored.

    Raises ModelError: network without an answer, auth when it wants another key, server when it
    does not speak as OpenAI does.
    """
    address = server_address(address)
    async with _client(TIMEOUT_S, _is_near(address)) as client:
        return await _look(client, address, key)


def free_name(kind: ServerKind, others: Sequence[Server]) -> str:
    """A name for a server that none of the others has."""
    name = "server" if kind == "other" else kind
    taken = {other.name for other in others}
    return next(
        each for number in range(1, len(taken) + 2)
        if (each := name if number == 1 else f"{name}-{number}") not in taken
    )  # fmt: skip


def model_info(server: Server, model_id: str) -> ModelInfo:
    """What is known of ``model_id``, the part after the server's name and a slash.

    A server on this machine takes no money.
    """
    known = next((model for model in server.models if model.id == model_id), ServerModel(model_id))
    on_this_machine = is_loopback(urlsplit(server.address).hostname or "")
    price = 0.0 if on_this_machine else None
    info = ModelInfo(
        f"{server.name}/{model_id}", f"{server.name}/{model_id}", known.window, None,
        input_price=price, output_price=price,
        reasoning=known.reasoning, images=known.images, tools=known.tools,
    )  # fmt: skip
    reported = ("window", "input_price", "output_price", "reasoning", "images", "tools")
    sources: dict[str, FigureSource] = {
        name: "server" for name in reported if getattr(info, name) is not None
    }
    return replace(info, sources=sources)


# asking -------------------------------------------------------------------------------------------


async def _look(client: httpx.AsyncClient, address: str, key: str) -> Server:
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def get(path: str) -> Coroutine[Any, Any, Any]:
        return _json(client, "GET", address + path, headers)

    listed, tags, props, studio = await asyncio.gather(
        get("/v1/models"),
        _or_nothing(get("/api/tags")),
        _or_nothing(get("/props")),
        _or_nothing(get("/api/v0/models")),
    )
    rows = [row for row in _list(listed, "data") if _is_name(row.get("id"))]
    if not isinstance(listed, Mapping) or "data" not in listed:
        raise ModelError("server", f"{address} answers, but not as OpenAI's API does.")
    names = [str(row["id"]) for row in rows][:_MOST_MODELS]
    if isinstance(tags, Mapping) and "models" in tags:
        running = await _or_nothing(get("/api/ps"))
        models = await _ollama_models(client, address, headers, names, running)
        return Server("ollama", address, "ollama", models)
    if isinstance(studio, Mapping) and "data" in studio:
        return Server("lm-studio", address, "lm-studio", _studio_models(studio))
    if isinstance(props, Mapping) and "default_generation_settings" in props:
        models = tuple(_llama_model(name, props) for name in names)
        return Server("llama.cpp", address, "llama.cpp", models)
    kind: ServerKind = "vllm" if any("max_model_len" in row for row in rows) else "other"
    models = tuple(
        ServerModel(
            str(row["id"]), _count(row, "max_model_len", "context_length", "context_window")
        )
        for row in rows[:_MOST_MODELS]
    )
    return Server("server" if kind == "other" else kind, address, kind, models)


async def _ollama_models(
    client: httpx.AsyncClient, address: str, headers: Mapping[str, str],
    names: Sequence[str], running: object,
) -> tuple[ServerModel, ...]:  # fmt: skip
    loaded = {
        str(row.get("name")): _count(row, "context_length") for row in _list(running, "models")
    }
    turn = asyncio.Semaphore(_ASKED_AT_ONCE)

    async def ask(name: str) -> ServerModel:
        async with turn:
            shown = await _or_nothing(
                _json(client, "POST", f"{address}/api/show", headers, {"model": name})
            )
        return _ollama_model(name, shown, loaded.get(name))

    return tuple(await asyncio.gather(*map(ask, names)))


def _ollama_model(name: str, shown: object, loaded: int | None) -> ServerModel:
    """Ollama cuts what is longer than ``num_ctx``, silently; where it reports that, it is
    the window and not what the model itself could take."""
    if not isinstance(shown, Mapping):
        return ServerModel(name, loaded)
    details = shown.get("model_info")
    configured = next(
        (
            value
            for key, value in (details.items() if isinstance(details, Mapping) else ())
            if str(key).endswith(".context_length") and _is_window(value)
        ),
        None,
    )
    asked = re.search(r"^num_ctx\s+(\d{1,9})\b", str(shown.get("parameters") or ""), re.MULTILINE)
    window = loaded or (int(asked[1]) if asked else None) or configured
    can = shown.get("capabilities")
    if not isinstance(can, list):
        return ServerModel(name, window)
    return ServerModel(name, window, "thinking" in can, "vision" in can, "tools" in can)


def _studio_models(studio: object) -> tuple[ServerModel, ...]:
    models: list[ServerModel] = []
    for row in _list(studio, "data")[:_MOST_MODELS]:
        if row.get("type") == "embeddings" or not _is_name(row.get("id")):
            continue
        can = row.get("capabilities")
        tools = "tool_use" in can if isinstance(can, list) else None
        window = _count(row, "loaded_context_length", "max_context_length")
        models.append(ServerModel(row["id"], window, None, row.get("type") == "vlm", tools))
    return tuple(models)


def _llama_model(name: str, props: Mapping[str, Any]) -> ServerModel:
    settings = props["default_generation_settings"]
    window = _count(settings, "n_ctx") if isinstance(settings, Mapping) else None
    kinds = props.get("modalities")
    images = bool(kinds.get("vision")) if isinstance(kinds, Mapping) else None
    return ServerModel(name, window, None, images)


def _client(timeout_s: float, near: bool) -> httpx.AsyncClient:
    # A proxy of the environment is not asked for addresses of this machine and its network.
    import_module("explorer.models.guarded_transports")
    made: httpx.AsyncClient = import_module("httpx").AsyncClient(
        timeout=timeout_s, trust_env=not near, follow_redirects=False
    )
    return made


async def _json(
    client: httpx.AsyncClient, method: str, url: str, headers: Mapping[str, str], body: Any = None
) -> Any:
    library = import_module("httpx")
    where = urlsplit(url).netloc
    try:
        with ReplyGuard(_LIMITS, url).active():
            async with asyncio.timeout(2 * (client.timeout.read or TIMEOUT_S)):
                answer = await client.request(method, url, headers=dict(headers), json=body)
    except (library.HTTPError, library.InvalidURL, OSError) as error:  # OSError: TimeoutError too
        raise ModelError("network", f"Nobody answers at {where}.") from error
    if answer.status_code in (401, 403):
        raise ModelError("auth", f"{where} wants another key.")
    if answer.status_code != 200:
        raise ModelError("server", f"{url} answers with status {answer.status_code}.")
    try:
        return read_json(answer.content.decode("utf-8", "replace"), "")
    except UnreadableReply as error:
        raise ModelError("server", f"{url} answers with something that is not JSON.") from error


async def _or_nothing(work: Coroutine[Any, Any, Any]) -> Any:
    """An answer that one can do without."""
    try:
        return await work
    except ModelError:
        return None


def _list(value: object, key: str) -> list[Mapping[str, Any]]:
    listed = value.get(key) if isinstance(value, Mapping) else None
    return [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []


def _count(row: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = row.get(name)
        if _is_window(value):
            return value
    return None


def _is_window(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value <= _MOST_WINDOW


def _is_name(value: object) -> bool:
    """Whether a model can be asked for and shown by this name."""
    return isinstance(value, str) and bool(value) and shortened(value, _MOST_NAME) == value


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    address = _ip(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_near(address: str) -> bool:
    """This machine, or one of its local network."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    found = _ip(host)
    is_local_network = host.endswith((".local", ".lan", ".internal"))
    return is_loopback(host) or is_local_network or (found is not None and found.is_private)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
