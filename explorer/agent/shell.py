"""A command line run in a folder: its output as it comes, within limits, and its end for certain.

Blocks; meant for a worker thread. The supervisor, a small program, stands between. It ends all that
the command started when it is cancelled, takes too long, writes too much, is over, or when this
process dies.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from explorer.models.events import CancelToken

DEFAULT_SECONDS = 180
MOST_SECONDS = 3_600
MOST_OUTPUT = 256 * 1024 * 1024
"""Bytes, after which a command is ended."""
GRACE_S = 1.0
"""Seconds between the request to end and the end."""

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_BLOCK = 256 * 1024
_END_TIMEOUT_S = 12.0
"""Seconds for the program between to end everything and say so."""
_DRAIN_S = 1.0

CommandEnd = Literal["ended", "stopped", "timed_out", "too_much"]


class CommandLimits(Struct, frozen=True):
    """Seconds and bytes that a command may take."""

    seconds: float = DEFAULT_SECONDS
    output: int = MOST_OUTPUT
    grace_s: float = GRACE_S


class CommandResult(Struct, frozen=True):
    """How a command ended. ``code`` is None where a signal ended it, then ``signal`` has it."""

    end: CommandEnd
    code: int | None
    signal: int | None
    left: int
    """Processes that it had left running and that were ended with it."""
    seconds: float


class _Running:
    """The processes and descriptors of one command."""

    def __init__(
        self, command: str, folder: Path, environment: Mapping[str, str], grace_s: float
    ) -> None:
        report, report_in = os.pipe()
        alive_out, alive = os.pipe()
        self.report, self.alive = report, alive
        self.reports = b""
        try:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-I", "-S", _SUPERVISOR, str(report_in), str(alive_out),
                    str(grace_s), *shell_start(), command,
                ],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(report_in, alive_out),
                start_new_session=True,
            )  # fmt: skip
        except OSError:
            os.close(report)
            os.close(alive)
            raise
        finally:
            os.close(report_in)
            os.close(alive_out)
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)

    def end(self) -> None:
        """Have everything ended; may be called again."""
        if self.alive >= 0:
            os.close(self.alive)
            self.alive = -1

    def close(self) -> None:
        """Let go, and see that nothing is left even where the program between was killed."""
        self.end()
        try:
            self.process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        group = self.reported("group")
        if self.reported("code", missing=-1) == -1 and isinstance(group, int):
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self.report)

    def reported(self, key: str, missing: Any = None) -> Any:
        """What the program between reported."""
        for line in self.reports.splitlines():
            report = json.loads(line)
            if key in report:
                return report[key]
        return missing


def run_command(
    command: str,
    folder: Path,
    environment: Mapping[str, str],
    on_output: Callable[[bytes], None],
    cancel: CancelToken,
    limits: CommandLimits | None = None,
) -> CommandResult:
    """Run a command line with bash, or sh where there is none, and wait for its end.

    Its input is closed and it has no terminal. ``on_output`` is given its output and errors as
    they come, mixed, on this thread. When this returns, everything that it started is dead.
    Raises OSError when it cannot be started.
    """
    limits = limits or CommandLimits()
    started = time.monotonic()
    running = _Running(command, folder, environment, limits.grace_s)
    waker = _Waker(cancel)
    try:
        end = _Follower(running, waker, on_output, limits).follow()
    finally:
        waker.close()
        running.close()
    return CommandResult(
        end,
        running.reported("code"),
        running.reported("signal"),
        int(running.reported("left", missing=0)),
        time.monotonic() - started,
    )


def shell_start() -> list[str]:
    """What a command line is put behind to be run: bash without its startup files, or sh."""
    bash = shutil.which("bash", path="/usr/bin:/bin:/usr/local/bin")
    # After the dashes a line that begins with one is no option.
    return [bash, "--noprofile", "--norc", "-c", "--"] if bash else ["/bin/sh", "-c", "--"]


class _Waker:
    """A descriptor that can be read once it is cancelled."""

    def __init__(self, cancel: CancelToken) -> None:
        self.woken, self._wake = os.pipe()
        self._lock = threading.Lock()
        self._open = True
        self._forget = cancel.add_callback(self._cancelled)

    def _cancelled(self) -> None:
        with self._lock:
            # A cancel in the moment that the command ends must not write to what others opened.
            if self._open:
                os.write(self._wake, b"!")

    def close(self) -> None:
        """Stop waking the loop."""
        self._forget()
        with self._lock:
            self._open = False
            os.close(self.woken)
            os.close(self._wake)


class _Follower:
    """Passes on a command's output until all is over, and ends it when a limit is met."""

    def __init__(
        self,
        running: _Running,
        waker: _Waker,
        on_output: Callable[[bytes], None],
        limits: CommandLimits,
    ) -> None:
        self._running = running
        self._woken = waker.woken
        self._on_output = on_output
        self._limits = limits
        self._end: CommandEnd = "ended"
        self._size = 0
        self._until = time.monotonic() + limits.seconds
        self._open = {running.output, running.report}

    def follow(self) -> CommandEnd:
        """Why it ended, when its output is closed and its end was reported."""
        with selectors.DefaultSelector() as waits:
            for descriptor in (*self._open, self._woken):
                waits.register(descriptor, selectors.EVENT_READ)
            while self._open:
                left = max(0.0, self._until - time.monotonic())
                for descriptor in {key.fd for key, _ in waits.select(left)}:
                    if not self._take(descriptor):
                        waits.unregister(descriptor)
                        self._open.discard(descriptor)
                if time.monotonic() >= self._until:
                    if self._running.alive < 0 or self._running.report not in self._open:
                        # Who holds the output open still is none of the command's.
                        break
                    self._give_up("timed_out")
        return self._end

    def _take(self, descriptor: int) -> bool:
        """Deal with what can be read; False when there will be no more of it."""
        if descriptor == self._woken:
            self._give_up("stopped")
            return False
        block = _read(descriptor)
        if descriptor == self._running.report:
            self._running.reports += block or b""
            if block is None:
                self._until = min(self._until, time.monotonic() + _DRAIN_S)
        elif block:
            room = self._limits.output - self._size
            self._size += len(block)
            if room > 0:
                self._on_output(block[:room])
            if len(block) > room:
                self._give_up("too_much")
        return block is not None

    def _give_up(self, why: CommandEnd) -> None:
        if self._running.alive < 0:
            return
        self._end = why
        self._running.end()
        self._until = time.monotonic() + _END_TIMEOUT_S


