"""Walks of a session in memory."""

from __future__ import annotations

import gc
import time

from explorer.audit.simulation import Policy, past_of, simulate
from explorer.audit.simulation.walk import sweep
from explorer.compaction.profile import PROFILES
from explorer.formats.registry import open_source
from explorer.session.tree import SessionTree

ROUNDS = 3
SWEPT = 12_000
"""Entries up to which the grid is swept, too."""


def simulate_all(session: str) -> dict[str, list[float]]:
    """Times of the processor in ms: all profiles together, by the window that they are given."""
    source, tree = open_source(session), SessionTree()
    for batch in source.batches():
        for record in batch:
            tree.append(record.entry_id, record.parent, record.facts, record.estimate)
    leaf = source.report.leaf
    assert leaf is not None
    gc.freeze()
    found: dict[str, list[float]] = {"length": [float(len(tree.path(leaf)))]}
    for window in (200_000, 60_000):
        times = found[str(window)] = []
        for _ in range(ROUNDS):
            start = time.process_time()
            past = past_of(tree, leaf)
            walks = [
                simulate(tree, leaf, Policy.of(profile, window), past=past)
                for profile in PROFILES.values()
            ]
            times.append((time.process_time() - start) * 1000)
        found[f"{window} compactions"] = [float(sum(len(one.compactions) for one in walks))]
    if len(tree) <= SWEPT:
        start = time.process_time()
        sweep(past_of(tree, leaf), Policy.of(PROFILES["explorer"]))
        found["sweep"] = [(time.process_time() - start) * 1000]
    return found
