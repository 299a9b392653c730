"""Try a sample of small changes: ``python -m tests.mutation --count 60 --seed 1 session store``.

Each change is made in a copy of the code. What is run are the tests that call the changed function
and those of the mirrored folder that import its module: the nearest first, and of those the quick
ones. A test that fails or hangs has noticed the change, and is named. The processor's seconds are
counted, so that a busy machine gives the same result.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import accumulate, count
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.calls import CallRecord
from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("session", "compaction", "facts", "services", "store")
FOLDERS = (
    "session", "facts", "store", "compaction", "services", "conformance", "formats", "models",
    "agent", "audit", "extensions", "prompting", "commands", "tokens", "settings", "faults",
    "project", "team", "ui/audit", "ui/compaction", "ui/conversation", "ui/copilot",
    "ui/extensions", "ui/inspector", "ui/lessons", "ui/library", "ui/map", "ui/models",
    "ui/settings", "ui/shell", "ui/window", "ui/workshop",
)  # fmt: skip
"""The test folders from which tests are taken; the one of a package mirrors it."""
VALUES = "tests/project/test_values.py"
"""Looks at all classes: run for what is changed outside of functions."""
_COPIED = ("explorer", "ui", "resources", "prompts", "tests", "pyproject.toml", "README.md")
_OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:anyio")
TEST_LIMIT_S = 60
LIMIT_S = 600
"""Real seconds of all tests of a change, for one that hangs outside of Python."""
BUDGET_S = 30.0
"""Processor seconds of the tests of one change together, as recorded; slower ones are left."""
_TOO_LATE = re.compile(r"[Tt]ime-?out|DeadlineExceeded|did not come within|never happened")
"""What a test says that may have failed because the machine is busy."""
_STATUS = "exit status"
_CRASHED = f"{_STATUS} -"
_LOADED_BEFORE = ("hypothesis", "sqlmodel", "httpx", "tiktoken", "litellm", "networkx", "orjson")
_MEMORY = 8 << 30
"""Bytes of address space: a change may make a list grow without end."""


def sample(
    packages: Sequence[str], size: int, seed: int, root: Path = ROOT
) -> list[tuple[Path, Mutant]]:
    """So many changes of these packages, or of modules like ``session/tree``, drawn by a seed."""
    found = [
        (path.relative_to(root), one)
        for package in packages
        for path in _modules(root / "explorer" / package)
        for one in mutants(path.read_bytes())
    ]
    return random.Random(seed).sample(found, min(size, len(found)))


def _modules(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def record(folder: str, copy: Path, place: Path) -> list[CallRecord]:
    """What the tests of a folder call.

    Kept in ``place``; what was recorded before is made anew only for test files that have changed.
    """
    out = place / f"{folder.replace('/', '-')}.json"
    known = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    files = {
        path.relative_to(copy).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((copy / "tests" / folder).rglob("test_*.py"))
    }
    kept = {name: known[name] for name in files if known.get(name, [""])[0] == files[name]}
    if missing := [name for name in files if name not in kept]:
        fresh = out.with_suffix(".new")
        subprocess.run(
            [sys.executable, "-m", "pytest", *_OPTIONS, "-p", "tests.mutation.calls", *missing],
            cwd=copy, check=False, capture_output=True,
            env=os.environ | _variables(copy) | {"CALLS_OUT": str(fresh)},
        )  # fmt: skip
        called = json.loads(fresh.read_text(encoding="utf-8"))
        fresh.unlink()
        for name in missing:
            kept[name] = [files[name], [one for one in called if one[0].startswith(f"{name}::")]]
        out.write_text(json.dumps(kept), encoding="utf-8")
    return [CallRecord(*one) for _, tests in kept.values() for one in tests]


def runs(
    file: Path,
    change: Mutant,
    recorded: Sequence[CallRecord],
    budget_s: float = BUDGET_S,
    root: Path = ROOT,
) -> dict[str, float]:
    """Which tests are run for a change, in that order, with the processor seconds of each."""
    mirror = f"tests/{file.parts[1]}/"
    named = f"{mirror}test_{file.stem.strip('_')}"
    called = f"{file.as_posix()}::{change.function}"
    if not any(called in one.functions for one in recorded):
        # It is called in other processes, or when the module is imported: by any test of the file.
        called = f"{file.as_posix()}::"
    module = ".".join(file.with_suffix("").parts)
    # A table is often read by way of its package.
    places = (module,) if change.function else (module, module.rpartition(".")[0])
    near = set() if change.function else {VALUES}
    near |= {
        path.relative_to(root).as_posix()
        for path in (root / mirror).rglob("test_*.py")
        if any(f"from {place} import" in path.read_text(encoding="utf-8") for place in places)
    }
    ranked = []
    for one in recorded:
        name = one.test.partition("::")[0]
        if name == VALUES:
            if name in near:
                ranked.append((0, one.seconds, one.test))
        elif any(
            called_one.startswith(called) if called.endswith("::") else called_one == called
            for called_one in one.functions
        ):
            # The tables look at most of a package at once.
            starts = (named, f"{mirror}test_recorded", mirror, "")
            rank = next(at for at, start in enumerate(starts) if one.test.startswith(start))
            ranked.append((rank, one.seconds, one.test))
        elif name in near:
            # It may use what another test's call left in a cache.
            ranked.append((4, one.seconds, one.test))
    ranked.sort()
    sums = accumulate(seconds for _, seconds, _ in ranked)
    return {
        test: seconds
        for (_, seconds, test), sum_s in zip(ranked, sums, strict=True)
        if sum_s <= budget_s
    }


def noticed_by(copy: Path, file: Path, change: Mutant, tests: Mapping[str, float]) -> str:
    """Make a change in the copy, run the tests, and take it back.

    ``tests`` names them with the processor seconds that each took. Returns the first that fails,
    empty for none. One that runs into a limit of real time has noticed the change only when it
    passes at once without the change, since a machine may be busy.
    """
    if not tests:
        return ""
    source = (copy / file).read_bytes()
    _write(copy / file, change.applied(source))
    try:
        by, timed_out = _first_failure(copy, tests)
        if by.startswith(_CRASHED):
            # Qt may do that by itself, now and then.
            by, timed_out = _first_failure(copy, tests)
    finally:
        _write(copy / file, source)
    if timed_out and _first_failure(copy, {by: tests.get(by, 0)})[0]:
        return ""
    return by


def _first_failure(copy: Path, tests: Mapping[str, float]) -> tuple[str, bool]:
    """The first test that fails, empty for none, and whether it only took too long."""
    out = copy.parent / f"{copy.name}.out"
    run = multiprocessing.get_context("fork").Process(target=_run_tests, args=(copy, tests, out))
    run.start()
    run.join(LIMIT_S)
    words = out.read_text(encoding="utf-8", errors="replace")
    running = re.findall(r"^RUNNING (.+)$", words, re.MULTILINE)
    last = running[-1] if running else ""
    if run.exitcode is None:
        run.kill()
        run.join()
        return last, True
    if run.exitcode == -signal.SIGPROF:
        return f"{last} (far more of the processor than before)", False
    whole = {test.partition("[")[0]: 0.0 for test in tests}
    if "ERROR: not found:" in words and whole.keys() != tests.keys():
        # The change is in a value of which tests are made: all that there are now are run.
        for test, seconds in tests.items():
            whole[test.partition("[")[0]] += seconds
        return _first_failure(copy, whole)
    # A change that already stops an import ends pytest with a status of its own.
    if run.exitcode == 5 or "ERROR: not found:" in words:
        raise RuntimeError(f"the tests could not be run: {words}")
    if run.exitcode == 0:
        return "", False
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", words, re.MULTILINE)
    by = failed[1] if failed else f"{_STATUS} {run.exitcode}"
    return by, by in tests and _TOO_LATE.search(words) is not None


class _Limits:
    """Ends the process at a test that uses far more of the processor than when it was recorded."""

    def __init__(self, recorded: Mapping[str, float]) -> None:
        self._recorded = recorded
        self._out = os.dup(1)  # what pytest does not capture

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        os.write(self._out, f"\nRUNNING {item.nodeid}\n".encode())
        function = item.nodeid.partition("[")[0]
        limit_s = 5 * self._recorded.get(item.nodeid, self._recorded.get(function, 0)) + 5
        # Without a handler, so that no loop in C can go on.
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _run_tests(copy: Path, tests: Mapping[str, float], out: Path) -> None:
    """Run the tests in this process, made for it, in which nothing of the program is loaded."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with out.open("wb") as stream:
        for standard in (1, 2):
            os.dup2(stream.fileno(), standard)
    os.chdir(copy)
    for name in [one for one in sys.modules if one.partition(".")[0] in _COPIED]:
        del sys.modules[name]
    sys.path[:] = [str(copy), *(one for one in sys.path if Path(one).resolve() != ROOT)]
    os.environ |= _variables(copy)
    options = [*_OPTIONS, "-x", f"--timeout={TEST_LIMIT_S}"]
    status = pytest.main([*options, *tests], plugins=[_Limits(tests)])
    sys.stdout.flush()
    # Not waiting for threads that a change left behind.
    os._exit(status)


