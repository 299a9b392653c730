"""The rules of the ledger in sentences: why an entry has its verdict at a moment."""

from __future__ import annotations

from explorer.audit.branch_audit import BranchAudit
from explorer.audit.generations import Boundary, Generation, PathState, StateRun
from explorer.audit.ledger import Ledger, LedgerVerdict
from explorer.audit.provenance import Provenance, content_known
from explorer.compaction.profile import Settings
from explorer.compaction.reasons import count_text, kept_words, summarized_words, tokens_text
from explorer.session.kinds import Kind


def rule_of(ledger: Ledger, row: int) -> str:
    """Why a row of the ledger has its verdict, in a sentence or two."""
    entry, verdict = ledger.entries[row], ledger.verdicts[row]
    branch = ledger.branch(row)
    if branch is not None:
        return _on_branch(branch, entry, verdict)
    if ledger.view.kinds[ledger.view.path.position(entry)] == Kind.COMPACTION:
        return _summary(ledger, entry, verdict)
    run = ledger.run(row)
    assert run is not None  # a row is of the path or of a branch
    if verdict == LedgerVerdict.NEVER_SENT:
        return _never(ledger, entry, run)
    if verdict == LedgerVerdict.PRUNED:
        return _pruned(ledger, entry)
    if verdict == LedgerVerdict.LOST:
        return _lost(ledger, run)
    if verdict == LedgerVerdict.OMITTED:
        by = ledger.view.shape.omitted[entry]
        tokens = tokens_text(ledger.view.size_in_place(ledger.view.path.position(entry)))
        return (
            f"Omitted by #{by}: its {tokens} tokens are left out of the context and of summaries."
        )
    if ledger.is_recorded(row):
        return _recorded(ledger, entry)
    if verdict == LedgerVerdict.PINNED:
        return _again(ledger, entry, run)
    if run.state is PathState.SUMMARIZED:
        return _why_summarized(ledger, run, ledger.view.path.position(entry))
    return _verbatim(ledger, entry, run)


def why_cut(ledger: Ledger, by: Generation) -> str:
    """Why a compaction kept from where it did, as far as the file tells."""
    is_kept = by.boundary is Boundary.KEPT
    words = kept_words(ledger.view, by.position, by.kept_from if is_kept else by.position)
    return f"{words} ({_size_rule(ledger)})" if is_kept else words


def _size_rule(ledger: Ledger) -> str:
    """What the rules keep by themselves; what was set for a compaction is in no file."""
    profile = ledger.generations.profile
    sizes = Settings.of(profile)
    if profile.cut_unit == "rounds":
        kept = f"{count_text(sizes.keep_rounds, 'round')}"
    else:
        kept = f"{sizes.keep_recent_tokens:,} tokens"
    return f"how much it was to keep is in no file; {profile.title} keeps {kept} by default"


def _why_summarized(ledger: Ledger, run: StateRun, position: int) -> str:
    every = ledger.generations
    first = every.all[run.summarized_by - 1]
    part = ""
    if 0 <= first.turn_start <= position < first.kept_from < first.position:
        start = ledger.view.path[first.turn_start]
        part = f" (the cut splits the turn of #{start}, whose first part is summarized on its own)"
    newer = [each.compaction for each in every.chain(run.summarized_by, len(every.all))[1:]]
    last = newer[-1] if newer else first.compaction
    is_readable = ledger.tree.columns.compactions[last].certainty != "unreadable"
    return summarized_words(
        ledger.view.path[position], why_cut(ledger, first), part, newer, is_readable=is_readable
    )


def _verbatim(ledger: Ledger, entry: int, run: StateRun) -> str:
    every = ledger.generations.all
    if ledger.in_force < 0:
        if ledger.generations.resets:
            return "Said since the new start: sent word for word."
        return "Sent word for word: nothing was compacted yet."
    last = every[-1]
    if entry > last.compaction:
        return f"Said after compaction #{last.compaction}: sent word for word."
    sentence = f"{why_cut(ledger, last)}; #{entry} is one of them and is sent word for word."
    if run.summarized_by:
        earlier = every[run.summarized_by - 1].compaction
        sentence += f" Compaction #{earlier} had summarized it already: it is summarized twice."
    return sentence


def _again(ledger: Ledger, entry: int, run: StateRun) -> str:
    reinserted = ledger.view.again[entry]
    who = f"#{reinserted.by}" if reinserted.by >= 0 else "The profile"
    what = "pinned it" if reinserted.why == "pin" else "keeps the user's own messages"
    budget = ledger.view.shape.user_budget
    if reinserted.why != "pin" and budget is not None:
        what += f", the newest first, up to {budget.tokens:,} tokens"
    size = ledger.view.size_in_place(ledger.view.path.position(entry))
    tokens = tokens_text(max(0, size + reinserted.extra))
    sentence = (
        f"{who} {what}: it is repeated, word for word, right after the summary ({tokens} tokens)."
    )
    if run.state is PathState.SUMMARIZED:
        at = ledger.generations.all[run.summarized_by - 1].compaction
        return f"{sentence} Compaction #{at} repeated it too."
    if run.state is not PathState.IN_CONTEXT:
        at = ledger.generations.all[run.since - 1].compaction
        return f"{sentence} It had been lost at compaction #{at}."
    return sentence


def _recorded(ledger: Ledger, entry: int) -> str:
    copy = ledger.view.again[entry]
    position = ledger.view.path.position(entry)
    tokens = tokens_text(max(0, ledger.view.size_in_place(position) + copy.extra))
    parts = " Of this reply it holds the text alone." if copy.extra < 0 else ""
    return (
        f"Compaction #{copy.by} lists the context that it began, and #{entry} stands in it word "
        f"for word ({tokens} tokens).{parts}"
    )


