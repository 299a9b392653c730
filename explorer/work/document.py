"""One opened session with everything that can be done with it, part by part."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from explorer.work.agent import Agent
from explorer.work.branches import Branches
from explorer.work.compaction import Compaction
from explorer.work.drafts import Drafts
from explorer.work.edits import Edits
from explorer.work.navigation import Navigation
from explorer.work.open_session import OpenedSession

_MEMBERS = {
    "preview": "compaction.preview",
    "compare": "compaction.compare",
    "causes": "compaction.causes",
    "previous_summary": "compaction.previous_summary",
    "requests": "compaction.requests",
    "summarize": "compaction.summarize",
    "commit": "compaction.commit",
    "compaction_plan": "compaction.plan",
    "branch_preparation": "branches.preparation",
    "branch_requests": "branches.requests",
    "summarize_branch": "branches.summarize",
    "plan": "navigation.plan",
    "plan_from": "navigation.plan_from",
    "before_leaving": "navigation.before_leaving",
    "navigate": "navigation.navigate",
    "set_label": "edits.set_label",
    "rename": "edits.rename",
    "shape": "edits.shape",
    "pin": "edits.pin",
    "unpin": "edits.unpin",
    "omit": "edits.omit",
    "keep_user_messages": "edits.keep_user_messages",
    "undo_shaping": "edits.undo_shaping",
    "entry_weight": "edits.entry_weight",
    "shaped_rows": "edits.shaped_rows",
    "restate": "edits.restate",
    "plan_pruning": "edits.plan_pruning",
    "prune": "edits.prune",
    "undo_prune": "edits.undo_prune",
    "undo_compaction": "edits.undo_compaction",
    "undo": "edits.undo",
    "take_in": "edits.include",
    "waiting_drafts": "drafts.waiting",
}


class Document(OpenedSession):
    """A session in the window or in a command. All methods belong to one event loop's thread.

    The parts hold no state: they are made when they are asked for, so that no reference cycle
    keeps a closed session in memory.
    """

    @property
    def compaction(self) -> Compaction:
        """Previews, drafts and commits of compactions."""
        return Compaction(self)

    @property
    def branches(self) -> Branches:
        """Summaries of branches that are left."""
        return Branches(self)

    @property
    def navigation(self) -> Navigation:
        """Moves of the leaf."""
        return Navigation(self)

    @property
    def edits(self) -> Edits:
        """Pins, omissions, prunes, labels, and undo."""
        return Edits(self)

    @property
    def drafts(self) -> Drafts:
        """Drafts of summaries, as they are made and recorded."""
        return Drafts(self)

    @property
    def agent(self) -> Agent:
        """What the agent is sent, and where its path stands."""
        return Agent(self)

    def __getattr__(self, name: str) -> Any:
        if name in _MEMBERS:
            return attrgetter(_MEMBERS[name])(self)
        raise AttributeError(name)
