"""What holds for every test: no display, no network, nobody's own files, nobody's keys.

Set before anything of ours is imported, so that no module reads the real environment.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import gc
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

_MEMORY = Path("/dev/shm")
_ENOUGH_MEMORY = 4 << 30
"""Bytes that must be free there: some tests write files of hundreds of megabytes."""


def _write_to_memory() -> None:
    """Put temporary files into memory where there is room.

    A store waits for the disk at every append. What a lost power leaves behind is played by
    ``tests/faults``, so no other test needs the disk, and those with a store take half the time.
    """
    if "PYTEST_DEBUG_TEMPROOT" in os.environ or not os.access(_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_MEMORY).free >= _ENOUGH_MEMORY:
        # Read by pytest when the first temporary directory is asked for.
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_MEMORY)


_write_to_memory()

# Compiled modules are kept, whatever the machine says of it: the hundreds of processes that tests
# start would compile the program anew each, which takes longer than what they do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A home of this run's own: discovery of sessions, settings and caches all start there.
_RUN_HOME = Path(
    tempfile.mkdtemp(prefix="session-explorer-tests-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
)


def _prepare_environment() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # A scale or theme of the machine must not move what the tests look at.
    os.environ.pop("QT_QPA_PLATFORMTHEME", None)
    os.environ.pop("QT_STYLE_OVERRIDE", None)
    os.environ["HOME"] = str(_RUN_HOME)
    for variable, name in (
        ("XDG_DATA_HOME", "share"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_STATE_HOME", "state"),
    ):
        os.environ[variable] = str(_RUN_HOME / name)
    runtime = _RUN_HOME / "runtime"
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    os.environ["SESSION_EXPLORER_HOME"] = str(_RUN_HOME / "explorer")
    os.environ["SESSION_EXPLORER_DEBUG"] = "1"
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    for variable in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE"))]:
        del os.environ[variable]
    vectors = _conformance_vectors()
    if vectors is not None:
        os.environ.setdefault("EXPLORER_CONFORMANCE_DIR", str(vectors))


def _conformance_vectors() -> Path | None:
    """The reference vectors: in this repository, or in a directory beside it."""
    candidates = [ROOT / "tests" / "conformance" / "vectors", *ROOT.parent.glob("*/conformance")]
    return next((path for path in candidates if any(path.glob("*.expected.json"))), None)


_prepare_environment()

# Set where the suite runs without Qt on purpose; otherwise a missing Qt is a failure.
if os.environ.get("EXPLORER_TESTS_WITHOUT_QT"):
    collect_ignore = ["ui"]


from explorer.models.retry import RetryPolicy  # noqa: E402

# How long an example takes depends on what else the machine does: nothing fails for that.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

# Python collects on whichever thread allocates, and a widget must not die on another than Qt's:
# so nothing is collected by itself, and now and then everything between two tests.
gc.disable()
_TESTS_BETWEEN_COLLECTIONS = 10
_TESTS_BETWEEN_THAWS = 400
_ended = 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[Any]:
    """Collect between two tests, when no fixture of the ended one is alive any more."""
    global _ended
    result = yield
    _ended += 1
    if _ended % _TESTS_BETWEEN_COLLECTIONS == 0:
        if _ended % _TESTS_BETWEEN_THAWS == 0:
            # A window of the ended test may still be held when all that is alive is frozen.
            gc.unfreeze()
        gc.collect()
        # What lives on (modules, litellm's tables) is not gone through again each time.
        gc.freeze()
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: a test of a window or of processes waits for a third of its
    time, and on two cores a third worker makes a whole run an eighth shorter."""
    return (os.cpu_count() or 1) + 1


_TEARDOWN_S = 180
_stderr = -1


def pytest_configure() -> None:
    global _stderr
    _stderr = os.dup(2)  # that of the run: a test's own is captured, and lost with its process


@pytest.hookimpl(trylast=True)
def pytest_exception_interact() -> None:
    """Bound the teardown of a test that failed: from then on neither of the configured limits
    holds, so that somebody may look at the failure in a debugger."""
    faulthandler.dump_traceback_later(_TEARDOWN_S, exit=True, file=_stderr)


def pytest_unconfigure() -> None:
    os.close(_stderr)
    shutil.rmtree(_RUN_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def explorer_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The directory that holds this test's own database, settings, caches and logs."""
    home = tmp_path_factory.mktemp("explorer-home")
    monkeypatch.setenv("SESSION_EXPLORER_HOME", str(home))
    yield home
    # It lies in memory, where those of a whole run take gigabytes.
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that fail are made again at once; as many times as without this."""
    fields = dataclasses.fields(RetryPolicy)
    values = {field.name: field.default for field in fields} | {"first_wait_s": 0.01, "jitter": 0}
    monkeypatch.setattr(RetryPolicy.__init__, "__defaults__", tuple(values.values()))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def conformance_dir() -> Path:
    """The directory of reference vectors; skips where there is none."""
    value = os.environ.get("EXPLORER_CONFORMANCE_DIR")
    if not value or not Path(value).is_dir():
        pytest.skip("no reference vectors: set EXPLORER_CONFORMANCE_DIR to their directory")
    return Path(value)


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Lets tests talk to this machine only: a test that needs the network is a wrong test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host not in ("localhost", "::1") and not host.startswith("127."):
                raise PermissionError(f"a test tried to reach {host}; tests use no network")
        connect(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    yield
    patch.undo()
