"""Try a sample of small changes: ``python -m tests.mutation --count 60 --seed 1 session store``.

Each change is made in a copy of the code. What is run are the tests that call the changed function,
the mirrored folder first and the quick ones before the slow ones, then those of the mirrored folder
that import the changed module; a test that fails or hangs has noticed the change, and is named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from tests.mutation.calls import CallRecord
from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "session": ("session", "compaction", "formats", "audit", "services"),
    "compaction": ("compaction", "conformance", "services"),
    "facts": ("facts", "audit", "models"),
    "services": ("services", "commands"),
    "store": ("store", "faults", "services"),
}
"""Which test folders are run for each package; the first one mirrors it."""
_COPIED = ("explorer", "ui", "resources", "prompts", "tests", "pyproject.toml", "README.md")
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
TEST_LIMIT_S = 40
LIMIT_S = 300
BUDGET_S = 20
"""How long the tests of one change took together when they were recorded; slower ones are left."""
_MEMORY = 8 << 30
"""Bytes of address space: a change may make a list grow without end."""


def sample(packages: Sequence[str], size: int, seed: int) -> list[tuple[Path, Mutant]]:
    """So many changes of these packages, or of modules like ``session/tree``, drawn by a seed."""
    found = [
        (path.relative_to(ROOT), one)
        for package in packages
        for path in _modules(package)
        for one in mutants(path.read_bytes())
    ]
    return random.Random(seed).sample(found, min(size, len(found)))


def _modules(package: str) -> list[Path]:
    place = ROOT / "explorer" / package
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def record(folder: str, copy: Path, out: Path) -> list[CallRecord]:
    """What the tests of a folder call; read from ``out`` where it was recorded before."""
    if not out.exists():
        _run([*_PYTEST, "-p", "tests.mutation.calls", f"tests/{folder}"], copy, out)
    return [CallRecord(*one) for one in json.loads(out.read_text(encoding="utf-8"))]


def runs(file: Path, change: Mutant, recorded: Sequence[CallRecord]) -> list[list[str]]:
    """Which tests are run for a change, one list after the other."""
    mirror = f"tests/{FOLDERS[file.parts[1]][0]}/"
    called = f"{file.as_posix()}::{change.function}"
    calling = [
        one
        for one in sorted(recorded, key=lambda one: (not one.test.startswith(mirror), one.seconds))
        if any(name.startswith(called) if not change.function else name == called
               for name in one.functions)
    ]  # fmt: skip
    chosen, seconds = [], 0.0
    for one in calling:
        seconds += one.seconds
        if seconds > BUDGET_S:
            break
        chosen.append(one.test)
    module = ".".join(file.with_suffix("").parts)
    near = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / mirror).rglob("test_*.py"))
        if f"from {module} import" in path.read_text(encoding="utf-8")
    ]
    return [some for some in (chosen, near) if some]


def noticed_by(copy: Path, file: Path, change: Mutant, lists: list[list[str]]) -> str:
    """Make a change in the copy, run the tests, and take it back.

    Returns the first test that fails, empty for none.
    """
    source = (copy / file).read_bytes()
    _write(copy / file, change.applied(source))
    try:
        for tests in lists:
            done = _run([*_PYTEST, "-x", f"--timeout={TEST_LIMIT_S}", *tests], copy)
            # A change that already stops an import ends pytest with a status of its own.
            if done.returncode == 5 or "ERROR: not found:" in done.stdout + done.stderr:
                raise RuntimeError(f"the tests could not be run: {done.stdout}{done.stderr}")
            if done.returncode != 0:
                failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
                return failed[1] if failed else f"exit status {done.returncode}"
        return ""
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_S} s"
    finally:
        _write(copy / file, source)


def _run(
    command: Sequence[str], copy: Path, calls_out: Path | None = None
) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        command, cwd=copy, env=variables | ({"CALLS_OUT": str(calls_out)} if calls_out else {}),
        check=False, capture_output=True, text=True, timeout=None if calls_out else LIMIT_S,
        preexec_fn=None if calls_out else _limit_memory,
    )  # fmt: skip


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


_times = count(1_000_000_000, 10)


def _write(path: Path, content: bytes) -> None:
    """Write a file with a time that no content of it had before.

    Python takes a compiled file for that of any source with the same length and second.
    """
    path.write_bytes(content)
    now = next(_times)
    os.utime(path, (now, now))


def _copy(place: Path) -> None:
    for name in _COPIED:
        if (ROOT / name).is_dir():
            without = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, place / name, ignore=without)
        else:
            shutil.copy(ROOT / name, place / name)


def _recorded(packages: Sequence[str], copy: Path, place: Path) -> dict[str, list[CallRecord]]:
    """What the tests of each package call."""
    folders = {name: FOLDERS[name] for name in (one.partition("/")[0] for one in packages)}
    calls = {
        folder: record(folder, copy, place / f"{folder}.json")
        for folder in dict.fromkeys(folder for some in folders.values() for folder in some)
    }
    return {name: [one for each in some for one in calls[each]] for name, some in folders.items()}


def _shares(noticed: Counter[str], drawn: Counter[str]) -> Iterator[str]:
    for name in sorted(drawn):
        yield f"{name}: {noticed[name]} of {drawn[name]} were noticed"
    share = noticed.total() / max(1, drawn.total())
    yield f"{noticed.total()} of {drawn.total()} changes were noticed ({share:.0%})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(FOLDERS), metavar="PACKAGE")
    parser.add_argument("--count", type=int, default=60, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=1, help="which changes are drawn")
    parser.add_argument(
        "--calls", type=Path, metavar="DIR",
        help="where the record of what the tests call is, or is put; it takes minutes to make",
    )  # fmt: skip
    wanted = parser.parse_args()
    noticed: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="session-explorer-mutants-") as folder:
        copy = Path(folder) / "code"
        copy.mkdir()
        _copy(copy)
        place = (wanted.calls or Path(folder) / "calls").absolute()
        place.mkdir(exist_ok=True)
        recorded = _recorded(wanted.packages, copy, place)
        for number, (file, change) in enumerate(
            sample(wanted.packages, wanted.count, wanted.seed), 1
        ):
            by = noticed_by(copy, file, change, runs(file, change, recorded[file.parts[1]]))
            drawn[file.parts[1]] += 1
            noticed[file.parts[1]] += bool(by)
            before, after = (" ".join(text.split())[:70] for text in (change.before, change.after))
            print(f"{number:4}  {file}:{change.line}  {before}  ->  {after}")
            print(f"      {by or 'SURVIVED'}", flush=True)
    print("\n".join(_shares(noticed, drawn)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
