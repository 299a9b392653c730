"""What the inspector needs of a document, and the figures that it takes from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from explorer.session.payloads import Payloads
from explorer.session.tree import SessionTree


class InspectedDocument(Protocol):
    """An opened session."""

    @property
    def tree(self) -> SessionTree:
        """The tree; it grows while the document is open."""

    @property
    def payloads(self) -> Payloads:
        """The entries; read from any thread."""

    @property
    def weights(self) -> Sequence[int] | None:
        """Tokens per entry by a tokenizer, negative where not counted; None before any are."""

    def made_here(self, index: int) -> bool:
        """Whether this program recorded an entry; what a file brought, it did not."""


def entry_tokens(document: InspectedDocument, index: int) -> tuple[int, str]:
    """Tokens of one entry and who counted them."""
    weights = document.weights
    if weights is not None and index < len(weights) and weights[index] >= 0:
        return weights[index], "tokenizer"
    return document.tree.columns.estimate[index], "estimate"
