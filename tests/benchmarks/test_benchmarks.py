"""The benchmarks run; what they measure passes or fails nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.report import Row, table

ROOT = Path(__file__).resolve().parents[2]


def test_a_cheap_benchmark_prints_its_table(tmp_path: Path) -> None:
    """`python -m tests.benchmarks --quick --only prompt` measures and prints Markdown."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "--quick", "--only", "prompt",
         "--folder", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "cores" in lines[0]
    assert "Python" in lines[0]
    assert lines[2].startswith("| what")
    assert any("render a prompt" in line for line in lines[4:])


def test_a_bar_that_is_missed_stands_out() -> None:
    """Whether a bar is met can be read off its line."""
    text = table([Row("one", "9 ms", "", "8 ms", False), Row("two", "7 ms", "", "8 ms", True)])
    heading, rule, missed, met = text.splitlines()
    assert set(rule) == {"|", "-"}
    assert "**no**" in missed
    assert " yes " in met
    assert len({len(line) for line in (heading, rule, missed, met)}) == 1
