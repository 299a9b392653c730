"""The client for every model.

`offline/...` models run here without litellm; all others go through litellm on a
separate thread. The same events, errors and cancel for both.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.models.catalogue import (
    DEMO,
    EXTRACTIVE,
    REMOTE,
    REMOTE_MODEL,
    Catalogue,
    ModelInfo,
    ProviderModels,
    levels_of,
    listed,
    provider_of,
)
from explorer.models.events import (
    Cancelled,
    CancelToken,
    Completion,
    ErrorKind,
    Event,
    Finished,
    ModelError,
    Silence,
    StopReason,
    Streams,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCallReady,
    Usage,
    UsageReport,
    UsageSource,
    complete,
)
from explorer.models.keys import (
    KeyringUnavailable,
    Keys,
    KeyState,
    KeyTest,
    judged,
    model_to_ask,
    remember_secret,
    smallest_request,
)
from explorer.models.offline.scenario import play, scenario_of, scenarios
from explorer.models.provider import EventPipe, ProviderThread, on_provider_loop
from explorer.models.remote import RemoteSettings, call_endpoint, check_address
from explorer.models.reply_guard import ReplyLimits
from explorer.models.request import (
    THINKING_LEVELS,
    ChatMessage,
    ContentPart,
    ImagePart,
    ModelRequest,
    Role,
    TextPart,
    ThinkingLevel,
    ThinkingPart,
    ToolCall,
    ToolSpec,
)
from explorer.models.route import HERE, Destination, FindRoute, Route, Routes, destination_at
from explorer.models.servers import USUAL_ADDRESSES, FoundServers, find_servers, free_name, look_at
from explorer.models.user_models import (
    Override,
    Server,
    UserModels,
    UserModelsError,
    check_server_name,
)

__all__ = [
    "DEMO",
    "EXTRACTIVE",
    "REMOTE",
    "THINKING_LEVELS",
    "CancelToken",
    "Cancelled",
    "ChatMessage",
    "Completion",
    "ContentPart",
    "Destination",
    "ErrorKind",
    "Event",
    "Finished",
    "FoundServers",
    "ImagePart",
    "KeyState",
    "KeyTest",
    "KeyringUnavailable",
    "ModelClient",
    "ModelClientConfig",
    "ModelError",
    "ModelInfo",
    "ModelRequest",
    "Models",
    "Override",
    "ProviderModels",
    "Role",
    "Server",
    "Silence",
    "StopReason",
    "Streams",
    "TextDelta",
    "TextPart",
    "ThinkingDelta",
    "ThinkingLevel",
    "ThinkingPart",
    "ThinkingSigned",
    "ToolCall",
    "ToolCallReady",
    "ToolSpec",
    "Usage",
    "UsageReport",
    "UsageSource",
    "UserModelsError",
    "complete",
    "levels_of",
]

_END_WAIT_S = 5.0
OfflineModel = Callable[[ModelRequest, Callable[[Event], None], Callable[[], bool]], None]


# Both are imported when they are first asked: they take as long to import as half of the window.


def _answer_demo(
    request: ModelRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
) -> None:
    from explorer.models.offline.demo import answer

    answer(request, emit, cancelled)


def _answer_extractive(
    request: ModelRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
) -> None:
    from explorer.models.offline.extractive import answer

    answer(request, emit, cancelled)


_OFFLINE: Mapping[str, OfflineModel] = {EXTRACTIVE: _answer_extractive, DEMO: _answer_demo}


class ModelClientConfig(Struct, frozen=True):
    """Settings of a client. Keys are never here: they come from the keyring or the environment.

    `default` is the model for summaries and the agent where one was chosen; `models` adds
    or replaces catalogue rows (a server of the user); times in seconds.
    """

    default: str | None = None
    models: tuple[ModelInfo, ...] = ()
    api_base: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 3600.0
    """For a whole answer."""
    idle_timeout_s: float = 300.0
    """Without a byte; models may think so long."""
    limits: ReplyLimits = field(default_factory=ReplyLimits)
    remote: RemoteSettings = field(default_factory=RemoteSettings)
    """The endpoint that ``remote/endpoint`` stands for (A29)."""
    user_models: Path | None = None
    """The file with the user's servers and overrides; None: they are in memory only."""


class Models(Streams, Protocol):
    """Answers requests, and knows the models that do."""

    def info(self, model_id: str) -> ModelInfo:
        """See ``ModelClient``."""
        ...


