"""A few sentences about a compaction for whoever looks at the map (A25).

They are shown and never sent to a model again, so nothing depends on them.
"""

from __future__ import annotations

import re

from explorer.compaction.conversation import EntryReader, read_conversation
from explorer.compaction.folding import newest_within
from explorer.compaction.prepare import Preparation
from explorer.compaction.serialize import Serialized
from explorer.compaction.wording import Templates

MOST_SENTENCES = 3
MOST_CHARACTERS = 600
_MARKUP = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+.*|[-*+][ \t]+|\d{1,2}[.)][ \t]+|>[ \t]*)", re.MULTILINE
)
_TAG = re.compile(r"</?[a-z][a-z-]*>", re.IGNORECASE)
_SENTENCE = re.compile(r".+?(?:[.!?][\"')\]]*(?=\s|\Z)|\Z)", re.DOTALL)


def recent_messages(
    preparation: Preparation, entries: EntryReader, templates: Templates
) -> Serialized | None:
    """The messages that the compaction keeps, the newest of them up to the tokens that count as
    recent; None when it keeps nothing that is told."""
    view = preparation.cuts.view
    kept = view.entries(preparation.cut, len(view), view.sent)
    read = read_conversation(kept, entries, templates, preparation.profile)
    if not read.text:
        return None
    return newest_within(read, max(1, preparation.settings.keep_recent_tokens))


def tidy_short(answer: str) -> str:
    """An answer as it is shown: one paragraph of at most three sentences, without markup; empty
    when nothing is left of it."""
    plain = " ".join(_MARKUP.sub("", _TAG.sub("", answer)).replace("**", "").split())
    sentences = [found.strip() for found in _SENTENCE.findall(plain) if found.strip()]
    text = " ".join(sentences[:MOST_SENTENCES]).strip("\"'")
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[: MOST_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
