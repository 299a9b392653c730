"""Keys of providers: where they are, how they are told of, and whether they work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.models.keys import SERVICE, KeyringUnavailable, Keys, KeyTest, redact
from explorer.models.user_models import Server, ServerModel, UserModels
from tests.models.memory_keyring import MemoryKeyring
from tests.models.server import (
    OVERLOADED,
    RATE_LIMIT,
    SERVER_ERROR,
    Answer,
    ChatServer,
    HttpFailure,
    Plan,
    Stall,
)

KEY = "sk-planted-0123456789-abcd"


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def own(tmp_path: Path) -> UserModels:
    return UserModels(tmp_path / "models.json")


def test_a_key_of_the_environment_is_told_by_its_end_alone(own: UserModels) -> None:
    keys = Keys(own, {"OPENAI_API_KEY": KEY})
    state = keys.state("openai")
    assert (state.place, state.ending, state.variable) == ("environment", "abcd", "OPENAI_API_KEY")
    assert state.sentence == "Set in the variable OPENAI_API_KEY, ends in abcd."
    assert KEY not in repr(state)
    assert keys.key("openai") == KEY
    assert keys.has("openai") and not keys.has("anthropic")


def test_of_a_short_key_nothing_is_shown(own: UserModels) -> None:
    assert Keys(own, {"OPENAI_API_KEY": "secret1"}).state("openai").ending == ""


def test_no_key_says_where_one_goes(own: UserModels) -> None:
    state = Keys(own, {}).state("groq")
    assert state.sentence == "No key. Set GROQ_API_KEY, or keep one in the keyring."
    assert Keys(own, {}).key("groq") is None


def test_a_kept_key_goes_before_the_environments_and_lies_in_no_file(
    own: UserModels, memory: MemoryKeyring, tmp_path: Path
) -> None:
    keys = Keys(own, {"OPENAI_API_KEY": "sk-of-the-environment-9999"})
    keys.keep("openai", f"  {KEY}\n")
    assert memory.kept == {(SERVICE, "openai"): KEY}
    assert keys.key("openai") == KEY
    assert keys.state("openai").sentence == "Set in the keyring, ends in abcd."
    assert KEY not in (tmp_path / "models.json").read_text()
    # Another start of the program finds it again, and asks the keyring once.
    memory.asked = 0
    later = Keys(UserModels(tmp_path / "models.json"), {})
    assert later.has("openai") and memory.asked == 0
    assert [later.key("openai"), later.key("openai")] == [KEY, KEY]
    assert memory.asked == 1
    later.forget("openai")
    assert memory.kept == {} and later.key("openai") is None
    assert Keys(UserModels(tmp_path / "models.json"), {}).state("openai").place == "none"


def test_the_keyring_is_asked_only_for_what_was_put_there(
    own: UserModels, memory: MemoryKeyring
) -> None:
    """Some systems ask the person for a password at the first question."""
    assert Keys(own, {}).key("openai") is None
    assert memory.asked == 0


def test_a_keyring_that_keeps_nothing_says_so(own: UserModels) -> None:
    """The tests run with keyring's null backend, as machines without one do."""
    with pytest.raises(KeyringUnavailable, match="OPENAI_API_KEY"):
        Keys(own, {}).keep("openai", KEY)
    assert own.in_keyring() == frozenset()


def test_a_keyring_that_fails_is_told_in_words(own: UserModels, memory: MemoryKeyring) -> None:
    keys = Keys(own, {"OPENAI_API_KEY": "sk-of-the-environment-9999"})
    keys.keep("openai", KEY)
    memory.broken = "the collection is locked"
    later = Keys(own, {"OPENAI_API_KEY": "sk-of-the-environment-9999"})
    with pytest.raises(KeyringUnavailable, match="the collection is locked"):
        later.state("openai")
    assert later.key("openai") == "sk-of-the-environment-9999"
    with pytest.raises(KeyringUnavailable):
        later.forget("openai")
    with pytest.raises(KeyringUnavailable, match="empty"):
        later.keep("openai", "  ")


def test_a_key_of_the_keyring_is_struck_out_of_texts(
    own: UserModels, memory: MemoryKeyring
) -> None:
    Keys(own, {}).keep("groq", "an-unusual-value-of-a-key")
    assert redact("refused: an-unusual-value-of-a-key") == "refused: [key]"


# a test of a key ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    opened = ModelClient(ModelClientConfig(api_base=server.url, timeout_s=20, idle_timeout_s=20))
    yield opened
    opened.close()


