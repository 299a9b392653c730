"""Entries, read and told as one text with the entry behind every piece of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.compaction.convert import entry_to_llm
from explorer.compaction.profile import Profile
from explorer.compaction.serialize import Serialized, serialize
from explorer.compaction.wording import Templates

EntryReader = Callable[[Sequence[int]], Sequence[Mapping[str, Any]]]
"""Gives the JSON of entries by index, in the order asked for."""


def read_conversation(
    wanted: Sequence[int], entries: EntryReader, templates: Templates, profile: Profile
) -> Serialized:
    """Entries, read and serialized; what is never sent says nothing."""
    if not wanted:
        return Serialized("", [])
    worded = templates.worded(profile)
    messages = (entry_to_llm(entry, worded) for entry in entries(wanted))
    return serialize(
        ((index, sent) for index, sent in zip(wanted, messages, strict=True) if sent is not None),
        profile,
    )