def _variables(copy: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen", "TEST_PATIENCE_S": "20"}


_times = count(1_000_000_000, 10)


def _write(path: Path, content: bytes) -> None:
    """Write a file with a time that no content of it had before.

    Python takes a compiled file for that of any source with the same length and second.
    """
    path.write_bytes(content)
    now = next(_times)
    os.utime(path, (now, now))


def _copy(place: Path, root: Path = ROOT) -> None:
    for name in _COPIED:
        if (root / name).is_dir():
            without = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / name, place / name, ignore=without)
        else:
            shutil.copy(root / name, place / name)


def _recorded(copy: Path, place: Path, jobs: int, folders: Sequence[str]) -> list[CallRecord]:
    """What all the tests of the folders call."""
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda folder: record(folder, copy, place), folders)
        return [one for records in found for one in records]


def _shares(noticed: Counter[str], drawn: Counter[str]) -> Iterator[str]:
    for name in sorted(drawn):
        yield f"{name}: {noticed[name]} of {drawn[name]} were noticed"
    share = noticed.total() / max(1, drawn.total())
    yield f"{noticed.total()} of {drawn.total()} changes were noticed ({share:.0%})"


def _tried(task: tuple[Path, Mutant, dict[str, float]]) -> str:
    """Try one change, in the copy of this worker."""
    return noticed_by(_place[0], *task)


