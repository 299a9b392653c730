"""A stored branch summary looked at again: what it tells, what it leaves out, who sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from explorer.audit.provenance import Known, Provenance
from explorer.compaction.branch_summaries import prepare_branch
from explorer.compaction.path_view import CONTEXT_MASK
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.reasons import count_text, tokens_text
from explorer.session.context import context_at
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import Path, SessionTree

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_HIDDEN = int(Flag.HIDDEN)
_EXCLUDED = int(Flag.EXCLUDED | Flag.EMPTY_SUMMARY)
_REPLIES = (Kind.ASSISTANT, Kind.CUSTOM_MESSAGE, Kind.CUSTOM_ROLE)


class Origin(StrEnum):
    """Whether the place where the branch was left can be found."""

    FOUND = "found"
    MISSING = "missing"
    """The entry names one that is not in this session."""
    IS_TARGET = "is-target"
    """It names the place where the summary itself was put, as older agents wrote it (A35)."""
    ON_PATH = "on-path"
    """It names an entry above the summary: nothing was left."""


class BranchAudit(Struct, frozen=True):
    """What a branch summary stands for. Entries are indices, sizes tokens."""

    entry: int
    origin: Origin
    left_at: int
    """Where the branch was left, or -1."""
    placed_below: int
    """The entry under which the summary was put: where the new branch starts (A34)."""
    ancestor: int
    """The deepest entry of both branches, or -1."""
    left: tuple[int, ...]
    """All entries left behind, oldest first."""
    included: tuple[int, ...]
    """Those in the summarizer's request."""
    left_out: tuple[int, ...]
    """Messages that did not fit the budget: nothing in the new branch's context covers them."""
    excluded_by_rule: tuple[int, ...]
    """Messages that are left out by rule: results, and what failed or was hidden."""
    failed_included: tuple[int, ...]
    """Failed or hidden messages that were included nevertheless (E10)."""
    tokens: int
    """Of the messages in the request."""
    budget: int
    """0 is no limit."""
    seen: tuple[int, ...]
    """What a model sees right below the summary, the summary last."""
    is_empty: bool
    known: Known
    """The provenance of the included entries."""

    @property
    def lost(self) -> tuple[int, ...]:
        """Entries that the new branch has lost although they should have been included."""
        return self.included + self.left_out if self.is_empty else self.left_out

    @property
    def sentences(self) -> tuple[str, ...]:
        """The audit in sentences, for a panel and a report."""
        return tuple(_sentences(self))


def branch_audit(
    tree: SessionTree,
    entry: int,
    profile: Profile,
    settings: Settings,
    recorded: Collection[int] | None = None,
) -> BranchAudit:
    """Look at the branch summary ``entry`` again, by the rules of ``profile`` and the window of
    ``settings``. ``recorded``: the entries of its request, where it was written down.

    Raises ValueError when the entry is no branch summary.
    """
    facts = tree.columns.branches.get(entry)
    if facts is None:
        raise ValueError(f"entry #{entry} is no branch summary")
    target = tree.columns.parent[entry]
    left_at = tree.index_of(facts.from_id)
    origin = _origin(tree, entry, target, left_at)
    seen = tuple(context_at(tree, entry).messages)
    empty = bool(tree.columns.flags[entry] & Flag.EMPTY_SUMMARY)
    if origin is not Origin.FOUND:
        basis = (
            "The file does not tell where the branch was left, so not what was summarized either."
        )
        known = Known(Provenance.UNREADABLE, basis)
        return BranchAudit(
            entry, origin, left_at, target, -1, (), (), (), (), (), 0, 0, seen, empty, known
        )  # fmt: skip
    prepared = prepare_branch(tree, left_at, target, profile, settings)
    messages = tuple(prepared.messages) if recorded is None else tuple(sorted(recorded))
    left_out, excluded_by_rule = _others(tree, prepared.entries, messages, profile)
    failed = tuple(e for e in messages if _is_failed(tree, e))
    return BranchAudit(
        entry=entry,
        origin=origin,
        left_at=left_at,
        placed_below=target,
        ancestor=prepared.common_ancestor,
        left=tuple(prepared.entries),
        included=messages,
        left_out=left_out,
        excluded_by_rule=excluded_by_rule,
        failed_included=failed if profile.branch_replies == "all" or recorded is not None else (),
        tokens=prepared.total_tokens,
        budget=prepared.budget,
        seen=seen,
        is_empty=empty,
        known=_known(profile, recorded is not None),
    )


