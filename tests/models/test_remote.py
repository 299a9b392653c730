"""An endpoint of one's own, over real loopback HTTP and TLS (A29)."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.models.client import (
    REMOTE,
    Cancelled,
    CancelToken,
    ChatMessage,
    Completion,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.models.remote import KEY_VARIABLE, RemoteSettings, check_address
from tests.models.endpoint import Endpoint, Flood, Hang, Reply

REQUEST = ModelRequest(
    REMOTE, (ChatMessage("system", "Be exact."), ChatMessage("user", "Sum up: a, b."))
)
GOOD = Reply(json={"summary": "## Goal\nsum", "shortSummary": "I summed up."})


@pytest.fixture(scope="module")
def client() -> Iterator[ModelClient]:
    opened = ModelClient(ModelClientConfig(remote=RemoteSettings(timeout_s=10)))
    yield opened
    opened.close()


def ask(client: ModelClient, endpoint: Endpoint, request: ModelRequest = REQUEST) -> Completion:
    call = replace(request, endpoint=endpoint.url)
    return asyncio.run(complete(client, call, CancelToken()))


def refused(client: ModelClient, *plans: Any) -> ModelError:
    with Endpoint(*plans) as endpoint, pytest.raises(ModelError) as caught:
        ask(client, endpoint)
    assert "Traceback" not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("answer", "summary", "short"),
    [
        ({"summary": "s", "shortSummary": "I did."}, "s", "I did."),
        ({"summary": "s"}, "s", ""),
        ({"summary": "s", "shortSummary": None, "usage": {}}, "s", ""),
        ({"data": {"summary": "s", "shortSummary": "I did."}}, "s", "I did."),
        ({"choices": [{"message": {"content": "s"}}]}, "s", ""),
        ({"choices": [{"message": {"content": [{"text": "a"}, {"text": "b"}]}}]}, "ab", ""),
    ],
    ids=["plain", "no sentences", "null", "wrapped", "chat", "chat in parts"],
)
def test_a29_what_is_posted_and_the_shapes_that_come_back(
    client: ModelClient, answer: Any, summary: str, short: str
) -> None:
    with Endpoint(Reply(json=answer)) as endpoint:
        done = ask(client, endpoint)
    assert (done.text, done.short_summary, done.stop_reason) == (summary, short, "stop")
    assert endpoint.requests == [{"systemPrompt": "Be exact.", "prompt": "Sum up: a, b."}]
    assert endpoint.headers[0]["content-type"] == "application/json"
    assert done.usage is not None and done.usage.source == "estimate"


def test_a29_a_reminder_is_told_behind_the_prompt(client: ModelClient) -> None:
    more = (*REQUEST.messages, ChatMessage("assistant", "half"), ChatMessage("user", "again"))
    with Endpoint(GOOD) as endpoint:
        ask(client, endpoint, replace(REQUEST, messages=more))
    assert endpoint.requests[0]["prompt"] == "Sum up: a, b.\n\nhalf\n\nagain"


@pytest.mark.parametrize(
    ("plan", "kind", "said"),
    [
        (Reply(body=b"<html>no</html>"), "bad_request", "not JSON"),
        (Reply(body=b"\xff\xfe\x00"), "bad_request", "not JSON"),
        (Reply(body=b"[" * 100_000), "bad_request", "not JSON"),
        (Reply(json=["summary"]), "bad_request", "no text named summary"),
        (Reply(json={"summary": 7}), "bad_request", "no text named summary"),
        (Reply(json={"choices": [{"message": None}]}), "bad_request", "no text named summary"),
        (Reply(json={"error": "busy"}, status=503), "server", "busy"),
        (Reply(json={}, status=429, headers={"Retry-After": "9"}), "rate_limit", "429"),
        (Reply(body=b"who?", status=401), "auth", "who?"),
        (Reply(body=b"", status=404), "unavailable", "404"),
        (Reply(body=b"too much", status=413), "overflow", "too much"),
        (Reply(status=302, headers={"Location": "http://localhost:1/"}), "unavailable",
         "redirects to localhost:1, which"),
    ],
)  # fmt: skip
def test_a29_a_bad_answer_is_told_in_a_sentence(
    client: ModelClient, plan: Reply, kind: str, said: str
) -> None:
    error = refused(client, plan)
    assert (error.kind, said in error.message) == (kind, True), error
    assert "localhost:" in error.message
    assert error.retry_after_s == (9.0 if kind == "rate_limit" else None)


def test_a29_an_answer_without_an_end_is_not_read_to_its_end() -> None:
    client = ModelClient(ModelClientConfig(remote=RemoteSettings(most_bytes=100_000)))
    try:
        assert "larger than 100,000 bytes" in refused(client, Flood()).message
    finally:
        client.close()


@pytest.mark.parametrize("begun", [False, True])
def test_a29_a_server_that_hangs_is_given_up(begun: bool) -> None:
    client = ModelClient(ModelClientConfig(remote=RemoteSettings(timeout_s=0.4)))
    try:
        error = refused(client, Hang(begun))
        assert (error.kind, "0.4 seconds" in error.message) == ("timeout", True)
    finally:
        client.close()


def test_a29_nobody_there(client: ModelClient) -> None:
    with Endpoint(GOOD) as endpoint:
        pass
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        ask(client, endpoint)
    assert caught.value.kind == "network"


@pytest.mark.parametrize("how", ["token", "task"])
@pytest.mark.parametrize("begun", [False, True])
def test_e21_a_cancel_hangs_up_at_once(client: ModelClient, how: str, begun: bool) -> None:
    async def give_up(endpoint: Endpoint) -> None:
        cancel = CancelToken()
        call = replace(REQUEST, endpoint=endpoint.url)
        task = asyncio.ensure_future(complete(client, call, cancel))
        await asyncio.to_thread(endpoint.asked.wait, 20)
        if how == "token":
            cancel.cancel()
        else:
            task.cancel()
        with pytest.raises(Cancelled if how == "token" else asyncio.CancelledError):
            await task

    with Endpoint(Hang(begun)) as endpoint:
        asyncio.run(give_up(endpoint))
        assert endpoint.gone.wait(10), "the connection was let go"
    assert client.running == 0


def test_keys_come_from_the_environment_and_are_told_nowhere(
    client: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "very-secret-word")
    with (
        Endpoint(Reply(body=b"bad key very-secret-word", status=403)) as endpoint,
        pytest.raises(ModelError) as caught,
    ):
        ask(client, endpoint)
    assert endpoint.headers[0]["authorization"] == "Bearer very-secret-word"
    assert "secret" not in caught.value.message
    assert "secret" not in json.dumps(REQUEST.to_json())
    monkeypatch.delenv(KEY_VARIABLE)
    with Endpoint(GOOD) as endpoint:
        ask(client, endpoint)
    assert "authorization" not in endpoint.headers[0]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "No address"),
        ("example.com/compact", "must begin with https://"),
        ("ftp://example.com", "must begin with https://"),
        ("https://", "must begin with https://"),
        ("https://me:word@example.com", "must not hold a name or a password"),
        ("http://example.com/compact", "unencrypted to example.com"),
        ("http://10.0.0.7:8080/", "unencrypted to 10.0.0.7:8080"),
        ("https://example.com:port/", "not one"),
        ("http://127.0.0.1.example.com/", "unencrypted"),
    ],
)
def test_a29_addresses_that_text_is_not_sent_to(address: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        check_address(address)
    assert said in caught.value.message
    assert caught.value.kind == "unavailable"


@pytest.mark.parametrize(
    "address",
    ["https://example.com/c?x=1", "http://localhost:8080", "http://127.0.0.9/", "http://[::1]:80/"],
)
def test_a29_addresses_that_may_be_used(address: str) -> None:
    assert check_address(f" {address} ") == address


def test_a29_plain_http_to_another_machine_can_be_allowed() -> None:
    assert check_address("http://10.0.0.7/", allow_plain=True)


def test_a29_the_client_lists_an_endpoint_that_was_named(client: ModelClient) -> None:
    assert REMOTE not in [model.id for model in client.models()]
    with Endpoint(GOOD) as endpoint:
        client.use_endpoint(endpoint.url)
        assert REMOTE in [model.id for model in client.models()]
        assert asyncio.run(complete(client, REQUEST, CancelToken())).text == "## Goal\nsum"
        with pytest.raises(ModelError, match="unencrypted"):
            client.use_endpoint("http://example.com")
        client.use_endpoint("")
    with pytest.raises(ModelError, match="No address"):
        asyncio.run(complete(client, REQUEST, CancelToken()))


# TLS --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of our own making for localhost, in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    both = folder / "both.pem"
    both.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return both


def test_a29_a_certificate_that_is_trusted(
    client: ModelClient, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Endpoint(GOOD, certificate=certificate) as endpoint:
        assert endpoint.url.startswith("https://")
        assert ask(client, endpoint).text == "## Goal\nsum"


def test_a29_a_certificate_that_is_not_gets_nothing(client: ModelClient, certificate: Path) -> None:
    with (
        Endpoint(GOOD, certificate=certificate) as endpoint,
        pytest.raises(ModelError, match="not to be trusted") as caught,
    ):
        ask(client, endpoint)
    assert caught.value.kind == "unavailable"
    assert endpoint.requests == []