def _read(descriptor: int) -> bytes | None:
    """The available bytes; None at the end."""
    try:
        return os.read(descriptor, _BLOCK) or None
    except BlockingIOError:
        return b""


_PASSED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "HOSTNAME",
    # Where languages and their tools are installed.
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYTHONPATH", "PYTHONHOME",
    "NVM_DIR", "NVM_BIN", "NODE_PATH", "GOPATH", "GOROOT", "GOBIN", "GOFLAGS", "CARGO_HOME",
    "RUSTUP_HOME", "JAVA_HOME", "GRADLE_HOME", "MAVEN_HOME", "RBENV_ROOT", "GEM_HOME", "GEM_PATH",
    "DOTNET_ROOT", "ANDROID_HOME", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CC", "CXX", "MAKEFLAGS",
    # How the network is reached.
    "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
})  # fmt: skip
_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS(?!WD_DIR)|CREDENTIAL|AUTH|COOKIE|PRIVATE|SIGNATURE|SESSION_ID|BEARER",
    re.IGNORECASE,
)
_USER_IN_ADDRESS = re.compile(r"//[^/\s]*@")
_SHORTEST_SECRET = 8
"""Characters; shorter values stand in too many places to mean anything."""
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"
_FIXED = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "PYTHONUNBUFFERED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Environment without prompts and pagers, and with unbuffered output."""


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command is given of an environment.

    Only variables of a list, and of these none whose name looks like a secret's, or whose value
    holds the value of one that does. Programs are not looked for in folders that depend on where
    a command runs, as ``.`` does: a project could bring its version of any.
    """
    secrets = [
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    ]

    def passes(name: str, value: str) -> bool:
        known = name in _PASSED or name.startswith("LC_")
        telling = _SECRET_NAME.search(name) or _USER_IN_ADDRESS.search(value)
        return known and not telling and not any(secret in value for secret in secrets)

    passed = {name: value for name, value in environment.items() if passes(name, value)}
    folders = [one for one in passed.get("PATH", "").split(os.pathsep) if os.path.isabs(one)]
    return {**passed, "PATH": os.pathsep.join(folders) or _USUAL_PATH, **_FIXED}
