"""How a model is reached: what litellm calls it, at which address, with which key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import environ
from urllib.parse import urlsplit

from msgspec import Struct, field

from explorer.models.catalogue import Catalogue, ModelInfo
from explorer.models.keys import Keys
from explorer.models.reply_guard import ReplyLimits
from explorer.models.servers import is_loopback, model_info
from explorer.models.user_models import Server, UserModels, overridden

_HOSTS = {
    "anthropic": "api.anthropic.com",
    "deepseek": "api.deepseek.com",
    "gemini": "generativelanguage.googleapis.com",
    "groq": "api.groq.com",
    "mistral": "api.mistral.ai",
    "ollama": "localhost",
    "ollama_chat": "localhost",
    "openai": "api.openai.com",
    "openrouter": "openrouter.ai",
    "xai": "api.x.ai",
}
"""Where litellm asks the models of a provider, for people; of others the provider is named."""
_NO_KEY = "none"
"""A server of the user needs no key, but the client refuses to start without one."""


class Route(Struct, frozen=True):
    """One call's way. Times in seconds.

    `timeout_s` bounds the whole answer, `idle_timeout_s` the time without a byte of it.
    """

    info: ModelInfo
    model: str
    """What litellm calls it."""
    api_base: str | None = None
    api_key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 3600.0
    idle_timeout_s: float = 300.0
    limits: ReplyLimits = field(default_factory=ReplyLimits)

    def __repr__(self) -> str:
        # Without the key: what is shown of a value ends up in logs.
        return f"Route({self.model!r}, {self.api_base!r})"


class Destination(Struct, frozen=True):
    """Where a request goes."""

    host: str
    is_here: bool = False
    """It does not leave this computer."""


HERE = Destination("this computer", True)


def destination_at(address: str) -> Destination:
    """Of an address; one that names no host is no place on this computer."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    return Destination(host or address, is_loopback(host))


class Routes:
    """Models by the user's overrides, by the user's servers, and by the table. Any thread."""

    def __init__(self, catalogue: Catalogue, user_models: UserModels, keys: Keys) -> None:
        self._catalogue = catalogue
        self._user_models = user_models
        self._keys = keys

    def info(self, model_id: str) -> ModelInfo:
        """What is known of a model, with the user's overrides."""
        return overridden(
            self.info_without_overrides(model_id), self._user_models.override(model_id)
        )

    def info_without_overrides(self, model_id: str) -> ModelInfo:
        """What is known of a model without the user's overrides."""
        server, name = self._server_of(model_id)
        return model_info(server, name) if server else self._catalogue.info(model_id)

    def known(self, every: bool = False) -> list[ModelInfo]:
        """The models that can be called: this program's, the declared ones, those of providers
        that have a key, and those of the person's servers. ``every``: those of providers without
        a key too, all that the table has."""
        listed = self._catalogue.known(has_key=(lambda _name: True) if every else self._keys.has)
        served = [
            model_info(server, model.id)
            for server in self._user_models.servers()
            for model in server.models
        ]
        overrides = self._user_models.overrides()
        ids = {model.id for model in (*listed, *served)}
        named = [self.info(model_id) for model_id in overrides if model_id not in ids]
        return [overridden(model, overrides.get(model.id)) for model in (*listed, *served)] + named

    def has_way(self, provider: str, api_base: str | None) -> bool:
        """Whether a provider's models should answer: it has a key, is a user's server,
        or is asked at an address that wants no key. Makes no request."""
        if self._user_models.server(provider) is not None or self._keys.has(provider):
            return True
        return provider == "openai" and api_base is not None

    def all_of(self, provider: str) -> list[ModelInfo]:
        """All chat models of a provider that the table knows, with a key or without."""
        return self._catalogue.known(has_key=lambda name: name == provider)

    def route(self, model_id: str, api_base: str | None) -> Route:
        """The way to a model. May wait for the keyring: not for the window's thread.

        ``api_base``: where the models of providers are asked for, None for the default addresses.
        """
        server, name = self._server_of(model_id)
        info = self.info(model_id)
        if server is not None:
            key = self._keys.key(server.name) or _NO_KEY
            return Route(info, f"openai/{name}", server.api_base, key)
        found = self._keys.key(info.provider)
        if found is None and api_base is not None and info.provider == "openai":
            found = _NO_KEY
        return Route(info, model_id, api_base, found)

    def destination(self, model_id: str, api_base: str | None) -> Destination:
        """Where a request to a model goes; ``api_base`` as in ``route``. Asks no provider."""
        server, _ = self._server_of(model_id)
        if server is not None:
            return destination_at(server.api_base)
        provider = self.info(model_id).provider
        variables = (f"{provider.upper()}_{name}" for name in ("API_BASE", "BASE_URL"))
        named = api_base or next(filter(None, map(environ.get, variables)), "")
        if named:
            return destination_at(named)
        host = _HOSTS.get(provider, f"the servers of {provider}")
        return Destination(host, is_loopback(host))

    def _server_of(self, model_id: str) -> tuple[Server | None, str]:
        provider, _, name = model_id.partition("/")
        return (self._user_models.server(provider) if name else None), name


FindRoute = Callable[[], Route]
"""Called on a worker thread, when the call is about to be made."""
