"""Whether the server of a team's library still answers while something is asked of it."""

from __future__ import annotations

import os
import socket
import struct
import threading
from typing import Any

_LOOKED_AT_S, _ANSWERS_S = 0.5, 1.0
"""Seconds after which, and then as often as which, it is looked whether a server answers; and how
long it has for that."""
_ASKS_FOR_TLS = struct.pack("!ii", 8, 80877103)
"""Which a server of any setting answers by one byte, before it asks who is there."""


class ServerWatch:
    """Ends a connection whose server does not answer any more: one that waits for a frozen server,
    or for one behind a cut cable, would wait for ever. A server that only takes long does answer
    who asks it for something else."""

    def __init__(self, connection: Any) -> None:
        """``connection``: one of psycopg, to be watched for as long as the block lasts."""
        self._socket = connection.pgconn.socket
        host, port = connection.info.host, connection.info.port
        self._place = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="team-server", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(_LOOKED_AT_S):
            if self._answers() or self._ended.is_set():
                continue
            with socket.socket(fileno=os.dup(self._socket)) as ours:
                ours.shutdown(socket.SHUT_RDWR)
            return

    def _answers(self) -> bool:
        try:
            with self._connected() as asking:
                asking.settimeout(_ANSWERS_S)
                asking.sendall(_ASKS_FOR_TLS)
                return bool(asking.recv(1))
        except OSError:
            return False

    def _connected(self) -> socket.socket:
        if isinstance(self._place, tuple):
            return socket.create_connection(self._place, _ANSWERS_S)
        asking = socket.socket(socket.AF_UNIX)
        asking.settimeout(_ANSWERS_S)
        asking.connect(self._place)
        return asking
