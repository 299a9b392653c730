"""All models that there are, those that can be called, and servers by another name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from explorer.models.client import (
    KeyringUnavailable,
    ModelClient,
    ModelClientConfig,
    Override,
    Server,
    UserModelsError,
)
from explorer.models.user_models import ServerModel
from tests.models.memory_keyring import MemoryKeyring

BOX = Server("box", "http://127.0.0.1:9", "vllm", (ServerModel("qwen", 32_768),))
KEY = "sk-planted-of-the-box-0123"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelClient]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    opened = ModelClient(ModelClientConfig(user_models=tmp_path / "models.json"))
    yield opened
    opened.close()


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_every_model_is_there_once_and_only_some_can_be_called(
    client: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.user_models.save_server(BOX)
    ids = [model.id for model in client.every_model()]
    assert len(ids) == len(set(ids)) > 2_000
    assert {"box/qwen", "anthropic/claude-sonnet-4-5", "offline/demo"} <= set(ids)
    assert client.can_call("offline/demo") and client.can_call("box/qwen")
    assert not client.can_call("anthropic/claude-sonnet-4-5") and not client.can_call(
        "remote/endpoint"
    )
    assert not any(model.id.startswith("anthropic/") for model in client.models())
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    assert client.can_call("anthropic/claude-sonnet-4-5")
    assert any(model.id.startswith("anthropic/") for model in client.models())
    assert not client.can_call("openai/gpt-4o")
    client.use_api_base("http://127.0.0.1:9/v1")
    assert client.can_call("openai/gpt-4o"), "an address of one's own asks for no key"


def test_what_others_say_stays_known_beside_what_the_person_says(client: ModelClient) -> None:
    client.user_models.set_override("anthropic/claude-sonnet-4-5", Override(window=64_000))
    assert client.info("anthropic/claude-sonnet-4-5").window == 64_000
    assert client.info_without_overrides("anthropic/claude-sonnet-4-5").window == 200_000


def test_a_server_is_renamed_with_its_models_its_key_and_what_is_said_of_them(
    client: ModelClient, ring: MemoryKeyring
) -> None:
    client.user_models.save_server(BOX)
    client.user_models.set_override("box/qwen", Override(images=True))
    client.keys.keep("box", KEY)
    client.rename_server("box", "cellar")
    assert [server.name for server in client.user_models.servers()] == ["cellar"]
    assert client.info("cellar/qwen").window == 32_768
    assert client.info("cellar/qwen").images is True
    assert client.user_models.override("box/qwen") is None
    assert client.keys.key("cellar") == KEY and client.keys.key("box") is None
    assert [user for _service, user in ring.kept] == ["cellar"]


def test_a_server_keeps_its_name_where_another_cannot_be_had(
    client: ModelClient, ring: MemoryKeyring
) -> None:
    client.user_models.save_server(BOX)
    client.user_models.save_server(Server("other", "http://127.0.0.1:8"))
    client.keys.keep("box", KEY)
    for name in ("other", "offline", "Two Words"):
        with pytest.raises(UserModelsError):
            client.rename_server("box", name)
    with pytest.raises(UserModelsError, match="no server nobody"):
        client.rename_server("nobody", "somebody")
    ring.broken = "locked"
    with pytest.raises(KeyringUnavailable):
        client.rename_server("box", "cellar")
    assert [server.name for server in client.user_models.servers()] == ["box", "other"]


def test_a_system_without_a_keyring_is_known_before_a_key_is_typed(
    client: ModelClient, ring: MemoryKeyring
) -> None:
    assert client.keys.unavailable_reason() == ""
    keyring.set_keyring(NoKeyring())
    assert "no keyring" in client.keys.unavailable_reason()
