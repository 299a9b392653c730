"""Where in a session the subject of a lesson occurs, found by name.

A finder looks at the leaf first, then before the compactions of the session, the newest first, and
last at smaller sizes of what is kept. It gives None where the session has no such place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from explorer.audit.provenance import Provenance
from explorer.compaction.branch_summaries import prepare_branch
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning
from explorer.compaction.reasons import tokens_text
from explorer.facts.instructions import standing_instructions
from explorer.formats.registry import adapter_of
from explorer.services.document import Document
from explorer.services.edits import pruning_of
from explorer.services.effective_rules import recorded_rules
from explorer.services.lessons.answer import Place, Situation, situation_at
from explorer.session.context import context_at
from explorer.session.kinds import Kind

Finder = Callable[[Document, Profile, Settings], Place | None]

MOST_COMPACTIONS = 20
"""Compactions that are looked before, the newest first."""
MOST_MESSAGES = 400
"""Messages of a user that are read for instructions, the oldest first."""
_SHARES = (2, 4, 8, 16, 32)
"""Of the context that is kept, where the sizes as they are set find nothing."""


def _by_tokens(profile: Profile, settings: Settings) -> tuple[Profile, Settings]:
    """Rules that cut by tokens and summarize a split turn apart: those in force, or the corrected
    ones."""
    if profile.cut_unit == "tokens" and profile.split == "two-summaries":
        return profile, settings
    corrected = PROFILES["explorer"]
    return corrected, replace(Settings.of(corrected), context_window=settings.context_window)


def _words(document: Document, at: int, before: int = -1, kept: int = 0) -> str:
    """Where a place is, in a sentence."""
    where = f"at its leaf, #{at}" if at == document.leaf else f"at #{at}"
    if before >= 0:
        where = f"at #{at}, before its compaction #{before}"
    size = f", with {tokens_text(kept)} tokens to keep" if kept else ""
    return f"In this session {where}{size}."


def _ends(document: Document) -> Iterator[tuple[int, int]]:
    """The places to look at, each with the compaction that followed there or -1."""
    yield document.leaf, -1
    tree = document.tree
    for entry in sorted(tree.columns.compactions, reverse=True)[:MOST_COMPACTIONS]:
        if tree.columns.parent[entry] >= 0:
            yield tree.columns.parent[entry], entry


def situations(document: Document, profile: Profile, settings: Settings) -> Iterator[Situation]:
    """Situations in which a compaction can be done, those as they are set first."""
    profile, settings = _by_tokens(profile, settings)
    ends = list(_ends(document))
    for at, before in ends:
        place = Place(at, profile, settings, _words(document, at, before))
        now = situation_at(document, place)
        if isinstance(now.shown.preparation, Preparation):
            yield now
    for at, before in ends:
        size = situation_at(document, Place(at, profile, settings, "")).shown.context_estimate
        for share in _SHARES:
            kept = max(1, size // share)
            sizes = replace(settings, keep_recent_tokens=kept)
            place = Place(at, profile, sizes, _words(document, at, before, kept))
            now = situation_at(document, place)
            if isinstance(now.shown.preparation, Preparation):
                yield now


def _first(
    fits: Callable[[Situation], bool],
) -> Finder:
    def find(document: Document, profile: Profile, settings: Settings) -> Place | None:
        found = (now for now in situations(document, profile, settings) if fits(now))
        return next((now.place for now in found), None)

    return find


def find_any(document: Document, profile: Profile, settings: Settings) -> Place | None:
    """The leaf, where the model is sent anything."""
    at = document.leaf
    if at < 0 or not context_at(document.tree, at).messages:
        return None
    return Place(at, profile, settings, _words(document, at))


def find_branched(document: Document, profile: Profile, settings: Settings) -> Place | None:
    """The leaf of a session with several branches."""
    is_branched = len(document.tree.branch_ends(document.leaf)) > 1
    return find_any(document, profile, settings) if is_branched else None


def _has_history(now: Situation) -> bool:
    return bool(now.made.history)


def _is_split(now: Situation) -> bool:
    """A split turn, and a cut elsewhere that splits none."""
    return bool(now.made.turn_prefix and now.whole_cuts)


def _is_first(now: Situation) -> bool:
    return _has_history(now) and now.made.previous_compaction < 0


def _is_update(now: Situation) -> bool:
    return _has_history(now) and now.made.previous_compaction >= 0


def find_left_branch(document: Document, profile: Profile, settings: Settings) -> Place | None:
    """A branch that was left with a summary; else one that could be left from the leaf."""
    tree = document.tree
    for summary in sorted(tree.columns.branches, reverse=True):
        left = tree.index_above(tree.columns.branches[summary].from_id, summary)
        target = tree.columns.parent[summary]
        if left >= 0 and prepare_branch(tree, left, target, profile, settings).messages:
            # Its target, which is mostly where the branches part, is for the pupil to find.
            on = document.leaf
            if summary not in tree.path(on):
                on = tree.deepest_leaf(summary)
            sentence = (
                f"In this session, where the branch up to #{left} was left and the work went on "
                f"towards #{on}."
            )
            return Place(left, profile, settings, sentence, target)
    for other in sorted(tree.leaves(), reverse=True):
        prepared = prepare_branch(tree, document.leaf, other, profile, settings)
        if prepared.messages and prepared.common_ancestor >= 0:
            sentence = f"In this session, as if you left its leaf #{document.leaf} for #{other}."
            return Place(document.leaf, profile, settings, sentence, other)
    return None


def find_prunable(document: Document, profile: Profile, settings: Settings) -> Place | None:
    """A place with tool results that could give way to notes."""
    usual = pruning_of(profile)
    for share in (1, 4, 16, 64):
        protected = usual.protect_tokens // share
        policy = usual
        if share > 1:
            policy = replace(usual, protect_tokens=protected, minimum_savings=0)
        for at, before in _ends(document):
            if at >= 0 and _prunes(document, at, policy, profile):
                sentence = _words(document, at, before)
                if share > 1:
                    size = tokens_text(protected)
                    sentence = f"{sentence[:-1]}, with the newest {size} tokens protected."
                return Place(at, profile, settings, sentence, pruning=policy)
    return None


def _prunes(document: Document, at: int, policy: Pruning, profile: Profile) -> bool:
    weights = document.tokens.weights_for(profile)
    plan = plan_pruning(document.tree, at, policy, weights=weights)
    return bool(plan.results)


def find_instruction(document: Document, profile: Profile, settings: Settings) -> Place | None:
    """A compaction that summarizes a standing instruction of the user's. Reads entries."""
    known: dict[int, bool] = {}
    for now in situations(document, profile, settings):
        for entry in instructions_in(now, known):
            return replace(now.place, instruction=entry)
    return None


