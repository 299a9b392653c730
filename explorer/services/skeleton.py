"""The skeleton of a session tree as a networkx graph: what is left when its chains are cut short.

Recorded sessions are long chains between few places of interest: roots, leaves, branch points,
compactions, branch summaries and labelled entries. Those are the nodes; an edge carries how many
entries and tokens the chain between its ends holds. For algorithms and for other programs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import networkx as nx

from explorer import private_files
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree

SUMMARIES = (Kind.COMPACTION, Kind.BRANCH_SUMMARY)


def _write_json(graph: nx.DiGraph[int], file: BinaryIO) -> None:
    data: Mapping[str, Any] = nx.node_link_data(graph, edges="edges")
    file.write(json.dumps(data, ensure_ascii=False, indent=1).encode())


WRITERS: Mapping[str, Callable[[nx.DiGraph[int], BinaryIO], None]] = {
    ".graphml": nx.write_graphml,
    ".gexf": nx.write_gexf,
    ".gml": nx.write_gml,
    ".json": _write_json,
}


def places(tree: SessionTree) -> list[int]:
    """The entries that the skeleton keeps, in index order."""
    kinds = tree.columns.kind
    kept = {*tree.roots(), *tree.leaves(), *tree.branch_points(), *tree.labels()}
    kept.update(at for at, kind in enumerate(kinds) if kind in SUMMARIES)
    kept.update(child for at in tree.branch_points() for child in tree.children(at))
    return sorted(kept)


def skeleton(tree: SessionTree, leaf: int) -> nx.DiGraph[int]:
    """The graph: nodes are entry indices, edges lead from the older to the newer end of a chain.

    Node attributes: id, kind, tokens, active (on the path to ``leaf``), label where there is one.
    Edge attributes: entries and tokens of the chain, its newer end counted in. A branch summary
    is also reached by an edge of kind ``tells_of`` from the entry at which the branch was left.
    """
    columns = tree.columns
    graph: nx.DiGraph[int] = nx.DiGraph()
    kept = places(tree)
    active, labels = tree.path(leaf), tree.labels()
    for at in kept:
        facts: dict[str, Any] = {
            "id": columns.ids[at],
            "kind": Kind(columns.kind[at]).name.lower(),
            "tokens": columns.estimate[at],
            "active": at in active,
        }
        if at in labels:
            facts["label"] = labels[at]
        graph.add_node(at, **facts)
    for at in kept:
        chain = _chain_above(tree, at, graph)
        if chain:
            entries = chain[:-1]
            tokens = sum(columns.estimate[entry] for entry in entries)
            graph.add_edge(chain[-1], at, kind="chain", entries=len(entries), tokens=tokens)
    _add_bridges(tree, graph)
    return graph


def _chain_above(tree: SessionTree, at: int, graph: nx.DiGraph[int]) -> list[int]:
    """The entry and those above it up to and with the next place; empty for a root."""
    chain, parent = [at], tree.columns.parent
    while (above := parent[chain[-1]]) >= 0:
        chain.append(above)
        if above in graph:
            return chain
    return []


def _add_bridges(tree: SessionTree, graph: nx.DiGraph[int]) -> None:
    for at, facts in tree.columns.branches.items():
        left = tree.index_of(facts.from_id)
        if left in graph and at in graph and left != at and not graph.has_edge(left, at):
            graph.add_edge(left, at, kind="tells_of", entries=0, tokens=0)


def write_graph(graph: nx.DiGraph[int], path: Path) -> None:
    """Write the graph in the format that the file's ending names.

    Raises ValueError for another ending, OSError when the file cannot be written.
    """
    writer = WRITERS.get(path.suffix)
    if writer is None:
        raise ValueError(f"{path}: the name must end in one of {', '.join(WRITERS)}")
    with private_files.replacement(path, keeps_mode=True) as file:
        writer(graph, file)
