"""Prints the project's requirements and those of its tests, one per line, less the ones named."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def main(arguments: list[str]) -> int:
    """`requirements.py [--without NAME...]`; 1 when a name is no requirement of the project."""
    without = set(arguments[1:]) if arguments[:1] == ["--without"] else set()
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["test"]
    names = {re.split(r"[^\w.-]", line)[0]: line for line in lines}
    if not without <= names.keys():
        print(f"not a requirement: {', '.join(sorted(without - names.keys()))}", file=sys.stderr)
        return 1
    print("\n".join(line for name, line in names.items() if name not in without))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