def tried(client: ModelClient, provider: str, key: str | None = KEY, model: str = "") -> KeyTest:
    return asyncio.run(client.test_key(provider, key, CancelToken(), model))


@pytest.mark.parametrize(
    ("plan", "outcome", "told"),
    [
        (Answer(text="ok"), "works", "openai/gpt-4o-mini answered"),
        (HttpFailure(401, f"Incorrect API key provided: {KEY}"), "refused", "Incorrect API key"),
        (HttpFailure(403, "no access"), "refused", "no access"),
        (HttpFailure(404, "The model does not exist"), "no such model", "does not have"),
        (RATE_LIMIT, "works", "busy"),
        (HttpFailure(400, "max_tokens is too small"), "works", "max_tokens is too small"),
        (
            HttpFailure(429, "You exceeded your quota", code="insufficient_quota"),
            "refused", "exceeded your quota",
        ),
        (SERVER_ERROR, "failed", "had an error"),
        (OVERLOADED, "failed", "Overloaded"),
    ],
)  # fmt: skip
def test_what_the_smallest_request_says_of_a_key(
    server: ChatServer, client: ModelClient, plan: Plan, outcome: str, told: str
) -> None:
    server.forget()
    server.plan(plan)
    found = tried(client, "openai")
    assert (found.outcome, found.model) == (outcome, "openai/gpt-4o-mini")
    assert told in found.sentence and KEY not in found.sentence
    (asked,), (headers,) = server.requests, server.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert asked["max_tokens"] == 16 and len(asked["messages"]) == 1


def test_a_key_that_is_no_key_of_gemini_is_refused(server: ChatServer, client: ModelClient) -> None:
    """It says so with the status 400."""
    body = (
        '{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",'
        ' "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}'
    )
    server.forget()
    server.plan(HttpFailure(400, raw_body=body))
    assert tried(client, "gemini").outcome == "refused"


def test_an_anthropic_key_goes_where_anthropic_looks_for_it(
    server: ChatServer, client: ModelClient
) -> None:
    server.forget()
    assert tried(client, "anthropic").works
    assert server.headers[0]["x-api-key"] == KEY
    assert server.paths[0].endswith("/messages")


def test_without_a_key_nobody_is_asked(server: ChatServer, client: ModelClient) -> None:
    server.forget()
    found = tried(client, "openai", None)
    assert (found.outcome, found.sentence) == ("no key", "There is no key of openai.")
    assert tried(client, "openai", " ").outcome == "no key"
    assert tried(client, "no-such-provider").outcome == "no such model"
    assert server.requests == []


def test_the_kept_key_is_the_one_that_is_tested(
    server: ChatServer, client: ModelClient, memory: MemoryKeyring
) -> None:
    server.forget()
    client.keys.keep("openai", KEY)
    try:
        assert tried(client, "openai", None).works
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    finally:
        client.keys.forget("openai")


def test_nobody_there_is_told_as_such() -> None:
    client = ModelClient(ModelClientConfig(api_base="http://127.0.0.1:9/v1", timeout_s=10))
    try:
        assert tried(client, "openai").outcome == "not reached"
    finally:
        client.close()


def test_a_test_can_be_given_up(server: ChatServer, client: ModelClient) -> None:
    server.forget()
    server.plan(Stall(silent=True))
    token = CancelToken()

    async def run() -> None:
        task = asyncio.create_task(client.test_key("openai", KEY, token))
        await asyncio.to_thread(server.started.wait, 5)
        token.cancel()
        with pytest.raises(Cancelled):
            await task

    asyncio.run(run())
    assert server.gone.wait(5) and client.running == 0


def test_a_server_of_ones_own_needs_no_key(server: ChatServer, client: ModelClient) -> None:
    server.forget()
    client.user_models.save_server(
        Server("box", server.root, "vllm", (ServerModel("qwen", 32_768),))
    )
    try:
        found = tried(client, "box", None)
        assert (found.works, found.model) == (True, "box/qwen")
        assert server.requests[0]["model"] == "qwen"
    finally:
        client.user_models.remove_server("box")


def test_a_call_without_a_key_says_what_to_do() -> None:
    client = ModelClient(ModelClientConfig(timeout_s=10))
    request = ModelRequest("openai/gpt-4o-mini", (ChatMessage("user", "hi"),))
    try:
        with pytest.raises(ModelError) as caught:
            asyncio.run(complete(client, request, CancelToken()))
    finally:
        client.close()
    assert (caught.value.kind, caught.value.message) == (
        "auth", "There is no key of openai. Keep one in the keyring, or set OPENAI_API_KEY.",
    )  # fmt: skip
