"""A page in a real browser without a screen, and what it asked the network for."""

from __future__ import annotations

import shutil
import subprocess
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

NAMES = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=3000",
)  # fmt: skip
PATIENCE_S = 60


@cache
def browser() -> str | None:
    """The browser, if there is one that starts: some systems install only a word that there is
    none."""
    for name in NAMES:
        found = shutil.which(name)
        if found and subprocess.run([found, "--version"], capture_output=True).returncode == 0:
            return found
    return None


class Proxy(ThreadingHTTPServer):
    """Writes down whatever a browser asks of any address, and fetches none of it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.asked: list[str] = []
        self.port: int = self.server_address[1]

    def __enter__(self) -> Proxy:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Asked(BaseHTTPRequestHandler):
    server: Proxy

    def handle_one_request(self) -> None:
        line = self.rfile.readline(65_536).decode("latin-1").strip()
        self.server.asked.append(line)
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 502 Nothing is fetched\r\nContent-Length: 0\r\n\r\n")


class Seen(NamedTuple):
    """What became of a page."""

    dom: str
    """The document after its scripts ran and its parts loaded."""
    console: list[str]
    """What the browser said of it."""
    asked: list[str]
    """The first lines of all requests, those of the browser itself with them."""


def browse(page: Path, profile: Path) -> Seen:
    """Open a file in the browser; ``profile``: a folder that does not exist yet.

    Every request, to this machine as well, goes to a proxy that answers none.
    """
    program = browser()
    assert program is not None, "there is no browser"
    with Proxy() as proxy:
        done = subprocess.run(
            [
                program, *_SWITCHES, f"--user-data-dir={profile}",
                f"--proxy-server=127.0.0.1:{proxy.port}", "--proxy-bypass-list=<-loopback>",
                "--dump-dom", page.as_uri(),
            ],
            capture_output=True, text=True, timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        asked = list(proxy.asked)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Seen(done.stdout, console, asked)
