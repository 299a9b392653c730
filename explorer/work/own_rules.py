"""By whose rules an opened session was compacted: this program's own, or another agent's."""

from __future__ import annotations

from explorer.audit.own_agent import OwnAgent, own_agent
from explorer.audit.provenance import Known, Provenance
from explorer.compaction.profile import BASES
from explorer.work.opened import OpenedSession

_BEGUN_HERE = (
    "The session was begun in this program: what each of its compactions was asked is recorded."
)


def own_rules(opened: OpenedSession) -> OwnAgent:
    """The rules of the agent that made a session, and how they are known."""
    if not len(opened.tree) or opened.made_here(0):
        return OwnAgent(BASES["explorer"], Known(Provenance.EXACT, _BEGUN_HERE))
    return own_agent(opened.tree, opened.header.format)
