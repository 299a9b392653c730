"""Which entry of a play stands for which of the recording, for what names entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.session.edit_entries import ShapeFacts, shape_data
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree

_PAIRED = (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT)


class Twins:
    """Ids of the recording with the ids of their twins in the play."""

    def __init__(self, recorded: SessionTree, played: SessionTree) -> None:
        self._recorded, self._played = recorded, played
        self._found: dict[str, str] = {}

    def copied(self, entry: int, twin: int) -> None:
        """An entry was taken over as it is."""
        self._found[self._recorded.columns.ids[entry]] = self._played.columns.ids[twin]

    def played(self, entries: Sequence[int], made: Sequence[int]) -> None:
        """Messages of the recording were played, in order, and these entries came of it: paired
        kind by kind, as far as both go."""
        for kind in _PAIRED:
            ours = [at for at in entries if self._recorded.columns.kind[at] == kind]
            theirs = [at for at in made if self._played.columns.kind[at] == kind]
            for entry, twin in zip(ours, theirs, strict=False):
                self.copied(entry, twin)

    def shape(self, facts: ShapeFacts) -> dict[str, Any] | None:
        """The data of a pin, an omission or a rule that says the same of the play; None where
        nothing of what it names was played."""
        known: Mapping[str, str] = self._found
        twin = facts._replace(
            entries=tuple((known[name], tokens) for name, tokens in facts.entries if name in known),
            lifts=tuple(known[name] for name in facts.lifts if name in known),
            undoes=known.get(facts.undoes, ""),
        )
        says = twin.entries or twin.lifts or twin.undoes or twin.tokens >= 0
        return shape_data(twin) if says else None