def _summary(ledger: Ledger, entry: int, verdict: int) -> str:
    if entry == ledger.in_force:
        return "The summary in force: the context starts with it."
    every = ledger.generations
    this = every.at(entry)
    assert this is not None
    if verdict == LedgerVerdict.NEVER_SENT:
        return "A summary before the new start: no longer in the context."
    chain = every.chain(this.number, len(every.all))
    if verdict == LedgerVerdict.LOST:
        if len(chain) + this.number - 1 < len(every.all):
            by = every.all[this.number + len(chain) - 1]
            return f"Lost: compaction #{by.compaction} did not go on with this summary. {by.basis}"
        return "Lost: the summary that was to go on with this one is empty."
    newer = chain[1].compaction
    if chain[1].provenance is Provenance.UNREADABLE:
        return (
            f"Compaction #{newer} was given this summary; what it made of it is encrypted or not "
            "recorded."
        )
    return f"Compaction #{newer} was given this summary and wrote it anew."


def _lost(ledger: Ledger, run: StateRun) -> str:
    by = ledger.generations.all[run.since - 1]
    name = f"compaction #{by.compaction}"
    if run.state is PathState.LOST_RANGE:
        before = ledger.generations.all[by.previous - 1].compaction if by.previous else -1
        return (
            f"Lost at {name}: compaction #{before} had kept it word for word, so no summary tells "
            f"of it, and this one {_started(ledger, by)}. It is in neither."
        )
    if run.state is PathState.LOST_CHAIN:
        first = (
            ledger.generations.all[run.summarized_by - 1].compaction if run.summarized_by else -1
        )
        return f"Lost at {name}: the summary of #{first} covered it, and was dropped."
    if run.state is PathState.LOST_BOUNDARY:
        return f"Lost at {name}: {broken_words(by.boundary)}, so nothing before it was kept."
    if run.state is PathState.LOST_SUMMARY:
        return f"Lost at {name}: it went to the summarizer, and the summary is empty."
    return f"Lost at {name}: it was not in the recorded request, and was not kept."


def _started(ledger: Ledger, by: Generation) -> str:
    """What a compaction took into its summary and kept, as half a sentence."""
    path = ledger.view.path
    kept = f"kept from #{path[by.kept_from]} on" if by.kept_from < by.position else "kept nothing"
    if not by.summarized:
        return f"summarized nothing new and {kept}"
    return f"summarized only from #{path[by.summarized.start]} on and {kept}"


def broken_words(boundary: Boundary) -> str:
    """What is wrong with a first kept entry, as half a sentence."""
    return {
        Boundary.MISSING: "its first kept entry is nowhere in this session",
        Boundary.OTHER_BRANCH: "its first kept entry is on another branch",
        Boundary.AFTER: "its first kept entry came after it",
    }.get(boundary, "its first kept entry is unclear")


def _pruned(ledger: Ledger, entry: int) -> str:
    result = ledger.view.pruned.get(entry)
    if result is None:
        return content_known(ledger.tree, entry).basis
    reason = ledger.tree.columns.prunes[result.by].reason
    why = f" The reason: {reason}" if reason else ""
    return (
        f"Pruned by #{result.by}, which recorded {tokens_text(result.saved)} tokens saved: the "
        f"model is sent the note alone.{why}"
    )


def _never(ledger: Ledger, entry: int, run: StateRun) -> str:
    kind = Kind(ledger.tree.columns.kind[entry])
    if kind is Kind.RESET_BOUNDARY:
        return "A new start: nothing before it is in the context."
    if run.state is PathState.SET_ASIDE:
        resets = ledger.generations.resets
        reset = next(at for at in resets if at >= run.stop - 1)
        return f"Before the new start at #{ledger.view.path[reset]}: no longer in the context."
    if kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION):
        return "A command that was kept out of the context: never sent."
    if kind is Kind.BRANCH_SUMMARY:
        return "An empty branch summary: nothing to send."
    if kind is Kind.OTHER_ROLE:
        return "A role that no model takes: never sent."
    if kind is Kind.ASSISTANT:
        return "A reply that failed, was stopped or says nothing: no request holds it again."
    return "A note about the session, never sent to a model."


def _on_branch(branch: BranchAudit, entry: int, verdict: int) -> str:
    where = f"On the branch that was left at #{branch.left_at}"
    if verdict == LedgerVerdict.NEVER_SENT:
        return f"{where}: a note about the session, never sent to a model."
    if entry in branch.left_out:
        return (
            f"{where}: branch summary #{branch.entry} takes the newest "
            f"{tokens_text(branch.budget)} tokens, and this did not fit."
        )
    if branch.is_empty:
        return f"{where}: branch summary #{branch.entry} is empty, so nothing tells of it."
    if verdict == LedgerVerdict.LOST:
        return f"{where}: branch summary #{branch.entry} covered it, and is lost itself."
    if entry in branch.excluded_by_rule:
        return (
            f"{where}: branch summary #{branch.entry} is given calls, and no results or "
            "what failed."
        )
    included = f"{count_text(len(branch.included), 'entry')}, {tokens_text(branch.tokens)} tokens"
    within = f", within {tokens_text(branch.budget)}" if branch.budget else ""
    return (
        f"{where}: the session went on elsewhere, and branch summary #{branch.entry} tells of "
        f"{included}{within}, this one among them."
    )
