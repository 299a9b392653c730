"""How a server is reached: TLS outside of a socket, service files, and what is said without it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer.store import StoreError
from explorer.store.postgres import TeamLibrary
from tests.commands.processes import called, document
from tests.team.cluster import Cluster, why_not


@pytest.fixture(scope="module")
def over_tcp() -> Iterator[Callable[..., Cluster]]:
    """Starts a server that listens on this machine, with options."""
    if reason := why_not():
        pytest.skip(reason)
    server = Cluster()

    def start(*options: str) -> Cluster:
        server.kill()
        server.start("-c", "listen_addresses=127.0.0.1", *options)
        return server

    try:
        yield start
    finally:
        server.remove()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGSSLMODE", raising=False)


def test_a_server_without_tls_is_refused_unless_the_address_says_so(
    over_tcp: Callable[..., Cluster],
) -> None:
    server = over_tcp("-c", "ssl=off")
    address = f"postgresql://owner@127.0.0.1:{server.port}/postgres"
    with pytest.raises(StoreError, match="SSL"):
        TeamLibrary("acme", address)
    TeamLibrary("acme", f"{address}?sslmode=disable").close()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_tls_is_used_where_a_server_has_it(over_tcp: Callable[..., Cluster]) -> None:
    server = over_tcp("-c", "ssl=off")
    key, certificate = server.folder / "server.key", server.folder / "server.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(certificate)],
        capture_output=True, check=True,
    )  # fmt: skip
    for file in (key, certificate):
        file.chmod(0o600)
        shutil.chown(file, server.folder.owner())
    server = over_tcp("-c", "ssl=on", "-c", f"ssl_cert_file={certificate}",
                      "-c", f"ssl_key_file={key}")  # fmt: skip
    team = TeamLibrary("acme", f"postgresql://owner@127.0.0.1:{server.port}/postgres")
    with team._asking() as db:
        used = db.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()
    assert used == (True,)
    team.close()


def test_a_service_file_names_the_server(
    cluster: Cluster, team_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "services"
    file.write_text(
        f"[team]\nhost={cluster.folder}\nport={cluster.port}\ndbname={team_database}\nuser=rea\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    document("library", "add", "acme", "postgresql:///?service=team")
    assert document("library", "sessions") == []


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    document("library", "add", "acme", "postgresql://db.example.org/x")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    status, _, err = called("library", "sessions")
    assert status == 1 and 'pip install "session-explorer[team]"' in err
    assert document("list") == []