def branch_audits(
    tree: SessionTree,
    path: Path,
    profile: Profile,
    settings: Settings,
    recorded: Mapping[int, Collection[int]],
) -> dict[int, BranchAudit]:
    """``branch_audit`` of every branch summary on a path, by entry, ascending. ``recorded``: the
    entries of requests that were written down, by the summary."""
    return {
        entry: branch_audit(tree, entry, profile, settings, recorded.get(entry))
        for entry in sorted(tree.columns.branches)
        if entry in path
    }


def _known(profile: Profile, is_recorded: bool) -> Known:
    if is_recorded:
        return Known(Provenance.EXACT, "The request that went to the summarizer was recorded.")
    return Known(
        Provenance.INFERRED,
        f"By the rules and default sizes of {profile.title}: the file has the summary alone.",
    )


def _origin(tree: SessionTree, entry: int, target: int, left_at: int) -> Origin:
    if left_at < 0:
        return Origin.MISSING
    if left_at == target:
        return Origin.IS_TARGET
    return Origin.ON_PATH if tree.is_ancestor(left_at, entry) else Origin.FOUND


def _is_failed(tree: SessionTree, entry: int) -> bool:
    kind, flags = tree.columns.kind[entry], tree.columns.flags[entry]
    return kind in _REPLIES and bool(flags & (_FAILED | _HIDDEN))


def _others(
    tree: SessionTree, left: list[int], included: tuple[int, ...], profile: Profile
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Messages that were not included: those that did not fit, and those excluded by rule."""
    kinds, sent = tree.columns.kind, set(included)
    left_out: list[int] = []
    excluded_by_rule: list[int] = []
    for entry in left:
        kind = kinds[entry]
        if entry in sent or not (CONTEXT_MASK[kind] or kind == Kind.COMPACTION):
            continue
        is_excluded = tree.columns.flags[entry] & _EXCLUDED
        clean = profile.branch_replies == "clean" and _is_failed(tree, entry)
        by_rule = kind == Kind.TOOL_RESULT or is_excluded or clean
        (excluded_by_rule if by_rule else left_out).append(entry)
    return tuple(left_out), tuple(excluded_by_rule)


def _sentences(it: BranchAudit) -> list[str]:
    where = f"It was put below #{it.placed_below}" if it.placed_below >= 0 else "It starts a path"
    placed = f"{where}, where the new branch starts; a model sees it there as its newest message."
    if it.origin is not Origin.FOUND:
        why = {
            Origin.MISSING: "The entry where the branch was left is not in this session.",
            Origin.IS_TARGET: (
                "The entry names the place where it was put, as older agents wrote it, and not "
                "where the branch was left."
            ),
            Origin.ON_PATH: "It names an entry of its own path: no branch was left there.",
        }[it.origin]
        return [why + " What it tells cannot be compared with anything.", placed]
    both = f"Both branches share all up to #{it.ancestor}." if it.ancestor >= 0 else (
        "The two branches share nothing."
    )  # fmt: skip
    sentences = [
        f"{both} Abandoned: {count_text(len(it.left), 'entry')}, down to #{it.left_at}.",
        f"Of these, {count_text(len(it.included), 'message')} with {tokens_text(it.tokens)} tokens "
        f"went to the summarizer{_room(it)}.",
    ]
    if it.left_out:
        sentences.append(
            f"The oldest, {count_text(len(it.left_out), 'message')} from #{it.left_out[0]} to "
            f"#{it.left_out[-1]}, did not fit: the new branch knows nothing of them."
        )
    if it.excluded_by_rule:
        sentences.append(
            f"Left out by rule: {count_text(len(it.excluded_by_rule), 'message')}. "
            "A branch summary is given calls and not their results, "
            "nor of what failed or was hidden."
        )
    if it.failed_included:
        sentences.append(
            "Summarized as if it counted, although it failed or was hidden: "
            f"{count_text(len(it.failed_included), 'message')}."
        )
    if it.is_empty:
        sentences.append("The summary is empty: the new branch knows nothing of what was left.")
    return [*sentences, placed]


def _room(it: BranchAudit) -> str:
    return f", newest first within {tokens_text(it.budget)}" if it.budget else ""
