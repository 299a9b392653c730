"""Answers on what the summarizer is asked, branches, pruning, losses, and other systems."""

from __future__ import annotations

from collections.abc import Callable

from explorer.compaction.branch_summaries import BranchPreparation, prepare_branch
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES
from explorer.compaction.profile_comparison import ProfileOutcome
from explorer.compaction.pruning import PruningPlan, plan_pruning
from explorer.compaction.reasons import count_text, tokens_text
from explorer.compaction.requests import SummaryRequest
from explorer.services.edits import pruning_of
from explorer.services.lessons.answer import Answer, NoAnswer, Situation, verdict_of
from explorer.services.lessons.places import instructions_in
from explorer.session.kinds import Kind

PURPOSES = {
    "history": "the history", "turn_prefix": "the first part of the split turn",
    "short": "a few sentences for lists",
}  # fmt: skip


# what the summarizer is asked ---------------------------------------------------------------------


def _requests(now: Situation) -> list[SummaryRequest]:
    """The exact requests. Raises NoAnswer where nothing can be compacted."""
    assert now.made.path
    return now.document.compaction.requests(now.shown)


def request_count(now: Situation) -> Answer:
    """How many requests the compaction sends."""
    requests = _requests(now)
    listed = ", ".join(PURPOSES.get(one.purpose, one.purpose) for one in requests)
    return Answer(
        f"{count_text(len(requests), 'request').capitalize()}: {listed}. They do not depend on "
        "one another and can be sent at the same time.",
        number=len(requests),
        unit="requests" if len(requests) != 1 else "request",
    )


def request_parts(now: Situation) -> Answer:
    """What the first request holds: conversation, previous summary, kept messages."""
    requests = _requests(now)
    if not requests:
        raise NoAnswer("Nothing would be asked here.")
    first, made = requests[0], now.made
    read = {span.entry for span in first.sources}
    chosen = set[str]()
    if read & set(made.history) or read & set(made.turn_prefix):
        chosen.add("conversation")
    if first.material is not None and first.material.previous:
        chosen.add("previous-summary")
    # The previous summary may stand among what is kept; it is no entry that is kept.
    kept = {made.path[at] for at in range(made.cut, len(made.path))} - {made.previous_compaction}
    if read & kept:
        chosen.add("kept")
    summarized = count_text(len(made.history), "entry")
    reason = f"It holds {summarized} as text, each with its role, and the words that ask"
    if "previous-summary" in chosen:
        reason += (
            f"; and the summary of #{made.previous_compaction}, which is to be brought up to date "
            "rather than written anew"
        )
    else:
        reason += "; there is no earlier summary, so the first one is asked for"
    reason += f". Of the {len(kept):,} kept entries it holds "
    reason += f"{len(read & kept):,}: they stay in the context as they are."
    return Answer(reason, chosen=frozenset(chosen))


def newest_asked(now: Situation) -> Answer:
    """The newest entry that the summarizer reads."""
    requests = [one for one in _requests(now) if one.purpose != "short"]
    made = now.made
    read = {span.entry for one in requests for span in one.sources}
    read -= {-1, made.previous_compaction}
    if not read:
        raise NoAnswer("The summarizer would read nothing here.")
    newest = max(read)
    return Answer(
        f"#{newest} is the last entry before the cut that says anything. From #{made.first_kept} "
        "on all is kept, and the summarizer is not shown it.",
        entries=(newest,),
        explain=lambda entry: verdict_of(now, entry),
    )


# branches -----------------------------------------------------------------------------------------


def _branch(now: Situation) -> BranchPreparation:
    place = now.place
    if place.target < 0:
        raise NoAnswer("No branch is left at this place.")
    return prepare_branch(now.tree, place.at, place.target, place.profile, place.settings)


def common_ancestor(now: Situation) -> Answer:
    """The deepest entry that the abandoned branch shares with the target branch."""
    prepared = _branch(now)
    ancestor = prepared.common_ancestor
    if ancestor < 0:
        raise NoAnswer("The two branches share nothing.")
    return Answer(
        f"The two paths, that to #{prepared.old_leaf} and that on which the work went on, are the "
        f"same up to #{ancestor}, and part there.",
        entries=(ancestor,),
        explain=lambda entry: _shared(now, prepared, entry),
    )


