"""Servers of a person's own: found on request, kept by name, called through litellm."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.models.catalogue import grouped
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    FoundServers,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    Override,
    Server,
    complete,
)
from explorer.models.servers import free_name, model_info, server_address
from explorer.models.user_models import ServerModel
from tests.models.server import Answer, ChatServer, HttpFailure, Stall

OLLAMA = {
    "/v1/models": {"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "small:1b"}]},
    "/api/tags": {"models": [{"name": "qwen3:8b"}, {"name": "small:1b"}]},
    "/api/ps": {"models": [{"name": "qwen3:8b", "context_length": 4096}]},
    "/api/show": lambda asked: (
        {
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
            "capabilities": ["completion", "tools", "thinking"],
        }
        if asked["model"] == "qwen3:8b"
        else {
            "model_info": {"llama.context_length": 131_072},
            "parameters": 'stop "<|end|>"\nnum_ctx                        16384',
            "capabilities": ["completion", "vision"],
        }
    ),
}
LLAMA = {
    "/v1/models": {"data": [{"id": "gemma.gguf", "meta": {"n_ctx_train": 131_072}}]},
    "/props": {"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": True}},
}
VLLM = {"/v1/models": {"data": [{"id": "Qwen/Qwen3-32B", "max_model_len": 32_768}]}}
STUDIO = {
    "/v1/models": {"data": [{"id": "phi"}, {"id": "embed"}]},
    "/api/v0/models": {
        "data": [
            {
                "id": "phi", "type": "vlm", "max_context_length": 131_072,
                "loaded_context_length": 4096, "capabilities": ["tool_use"],
            },
            {"id": "embed", "type": "embeddings", "max_context_length": 512},
        ]
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def others() -> Iterator[list[ChatServer]]:
    """Four servers, as many as are looked for."""
    with ChatServer() as a, ChatServer() as b, ChatServer() as c, ChatServer() as d:
        yield [a, b, c, d]


@pytest.fixture(autouse=True)
def as_they_are(others: list[ChatServer]) -> None:
    for server, pages in zip(others, (OLLAMA, LLAMA, VLLM, STUDIO), strict=True):
        server.forget()
        server.pages.update(pages)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[ModelClient]:
    config = ModelClientConfig(
        user_models=tmp_path / "models.json", timeout_s=20, idle_timeout_s=20
    )
    opened = ModelClient(config)
    yield opened
    opened.close()


def search(client: ModelClient, *addresses: str) -> FoundServers:
    return asyncio.run(client.find_servers(CancelToken(), addresses))


def test_all_are_found_at_once_with_the_context_that_each_tells(
    client: ModelClient, others: list[ChatServer]
) -> None:
    found = search(client, *(server.root for server in others))
    ollama, llama, vllm, studio = found.servers
    assert [server.kind for server in found.servers] == ["ollama", "llama.cpp", "vllm", "lm-studio"]
    assert found.silent == ()
    # What a model is loaded with counts, not what it could take: the rest is cut silently.
    assert ollama.models == (
        ServerModel("qwen3:8b", 4096, True, False, True),
        ServerModel("small:1b", 16_384, False, True, False),
    )
    assert llama.models == (ServerModel("gemma.gguf", 8192, None, True),)
    assert vllm.models == (ServerModel("Qwen/Qwen3-32B", 32_768),)
    assert studio.models == (ServerModel("phi", 4096, None, True, True),)
    assert found.sentence.startswith("Found Ollama with 2 models, llama.cpp with 1 model")


def test_where_nobody_answers_the_others_are_found_all_the_same(
    client: ModelClient, others: list[ChatServer]
) -> None:
    others[0].pages["/v1/models"] = Stall()
    others[1].pages["/v1/models"] = HttpFailure(500, "broken")
    others[2].pages["/v1/models"] = {"hello": "I am something else"}
    found = search(client, "http://127.0.0.1:9", *(server.root for server in others))
    assert [server.kind for server in found.servers] == ["lm-studio"]
    assert len(found.silent) == 4
    nothing = search(client, "http://127.0.0.1:9")
    assert nothing.sentence == "No server answered on this machine (ports 9)."


def test_a_search_can_be_given_up(client: ModelClient, others: list[ChatServer]) -> None:
    others[0].pages["/v1/models"] = Stall()
    token = CancelToken()

    async def run() -> None:
        task = asyncio.create_task(client.find_servers(token, [others[0].root]))
        while "/v1/models" not in others[0].asked_for:
            await asyncio.sleep(0.01)
        token.cancel()
        with pytest.raises(Cancelled):
            await task
        assert client.running == 0

    asyncio.run(run())
    assert others[0].gone.wait(5)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        asyncio.run(client.find_servers(token, [others[0].root]))


def test_an_address_is_looked_at_and_named(client: ModelClient, others: list[ChatServer]) -> None:
    client.user_models.save_server(Server("vllm", "http://localhost:1", "vllm"))
    address = others[2].root.removeprefix("http://") + "/v1/"
    found = asyncio.run(client.probe_server(address, CancelToken()))
    assert (found.name, found.address, found.kind) == ("vllm-2", others[2].root, "vllm")


@pytest.mark.parametrize(
    ("page", "kind", "told"),
    [
        (HttpFailure(401, "key please"), "auth", "wants another key"),
        (HttpFailure(404, "no"), "server", "status 404"),
        ({"models": []}, "server", "not as OpenAI's API does"),
    ],
)
def test_an_address_that_is_none_says_why(
    client: ModelClient, others: list[ChatServer], page: object, kind: str, told: str
) -> None:
    others[3].pages.clear()
    others[3].pages["/v1/models"] = page
    with pytest.raises(ModelError, match=told) as caught:
        asyncio.run(client.probe_server(others[3].root, CancelToken()))
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("localhost:11434", "http://localhost:11434"),
        (" http://192.168.1.20:8000/v1/ ", "http://192.168.1.20:8000"),
        ("http://box.local:1234", "http://box.local:1234"),
        ("https://models.example.com/api/v1", "https://models.example.com/api"),
    ],
)
def test_addresses_are_kept_in_one_form(given: str, kept: str) -> None:
    assert server_address(given) == kept


@pytest.mark.parametrize(
    "given", ["", "ftp://localhost", "http://example.com:8000", "http://me:secret@localhost:1",
              "http://[::1", "http://localhost:port"],
)  # fmt: skip
def test_addresses_that_text_must_not_go_to_are_refused(given: str) -> None:
    with pytest.raises(ModelError) as caught:
        server_address(given)
    assert caught.value.kind == "unavailable" and "secret" not in caught.value.message


def test_several_servers_answer_side_by_side_each_by_its_name(
    client: ModelClient, others: list[ChatServer]
) -> None:
    client.user_models.save_server(
        Server("one", others[0].root, models=(ServerModel("qwen3:8b", 4096),))
    )
    client.user_models.save_server(
        Server("two", others[1].root, models=(ServerModel("a/b", 8192),))
    )
    others[0].plan(Answer(text="from one"))
    others[1].plan(Answer(text="from two"))

    async def ask(model: str) -> str:
        request = ModelRequest(model, (ChatMessage("user", "hi"),))
        return (await complete(client, request, CancelToken())).text

    async def both() -> list[str]:
        return list(await asyncio.gather(ask("one/qwen3:8b"), ask("two/a/b")))

    assert asyncio.run(both()) == ["from one", "from two"]
    assert [server.requests[0]["model"] for server in others[:2]] == ["qwen3:8b", "a/b"]
    assert others[0].paths == ["/v1/chat/completions"]
    listed = {model.id: model for model in client.models()}
    assert listed["one/qwen3:8b"].window == 4096
    assert listed["two/a/b"].source_of("window") == "server"
    client.user_models.set_override("two/a/b", Override(window=2048))
    assert client.info("two/a/b").window == 2048
    client.user_models.remove_server("two")
    assert "one/qwen3:8b" in [model.id for model in client.models()]
    assert [model.provider for model in grouped(client.models(), "a/b")] == ["two"], (
        "said by the person"
    )


def test_a_servers_overflow_is_one(client: ModelClient, others: list[ChatServer]) -> None:
    client.user_models.save_server(Server("one", others[0].root))
    others[0].plan(HttpFailure(400, "the input length exceeds the context length"))
    request = ModelRequest("one/any", (ChatMessage("user", "hi"),))
    with pytest.raises(ModelError) as caught:
        asyncio.run(complete(client, request, CancelToken()))
    assert caught.value.kind == "overflow"


def test_a_server_here_takes_no_money_and_another_may() -> None:
    here = Server("here", "http://127.0.0.1:8000", models=(ServerModel("m", 100),))
    assert model_info(here, "m").input_price == 0.0
    there = Server("there", "https://example.com", models=(ServerModel("m", 100),))
    assert model_info(there, "m").input_price is None
    assert model_info(there, "unheard-of").window is None


def test_names_are_free(client: ModelClient) -> None:
    assert free_name("other", []) == "server"
    assert free_name("ollama", [Server("ollama", ""), Server("ollama-2", "")]) == "ollama-3"
