"""Runs one function of ``tests.benchmarks.children`` and writes what it returns as JSON.

    python -m tests.benchmarks.child OUTPUT MODULE FUNCTION ARGUMENTS

A process of its own for each: memory is measured from nothing, and imports are cold.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path


def run(output: str, module: str, function: str, arguments: str) -> None:
    """Call the function with the JSON object of arguments."""
    found = importlib.import_module(f"tests.benchmarks.children.{module}")
    result = getattr(found, function)(**json.loads(arguments))
    Path(output).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    run(*sys.argv[1:5])