def _shared(now: Situation, prepared: BranchPreparation, entry: int) -> str:
    on_old = entry in now.tree.path(prepared.old_leaf)
    on_new = entry in now.tree.path(prepared.target)
    if on_old and on_new:
        return f"#{entry} is on both paths, but a deeper entry is too."
    if on_old or on_new:
        return f"#{entry} is on one of the two paths only."
    return f"#{entry} is on neither path."


def left_entries(now: Situation) -> Answer:
    """How many entries are left behind."""
    prepared = _branch(now)
    messages = count_text(len(prepared.messages), "message")
    return Answer(
        f"{count_text(len(prepared.entries), 'entry').capitalize()} below #"
        f"{prepared.common_ancestor} are left; {messages} of them go to the summarizer, "
        f"{tokens_text(prepared.total_tokens)} tokens. Tool results do not: what was found out "
        "stands in the replies.",
        number=len(prepared.entries),
        unit="entries",
    )


def summary_parent(now: Situation) -> Answer:
    """The entry below which the summary of the branch is put."""
    prepared = _branch(now)
    return Answer(
        f"The summary becomes a child of #{prepared.target}, where the work goes on: the model "
        f"reads there what was tried up to #{prepared.old_leaf}.",
        entries=(prepared.target,),
        explain=lambda entry: _shared(now, prepared, entry),
    )


# pruning ------------------------------------------------------------------------------------------


def _plan(now: Situation) -> PruningPlan:
    place = now.place
    policy = place.pruning or pruning_of(place.profile)
    weights = now.document.tokens.weights_for(place.profile)
    plan = plan_pruning(now.tree, place.at, policy, weights=weights)
    if not plan.results:
        raise NoAnswer(plan.reason)
    return plan


def pruned_results(now: Situation) -> Answer:
    """Tool results that would give way to a note."""
    plan = _plan(now)
    by_entry = {result.entry: result for result in plan.results}
    first = plan.results[0]

    def explain(entry: int) -> str:
        if found := by_entry.get(entry):
            return f"{found.reason} It saves {found.saved:,} tokens."
        if now.tree.columns.kind[entry] != Kind.TOOL_RESULT:
            return f"#{entry} is no tool result; nothing else is pruned."
        return f"#{entry} stays: it is protected, too small, or the newest word on its file."

    return Answer(
        f"The first to go is #{first.entry}. {first.reason}",
        entries=tuple(by_entry),
        explain=explain,
    )


def pruned_saved(now: Situation) -> Answer:
    """How many tokens pruning saves."""
    plan = _plan(now)
    return Answer(
        f"{count_text(len(plan.results), 'result')} with their notes in their place save "
        f"{plan.saved:,} tokens, and no model was asked. The session keeps every result whole.",
        number=plan.saved,
    )


def pruned_count(now: Situation) -> Answer:
    """How many tool results would give way to a note."""
    plan = _plan(now)
    return Answer(plan.reason, number=len(plan.results), unit="results")


# what gets lost -----------------------------------------------------------------------------------


def lost_instructions(now: Situation) -> Answer:
    """Entries with a standing instruction of the user's that are summarized. Reads entries."""
    found = instructions_in(now)
    if not found:
        raise NoAnswer("No standing instruction of the user's would be summarized here.")
    shown = now.place.instruction if now.place.instruction in found else found[0]
    return Answer(
        f"#{shown} holds an instruction that is to last, and lies before the cut. "
        f"{count_text(len(found), 'such entry').capitalize()} would be in the summary's words "
        "alone from then on.",
        entries=(shown, *(entry for entry in found if entry != shown)),
        explain=lambda entry: verdict_of(now, entry),
    )


def _instruction(now: Situation) -> int:
    entry = now.place.instruction
    if entry < 0:
        found = instructions_in(now)
        if not found:
            raise NoAnswer("No standing instruction of the user's would be summarized here.")
        entry = found[0]
    return entry


