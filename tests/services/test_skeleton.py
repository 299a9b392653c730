"""The skeleton graph, checked against the tree that it was made of."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from explorer.services.skeleton import places, skeleton, write_graph
from tests.services.test_navigation import entry, tree_of

CHAIN = [entry("r", None), *(entry(f"c{n}", f"c{n - 1}" if n else "r") for n in range(10))]
FORKED = tree_of(
    *CHAIN,
    entry("x", "c4", "assistant"),
    entry("y", "x", "assistant"),
    entry("s", "c4", "branch_summary", fromId="y", summary="left"),
    entry("l", "s", "label", targetId="c7", label="here"),
)


def test_only_places_of_interest_are_nodes() -> None:
    names = [FORKED.columns.ids[at] for at in places(FORKED)]
    assert names == ["r", "c4", "c5", "c7", "c9", "x", "y", "s", "l"]


def test_chains_between_them_are_edges_that_count_what_they_hold() -> None:
    graph = skeleton(FORKED, FORKED.index_of("l"))
    r, c4, c5, c7 = (FORKED.index_of(name) for name in ("r", "c4", "c5", "c7"))
    assert graph.edges[r, c4]["entries"] == 5
    assert graph.edges[c5, c7]["entries"] == 2
    chains = [edge for edge in graph.edges if graph.edges[edge]["kind"] == "chain"]
    assert sum(graph.edges[edge]["entries"] for edge in chains) + 1 == len(FORKED)
    assert nx.is_arborescence(graph.edge_subgraph(chains))
    assert graph.nodes[c7]["label"] == "here"
    assert not graph.nodes[c5]["active"]


def test_a_branch_summary_is_tied_to_the_branch_that_it_tells_of() -> None:
    graph = skeleton(FORKED, FORKED.index_of("l"))
    left, summary = FORKED.index_of("y"), FORKED.index_of("s")
    assert graph.edges[left, summary]["kind"] == "tells_of"


@pytest.mark.parametrize("ending", [".graphml", ".gexf", ".gml", ".json"])
def test_it_is_written_for_other_programs(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"tree{ending}"
    graph = skeleton(FORKED, 0)
    write_graph(graph, path)
    if ending == ".json":
        again = nx.node_link_graph(json.loads(path.read_text("utf-8")), edges="edges")
    else:
        reader = {".graphml": nx.read_graphml, ".gexf": nx.read_gexf, ".gml": nx.read_gml}[ending]
        again = reader(path)
    assert len(again) == len(graph)
    assert again.number_of_edges() == graph.number_of_edges()


def test_an_unknown_ending_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tree\.svg: the name must end in"):
        write_graph(skeleton(FORKED, 0), tmp_path / "tree.svg")


def test_an_empty_session_has_an_empty_skeleton() -> None:
    assert len(skeleton(tree_of(), -1)) == 0
