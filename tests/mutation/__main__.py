"""Try a sample of small changes: ``python -m tests.mutation --count 60 --seed 1 session store``.

Each change is made in a copy of the code. The test files of the matching folders that import the
changed module are run first, then the others of these folders; a test that fails or hangs has
noticed the change, and is named.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "session": ("tests/session", "tests/compaction", "tests/formats"),
    "compaction": ("tests/compaction", "tests/conformance"),
    "facts": ("tests/facts", "tests/audit"),
    "services": ("tests/services", "tests/commands"),
    "store": ("tests/store", "tests/faults"),
}
"""Where the tests of each package are, in the order in which they are run."""
_COPIED = ("explorer", "ui", "resources", "prompts", "tests", "pyproject.toml", "README.md")
LIMIT_S = 900


def sample(packages: Sequence[str], size: int, seed: int) -> list[tuple[Path, Mutant]]:
    """So many changes of these packages, drawn by a seed."""
    found = [
        (path.relative_to(ROOT), one)
        for package in packages
        for path in sorted((ROOT / "explorer" / package).rglob("*.py"))
        for one in mutants(path.read_bytes())
    ]
    return random.Random(seed).sample(found, min(size, len(found)))


def runs(file: Path, root: Path = ROOT) -> list[list[str]]:
    """Which tests are run for a changed file, one list after the other."""
    module = ".".join(file.with_suffix("").parts)
    folders = FOLDERS[file.parts[1]]
    files = [path for folder in folders for path in sorted((root / folder).rglob("test_*.py"))]
    near = [path for path in files if f"from {module} import" in path.read_text(encoding="utf-8")]
    lists = ([path for path in files if (path in near) is wanted] for wanted in (True, False))
    return [[str(path.relative_to(root)) for path in some] for some in lists if some]


def noticed_by(copy: Path, file: Path, change: Mutant, lists: list[list[str]]) -> str:
    """Make a change in the copy, run the tests, and take it back.

    Returns the first test that fails, empty for none.
    """
    source = (copy / file).read_bytes()
    _write(copy / file, change.applied(source))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    try:
        for tests in lists:
            done = subprocess.run(
                [*command, *tests], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)},
                check=False, capture_output=True, text=True, timeout=LIMIT_S,
            )  # fmt: skip
            if done.returncode > 2:
                raise RuntimeError(f"the tests could not be run: {done.stdout}{done.stderr}")
            if done.returncode != 0:
                failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
                return failed[1] if failed else f"exit status {done.returncode}"
        return ""
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_S} s"
    finally:
        _write(copy / file, source)


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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(FOLDERS), metavar="PACKAGE")
    parser.add_argument("--count", type=int, default=60, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=1, help="which changes are drawn")
    parser.add_argument(
        "--near", action="store_true", help="run only the tests that import the changed module"
    )
    wanted = parser.parse_args()
    drawn = sample(wanted.packages, wanted.count, wanted.seed)
    noticed = 0
    with tempfile.TemporaryDirectory(prefix="session-explorer-mutants-") as folder:
        copy = Path(folder)
        _copy(copy)
        for number, (file, change) in enumerate(drawn, 1):
            by = noticed_by(copy, file, change, runs(file, copy)[: 1 if wanted.near else None])
            noticed += bool(by)
            before, after = (" ".join(text.split())[:70] for text in (change.before, change.after))
            print(f"{number:4}  {file}:{change.line}  {before}  ->  {after}")
            print(f"      {by or 'SURVIVED'}", flush=True)
    print(f"{noticed} of {len(drawn)} changes were noticed ({noticed / len(drawn):.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
