"""What a provider reported with a reply, read where a profile keeps by its measure."""

from __future__ import annotations

from pathlib import Path

from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import PROFILES, Settings
from explorer.workbench import Workbench

SESSION = Path(__file__).parents[1] / "conformance" / "data" / "omp-small.jsonl"


def test_b18_the_preview_keeps_by_the_prompt_not_by_the_whole_report(bench: Workbench) -> None:
    document = bench.open_blocking(bench.import_blocking(SESSION).key)
    settings = Settings(keep_recent_tokens=1_500)
    shown = document.compaction.preview(None, PROFILES["omp"], settings).preparation
    assert isinstance(shown, Preparation)
    roughly = prepare(document.tree, document.leaf, PROFILES["omp"], settings)
    assert isinstance(roughly, Preparation)
    assert 1 < shown.keep.ratio < roughly.keep.ratio
    # Without a reply's own report there is nothing to read.
    assert document.usage.prompt_of(document.tree.path(document.leaf)[1]) == -1