class ModelClient:
    """Answers model requests on whichever asyncio loop asks."""

    def __init__(self, config: ModelClientConfig | None = None) -> None:
        self._config = config or ModelClientConfig()
        self._remote = self._config.remote
        self._api_base = self._config.api_base
        scripted = tuple(scenario.info for scenario in scenarios())
        self.user_models = UserModels(self._config.user_models)
        """The person's servers, and what they say of models."""
        self.keys = Keys(self.user_models)
        """Where the keys are."""
        catalogue = Catalogue((*scripted, *self._config.models))
        self._routes = Routes(catalogue, self.user_models, self.keys)
        self._pace = 1.0
        self._silence_s = self._config.idle_timeout_s
        self._provider = ProviderThread()
        self._workers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="offline-model")
        self._offline_running = 0
        self._served: dict[str, tuple[ModelInfo, OfflineModel]] = {}
        self._lock = threading.Lock()

    def models(self) -> list[ModelInfo]:
        """The offline models, the declared ones, those of the person's servers, and those that a
        key opens; provider by provider, the newest first. The remote endpoint, where one was
        named."""
        remote = [REMOTE_MODEL] if self._remote.address else []
        return listed([*self._routes.known(), *remote])

    def every_model(self) -> list[ModelInfo]:
        """``models``, and all others that the table of prices has. Some hundred ms at the first
        call: for a worker thread."""
        remote = [REMOTE_MODEL] if self._remote.address else []
        return listed([*self._routes.known(every=True), *remote])

    def can_call(self, model_id: str) -> bool:
        """Whether a model should answer as things are: its key or its server is there. Asks
        nobody."""
        if model_id.startswith("offline/") or model_id in self._served:
            return True
        if model_id == REMOTE:
            return bool(self._remote.address)
        return self._routes.has_way(provider_of(model_id), self._api_base)

    def destination(self, model_id: str, endpoint: str | None = None) -> Destination:
        """Where a request to a model goes. ``endpoint``: see ``ModelRequest``. Asks no provider."""
        if model_id.startswith("offline/") or model_id in self._served:
            return HERE
        if model_id == REMOTE:
            return destination_at(endpoint or self._remote.address)
        return self._routes.destination(model_id, self._api_base)

    def use_endpoint(self, address: str) -> None:
        """Let ``remote/endpoint`` stand for another address from now on; empty for none.

        Raises ModelError (unavailable) with the reason for an address that cannot be used.
        """
        if address.strip():
            check_address(address, self._remote.allow_plain)
        self._remote = replace(self._remote, address=address.strip())

    def use_pace(self, pace: float) -> None:
        """Set the pace of scripted runs: 1 as they are written, 0 without pauses."""
        self._pace = pace

    def use_silence(self, seconds: float | None) -> None:
        """End calls after so long without a byte from now on; None: as configured."""
        self._silence_s = self._config.idle_timeout_s if seconds is None else seconds

    def use_api_base(self, address: str) -> None:
        """Ask the models of providers at another address from now on; empty: at the default one."""
        self._api_base = address.strip() or self._config.api_base

    def serve(self, info: ModelInfo, model: OfflineModel) -> Callable[[], None]:
        """Let a function on this machine answer under ``info.id`` until the returned function is
        called. It runs on a worker thread and may take its time."""
        self._served[info.id] = served = (info, model)

        def forget() -> None:
            if self._served.get(info.id) is served:
                del self._served[info.id]

        return forget

    def info(self, model_id: str) -> ModelInfo:
        """Window, output limit (tokens), prices and more, each with its source; None for each
        figure not known."""
        served = self._served.get(model_id)
        return served[0] if served is not None else self._routes.info(model_id)

    def info_without_overrides(self, model_id: str) -> ModelInfo:
        """``info`` without the user's overrides."""
        served = self._served.get(model_id)
        return served[0] if served is not None else self._routes.info_without_overrides(model_id)

    async def find_servers(
        self, cancel: CancelToken, addresses: Sequence[str] = USUAL_ADDRESSES
    ) -> FoundServers:
        """Look for servers of the user on this machine; ``user_models.save_server`` adds one.
        Raises Cancelled."""
        return await on_provider_loop(self._provider, find_servers(addresses), cancel)

    async def probe_server(self, address: str, cancel: CancelToken, key: str = "") -> Server:
        """The server at an address and its models, under a name that is free. Raises ModelError,
        Cancelled."""
        server = await on_provider_loop(self._provider, look_at(address, key), cancel)
        return replace(server, name=free_name(server.kind, self.user_models.servers()))

    def rename_server(self, old: str, new: str) -> None:
        """Give a server another name; its models, its key and its overrides follow. May wait for
        the keyring: for a worker thread.

        Raises UserModelsError for a name that cannot be used or a server that is not there, and
        KeyringUnavailable where its key cannot be moved; then everything is as it was.
        """
        server = self.user_models.server(old)
        if server is None:
            raise UserModelsError(f"There is no server {old}.")
        if new == old:
            return
        check_server_name(new, frozenset(one.name for one in self.user_models.servers()))
        self.keys.move(old, new)
        self.user_models.save_server(replace(server, name=new))
        for model_id, override in self.user_models.overrides().items():
            provider, _, name = model_id.partition("/")
            if provider == old:
                self.user_models.set_override(f"{new}/{name}", override)
                self.user_models.set_override(model_id, None)
        self.user_models.remove_server(old)

    async def test_key(
        self, provider: str, key: str | None, cancel: CancelToken, model: str = ""
    ) -> KeyTest:
        """Make the smallest real request of a provider, or of a server of the user.

        ``key`` None takes the stored one; ``model`` is the one to ask, by default a cheap one.
        Raises Cancelled.
        """
        if key is not None and not key.strip():
            return KeyTest("no key", "There is no key to test: the field is empty.")
        asked = model or await asyncio.to_thread(self._model_to_ask, provider)
        if not asked:
            return KeyTest("no such model", f"No model of {provider} is known; name one.")

        def find_route() -> Route:
            route = self._route(asked)
            if key is not None:
                remember_secret(key.strip())
                route = replace(route, api_key=key.strip())
            return route

        tried = "The key" if self.user_models.server(provider) is None else "The server"
        needs_key = key is None and self.user_models.server(provider) is None
        if needs_key and not await asyncio.to_thread(self.keys.key, provider):
            return KeyTest("no key", f"There is no key of {provider}.", asked)
        try:
            async for _ in self._stream(smallest_request(asked), cancel, find_route):
                pass
        except ModelError as error:
            return judged(provider, asked, error, tried)
        return judged(provider, asked, None, tried)

    def _model_to_ask(self, provider: str) -> str:
        server = self.user_models.server(provider)
        if server is not None:
            return f"{provider}/{server.models[0].id}" if server.models else ""
        return model_to_ask(self._routes.all_of(provider), provider)

    def default_model(self) -> str:
        """The configured model for summaries, else the offline one: no text leaves unasked."""
        return self._config.default or EXTRACTIVE

    @property
    def running(self) -> int:
        """Calls under way, provider and offline together."""
        with self._lock:
            return self._provider.running + self._offline_running

    def warm(self) -> None:
        """Import litellm in its thread, walk a first call there and read the price
        table. Returns at once.

        A failure shows at the first real call, which tries again.
        """
        self._workers.submit(self._routes.info, "")
        self._provider.warm(lambda _error: None)

    def close(self) -> None:
        """Cancel what runs and end the threads; a closed client answers no more."""
        self._provider.close()
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        """The events of one answer, ending with `Finished`.

        Raises ModelError, or Cancelled as soon as `cancel` is cancelled. Closing the
        iterator early, or cancelling the task that reads it, ends the call as well.
        """
        async with aclosing(self._stream(request, cancel, None)) as events:
            async for event in events:
                yield event

    async def _stream(
        self, request: ModelRequest, cancel: CancelToken, find_route: FindRoute | None
    ) -> AsyncGenerator[Event, None]:
        if cancel.cancelled:
            raise Cancelled()
        pipe = EventPipe()
        stop = self._begin(request, pipe, find_route)

        def give_up() -> None:
            pipe.abandon(Cancelled())
            stop()

        forget = cancel.add_callback(give_up)
        try:
            async for event in pipe.events():
                yield event
        finally:
            forget()
            stop()
            await pipe.closed(_END_WAIT_S)

    def _route(self, model_id: str) -> Route:
        """The route to a model, with the client's limits."""
        return replace(
            self._routes.route(model_id, self._api_base),
            headers=self._config.headers,
            timeout_s=self._config.timeout_s,
            idle_timeout_s=self._silence_s,
            limits=self._config.limits,
        )

    def _begin(
        self, request: ModelRequest, pipe: EventPipe, find_route: FindRoute | None
    ) -> Callable[[], None]:
        """Start the call that fills `pipe`; what is returned ends it early, from any thread."""
        if request.model.startswith("offline/") or request.model in self._served:
            return self._begin_offline(request, pipe)

        def on_end(error: BaseException | None) -> None:
            pipe.end(Cancelled() if isinstance(error, asyncio.CancelledError) else error)
            pipe.close()

        if request.model == REMOTE:
            work = call_endpoint(request, self._remote, pipe.put)
            return self._provider.work(work, on_end).cancel
        way = find_route or partial(self._route, request.model)
        call = self._provider.start(request, way, pipe.put, on_end)

        def stop() -> None:
            call.cancel()
            if not self._provider.ready:
                # The import cannot be broken off; the call ends behind it without sending.
                pipe.close()

        return stop

    def _offline_model(self, name: str) -> OfflineModel | None:
        scenario = scenario_of(name)
        return _OFFLINE.get(name) if scenario is None else partial(play, scenario, self._pace)

    def _begin_offline(self, request: ModelRequest, pipe: EventPipe) -> Callable[[], None]:
        served = self._served.get(request.model)
        model = served[1] if served is not None else self._offline_model(request.model)
        if model is None:
            raise ModelError("unavailable", f"There is no offline model named {request.model}.")
        stopped = threading.Event()

        def run() -> None:
            model(request, pipe.put, stopped.is_set)

        def on_end(done: Future[None]) -> None:
            with self._lock:
                self._offline_running -= 1
            pipe.end(Cancelled() if done.cancelled() else done.exception())
            pipe.close()

        with self._lock:
            self._offline_running += 1
        try:
            future = self._workers.submit(run)
        except RuntimeError as error:
            with self._lock:
                self._offline_running -= 1
            raise ModelError("unavailable", "The model client is closed.") from error
        future.add_done_callback(on_end)
        return stopped.set
