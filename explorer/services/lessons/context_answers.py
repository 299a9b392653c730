"""Answers on what the model sees, who counts it, and when that is too much."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.compaction.context_size import ContextSize, context_size
from explorer.compaction.reasons import count_text, tokens_text
from explorer.compaction.triggers import fitted, limit_of, reserve_of, should_compact
from explorer.services.lessons.answer import Answer, size_of
from explorer.services.lessons.situation import NoAnswer, Situation
from explorer.session.context import sent_tokens
from explorer.session.kinds import CONTEXT_KINDS


def size_at(now: Situation) -> ContextSize:
    """The context's size: the number that is shown, and that triggers."""
    profile = now.place.profile
    weights = now.document.tokens.weights_for(profile)
    return context_size(now.tree, now.context, profile, weights)


def path_entries(now: Situation) -> Answer:
    """How many entries the path to the leaf has."""
    path, tree = now.shown.path, now.tree
    leaves = count_text(len(tree.leaves()), "branch")
    if len(tree.leaves()) > 1:
        leaves = f"{len(tree.leaves()):,} branches"
    return Answer(
        f"The session has {count_text(len(tree), 'entry')} on {leaves}. Followed from "
        f"#{now.place.at} from parent to parent, the path to the first entry has {len(path):,}.",
        number=len(path),
        unit="entries",
    )


def unseen_entries(now: Situation) -> Answer:
    """Messages of the session that the model is not sent; of other branches first."""
    seen, path = set(now.context.messages), now.shown.path
    kinds = now.tree.columns.kind
    messages = [entry for entry in range(len(now.tree)) if kinds[entry] in CONTEXT_KINDS]
    unseen = [entry for entry in messages if entry not in seen]
    if not unseen:
        raise NoAnswer("The model is sent every message of this session.")
    apart = [entry for entry in unseen if entry not in path]
    reason = (
        f"The model is not sent the {count_text(len(apart), 'message')} on other branches, and of "
        "its own path nothing that was summarized, left out or never meant for it."
    )
    ordered = (*reversed(apart), *(entry for entry in reversed(unseen) if entry in path))
    return Answer(
        reason,
        entries=ordered,
        explain=lambda entry: f"#{entry} is {'sent' if entry in seen else 'no message'}.",
    )


def sent_messages(now: Situation) -> Answer:
    """How many messages the model is sent."""
    context = now.context
    words = f"#{now.place.at} is sent {count_text(len(context.messages), 'message')}"
    if context.compaction >= 0:
        words += (
            f": first the summary of compaction #{context.compaction}, which stands for all that "
            "it summarized, then what was kept and said since"
        )
    return Answer(
        f"A path of {count_text(len(context.path), 'entry')}. A model that answers after {words}.",
        number=len(context.messages),
        unit="messages",
    )


def token_source(now: Situation) -> Answer:
    """The counter of the size that the gauge shows: provider, tokenizer or estimate."""
    size = size_at(now)
    is_reported = size.source.startswith("provider")
    chosen = {"provider"} if is_reported else set[str]()
    if not is_reported or size.trailing_tokens:
        measured = now.document.tokens.weights_for(now.place.profile) is not None
        chosen.add("tokenizer" if measured else "estimate")
    reason = f"{size.shown:,} tokens, counted by: {size.source}."
    if is_reported:
        reason += (
            f" The provider reported {size.usage_tokens:,} with its last reply, the system prompt "
            "and the tools among them; what came after that is counted here."
        )
    else:
        reason += " No provider has counted this context yet, so it is counted here."
        if size.beyond:
            reason += f" {size.beyond:,} are expected beyond the entries."
    return Answer(reason, chosen=frozenset(chosen))


def _entry_weights(now: Situation) -> dict[int, int]:
    """What each entry of the context takes, as the map shows it."""
    document, profile = now.document, now.place.profile
    return {
        entry: sent_tokens(now.context, entry, document.tokens.entry_tokens(entry, profile))
        for entry in now.context.messages
    }


def heaviest_entry(now: Situation) -> Answer:
    """The message of the context that takes the most tokens."""
    weights = _entry_weights(now)
    if not weights:
        raise NoAnswer("The model is sent nothing here.")
    most = max(weights.values())
    heaviest = tuple(entry for entry, tokens in weights.items() if tokens == most)
    return Answer(
        f"#{heaviest[0]} takes {most:,} tokens.",
        entries=heaviest,
        explain=lambda entry: (
            f"#{entry} takes {size_of(now, entry)}."
            if entry in weights
            else f"#{entry} is not sent here."
        ),
    )


def entries_tokens(now: Situation) -> Answer:
    """What the entries of the context take together, as the map shows them."""
    entries, shown = sum(_entry_weights(now).values()), size_at(now).shown
    reason = f"The entries of the context of #{now.place.at} take {entries:,} tokens. "
    if shown > entries:
        reason += (
            f"{entries:,} + {shown - entries:,} beyond them, such as the system prompt and the "
            f"tools, = {shown:,}, which the gauge shows."
        )
    elif shown < entries:
        reason += (
            f"{entries:,} − {entries - shown:,} that the provider counts less = {shown:,}, which "
            "the gauge shows."
        )
    else:
        reason += "The gauge shows the same."
    return Answer(reason, number=entries)


def threshold(now: Situation) -> Answer:
    """The size above which a compaction is due."""
    profile, settings = now.place.profile, fitted(now.place.profile, now.place.settings)
    limit = max(0, limit_of(profile, settings))
    reserve = reserve_of(profile, settings)
    reason = f"Compaction is due above {limit:,} tokens"
    if profile.threshold_tokens > 0 or profile.threshold_percent > 0:
        reason += f", as the profile {profile.title} sets it for a window of "
        reason += f"{settings.context_window:,}."
    else:
        reason += f": the window of {settings.context_window:,} less the reserve of {reserve:,}."
    return Answer(reason, number=limit)


def is_due_in_half(now: Situation) -> Answer:
    """Whether a compaction would be due in a window of half the size: yes or no."""
    profile, place = now.place.profile, now.place
    half = replace(place.settings, context_window=place.settings.context_window // 2)
    settings = fitted(profile, half)
    tokens, limit = size_at(now).tokens, max(0, limit_of(profile, settings))
    compared = "more than" if tokens > limit else "not more than"
    reason = (
        f"In a window of {settings.context_window:,} tokens the threshold lies at {limit:,}. The "
        f"context has {tokens:,}, {compared} that."
    )
    if not profile.enabled:
        reason += f" And {profile.title} never compacts without being asked."
    due = should_compact(tokens, profile, settings)
    return Answer(reason, chosen=frozenset({"yes" if due else "no"}))


def room_left(now: Situation) -> Answer:
    """How many tokens are left below the threshold."""
    settings = fitted(now.place.profile, now.place.settings)
    limit = max(0, limit_of(now.place.profile, settings))
    tokens = size_at(now).tokens
    return Answer(
        f"Up to the threshold of {limit:,} tokens there are {max(0, limit - tokens):,} left: the "
        f"context has {tokens:,}. That is {tokens_text(limit)} less {tokens_text(tokens)}.",
        number=max(0, limit - tokens),
    )
