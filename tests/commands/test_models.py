"""``session-explorer models``: servers, figures and keys without the window."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from explorer.settings import paths
from tests.commands.test_commands import refused, run, run_json
from tests.models.memory_keyring import MemoryKeyring
from tests.models.server import Answer, ChatServer, HttpFailure

KEY = "sk-planted-on-the-command-line-77"
SONNET = "anthropic/claude-sonnet-4-5"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.pages["/v1/models"] = {"data": [{"id": "qwen", "max_model_len": 32_768}]}
        yield running


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_a_figure_is_said_shown_and_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "models", "show", SONNET)
    assert "200,000" in told and "litellm" in told
    told = run(capsys, "models", "set", SONNET, "--window", "64000", "--images", "no")
    assert "64,000" in told and "you" in told
    run(capsys, "models", "set", SONNET, "--input-price", "0.000001")
    shown = run_json(capsys, "models", "show", SONNET)
    assert shown["window"] == {"value": 64_000, "source": "you"}
    assert shown["images"] == {"value": False, "source": "you"}
    assert shown["tools"]["source"] == "litellm"
    assert json.loads(paths.models_path().read_text())["overrides"][SONNET]["window"] == 64_000
    run(capsys, "models", "unset", SONNET)
    assert run_json(capsys, "models", "show", SONNET)["window"]["source"] == "litellm"
    assert "nothing" in refused(capsys, "models", "unset", SONNET)[1]
    assert "--window" in refused(capsys, "models", "set", SONNET)[1]
    assert "1 to" in refused(capsys, "models", "set", SONNET, "--window", "0")[1]


def test_a_server_is_added_listed_used_and_removed(
    capsys: pytest.CaptureFixture[str], server: ChatServer
) -> None:
    assert "box is added: vLLM" in run(capsys, "models", "add", server.url, "--name", "box")
    listed = {row["id"]: row for row in run_json(capsys, "models", "list", "qwen")}
    assert listed["box/qwen"]["window"] == {"value": 32_768, "source": "server"}
    assert "box/qwen" in run(capsys, "models", "list")
    server.plan(Answer(text="ok"))
    assert "box/qwen answered" in run(capsys, "models", "key", "box", "--test")
    # The same address again is the same server, with what it has now.
    server.pages["/v1/models"] = {"data": [{"id": "newer"}]}
    assert run_json(capsys, "models", "add", server.root)["name"] == "box"
    assert run_json(capsys, "models", "list", "qwen") == []
    run(capsys, "models", "remove", "box")
    assert "none is added" in refused(capsys, "models", "remove", "box")[1]
    assert "Nobody answers" in refused(capsys, "models", "add", "http://127.0.0.1:9")[1]


def test_a_key_is_kept_told_tested_and_forgotten(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    ring: MemoryKeyring,
    server: ChatServer,
    explorer_home: Path,
) -> None:
    paths.ensure(paths.config_dir())
    paths.settings_path().write_text(json.dumps({"models.apiBase": server.url}))
    assert "OPENAI_API_KEY" in run(capsys, "models", "key", "openai")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    assert run(capsys, "models", "key", "openai", "--keep") == "Set in the keyring, ends in e-77.\n"
    assert "answered" in run(capsys, "models", "key", "openai", "--test")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    server.plan(HttpFailure(401, f"no such key: {KEY}"))
    status, told = refused(capsys, "models", "key", "openai", "--test")
    assert (status, KEY in told, "refused the key" in told) == (1, False, True)
    assert run_json(capsys, "models", "key", "openai", "--forget")["place"] == "none"
    assert ring.kept == {}
    written = b"".join(path.read_bytes() for path in explorer_home.rglob("*") if path.is_file())
    assert KEY.encode() not in written


def test_models_that_need_a_key_are_listed_when_all_are_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert SONNET not in {row["id"] for row in run_json(capsys, "models", "list", "sonnet")}
    assert SONNET in {row["id"] for row in run_json(capsys, "models", "list", "--all", "sonnet")}


def test_a_server_gets_another_name(capsys: pytest.CaptureFixture[str], server: ChatServer) -> None:
    run(capsys, "models", "add", server.url, "--name", "box")
    assert "called cellar now" in run(capsys, "models", "rename", "box", "cellar")
    assert "cellar/qwen" in run(capsys, "models", "list", "qwen")
    assert "no server box" in refused(capsys, "models", "rename", "box", "attic")[1]
