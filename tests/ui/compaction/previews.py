"""A document in memory that can be previewed, and drafts to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from explorer.compaction.partition import Partition, partition
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, build_requests
from explorer.services.draft_records import Attempt
from explorer.settings.prompt_templates import load_templates
from tests.ui.sessions import MemoryDocument

OUTPUT_LIMITS = {"provider/large": 4_000}
"""Tokens that a model can write at once."""


class Previewed:
    """What the panel asks of a document, over entries in memory."""

    def __init__(self, document: MemoryDocument) -> None:
        self.inner = document
        self.tree = document.tree
        self.payloads = document.payloads
        self.shared = SimpleNamespace(templates=load_templates())
        self.read_only = ""
        self.tokens = document.tokens

    @property
    def leaf(self) -> int:
        return self.inner.leaf

    @property
    def compaction(self) -> Previewed:
        return self

    def preview(
        self, at: int | None, profile: Profile, settings: Settings, cut: int | None = None
    ) -> Partition:
        leaf = self.leaf if at is None else at
        prepared = prepare(self.tree, leaf, profile, settings, weights=self.tokens.weights, cut=cut)
        return partition(prepared)

    def requests(
        self, shown: Partition, instructions: str = "", model: str | None = None
    ) -> list[SummaryRequest]:
        assert isinstance(shown.preparation, Preparation)
        return build_requests(
            shown.preparation,
            self.payloads.shown.entries,
            None,
            instructions,
            self.shared.templates,
            model_limit=OUTPUT_LIMITS.get(model or ""),
        )


@dataclass
class Written:
    """A finished draft."""

    summary: str
    model: str = "offline/extractive"
    instructions: str = ""
    elapsed_ms: float = 1200.0
    output_tokens: int = 321
    facts: Mapping[str, Any] = field(default_factory=dict)
    attempts: Sequence[Attempt] = ()
    short_summary: str = ""
    tokens_before: int = 0
    problem: str = ""
