"""Rows of the table, and the table as Markdown."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HEADINGS = ("what", "measured", "beside", "bar", "met")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    measured: str
    beside: str = ""
    """The baseline, from the same run where it is not said otherwise."""
    bar: str = ""
    met: bool | None = None
    """None where there is no bar."""

    def cells(self) -> tuple[str, ...]:
        met = "" if self.met is None else "yes" if self.met else "**no**"
        return self.what, self.measured, self.beside, self.bar, met


def ms(value: float) -> str:
    """Milliseconds for a person."""
    if value >= 10_000:
        return f"{value / 1000:.1f} s"
    if value >= 100:
        return f"{value:,.0f} ms"
    return f"{value:.1f} ms" if value >= 1 else f"{value:.3f} ms"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, its columns lined up."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEADINGS))]
    out = []
    for number, line in enumerate(lines):
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        out.append(f"| {' | '.join(cells)} |")
        if number == 0:
            out.append(f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    return "\n".join(out)


def machine() -> str:
    """What it was measured on, in a line."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{os.cpu_count()} cores ({_processor()}){load}; {platform.system()} {platform.machine()};"
        f" Python {sys.version.split()[0]}; Qt {_version('PySide6-Essentials')}, offscreen"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
