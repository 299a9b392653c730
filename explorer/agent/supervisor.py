"""Runs one command and ends everything that it started. Run as a separate program.

    python -I -S supervisor.py REPORT ALIVE GRACE PROGRAM [ARGUMENT...]

``ALIVE`` is a descriptor that is read from: when its other end closes, by a cancel or because the
window died, the command is ended. ``REPORT`` is one that two lines of JSON are written to: first
``{"group": process group of the command}``, and at its end ``{"code": exit code or null, "signal":
signal or null, "left": processes that it left running}``. ``GRACE``: seconds between the request to
end and the end.

Where the system can (Linux), orphans of the command become children of this process, whatever
session or group they put themselves into, so that they are found; it ends when it has none left.
Only the standard library, and little of that: it starts before every command.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time

_SUBREAPER = 36
_DEATH_WATCH_S = 0.02
_MOST_KILLING_S = 5.0
_SETTLE_S = 0.3
"""Seconds in which what a command leaves behind, such as the end of a pipe, may end."""


def _adopt_orphans() -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _parents() -> dict[int, int]:
    """Every process and its parent, where /proc tells."""
    found: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    status = file.read()
            except OSError:
                continue
            found[int(name)] = int(status[status.rindex(b")") + 2 :].split()[1])
    return found


def _below() -> list[int]:
    """All that this process and its children started and that still is there."""
    parents, found, at = _parents(), [os.getpid()], 0
    while at < len(found):
        found += [pid for pid, parent in parents.items() if parent == found[at]]
        at += 1
    return found[1:]


def _send(number: int, group: int) -> int:
    """Signal the command's group and all below; how many there were."""
    below = _below()
    with contextlib.suppress(OSError):
        os.killpg(group, number)
    for pid in below:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return len(below)


def _reap(ends: dict[int, int]) -> bool:
    """Take note of what ended; False when no child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        ends[pid] = status


def _end_all(group: int, ends: dict[int, int], grace: float) -> None:
    """Ask everything to end, and after the grace end it."""
    _send(signal.SIGTERM, group)
    _send(signal.SIGCONT, group)
    until = time.monotonic() + grace
    while _reap(ends) and time.monotonic() < until:
        time.sleep(_DEATH_WATCH_S)
    until = time.monotonic() + _MOST_KILLING_S
    while _reap(ends) and time.monotonic() < until:
        _send(signal.SIGKILL, group)
        time.sleep(_DEATH_WATCH_S)


def _settle(ends: dict[int, int]) -> int:
    """How many are left a moment after the command ended."""
    until = time.monotonic() + _SETTLE_S
    while _reap(ends) and time.monotonic() < until:
        time.sleep(_DEATH_WATCH_S)
    return len(_below())


def _start(command: list[str], mine: tuple[int, ...]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        for descriptor in mine:
            os.close(descriptor)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _wait(pid: int, alive: int, ends: dict[int, int], woken: int) -> None:
    """Wait until the command has ended or the other end of ``alive`` is closed."""
    while _reap(ends) and pid not in ends:
        ready, _, _ = select.select([alive, woken], [], [])
        if alive in ready and not os.read(alive, 1):
            return
        if woken in ready:
            os.read(woken, 64)


def _report(report: int, line: dict[str, int | None]) -> None:
    """Write a line for the program; where it is dead already, its command still has to end."""
    with contextlib.suppress(BrokenPipeError):
        os.write(report, json.dumps(line).encode() + b"\n")


def main(arguments: list[str]) -> None:
    """Run a command to its end; the arguments are those of the module's text."""
    report, alive, grace = int(arguments[0]), int(arguments[1]), float(arguments[2])
    _adopt_orphans()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ends: dict[int, int] = {}
    pid = _start(arguments[3:], (report, alive, woken, wake))
    _report(report, {"group": pid})
    # This process must not keep the command's output open.
    os.close(1)
    os.close(2)
    _wait(pid, alive, ends, woken)
    left = _settle(ends) if pid in ends else 0
    _end_all(pid, ends, grace)
    code = os.waitstatus_to_exitcode(ends[pid]) if pid in ends else None
    outcome: dict[str, int | None] = {
        "code": code if code is not None and code >= 0 else None,
        "signal": -code if code is not None and code < 0 else None,
        "left": left,
    }
    _report(report, outcome)


if __name__ == "__main__":
    main(sys.argv[1:])
