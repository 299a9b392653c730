"""Shaping the context of an opened session: pins, omissions, the user's messages kept.

Each is an entry of its own, see ``explorer.session.shaping``; nothing is deleted. The latest is
taken back by moving the leaf away from it, or, when something came after it, by a further entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.compaction.messages import told_again
from explorer.compaction.profile import Profile
from explorer.session.context import sent_tokens
from explorer.session.edit_entries import CUSTOM_TYPES, Shape, ShapeFacts, ShapeKind, shape_data
from explorer.session.edits import can_be_told, round_of, shape_at, shapes_on
from explorer.session.kinds import Kind
from explorer.tokens.estimate import estimate_message
from explorer.work.opened import OpenedSession
from explorer.work.undoing import NothingToUndo, Undone


class CannotShape(ValueError):
    """What was asked for cannot be done here; the message says why, for a person."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """What was pinned, omitted, or is no more."""

    entry: int
    """The entry that says so, which is the leaf then."""
    entries: tuple[int, ...]
    """All that it concerns, ascending: of an omission whole rounds."""


@dataclass(frozen=True, slots=True)
class ShapedRow:
    """One entry that is pinned, omitted or kept at a leaf, for a list of them."""

    entry: int
    how: Literal["pinned", "omitted", "kept"]
    by: int
    """The entry that says so; -1: the profile."""
    tokens: int
    """What it takes in the context now; of an omitted one what it would."""
    told: Literal["in place", "again", "not"]
    """Where the model is told it: where it stands, again after the summary, or not at all."""


class Shaping(OpenedSession):
    """Pins, omissions and rules of kept messages, and how they are taken back."""

    def shape(self, at: int | None = None) -> Shape:
        """What holds at an entry, by default the leaf."""
        return shape_at(self.tree, self.leaf if at is None else at)

    async def pin(self, entries: Sequence[int], reason: str = "") -> Shaped:
        """Pin entries of the active path: they are told word for word from now on, after the
        summary where one tells of them. An omitted one is taken in again.

        Raises CannotShape, naming the first that cannot be pinned; StoreError.
        """
        shape = self.shape()
        wanted = [at for at in self._shapeable(entries, "pinned") if at not in shape.pinned]
        if not wanted:
            raise CannotShape("They are pinned already." if len(entries) > 1 else _PINNED)
        ids = self.tree.columns.ids
        named = tuple((ids[at], self._told_again_tokens(at)) for at in wanted)
        return await self._said(ShapeFacts("pin", named, reason=reason), wanted)

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
        omitted, path = self.shape().omitted, self.tree.path(self.leaf)
        wanted: set[int] = set()
        for at in self._shapeable(entries, "omitted"):
            if at not in omitted:
                wanted.update(round_of(self.tree, path, at))
        if not wanted:
            raise CannotShape("They are omitted already." if len(entries) > 1 else _OMITTED)
        ids, whole = self.tree.columns.ids, sorted(wanted)
        named = tuple((ids[at], -1) for at in whole)
        return await self._said(ShapeFacts("omit", named, reason=reason), whole)

    async def take_in(self, entries: Sequence[int], reason: str = "") -> Shaped:
        """End omissions, of whole rounds, whichever entries made them. Raises CannotShape,
        StoreError."""
        omitted, path = self.shape().omitted, self.tree.path(self.leaf)
        wanted = {
            one for at in set(entries) if at in omitted for one in round_of(self.tree, path, at)
        }
        return await self._lifted("omit", sorted(wanted), reason, "is omitted")

    async def keep_user_messages(self, tokens: int, reason: str = "") -> int:
        """Keep the user's own messages word for word through compactions, the newest first, up to
        so many tokens; 0: none, whatever the profile says. Returns the entry that says so.

        Raises CannotShape for fewer than 0, or when that is the rule already; StoreError.
        """
        if tokens < 0:
            raise CannotShape(f"A budget is at least 0 tokens, not {tokens:,}.")
        budget = self.shape().user_budget
        if budget is not None and budget.tokens == tokens:
            raise CannotShape("That is the rule already.")
        facts = ShapeFacts("keep-user-messages", tokens=tokens, reason=reason)
        return (await self._said(facts, [])).entry

    async def undo_shaping(self, entry: int | None = None) -> Undone:
        """Take back an entry that pins, omits, lifts or sets the rule, by default the latest in
        force on the active path: all is as if it had never been said.

        When it is the leaf its parent becomes the leaf, else an entry is appended that takes it
        back. Raises NothingToUndo, StoreError.
        """
        in_force = shapes_on(self.tree, self.tree.path(self.leaf))
        if entry is None and in_force:
            entry = in_force[-1]
        if entry is None or entry not in in_force:
            raise NothingToUndo("There is no such pin, omission or rule on the active path.")
        kind = self.tree.columns.shapes[entry].kind
        if entry == self.leaf:
            await self.writer.move_leaf(self.tree.columns.parent[entry])
        else:
            undoing = ShapeFacts(kind, undoes=self.tree.columns.ids[entry])
            await self._said(undoing, [])
        return Undone(kind, entry, self.leaf)

    def entry_weight(self, entry: int, profile: Profile) -> int:
        """Tokens of an entry where it stands, counted as everything is under a profile."""
        weights = self.weights_for(profile)
        known = -1 if weights is None else weights[entry]
        return known if known >= 0 else self.tree.columns.estimate[entry]

    def shaped_rows(self, profile: Profile, at: int | None = None) -> list[ShapedRow]:
        """All that is pinned, omitted or kept at an entry, by default the leaf, in the order of
        the path; tokens are counted as everything is under a profile."""
        context = self.context(at)
        rows = [
            ShapedRow(entry, "omitted", by, self.entry_weight(entry, profile), "not")
            for entry, by in context.omitted.items()
        ]
        shape = self.shape(at)
        in_place = set(context.messages)
        for entry in sorted({*shape.pinned, *context.again}):
            found = context.again.get(entry)
            pin = shape.pinned.get(entry)
            how: Literal["pinned", "kept"] = "pinned" if pin is not None else "kept"
            by = pin.by if pin is not None else found.by if found is not None else -1
            tokens = sent_tokens(context, entry, self.entry_weight(entry, profile))
            told: Literal["in place", "again", "not"] = "again"
            if found is None:
                told = "in place" if entry in in_place else "not"
            rows.append(ShapedRow(entry, how, by, tokens, told))
        return sorted(rows, key=lambda row: row.entry)

    # how -----------------------------------------------------------------------------------------

    def _shapeable(self, entries: Iterable[int], verb: str) -> list[int]:
        path = self.tree.path(self.leaf)
        wanted = sorted(set(entries))
        for at in wanted:
            if at not in path:
                raise CannotShape(
                    f"#{at} is not on the active path, so it cannot be {verb} here. Go to its"
                    " branch first."
                )
            if not can_be_told(self.tree, path, at):
                kind = Kind(self.tree.columns.kind[at])
                what = "is never sent to a model"
                if kind is Kind.COMPACTION:
                    what = "is a compaction; undo it, or pin what it tells of"
                raise CannotShape(f"#{at} {what}: it cannot be {verb}.")
        if not wanted:
            raise CannotShape(f"No entry was named that could be {verb}.")
        return wanted

    def _told_again_tokens(self, entry: int) -> int:
        """Tokens of a reply's content when it is told again; -1 where it weighs what it does."""
        if self.tree.columns.kind[entry] != Kind.ASSISTANT:
            return -1
        return estimate_message(told_again(self.entry(entry), "")["message"])

    async def _lifted(self, kind: ShapeKind, entries: list[int], reason: str, what: str) -> Shaped:
        if not entries:
            raise CannotShape(f"None of them {what} on the active path.")
        ids = self.tree.columns.ids
        facts = ShapeFacts(kind, lifts=tuple(ids[at] for at in entries), reason=reason)
        return await self._said(facts, entries)

    async def _said(self, facts: ShapeFacts, entries: Sequence[int]) -> Shaped:
        custom_type = CUSTOM_TYPES[facts.kind]
        data = shape_data(facts)
        entry = await self.writer.append("custom", self.leaf, custom_type=custom_type, data=data)
        return Shaped(entry, tuple(entries))


_PINNED = "It is pinned already."
_OMITTED = "It is omitted already."