def keeps_words(now: Situation) -> Answer:
    """What keeps an instruction word for word: pin, cut, instruction."""
    entry, made = _instruction(now), now.made
    position = made.path.position(entry)
    above = [at for at in now.shown.valid_cuts if at <= position]
    chosen = {"pin"}
    reason = f"A pin repeats #{entry} after every summary, word for word. "
    place = now.place
    shown = now.document.compaction.preview(
        place.at, place.profile, place.settings, above[-1] if above else -1
    )
    if isinstance(shown.preparation, Preparation):
        chosen.add("cut")
        view = made.cuts.view
        tokens = view.weight(above[-1], len(view))
        reason += (
            f"So does a cut at #{made.path[above[-1]]} or above, for this one time: it keeps "
            f"{tokens:,} tokens instead of {view.weight(made.cut, len(view)):,}. "
        )
    else:
        reason += "With a cut above it nothing would be left to summarize. "
    reason += (
        "An instruction to the summarizer asks for it in its own words, which it may follow or not."
    )
    return Answer(reason, chosen=frozenset(chosen), show=entry)


def pins_cost(now: Situation) -> Answer:
    """How many tokens the user's messages that are summarized take, were they pinned instead."""
    kinds, made = now.tree.columns.kind, now.made
    found = [at for at in (*made.history, *made.turn_prefix) if kinds[at] == Kind.USER]
    if not found:
        raise NoAnswer("No message of the user's would be summarized here.")
    sizes = [now.document.tokens.entry_tokens(entry, now.place.profile) for entry in found]
    return Answer(
        f"{count_text(len(found), 'message').capitalize()} of the user's would be summarized, of "
        f"{min(sizes):,} to {max(sizes):,} tokens, each with a line above it that says where it is "
        "from. After this compaction the entries of the context take about "
        f"{now.shown.tokens_after_estimate:,}.",
        number=sum(sizes),
    )


# five systems -------------------------------------------------------------------------------------


def _outcomes(now: Situation) -> list[ProfileOutcome]:
    window = now.place.settings.context_window
    return now.document.compaction.compare(now.place.at, PROFILES.values(), window)


def _options(outcomes: list[ProfileOutcome]) -> tuple[tuple[str, str], ...]:
    return tuple((one.profile.name, one.profile.title) for one in outcomes)


NONE = "none"
_NONE = (NONE, "None of them")


def _each(outcomes: list[ProfileOutcome], what: Callable[[ProfileOutcome], str]) -> str:
    return "; ".join(
        f"{one.profile.title}: {what(one)}"
        if one.compacts
        else f"{one.profile.title}: nothing to compact"
        for one in outcomes
    )


def cuts_by_profile(now: Situation) -> Answer:
    """Which systems cut at the same entry as the rules of the lesson."""
    outcomes, mine = _outcomes(now), now.made
    same = [one.profile for one in outcomes if one.first_kept == mine.first_kept]
    with_it = ", ".join(profile.title for profile in same) or "none of them"
    return Answer(
        f"Here the cut falls before #{mine.first_kept}; there too: {with_it}.",
        chosen=frozenset(profile.name for profile in same) or frozenset({NONE}),
        options=(*_options(outcomes), _NONE),
        show=mine.first_kept,
    )


def keeps_most(now: Situation) -> Answer:
    """Which systems keep the most tokens in place."""
    outcomes = [one for one in _outcomes(now) if one.compacts]
    if not outcomes:
        raise NoAnswer("None of the systems would compact here.")
    most = max(one.shown.tokens_kept for one in outcomes)
    best = frozenset(one.profile.name for one in outcomes if one.shown.tokens_kept == most)
    kept = _each(
        outcomes,
        lambda one: f"{tokens_text(one.shown.tokens_kept)} kept, cut before #{one.first_kept}",
    )
    return Answer(f"{kept}.", chosen=best, options=_options(_outcomes(now)))


def due_by_profile(now: Situation) -> Answer:
    """Which systems would compact here without being asked."""
    outcomes = _outcomes(now)
    due = frozenset(one.profile.name for one in outcomes if one.is_due)
    listed = "; ".join(
        f"{one.profile.title}: {one.tokens_before:,} of {one.limit:,}" for one in outcomes
    )
    return Answer(
        f"Tokens of the context, and the most that each lets pass: {listed}.",
        chosen=due or frozenset({NONE}),
        options=(*_options(outcomes), _NONE),
    )
