"""All that the audit of a path shows at once, computed in one go, for a worker thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.branch_audit import BranchAudit, branch_audits
from explorer.audit.generations import Generations, ReadEntries, RecordedInputs
from explorer.audit.ledger import Ledger, ledger_at
from explorer.audit.losses import Loss, find_losses
from explorer.audit.provenance import Provenance
from explorer.audit.strip import Strip, survival_strip
from explorer.compaction.context_size import context_size, counted_size, first_report
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.session.context import context_at
from explorer.session.entries import CompactionSummary
from explorer.session.tree import SessionTree


class Overview(Struct, frozen=True):
    """The audit of the path to ``leaf`` at one moment."""

    leaf: int
    moment: int | None
    """The compaction whose moment the ledger shows; None: now, at the leaf."""
    profile: Profile
    """The rules that the session is judged by."""
    ledger: Ledger
    """At the moment."""
    now: Ledger
    """At the leaf."""
    losses: tuple[Loss, ...]
    """Of the whole path, the most severe first, then as they happened."""
    strip: Strip
    branches: tuple[BranchAudit, ...]
    """Of the branch summaries on the path, in their order."""
    recorded_after: int | None = None
    """What the agent recorded, in tokens, as the size of the context after the compaction that is
    in force at the moment."""
    difference: str = ""
    """What is known of how its count before that compaction differs from ours, in sentences."""

    @property
    def generations(self) -> Generations:
        """The compactions of the whole path."""
        return self.strip.found

    @property
    def unread(self) -> list[int]:
        """The compactions of the whole path whose summaries cannot be read."""
        every = self.generations.all
        return [each.compaction for each in every if each.provenance is Provenance.UNREADABLE]

    def losses_at(self, entry: int | None) -> list[Loss]:
        """The losses that happened at an entry, or that took it; None: all of the path."""
        return [
            loss
            for loss in self.losses
            if entry is None or loss.at == entry or entry in loss.entries
        ]


def overview(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    *,
    moment: int | None = None,
    settings: Settings | None = None,
    read: ReadEntries | None = None,
    recorded: RecordedInputs | None = None,
    weights: Sequence[int] | None = None,
) -> Overview:
    """Audit the path to ``leaf``; see ``ledger_at`` for the arguments."""
    sizes = settings or Settings.of(profile)
    audits = branch_audits(tree, tree.path(leaf), profile, sizes, recorded or {})
    given = {"read": read, "recorded": recorded, "weights": weights, "branches": audits}
    ledger = ledger_at(tree, leaf, None, profile, settings=sizes, **given)  # type: ignore[arg-type]
    whole = ledger.generations
    strip = survival_strip(whole)
    losses = find_losses(
        tree, leaf, profile, settings=sizes, found=whole, read=read, recorded=recorded,
        branches=audits,
    )  # fmt: skip
    result = Overview(
        leaf,
        None,
        profile,
        ledger,
        ledger,
        tuple(sorted(losses, key=lambda loss: -loss.severity)),
        strip,
        tuple(audits.values()),
        _recorded_after(ledger, read),
        _difference(ledger, weights),
    )
    if moment is None:
        return result
    then = ledger_at(tree, leaf, moment, profile, settings=sizes, **given)  # type: ignore[arg-type]
    return replace(
        result, moment=moment, ledger=then, recorded_after=_recorded_after(then, read),
        difference=_difference(then, weights),
    )  # fmt: skip


def _recorded_after(ledger: Ledger, read: ReadEntries | None) -> int | None:
    if read is None or ledger.in_force < 0:
        return None
    body = read([ledger.in_force])[0].body
    return body.tokens_after if isinstance(body, CompactionSummary) else None


def _difference(ledger: Ledger, weights: Sequence[int] | None) -> str:
    """How an agent's count before the compaction in force comes to be larger than the entries:
    by its provider's first report, and by how its reports grew."""
    tree, compaction, rules = ledger.tree, ledger.in_force, PROFILES["explorer"]
    if compaction < 0:
        return ""
    before = context_at(tree, tree.columns.parent[compaction])
    counted = counted_size(tree, before, rules, weights)
    recorded = tree.columns.compactions[compaction].tokens_before
    if recorded <= counted:
        return ""
    more = f"It has {recorded - counted:,} tokens more than the entries counted here."
    first = first_report(tree, before.path)
    if first < 0:
        return f"{more} How they are made up is not in the file."
    reported = tree.columns.usage[first]
    there = counted_size(tree, context_at(tree, first), rules, weights)
    parts = [more]
    if reported > there:
        parts.append(
            f"With the first reply, #{first}, the provider counted {reported:,} tokens where the "
            f"entries take {there:,}: the rest is not in the file."
        )
    ratio = context_size(tree, before, rules, weights).ratio
    if round(ratio, 1) > 1:
        parts.append(
            f"As the entries grew, its reports grew by {ratio:.1f} tokens for each one that is "
            "counted here: another tokenizer, and what is sent with them and not recorded."
        )
    return " ".join(parts)
