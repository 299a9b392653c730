"""The panel's sentences, as rich text with links to entries."""

from __future__ import annotations

import html
import re

from PySide6.QtGui import QKeySequence

from explorer.audit.provenance import sizes_known
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation, PreparationRefusal
from explorer.compaction.reasons import RATIO_REASON, ratio_text
from explorer.services.document import Document
from explorer.session.tree import SessionTree
from ui.audit.known import MARK
from ui.map.folds import compaction_sizes
from ui.widgets.figures import count, full, place, short

_ENTRY = re.compile(r"#(\d+)")
_TURN = re.compile(r"inside turn (\d+)")

_NEXT_STEPS = {
    "empty": "Say something first, or select an entry further down.",
    "just-compacted": "Go on with the session, or take the compaction back.",
    "no-cut": "Go on until there is a message to cut before.",
    "fits": "Lower “Keep recent” to compact all the same.",
    "nothing-before": "Choose a cut further down.",
    "not-a-cut": "Choose one of the marked places.",
}


def entry_links(text: str, but: int = -1) -> str:
    """Plain text as rich text, with every ``#871`` as a link ``entry:871``, ``but`` that of the
    entry that the text is about."""
    escaped = html.escape(text, quote=False)
    marked = _TURN.sub(r"<b>inside turn \1</b>", escaped)
    return _ENTRY.sub(
        lambda found: (
            found[0] if found[1] == str(but) else f'<a href="entry:{found[1]}">#{found[1]}</a>'
        ),
        marked,
    )


def plain_reason(shown: Partition, by_hand: bool) -> str:
    """Why the cut falls here, or why there is none and what to do."""
    prepared = shown.preparation
    if isinstance(prepared, PreparationRefusal):
        return f"{prepared.reason} {_NEXT_STEPS.get(prepared.code, '')}".strip()
    return prepared.reason


def reason_html(shown: Partition, by_hand: bool) -> str:
    """``plain_reason`` with links, and the way back from a cut chosen by hand."""
    text = entry_links(plain_reason(shown, by_hand))
    if by_hand:
        text += ' <a href="cut:auto">Back to the automatic cut</a>'
    return text


def place_words(at: int, leaf: int, selected: int) -> tuple[str, int, str]:
    """Where it is previewed, and the other place that a person may mean, which is the leaf, or from
    there the selected entry: its entry (-1: none), and what a link to it says."""
    if at != leaf:
        return f"Previewed at #{at}", leaf, f"at the leaf, #{leaf}, instead"
    if selected in (-1, leaf):
        return f"At the leaf, #{leaf}", -1, ""
    return f"At the leaf, #{leaf}", selected, f"preview at #{selected} instead"


_TELLING_RATIO = 0.05
"""What a provider counts for each token here, when it is off by less, is not said."""


def provider_words(shown: Partition) -> str:
    """What the provider reported of the same context; empty where it reported nothing."""
    reported, counted = shown.tokens_before, shown.context_estimate
    if not shown.preparation.tokens_source.startswith("provider") or reported == counted:
        return ""
    newer = shown.preparation.size.trailing_tokens
    whole = f"The provider counted {short(reported - newer)}"
    if newer:
        whole += f", {short(newer)} came since: {short(reported)}"
    if reported <= counted:
        return f"{whole}, {short(counted - reported)} less than here."
    words = f"{whole}, {short(reported - counted)} of it beyond the entries."
    ratio = shown.preparation.size.ratio
    if abs(ratio - 1) >= _TELLING_RATIO:
        words += f" It counts {MARK}{ratio_text(ratio)} for each token here."
    return words


def sum_words(shown: Partition, summary_tokens: int, *, guessed: bool = False) -> str:
    """What the context is after a compaction: ``kept 18.1k + summary ≈2.3k + 47.8k beyond the
    entries``. ``guessed``: the size of the summary is. Where the provider counts otherwise, or an
    earlier compaction put something back, less lies beyond than before: ``≈30k of the 47.8k``."""
    about = MARK if guessed else ""
    parts = [f"kept {short(shown.tokens_kept)}", f"summary {about}{short(summary_tokens)}"]
    if beyond := shown.beyond_with(summary_tokens):
        now = shown.tokens_beyond
        less = f" of the {short(now)}" if beyond < now else ""
        parts.append(f"{'' if beyond == now else MARK}{short(beyond)}{less} beyond the entries")
    return " + ".join(parts)


def beyond_words(shown: Partition) -> str:
    """Where the figures of an outcome come from, and what they leave out."""
    words = f"Tokens of the entries in the context, counted by the {shown.counted_by}."
    if shown.preparation.tokens_source.startswith("provider"):
        is_more = shown.tokens_before > shown.context_estimate
        how = "with the system prompt and the tools" if is_more else "by another tokenizer"
        words += (
            f" The provider counted {full(shown.tokens_before)} for the whole context, {how}; by "
            "that figure it is judged when a compaction is due. What was there from the start, "
            "such as "
            "the system prompt, stays; what one frees "
        )
        ratio = shown.preparation.size.ratio
        words += (
            "is counted here."
            if ratio == 1
            else (
                f"counts {MARK}{ratio_text(ratio)} for each token here, as the provider's figures "
                f"grew with the entries: {RATIO_REASON}."
            )
        )
    return words


def compacted_words(document: Document, compaction: int) -> str:
    """What a compaction that was just made here comes to: ``41.5k → ≈8.9k tokens``."""
    sizes = compaction_sizes(document, compaction)
    return f"{sizes.words(sizes_known(sizes.recorded, made_here=True))} tokens"


def is_possible(shown: Partition | None) -> bool:
    """Whether there is something to summarize."""
    return shown is not None and isinstance(shown.preparation, Preparation)


def price_text(
    tokens_in: int, tokens_out: int, price_in: float | None, price_out: float | None
) -> str:
    """What a call may cost: ``$0``, ``about $0.27``; empty where no price is known."""
    if price_in is None or price_out is None:
        return ""
    cost = tokens_in * price_in + tokens_out * price_out
    if cost == 0:
        return "$0"
    return f"about ${cost:.2f}" if cost >= 0.01 else "under $0.01"


def commit_words(at: int, leaf: int) -> str:
    """What the button says that commits a draft of an entry."""
    return "Co&mmit" if at == leaf else f"Go to #{at} and co&mmit"


def leaving_head(at: int, leaf: int) -> str:
    """That a commit leaves the leaf."""
    return f"This draft is of #{at}, and the leaf is {place(leaf)}: the commit goes there."


def leaving_words(tree: SessionTree, at: int, leaf: int) -> str:
    """What becomes of the leaf and of the messages since; empty for a draft of the leaf."""
    if at == leaf or at < 0:
        return ""
    head = leaving_head(at, leaf)
    key = QKeySequence(QKeySequence.StandardKey.Undo)
    native = key.toString(QKeySequence.SequenceFormat.NativeText)
    back = f"Undo ({native}) comes back to #{leaf}."
    if leaf < 0:
        return head
    ancestor = tree.common_ancestor(at, leaf)
    path = tree.path(leaf)
    behind = len(path) - path.position(ancestor) - 1
    if not behind:
        return f"{head} {back}"
    left = count(behind, "entry", "entries")
    stay, whose = ("stays", "its") if behind == 1 else ("stay", "their")
    return (
        f"{head} The {left} since #{ancestor} {stay} in the session, on a branch of {whose} own "
        f"that the model no longer sees. {back}"
    )