def instructions_in(now: Situation, known: dict[int, bool] | None = None) -> list[int]:
    """The entries among those to be summarized that hold a standing instruction of the user's.
    ``known``: what was read before. Reads entries: for a worker thread."""
    memory = {} if known is None else known
    kinds = now.tree.columns.kind
    summarized = [*now.made.history, *now.made.turn_prefix]
    users = [entry for entry in summarized if kinds[entry] == Kind.USER][:MOST_MESSAGES]
    for entry in users:
        if entry not in memory:
            text = now.document.payloads.shown.entry(entry).text
            memory[entry] = any(True for _ in standing_instructions(text))
    return [entry for entry in users if memory[entry]]


def rules_sentence(document: Document, profile: Profile) -> str:
    """Whose rules a lesson goes by, where they are not those of the agent that wrote the session;
    else nothing."""
    form, recorded = document.header.format, recorded_rules(document)
    if not recorded.is_own:
        return (
            f"{adapter_of(form).title} does not record its rules; the lesson goes by those of the "
            f"profile {profile.title}."
        )
    is_sure = recorded.known.provenance is Provenance.EXACT and not document.writer.made_here(0)
    if is_sure and recorded.profile.name != profile.name:
        return (
            f"{recorded.profile.title} wrote it; the lesson goes by the rules of the profile "
            f"{profile.title}."
        )
    return ""


PLACES: dict[str, Finder] = {
    "any": find_any,
    "branched": find_branched,
    "compaction": _first(_has_history),
    "split-turn": _first(_is_split),
    "first-summary": _first(_is_first),
    "update": _first(_is_update),
    "left-branch": find_left_branch,
    "prunable": find_prunable,
    "instruction": find_instruction,
}
"""The finders by the names that lessons use."""


def find_place(document: Document, name: str, profile: Profile, settings: Settings) -> Place | None:
    """The first place of a session where a subject occurs, or None. Reads entries: for a worker
    thread. Raises KeyError for a name that is not in ``PLACES``."""
    return PLACES[name](document, profile, settings)
