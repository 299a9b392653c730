"""Path, context, preparation and partition of a session in memory."""

from __future__ import annotations

import gc
from collections.abc import Callable

from explorer.compaction.partition import partition
from explorer.compaction.preparation import prepare
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.pruning import plan_pruning
from explorer.formats.registry import open_source
from explorer.session.context import context_at
from explorer.session.tree import SessionTree
from tests.benchmarks.children.process import times_ms


def decide(session: str) -> dict[str, list[float]]:
    """Times in ms, by what was asked at the leaf."""
    source, tree = open_source(session), SessionTree()
    for batch in source.batches():
        for record in batch:
            tree.append(record.entry_id, record.parent, record.facts, record.estimate)
    leaf = source.report.leaf
    assert leaf is not None
    profile = PROFILES["explorer"]
    settings = Settings.of(profile)
    gc.freeze()
    work: dict[str, Callable[[], object]] = {
        "path": lambda: tree.path(leaf),
        "path list": lambda: tree.path(leaf).indices(),
        "context": lambda: context_at(tree, leaf),
        "prepare": lambda: prepare(tree, leaf, profile, settings),
    }
    for name, rules in PROFILES.items():
        own = Settings.of(rules)
        work[f"preview {name}"] = lambda rules=rules, own=own: partition(
            prepare(tree, leaf, rules, own)
        )
        if rules.pruning is not None:
            policy = rules.pruning
            work[f"prune {name}"] = lambda policy=policy: plan_pruning(tree, leaf, policy)
    found = {name: times_ms(one) for name, one in work.items()}
    found["length"] = [float(len(tree.path(leaf)))]
    return found
