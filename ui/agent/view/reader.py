"""Reading an item: its entry and the results of its calls, and nothing of what is too large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from explorer.audit.provenance import elapsed_known
from explorer.compaction.profile import PROFILES, Profile
from explorer.session.kinds import Flag, Kind
from explorer.session.payloads import Payloads
from explorer.session.tree import SessionTree
from ui.agent.view.calls import Answer, CallStates
from ui.agent.view.reading import ItemRead
from ui.inspector.blocks import Json
from ui.map.folds import fold_of

READ_AT_ONCE = 256 * 1024
"""Bytes of an entry that are read while the window waits; larger ones are read in a thread."""


class ShownDocument(Protocol):
    """What the conversation needs of an opened session."""

    @property
    def tree(self) -> SessionTree:
        """The tree; it grows while the document is open."""

    @property
    def payloads(self) -> Payloads:
        """The JSON of the entries; read from any thread."""

    @property
    def leaf(self) -> int:
        """The entry at the end of the active path, or -1."""

    def previews(self, indices: Sequence[int]) -> list[str]:
        """First lines of entries."""

    def made_here(self, index: int) -> bool:
        """Whether this program recorded an entry; what a file brought, it did not."""

    def weights_for(self, profile: Profile) -> Sequence[int] | None:
        """Tokens per entry by a tokenizer; None while the estimate stands in."""


def _is_large(document: ShownDocument, entry: int) -> bool:
    if not document.tree.columns.flags[entry] & Flag.LARGE:
        return False
    size: Any = getattr(document.payloads, "size", None)
    return size is None or size(entry) > READ_AT_ONCE


def read_item(
    document: ShownDocument,
    entry: int,
    results: Sequence[int],
    states: CallStates,
    *,
    whole: bool = False,
) -> ItemRead:
    """Read an entry with the results below it; ``whole`` reads large ones too.

    Raises what the payloads raise.
    """
    columns = document.tree.columns
    wanted = [at for at in (entry, *results) if whole or not _is_large(document, at)]
    loaded = dict(zip(wanted, document.payloads.entries(wanted), strict=True))
    missing = [at for at in (entry, *results) if at not in loaded]
    lines = dict(zip(missing, document.previews(missing), strict=True)) if missing else {}
    kind = Kind(columns.kind[entry])
    own = document.made_here(entry)
    took = 0.0
    if len(results) == 1 and columns.time[entry] and columns.time[results[0]]:
        took = (columns.time[results[0]] - columns.time[entry]) / 1000
    answers = []
    for at in results:
        answer = Answer.of(at, columns.flags[at], loaded.get(at), lines.get(at, ""))
        if at not in loaded:
            answer = replace(answer, tool=columns.tools[columns.tool[at]])
        answers.append(replace(answer, took_s=took, took_known=elapsed_known(own)))
    data = loaded.get(entry)
    if kind is Kind.ASSISTANT and data is not None:
        answers = _named(data, answers)
    return ItemRead(
        entry, kind, columns.flags[entry], data, lines.get(entry, ""), columns.time[entry],
        tuple(answers), _sizes(document, entry, kind), states, own,
    )  # fmt: skip


def _named(data: Json, answers: list[Answer]) -> list[Answer]:
    """Results that were not read belong to the calls that no other result names, in order."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    calls = [
        (str(block.get("id", "")), str(block.get("name", "")))
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]
    taken = {answer.call_id for answer in answers if answer.data is not None}
    open_calls = [call for call in calls if call[0] not in taken]
    found = []
    for answer in answers:
        if answer.data is None:
            fitting = [call for call in open_calls if call[1] == answer.tool]
            if fitting:
                open_calls.remove(fitting[0])
                answer = replace(answer, call_id=fitting[0][0])
        found.append(answer)
    return found


def _sizes(document: ShownDocument, entry: int, kind: Kind) -> tuple[int, int] | None:
    if kind is not Kind.COMPACTION:
        return None
    try:
        # As the map counts them.
        weights = document.weights_for(PROFILES["explorer"])
        fold = fold_of(document.tree, entry, weights)
    except KeyError:
        return None
    return fold.tokens_before, fold.tokens_after
