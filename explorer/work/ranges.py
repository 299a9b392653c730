"""A range that a person chose to summarize: up to an entry, or from an entry on.

*Up to here* is a compaction whose cut falls after the entry. *From here* keeps what stands before
the entry word for word and tells the rest by a summary in its place: a branch summary below the
entry before, which every agent of the family understands, with all that it tells still in the log.
"""

from __future__ import annotations

from dataclasses import replace

from explorer.compaction.cut_point import Cuts
from explorer.compaction.partition import Partition
from explorer.compaction.path_view import view_of
from explorer.compaction.profile import Profile
from explorer.session.edit_entries import Shape, ShapeFacts
from explorer.session.edits import round_of
from explorer.session.tree import SessionTree
from explorer.work.navigation import NavigationPlan, plan_navigation
from explorer.work.shaping import CannotShape, Shaping


def cut_after(tree: SessionTree, shown: Partition, entry: int) -> int:
    """The position of the cut that summarizes up to an entry, with its round whole.

    Raises CannotShape, saying why there is none.
    """
    path = shown.path
    if entry not in path:
        raise CannotShape(f"#{entry} is not on the path that is previewed.")
    last = path.position(round_of(tree, path, entry)[-1])
    if last < shown.boundary:
        raise CannotShape(f"#{entry} was summarized already, or is before a new start.")
    found = next((cut for cut in shown.valid_cuts if cut > last), -1)
    if found < 0:
        raise CannotShape(
            f"Nothing after #{entry} can be kept: no valid cut follows. Choose an earlier entry."
        )
    return found


class Ranges(Shaping):
    """Summaries of the end of a path in place of it."""

    def plan_from(self, entry: int, profile: Profile) -> NavigationPlan:
        """What summarizing from an entry on would leave and where the summary would stand.

        The range starts at the entry, or at the valid cut before it, so that no call is parted
        from its results. Raises CannotShape, saying why it cannot start there.
        """
        view = view_of(self.tree, self.leaf, profile)
        position = view.path.position(entry)
        if position < 0:
            raise CannotShape(f"#{entry} is not on the active path. Go to its branch first.")
        first = max(view.compaction, view.reset) + 1
        if position < first:
            by = view.path[first - 1]
            raise CannotShape(
                f"#{entry} is from before #{by}: going back there would take that back too."
                f" Choose an entry after #{by}."
            )
        start = Cuts(view, profile).mask.rfind(1, first, position + 1)
        if start <= 0:
            raise CannotShape(
                f"Nothing would be kept before #{entry}: summarize all of it by a compaction, or"
                " choose a later entry."
            )
        new_leaf = view.path[start - 1]
        plan = plan_navigation(self.tree, self.leaf, new_leaf, None, self.leaf)
        if not plan.left_behind:
            raise CannotShape(f"From #{entry} on nothing was said that could be summarized.")
        return replace(plan, keeps_shape=True)

    async def restate(self, before: Shape) -> int:
        """Say once more at the leaf what held at another place of the session, where the entries
        that it speaks of are on the path too and it does not hold already. Returns how many
        entries were appended. Raises StoreError."""
        now, path, ids = self.shape(), self.tree.path(self.leaf), self.tree.columns.ids
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
            await self._said(facts, [])
        return len(again)


_RESTATED = "It held at the place that was left; said once more here."
