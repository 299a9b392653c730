"""What the compaction panel needs of a document, a draft and a model; it knows no more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from explorer.compaction.partition import Partition
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest
from explorer.session.payloads import Payloads
from explorer.session.tree import SessionTree


class Previews(Protocol):
    """Compactions of a session, before they are made."""

    def preview(
        self, at: int | None, profile: Profile, settings: Settings, cut: int | None = None
    ) -> Partition:
        """What a compaction at an entry (None: the leaf) would do; pure and instant."""

    def requests(
        self, shown: Partition, instructions: str = "", model: str | None = None
    ) -> list[SummaryRequest]:
        """The exact requests to a model; reads payloads, and is called from a worker thread."""


class CompactionDocument(Protocol):
    """An opened session that can be compacted."""

    @property
    def tree(self) -> SessionTree:
        """The tree; it grows while the document is open."""

    @property
    def payloads(self) -> Payloads:
        """The entries; read from any thread."""

    @property
    def leaf(self) -> int:
        """The entry at which the session goes on, or -1."""

    @property
    def weights(self) -> Sequence[int] | None:
        """Tokens per entry by a tokenizer, or None before they are counted."""

    def count_text(self, text: str, profile: Profile) -> int:
        """Tokens of a text, counted as the entries are under a profile."""

    @property
    def compaction(self) -> Previews:
        """Previews and requests of compactions."""


class Usage(Protocol):
    """Tokens as a provider reported them."""

    @property
    def input(self) -> int:
        """Read."""

    @property
    def output(self) -> int:
        """Written."""


class SummaryCall(Protocol):
    """One call to a summarizer."""

    @property
    def purpose(self) -> str:
        """What was asked for."""

    @property
    def why(self) -> str:
        """Why the call was made."""

    @property
    def model(self) -> str:
        """Who was asked."""

    @property
    def window(self) -> int:
        """Which part of a long conversation, from 1; 0 for all of it."""

    @property
    def usage(self) -> Usage | None:
        """Tokens, where they were reported."""

    @property
    def elapsed_ms(self) -> float:
        """How long it took."""

    @property
    def waited_s(self) -> float:
        """How long was waited before it."""

    @property
    def problem(self) -> str:
        """Why the answer was not taken; empty when it was."""


class ShownDraft(Protocol):
    """A finished draft, as the panel shows it."""

    @property
    def summary(self) -> str:
        """What would be stored."""

    @property
    def model(self) -> str:
        """Which model wrote it."""

    @property
    def instructions(self) -> str:
        """What the person added to the prompt."""

    @property
    def elapsed_ms(self) -> float:
        """How long it took."""

    @property
    def output_tokens(self) -> int:
        """Tokens written, as far as they were reported."""

    @property
    def tokens_before(self) -> int:
        """Tokens of the context when it was prepared."""

    @property
    def problem(self) -> str:
        """Why it cannot be committed; empty when it can."""

    @property
    def attempts(self) -> Sequence[SummaryCall]:
        """Every call that was made for it."""

    @property
    def short_summary(self) -> str:
        """Two or three sentences for display; empty for none."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What else was recorded: what extensions did, among it."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can write the summary. Prices in dollars per token, None where unknown."""

    id: str
    label: str
    input_price: float | None = None
    output_price: float | None = None
