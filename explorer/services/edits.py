"""Edits of an opened session: pins, omissions, kept user messages, prunes, labels, and undo (A13).

Each is an entry, see ``explorer.session.edit_entries``; nothing is deleted, and the log holds
every result whole. The latest edit is undone by moving the leaf away from it, or, when something
came after it, by a further entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from explorer.compaction.messages import repeated_entry
from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import Protect, PruningPlan, plan_pruning
from explorer.services.open_session import OpenedSession
from explorer.session.context import latest_on_path, sent_tokens
from explorer.session.edit_entries import (
    CUSTOM_TYPES,
    PRUNE_TYPE,
    Shape,
    ShapeFacts,
    ShapeKind,
    shape_data,
)
from explorer.session.edits import can_be_sent, prunes_on, round_of, shape_at, shapes_on
from explorer.session.entries import CustomData, Label, SessionName
from explorer.session.kinds import Kind
from explorer.session.tree import Path, SessionTree
from explorer.tokens.estimate import estimate_entry

_PINNED = "It is pinned already."
_OMITTED = "It is omitted already."
_RESTATED = "It held at the place that was left; said once more here."
_ORIGINS = "returns"
"""The session setting that holds, by compaction id, the leaf that was left for it."""


class CannotShape(ValueError):
    """What was asked for cannot be done here; the message gives the reason to the user."""


UndoneKind = Literal["compaction", "prune", "pin", "omit", "keep-user-messages"]


class Undone(Struct, frozen=True):
    """What an undo took back."""

    kind: UndoneKind
    entry: int
    """The entry that holds no longer."""
    leaf: int
    """The leaf afterwards."""


class NothingToUndo(Exception):
    """There is nothing on the active path to take back."""


class Shaped(Struct, frozen=True):
    """What was pinned or omitted, or is so no longer."""

    entry: int
    """The appended entry, which is the leaf then."""
    entries: tuple[int, ...]
    """All that it concerns, ascending: of an omission whole rounds."""


class ShapedRow(Struct, frozen=True):
    """One entry that is pinned, omitted or kept at a leaf, for a list of them."""

    entry: int
    how: Literal["pinned", "omitted", "kept"]
    by: int
    """The entry that pins, omits or keeps it; -1: the profile."""
    tokens: int
    """What it takes in the context now; of an omitted one what it would."""
    sent: Literal["in place", "again", "not"]
    """Where it is sent: in its place, repeated after the summary, or not at all."""


class Edits:
    """Edits of one session's context, and how they are undone."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    @property
    def _tree(self) -> SessionTree:
        return self._session.tree

    @property
    def _leaf(self) -> int:
        return self._session.leaf

    @property
    def _path(self) -> Path:
        return self._tree.path(self._leaf)

    async def set_label(self, target: int, label: str) -> int:
        """Label an entry; an empty text removes its label. Returns the appended entry."""
        body = Label(self._tree.columns.ids[target], label)
        return await self._session.writer.append(body, self._leaf)

    async def rename(self, name: str) -> int:
        """Name the session; returns the appended entry."""
        return await self._session.writer.append(SessionName(name), self._leaf)

    # pins and omissions --------------------------------------------------------------------------

    def shape(self, at: int | None = None) -> Shape:
        """What holds at an entry, by default the leaf."""
        return shape_at(self._tree, self._leaf if at is None else at)

    async def pin(self, entries: Sequence[int], reason: str = "") -> Shaped:
        """Pin entries of the active path: they are sent word for word from now on, after the
        summary where one summarizes them. An omitted one is included again.

        Raises CannotShape, naming the first that cannot be pinned; StoreError.
        """
        shape = self.shape()
        wanted = [at for at in self._shapeable(entries, "pinned") if at not in shape.pinned]
        if not wanted:
            raise CannotShape("They are pinned already." if len(entries) > 1 else _PINNED)
        ids = self._tree.columns.ids
        named = tuple((ids[at], self._repeated_tokens(at)) for at in wanted)
        return await self._append(ShapeFacts("pin", named, reason=reason), wanted)

    async def unpin(self, entries: Sequence[int], reason: str = "") -> Shaped:
        """End pins, whichever entries made them. Raises CannotShape, StoreError."""
        pinned = self.shape().pinned
        wanted = sorted(at for at in set(entries) if at in pinned)
        return await self._lifted("pin", wanted, reason, "is pinned")

    async def omit(self, entries: Sequence[int], reason: str = "") -> Shaped:
        """Leave entries of the active path out of the context and of summaries, a call and its
        results together. A pinned one is pinned no more.

        Raises CannotShape, naming the first that cannot be omitted; StoreError.
        """
        omitted, path = self.shape().omitted, self._path
        wanted: set[int] = set()
        for at in self._shapeable(entries, "omitted"):
            if at not in omitted:
                wanted.update(round_of(self._tree, path, at))
        if not wanted:
            raise CannotShape("They are omitted already." if len(entries) > 1 else _OMITTED)
        ids, whole = self._tree.columns.ids, sorted(wanted)
        named = tuple((ids[at], -1) for at in whole)
        return await self._append(ShapeFacts("omit", named, reason=reason), whole)

    async def include(self, entries: Sequence[int], reason: str = "") -> Shaped:
        """End omissions, of whole rounds, whichever entries made them. Raises CannotShape,
        StoreError."""
        omitted, path = self.shape().omitted, self._path
        wanted = {
            one for at in set(entries) if at in omitted for one in round_of(self._tree, path, at)
        }
        return await self._lifted("omit", sorted(wanted), reason, "is omitted")

    async def keep_user_messages(self, tokens: int, reason: str = "") -> int:
        """Keep the user messages word for word through compactions, the newest first, up to
        so many tokens; 0: none, whatever the profile has. Returns the appended entry.

        Raises CannotShape for fewer than 0, or when that is the rule already; StoreError.
        """
        if tokens < 0:
            raise CannotShape(f"A budget is at least 0 tokens, not {tokens:,}.")
        budget = self.shape().user_budget
        if budget is not None and budget.tokens == tokens:
            raise CannotShape("That is the rule already.")
        facts = ShapeFacts("keep-user-messages", tokens=tokens, reason=reason)
        return (await self._append(facts, [])).entry

    async def undo_shaping(self, entry: int | None = None) -> Undone:
        """Take back an entry that pins, omits, lifts or sets the rule, by default the latest in
        force on the active path: all is as if it had never been made.

        When it is the leaf its parent becomes the leaf, else an entry is appended that takes it
        back. Raises NothingToUndo, StoreError.
        """
        in_force = shapes_on(self._tree, self._path)
        if entry is None and in_force:
            entry = in_force[-1]
        if entry is None or entry not in in_force:
            raise NothingToUndo("There is no such pin, omission or rule on the active path.")
        kind, left = self._tree.columns.shapes[entry].kind, self._leaf
        if entry == left:
            await self._session.writer.move_leaf(self._tree.columns.parent[entry])
        else:
            undoing = ShapeFacts(kind, undoes=self._tree.columns.ids[entry])
            await self._append(undoing, [])
        return self._undone(kind, entry, left)

    def shaped_rows(self, profile: Profile) -> list[ShapedRow]:
        """All that is pinned, omitted or kept at the leaf, in the order of the path; tokens are
        counted as everything is under a profile."""
        context = self._session.context()
        rows = [
            ShapedRow(
                entry, "omitted", by, self._session.tokens.entry_tokens(entry, profile), "not"
            )
            for entry, by in context.omitted.items()
        ]
        shape = self.shape()
        in_place = set(context.messages)
        for entry in sorted({*shape.pinned, *context.again}):
            reinserted = context.again.get(entry)
            pin = shape.pinned.get(entry)
            how: Literal["pinned", "kept"] = "pinned" if pin is not None else "kept"
            by = pin.by if pin is not None else reinserted.by if reinserted is not None else -1
            tokens = sent_tokens(context, entry, self._session.tokens.entry_tokens(entry, profile))
            sent: Literal["in place", "again", "not"] = "again"
            if reinserted is None:
                sent = "in place" if entry in in_place else "not"
            rows.append(ShapedRow(entry, how, by, tokens, sent))
        return sorted(rows, key=lambda row: row.entry)

    async def restate(self, before: Shape) -> int:
        """Repeat at the leaf the edits in force at another place of the session, as far as the
        entries that they name are on the path and they do not hold already. Returns how many
        entries were appended. Raises StoreError."""
        now, path, ids = (
            self.shape(),
            self._path,
            self._tree.columns.ids,
        )
        pins = tuple(
            (ids[at], pin.tokens)
            for at, pin in before.pinned.items()
            if at in path and at not in now.pinned
        )
        left = tuple((ids[at], -1) for at in before.omitted if at in path and at not in now.omitted)
        again: list[ShapeFacts] = []
        if left:
            again.append(ShapeFacts("omit", left, reason=_RESTATED))
        if pins:
            again.append(ShapeFacts("pin", pins, reason=_RESTATED))
        rule = before.user_budget
        if rule is not None and (now.user_budget is None or now.user_budget.tokens != rule.tokens):
            again.append(ShapeFacts("keep-user-messages", tokens=rule.tokens, reason=_RESTATED))
        for facts in again:
            await self._append(facts, [])
        return len(again)

    # prunes --------------------------------------------------------------------------------------

    def plan_pruning(
        self,
        profile: Profile,
        policy: Pruning | None = None,
        *,
        at: int | None = None,
        needed: int | None = None,
        protect: Protect | None = None,
    ) -> PruningPlan:
        """What pruning at an entry, by default the leaf, would do; pure and quick.

        ``policy``: instead of the profile's. ``needed``: tokens to save, for a policy that prunes
        no more than needed. Tokens are counted as everything is under the profile.
        """
        rules = pruning_of(profile) if policy is None else policy
        leaf = self._leaf if at is None else at
        weights: Sequence[int] | None = self._session.tokens.weights_for(profile)
        return plan_pruning(
            self._tree, leaf, rules, weights=weights, needed=needed, protect=protect
        )

    async def prune(self, plan: PruningPlan, reason: str = "", *, moves_leaf: bool = False) -> int:
        """Append the prune entry of a plan; returns its index, which is the leaf then.

        ``reason``: stands before the plan's reason. ``moves_leaf``: the plan may be for another
        place than the leaf, and the session goes on from there. Raises ValueError when the plan
        does nothing or the session has moved on since, StoreError when the database refuses.
        """
        if not plan.results:
            raise ValueError(plan.reason)
        if plan.leaf != self._leaf and not moves_leaf:
            raise ValueError("The session has moved on since this was planned; plan it anew.")
        data = plan.data(self._tree.columns.ids)
        data["reason"] = " ".join(filter(None, (reason, plan.reason)))
        return await self._session.writer.append(CustomData(PRUNE_TYPE, data), plan.leaf)

    async def undo_prune(self, entry: int | None = None) -> Undone:
        """Take back a prune entry of the active path, by default the latest in force.

        When it is the leaf its parent becomes the leaf, else an entry is appended that takes it
        back. Raises NothingToUndo.
        """
        in_force = prunes_on(self._tree, self._path)
        if entry is None and in_force:
            entry = in_force[-1]
        if entry is None or entry not in in_force:
            raise NothingToUndo("There is no prune in force on the active path.")
        left = self._leaf
        if entry == left:
            await self._session.writer.move_leaf(self._tree.columns.parent[entry])
        else:
            data = {"undoes": self._tree.columns.ids[entry]}
            await self._session.writer.append(CustomData(PRUNE_TYPE, data), left)
        return self._undone("prune", entry, left)

    # undo ----------------------------------------------------------------------------------------

    async def undo_compaction(self) -> Undone:
        """Take back the latest compaction of the active path: its parent becomes the leaf, or
        what was left for it, where it was committed at another place than the leaf.

        Raises NothingToUndo. The entries stay in the log and can be gone to again.
        """
        path = self._path
        position = latest_on_path(self._tree, path, Kind.COMPACTION)
        if position < 0:
            raise NothingToUndo("There is no compaction on the active path.")
        origin, left = undo_origin(self._session, path[position]), self._leaf
        leaf = origin if origin >= 0 else self._tree.columns.parent[path[position]]
        await self._session.writer.move_leaf(leaf)
        return self._undone("compaction", path[position], left)

    def latest(self) -> int:
        """The entry that ``undo`` takes back; -1 for none."""
        path = self._path
        position = latest_on_path(self._tree, path, Kind.COMPACTION)
        compaction = path[position] if position >= 0 else -1
        return max([*prunes_on(self._tree, path), *shapes_on(self._tree, path), compaction])

    async def undo(self) -> Undone:
        """Take back the latest compaction, prune, pin, omission or rule of kept messages of the
        active path, whichever came last.

        Raises NothingToUndo.
        """
        entry = self.latest()
        if entry in self._tree.columns.shapes:
            return await self.undo_shaping(entry)
        if entry in self._tree.columns.prunes:
            return await self.undo_prune(entry)
        return await self.undo_compaction()

    def _undone(self, kind: UndoneKind, entry: int, left: int) -> Undone:
        self._session.undone.append((self._leaf, left))
        return Undone(kind, entry, self._leaf)

    @property
    def can_redo(self) -> bool:
        """Whether the leaf is still where the latest undo put it."""
        return bool(self._session.undone) and self._session.undone[-1][0] == self._leaf

    async def redo(self) -> int:
        """Let the latest undo hold no longer: the leaf from before it is the leaf again, which is
        returned. Undo again takes it back. Raises NothingToUndo, StoreError."""
        if not self.can_redo:
            raise NothingToUndo("Nothing was taken back here.")
        _, left = self._session.undone[-1]
        await self._session.writer.move_leaf(left)
        self._session.undone.pop()
        return left

    # how -----------------------------------------------------------------------------------------

    def _shapeable(self, entries: Iterable[int], verb: str) -> list[int]:
        path = self._path
        wanted = sorted(set(entries))
        for at in wanted:
            if at not in path:
                raise CannotShape(
                    f"#{at} is not on the active path, so it cannot be {verb} here. Go to its"
                    " branch first."
                )
            if not can_be_sent(self._tree, path, at):
                kind = Kind(self._tree.columns.kind[at])
                what = "is never sent to a model"
                if kind is Kind.COMPACTION:
                    what = "is a compaction; undo it, or pin what it tells of"
                raise CannotShape(f"#{at} {what}: it cannot be {verb}.")
        if not wanted:
            raise CannotShape(f"No entry was named that could be {verb}.")
        return wanted

    def _repeated_tokens(self, entry: int) -> int:
        """Tokens of a reply's content when it is repeated; -1 where they are those of the entry."""
        if self._tree.columns.kind[entry] != Kind.ASSISTANT:
            return -1
        return estimate_entry(repeated_entry(self._session.payloads.shown.entry(entry), ""))

    async def _lifted(self, kind: ShapeKind, entries: list[int], reason: str, what: str) -> Shaped:
        if not entries:
            raise CannotShape(f"None of them {what} on the active path.")
        ids = self._tree.columns.ids
        facts = ShapeFacts(kind, lifts=tuple(ids[at] for at in entries), reason=reason)
        return await self._append(facts, entries)

    async def _append(self, facts: ShapeFacts, entries: Sequence[int]) -> Shaped:
        body = CustomData(CUSTOM_TYPES[facts.kind], shape_data(facts))
        entry = await self._session.writer.append(body, self._leaf)
        return Shaped(entry, tuple(entries))


def pruning_of(profile: Profile) -> Pruning:
    """A profile's rules of pruning; a user may prune under one that never does so automatically,
    and then the corrected rules hold."""
    policy = profile.pruning or PROFILES["explorer"].pruning
    return policy if policy is not None else Pruning()


def remember_origin(document: OpenedSession, compaction: int, left: int) -> None:
    """Store where the leaf was before a compaction was committed at another place; the log cannot
    have it, since a leaf is a pointer. Written soon."""
    if left < 0:
        return
    ids, kept = document.tree.columns.ids, document.choices.all().get(_ORIGINS)
    origins = dict(kept) if isinstance(kept, dict) else {}
    document.choices.set(_ORIGINS, {**origins, ids[compaction]: ids[left]})


def undo_origin(document: OpenedSession, compaction: int) -> int:
    """The leaf that was left for a compaction; -1 for one that was made at the leaf."""
    kept = document.choices.all().get(_ORIGINS)
    left = kept.get(document.tree.columns.ids[compaction]) if isinstance(kept, dict) else None
    return document.tree.index_of(left) if isinstance(left, str) else -1