_place: list[Path] = []


def _prepare_worker(folder: Path) -> None:
    """Make a copy for a worker, and load what no change touches once for all its runs."""
    _place[:] = [Path(tempfile.mkdtemp(dir=folder)) / "code"]
    _place[0].mkdir()
    _copy(_place[0], folder / "code")
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # as in tests/conftest.py
    for name in _LOADED_BEFORE:
        importlib.import_module(name)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="PACKAGE")
    parser.add_argument("--count", type=int, default=60, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=1, help="which changes are drawn")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried side by side")
    parser.add_argument(
        "--budget", type=float, default=BUDGET_S, metavar="SECONDS",
        help="processor seconds of the tests of one change, as recorded",
    )  # fmt: skip
    parser.add_argument(
        "--calls", type=Path, metavar="DIR",
        help="where the record of what the tests call is, or is put; it takes minutes to make",
    )  # fmt: skip
    parser.add_argument(
        "--folders", type=lambda names: names.split(","), default=FOLDERS, metavar="NAMES",
        help="test folders, with commas between; all of them take long to record",
    )  # fmt: skip
    return parser.parse_args()


def main() -> int:
    wanted = _arguments()
    noticed: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="session-explorer-mutants-") as name:
        folder = Path(name)
        place = (wanted.calls or folder / "calls").absolute()
        place.mkdir(exist_ok=True)
        code = folder / "code"
        code.mkdir()
        _copy(code)  # what is written from here on changes nothing
        recorded = _recorded(code, place, wanted.jobs, wanted.folders)
        changes = sample(wanted.packages, wanted.count, wanted.seed, code)
        tasks = [(*one, runs(*one, recorded, wanted.budget, code)) for one in changes]
        with ProcessPoolExecutor(
            wanted.jobs, multiprocessing.get_context("fork"), _prepare_worker, (folder,)
        ) as workers:
            for number, ((file, change, tests), by) in enumerate(
                zip(tasks, workers.map(_tried, tasks), strict=True), 1
            ):
                drawn[file.parts[1]] += 1
                noticed[file.parts[1]] += bool(by)
                texts = (" ".join(text.split())[:70] for text in (change.before, change.after))
                print(f"{number:4}  {file}:{change.line}  {'  ->  '.join(texts)}")
                print(f"      {by or f'SURVIVED {len(tests)} tests'}", flush=True)
    print("\n".join(_shares(noticed, drawn)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
