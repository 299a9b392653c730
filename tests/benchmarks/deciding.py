"""Path, context and preparation beside pi's figures; slider and cut in the window."""

from __future__ import annotations

from explorer.compaction.profile import PROFILES
from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms, percentile

# pi 0.73.1 in node on another day, on 2 cores of 2.5 GHz: ms by entries.
PI: dict[tuple[str, bool], dict[int, float]] = {
    ("path list", True): {1_000: 0.35, 10_000: 9.4, 100_000: 815, 200_000: 4_482},
    ("context", True): {1_000: 1.1, 10_000: 14, 100_000: 813, 200_000: 4_470},
    ("context", False): {1_000: 0.8, 10_000: 2.2, 100_000: 85, 200_000: 130},
    ("prepare", True): {1_000: 2.7, 10_000: 26, 100_000: 846, 200_000: 4_602},
    ("prepare", False): {1_000: 1.6, 10_000: 2.3, 100_000: 70, 200_000: 121},
}
NAMES = {
    "path list": "path to the leaf, as a list",
    "context": "context at the leaf",
    "prepare": "prepare a compaction",
}
BAR, BAR_AT = 20, 100_000
FRAME_MS = 16.0
PREVIEW_MS, PREVIEW_AT = 5.0, 10_000


def measure(bench: Bench) -> list[Row]:
    sizes = (1_000, 10_000) if bench.quick else (1_000, 10_000, 100_000, 200_000)
    rows: list[Row] = []
    for entries in sizes:
        for chain in (True, False):
            path = str(bench.session(entries, chain=chain))
            found = bench.child("deciding", "decide", session=path)
            rows += _rows(entries, chain, found)
    return rows


def _rows(entries: int, chain: bool, found: dict[str, list[float]]) -> list[Row]:
    rows = []
    shape = "chain" if chain else f"tree, path of {found['length'][0]:,.0f}"
    for name, title in NAMES.items():
        pi = PI.get((name, chain), {}).get(entries)
        if pi is None:
            continue
        took = median(found[name])
        judged = entries == BAR_AT
        rows.append(
            Row(
                f"{title}, {entries:,} ({shape})",
                ms(took),
                f"pi {ms(pi)}: {pi / took:,.0f}x",
                f"{BAR}x faster" if judged else "",
                pi / took >= BAR if judged else None,
            )
        )
    for name in PROFILES:
        took = median(found[f"preview {name}"])
        judged = entries == PREVIEW_AT and chain
        title = f"preview with every verdict, {name}, {entries:,} ({shape})"
        each = f"{took / found['length'][0] * 1e6:,.0f} ns an entry"
        bar = f"under {PREVIEW_MS:.0f} ms" if judged else ""
        rows.append(Row(title, ms(took), each, bar, took < PREVIEW_MS if judged else None))
    for name in PROFILES:
        if f"prune {name}" in found:
            title = f"plan what to prune, {name}, {entries:,} ({shape})"
            rows.append(Row(title, ms(median(found[f"prune {name}"]))))
    return rows


def measure_window(bench: Bench) -> list[Row]:
    path = bench.session(10_000, chain=True)
    found = bench.child("window_drag", "drag", bench.home(path), steps=40 if bench.quick else 120)
    return [
        _frames("move a slider, 10,000-entry path, painted", found["slider"]),
        _frames("drag the cut, 10,000-entry path, painted", found["cut"]),
    ]


def _frames(what: str, times: list[float]) -> Row:
    return Row(
        what,
        ms(median(times)),
        f"95 % under {ms(percentile(times, 0.95))}, worst {ms(max(times))}",
        "under 16 ms",
        percentile(times, 0.95) < FRAME_MS,
    )
