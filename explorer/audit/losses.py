"""Losses found in a session: what its compactions and branch summaries dropped, which tool calls
and results stand alone in what a model sees, and why.

Most of them are known bugs of agents: a kept range that the next compaction starts after, a summary
that the next one does not go on with, a boundary that a fork did not take along. They are found
from what the file records; how sure that is, each loss says itself.

A result belongs right below the reply that called for it, with nothing but notes and other results
between. A fork in the middle of a round, or a cut there, parts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from explorer.audit.branch_audit import BranchAudit, Origin, branch_audits
from explorer.audit.findings import Loss, LossKind, Repair, Severity
from explorer.audit.generations import (
    BROKEN,
    Boundary,
    Generation,
    Generations,
    ReadEntries,
    RecordedInputs,
)
from explorer.audit.provenance import Known, Provenance
from explorer.audit.replay import generations_of
from explorer.audit.rules import broken_words
from explorer.audit.summary_text import summary_faults
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.reasons import count_text, tokens_text
from explorer.session.entries import CompactionSummary, ToolResultMessage
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_CALLS = int(Flag.HAS_TOOL_CALL)
_LOOKED_BACK = 8
"""Replies above a result that are asked for its call."""
_BROKEN_OFF = int(Flag.ERROR | Flag.ABORTED)
_SEEN = Known(Provenance.EXACT, "The order of the entries is recorded.")


class Unpaired(NamedTuple):
    """A call or results that stand alone."""

    is_result: bool
    at: int
    """Where it happened: a compaction, or the entry itself."""
    entries: tuple[int, ...]
    cause: str
    prevention: str
    by_cut: bool
    known: Known


def unpaired(
    tree: SessionTree, generations: Generations, read: ReadEntries | None = None
) -> Iterator[Unpaired]:
    """Calls and results of a path that stand alone. ``read``: with it, rounds that a fork parted
    are looked into, where some results are there and others are not, and calls that a provider
    runs itself are known (no result follows them)."""
    yield from _parted_by_cuts(generations)
    yield from _rounds(tree, generations, read)


def _parted_by_cuts(generations: Generations) -> Iterator[Unpaired]:
    view = generations.view
    for each in generations.all:
        at = each.kept_from
        if each.boundary is not Boundary.KEPT or at >= each.position:
            continue
        while at < each.position and not view.sent[at]:
            at += 1
        results = []
        while at < each.position and (view.kinds[at] == Kind.TOOL_RESULT or not view.sent[at]):
            if view.kinds[at] == Kind.TOOL_RESULT:
                results.append(view.path[at])
            at += 1
        if results:
            yield Unpaired(
                True, each.compaction, tuple(results),
                f"Compaction #{each.compaction} keeps from tool result #{results[0]}: its call was "
                "summarized, and the result stands without it. Most models refuse such a request.",
                "A cut that never falls before a tool result.", True,
                Known(Provenance.EXACT, "The first kept entry is recorded."),
            )  # fmt: skip


def _rounds(
    tree: SessionTree, generations: Generations, read: ReadEntries | None
) -> Iterator[Unpaired]:
    """Every reply of the path with the results below it."""
    view, columns = generations.view, tree.columns
    reply, results = -1, 0
    callers: list[int] = []
    unanswered: list[Unpaired] = []
    kept_from = {each.compaction: each.kept_from for each in generations.all}
    for position, entry in enumerate(view.path):
        kind = view.kinds[position]
        if kind == Kind.TOOL_RESULT:
            if reply < 0 and not _has_call(entry, callers, read):
                yield _lone_result(entry)
            results += 1
            continue
        if reply >= 0 and view.path.position(reply) < kept_from.get(entry, 0):
            reply = -1  # What a compaction broke off and did not keep is sent to no model again.
        if not view.sent[position]:
            continue
        if reply >= 0:
            is_left = _was_left(tree, reply)
            found = _round(tree, reply, results, read)
            if is_left:
                yield from found
            else:
                unanswered += found
        reply, results = -1, 0
        if kind == Kind.ASSISTANT and not columns.flags[entry] & _BROKEN_OFF:
            unanswered.clear()  # The agent sent it with something in the result's place.
        if kind == Kind.ASSISTANT and columns.flags[entry] & _CALLS:
            reply = entry
            callers.append(entry)
    # At the leaf a call may still wait for its result: that is no loss.
    yield from unanswered


def _has_call(entry: int, callers: Sequence[int], read: ReadEntries | None) -> bool:
    """Whether a reply above has the call of a result that does not stand right below it: a note
    or a message came between, and agents put such results in order again when they send them."""
    if read is None or not callers:
        return False
    body = read([entry])[0].body
    if not isinstance(body, ToolResultMessage):
        return False
    replies = (read([one])[0] for one in reversed(callers[-_LOOKED_BACK:]))
    return any(call.id == body.call_id for one in replies for call in one.calls)


def _lone_result(entry: int) -> Unpaired:
    return Unpaired(
        True, entry, (entry,),
        f"Tool result #{entry} has no call above it on its path: the reply that called for it is "
        "not there. Most models refuse such a request.",
        "A fork that takes a reply along with its results.", False, _SEEN,
    )  # fmt: skip


def _round(
    tree: SessionTree, reply: int, results: int, read: ReadEntries | None
) -> Iterator[Unpaired]:
    if tree.columns.flags[reply] & _BROKEN_OFF:
        return  # such a reply is not sent again, so that its calls ask for nothing
    missing = 0 if results else 1
    if read is not None and (not results or _was_left(tree, reply)):
        asked = [call for call in read([reply])[0].calls if not call.hosted]
        missing = max(0, len(asked) - results)
    if not missing:
        return
    why = "The branch goes on without it."
    if not _was_left(tree, reply):
        why = (
            "The file has no answer: the agent was stopped, or the answer was not written or "
            "cannot be read."
        )
    some = "a result" if not results else f"{missing} of its results"
    yield Unpaired(
        False, reply, (reply,),
        f"Reply #{reply} called a tool, and {some} is missing on this path. {why} Models refuse "
        "such a request, or are informed that no result was given.",
        "A fork between whole rounds; a result for a call that was stopped.", False, _SEEN,
    )  # fmt: skip


def _was_left(tree: SessionTree, reply: int) -> bool:
    """Whether a branch parts within the round of a reply."""
    at = reply
    while True:
        below = tree.children(at)
        if len(below) > 1:
            return True
        if not below or tree.columns.kind[below[0]] != Kind.TOOL_RESULT:
            return False
        at = below[0]


_MISSING_TOKENS = 50_000
"""Tokens that an agent counts more than the path holds from which on entries are missing: more than
a system prompt and the descriptions of tools take."""
NOTES_SHARE = 4
"""Notes are reported when they take more than one part in this many of keep-recent."""

_CORRECTED = "The corrected rules start the next compaction where the last one kept from."


def find_losses(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    *,
    settings: Settings | None = None,
    read: ReadEntries | None = None,
    recorded: RecordedInputs | None = None,
    found: Generations | None = None,
    branches: Mapping[int, BranchAudit] | None = None,
) -> tuple[Loss, ...]:
    """All losses on the path to ``leaf``, in the order in which they happened; see ``ledger_at``
    for the arguments. ``found``: the path's compactions, where they were replayed already;
    ``branches``: see ``branch_audits``, likewise."""
    sizes = settings or Settings.of(profile)
    if found is None:
        found = generations_of(tree, leaf, profile, read=read, recorded=recorded)
    if branches is None:
        branches = branch_audits(tree, found.view.path, profile, sizes, recorded or {})
    look = _Look(tree, found, sizes, read, branches)
    losses = [*look.compactions(), *look.branches(), *look.pairs()]
    return tuple(sorted(losses, key=lambda loss: (loss.at, -loss.severity)))


def lost_line(losses: Iterable[Loss], compaction: int) -> str:
    """What a compaction lost, in a line for a notice; empty for nothing."""
    gone = [loss for loss in losses if loss.at == compaction and loss.severity is Severity.LOST]
    if not gone:
        return ""
    entries = {entry for one in gone for entry in one.entries}
    tokens = sum(one.tokens for one in gone)
    what = count_text(len(entries), "entry") if entries else gone[0].title.lower()
    size = f" ({tokens_text(tokens)} tokens)" if tokens else ""
    return f"{what}{size} neither kept nor summarized: {gone[0].title.lower()}."


@dataclass
class _Look:
    tree: SessionTree
    found: Generations
    settings: Settings
    read: ReadEntries | None
    audits: Mapping[int, BranchAudit]

    def compactions(self) -> Iterator[Loss]:
        looks: tuple[Callable[[Generation], Loss | None], ...] = (
            self._dropped, self._chain, self._boundary, self._left_out, self._empty_input,
            self._in_a_row, self._grew, self._summarized_and_kept, self._notes,
        )  # fmt: skip
        for each in self.found.all:
            if each.provenance is Provenance.UNREADABLE:
                continue  # What it kept is not known, so neither is what it lost.
            for look in looks:
                loss = look(each)
                if loss is not None:
                    yield loss
            yield from self._summary(each)

    # what a compaction dropped ------------------------------------------------------------------

    def _sent(self, positions: range) -> list[int]:
        view = self.found.view
        if not positions:
            return []
        return view.entries(positions.start, positions.stop, view.sent)

    def _weight(self, entries: Iterable[int]) -> int:
        view = self.found.view
        return sum(view.sizes[view.path.position(entry)] for entry in entries)

    def _loss(
        self,
        kind: LossKind,
        severity: Severity,
        at: int,
        entries: Sequence[int],
        cause: str,
        prevention: str,
        repairs: tuple[Repair, ...],
        known: Known,
        tokens: int = -1,
    ) -> Loss:
        again = self.found.view.again
        if severity is Severity.LOST and entries and any(entry in again for entry in entries):
            left = [entry for entry in entries if entry not in again]
            number = count_text(len(entries) - len(left), "message")
            cause += f" {number} of these are repeated since, word for word."
            severity, entries = (severity if left else Severity.WASTE), left or entries
        weight = self._weight(entries) if tokens < 0 else tokens
        return Loss(
            kind, severity, at, tuple(entries), weight, cause, prevention, repairs, *known
        )  # fmt: skip

    def _dropped(self, it: Generation) -> Loss | None:
        entries = self._sent(it.dropped) if it.previous else []
        if not entries:
            return None
        before = self.found.all[it.previous - 1].compaction
        weight = tokens_text(self._weight(entries))
        return self._loss(
            LossKind.KEPT_RANGE_DROPPED, Severity.LOST, it.compaction, entries,
            f"Compaction #{before} kept {count_text(len(entries), 'message')} ({weight} tokens, "
            f"#{entries[0]} to #{entries[-1]}) word for word. Compaction #{it.compaction} started "
            "after that one: it neither summarized nor kept them.",
            _CORRECTED,
            (Repair.PIN, Repair.RULES, Repair.CUT, Repair.INSTRUCTION),
            Known(it.provenance, it.basis),
        )  # fmt: skip

    def _chain(self, it: Generation) -> Loss | None:
        if not it.previous or it.carries_previous:
            return None
        before = self.found.all[it.previous - 1].compaction
        lane = self.found.lanes[it.number - 1]
        summarized = [run for run in lane if run.summarized_by and run.state == 1]
        entries = [e for run in summarized for e in self._sent(range(run.start, run.stop))]
        return self._loss(
            LossKind.PREVIOUS_SUMMARY_DROPPED, Severity.LOST, it.compaction, entries,
            f"Only the first part of a split turn was summarized by #{it.compaction}, and such a "
            f"pass does not go on with the summary before: what #{before} covered "
            f"{count_text(len(entries), 'message')} is in nothing that the model sees.",
            "The corrected rules carry the previous summary over word for word.",
            (Repair.RULES, Repair.CUT, Repair.PIN),
            Known(it.provenance, it.basis),
        )  # fmt: skip

    def _boundary(self, it: Generation) -> Loss | None:
        if it.boundary not in BROKEN:
            return None
        name = self.tree.columns.compactions[it.compaction].first_kept_id
        entries = self._sent(range(it.meant_from, it.kept_from))
        weight = tokens_text(self._weight(entries))
        kept = f"About {weight} tokens, from #{entries[0]} on, were" if entries else "What was"
        how = {
            Boundary.MISSING: "A fork or an export that gives entries new ids loses it.",
            Boundary.OTHER_BRANCH: "The entry was moved to another branch without its boundary.",
            Boundary.AFTER: "An entry cannot keep what comes after it.",
        }[it.boundary]
        return self._loss(
            LossKind.BOUNDARY_LOST, Severity.LOST, it.compaction, entries,
            f"Compaction #{it.compaction} keeps from “{name}”, and {broken_words(it.boundary)}. "
            f"{how} {kept} to be kept, and nothing before the compaction is.",
            "A boundary that is checked when the entry is written, and taken along by a fork.",
            (Repair.CUT, Repair.PIN),
            Known(Provenance.INFERRED, f"The broken boundary is recorded. {it.basis}"),
        )  # fmt: skip

    def _left_out(self, it: Generation) -> Loss | None:
        if not it.left_out:
            return None
        return self._loss(
            LossKind.LEFT_OUT, Severity.LOST, it.compaction, it.left_out,
            f"{count_text(len(it.left_out), 'message')} lie in the range that #{it.compaction} "
            "summarized, and its requests do not hold them.",
            "A request that holds all that the compaction takes the place of.",
            (Repair.CUT, Repair.PIN),
            Known(it.provenance, it.basis),
        )  # fmt: skip

    # what a compaction did for nothing ----------------------------------------------------------

    def _begins_the_path(self, it: Generation) -> bool:
        """Whether nothing before a compaction is on the path: what it summarized is not in the
        file, and of that nothing is known."""
        return not self._sent(range(it.position))

    def _begins_in_the_middle(self, it: Generation, before: int) -> bool:
        """Whether its agent counted far more before a compaction than the path holds: the file
        begins in the middle, and how much was gained is not known."""
        body = self.read([it.compaction])[0].body if self.read is not None else None
        recorded = body.tokens_before if isinstance(body, CompactionSummary) else 0
        return recorded - before > _MISSING_TOKENS

    def _empty_input(self, it: Generation) -> Loss | None:
        if it.boundary in BROKEN or self._sent(it.summarized) or self._is_in_a_row(it):
            return None
        if self._begins_the_path(it):
            return None
        what = "the summary before it, which it wrote anew" if it.previous else "nothing"
        return self._loss(
            LossKind.EMPTY_INPUT, Severity.RISK, it.compaction, (),
            f"Between where compaction #{it.compaction} starts and its first kept entry lies no "
            f"message: the summarizer was given {what}. A model that is asked to summarize nothing "
            "may invent something.",
            "Rules that refuse a compaction when there is nothing to tell.",
            (Repair.CUT, Repair.RULES),
            Known(it.provenance, it.basis),
        )  # fmt: skip

    def _is_in_a_row(self, it: Generation) -> bool:
        if not it.previous:
            return False
        before = self.found.all[it.previous - 1]
        return not self._sent(range(before.position + 1, it.position))

    def _in_a_row(self, it: Generation) -> Loss | None:
        if not self._is_in_a_row(it):
            return None
        before = self.found.all[it.previous - 1].compaction
        return self._loss(
            LossKind.IN_A_ROW, Severity.RISK, it.compaction, (),
            f"Nothing was said between compaction #{before} and #{it.compaction}: a summary was "
            "summarized, and every time something wears off.",
            "A guard that waits for something new after a compaction.",
            (Repair.CUT,),
            Known(Provenance.EXACT, "The entries between the two are recorded."),
        )  # fmt: skip

    def _grew(self, it: Generation) -> Loss | None:
        view = self.found.view
        before, after = self.found.sizes_around(it.compaction)
        kept = view.size(it.kept_from, it.position)
        if (
            after is None
            or after < before
            or self._begins_the_path(it)
            or self._begins_in_the_middle(it, before)
        ):
            return None
        return self._loss(
            LossKind.GREW, Severity.WASTE, it.compaction, (),
            f"The context took {tokens_text(before)} tokens before compaction #{it.compaction} and "
            f"{tokens_text(after)} after it, {tokens_text(kept)} of them kept: nothing was gained.",
            "A check that a summary is smaller than what it takes the place of.",
            (Repair.CUT,),
            Known(Provenance.INFERRED, "Both sizes are counted here, alike."),
            tokens=after - before,
        )  # fmt: skip

    def _summarized_and_kept(self, it: Generation) -> Loss | None:
        entries = self._sent(range(it.kept_from, min(it.returned.stop, it.position)))
        if not entries:
            return None
        return self._loss(
            LossKind.SUMMARIZED_AND_KEPT, Severity.WASTE, it.compaction, entries,
            f"Compaction #{it.compaction} keeps from #{entries[0]}, which an earlier one had "
            f"summarized: {count_text(len(entries), 'message')} came back word for word, and the "
            "summary tells them as well.",
            "A first kept entry that never lies before that of the last compaction.",
            (Repair.CUT,),
            Known(Provenance.EXACT, "Both first kept entries are recorded."),
        )  # fmt: skip

    def _notes(self, it: Generation) -> Loss | None:
        if self.found.profile.weights == "sent" or it.boundary is not Boundary.KEPT:
            return None
        view = self.found.view
        kept = self._sent(range(it.kept_from, it.position))
        notes = [e for e in kept if view.kinds[view.path.position(e)] == Kind.CUSTOM_MESSAGE]
        tokens = sum(map(self.found.tokens_of, notes))
        if tokens * NOTES_SHARE <= self.settings.keep_recent_tokens:
            return None
        return self._loss(
            LossKind.NOTES_NOT_COUNTED, Severity.WASTE, it.compaction, notes,
            f"{count_text(len(notes), 'note')} of {tokens_text(tokens)} tokens count for nothing "
            f"under the rules of {self.found.profile.title}: compaction #{it.compaction} kept that "
            "much more than it was to keep.",
            "Rules that count what is sent.",
            (Repair.RULES,),
            Known(Provenance.INFERRED, f"By the rules of {self.found.profile.title}."),
            tokens=tokens,
        )  # fmt: skip

    def _summary(self, it: Generation) -> Iterator[Loss]:
        if self.read is None:
            return
        entry = self.read([it.compaction])[0]
        for kind, severity, cause, prevention, known in summary_faults(
            entry, it.compaction, self.found.profile
        ):
            summarized = self._sent(it.summarized) if severity is Severity.LOST else []
            repairs = (Repair.INSTRUCTION, Repair.CUT)
            yield self._loss(
                kind, severity, it.compaction, summarized, cause, prevention, repairs, known
            )

    # branches -----------------------------------------------------------------------------------

    def branches(self) -> Iterator[Loss]:
        for entry, audit in self.audits.items():
            if entry in self.found.view.path:
                yield from self._branch(entry, audit)

    def _branch(self, entry: int, it: BranchAudit) -> Iterator[Loss]:
        if it.origin is not Origin.FOUND and not (it.origin is Origin.ON_PATH and it.is_empty):
            yield self._loss(
                LossKind.BRANCH_ORIGIN_LOST, Severity.RISK, entry, (), " ".join(it.sentences[:1]),
                "An entry that records where the branch was left.", (), it.known,
            )  # fmt: skip
            return
        if it.is_empty and it.included:
            yield self._loss(
                LossKind.BRANCH_EMPTY, Severity.LOST, entry, it.included,
                f"Branch summary #{entry} is empty: the new branch knows nothing of the "
                f"{count_text(len(it.left), 'entry')} that were left at #{it.left_at}.",
                "A check of the answer before it is stored.",
                (Repair.GO_THERE,), Known(Provenance.EXACT, "The summary is recorded as it is."),
                tokens=it.tokens,
            )  # fmt: skip
        if it.left_out:
            yield self._loss(
                LossKind.BRANCH_LEFT_OUT, Severity.LOST, entry, it.left_out,
                f"Branch summary #{entry} tells the newest {tokens_text(it.budget)} tokens of the "
                f"branch: {count_text(len(it.left_out), 'older message')} did not fit, and the new "
                "branch knows nothing of them.",
                "A larger budget, or a compaction of the branch before it is left.",
                (Repair.GO_THERE, Repair.INSTRUCTION), it.known,
                tokens=sum(map(self.found.tokens_of, it.left_out)),
            )  # fmt: skip
        if it.failed_included:
            yield self._loss(
                LossKind.FAILURES_INCLUDED, Severity.RISK, entry, it.failed_included,
                f"Branch summary #{entry} was given "
                f"{count_text(len(it.failed_included), 'message')} that failed, was stopped or "
                "was hidden: it may tell as done what was not.",
                "The corrected rules leave failed and hidden messages out.",
                (Repair.RULES,), it.known,
                tokens=sum(map(self.found.tokens_of, it.failed_included)),
            )  # fmt: skip

    # calls and results --------------------------------------------------------------------------

    def pairs(self) -> Iterator[Loss]:
        for one in unpaired(self.tree, self.found, self.read):
            kind = LossKind.ORPHANED_RESULT if one.is_result else LossKind.ORPHANED_CALL
            yield self._loss(
                kind, Severity.RISK, one.at, one.entries, one.cause, one.prevention,
                (Repair.CUT,) if one.by_cut else (Repair.GO_THERE,), one.known,
            )  # fmt: skip
