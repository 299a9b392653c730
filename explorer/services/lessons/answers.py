"""The answers by the names that lessons use."""

from __future__ import annotations

from collections.abc import Callable

from explorer.services.lessons import context_answers as context
from explorer.services.lessons import summary_answers as summary
from explorer.services.lessons.answer import Answer, KnownAnswer, Situation
from explorer.services.lessons.lesson import Kind


def _known(
    find: Callable[[Situation], Answer], *kinds: Kind, ids: tuple[str, ...] = ()
) -> tuple[str, KnownAnswer]:
    about = (find.__doc__ or "").strip().partition("\n")[0]
    return find.__name__, KnownAnswer(find, kinds, about, ids)


ANSWERS: dict[str, KnownAnswer] = dict(
    [
        _known(context.path_entries, "number"),
        _known(context.unseen_entries, "entry"),
        _known(context.sent_messages, "number"),
        _known(context.token_source, "choose", ids=("provider", "tokenizer", "estimate")),
        _known(context.heaviest_entry, "entry"),
        _known(context.entries_tokens, "number"),
        _known(context.threshold, "number"),
        _known(context.is_due_in_half, "choose", ids=("yes", "no")),
        _known(context.room_left, "number"),
        _known(context.cut_entry, "entry", "cut"),
        _known(context.cut_of_half, "entry"),
        _known(context.walk_reached, "entry"),
        _known(context.tokens_summarized, "number"),
        _known(context.valid_cuts, "entry", "cut"),
        _known(context.forbidden_cuts, "entry"),
        _known(context.valid_cut_count, "number"),
        _known(context.split_turn, "choose", ids=("split", "whole")),
        _known(context.turn_start, "entry"),
        _known(context.prefix_tokens, "number"),
        _known(context.unsplit_cuts, "cut", "entry"),
        _known(summary.request_count, "number"),
        _known(summary.request_parts, "choose", ids=("conversation", "previous-summary", "kept")),
        _known(summary.newest_asked, "entry"),
        _known(summary.common_ancestor, "entry"),
        _known(summary.left_entries, "number"),
        _known(summary.summary_parent, "entry"),
        _known(summary.pruned_results, "entry"),
        _known(summary.pruned_saved, "number"),
        _known(summary.pruned_count, "number"),
        _known(summary.lost_instructions, "entry"),
        _known(summary.keeps_words, "choose", ids=("pin", "cut", "instruction")),
        _known(summary.pins_cost, "number"),
        _known(summary.cuts_by_profile, "choose"),
        _known(summary.keeps_most, "choose"),
        _known(summary.due_by_profile, "choose"),
    ]
)
