"""Pruning an opened session, and taking back what the log can do without (A13).

A prune is an entry of its own: the log keeps every result whole. It is taken back by moving the
leaf away from it, or, when something came after it, by a further entry.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import Protect, PruningPlan, plan_pruning
from explorer.session.context import latest_on_path
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.edits import prunes_on, shapes_on
from explorer.session.kinds import Kind
from explorer.work.ranges import Ranges
from explorer.work.returning import return_of
from explorer.work.undoing import NothingToUndo, Undone


def pruning_of(profile: Profile) -> Pruning:
    """A profile's rules of pruning; a person may prune under one that never does so by itself,
    and then the corrected rules hold."""
    own = profile.pruning or PROFILES["explorer"].pruning
    return own if own is not None else Pruning()


class Prunings(Ranges):
    """Plans and entries of prunes, and undo."""

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
        leaf = self.leaf if at is None else at
        weights: Sequence[int] | None = self.weights_for(profile)
        return plan_pruning(self.tree, leaf, rules, weights=weights, needed=needed, protect=protect)

    async def prune(self, plan: PruningPlan, reason: str = "", *, elsewhere: bool = False) -> int:
        """Append the prune entry of a plan; returns its index, which is the leaf then.

        ``reason``: words of whoever pruned, before those of the plan. ``elsewhere``: the plan may
        be for another place than the leaf, and the session goes on from there. Raises ValueError
        when the plan does nothing or the session has moved on since, StoreError when the database
        refuses.
        """
        if not plan.results:
            raise ValueError(plan.reason)
        if plan.leaf != self.leaf and not elsewhere:
            raise ValueError("The session has moved on since this was planned; plan it anew.")
        data = plan.data(self.tree.columns.ids)
        data["reason"] = " ".join(filter(None, (reason, plan.reason)))
        return await self.writer.append("custom", plan.leaf, custom_type=PRUNE_TYPE, data=data)

    async def undo_prune(self, entry: int | None = None) -> Undone:
        """Take back a prune entry of the active path, by default the latest in force.

        When it is the leaf its parent becomes the leaf, else an entry is appended that takes it
        back. Raises NothingToUndo.
        """
        in_force = prunes_on(self.tree, self.tree.path(self.leaf))
        if entry is None and in_force:
            entry = in_force[-1]
        if entry is None or entry not in in_force:
            raise NothingToUndo("There is no prune in force on the active path.")
        if entry == self.leaf:
            await self.writer.move_leaf(self.tree.columns.parent[entry])
        else:
            data = {"undoes": self.tree.columns.ids[entry]}
            await self.writer.append("custom", self.leaf, custom_type=PRUNE_TYPE, data=data)
        return Undone("prune", entry, self.leaf)

    async def undo_compaction(self) -> Undone:
        """Take back the latest compaction of the active path: its parent becomes the leaf, or
        what was left for it, where it was stored elsewhere than at the leaf.

        Raises NothingToUndo. The entries stay in the log and can be gone to again.
        """
        path = self.tree.path(self.leaf)
        position = latest_on_path(self.tree, path, Kind.COMPACTION)
        if position < 0:
            raise NothingToUndo("There is no compaction on the active path.")
        left = return_of(self, path[position])
        leaf = left if left >= 0 else self.tree.columns.parent[path[position]]
        await self.writer.move_leaf(leaf)
        return Undone("compaction", path[position], leaf)

    async def undo(self) -> Undone:
        """Take back the latest compaction, prune, pin, omission or rule of kept messages of the
        active path, whichever came last.

        Raises NothingToUndo.
        """
        path = self.tree.path(self.leaf)
        prune = max(prunes_on(self.tree, path), default=-1)
        shape = max(shapes_on(self.tree, path), default=-1)
        position = latest_on_path(self.tree, path, Kind.COMPACTION)
        compaction = path[position] if position >= 0 else -1
        if shape > max(prune, compaction):
            return await self.undo_shaping(shape)
        if prune > compaction:
            return await self.undo_prune(prune)
        return await self.undo_compaction()
