"""Whose session it is: the agent by whose rules it was compacted, and how that is known.

pi and oh-my-pi write nearly the same files. What only one of them writes tells which it was; a tool
that only one of them brings along makes it likely, since others can add tools; and where nothing
tells, the file is read as pi's, whose format it has.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from explorer.audit.provenance import Known, Provenance
from explorer.compaction.profile import BASES, Profile
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_PROFILES = {"pi": "pi", "omp": "omp", "copilot-chat": "copilot"}
"""By format: the profile of the agent that writes it."""
_ONLY_OMP = {
    Kind.RESET_BOUNDARY: "a new start",
    Kind.PYTHON_EXECUTION: "Python that the user ran",
    Kind.FILE_MENTION: "files that the user named",
}
_ONLY_PI = {Kind.CONTEXT_EDIT: "a change of an earlier entry"}
_OMP_TOOLS = frozenset(
    {"ast_edit", "ast_grep", "hub", "lsp", "manage_skill", "skill", "todo_write"}
)
"""Tools that oh-my-pi brings along and pi does not."""
_NOTED = bytes(1 if value & (Flag.PRUNING >> 8) else 0 for value in range(256))


class SourceAgent(NamedTuple):
    """The rules of the agent that wrote a session."""

    profile: Profile
    known: Known
    is_own: bool = True
    """False: no profile has the agent's rules, and this one stands for them."""


def has_profile(format_name: str) -> bool:
    """Whether a profile has the rules of the agent that writes a format."""
    return format_name in _PROFILES


def source_agent(tree: SessionTree, format_name: str, version: int = 0) -> SourceAgent:
    """By whose rules a session was compacted. ``format_name``: as its file was read; ``version``:
    of pi's format, 0 where it is not known."""
    if not has_profile(format_name):
        basis = (
            "Inferred: the rules of the agent that wrote the file are in no profile; "
            f"{BASES['explorer'].title} stands for them."
        )
        return SourceAgent(BASES["explorer"], Known(Provenance.INFERRED, basis), is_own=False)
    if format_name != "pi":
        profile = BASES[_PROFILES[format_name]]
        basis = f"The file is written as only {profile.title} writes it, or lies in its folder."
        return SourceAgent(profile, Known(Provenance.EXACT, basis))
    if version == 1:
        old = BASES["pi-0.58"]
        basis = (
            "Inferred: entries without ids were written by releases of pi before "
            f"{old.title} alone, which compacted by its rules (B1)."
        )
        return SourceAgent(old, Known(Provenance.INFERRED, basis))
    pi, omp = BASES["pi"], BASES["omp"]
    for kinds, profile in ((_ONLY_OMP, omp), (_ONLY_PI, pi)):
        for kind, noun in kinds.items():
            at = tree.columns.kind.find(kind)
            if at >= 0:
                basis = f"Entry #{at} holds {noun}: only {profile.title} writes such an entry."
                return SourceAgent(profile, Known(Provenance.EXACT, basis))
    if (at := _first_noted(tree)) >= 0:
        basis = f"In the file a note stands for the tool result #{at}, as only {omp.title} does it."
        return SourceAgent(omp, Known(Provenance.EXACT, basis))
    tools = sorted(_OMP_TOOLS.intersection(tree.columns.tools))
    if tools:
        basis = (
            f"Inferred: its tool {tools[0]} comes with {omp.title}, and not with {pi.title}. "
            "Nothing else in the file tells the two apart."
        )
        return SourceAgent(omp, Known(Provenance.INFERRED, basis))
    basis = f"Inferred: the file has {pi.title}'s format, and nothing in it tells of another agent."
    return SourceAgent(pi, Known(Provenance.INFERRED, basis))


def _first_noted(tree: SessionTree) -> int:
    """The first tool result whose text its own agent replaced by a note, or -1."""
    flags, kinds = tree.columns.flags, tree.columns.kind
    second = 1 if sys.byteorder == "little" else flags.itemsize - 2
    high = flags.tobytes()[second :: flags.itemsize].translate(_NOTED)
    at = high.find(1)
    while at >= 0 and kinds[at] != Kind.TOOL_RESULT:
        at = high.find(1, at + 1)
    return at
