"""The one door to every model.

`offline/...` models run here without litellm; all others go through litellm in a thread
of its own. The same events, errors and cancel for both.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from explorer.models.cancel import CancelToken
from explorer.models.catalogue import DEMO, EXTRACTIVE, REMOTE, REMOTE_MODEL, Catalogue
from explorer.models.completion import Completion, Streams, complete
from explorer.models.events import (
    Cancelled,
    ErrorKind,
    Event,
    Finished,
    ModelError,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCallReady,
    Usage,
    UsageReport,
    UsageSource,
)
from explorer.models.info import ModelInfo
from explorer.models.listing import listed
from explorer.models.offline.demo import answer as answer_demo
from explorer.models.offline.extractive import answer as answer_extractive
from explorer.models.offline.scenario import scenario_of, scenarios
from explorer.models.offline.scenario_player import play
from explorer.models.pipe import EventPipe
from explorer.models.provider import ProviderSettings, ProviderThread
from explorer.models.remote import RemoteSettings, call_endpoint, check_address
from explorer.models.request import (
    ChatMessage,
    ContentPart,
    ImagePart,
    ModelRequest,
    Role,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolSpec,
)

__all__ = [
    "DEMO",
    "EXTRACTIVE",
    "REMOTE",
    "CancelToken",
    "Cancelled",
    "ChatMessage",
    "Completion",
    "ContentPart",
    "ErrorKind",
    "Event",
    "Finished",
    "ImagePart",
    "ModelDoor",
    "ModelDoorConfig",
    "ModelError",
    "ModelInfo",
    "ModelRequest",
    "Role",
    "StopReason",
    "Streams",
    "TextDelta",
    "TextPart",
    "ThinkingDelta",
    "ThinkingPart",
    "ThinkingSigned",
    "ToolCall",
    "ToolCallReady",
    "ToolSpec",
    "Usage",
    "UsageReport",
    "UsageSource",
    "complete",
]

_END_WAIT_S = 5.0
OfflineModel = Callable[[ModelRequest, Callable[[Event], None], Callable[[], bool]], None]
_OFFLINE: Mapping[str, OfflineModel] = {EXTRACTIVE: answer_extractive, DEMO: answer_demo}


@dataclass(frozen=True, slots=True)
class ModelDoorConfig:
    """What a door may be told. Keys are never here: they come from the environment.

    `default` is the model for summaries and the agent where one was chosen; `models` adds
    or replaces catalogue rows (a server of one's own); times in seconds.
    """

    default: str | None = None
    models: tuple[ModelInfo, ...] = ()
    api_base: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 600.0
    idle_timeout_s: float = 300.0
    remote: RemoteSettings = field(default_factory=RemoteSettings)
    """The endpoint that ``remote/endpoint`` stands for (A29)."""


class ModelDoor:
    """Answers model requests on whichever asyncio loop asks."""

    def __init__(self, config: ModelDoorConfig | None = None) -> None:
        self._config = config or ModelDoorConfig()
        self._remote = self._config.remote
        self._api_base = self._config.api_base
        scripted = tuple(scenario.info for scenario in scenarios())
        self._catalogue = Catalogue((*scripted, *self._config.models))
        self._pace = 1.0
        self._provider = ProviderThread()
        self._workers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="offline-model")
        self._offline_running = 0
        self._lock = threading.Lock()

    def models(self) -> list[ModelInfo]:
        """The offline models, the declared ones, and those a key in the environment opens;
        provider by provider, the newest first. The remote endpoint, where one was named."""
        remote = [REMOTE_MODEL] if self._remote.address else []
        return listed([*self._catalogue.known(), *remote])

    def use_endpoint(self, address: str) -> None:
        """Let ``remote/endpoint`` stand for another address from now on; empty for none.

        Raises ModelError (unavailable) with the reason for an address that cannot be used.
        """
        if address.strip():
            check_address(address, self._remote.allow_plain)
        self._remote = replace(self._remote, address=address.strip())

    def use_pace(self, pace: float) -> None:
        """Play scripted runs so fast from now on: 1 as they are written, 0 all at once."""
        self._pace = pace

    def use_api_base(self, address: str) -> None:
        """Ask the models of providers at another address from now on; empty for their own."""
        self._api_base = address.strip() or self._config.api_base

    def info(self, model_id: str) -> ModelInfo:
        """Window, output limit (tokens) and prices; None for each figure not known."""
        return self._catalogue.info(model_id)

    def default_model(self, purpose: Literal["summary", "agent"] = "summary") -> str:
        """The configured model, else the offline one: no text leaves unasked."""
        return self._config.default or (EXTRACTIVE if purpose == "summary" else DEMO)

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
        self._workers.submit(self._catalogue.info, "")
        self._provider.warm(lambda _error: None)

    def close(self) -> None:
        """Cancel what runs and end the threads; a closed door answers no more."""
        self._provider.close()
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        """The events of one answer, ending with `Finished`.

        Raises ModelError, or Cancelled as soon as `cancel` is cancelled. Closing the
        iterator early, or cancelling the task that reads it, ends the call as well.
        """
        if cancel.cancelled:
            raise Cancelled()
        pipe = EventPipe()
        stop = self._begin(request, pipe)

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

    def _begin(self, request: ModelRequest, pipe: EventPipe) -> Callable[[], None]:
        """Start the call that fills `pipe`; what is returned ends it early, from any thread."""
        if request.model.startswith("offline/"):
            return self._begin_offline(request, pipe)

        def on_end(error: BaseException | None) -> None:
            pipe.end(Cancelled() if isinstance(error, asyncio.CancelledError) else error)
            pipe.close()

        if request.model == REMOTE:
            work = call_endpoint(request, self._remote, pipe.put)
            return self._provider.work(work, on_end).cancel
        settings = ProviderSettings(
            self._api_base,
            self._config.headers,
            self._config.timeout_s,
            self._config.idle_timeout_s,
        )
        call = self._provider.start(
            request,
            settings,
            lambda: self._catalogue.info(request.model).output_limit,
            pipe.put,
            on_end,
        )

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
        model = self._offline_model(request.model)
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
            raise ModelError("unavailable", "This door to the models is closed.") from error
        future.add_done_callback(on_end)
        return stopped.set
